// Where the elements of a tile lie in shared memory, a cell a chunk of 4 or 16 bytes in its bank, as the block at the
// cursor stored them (look/tile_layout.h). Nothing of it is modelled; without values it says what to open.
//
//           0  8 16 ..         columns of the matrix
//   M 16 |  0  4  8 12 ..      the first bank of each chunk, or its byte; a colour for each four banks
//     17 |  4  0 12  8 ..
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "app/look/tile_layout.h"
#include "core/analysis/banks.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kTileShown, kWritten };

constexpr uint32_t kBanksAColour = 4;

std::vector<look::TileLayout> layouts_of(const session::Session& session) {
    if (!session.recording || !session.block || !session.replay) return {};
    return look::tile_layouts(session.trace(), *session.block, *session.replay, session.cursor.step);
}

// The tile that is chosen, of those of the block at the cursor; from the first again behind the last.
std::optional<look::TileLayout> layout_of(std::span<const int> set, const session::Session& session) {
    const auto all = layouts_of(session);
    if (all.empty()) return std::nullopt;
    return all[static_cast<size_t>(set[kTileShown] - 1) % all.size()];
}

bool idle(size_t parameter, std::span<const int>, const session::Session& session) {
    return parameter == kTileShown && layouts_of(session).size() < 2;
}

std::vector<NamedNumber> numbers(std::span<const int>) { return {}; }

std::string concludes(std::span<const int>) {
    return "This figure draws where a block stores elements of a matrix in shared memory, and the recording "
           "that is open stores none. Open one that does, such as tiled-64x64x64-t16.";
}

std::string concludes_of(std::span<const int> set, const session::Session& session) {
    const auto layout = layout_of(set, session);
    return layout ? look::layout_text(session.trace(), *session.block, *layout) : "";
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const auto layout = layout_of(set, session);
    if (!layout) return;
    const trace::Trace& trace = session.trace();
    const Array &array = trace.launch.arrays[layout->array], &source = trace.launch.arrays[layout->source];
    const Notation& notation = session.recording->notation;
    const float small = line_height(ui, Size::Small), foot = small * 2 + ui.px(8);
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    const auto row_name = [&](uint32_t r) { return std::to_string(layout->row + r); };
    const auto col_name = [&](uint32_t c) {
        return std::to_string(layout->col + int64_t{c} * layout->elements);
    };
    const float left = draw::text_size(mono, row_name(layout->rows - 1)).x + ui.px(8),
                top = small * 2 + ui.px(4);
    // As wide as needs its text at most, and as flat as leaves all rows in sight.
    const float wide = std::min((rect.width() - left) / static_cast<float>(layout->cols), ui.px(64));
    const float high = std::floor(
        std::min((rect.height() - top - foot) / static_cast<float>(layout->rows), std::min(wide, ui.px(34))));
    if (high < 1) return;
    const float gap = high >= ui.px(14) ? 1 : 0;  // between rows; low ones leave it to their text
    line(ui, rect.min, rect.width(), Face::Strong, Size::Small, Ink::Text,
         fmt::format("elements of {} by row and column; where they lie in {}: {}", name_in(notation, source),
                     name_in(notation, array), set[kWritten] == 0 ? "the bank" : "the byte"));
    const auto written = [&](int64_t at) {
        const uint64_t bank =
            (array.base + static_cast<uint64_t>(at)) / analysis::kBankBytes % analysis::kBanks;
        return std::to_string(set[kWritten] == 0 ? bank : static_cast<uint64_t>(at));
    };
    int64_t longest = 0;
    for (const int64_t at : layout->at) longest = std::max(longest, at);
    const auto font = ui.context.fonts.for_cells(set[kWritten] == 0 ? "31" : std::to_string(longest),
                                                 wide - ui.px(3), high - gap, Size::Body);
    const ImVec2 from{rect.min.x + left, rect.min.y + top};
    // A number at every row and column for which there is room.
    const auto every = [&](float pitch, float room) {
        return static_cast<uint32_t>(std::max(1.f, std::ceil(room / pitch)));
    };
    const uint32_t col_step = every(wide, draw::text_size(mono, col_name(layout->cols - 1)).x + ui.px(6));
    for (uint32_t c = 0; c < layout->cols; c += col_step)
        line(ui, {from.x + wide * (static_cast<float>(c) + 0.5f), rect.min.y + small},
             wide * static_cast<float>(col_step), Face::Mono, Size::Small, Ink::TextFaint, col_name(c),
             Align::Center);
    const uint32_t row_step = every(high, small);
    for (uint32_t r = 0; r < layout->rows; ++r) {
        const float y = from.y + high * static_cast<float>(r);
        if (r % row_step == 0)
            line(ui,
                 {from.x - ui.px(6),
                  y + (high * static_cast<float>(std::min(row_step, layout->rows - r)) - small) / 2},
                 left, Face::Mono, Size::Small, Ink::TextFaint, row_name(r), Align::Right);
        for (uint32_t c = 0; c < layout->cols; ++c) {
            const float x = from.x + wide * static_cast<float>(c);
            const Rect box{{std::round(x), std::round(y)},
                           {std::round(x + wide) - 1, std::round(y + high) - gap}};
            const int64_t at = layout->byte(r, c);
            if (at < 0) {
                lost(ui, box);
                continue;
            }
            const uint64_t byte = array.base + static_cast<uint64_t>(at);
            const uint64_t bank = byte / analysis::kBankBytes % analysis::kBanks;
            const uint64_t groups = analysis::kBanks / kBanksAColour;
            const draw::Rgba ground =
                ui.context.palette.heat[(bank / kBanksAColour * 2 + 1) * 256 / (2 * groups)];
            ui.list.AddRectFilled(box.min, box.max, ground);
            text_in(ui, box, font, ground, written(at));
            if (ui.over(box))
                ui.tip = fmt::format(
                    "{}: byte {} of {}, bank {}",
                    element_name(
                        source, (layout->row + r) * source.cols + layout->col + int64_t{c} * layout->elements,
                        notation),
                    at, name_in(notation, array), bank);
        }
    }
    note(ui,
         {rect.min.x,
          std::min(from.y + high * static_cast<float>(layout->rows) + ui.px(6), rect.max.y - small)},
         rect.width(),
         std::vector<std::string>{
             fmt::format("A cell is {} ({}); a colour for every {} banks.{}", counted(layout->chunk, "byte"),
                         counted(layout->elements, "element"), kBanksAColour,
                         layout->cut ? " The tile goes on beyond what is drawn." : ""),
             fmt::format("A cell is {}.", counted(layout->chunk, "byte"))});
}

}  // namespace

Figure layout_figure() {
    return {"layout",
            "Where a tile lies in the banks",
            "A cell is a chunk of the tile; its colour and number say in which banks it lies.",
            {{"tile", "Tile", 1, 8, 1}, {"shows", "Cells show", 0, 1, 0, 1, {"banks", "bytes"}}},
            numbers,
            concludes,
            draw_figure,
            concludes_of,
            true,
            idle};
}

}  // namespace tilescope::lessons
