// The block from inside: its tiles in shared memory with what they hold and where it came from, and its
// threads, warp by warp. After a step an element travels from its cell in M to its cell in Mds.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// least, largest: pixels a cell.
draw::GridView fitted(const Rect& box, uint32_t rows, uint32_t cols, float least, float largest) {
    const float wide = static_cast<float>(std::max(cols, 1u)), high = static_cast<float>(std::max(rows, 1u));
    const float fits = std::floor(std::min({box.width() / wide, box.height() / high, largest}));
    const float pitch = std::max(fits, std::floor(least));
    return {box.min.x,
            box.min.y,
            pitch,
            box.min,
            {std::min(box.max.x, box.min.x + pitch * wide + 1),
             std::min(box.max.y, box.min.y + pitch * high + 1)}};
}

// A cell with a line around it where it is large enough.
draw::GridMark cell_mark(const Ui& ui, const draw::GridView& grid, uint32_t row, uint32_t col, Rgba fill) {
    const CellRect cell{row, row + 1, col, col + 1};
    const bool lined = grid.pitch >= ui.px(5);
    draw::GridMark mark = draw::fill_mark(cell, fill);
    mark.edge = lined ? ui.ink(Ink::Panel) : 0;
    mark.edge_px = lined ? 1 : 0;
    return mark;
}

// All values of a tile in one size, or none where the longest could not be read in its cell; below them in
// large cells where they came from.
void shared_values(Ui& ui, const SharedView& tile, const draw::GridView& grid, bool sources) {
    if (!ui.session.replay) return;
    std::vector<std::string> values(tile.cells.size()), from(tile.cells.size());
    std::string longest = "0", longest_source = "M[0,0]";
    for (size_t at = 0; at < tile.cells.size(); ++at) {
        if (!tile.cells[at].held.written) continue;
        values[at] = short_value(tile.cells[at].held.value);
        from[at] = source_text(ui.trace(), tile.cells[at], ui.notation());
        longest = std::max(longest, values[at], shorter);
        longest_source = std::max(longest_source, from[at], shorter);
    }
    const float pitch = grid.pitch, room = pitch - ui.px(3);
    const auto value = ui.context.fonts.for_cells(longest, room, sources ? pitch * 0.55f : room);
    const auto source = ui.context.fonts.for_cells(longest_source, room, room, Size::Small);
    for (size_t i = 0; i < tile.cells.size() && value; ++i) {
        const SharedCellView& cell = tile.cells[i];
        if (!cell.held.written) continue;
        const ImVec2 at = draw::corner_of(grid, cell.row, cell.col);
        const Rgba ink = cell.lanes != 0 ? ui.context.palette.text_on(ui.ink(ink_of(tile.kind)))
                                         : ui.ink(cell.stale ? Ink::TextFaint : Ink::Text);
        draw::draw_text_in(ui.list, *value, at, {at.x + pitch, at.y + pitch * (sources ? 0.70f : 1.f)}, ink,
                           values[i]);
        if (sources && source)
            draw::draw_text_in(ui.list, *source, {at.x, at.y + pitch * 0.60f},
                               {at.x + pitch, at.y + pitch * 0.98f},
                               cell.lanes != 0 ? ink : ui.ink(Ink::TextQuiet), from[i]);
    }
}

