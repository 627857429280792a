// The small map of a product's matrices, which shows where the screen looks, which tiles this phase uses, and
// how often each element of M and N was loaded by all recorded blocks; and the legend beside or below it.
#include <algorithm>
#include <cmath>

#include "app/step/grids.h"
#include "app/step/zoom.h"

namespace tilescope::step {

namespace {

// The frame of a tile on a map: at least a marker of 7 pixels, rimmed, so that it is found on a large matrix.
void tile_marker(Ui& ui, ImVec2 a, ImVec2 b) {
    const float least = ui.px(7), thick = ui.px(1.5f);
    const auto widen = [&](float& low, float& high) {
        const float more = std::max(0.f, (least - (high - low)) / 2);
        low = std::round(low - more), high = std::round(high + more);
    };
    widen(a.x, b.x);
    widen(a.y, b.y);
    ui.list.AddRectFilled(a, b, draw::with_alpha(ui.ink(Ink::Panel), 0.35f));
    ui.list.AddRect({a.x - thick, a.y - thick}, {b.x + thick, b.y + thick}, ui.ink(Ink::Panel), 0.f, 0,
                    ui.px(2));
    ui.list.AddRect(a, b, ui.ink(Ink::Accent), 0.f, 0, thick);
}

}  // namespace

void one_map(Ui& ui, uint8_t array, ImVec2 corner, float pitch, const Port& port, float port_pitch) {
    const Array& shape = ui.trace().launch.arrays[array];
    const auto rows = static_cast<float>(shape.rows), cols = static_cast<float>(shape.cols);
    const ImVec2 end{corner.x + cols * pitch, corner.y + rows * pitch};
    ui.list.AddRectFilled(corner, end, ui.ink(Ink::Cell));
    const draw::GridView grid{corner.x, corner.y, pitch, corner, end};
    array_cells(ui, array, grid, true, {});
    ui.list.AddRect(corner, end, ui.ink(Ink::LineStrong));
    const CellRect tile =
        look::tile_of_phase(ui.trace(), *ui.index(), array, ui.index()->phase_at(ui.step()));
    const session::Question& asked = ui.session.question;
    const bool told = asked.hides(session::Hide::Elements) && (!is_output(ui, array) || asked.array == array);
    if (!tile.empty() && !told) {
        note_marks(ui, array, grid, {draw::frame_mark(tile, ui.ink(Ink::Accent), ui.px(2))});
        tile_marker(ui, draw::corner_of(grid, tile.row0, tile.col0),
                    draw::corner_of(grid, tile.row1, tile.col1));
    }
    // What the screen shows of it, where that is not all.
    const ImVec2 a = draw::corner_of(grid, std::max(port.row, 0.0), std::max(port.col, 0.0));
    const ImVec2 b = draw::corner_of(grid, std::min<double>(port.row + port.box.height() / port_pitch, rows),
                                     std::min<double>(port.col + port.box.width() / port_pitch, cols));
    if (b.x - a.x < end.x - corner.x - 1 || b.y - a.y < end.y - corner.y - 1)
        ui.list.AddRect(a, b, draw::with_alpha(ui.ink(Ink::Text), 0.55f), 0.f, 0, 1.f);
}

namespace {

// The names of the maps, in the corner that N and M leave, each beside its own.
void map_names(Ui& ui, ImVec2 corner, ImVec2 inner) {
    const auto arrays = product_arrays(ui);
    const float high = line_height(ui, Size::Small), side = inner.x - corner.x;
    if (side < high * 2.5f || inner.y - corner.y < high * 2.5f) return;
    const auto name = [&](uint8_t array, ImVec2 at, draw::Align align) {
        line(ui, at, side / 2, Face::Strong, Size::Small, Ink::TextQuiet,
             name_in(ui.notation(), ui.trace().launch.arrays[array]), align);
    };
    const float right = inner.x - ui.px(8), low = inner.y - high - ui.px(4);
    name(arrays[1], {right, corner.y}, draw::Align::Right);
    name(arrays[0], {corner.x, low}, draw::Align::Left);
    name(arrays[2], {right, low}, draw::Align::Right);
}

// A click on a map, or a drag over it, moves the screen there: so many of its cells lie before the one in the
// middle.
void looks_at(ArrayView& view, double& row, double& col, const Port& port, float pitch, ImVec2 cell) {
    row = cell.y - port.box.height() / pitch / 2;
    col = cell.x - port.box.width() / pitch / 2;
    view.fit = false;
}

}  // namespace

void overview(Ui& ui, const Rect& all, const Port& m, const Port& n, const Port& p, float port_pitch) {
    Rect rect = all;
    rect.min.y += path_strip(ui, all);
    const auto arrays = product_arrays(ui);
    const Array &left = ui.trace().launch.arrays[arrays[0]], &above = ui.trace().launch.arrays[arrays[1]];
    const float small = line_height(ui, Size::Small), gap = ui.px(5), least = ui.px(56), most = ui.px(150);
    const auto rows = static_cast<float>(left.rows), cols = static_cast<float>(above.cols),
               k = static_cast<float>(left.cols);
    // Height of the map where it is that wide, and the other way round.
    const float across = k + cols, down = k + rows;
    float side = std::min(
        {rect.width() - gap, (rect.height() - gap) * across / down, most * std::min(1.f, across / down)});
    if (side < least || side * down / across < least) return;

    // Beside the map, else below it, as many entries as have room with all of their words.
    const std::vector<LegendEntry> list = legend_entries(ui);
    const float widest = list.empty() ? 0 : std::ceil(std::ranges::max(list, {}, &LegendEntry::width).width);
    const float space = ui.px(16), wanted = small * static_cast<float>(list.size());
    const float beside = rect.width() - gap - widest - space;
    const bool is_beside = beside >= ui.px(80) && rect.height() >= std::min(wanted, small * 4);
    if (is_beside) side = std::min(side, beside);
    const float pitch = side / across, high = side * down / across + gap;
    const ImVec2 corner = rect.min, inner{corner.x + k * pitch + gap, corner.y + k * pitch + gap};
    one_map(ui, arrays[1], {inner.x, corner.y}, pitch, n, port_pitch);
    one_map(ui, arrays[0], {corner.x, inner.y}, pitch, m, port_pitch);
    one_map(ui, arrays[2], inner, pitch, p, port_pitch);
    map_names(ui, corner, inner);
    ArrayView& view = ui.state.view;
    const auto map = [&](ImVec2 at, float high_cells, float wide_cells) {
        return Rect{at, {at.x + wide_cells * pitch, at.y + high_cells * pitch}};
    };
    if (const auto cell = map_pressed(ui, map({inner.x, corner.y}, k, cols), pitch))
        looks_at(view, view.n_k, view.col, n, port_pitch, *cell);
    if (const auto cell = map_pressed(ui, map({corner.x, inner.y}, rows, k), pitch))
        looks_at(view, view.row, view.m_k, m, port_pitch, *cell);
    if (const auto cell = map_pressed(ui, map(inner, rows, cols), pitch))
        looks_at(view, view.row, view.col, p, port_pitch, *cell);

    Rect room{{rect.min.x, corner.y + high + ui.px(8)}, rect.max};
    if (is_beside) room = {{rect.min.x + side + gap + space, rect.min.y}, rect.max};
    if (room.width() + 1 < widest) return;
    const auto lines = static_cast<size_t>(std::max(0.f, std::floor((room.height() + 1) / small)));
    const auto columns = static_cast<size_t>((room.width() + space) / (widest + space));
    for (size_t i = 0; i < std::min(list.size(), lines * columns); ++i)
        legend_entry(ui, list[i],
                     {room.min.x + (widest + space) * static_cast<float>(i / lines),
                      room.min.y + small * static_cast<float>(i % lines)},
                     widest + 1);
}

}  // namespace tilescope::step
