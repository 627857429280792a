// The block from inside: its tiles in shared memory with what they hold and where it came from, and its
// threads, warp by warp. After a step an element travels from its cell in M to its cell in Mds.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// All of a sheet below a heading. least, largest: pixels a cell.
draw::GridView fitted(Ui& ui, const Rect& rect, const draw::Sheet& sheet, float least, float largest) {
    const ImVec2 min{rect.min.x, rect.min.y + line_height(ui, Size::Body) + ui.px(2)};
    const auto wide = static_cast<float>(sheet.cols), high = static_cast<float>(sheet.rows);
    const float fits = std::min({rect.width() / wide, (rect.max.y - min.y) / high, largest});
    const float pitch = std::floor(std::max(fits, least));
    const ImVec2 max{std::min(rect.max.x, min.x + pitch * wide + 1),
                     std::min(rect.max.y, min.y + pitch * high + 1)};
    return {min.x, min.y, pitch, min, max};
}

// A cell with a line around it where it is large enough.
draw::GridMark cell_mark(const Ui& ui, const draw::GridView& grid, const CellRect& cell, Rgba fill) {
    const bool lined = grid.pitch >= ui.px(5);
    draw::GridMark mark = draw::fill_mark(cell, fill);
    mark.edge = lined ? ui.ink(Ink::Panel) : 0;
    mark.edge_px = lined ? 1 : 0;
    return mark;
}

// Below the values in large cells where they came from.
void shared_values(Ui& ui, const SharedView& tile, const draw::GridView& grid) {
    if (grid.pitch < ui.px(8)) return;
    const bool sources = grid.pitch >= ui.px(48);
    std::vector<CellText> texts;
    std::string longest = "0", longest_source = sources ? "M[0,0]" : "";
    for (const SharedCellView& cell : tile.cells) {
        if (!cell.held.written) continue;
        const Rgba ink = cell.lanes != 0 ? ui.context.palette.text_on(ui.ink(ink_of(tile.kind)))
                                         : ui.ink(cell.stale ? Ink::TextFaint : Ink::Text);
        texts.push_back({cell.place, short_value(cell.held.value),
                         sources ? source_text(ui.trace(), cell.held, ui.notation()) : "", ink,
                         cell.lanes != 0 ? ink : ui.ink(Ink::TextQuiet)});
        longest = std::max(longest, texts.back().value, shorter);
        longest_source = std::max(longest_source, texts.back().below, shorter);
    }
    cell_texts(ui, grid, texts, longest, longest_source);
}

