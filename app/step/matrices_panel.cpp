// M left, N above, P in the corner, on one camera; the map of the whole in the free corner.
//
//     +-------+-------+
//     |  map  |   N   |
//     +-------+-------+
//     |   M   |   P   |
//     +-------+-------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"
#include "core/base/contents.h"

namespace tilescope::step {
namespace {

draw::CellRect one(const HotCell& cell) { return {cell.row, cell.row + 1, cell.col, cell.col + 1}; }

// What a cell holds: inputs as the launch found them, outputs the running sums of the block.
std::string cell_text(const Ui& ui, const MatrixView& matrix, const look::Roles& roles,
                      const std::vector<int32_t>& owner, uint32_t row, uint32_t col) {
    const uint64_t element = uint64_t{row} * matrix.cols + col;
    const Array& array = ui.trace().launch.arrays[matrix.array];
    if (matrix.array != roles.p) return short_value(initial_value(array, element));
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
        if (array != matrix.array || matrix.cols == 0) continue;
        const auto row = static_cast<uint32_t>(element / matrix.cols),
                   col = static_cast<uint32_t>(element % matrix.cols);
        if (!matrix.tile.contains(row, col)) continue;
        owner[size_t{row - matrix.tile.row0} * matrix.tile.cols() + (col - matrix.tile.col0)] =
            static_cast<int32_t>(thread);
    }
    return owner;
}

void cell_texts(Ui& ui, const MatrixView& matrix, const look::Roles& roles, const draw::GridView& grid) {
    const float pitch = grid.pitch;
    if (pitch < ui.px(11)) return;
    const std::vector<int32_t> owner = matrix.array == roles.p ? owners(ui, matrix) : std::vector<int32_t>{};
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
            if (std::string text = cell_text(ui, matrix, roles, owner, row, col);
                text.size() > longest.size())
                longest = std::move(text);
    const draw::Fonts& fonts = ui.context.fonts;
    const float room = pitch - ui.px(3);
    const auto value = fonts.for_cells(longest, room, indices ? pitch * 0.55f : room);
    const auto index = fonts.for_cells(fmt::format("{},{}", end_row, end_col), room, room, Size::Small);
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
            const std::string text = cell_text(ui, matrix, roles, owner, row, col);
            const float low = indices ? at.y + pitch * 0.68f : at.y + pitch;
            draw::draw_text_in(ui.list, *value, at, {at.x + pitch, low}, ink, text);
            if (indices && index) {
                draw::draw_text_in(ui.list, *index, {at.x, at.y + pitch * 0.62f},
                                   {at.x + pitch, at.y + pitch}, lit ? ink : ui.ink(Ink::TextFaint),
                                   fmt::format("{},{}", row, col));
            }
        }
    }
    ui.list.PopClipRect();
}

// One texture a matrix: plain, or how often each element was loaded where cells are too small for more.
void base_cells(Ui& ui, uint64_t id, const MatrixView& matrix, bool heat) {
    const uint64_t version = heat ? 1 : 0;
    if (!ui.context.grids.stale(id, version)) return;
    std::vector<draw::Cell> cells(size_t{matrix.rows} * matrix.cols, draw::cell(Ink::Cell));
    if (heat) draw::heat_cells(cells, ui.session.totals->loads[matrix.array]);
    ui.context.grids.set_cells(id, version, matrix.rows, matrix.cols, cells);
}

