// One of the two recordings of a race:
//
//   (A) untiled                            block(1,2), 7 of 16
//    1.05 MB         N 64 x 64
//    loaded so far   [ loads ]     global memory
//    32 ×            [       ]      |########|
//    mean loads per  P 64 x 64      |########|  as wide as the bytes
//    element of M    [ done  ]      |########|  for this much work
//    M 64 x 64       [       ]     an SM
//    [ loads ]                     [Mds] [Nds]
//
// The arrays have one scale of length, and both recordings have one scale of colour. Where the odometers would
// take the room of the matrices they stand at the left of all.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/race/panels.h"
#include "core/base/words.h"

namespace tilescope::race {
namespace {

constexpr uint8_t kDone = 170;  // strength of the colour of a stored element

// --- the odometers

struct Odometer {
    std::string number, caption;
};

std::vector<Odometer> odometers(const Pane& pane) {
    std::vector<Odometer> all{{bytes_text(pane.bytes()), "loaded so far"}};
    if (!pane.side.inputs.empty())
        all.push_back({look::three_digits(pane.side.loads_each(pane.moment)) + " ×",
                       fmt::format("mean loads per element of {}",
                                   name_in(pane.notation(), pane.array(pane.side.inputs[0].array)))});
    return all;
}

struct OdometerBox {
    Size size = Size::Display;
    bool beside = false;  // at the left of all, else above M
    float width = 0, height = 0;
};

OdometerBox odometer_box(Ui& ui, const Pane& pane, Size size, bool beside) {
    OdometerBox box{size, beside, 0, 0};
    box.width = std::max(draw::text_size(ui.font(Face::Strong, size), "8.88 MB").x, ui.px(112));
    for (const Odometer& one : odometers(pane)) {
        const auto lines = draw::wrapped(ui.font(Face::Text, Size::Small), one.caption, box.width).size();
        box.height += line_height(ui, size) +
                      line_height(ui, Size::Small) * static_cast<float>(std::min<size_t>(lines, 3)) +
                      ui.px(8);
    }
    box.height -= ui.px(8);
    return box;
}

// Those that have room above `bottom`.
void draw_odometers(Ui& ui, ImVec2 at, float bottom, const OdometerBox& box, const Pane& pane) {
    for (const Odometer& one : odometers(pane)) {
        const auto lines = draw::wrapped(ui.font(Face::Text, Size::Small), one.caption, box.width).size();
        const float high = line_height(ui, box.size) +
                           line_height(ui, Size::Small) * static_cast<float>(std::min<size_t>(lines, 3));
        if (at.y + high > bottom + 1) return;
        line(ui, at, box.width + ui.px(40), Face::Strong, box.size, Ink::Text, one.number);
        at.y += line_height(ui, box.size);
        at.y +=
            paragraph(ui, at, box.width, Face::Text, Size::Small, Ink::TextQuiet, one.caption, 3) + ui.px(8);
    }
}

// --- where everything goes

struct SideLayout {
    OdometerBox odometer;
    ImVec2 odometers;
    std::array<ImVec2, 3> at{};  // left above of both inputs' and of the output's cells
    float pitch = 1;             // pixels an element
    float label = 0;
};

// Pixels an element where two arrays lie behind each other, the first taking `least` pixels anyway.
float fitting_pitch(float room, uint32_t first, uint32_t second, float least) {
    const float both = room / static_cast<float>(std::max(first + second, 1u));
    if (both * static_cast<float>(first) >= least || second == 0)
        return second == 0 ? room / static_cast<float>(std::max(first, 1u)) : both;
    return (room - least) / static_cast<float>(second);
}

SideLayout lay_out(Ui& ui, const Rect& in, const Pane& pane, const OdometerBox& odometer) {
    const Side& side = pane.side;
    SideLayout l;
    l.odometer = odometer;
    l.label = line_height(ui, Size::Small) + ui.px(2);
    const float gap = ui.px(20);
    const auto rows = [](const std::vector<Map>& maps, size_t at) {
        return at < maps.size() ? maps[at].rows : 0u;
    };
    const auto cols = [](const std::vector<Map>& maps, size_t at) {
        return at < maps.size() ? maps[at].cols : 0u;
    };
    const uint32_t left = cols(side.inputs, 0), right = std::max(cols(side.inputs, 1), cols(side.outputs, 0)),
                   top = rows(side.inputs, 1), bottom = std::max(rows(side.inputs, 0), rows(side.outputs, 0));
    const float taken = odometer.beside ? odometer.width + gap : 0;
    const float least_left = odometer.beside ? 0 : odometer.width,
                least_top = odometer.beside ? 0 : odometer.height;
    const float across = in.width() - taken - gap, down = in.height() - 2 * l.label - ui.px(8);
    l.pitch = std::clamp(
        std::min(fitting_pitch(across, left, right, least_left), fitting_pitch(down, top, bottom, least_top)),
        0.01f, ui.px(44));
    const auto long_ = [&](uint32_t elements) { return l.pitch * static_cast<float>(elements); };
    const float left_wide = std::max(long_(left), least_left), top_high = std::max(long_(top), least_top);
    const float x0 = in.min.x + taken + std::max((across - left_wide - long_(right)) / 2, 0.f),
                y0 = in.min.y + std::max((down - top_high - long_(bottom)) / 2, 0.f);
    const float corner_x = std::round(x0 + left_wide + gap),
                corner_y = std::round(y0 + l.label + top_high + ui.px(8) + l.label);
    l.at[0] = {std::round(corner_x - gap - long_(left)), corner_y};
    l.at[1] = {corner_x, std::round(y0 + l.label + top_high - long_(top))};
    l.at[2] = {corner_x, corner_y};
    l.odometers =
        odometer.beside ? ImVec2{std::max(in.min.x, x0 - taken), y0} : ImVec2{std::min(x0, l.at[0].x), y0};
    return l;
}

// The way in which the matrices are largest; large numbers are worth a little of that.
SideLayout best_layout(Ui& ui, const Rect& in, const Pane& pane) {
    std::optional<SideLayout> best;
    float most = 0;
    for (const Size size : {Size::Display, Size::Title})
        for (const bool beside : {false, true}) {
            const SideLayout one = lay_out(ui, in, pane, odometer_box(ui, pane, size, beside));
            const bool whole = one.odometers.y + one.odometer.height <= in.max.y + 1;
            const float worth = one.pitch * (size == Size::Display ? 1.2f : 1.f) * (beside ? 1.f : 1.05f) *
                                (whole ? 1.f : 0.5f);
            if (!best || worth > most) best = one, most = worth;
        }
    return *best;
}

// --- the maps

// Tells what was uploaded of one race from another of the same recording.
uint64_t version_of(const Ui& ui, const Pane& pane) {
    return (ui.state.a << 40) ^ (ui.state.b << 20) ^ pane.moment;
}

std::vector<draw::Cell> cells_of(const Map& map, const std::vector<uint32_t>& counts, const Pane& pane,
                                 bool output) {
    std::vector<draw::Cell> cells(counts.size(), draw::cell(Ink::Cell));
    // Up to 16,384 bins, anew at each moment of a film: no division that is not needed.
    const float strongest = output ? kDone : 255.f,
                each = output ? 1.f * kDone : 255.f / static_cast<float>(std::max(pane.race.most(), 1u));
    for (uint32_t bin = 0; bin < counts.size(); ++bin) {
        const uint32_t elements = map.elements_of[bin];
        if (elements == 0) cells[bin] = draw::cell(Ink::Panel);
        if (counts[bin] == 0 || elements == 0) continue;
        const float strength = each * static_cast<float>(counts[bin]) / static_cast<float>(elements);
        cells[bin] = draw::cell(output ? Ink::GlobalStore : Ink::Heat,
                                static_cast<uint8_t>(std::min(strength, strongest) + 0.5f));
    }
    if (!output) return cells;
    // What the block at work has done of its elements.
    const CellRect& block = map.at_work[pane.moment];
    const float share = pane.side.of_block[pane.moment];
    const auto done = static_cast<uint8_t>(std::lround(static_cast<float>(kDone) * std::min(share, 1.f)));
    if (block.empty() || done == 0) return cells;
    for (uint32_t row = block.row0 / map.side; row <= (block.row1 - 1) / map.side; ++row)
        for (uint32_t col = block.col0 / map.side; col <= (block.col1 - 1) / map.side; ++col)
            if (const uint32_t bin = row * map.bin_cols + col; counts[bin] == 0)
                cells[bin] = draw::cell(Ink::GlobalStore, done);
    return cells;
}

void counts_in_cells(Ui& ui, const Map& map, const std::vector<uint32_t>& counts, ImVec2 at, float pitch,
                     const Pane& pane) {
    const float room = pitch - ui.px(4);
    const auto font = ui.context.fonts.for_cells(std::to_string(pane.race.most()), room, room, Size::Body);
    if (!font || map.side != 1 || pitch < ui.px(18)) return;
    for (uint32_t bin = 0; bin < counts.size(); ++bin) {
        if (counts[bin] == 0 || map.elements_of[bin] == 0) continue;
        const float heat =
            static_cast<float>(counts[bin]) / static_cast<float>(std::max(pane.race.most(), 1u));
        const ImVec2 from{at.x + pitch * static_cast<float>(bin % map.bin_cols),
                          at.y + pitch * static_cast<float>(bin / map.bin_cols)};
        draw::draw_text_in(ui.list, *font, from, {from.x + pitch, from.y + pitch},
                           ui.context.palette.text_on(ui.context.palette.hot(heat)),
                           std::to_string(counts[bin]));
    }
}

void draw_map(Ui& ui, const Map& map, Counts& kept, const SideLayout& l, ImVec2 at, const Pane& pane,
              bool output) {
    const Array& array = pane.array(map.array);
    const ImVec2 end{at.x + l.pitch * static_cast<float>(map.cols),
                     at.y + l.pitch * static_cast<float>(map.rows)};
    const float name = line(ui, {at.x, at.y - l.label}, ui.px(120), Face::Strong, Size::Small, Ink::Text,
                            name_in(pane.notation(), array));
    const std::string extents = extents_text(array, "\u00d7");
    const float wide = draw::text_size(ui.font(Face::Mono, Size::Small), extents).x;
    if (name + ui.px(8) + wide <= end.x - at.x)
        line(ui, {at.x + name + ui.px(8), at.y - l.label}, wide + 2, Face::Mono, Size::Small, Ink::TextQuiet,
             extents);
    const std::vector<uint32_t>& counts = kept.at(map, pane.moment);
    const uint64_t id = draw::grid_id(pane.shown.recording->serial, draw::GridUse::Race, map.array);
    if (ui.context.grids.stale(id, version_of(ui, pane)))
        ui.context.grids.set_cells(id, version_of(ui, pane), map.bin_rows, map.bin_cols,
                                   cells_of(map, counts, pane, output));
    const draw::GridView bins{at.x, at.y, l.pitch * static_cast<float>(map.side), at, end};
    ui.context.grids.draw(ui.list, id, bins, ui.context.palette, ui.context.scale);
    if (!output) counts_in_cells(ui, map, counts, at, l.pitch, pane);
    std::vector<draw::GridMark> marks;
    const CellRect& tile = map.at_work[pane.moment];
    if (!tile.empty() && pane.moment > 0 && pane.moment < kMoments)
        draw::frame_around(ui, marks, tile, l.pitch);
    const float edge = ui.px(4);  // frames may reach over the edge of the cells
    const draw::GridView elements{
        at.x, at.y, l.pitch, {at.x - edge, at.y - edge}, {end.x + edge, end.y + edge}};
    ui.context.grids.draw(ui.list,
                          draw::grid_id(pane.shown.recording->serial, draw::GridUse::Race, map.array + 256u),
                          elements, ui.context.palette, ui.context.scale, marks);
    if (!ui.over({at, end}) || map.side != 1) return;
    const auto row = static_cast<uint64_t>((ui.cursor().y - at.y) / l.pitch),
               col = static_cast<uint64_t>((ui.cursor().x - at.x) / l.pitch);
    const uint64_t element = row * map.width + col;
    if (element >= map.elements || col >= map.width) return;
    ui.tip = element_name(array, static_cast<int64_t>(element), pane.notation());
    if (output)
        ui.tip += counts[element] > 0 ? ": stored" : ": not stored yet";
    else
        ui.tip += fmt::format(": loaded {} so far", counted(counts[element], "time"));
}

// Which recording it is, and the block at work. Returns the height taken.
float whose(Ui& ui, const Rect& in, const Pane& pane) {
    const float title = line_height(ui, Size::Title), mark = ui.px(22);
    const float left =
        draw::badge(ui, {in.min.x, in.min.y + (title - mark) / 2}, mark, pane.side.letter[0]) + ui.px(8);
    const float name = line(ui, {in.min.x + left, in.min.y}, in.width() - left, Face::Strong, Size::Title,
                            Ink::Text, pane.side.kernel);
    const trace::Trace& trace = pane.shown.trace();
    const trace::Block& block = trace.blocks[pane.side.block[pane.moment]];
    const std::string at = block_name(trace.launch.grid, {block.x, block.y, block.z}, pane.notation());
    const std::string place = fmt::format("{} of {}", grouped(pane.side.block[pane.moment] + 1),
                                          counted(pane.side.blocks, "block"));
    const float room = in.width() - left - name - ui.px(16);
    const std::vector<std::string> words{at + ", " + place, at, ""};
    note(ui, {in.max.x, in.min.y + (title - line_height(ui, Size::Small)) / 2}, room,
         fitting(ui.font(Face::Text, Size::Small), words, room), Align::Right);
    return title + ui.px(8);
}

}  // namespace

void side_panel(Ui& ui, const Rect& rect, const Pane& pane) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const float top = in.min.y + whose(ui, in, pane);
    const float wide = std::clamp(std::round(in.width() * 0.21f), ui.px(104), ui.px(190));
    pipe(ui, {{in.max.x - wide, top}, in.max}, pane);
    const Rect body{{in.min.x, top}, {in.max.x - wide - ui.px(24), in.max.y}};
    const SideLayout l = best_layout(ui, body, pane);
    draw_odometers(ui, l.odometers, body.max.y, l.odometer, pane);
    for (size_t i = 0; i < pane.side.inputs.size(); ++i)
        draw_map(ui, pane.side.inputs[i], pane.counts[i], l, l.at[i], pane, false);
    for (const Map& map : pane.side.outputs) draw_map(ui, map, pane.counts[2], l, l.at[2], pane, true);
}

}  // namespace tilescope::race
