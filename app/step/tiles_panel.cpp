// The block from inside: its tiles in shared memory with what they hold and where it came from, and
// its threads, warp by warp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"
#include "app/step/tiles_view.h"

namespace tilescope::step {
namespace {

void titles(Ui& ui, ImVec2 at, float width, const std::string& name, const std::string& rest) {
    const float used = line(ui, at, width, Face::Strong, Size::Body, Ink::Text, name);
    const float room = width - used - ui.px(8);
    line(ui, {at.x + used + ui.px(8), at.y + ui.px(3)}, room, Face::Mono, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Mono, Size::Small), {rest, ""}, room));
}

draw::GridView fitted(const Rect& box, uint32_t rows, uint32_t cols, float largest) {
    draw::GridView grid;
    grid.pitch = std::floor(std::min({box.width() / static_cast<float>(std::max(cols, 1u)),
                                      box.height() / static_cast<float>(std::max(rows, 1u)), largest}));
    grid.pitch = std::max(grid.pitch, 1.f);
    grid.x = box.min.x;
    grid.y = box.min.y;
    grid.clip_min = box.min;
    grid.clip_max = {std::min(box.max.x, box.min.x + grid.pitch * static_cast<float>(cols) + 1),
                     std::min(box.max.y, box.min.y + grid.pitch * static_cast<float>(rows) + 1)};
    return grid;
}

draw::GridMark cell_mark(uint32_t row, uint32_t col, Rgba fill, Rgba edge = 0, float edge_px = 1) {
    draw::GridMark mark = draw::fill_mark({row, row + 1, col, col + 1}, fill);
    mark.edge = edge;
    mark.edge_px = edge_px;
    return mark;
}

void selection(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, const look::Relations& selected) {
    for (const auto& [where, cells] : selected.cells)
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
}