void shared_tile(Ui& ui, const Rect& rect, uint8_t array) {
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    heading(ui, rect.min, rect.width(), name_in(ui.notation(), shape), extents_text(shape, "\u00d7"));
    draw::GridView grid = fitted(ui, rect, sheet, ui.px(3), ui.px(112));
    // Of an array too tall the rows about those that were touched last.
    const auto shown = static_cast<uint32_t>((grid.clip_max.y - grid.clip_min.y) / grid.pitch);
    if (shown > 0 && shown < sheet.rows) {
        const uint32_t row = touched_last(ui.trace(), *ui.index(), array, ui.step()).row0;
        grid.y -=
            static_cast<float>(std::min(row - std::min(row, shown / 4), sheet.rows - shown)) * grid.pitch;
    }
    // While it is asked which cells the step touches they stand as the step before left them.
    const session::Question& asked = ui.session.question;
    const bool elements = asked.hides(session::Hide::Elements);
    const bool values = asked.hides(session::Hide::Values) && (elements || asked.array == array);
    SharedView tile =
        shared_view(ui.trace(), *ui.index(), ui.session.replay.get(), array,
                    elements && ui.step() > 0 ? ui.step() - 1 : ui.step(), in_sight(grid, sheet));
    for (SharedCellView& cell : tile.cells) {
        if (elements) cell.lanes = 0;
        if (values || (elements && ui.step() == 0)) cell.held = {}, cell.stale = cell.zero_fill = false;
    }
    ui.state.places.emplace_back(array, grid);

    const Rgba color = ui.ink(ink_of(tile.kind));
    std::vector<draw::GridMark> marks;
    const float pitch = grid.pitch;
    const bool signs = pitch >= ui.px(5);
    for (const SharedCellView& cell : tile.cells) {
        if (!sheet.element(cell.place.row0, cell.place.col0)) continue;
        Rgba fill = ui.ink(Ink::Cell);
        if (cell.held.written && !cell.stale)
            fill = cell.zero_fill ? ui.ink(Ink::Outside) : draw::mix(fill, ui.ink(Ink::SharedStore), 0.30f);
        marks.push_back(cell_mark(ui, grid, cell.place, cell.lanes != 0 ? color : fill));
        if (signs || cell.lanes != 0 || !cell.held.written) continue;  // else too small for a sign of its own
        if (cell.zero_fill) marks.back().pattern = draw::Pattern::Hatch;
        if (cell.stale) marks.back().pattern = draw::Pattern::Dots;
    }
    selection_and_faults(ui, marks, array, pitch);
    draw_grid(ui, grid_id(ui, draw::GridUse::Shared, array), grid, marks);

    // Told apart by shape: a zero fill is struck out, a stale value has a notch in its corner; idle lanes are
    // hatched.
    for (const SharedCellView& cell : tile.cells) {
        if (!signs) break;
        const ImVec2 at = draw::corner_of(grid, cell.place.row0, cell.place.col0);
        const Rect inside{at, {at.x + pitch - 1, at.y + pitch - 1}};
        if (cell.marked_zero()) zero_sign(ui, inside);
        if (cell.marked_stale()) stale_notch(ui, inside);
    }
    shared_values(ui, tile, grid);

    const auto under = offer_element(ui, array, grid);
    if (!under || !ui.session.replay || elements || values) return;
    const playback::CellState held = ui.session.replay->cell(array, *under, ui.step());
    if (held.written)
        ui.tip += fmt::format(" = {}  from {}", short_value(held.value),
                              source_text(ui.trace(), held, ui.notation()));
}