void shared_tile(Ui& ui, const Rect& rect, uint8_t array, const look::Relations& selected) {
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    const float title = line_height(ui, Size::Body) + ui.px(2);
    heading(ui, rect.min, rect.width(), name_in(ui.notation(), shape), extents_text(shape, "\u00d7"));
    draw::GridView grid =
        fitted({{rect.min.x, rect.min.y + title}, rect.max}, sheet.rows, sheet.cols, ui.px(3), ui.px(112));
    // Of an array too tall the rows about those that were touched last.
    const auto shown = static_cast<uint32_t>((grid.clip_max.y - grid.clip_min.y) / grid.pitch);
    if (shown > 0 && shown < sheet.rows) {
        const uint32_t row = touched_last(ui.trace(), *ui.index(), array, ui.step()).row0;
        grid.y -=
            static_cast<float>(std::min(row - std::min(row, shown / 4), sheet.rows - shown)) * grid.pitch;
    }
    const SharedView tile = shared_view(ui.trace(), *ui.index(), ui.session.replay.get(), array, ui.step(),
                                        in_sight(grid, sheet.rows, sheet.cols));
    ui.state.places.emplace_back(array, grid);

    const Rgba color = ui.ink(ink_of(tile.kind)), held = ui.ink(Ink::SharedStore);
    std::vector<draw::GridMark> marks;
    const float pitch = grid.pitch;
    const bool sources = pitch >= ui.px(48), signs = pitch >= ui.px(5);
    for (const SharedCellView& cell : tile.cells) {
        Rgba fill = ui.ink(Ink::Cell);
        if (cell.held.written && !cell.stale)
            fill = cell.zero_fill ? ui.ink(Ink::Outside) : draw::mix(fill, held, 0.30f);
        marks.push_back(cell_mark(ui, grid, cell.row, cell.col, cell.lanes != 0 ? color : fill));
        if (signs || cell.lanes != 0 || !cell.held.written) continue;  // else too small for a sign of its own
        if (cell.zero_fill) marks.back().pattern = draw::Pattern::Hatch;
        if (cell.stale) marks.back().pattern = draw::Pattern::Dots;
    }
    if (ui.session.faults)
        for (const CellRect& cell : look::faulty_at(ui.trace(), *ui.session.faults, array, ui.step()))
            marks.push_back(draw::fault_mark(ui, cell, pitch));
    selection_marks(ui, marks, array, selected);
    ui.context.grids.draw(ui.list, grid_id(ui, draw::GridUse::Shared, array), grid, ui.context.palette,
                          ui.context.scale, marks);

    // Told apart by shape: a zero fill is struck out, a stale value has a notch in its corner; idle lanes are
    // hatched.
    for (const SharedCellView& cell : tile.cells) {
        if (!signs || !cell.held.written || cell.lanes != 0) continue;
        const ImVec2 at = draw::corner_of(grid, cell.row, cell.col);
        const Rect inside{at, {at.x + pitch - 1, at.y + pitch - 1}};
        if (cell.zero_fill)
            zero_sign(ui, inside);
        else if (cell.stale)
            stale_notch(ui, inside);
    }
    if (pitch >= ui.px(8)) shared_values(ui, tile, grid, sources);

    const auto under = draw::element_under(ui, {grid.clip_min, grid.clip_max}, grid, shape);
    if (!under) return;
    ui.tip = element_name(shape, static_cast<int64_t>(*under), ui.notation());
    const CellRect place = sheet.cell(*under);
    for (const SharedCellView& cell : tile.cells)
        if (cell.row == place.row0 && cell.col == place.col0 && cell.held.written)
            ui.tip += fmt::format(" = {}  from {}", short_value(cell.held.value),
                                  source_text(ui.trace(), cell, ui.notation()));
    input::offer_pick(ui, look::picked_element(array, *under, Pick::Kind::SharedCell));
}

// Returns where they end, from above.
float block_threads(Ui& ui, const Rect& rect, const look::Relations& selected) {
    const ThreadsView block = threads_view(ui.trace(), *ui.index(), ui.step());
    const Dim3& size = ui.trace().launch.block;
    const float title = line_height(ui, Size::Body) + ui.px(2);
    const draw::GridView grid =
        fitted({{rect.min.x, rect.min.y + title}, rect.max}, block.rows, block.cols, 1, ui.px(72));
    // The header says what the cells say.
    const bool places = grid.pitch >= ui.px(44), lanes = !places && grid.pitch >= ui.px(14);
    std::string axes = size.z > 1 ? "z,y,x" : size.y > 1 ? "y,x" : "x";
    if (ui.notation().x_first) std::reverse(axes.begin(), axes.end());
    std::string what = places ? axes : lanes ? "lanes" : "";
    if (rect.width() >= ui.px(180)) {
        const std::string deep = size.z > 1 ? fmt::format(" \u00d7 {}", size.z) : "";
        what += fmt::format("{}{} \u00d7 {}{}, {}", what.empty() ? "" : "  ", size.x, size.y, deep,
                            counted(ui.index()->warps, "warp"));
    }
    heading(ui, rect.min, rect.width(), "Threads", what);
    const Rgba color = ui.ink(ink_of(block.kind));
    std::vector<draw::GridMark> marks;
    for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
        const auto& [state, has_output, cell] = block.threads[thread];
        // Warps told apart by two shades, as the stripes of a table.
        const Rgba fill =
            draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::LineStrong), thread / kWarpSize % 2 == 0 ? 0.f : 0.22f);
        marks.push_back(
            cell_mark(ui, grid, cell.row0, cell.col0, state == ThreadState::Active ? color : fill));
        if (state == ThreadState::Active || (has_output && state != ThreadState::Idle)) continue;
        marks.back().pattern = draw::Pattern::Hatch;
        marks.back().edge = ui.ink(state == ThreadState::Idle ? ink_of(block.kind) : Ink::LineStrong);
    }
    for (const uint32_t thread : selected.threads)
        marks.push_back(draw::frame_mark(block.threads[thread].cell, ui.ink(Ink::Selected),
                                         std::min(ui.px(2), grid.pitch / 4), true));
    ui.context.grids.draw(ui.list, grid_id(ui, draw::GridUse::Threads), grid, ui.context.palette,
                          ui.context.scale, marks);

    const float pitch = grid.pitch;
    if (places || lanes) {
        const auto text_of = [&](uint32_t thread) {
            if (lanes) return std::to_string(thread % kWarpSize);
            const std::string index = thread_index(size, thread, ui.notation());
            return index.substr(1, index.size() - 2);
        };
        const std::string longest = places ? text_of(static_cast<uint32_t>(size.count() - 1)) : "00";
        const auto font = ui.context.fonts.for_cells(longest, pitch - ui.px(3), pitch - ui.px(3), Size::Body);
        for (uint32_t thread = 0; thread < block.threads.size() && font; ++thread) {
            const ThreadView& of = block.threads[thread];
            const ImVec2 at = draw::corner_of(grid, of.cell.row0, of.cell.col0);
            const bool active = of.state == ThreadState::Active;
            if (!active && pitch < ui.px(22)) continue;
            draw::draw_text_in(ui.list, *font, at, {at.x + pitch, at.y + pitch},
                               active ? ui.context.palette.text_on(color) : ui.ink(Ink::TextQuiet),
                               text_of(thread));
        }
    }
    const auto under = draw::cell_under(ui, {grid.clip_min, grid.clip_max}, grid, block.rows, block.cols);
    if (!under) return grid.clip_max.y;
    const auto found = std::find_if(block.threads.begin(), block.threads.end(), [&](const ThreadView& of) {
        return of.cell.row0 == *under / block.cols && of.cell.col0 == *under % block.cols;
    });
    if (found == block.threads.end()) return grid.clip_max.y;  // between two slices
    const auto thread = static_cast<uint32_t>(found - block.threads.begin());
    const uint32_t warp = thread / kWarpSize;
    ui.tip = fmt::format("{}: warp {}, lane {}", thread_name(size, thread, ui.notation()), warp,
                         thread % kWarpSize);
    if (!found->has_output) ui.tip += ui.index()->product ? ", beyond the matrix" : ", stores to no array";
    input::offer_pick(ui, {.kind = Pick::Kind::Thread, .thread = thread, .warp = warp});
    return grid.clip_max.y;
}