void shared_tile(Ui& ui, const Rect& rect, uint8_t array, const look::Relations& selected) {
    const SharedView tile = shared_view(ui.trace(), *ui.index(), ui.session.replay.get(), array, ui.step());
    const float title = line_height(ui, Size::Body) + ui.px(2);
    titles(ui, rect.min, rect.width(), ui.trace().launch.arrays[array].name,
           extents_text(ui.trace().launch.arrays[array], "\u00d7"));
    const draw::GridView grid =
        fitted({{rect.min.x, rect.min.y + title}, rect.max}, tile.rows, tile.cols, ui.px(112));
    ui.state.places.add(array, grid);

    const Rgba color = ui.ink(ink_of(tile.kind)), held = ui.ink(Ink::SharedStore);
    std::vector<draw::GridMark> marks;
    const float pitch = grid.pitch, thin = pitch >= ui.px(5) ? 1.f : 0.f;
    const bool sources = pitch >= ui.px(48), signs = pitch >= ui.px(5);
    std::string longest = "0", longest_source = "M[0,0]";
    for (const SharedCellView& cell : tile.cells) {
        if (cell.value.size() > longest.size()) longest = cell.value;
        if (cell.source.size() > longest_source.size()) longest_source = cell.source;
    }
    const float room = pitch - ui.px(3);
    const auto value = ui.context.fonts.for_cells(longest, room, sources ? pitch * 0.55f : room);
    const auto source = ui.context.fonts.for_cells(longest_source, room, room, Size::Small);
    const bool shows_values = ui.session.replay != nullptr && value;
    for (uint32_t row = 0; row < tile.rows; ++row) {
        for (uint32_t col = 0; col < tile.cols; ++col) {
            const SharedCellView& cell = tile.cells[size_t{row} * tile.cols + col];
            Rgba fill = ui.ink(Ink::Cell);
            if (cell.written && !cell.stale)
                fill = cell.zero_fill ? ui.ink(Ink::Outside) : draw::mix(fill, held, 0.30f);
            if (cell.lanes != 0) fill = color;
            draw::GridMark mark = cell_mark(row, col, fill, thin > 0 ? ui.ink(Ink::Panel) : 0, thin);
            if (!signs && cell.lanes == 0 && cell.written) {  // cells too small for a sign of their own
                if (cell.zero_fill) mark.pattern = draw::Pattern::Hatch;
                if (cell.stale) mark.pattern = draw::Pattern::Dots;
            }
            marks.push_back(mark);
        }
    }
    if (ui.session.faults)
        for (const draw::CellRect& cell : look::faulty_at(ui.trace(), *ui.session.faults, array, ui.step()))
            marks.push_back(draw::fault_mark(ui, cell, pitch));
    selection(ui, marks, array, selected);
    ui.context.grids.draw(ui.list, grid_id(ui, draw::GridUse::Shared, array), grid, ui.context.palette,
                          ui.context.scale, marks);

    // Told apart by shape: a zero fill is struck out, a stale value has a notch in its corner; idle lanes are
    // hatched.
    for (uint32_t row = 0; row < tile.rows && signs; ++row) {
        for (uint32_t col = 0; col < tile.cols; ++col) {
            const SharedCellView& cell = tile.cells[size_t{row} * tile.cols + col];
            if (!cell.written || cell.lanes != 0) continue;
            const ImVec2 at = draw::corner_of(grid, row, col);
            const Rect inside{{at.x, at.y}, {at.x + pitch - 1, at.y + pitch - 1}};
            if (cell.zero_fill)
                zero_sign(ui, inside);
            else if (cell.stale)
                stale_notch(ui, inside);
        }
    }

    if (shows_values) {
        for (uint32_t row = 0; row < tile.rows; ++row) {
            for (uint32_t col = 0; col < tile.cols; ++col) {
                const SharedCellView& cell = tile.cells[size_t{row} * tile.cols + col];
                if (!cell.written) continue;
                const ImVec2 at = draw::corner_of(grid, row, col);
                const Rgba ink = cell.lanes != 0 ? ui.context.palette.text_on(color)
                                                 : ui.ink(cell.stale ? Ink::TextFaint : Ink::Text);
                draw::draw_text_in(ui.list, *value, at,
                                   {at.x + pitch, at.y + pitch * (sources ? 0.70f : 1.f)}, ink, cell.value);
                if (sources && source) {
                    draw::draw_text_in(ui.list, *source, {at.x, at.y + pitch * 0.60f},
                                       {at.x + pitch, at.y + pitch * 0.98f},
                                       cell.lanes != 0 ? ink : ui.ink(Ink::TextQuiet), cell.source);
                }
            }
        }
    }
    const Array& shape = ui.trace().launch.arrays[array];
    const auto under = draw::element_under(ui, {grid.clip_min, grid.clip_max}, grid, shape);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::SharedCell;
    pick.array = array;
    pick.index = *under;
    const CellRect at = draw::cell_on_sheet(shape, *under);
    const SharedCellView& cell = tile.cells[size_t{at.row0} * tile.cols + at.col0];
    ui.tip = element_name(shape, pick.index);
    if (cell.written) ui.tip += fmt::format(" = {}  from {}", cell.value, cell.source);
    session::offer_pick(ui, pick);
}