// Returns the corner in which they end, below and on the right.
ImVec2 block_threads(Ui& ui, const Rect& rect) {
    const Dim3& size = ui.trace().launch.block;
    // Threads lie as the elements of an array do (draw/sheet.h): a block of one row wraps at a warp, one with
    // depth is drawn slice by slice.
    Array shape;
    shape.rank = static_cast<uint8_t>(size.z > 1 ? 3 : size.y > 1 ? 2 : 1);
    shape.slices = size.z, shape.rows = size.y, shape.cols = size.x;
    const draw::Sheet sheet(shape);
    const draw::GridView grid = fitted(ui, rect, sheet, 1, ui.px(72));
    const float pitch = grid.pitch;
    // The header says what the cells say.
    const bool places = pitch >= ui.px(44), lanes = !places && pitch >= ui.px(14);
    std::string axes = size.z > 1 ? "z,y,x" : size.y > 1 ? "y,x" : "x";
    if (ui.notation().x_first) std::ranges::reverse(axes);
    std::string what = places ? axes : lanes ? "lanes" : "";
    if (rect.width() >= ui.px(180)) {
        const std::string deep = size.z > 1 ? fmt::format(" \u00d7 {}", size.z) : "";
        what += fmt::format("{}{} \u00d7 {}{}, {}", what.empty() ? "" : "  ", size.x, size.y, deep,
                            counted(ui.index()->warps, "warp"));
    }
    heading(ui, rect.min, rect.width(), "Threads", what);

    const auto text_of = [&](uint32_t thread) {
        if (lanes) return std::to_string(thread % kWarpSize);
        const std::string index = thread_index(size, thread, ui.notation());
        return index.substr(1, index.size() - 2);
    };
    const bool steps = ui.step() < ui.index()->steps;
    const uint64_t step = ui.index()->first + ui.step();
    const trace::Access access = steps ? trace::decode(ui.trace(), step) : trace::Access{};
    const Rgba color = ui.ink(steps ? ink_of(look::kind_of(ui.trace(), step)) : Ink::GlobalLoad);
    const session::Question& asked = ui.session.question;
    const bool hidden = asked.hides(session::Hide::Lanes);
    const auto has_output = [&](uint32_t thread) { return look::output_of(*ui.index(), thread).has_value(); };
    const auto count = static_cast<uint32_t>(size.count());
    std::vector<draw::GridMark> marks;
    std::vector<CellText> texts;
    for (uint32_t thread = 0; thread < count; ++thread) {
        const CellRect cell = sheet.cell(thread);
        const bool in_warp = steps && thread / kWarpSize == access.warp;
        const bool active = in_warp && !hidden && (access.mask >> thread % kWarpSize & 1) != 0;
        // Warps told apart by two shades, as the stripes of a table.
        const Rgba shade =
            draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::LineStrong), thread / kWarpSize % 2 == 0 ? 0.f : 0.22f);
        marks.push_back(cell_mark(ui, grid, cell, active ? color : shade));
        if ((places || lanes) && (active || pitch >= ui.px(22)))
            texts.push_back({cell, text_of(thread), "",
                             active ? ui.context.palette.text_on(color) : ui.ink(Ink::TextQuiet)});
        if (active || (!in_warp && has_output(thread))) continue;
        if (hidden && in_warp) {  // which warp it is may be seen
            marks.back().edge = color;
            continue;
        }
        marks.back().pattern = draw::Pattern::Hatch;
        marks.back().edge = in_warp ? color : ui.ink(Ink::LineStrong);
    }
    for (const uint32_t thread : ui.state.selected.threads)
        marks.push_back(
            draw::frame_mark(sheet.cell(thread), ui.ink(Ink::Selected), std::min(ui.px(2), pitch / 4), true));
    if (asked.takes == session::Question::Takes::Lanes)
        for_lanes(asked.lanes, [&](uint32_t lane) {
            const uint32_t thread = asked.warp * kWarpSize + lane;
            if (thread < count)
                marks.push_back(draw::frame_mark(sheet.cell(thread), ui.ink(Ink::Selected),
                                                 std::min(ui.px(3), pitch / 4)));
        });
    draw_grid(ui, grid_id(ui, draw::GridUse::Threads), grid, marks);
    cell_texts(ui, grid, texts, places ? text_of(count - 1) : "00", "", Size::Body);

    const auto under = draw::element_under(ui, {grid.clip_min, grid.clip_max}, grid, shape);
    if (!under) return grid.clip_max;
    const auto thread = static_cast<uint32_t>(*under), warp = thread / kWarpSize;
    ui.tip = fmt::format("{}: warp {}, lane {}", thread_name(size, thread, ui.notation()), warp,
                         thread % kWarpSize);
    if (!has_output(thread)) ui.tip += ui.index()->product ? ", beyond the matrix" : ", stores to no array";
    input::offer_pick(ui, {.kind = Pick::Kind::Thread, .thread = thread, .warp = warp});
    return grid.clip_max;
}

// Where an element stands in this frame; empty (width 0) where it is not in sight.
Rect place_of(const Ui& ui, const playback::Element& element) {
    const auto found =
        std::ranges::find(ui.state.places, element.array, &std::pair<uint8_t, draw::GridView>::first);
    if (found == ui.state.places.end()) return {};
    const draw::GridView& view = found->second;
    const CellRect cell = draw::cell_on_sheet(ui.trace().launch.arrays[element.array], element.index);
    const ImVec2 corner = draw::corner_of(view, cell.row0, cell.col0);
    const float half = view.pitch / 2;
    if (!Rect{view.clip_min, view.clip_max}.contains({corner.x + half, corner.y + half})) return {};
    return {corner, {corner.x + view.pitch, corner.y + view.pitch}};
}

void no_shared_memory(Ui& ui, ImVec2 corner, float width) {
    paragraph(ui, corner, width, Face::Text, Size::Small, Ink::TextQuiet,
              ui.index()->product
                  ? "No shared memory: every factor comes from global memory each time it is needed."
                  : "No shared memory: all that the threads use comes from global memory.",
              8);
}

}  // namespace

