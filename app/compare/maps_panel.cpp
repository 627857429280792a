// How often every element of M and N was loaded by all recorded blocks of one recording, on the scale that
// it shares with the other; and where a result is wrong, the wrong elements of P:
//
//   M 64 x 64              N 64 x 64              P 64 x 64
//   [the map]              [the map]              [x  x ]     frames: the tile of this phase
//   64 loads each = n      64 loads each = m      2 wrong     full cells: this request
//
// Of a window of a large launch, the part of the matrix that the block is at.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/look/request.h"
#include "app/session/playing.h"

namespace tilescope::compare {
namespace {

// Counts of a part of an array's sheet: by element where that is all of it, else row-major.
struct Counts {
    const Array& array;
    draw::Sheet sheet;
    draw::CellRect part;
    const std::vector<uint32_t>& loads;
    bool whole = true;
    uint32_t at(uint32_t row, uint32_t col) const {
        if (loads.empty() || !part.contains(row, col)) return 0;
        if (!whole) return loads[size_t{row - part.row0} * part.cols() + (col - part.col0)];
        const auto element = sheet.element(row, col);
        return element ? loads[*element] : 0;
    }
};

Counts counts_of(const Pane& pane, uint8_t array) {
    const Array& shape = pane.trace.launch.arrays[array];
    const std::vector<uint32_t>& all = pane.totals.loads[array];
    const draw::Sheet sheet(shape);
    if (!all.empty()) return {shape, sheet, {0, sheet.rows, 0, sheet.cols}, all, true};
    const session::LoadsWindow& window = pane.totals.windows[array];
    return {shape, sheet, window.box, window.loads, false};
}

void upload(Ui& ui, const Pane& pane, uint8_t array, const Counts& counts, uint32_t most) {
    const uint64_t version = most;
    const uint64_t id = draw::grid_id(pane.serial, draw::GridUse::Loads, array);
    if (counts.loads.empty() || !ui.context.grids.stale(id, version)) return;
    std::vector<draw::Cell> cells(counts.whole ? 0 : counts.loads.size(), draw::cell(Ink::Cell));
    if (counts.whole)
        cells = draw::sheet_cells(counts.array, counts.loads, std::max(most, 1u));
    else
        draw::heat_cells(cells, counts.loads, most);
    ui.context.grids.set_cells(id, version, counts.part.rows(), counts.part.cols(), cells);
}

void counts_in_cells(Ui& ui, const draw::GridView& grid, const draw::CellRect& shown, const Counts& counts,
                     uint32_t most) {
    const float room = grid.pitch - ui.px(4);
    const auto font = ui.context.fonts.for_cells(std::to_string(most), room, room, Size::Title);
    if (!font || grid.pitch < ui.px(16)) return;
    for (uint32_t row = shown.row0; row < shown.row1; ++row) {
        for (uint32_t col = shown.col0; col < shown.col1; ++col) {
            if (!counts.sheet.element(row, col)) continue;
            const uint32_t count = counts.at(row, col);
            const ImVec2 at = draw::corner_of(grid, row, col);
            const Rgba fill = count == 0 ? ui.ink(Ink::Cell)
                                         : ui.context.palette.hot(static_cast<float>(count) /
                                                                  static_cast<float>(std::max(most, 1u)));
            draw::draw_text_in(ui.list, *font, at, {at.x + grid.pitch, at.y + grid.pitch},
                               ui.context.palette.text_on(fill), std::to_string(count));
        }
    }
}

void marks_of_step(Ui& ui, const Pane& pane, uint8_t array, const draw::GridView& grid,
                   std::vector<draw::GridMark>& marks) {
    const look::RequestView request = look::request_view(pane.trace, pane.index, pane.step());
    const Array& shape = pane.trace.launch.arrays[array];
    if (request.array == array) {
        for (const look::LaneView& lane : request.lanes) {
            if (!lane.active) continue;
            draw::GridMark mark =
                draw::fill_mark(draw::cell_on_sheet(shape, lane.index), ui.ink(ink_of(request.kind)));
            // Small cells are widened, so that a row or a column of them is seen on any ground.
            if (grid.pitch >= ui.px(6)) {
                mark.edge = ui.ink(Ink::Panel);
                mark.edge_px = ui.px(1);
            }
            marks.push_back(mark);
        }
    }
    const draw::CellRect tile =
        look::tile_of_phase(pane.trace, pane.index, array, pane.index.phase_at(pane.step()));
    if (!tile.empty()) {
        draw::GridMark halo = draw::frame_mark(tile, ui.ink(Ink::Panel), ui.px(4)),
                       frame = draw::frame_mark(tile, ui.ink(Ink::Accent), ui.px(2));
        for (draw::GridMark* mark : {&halo, &frame}) {  // around the cells
            const float edge = (mark == &halo ? ui.px(3) : ui.px(2)) / grid.pitch;
            mark->row -= edge;
            mark->col -= edge;
            mark->rows += 2 * edge;
            mark->cols += 2 * edge;
            marks.push_back(*mark);
        }
    }
    for (const auto& [where, cells] : pane.selected.cells)
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
}

// A count large enough for the back row: beside the map where that is narrower than its column, else below.
struct Frame {
    Rect map, label;
    bool beside = false;
};

Frame frame_of(Ui& ui, const Rect& rect, const draw::CellRect& shown) {
    const float body = line_height(ui, Size::Body) + ui.px(4), beside = ui.px(84);
    const float aspect = static_cast<float>(shown.cols()) / static_cast<float>(std::max(shown.rows(), 1u));
    Frame frame;
    if (rect.height() * aspect + beside <= rect.width()) {
        const float width = rect.height() * aspect;
        frame.beside = true;
        frame.map = {rect.min, {rect.min.x + width, rect.max.y}};
        frame.label = {{frame.map.max.x + ui.px(12), rect.min.y}, rect.max};
        return frame;
    }
    frame.map = {rect.min, {rect.max.x, rect.max.y - body}};
    frame.label = {{rect.min.x, frame.map.max.y + ui.px(4)}, rect.max};
    return frame;
}

void label(Ui& ui, const Frame& frame, const Rect& map, const LoadsLabel& said) {
    Rect at = frame.label;
    if (frame.beside) {
        float y = at.min.y;
        if (!said.count.empty()) {
            const bool wide =
                draw::text_size(ui.font(Face::Strong, Size::Display), said.count).x > at.width();
            const Size size = wide ? Size::Body : Size::Display;
            line(ui, {at.min.x, y}, at.width(), Face::Strong, size, Ink::Text, said.count);
            y += line_height(ui, size);
        }
        y += paragraph(ui, {at.min.x, y}, at.width(), Face::Text, Size::Small, Ink::Text, said.unit, 2);
        line(ui, {at.min.x, y}, at.width(), Face::Strong, Size::Body, Ink::Text, said.why);
        return;
    }
    at.min.y = std::min(at.min.y, map.max.y + ui.px(4));
    const auto fits = [&](Size size, const std::string& text) {
        return draw::text_size(ui.font(Face::Strong, size), text).x <= at.width();
    };
    // Of one size for all four maps, whichever their counts; for the back row rather large than whole.
    const bool body = fits(Size::Body, "64 loads each = n/T"),
               small = fits(Size::Small, "64 loads each = n/T");
    const std::string whole = said.text(), brief = said.why.empty() ? whole : said.count + " " + said.why;
    const std::pair<Size, const std::string*> ways[] = {
        {Size::Body, body ? &whole : nullptr},
        {Size::Small, small && !ui.session.lecture ? &whole : nullptr},
        {Size::Body, &brief},
        {Size::Small, &brief},
        {Size::Body, said.count.empty() ? &said.unit : &said.count},
    };
    for (const auto& [size, text] : ways) {
        if (text == nullptr || !fits(size, *text)) continue;
        line(ui, at.min, at.width(), Face::Strong, size, Ink::Text, *text);
        return;
    }
}

// Where the cells of a part lie in a rectangle: at its upper left.
struct Placed {
    draw::GridView grid;  // of the whole matrix, clipped to the part
    Rect map;
};
Placed place(Ui& ui, const Rect& rect, const draw::CellRect& shown) {
    const float pitch = std::min({rect.width() / static_cast<float>(shown.cols()),
                                  rect.height() / static_cast<float>(shown.rows()), ui.px(48)});
    const ImVec2 end{rect.min.x + pitch * static_cast<float>(shown.cols()),
                     rect.min.y + pitch * static_cast<float>(shown.rows())};
    return {{rect.min.x - pitch * static_cast<float>(shown.col0),
             rect.min.y - pitch * static_cast<float>(shown.row0), pitch, rect.min, end},
            {rect.min, end}};
}

float heading(Ui& ui, const Rect& rect, const Array& shape, const draw::CellRect& shown) {
    const float small = line_height(ui, Size::Small);
    const float name = line(ui, rect.min, rect.width(), Face::Strong, Size::Small, Ink::Text, shape.name);
    const float left = rect.min.x + name + ui.px(8);
    const std::string size = extents_text(shape, "\u00d7");
    const draw::Sheet sheet(shape);
    const bool part = shown.rows() < sheet.rows || shown.cols() < sheet.cols;
    if (draw::text_size(ui.font(Face::Mono, Size::Small), size).x <= rect.max.x - left)
        line(ui, {left, rect.min.y}, rect.max.x - left, Face::Mono, Size::Small, Ink::TextQuiet, size);
    if (!part) return small + ui.px(2);
    line(ui, {rect.min.x, rect.min.y + small}, rect.width(), Face::Mono, Size::Small, Ink::TextQuiet,
         "at " + index_text(shape, static_cast<int64_t>(sheet.element(shown.row0, shown.col0).value_or(0))));
    return small * 2 + ui.px(2);
}

// The marks may reach over the edge of the cells.
void draw_marks(Ui& ui, uint64_t id, draw::GridView grid, const std::vector<draw::GridMark>& marks) {
    const float edge = ui.px(4);
    grid.clip_min = {grid.clip_min.x - edge, grid.clip_min.y - edge};
    grid.clip_max = {grid.clip_max.x + edge, grid.clip_max.y + edge};
    ui.context.grids.draw(ui.list, id, grid, ui.context.palette, ui.context.scale, marks);
}

// Picks what is under the mouse; says how it is called and `more` of it.
template <class More>
void offer_cell(Ui& ui, const Pane& pane, uint8_t array, const Placed& placed, More more) {
    const Array& shape = pane.trace.launch.arrays[array];
    const auto under = draw::element_under(ui, placed.map, placed.grid, shape);
    if (!under) return;
    Pick pick;
    pick.kind = Pick::Kind::Element;
    pick.array = array;
    pick.index = *under;
    ui.tip = element_name(shape, *under) + more(*under);
    session::offer_pick(ui, pane.offered(pick));
}

// Of that part alone: P may be too large for a texture.
void upload_wrong(Ui& ui, const Pane& pane, uint8_t array, const draw::CellRect& part) {
    const uint64_t version = pane.serial << 44 ^ uint64_t { part.row0 } << 22 ^ part.col0;
    const uint64_t id = draw::grid_id(pane.serial, draw::GridUse::Loads, array);
    if (!ui.context.grids.stale(id, version)) return;
    const draw::Sheet sheet(pane.trace.launch.arrays[array]);
    std::vector<draw::Cell> cells(size_t{part.rows()} * part.cols(), draw::cell(Ink::Cell));
    for (const uint64_t element : pane.trace.meta.result.wrong_elements) {
        const draw::CellRect at = sheet.cell(element);
        const uint32_t row = at.row0, col = at.col0;
        if (part.contains(row, col))
            cells[size_t{row - part.row0} * part.cols() + (col - part.col0)] =
                draw::cell(Ink::Fault, 255, draw::Pattern::Cross);
    }
    ui.context.grids.set_cells(id, version, part.rows(), part.cols(), cells);
}

}  // namespace

void input_map(Ui& ui, const Rect& rect, const Pane& pane, uint8_t array, uint32_t most) {
    const Array& shape = pane.trace.launch.arrays[array];
    if (shape.elements() == 0) return;
    const Counts counts = counts_of(pane, array);
    const draw::CellRect part =
        part_shown(counts.sheet.rows, counts.sheet.cols, pane.known.maps[array].box,
                   look::tile_of_phase(pane.trace, pane.index, array, pane.index.phase_at(pane.step())));
    const float top = heading(ui, rect, shape, part);
    const Frame frame = frame_of(ui, {{rect.min.x, rect.min.y + top}, rect.max}, part);
    if (frame.map.height() < ui.px(16)) return;
    const Placed placed = place(ui, frame.map, part);
    ui.list.AddRectFilled(placed.map.min, placed.map.max, ui.ink(Ink::Cell));
    upload(ui, pane, array, counts, most);
    draw::GridView cells = placed.grid;
    cells.x += static_cast<float>(counts.part.col0) * cells.pitch;
    cells.y += static_cast<float>(counts.part.row0) * cells.pitch;
    ui.context.grids.draw(ui.list, draw::grid_id(pane.serial, draw::GridUse::Loads, array), cells,
                          ui.context.palette, ui.context.scale);
    std::vector<draw::GridMark> marks;
    marks_of_step(ui, pane, array, placed.grid, marks);
    draw_marks(ui, draw::grid_id(pane.serial, draw::GridUse::Wrong, array), placed.grid, marks);
    counts_in_cells(ui, placed.grid, part, counts, most);
    label(ui, frame, placed.map, pane.known.maps[array].label);
    offer_cell(ui, pane, array, placed, [&](uint64_t element) {
        const draw::CellRect cell = counts.sheet.cell(element);
        const uint32_t times = counts.at(cell.row0, cell.col0);
        return counts.loads.empty() ? "" : fmt::format(": loaded {}", counted(times, "time"));
    });
}

// P with its wrong elements crossed out.
void output_map(Ui& ui, const Rect& rect, const Pane& pane, uint8_t array) {
    const Array& shape = pane.trace.launch.arrays[array];
    if (shape.elements() == 0) return;
    const draw::Sheet sheet(shape);
    const trace::Verification& result = pane.trace.meta.result;
    draw::CellRect stored;
    for (const draw::CellRect& block : pane.known.tally->outputs) stored.include(block);
    const draw::CellRect mine = pane.cursor.block < pane.known.tally->outputs.size()
                                    ? pane.known.tally->outputs[pane.cursor.block]
                                    : draw::CellRect{};
    const draw::CellRect part = part_shown(sheet.rows, sheet.cols, stored, mine);
    const float top = heading(ui, rect, shape, part);
    const Frame frame = frame_of(ui, {{rect.min.x, rect.min.y + top}, rect.max}, part);
    if (frame.map.height() < ui.px(16)) return;
    const Placed placed = place(ui, frame.map, part);
    upload_wrong(ui, pane, array, part);
    draw::GridView cells = placed.grid;
    cells.x = placed.map.min.x;
    cells.y = placed.map.min.y;
    ui.context.grids.draw(ui.list, draw::grid_id(pane.serial, draw::GridUse::Loads, array), cells,
                          ui.context.palette, ui.context.scale);
    std::vector<draw::GridMark> marks;
    if (!mine.empty()) marks.push_back(draw::frame_mark(mine, ui.ink(Ink::Accent), ui.px(2)));
    draw_marks(ui, draw::grid_id(pane.serial, draw::GridUse::Wrong, array), placed.grid, marks);
    label(ui, frame, placed.map,
          result.verified  ? LoadsLabel{"", "all right", ""}
          : result.checked ? LoadsLabel{grouped(result.wrong), "wrong", ""}
                           : LoadsLabel{"", "not checked", ""});
    offer_cell(ui, pane, array, placed, [&](uint64_t element) {
        return std::binary_search(result.wrong_elements.begin(), result.wrong_elements.end(), element)
                   ? ": wrong"
                   : "";
    });
}

}  // namespace tilescope::compare
