// The cells of one array: their values where they are large enough, what this step and this phase do to them,
// and what the selection lights up.
#include <algorithm>
#include <cmath>

#include "app/draw/sheet.h"
#include "app/step/panels.h"
#include "core/base/contents.h"

namespace tilescope::step {
namespace {

// What a cell holds: what the block stored there, else what was there before the launch; of a product's
// output the running sums of the block.
std::string cell_text(const Ui& ui, const MatrixView& matrix, uint64_t element, bool in_tile) {
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const playback::BlockReplay* replay = ui.session.replay.get();
    if (is_output(ui, matrix.array)) {
        if (replay == nullptr || !in_tile) return "";
        const auto thread = replay->thread_of_output({matrix.array, element});
        const auto sum = thread ? replay->running_sum(*thread, ui.step()) : std::nullopt;
        return sum ? short_value(*sum) : "";
    }
    if (replay != nullptr && array.writes()) {
        const playback::CellState state = replay->cell(matrix.array, element, ui.step());
        if (state.written) return short_value(state.value);
    }
    return array.reads() ? short_value(initial_value(array, element)) : "";
}

void cell_texts(Ui& ui, const MatrixView& matrix, const draw::GridView& grid) {
    const float pitch = grid.pitch;
    if (pitch < ui.px(11)) return;
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const draw::Sheet sheet(array);
    const CellRect sight = in_sight(grid, matrix.rows, matrix.cols);
    const auto index_of = [&](uint64_t element) {  // "3,19"
        const std::string text = index_text(array, static_cast<int64_t>(element), ui.notation());
        return text.substr(1, text.size() - 2);
    };
    // All values of a matrix in one size, or none where the longest could not be read in its cell.
    struct CellText {
        uint32_t row, col;
        std::string value, index;
    };
    std::vector<CellText> texts;
    std::string longest = "0";
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        for (uint32_t col = sight.col0; col < sight.col1; ++col)
            if (const auto element = sheet.element(row, col)) {
                texts.push_back({row, col, cell_text(ui, matrix, *element, matrix.tile.contains(row, col)),
                                 index_of(*element)});
                longest = std::max(longest, texts.back().value, shorter);
            }
    const draw::Fonts& fonts = ui.context.fonts;
    const bool indices = pitch >= ui.px(44);
    const float room = pitch - ui.px(3);
    const auto value_font = fonts.for_cells(longest, room, indices ? pitch * 0.55f : room);
    const auto index_font = fonts.for_cells(index_of(array.elements() - 1), room, room, Size::Small);
    if (!value_font) return;
    ui.list.PushClipRect(grid.clip_min, grid.clip_max, true);
    for (const auto& [row, col, value, index] : texts) {
        const ImVec2 min = draw::corner_of(grid, row, col), max{min.x + pitch, min.y + pitch};
        // A cell that the viewport cuts shows no half digits.
        if (min.x < grid.clip_min.x - 1 || min.y < grid.clip_min.y - 1 || max.x > grid.clip_max.x + 1 ||
            max.y > grid.clip_max.y + 1)
            continue;
        // The tile's frame lies on its neighbours: in small cells it would cover a sign.
        const CellRect cell{row, row + 1, col, col + 1};
        const auto any = [&](auto holds) { return std::ranges::any_of(matrix.frames, holds); };
        const bool inside = any([&](const CellRect& tile) { return tile.contains(cell.row0, cell.col0); });
        const bool beside = !inside && any([&](const CellRect& tile) {
            return cell.row1 >= tile.row0 && cell.row0 <= tile.row1 && cell.col1 >= tile.col0 &&
                   cell.col0 <= tile.col1;
        });
        if (beside && pitch < ui.px(22)) continue;
        const bool lit = std::ranges::count(matrix.touched, cell) > 0;
        const Rgba ink = lit ? ui.context.palette.text_on(ui.ink(ink_of(matrix.kind)))
                             : ui.ink(inside ? Ink::Text : Ink::TextFaint);
        draw::draw_text_in(ui.list, *value_font, min, {max.x, min.y + pitch * (indices ? 0.68f : 1.f)}, ink,
                           value);
        if (indices && index_font)
            draw::draw_text_in(ui.list, *index_font, {min.x, min.y + pitch * 0.62f}, max,
                               lit ? ink : ui.ink(Ink::TextFaint), index);
    }
    ui.list.PopClipRect();
}

// An array of more elements has no texture of its own: plain ground, and on it the part that the recorded
// blocks loaded.
bool is_large(const draw::Sheet& sheet) {
    return sheet.rows > 8192 || sheet.cols > 8192 || uint64_t{sheet.rows} * sheet.cols > (16ull << 20);
}

void loaded_part(Ui& ui, uint64_t id, uint8_t array, draw::GridView grid, bool heat) {
    if (!ui.session.totals) return;
    const session::LoadsWindow& part = ui.session.totals->windows[array];
    const uint32_t rows = part.box.rows(), cols = part.box.cols();
    if (part.loads.empty() || rows > 16384 || cols > 16384) return;
    if (const uint64_t version = heat ? 1 : 0; ui.context.grids.stale(id, version)) {
        std::vector<draw::Cell> cells(part.loads.size(), draw::cell(Ink::Cell));
        if (heat) draw::heat_cells(cells, part.loads, part.most);
        ui.context.grids.set_cells(id, version, rows, cols, cells);
    }
    grid.x += static_cast<float>(part.box.col0) * grid.pitch;
    grid.y += static_cast<float>(part.box.row0) * grid.pitch;
    ui.context.grids.draw(ui.list, id, grid, ui.context.palette, ui.context.scale);
}

// An array without a texture of its cells has lines between them, as the others do.
void cell_lines(Ui& ui, const draw::GridView& grid, const draw::Sheet& sheet) {
    const Rgba color = ui.ink(Ink::Panel);
    const ImVec2 end = draw::corner_of(grid, sheet.rows, sheet.cols);
    const float left = std::max(grid.clip_min.x, grid.x), right = std::min(grid.clip_max.x, end.x);
    const float top = std::max(grid.clip_min.y, grid.y), bottom = std::min(grid.clip_max.y, end.y);
    const CellRect sight = in_sight(grid, sheet.rows, sheet.cols);
    for (uint32_t col = sight.col0; col < sight.col1; ++col)
        if (const float x = std::round(draw::corner_of(grid, 0, col).x); x >= left)
            ui.list.AddRectFilled({x, top}, {x + 1, bottom}, color);
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        if (const float y = std::round(draw::corner_of(grid, row, 0).y); y >= top)
            ui.list.AddRectFilled({left, y}, {right, y + 1}, color);
}

// What lies over the cells, from below: what is beyond the edges, what this phase loaded, what the step's
// values have to do with, what it touches, the tile's frame, the selection, faults.
std::vector<draw::GridMark> marks_of(Ui& ui, const MatrixView& matrix, float pitch,
                                     const look::Relations& selected) {
    const bool output = is_output(ui, matrix.array);
    const Rgba color = ui.ink(ink_of(matrix.kind));
    std::vector<draw::GridMark> marks;
    for (const CellRect& beyond : matrix.beyond) {
        marks.push_back(draw::frame_mark(beyond, ui.ink(Ink::LineStrong), 1, true));
        marks.back().fill = ui.ink(Ink::Outside);
        marks.back().pattern = draw::Pattern::Hatch;
    }
    for (const CellRect& cell : matrix.loaded)
        marks.push_back(draw::fill_mark(cell, draw::with_alpha(ui.ink(Ink::GlobalLoad), 0.26f)));
    for (const CellRect& cell : matrix.related) {
        marks.push_back(
            draw::fill_mark(cell, draw::with_alpha(output ? ui.ink(Ink::Product) : color, 0.45f)));
        if (pitch >= ui.px(14)) marks.back().edge = color;
    }
    for (const CellRect& cell : matrix.touched) marks.push_back(draw::fill_mark(cell, color));
    for (const CellRect& slice : matrix.frames) {  // around the cells, not over their values
        draw::GridMark frame = draw::frame_mark(slice, ui.ink(Ink::Accent), ui.px(2.5f));
        const float edge = frame.edge_px / pitch;
        frame.row -= edge;
        frame.col -= edge;
        frame.rows += 2 * edge;
        frame.cols += 2 * edge;
        marks.push_back(frame);
    }
    selection_marks(ui, marks, matrix.array, selected);
    if (!ui.session.faults) return marks;
    // Cells at fault at this step, and the elements of P that came out wrong: crossed, in a colour of their
    // own.
    std::vector<CellRect> faulty = look::faulty_at(ui.trace(), *ui.session.faults, matrix.array, ui.step());
    for (const look::WrongElement& wrong : ui.session.faults->wrong)
        if (output)
            faulty.push_back(draw::cell_on_sheet(ui.trace().launch.arrays[matrix.array], wrong.element));
    for (const CellRect& cell : faulty) marks.push_back(draw::fault_mark(ui, cell, pitch));
    return marks;
}

}  // namespace

CellRect in_sight(const draw::GridView& grid, uint32_t rows, uint32_t cols) {
    const auto cells = [&](float pixels) { return std::max(0.f, pixels / grid.pitch); };
    const auto first = [&](float pixels) { return static_cast<uint32_t>(cells(pixels)); };
    const auto end = [&](float pixels) { return static_cast<uint32_t>(std::ceil(cells(pixels))); };
    return {first(grid.clip_min.y - grid.y), std::min(rows, end(grid.clip_max.y - grid.y)),
            first(grid.clip_min.x - grid.x), std::min(cols, end(grid.clip_max.x - grid.x))};
}

void selection_marks(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array,
                     const look::Relations& selected) {
    for (const auto& [where, cells] : selected.cells)
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
}

void array_cells(Ui& ui, uint8_t array, const draw::GridView& grid, bool heat, bool map,
                 const std::vector<draw::GridMark>& marks) {
    using draw::GridUse;
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    const auto draw = [&](GridUse use, const std::vector<draw::GridMark>& on_top) {
        ui.context.grids.draw(ui.list, grid_id(ui, use, array), grid, ui.context.palette, ui.context.scale,
                              on_top);
    };
    if (is_large(sheet)) {
        const CellRect all{0, sheet.rows, 0, sheet.cols};
        draw(map ? GridUse::MapGround : GridUse::Ground, {draw::fill_mark(all, ui.ink(Ink::Cell))});
        loaded_part(ui, grid_id(ui, map ? GridUse::MapPart : GridUse::Part, array), array, grid, heat);
        if (!map && grid.pitch >= ui.px(5)) cell_lines(ui, grid, sheet);
        if (!marks.empty()) draw(GridUse::Marks, marks);
        return;
    }
    const GridUse use = map ? GridUse::Map : GridUse::Matrix;
    const uint64_t id = grid_id(ui, use, array), version = heat && ui.session.totals ? 1 : 0;
    if (ui.context.grids.stale(id, version))
        ui.context.grids.set_cells(id, version, sheet.rows, sheet.cols,
                                   draw::sheet_cells(shape, version > 0 ? ui.session.totals->loads[array]
                                                                        : std::vector<uint32_t>()));
    draw(use, marks);
}

void array_grid(Ui& ui, uint8_t array, const Port& port, float pitch, const look::Relations& selected) {
    const MatrixView matrix = matrix_view(ui.trace(), *ui.index(), ui.session.replay.get(), array, ui.step());
    ui.list.AddRectFilled(port.box.min, port.box.max, draw::with_alpha(ui.ink(Ink::Ground), 0.6f));
    const draw::GridView grid{std::round(port.box.min.x - static_cast<float>(port.col * pitch)),
                              std::round(port.box.min.y - static_cast<float>(port.row * pitch)), pitch,
                              port.box.min, port.box.max};
    ui.state.places.emplace_back(array, grid);
    array_cells(ui, array, grid, pitch < ui.px(4) && ui.session.totals, false,
                marks_of(ui, matrix, pitch, selected));
    cell_texts(ui, matrix, grid);

    const auto under = draw::element_under(ui, port.box, grid, ui.trace().launch.arrays[array]);
    if (!under) return;
    ui.tip = element_name(ui.trace().launch.arrays[array], static_cast<int64_t>(*under), ui.notation());
    input::offer_pick(ui, look::picked_element(array, *under));
}

}  // namespace tilescope::step