void block_threads(Ui& ui, const Rect& rect, const look::Relations& selected) {
    const ThreadsView block = threads_view(ui.trace(), *ui.index(), ui.step());
    const float title = line_height(ui, Size::Body) + ui.px(2);
    const draw::GridView grid =
        fitted({{rect.min.x, rect.min.y + title}, rect.max}, block.rows, block.cols, ui.px(72));
    // The header says what the cells say.
    const bool places = grid.pitch >= ui.px(44), lanes = !places && grid.pitch >= ui.px(14);
    std::string what = places ? "y,x" : lanes ? "lanes" : "";
    if (rect.width() >= ui.px(180))
        what += fmt::format("{}{} \u00d7 {}, {}", what.empty() ? "" : "  ", block.cols, block.rows,
                            counted(ui.index()->warps, "warp"));
    titles(ui, rect.min, rect.width(), "Threads", what);
    const Rgba color = ui.ink(ink_of(block.kind));
    std::vector<draw::GridMark> marks;
    const float thin = grid.pitch >= ui.px(5) ? 1.f : 0.f;
    for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
        const ThreadView& of = block.threads[thread];
        // Warps told apart by two shades, as the stripes of a table.
        Rgba fill = draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::LineStrong), of.warp % 2 == 0 ? 0.f : 0.22f);
        if (of.state == ThreadState::Active) fill = color;
        draw::GridMark mark = cell_mark(thread / block.cols, thread % block.cols, fill,
                                        thin > 0 ? ui.ink(Ink::Panel) : 0, thin);
        if (of.state != ThreadState::Active && (!of.has_output || of.state == ThreadState::Idle)) {
            mark.pattern = draw::Pattern::Hatch;
            mark.edge = ui.ink(of.state == ThreadState::Idle ? ink_of(block.kind) : Ink::LineStrong);
        }
        marks.push_back(mark);
    }
    for (const uint32_t thread : selected.threads) {
        const uint32_t row = thread / block.cols, col = thread % block.cols;
        marks.push_back(draw::frame_mark({row, row + 1, col, col + 1}, ui.ink(Ink::Selected),
                                         std::min(ui.px(2), grid.pitch / 4), true));
    }
    ui.context.grids.draw(ui.list, grid_id(ui, draw::GridUse::Threads), grid, ui.context.palette,
                          ui.context.scale, marks);

    const float pitch = grid.pitch;
    if (places || lanes) {
        const auto font =
            ui.context.fonts.for_cells(places ? "0,0" : "00", pitch - ui.px(3), pitch - ui.px(3), Size::Body);
        for (uint32_t thread = 0; thread < block.threads.size(); ++thread) {
            const ThreadView& of = block.threads[thread];
            const ImVec2 at = draw::corner_of(grid, thread / block.cols, thread % block.cols);
            const bool active = of.state == ThreadState::Active;
            if (!font || (!active && pitch < ui.px(22))) continue;
            const std::string text = places ? fmt::format("{},{}", thread / block.cols, thread % block.cols)
                                            : std::to_string(of.lane);
            draw::draw_text_in(ui.list, *font, at, {at.x + pitch, at.y + pitch},
                               active ? ui.context.palette.text_on(color) : ui.ink(Ink::TextQuiet), text);
        }
    }
    const auto under = cell_under(ui, {grid.clip_min, grid.clip_max}, grid, block.rows, block.cols);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::Thread;
    pick.thread = static_cast<uint32_t>(*under);
    pick.warp = pick.thread / kWarpSize;
    ui.tip = fmt::format("{}: warp {}, lane {}", thread_name(ui.trace().launch.block, pick.thread), pick.warp,
                         pick.thread % kWarpSize);
    if (!block.threads[pick.thread].has_output)
        ui.tip += ui.index()->product ? ", beyond the matrix" : ", stores to no array";
    session::offer_pick(ui, pick);
}

}  // namespace

void tiles_panel(Ui& ui, const Rect& rect, const look::Relations& selected, bool with_threads) {
    surface(ui, rect);
    const look::Roles& roles = ui.index()->roles;
    const Rect in = rect.inset(ui.px(12));
    const size_t count = roles.shared.size() + (with_threads ? 1 : 0);
    if (count == 0) return;
    const bool upright = rect.height() > rect.width();
    const float gap = ui.px(upright ? 6 : 16), n = static_cast<float>(count);
    const float each = ((upright ? in.height() : in.width()) - gap * (n - 1)) / n;
    const auto part = [&](size_t i) {
        const float at = std::round((each + gap) * static_cast<float>(i));
        return upright ? Rect{{in.min.x, in.min.y + at}, {in.max.x, in.min.y + at + each}}
                       : Rect{{in.min.x + at, in.min.y}, {in.min.x + at + each, in.max.y}};
    };
    for (size_t i = 0; i < roles.shared.size(); ++i) shared_tile(ui, part(i), roles.shared[i], selected);
    if (with_threads) block_threads(ui, part(count - 1), selected);
}

void threads_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    block_threads(ui, in, selected);
    if (!ui.index()->roles.shared.empty()) return;
    const float x = in.min.x + in.height() - line_height(ui, Size::Body) + ui.px(16);
    if (in.max.x - x < ui.px(90)) return;
    paragraph(ui, {x, in.min.y + line_height(ui, Size::Body) + ui.px(2)}, in.max.x - x, Face::Text,
              Size::Small, Ink::TextQuiet,
              ui.index()->product
                  ? "No shared memory: every factor comes from global memory each time it is needed."
                  : "No shared memory: all that the threads use comes from global memory.",
              8);
}

}  // namespace tilescope::step