void tiles_panel(Ui& ui, const Rect& rect, bool with_threads) {
    surface(ui, rect);
    const std::vector<uint8_t>& shared = ui.index()->shared;
    const Rect in = rect.inset(ui.px(12));
    const size_t count = shared.size() + (with_threads ? 1 : 0);
    if (count == 0) return;
    const bool upright = rect.height() > rect.width();
    const float gap = ui.px(upright ? 6 : 16), n = static_cast<float>(count);
    const float each = ((upright ? in.height() : in.width()) - gap * (n - 1)) / n;
    const auto part = [&](size_t i) {
        const float at = std::round((each + gap) * static_cast<float>(i));
        return upright ? Rect{{in.min.x, in.min.y + at}, {in.max.x, in.min.y + at + each}}
                       : Rect{{in.min.x + at, in.min.y}, {in.min.x + at + each, in.max.y}};
    };
    for (size_t i = 0; i < shared.size(); ++i) shared_tile(ui, part(i), shared[i]);
    if (!with_threads) return;
    const ImVec2 end = block_threads(ui, part(count - 1));
    if (shared.empty() && !ui.index()->product)
        no_shared_memory(ui, {in.min.x, end.y + ui.px(12)}, in.width());
}

void threads_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const ImVec2 end = block_threads(ui, in);
    if (!ui.index()->shared.empty()) return;
    // Beside the threads of a square block; below those of a wide one.
    const float square = in.min.x + in.height() - line_height(ui, Size::Body);
    const float x = std::max(square, end.x) + ui.px(16), below = end.y + ui.px(12);
    if (in.max.x - x >= ui.px(90))
        no_shared_memory(ui, {x, in.min.y + line_height(ui, Size::Body) + ui.px(2)}, in.max.x - x);
    else if (in.max.y - below >= 3 * line_height(ui, Size::Small))
        no_shared_memory(ui, {in.min.x, below}, in.width());
}

// Only single steps move: while many steps a second go by there is nothing to follow.
void motion(Ui& ui) {
    constexpr double kSeconds = 0.2;
    const session::Session& session = ui.session;
    State& state = ui.state;
    if (state.moving != session.cursor) {
        const bool one_step =
            state.moving.block == session.cursor.block && session.cursor.step == state.moving.step + 1;
        const bool slow =
            !session.playback.playing || session::steps_per_second(session) <= session::kFastestMotion;
        const bool starts = one_step && slow && session.motion && !ui.context.still;
        state.moving = session.cursor;
        state.moves_since = starts ? ui.context.time : -1;
    }
    if (session.question.open || state.moves_since < 0 || !session.replay || ui.step() >= ui.index()->steps)
        return;
    const double part = (ui.context.time - state.moves_since) / kSeconds;
    if (part >= 1 || part < 0) return;
    ui.context.another_frame = true;
    const uint64_t step = ui.index()->first + ui.step();
    if (look::kind_of(ui.trace(), step) != StepKind::SharedStore) return;
    const trace::Access access = trace::decode(ui.trace(), step);
    const auto eased = static_cast<float>(1 - std::pow(1 - part, 3));
    for_elements(ui.trace(), access, [&](uint32_t, uint64_t cell) {
        const playback::Element source = session.replay->cell(access.array, cell, ui.step()).source;
        if (source.array == trace::kNoArray) return;
        const Rect from = place_of(ui, source), to = place_of(ui, {access.array, cell});
        if (from.width() <= 0 || to.width() <= 0) return;
        const auto between = [&](float a, float b) { return a + (b - a) * eased; };
        const ImVec2 min{between(from.min.x, to.min.x), between(from.min.y, to.min.y)};
        const float size = between(from.width(), to.width()) * 0.86f;
        ui.list.AddRectFilled(min, {min.x + size, min.y + size}, ui.ink(Ink::SharedStore), ui.px(2));
    });
}

}  // namespace tilescope::step