// Cells at fault at this step, and the elements of P that came out wrong: crossed, in a colour of their own.
void fault_marks(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch) {
    const auto add = [&](const draw::CellRect& cell) { marks.push_back(draw::fault_mark(ui, cell, pitch)); };
    const look::BlockFaults& faults = *ui.session.faults;
    for (const draw::CellRect& cell : look::faulty_at(ui.trace(), faults, array, ui.step())) add(cell);
    const Array& shape = ui.trace().launch.arrays[array];
    if (!ui.index()->product || array != ui.index()->product->P) return;
    for (const look::WrongElement& wrong : faults.wrong) {
        const auto row = static_cast<uint32_t>(wrong.element / shape.cols),
                   col = static_cast<uint32_t>(wrong.element % shape.cols);
        add({row, row + 1, col, col + 1});
    }
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

struct Port {
    Rect box;
    double row = 0, col = 0;  // cell at the upper left corner
};

void draw_matrix(Ui& ui, uint8_t array, const Port& port, float pitch, const look::Roles& roles,
                 const look::Relations& selected) {
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
    for (const auto& [where, cells] : selected.cells) {
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
    }
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
    cell_texts(ui, matrix, roles, grid);

    const auto under = cell_under(ui, port.box, grid, matrix.rows, matrix.cols);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = array;
    pick.index = *under;
    ui.tip = element_name(ui.trace().launch.arrays[array], pick.index);
    session::offer_pick(ui, pick);
}

// The wheel zooms about the mouse, the right or middle button drags.
void navigate(Ui& ui, const Rect& m, const Rect& n, const Rect& p) {
    const bool in_m = ui.over(m), in_n = ui.over(n), in_p = ui.over(p);
    if (!in_m && !in_n && !in_p) return;
    View& view = ui.state.view;
    const ImGuiIO& io = ImGui::GetIO();
    const double scale = ui.context.scale;
    if (io.MouseWheel != 0) {
        const Rect& box = in_m ? m : in_n ? n : p;
        const double x = (io.MousePos.x - box.min.x) / scale, y = (io.MousePos.y - box.min.y) / scale;
        const double old = view.pitch,
                     now = std::clamp(std::round(old * std::pow(1.2, io.MouseWheel)), 1.0, 128.0);
        const double dx = x / old - x / now, dy = y / old - y / now;
        (in_m ? view.m_k : view.col) += dx;
        (in_n ? view.n_k : view.row) += dy;
        view.pitch = now;
        view.fit = false;
    }
    if (ImGui::IsMouseDragging(1, 0) || ImGui::IsMouseDragging(2, 0)) {
        const double dx = io.MouseDelta.x / scale / view.pitch, dy = io.MouseDelta.y / scale / view.pitch;
        if (in_m)
            view.m_k -= dx, view.n_k -= dx;
        else
            view.col -= dx;
        if (in_n)
            view.n_k -= dy, view.m_k -= dy;
        else
            view.row -= dy;
        view.fit = false;
    }
}

}  // namespace

void matrices_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    if (!ui.index()->product) return;
    const look::Roles& roles = ui.index()->roles;
    const float pad = ui.px(12), gap = ui.px(12), title = line_height(ui, Size::Body);
    const Rect in = rect.inset(pad);
    const float left = std::floor((in.width() - gap) * 0.5f);
    const float high = std::floor((in.height() - title * 2 - ui.px(6)) * 0.5f);
    const Rect corner{in.min, {in.min.x + left, in.min.y + title + high}};
    const Rect n{{in.min.x + left + gap, in.min.y + title}, {in.max.x, in.min.y + title + high}};
    const float low = n.max.y + ui.px(6);
    const Rect m{{in.min.x, low + title}, {in.min.x + left, in.max.y}};
    const Rect p{{n.min.x, low + title}, in.max};

    const double scale = ui.context.scale;
    const auto logical = [&](float size) { return static_cast<float>(size / scale); };
    View& look = ui.state.view;
    if (look.fit) {
        const Viewports ports{logical(m.width()), logical(n.height()), logical(m.height()),
                              logical(n.width())};
        const Camera camera = framed(ui.trace(), *ui.index(), ui.step(), ports, 16, 96);
        look.pitch = camera.pitch;
        look.row = camera.row;
        look.col = camera.col;
        look.m_k = camera.m_k;
        look.n_k = camera.n_k;
    }
    navigate(ui, m, n, p);
    const auto pitch = static_cast<float>(look.pitch * scale);
    const auto title_at = [&](const Rect& box, int array, const char* axes) {
        const Array& a = ui.trace().launch.arrays[static_cast<size_t>(array)];
        const float y = box.min.y - title;
        const float used = line(ui, {box.min.x, y}, box.width(), Face::Strong, Size::Body, Ink::Text, a.name);
        line(ui, {box.min.x + used + ui.px(8), y + ui.px(3)}, box.width() - used - ui.px(8), Face::Mono,
             Size::Small, Ink::TextQuiet, fmt::format("{} \u00d7 {}  {}", a.rows, a.cols, axes));
    };
    title_at(n, roles.n, "k \u00d7 n");
    title_at(m, roles.m, "m \u00d7 k");
    title_at(p, roles.p, "m \u00d7 n");
    for (const Rect& box : {m, n, p})
        ui.list.AddRectFilled(box.min, box.max, draw::with_alpha(ui.ink(Ink::Ground), 0.6f));
    draw_matrix(ui, static_cast<uint8_t>(roles.m), {m, look.row, look.m_k}, pitch, roles, selected);
    draw_matrix(ui, static_cast<uint8_t>(roles.n), {n, look.n_k, look.col}, pitch, roles, selected);
    draw_matrix(ui, static_cast<uint8_t>(roles.p), {p, look.row, look.col}, pitch, roles, selected);

    MapView map;
    map.m = {look.row, look.m_k, m.height() / pitch, m.width() / pitch};
    map.n = {look.n_k, look.col, n.height() / pitch, n.width() / pitch};
    map.p = {look.row, look.col, p.height() / pitch, p.width() / pitch};
    matrix_map(ui, corner, map);
}

}  // namespace tilescope::step
