// How often every element of M and N was loaded by all recorded blocks of one recording, on the scale that
// it shares with the other:
//
//   M 64 x 64              N 64 x 64
//   [the map]              [the map]          frames: the tile of this phase; full cells: this request
//   64 loads each = n      64 loads each = m
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/compare_panels.h"
#include "app/panels/matrix_map.h"
#include "app/view/caption.h"
#include "app/view/compare_pick.h"
#include "app/view/matrix_view.h"

namespace tilescope::panels {
namespace {

// Grids of this screen: 64 and up, apart from those of the Step screen.
uint32_t grid_of(const Side& side, uint8_t array) { return (side.letter == 'A' ? 64u : 96u) + array; }

void upload(Ui& ui, uint32_t id, const Side& side, uint8_t array, uint32_t most) {
    const uint64_t version = side.session.serial << 32 | most;
    if (!ui.context.grids.stale(id, version)) return;
    const Array& shape = side.shown.trace.arrays[array];
    std::vector<draw::Cell> cells(size_t{shape.rows} * shape.cols, draw::cell(Ink::Cell));
    heat_cells(cells, side.session.loads[array], most);
    ui.context.grids.set_cells(id, version, shape.rows, shape.cols, cells);
}

void counts_in_cells(Ui& ui, const draw::GridView& grid, const Array& shape,
                     const std::vector<uint32_t>& loads, uint32_t most) {
    const float room = grid.pitch - ui.px(4);
    const auto font = ui.context.fonts.for_cells(std::to_string(most), room, room, Size::Body);
    if (!font || grid.pitch < ui.px(16)) return;
    for (uint32_t row = 0; row < shape.rows; ++row) {
        for (uint32_t col = 0; col < shape.cols; ++col) {
            const uint32_t count = loads[size_t{row} * shape.cols + col];
            const ImVec2 at = draw::corner_of(grid, row, col);
            const Rgba fill = count == 0 ? ui.ink(Ink::Cell)
                                         : ui.context.palette.hot(static_cast<float>(count) /
                                                                  static_cast<float>(std::max(most, 1u)));
            draw::draw_text_in(ui.list, *font, at, {at.x + grid.pitch, at.y + grid.pitch},
                               ui.context.palette.text_on(fill), std::to_string(count));
        }
    }
}

void marks_of_step(Ui& ui, const Side& side, uint8_t array, const draw::GridView& grid,
                   std::vector<draw::GridMark>& marks) {
    const Shown& shown = side.shown;
    const view::RequestView request = view::request_view(shown.trace, shown.index, shown.step);
    if (request.array == array) {
        for (const view::LaneView& lane : request.lanes) {
            if (!lane.active) continue;
            draw::GridMark mark =
                fill_mark({lane.row, lane.row + 1, lane.col, lane.col + 1}, ui.ink(ink_of(request.kind)));
            // Small cells are widened, so that a row or a column of them is seen on any ground.
            if (grid.pitch >= ui.px(6)) {
                mark.edge = ui.ink(Ink::Panel);
                mark.edge_px = ui.px(1);
            }
            marks.push_back(mark);
        }
    }
    const view::CellRect tile =
        view::tile_of_phase(shown.trace, shown.index, array, shown.index.phase_at(shown.step));
    if (!tile.empty()) {
        draw::GridMark halo = frame_mark(tile, ui.ink(Ink::Panel), ui.px(4)),
                       frame = frame_mark(tile, ui.ink(Ink::Accent), ui.px(2));
        for (draw::GridMark* mark : {&halo, &frame}) {  // around the cells
            const float edge = (mark == &halo ? ui.px(3) : ui.px(2)) / grid.pitch;
            mark->row -= edge;
            mark->col -= edge;
            mark->rows += 2 * edge;
            mark->cols += 2 * edge;
            marks.push_back(*mark);
        }
    }
    for (const auto& [where, cells] : side.selected.cells) {
        if (where == array) marks.push_back(frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
    }
}

void one_matrix(Ui& ui, const Rect& rect, const Side& side, uint8_t array, uint32_t most) {
    const float small = line_height(ui, Size::Small);
    const Array& shape = side.shown.trace.arrays[array];
    const std::vector<uint32_t>& loads = side.session.loads[array];
    const float name = line(ui, rect.min, rect.width(), Face::Strong, Size::Small, Ink::Text, shape.name);
    line(ui, {rect.min.x + name + ui.px(8), rect.min.y}, rect.width() - name - ui.px(8), Face::Mono,
         Size::Small, Ink::TextQuiet, fmt::format("{} \u00d7 {}", shape.rows, shape.cols));
    line(ui, {rect.min.x, rect.max.y - small}, rect.width(), Face::Strong, Size::Small, Ink::Text,
         view::loads_text(side.shown.trace.meta, shape, loads));
    const Rect box{{rect.min.x, rect.min.y + small + ui.px(2)}, {rect.max.x, rect.max.y - small - ui.px(4)}};
    if (box.height() < ui.px(16) || shape.rows == 0 || shape.cols == 0) return;
    const float pitch = std::min({box.width() / static_cast<float>(shape.cols),
                                  box.height() / static_cast<float>(shape.rows), ui.px(44)});
    const ImVec2 end{box.min.x + pitch * static_cast<float>(shape.cols),
                     box.min.y + pitch * static_cast<float>(shape.rows)};
    const draw::GridView grid{box.min.x, box.min.y, pitch, box.min, end};
    ui.list.AddRectFilled(box.min, end, ui.ink(Ink::Cell));
    std::vector<draw::GridMark> marks;
    marks_of_step(ui, side, array, grid, marks);
    const uint32_t id = grid_of(side, array);
    if (!loads.empty() && shape.rows <= 8192 && shape.cols <= 8192) upload(ui, id, side, array, most);
    ui.context.grids.draw(ui.list, id, grid, ui.context.palette, ui.context.scale, marks);
    if (!loads.empty()) counts_in_cells(ui, grid, shape, loads, most);
    const auto under = cell_under(ui, {box.min, end}, grid, shape.rows, shape.cols);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = array;
    pick.index = *under;
    ui.tip = view::element_name(shape, *under);
    if (!loads.empty()) ui.tip += fmt::format(": loaded {} times", loads[*under]);
    offer_pick(ui, side.shown.pick_in ? view::same_pick(side.shown.trace, *side.shown.pick_in, pick) : pick);
}

}  // namespace

uint32_t most_loads(const Side& side) {
    uint32_t most = 0;
    for (const uint32_t loads : side.session.most_loads) most = std::max(most, loads);
    return most;
}

void heat_panel(Ui& ui, const Rect& rect, const Side& side, uint32_t most) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const trace::Meta& meta = side.shown.trace.meta;
    const float mark = badge(ui, {in.min.x, in.min.y}, body, side.letter) + ui.px(8);
    const float title = line(ui, {in.min.x + mark, in.min.y}, in.width() - mark, Face::Strong, Size::Body,
                             Ink::Text, fmt::format("{} T={}", meta.kernel, meta.tile));
    line(ui, {in.max.x, in.min.y + ui.px(3)}, in.width() - mark - title - ui.px(8), Face::Text, Size::Small,
         Ink::TextQuiet, meta.backend == trace::Backend::Gpu ? meta.device : "CPU lockstep",
         draw::Align::Right);
    const trace::Block& block = side.shown.trace.blocks[side.cursor.block];
    const float y = in.min.y + body;
    line(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
         fmt::format("block ({},{}), step {} of {}, {}", block.x, block.y,
                     view::grouped(side.cursor.step + 1), view::grouped(side.shown.index.steps),
                     view::phase_text(side.shown.index, side.cursor.step)));
    const view::Roles roles = view::roles_of(side.shown.trace);
    if (roles.m < 0 || roles.n < 0) return;
    const float gap = ui.px(16), top = y + small + ui.px(8);
    const float width = std::floor((in.width() - gap) / 2);
    one_matrix(ui, {{in.min.x, top}, {in.min.x + width, in.max.y}}, side, static_cast<uint8_t>(roles.m),
               most);
    one_matrix(ui, {{in.max.x - width, top}, in.max}, side, static_cast<uint8_t>(roles.n), most);
}

}  // namespace tilescope::panels
