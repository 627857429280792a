// The cells of one array: their values where they are large enough, what this step and this phase do to them,
// and what the selection lights up.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"
#include "core/base/contents.h"

namespace tilescope::step {
namespace {

draw::CellRect one(const HotCell& cell) { return {cell.row, cell.row + 1, cell.col, cell.col + 1}; }

// What a cell holds: what the block stored there, else what was there before the launch; of a product's
// output the running sums of the block.
std::string cell_text(const Ui& ui, const MatrixView& matrix, const draw::Sheet& sheet,
                      const std::vector<int32_t>& owner, uint32_t row, uint32_t col) {
    const auto element = sheet.element(row, col);
    if (!element) return "";
    const Array& array = ui.trace().launch.arrays[matrix.array];
    if (matrix.array != ui.index()->roles.p) {
        if (ui.session.replay && array.writes()) {
            const playback::CellState state = ui.session.replay->cell(matrix.array, *element, ui.step());
            if (state.written) return short_value(state.value);
        }
        return array.reads() ? short_value(initial_value(array, *element)) : "";
    }
    if (!ui.session.replay || !matrix.tile.contains(row, col)) return "";
    const size_t at = size_t{row - matrix.tile.row0} * matrix.tile.cols() + (col - matrix.tile.col0);
    if (at >= owner.size() || owner[at] < 0) return "";
    const auto sum = ui.session.replay->running_sum(static_cast<uint32_t>(owner[at]), ui.step());
    return sum ? short_value(*sum) : "";
}

// The thread of each element of the block's tile of P; -1 for none.
std::vector<int32_t> owners(const Ui& ui, const MatrixView& matrix) {
    std::vector<int32_t> owner(size_t{matrix.tile.rows()} * matrix.tile.cols(), -1);
    for (size_t thread = 0; thread < ui.index()->output.size(); ++thread) {
        const auto [array, element] = ui.index()->output[thread];
        if (array != matrix.array) continue;
        const CellRect cell = draw::cell_on_sheet(ui.trace().launch.arrays[array], element);
        const uint32_t row = cell.row0, col = cell.col0;
        if (!matrix.tile.contains(row, col)) continue;
        owner[size_t{row - matrix.tile.row0} * matrix.tile.cols() + (col - matrix.tile.col0)] =
            static_cast<int32_t>(thread);
    }
    return owner;
}

void cell_texts(Ui& ui, const MatrixView& matrix, const draw::GridView& grid) {
    const float pitch = grid.pitch;
    if (pitch < ui.px(11)) return;
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const draw::Sheet sheet(array);
    const std::vector<int32_t> owner =
        matrix.array == ui.index()->roles.p ? owners(ui, matrix) : std::vector<int32_t>{};
    const auto index_of = [&](uint64_t element) {  // "3,19"
        const std::string text = index_text(array, static_cast<int64_t>(element));
        return text.substr(1, text.size() - 2);
    };
    const auto first_row =
        static_cast<uint32_t>(std::max(0.f, std::floor((grid.clip_min.y - grid.y) / pitch)));
    const auto first_col =
        static_cast<uint32_t>(std::max(0.f, std::floor((grid.clip_min.x - grid.x) / pitch)));
    const auto end_row = std::min(
        matrix.rows, static_cast<uint32_t>(std::max(0.f, std::ceil((grid.clip_max.y - grid.y) / pitch))));
    const auto end_col = std::min(
        matrix.cols, static_cast<uint32_t>(std::max(0.f, std::ceil((grid.clip_max.x - grid.x) / pitch))));
    const bool indices = pitch >= ui.px(44);
    // All values of a matrix in one size, or none where the longest could not be read in its cell.
    std::string longest = "0";
    for (uint32_t row = first_row; row < end_row; ++row)
        for (uint32_t col = first_col; col < end_col; ++col)
            if (std::string text = cell_text(ui, matrix, sheet, owner, row, col);
                text.size() > longest.size())
                longest = std::move(text);
    const draw::Fonts& fonts = ui.context.fonts;
    const float room = pitch - ui.px(3);
    const auto value = fonts.for_cells(longest, room, indices ? pitch * 0.55f : room);
    const auto index = fonts.for_cells(index_of(array.elements() - 1), room, room, Size::Small);
    if (!value) return;
    ui.list.PushClipRect(grid.clip_min, grid.clip_max, true);
    for (uint32_t row = first_row; row < end_row; ++row) {
        for (uint32_t col = first_col; col < end_col; ++col) {
            const ImVec2 at = draw::corner_of(grid, row, col);
            // A cell that the viewport cuts shows no half digits.
            if (at.x < grid.clip_min.x - 1 || at.y < grid.clip_min.y - 1 ||
                at.x + pitch > grid.clip_max.x + 1 || at.y + pitch > grid.clip_max.y + 1)
                continue;
            // The tile's frame lies on its neighbours: in small cells it would cover a sign.
            const draw::CellRect& tile = matrix.tile;
            const bool inside = tile.contains(row, col);
            const bool beside = !tile.empty() && !inside && row + 1 >= tile.row0 && row <= tile.row1 &&
                                col + 1 >= tile.col0 && col <= tile.col1;
            if (beside && pitch < ui.px(22)) continue;
            bool lit = false;
            for (const HotCell& hot : matrix.touched) lit = lit || (hot.row == row && hot.col == col);
            const Rgba ink = lit ? ui.context.palette.text_on(ui.ink(ink_of(matrix.kind)))
                                 : ui.ink(inside ? Ink::Text : Ink::TextFaint);
            const std::string text = cell_text(ui, matrix, sheet, owner, row, col);
            const float low = indices ? at.y + pitch * 0.68f : at.y + pitch;
            draw::draw_text_in(ui.list, *value, at, {at.x + pitch, low}, ink, text);
            if (indices && index && sheet.element(row, col)) {
                draw::draw_text_in(ui.list, *index, {at.x, at.y + pitch * 0.62f},
                                   {at.x + pitch, at.y + pitch}, lit ? ink : ui.ink(Ink::TextFaint),
                                   index_of(*sheet.element(row, col)));
            }
        }
    }
    ui.list.PopClipRect();
}

// One texture a matrix: plain, or how often each element was loaded where cells are too small for more.
void base_cells(Ui& ui, uint64_t id, const MatrixView& matrix, bool heat) {
    const uint64_t version = heat ? 1 : 0;
    if (!ui.context.grids.stale(id, version)) return;
    const std::vector<uint32_t> loads =
        heat ? ui.session.totals->loads[matrix.array] : std::vector<uint32_t>{};
    ui.context.grids.set_cells(id, version, matrix.rows, matrix.cols,
                               draw::sheet_cells(ui.trace().launch.arrays[matrix.array], loads));
}

// Cells at fault at this step, and the elements of P that came out wrong: crossed, in a colour of their own.
void fault_marks(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch) {
    const auto add = [&](const draw::CellRect& cell) { marks.push_back(draw::fault_mark(ui, cell, pitch)); };
    const look::BlockFaults& faults = *ui.session.faults;
    for (const draw::CellRect& cell : look::faulty_at(ui.trace(), faults, array, ui.step())) add(cell);
    const Array& shape = ui.trace().launch.arrays[array];
    if (!ui.index()->product || array != ui.index()->product->P) return;
    for (const look::WrongElement& wrong : faults.wrong) add(draw::cell_on_sheet(shape, wrong.element));
}

// A matrix without a texture of its cells has lines between them, as the others do.
void cell_lines(Ui& ui, const draw::GridView& grid, uint32_t rows, uint32_t cols) {
    const Rgba color = ui.ink(Ink::Panel);
    const auto first = [&](float from, float origin) {
        return std::max(0.f, std::ceil((from - origin) / grid.pitch));
    };
    const ImVec2 end = draw::corner_of(grid, rows, cols);
    const float left = std::max(grid.clip_min.x, grid.x), right = std::min(grid.clip_max.x, end.x);
    const float top = std::max(grid.clip_min.y, grid.y), bottom = std::min(grid.clip_max.y, end.y);
    for (float at = first(left, grid.x); grid.x + at * grid.pitch < right; ++at) {
        const float x = std::round(grid.x + at * grid.pitch);
        ui.list.AddRectFilled({x, top}, {x + 1, bottom}, color);
    }
    for (float at = first(top, grid.y); grid.y + at * grid.pitch < bottom; ++at) {
        const float y = std::round(grid.y + at * grid.pitch);
        ui.list.AddRectFilled({left, y}, {right, y + 1}, color);
    }
}

}  // namespace

void array_grid(Ui& ui, uint8_t array, const Port& port, float pitch, const look::Relations& selected) {
    const look::Roles& roles = ui.index()->roles;
    const MatrixView matrix = matrix_view(ui.trace(), *ui.index(), ui.session.replay.get(), array, ui.step());
    draw::GridView grid;
    grid.pitch = pitch;
    grid.x = std::round(port.box.min.x - static_cast<float>(port.col * pitch));
    grid.y = std::round(port.box.min.y - static_cast<float>(port.row * pitch));
    grid.clip_min = port.box.min;
    grid.clip_max = port.box.max;
    ui.state.places.add(array, grid);

    const Rgba color = ui.ink(ink_of(matrix.kind)), load = ui.ink(Ink::GlobalLoad);
    std::vector<draw::GridMark> marks;
    for (const draw::CellRect& beyond : matrix.beyond) {
        draw::GridMark mark = draw::frame_mark(beyond, ui.ink(Ink::LineStrong), 1, true);
        mark.fill = ui.ink(Ink::Outside);
        mark.pattern = draw::Pattern::Hatch;
        marks.push_back(mark);
    }
    for (const HotCell& cell : matrix.loaded)
        marks.push_back(draw::fill_mark(one(cell), draw::with_alpha(load, 0.26f)));
    for (const HotCell& cell : matrix.related) {
        draw::GridMark mark = draw::fill_mark(
            one(cell),
            draw::with_alpha(ui.ink(array == roles.p ? Ink::Product : ink_of(matrix.kind)), 0.45f));
        if (pitch >= ui.px(14)) mark.edge = color;
        marks.push_back(mark);
    }
    for (const HotCell& cell : matrix.touched) marks.push_back(draw::fill_mark(one(cell), color));
    if (!matrix.tile.empty()) {  // around the cells, not over their values
        draw::GridMark frame = draw::frame_mark(matrix.tile, ui.ink(Ink::Accent), ui.px(2.5f));
        const float edge = frame.edge_px / pitch;
        frame.row -= edge;
        frame.col -= edge;
        frame.rows += 2 * edge;
        frame.cols += 2 * edge;
        marks.push_back(frame);
    }
    for (const auto& [where, cells] : selected.cells)
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
    if (ui.session.faults) fault_marks(ui, marks, array, pitch);
    const bool large = large_array(matrix.rows, matrix.cols), heat = pitch < ui.px(4) && ui.session.totals;
    const auto id = [&](draw::GridUse use) { return grid_id(ui, use, array); };
    if (large)  // plain ground, and on it the part that was loaded
        large_cells(ui, id(draw::GridUse::Ground), id(draw::GridUse::Part), array, grid, heat);
    else
        base_cells(ui, id(draw::GridUse::Matrix), matrix, heat);
    if (large && pitch >= ui.px(5)) cell_lines(ui, grid, matrix.rows, matrix.cols);
    ui.context.grids.draw(ui.list, id(large ? draw::GridUse::Marks : draw::GridUse::Matrix), grid,
                          ui.context.palette, ui.context.scale, marks);
    cell_texts(ui, matrix, grid);

    const auto under = draw::element_under(ui, port.box, grid, ui.trace().launch.arrays[array]);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = array;
    pick.index = *under;
    ui.tip = element_name(ui.trace().launch.arrays[array], pick.index);
    session::offer_pick(ui, pick);
}

}  // namespace tilescope::step