// Where an element stands in this frame; empty (width 0) where it is not in sight.
Rect place_of(const Ui& ui, uint8_t array, uint64_t element) {
    const auto found = std::ranges::find(ui.state.places, array, &std::pair<uint8_t, draw::GridView>::first);
    if (found == ui.state.places.end()) return {};
    const draw::GridView& view = found->second;
    const CellRect cell = draw::cell_on_sheet(ui.trace().launch.arrays[array], element);
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

void tiles_panel(Ui& ui, const Rect& rect, const look::Relations& selected, bool with_threads) {
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
    for (size_t i = 0; i < shared.size(); ++i) shared_tile(ui, part(i), shared[i], selected);
    if (!with_threads) return;
    const float end = block_threads(ui, part(count - 1), selected);
    if (shared.empty() && !ui.index()->product) no_shared_memory(ui, {in.min.x, end + ui.px(12)}, in.width());
}

void threads_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    block_threads(ui, in, selected);
    if (!ui.index()->shared.empty()) return;
    const float x = in.min.x + in.height() - line_height(ui, Size::Body) + ui.px(16);
    if (in.max.x - x < ui.px(90)) return;
    no_shared_memory(ui, {x, in.min.y + line_height(ui, Size::Body) + ui.px(2)}, in.max.x - x);
}

// Only single steps move: while many steps a second go by there is nothing to follow.
void motion(Ui& ui) {
    constexpr double kSeconds = 0.2;
    const session::Session& session = ui.session;
    Motion& moving = ui.state.moving;
    if (!(moving.shown == session.cursor)) {
        const bool one_step =
            moving.shown.block == session.cursor.block && session.cursor.step == moving.shown.step + 1;
        const bool slow =
            !session.playback.playing || session::steps_per_second(session) <= session::kFastestMotion;
        const bool starts = one_step && slow && session.motion && !ui.context.still;
        moving = {session.cursor, starts ? ui.context.time : -1};
    }
    if (moving.since < 0 || !session.replay || ui.index() == nullptr || ui.step() >= ui.index()->steps)
        return;
    const double part = (ui.context.time - moving.since) / kSeconds;
    if (part >= 1 || part < 0) return;
    ui.context.another_frame = true;
    const uint64_t step = ui.index()->first + ui.step();
    const StepKind kind = look::kind_of(ui.trace(), step);
    const trace::Access access = trace::decode(ui.trace(), step);
    if (access.array == trace::kNoArray || kind != StepKind::SharedStore) return;
    const auto& arrays = ui.trace().launch.arrays;
    const auto eased = static_cast<float>(1 - std::pow(1 - part, 3));
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t cell = access.offset[lane] / arrays[access.array].element_bytes();
        const playback::Element source = session.replay->cell(access.array, cell, ui.step()).source;
        if (source.array == trace::kNoArray) return;
        const Rect from = place_of(ui, source.array, source.index), to = place_of(ui, access.array, cell);
        if (from.width() <= 0 || to.width() <= 0) return;
        const auto between = [&](float a, float b) { return a + (b - a) * eased; };
        const ImVec2 min{between(from.min.x, to.min.x), between(from.min.y, to.min.y)};
        const float size = between(from.width(), to.width()) * 0.86f;
        ui.list.AddRectFilled(min, {min.x + size, min.y + size}, ui.ink(ink_of(kind)), ui.px(2));
    });
}

}  // namespace tilescope::step
