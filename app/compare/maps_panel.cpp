// The panel of one recording: which it is, where it stands, and how often every element of its inputs was
// loaded so far, or by all of its recorded blocks, on the scale that it shares with the other; where a result is
// wrong, the wrong elements of the output:
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

#include "app/compare/panels.h"
#include "app/draw/sheet.h"
#include "app/look/request.h"
#include "app/pictures/pictures.h"

namespace tilescope::compare {
namespace {

// An array as it is drawn: its sheet, and the part of it that is shown.
struct Map {
    const Pane& pane;
    uint8_t array = 0;
    const Array& shape = pane.trace.launch.arrays[array];
    draw::Sheet sheet{shape};
    CellRect shown{};

    uint64_t serial() const { return pane.shown.recording->serial; }
    uint64_t grid(draw::GridUse use) const { return draw::grid_id(serial(), use, array); }
};

// Of what was loaded so far: as many cells as can be made in every frame.
void upload_so_far(Ui& ui, const Map& map, const look::LoadsOfArray& so_far, uint32_t most) {
    const uint64_t id = map.grid(draw::GridUse::LoadsSoFar);
    const uint64_t version = map.pane.known.so_far->version() << 32 | most;
    if (so_far.counts.empty() || !ui.context.grids.stale(id, version)) return;
    const auto set = [&](uint32_t rows, uint32_t cols, const std::vector<uint32_t>& counts) {
        std::vector<draw::Cell> cells(counts.size(), draw::cell(Ink::Cell));
        draw::heat_cells(cells, counts, std::max(most, 1u));
        if (map.shape.rank == 3 && so_far.side == 1)  // gaps between slices
            for (size_t at = 0; at < cells.size(); ++at)
                if (!map.sheet.element(so_far.part.row0 + static_cast<uint32_t>(at / cols),
                                       so_far.part.col0 + static_cast<uint32_t>(at % cols)))
                    cells[at] = draw::cell(Ink::Panel);
        ui.context.grids.set_cells(id, version, rows, cols, cells);
    };
    if (so_far.side > 1)
        set(so_far.bin_rows, so_far.bin_cols, so_far.by_bin());
    else
        set(so_far.part.rows(), so_far.part.cols(), so_far.counts);
}

void upload_loads(Ui& ui, const Map& map, const Loads& loads, uint32_t most) {
    const uint64_t id = map.grid(draw::GridUse::Loads);
    if (loads.counts.empty() || !ui.context.grids.stale(id, most)) return;
    std::vector<draw::Cell> cells(loads.whole ? 0 : loads.counts.size(), draw::cell(Ink::Cell));
    if (loads.whole)
        cells = draw::sheet_cells(map.shape, loads.counts, std::max(most, 1u));
    else
        draw::heat_cells(cells, loads.counts, most);
    ui.context.grids.set_cells(id, most, loads.part.rows(), loads.part.cols(), cells);
}

// Uploads only the part that is shown: an output may be too large for a texture.
void upload_wrong(Ui& ui, const Map& map) {
    const CellRect& part = map.shown;
    const uint64_t id = map.grid(draw::GridUse::Loads);
    const uint64_t version = map.serial() << 44 ^ uint64_t { part.row0 } << 22 ^ part.col0;
    if (!ui.context.grids.stale(id, version)) return;
    std::vector<draw::Cell> cells(size_t{part.rows()} * part.cols(), draw::cell(Ink::Cell));
    for (const uint64_t element : map.pane.trace.meta.result.wrong_elements) {
        const CellRect at = map.sheet.cell(element);
        if (part.contains(at.row0, at.col0))
            cells[size_t{at.row0 - part.row0} * part.cols() + (at.col0 - part.col0)] =
                draw::cell(Ink::Fault, 255, draw::CellPattern::Cross);
    }
    ui.context.grids.set_cells(id, version, part.rows(), part.cols(), cells);
}

void counts_in_cells(Ui& ui, const Map& map, const draw::GridView& grid, const Loads& loads, uint32_t most) {
    const float room = grid.pitch - ui.px(4);
    const auto font = ui.context.fonts.for_cells(std::to_string(most), room, room, Size::Title);
    if (!font || grid.pitch < ui.px(16)) return;
    const float hottest = static_cast<float>(std::max(most, 1u));
    for (uint32_t row = map.shown.row0; row < map.shown.row1; ++row) {
        for (uint32_t col = map.shown.col0; col < map.shown.col1; ++col) {
            if (!map.sheet.element(row, col)) continue;
            const uint32_t count = loads.at(map.sheet, row, col);
            const ImVec2 at = draw::corner_of(grid, row, col);
            const Rgba fill =
                count == 0 ? ui.ink(Ink::Cell) : ui.context.palette.hot(static_cast<float>(count) / hottest);
            draw::draw_text_in(ui.list, *font, at, {at.x + grid.pitch, at.y + grid.pitch},
                               ui.context.palette.text_on(fill), std::to_string(count));
        }
    }
}

// This request, the tile of this phase, and what is selected.
std::vector<draw::GridMark> marks_of_step(Ui& ui, const Map& map, float pitch) {
    const Pane& pane = map.pane;
    std::vector<draw::GridMark> marks;
    const look::RequestView request = look::request_view(pane.trace, pane.index, pane.step());
    const auto touched = [&](uint32_t, uint64_t element) {
        draw::GridMark mark =
            draw::fill_mark(map.sheet.cell(element), ui.ink(pictures::ink_of(request.kind)));
        // Small cells are widened, so that a row or a column of them is seen on any ground.
        if (pitch >= ui.px(6)) {
            mark.edge = ui.ink(Ink::Panel);
            mark.edge_px = ui.px(1);
        }
        marks.push_back(mark);
    };
    if (request.array == map.array) look::for_elements(pane.trace, pane.index.first + pane.step(), touched);
    if (const CellRect tile = pane.tile(map.array); !tile.empty()) draw::frame_around(ui, marks, tile, pitch);
    for (const auto& [where, cells] : pane.selected.cells)
        if (where == map.array)
            marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
    return marks;
}

// A count large enough for the back row: beside the map where that is narrower than its column, else below.
struct MapFrame {
    Rect map, label;
    bool beside = false;
};

MapFrame frame_of(Ui& ui, const Rect& rect, const CellRect& shown) {
    const float body = line_height(ui, Size::Body) + ui.px(4), beside = ui.px(84);
    const float aspect = static_cast<float>(shown.cols()) / static_cast<float>(std::max(shown.rows(), 1u));
    const float right = rect.min.x + rect.height() * aspect, bottom = rect.max.y - body;
    if (right + beside <= rect.max.x)
        return {{rect.min, {right, rect.max.y}}, {{right + ui.px(12), rect.min.y}, rect.max}, true};
    return {{rect.min, {rect.max.x, bottom}}, {{rect.min.x, bottom + ui.px(4)}, rect.max}};
}

void label(Ui& ui, const MapFrame& frame, float below, const LoadsLabel& said) {
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
    at.min.y = std::min(at.min.y, below + ui.px(4));
    const auto fits = [&](Size size, const std::string& text) {
        return draw::text_size(ui.font(Face::Strong, size), text).x <= at.width();
    };
    // One size of type for all four maps, whatever their counts; for the back row rather large than whole.
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

// The array's name and extents, and where the part lies that is shown. Returns the height taken.
float heading(Ui& ui, const Rect& rect, const Map& map) {
    const float small = line_height(ui, Size::Small);
    const std::string name = name_in(map.pane.index.notation, map.shape),
                      size = extents_text(map.shape, "\u00d7");
    const float left =
        rect.min.x + ui.px(8) + line(ui, rect.min, rect.width(), Face::Strong, Size::Small, Ink::Text, name);
    if (draw::text_size(ui.font(Face::Mono, Size::Small), size).x <= rect.max.x - left)
        line(ui, {left, rect.min.y}, rect.max.x - left, Face::Mono, Size::Small, Ink::TextQuiet, size);
    if (map.shown.rows() == map.sheet.rows && map.shown.cols() == map.sheet.cols) return small + ui.px(2);
    const auto first = static_cast<int64_t>(map.sheet.element(map.shown.row0, map.shown.col0).value_or(0));
    line(ui, {rect.min.x, rect.min.y + small}, rect.width(), Face::Mono, Size::Small, Ink::TextQuiet,
         "at " + index_text(map.shape, first, map.pane.index.notation));
    return small * 2 + ui.px(2);
}

// A map into its column of the panel: of an input, or of the output with its wrong elements.
void draw_map(Ui& ui, const Rect& rect, const Pane& pane, uint8_t array, uint32_t most, bool output) {
    Map map{pane, array};
    if (map.shape.elements() == 0) return;
    const std::vector<CellRect>& outputs = pane.tally.outputs;
    CellRect touched = pane.known.maps[array].box, tile = output ? CellRect{} : pane.tile(array);
    if (output) {
        touched = {};
        for (const CellRect& block : outputs) touched.include(block);
        tile = outputs[pane.index.block];
    }
    const CellRect& shown = map.shown = part_shown(map.sheet.rows, map.sheet.cols, touched, tile);
    const float top = heading(ui, rect, map);
    const MapFrame frame = frame_of(ui, {{rect.min.x, rect.min.y + top}, rect.max}, shown);
    if (frame.map.height() < ui.px(16)) return;
    // The cells lie at the upper left of their frame; the grid is of the whole sheet, clipped to the part.
    const float pitch = std::min({frame.map.width() / static_cast<float>(shown.cols()),
                                  frame.map.height() / static_cast<float>(shown.rows()), ui.px(48)});
    const ImVec2 from = frame.map.min, end{from.x + pitch * static_cast<float>(shown.cols()),
                                           from.y + pitch * static_cast<float>(shown.rows())};
    draw::GridView grid{from.x - pitch * static_cast<float>(shown.col0),
                        from.y - pitch * static_cast<float>(shown.row0), pitch, from, end};
    const Loads loads = pane.loads(map.sheet, array);
    const bool so_far = !output && !pane.whole_run && pane.known.so_far;
    if (output) {
        upload_wrong(ui, map);
    } else {
        ui.list.AddRectFilled(from, end, ui.ink(Ink::Cell));
        so_far ? upload_so_far(ui, map, pane.known.so_far->of(array), most)
               : upload_loads(ui, map, loads, most);
    }
    draw::GridView cells = grid;
    if (so_far) cells.pitch *= static_cast<float>(pane.known.so_far->of(array).side);
    cells.x = output ? from.x : grid.x + static_cast<float>(loads.part.col0) * pitch;
    cells.y = output ? from.y : grid.y + static_cast<float>(loads.part.row0) * pitch;
    const auto show = [&](draw::GridUse use, const draw::GridView& view,
                          std::span<const draw::GridMark> marks) {
        ui.context.grids.draw(ui.list, map.grid(use), view, ui.context.palette, ui.context.scale, marks);
    };
    show(so_far ? draw::GridUse::LoadsSoFar : draw::GridUse::Loads, cells, {});
    std::vector<draw::GridMark> marks;
    if (!output)
        marks = marks_of_step(ui, map, pitch);
    else if (!tile.empty())
        marks.push_back(draw::frame_mark(tile, ui.ink(Ink::Accent), ui.px(2)));
    const float edge = ui.px(4);  // marks may reach over the edge of the cells
    draw::GridView wider = grid;
    wider.clip_min = {from.x - edge, from.y - edge};
    wider.clip_max = {end.x + edge, end.y + edge};
    show(draw::GridUse::Wrong, wider, marks);
    const trace::Verification& result = pane.trace.meta.result;
    LoadsLabel said = pane.known.maps[array].label;
    if (so_far)
        said = loads.counts.empty()  ? LoadsLabel{"", "too large to count", ""}
               : !pane.known.counted ? LoadsLabel{"", "counting\u2026", ""}
                                     : loads_label(pane.known.ranges[array]);
    if (output)
        said = {result.verified || !result.checked ? "" : grouped(result.wrong),
                result.verified  ? "all right"
                : result.checked ? "wrong"
                                 : "not checked",
                ""};
    else
        counts_in_cells(ui, map, grid, loads, most);
    label(ui, frame, end.y, said);
    const auto under = draw::element_under(ui, {from, end}, grid, map.shape);
    if (!under) return;
    ui.tip = element_name(map.shape, static_cast<int64_t>(*under), pane.index.notation);
    const CellRect cell = map.sheet.cell(*under);
    if (output && std::ranges::binary_search(result.wrong_elements, *under))
        ui.tip += ": wrong";
    else if (!output && !loads.counts.empty())
        ui.tip += ": loaded " + counted(loads.at(map.sheet, cell.row0, cell.col0), "time");
    input::offer_pick(ui, pane.offered(look::picked_element(array, *under)));
}

// Which recording it is, and where it stands; as much of both as fits. Returns the height taken.
float whose(Ui& ui, const Rect& in, const Pane& pane) {
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const trace::Meta& meta = pane.trace.meta;
    const float mark = badge(ui, in.min, body, pane.letter) + ui.px(8);
    const float title = line(ui, {in.min.x + mark, in.min.y}, in.width() - mark, Face::Strong, Size::Body,
                             Ink::Text, pane.tally.kernel);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string device = meta.backend == trace::Backend::Gpu ? meta.device : "CPU lockstep";
    const float room = in.width() - mark - title - ui.px(8);
    if (draw::text_size(font, device).x <= room)
        note(ui, {in.max.x, in.min.y + ui.px(3)}, room, device, Align::Right);
    const trace::Block& block = pane.trace.blocks[pane.index.block];
    const std::string step = fmt::format(
        "{}, step {}", block_name(pane.trace.launch.grid, {block.x, block.y, block.z}, pane.index.notation),
        grouped(pane.step() + 1));
    const std::string of = step + " of " + grouped(pane.index.steps);
    const std::string phase = look::phase_text(pane.index, pane.step());
    const std::vector<std::string> words{phase.empty() ? of : of + ", " + phase, of, step};
    note(ui, {in.min.x, in.min.y + body}, in.width(), fitting(font, words, in.width()));
    return body + small + ui.px(8);
}

// Global arrays that are read, or written, in the order of the kernel's parameters.
std::vector<uint8_t> arrays_that(const trace::Trace& trace, bool (Array::*is)() const) {
    std::vector<uint8_t> found;
    const auto& arrays = trace.launch.arrays;
    for (size_t at = 0; at < arrays.size(); ++at)
        if (arrays[at].space == Space::Global && (arrays[at].*is)())
            found.push_back(static_cast<uint8_t>(at));
    return found;
}

}  // namespace

uint32_t most_loads(const Pane& pane, bool of_run) {
    if (!pane.whole_run && !of_run) return pane.known.most;
    const std::vector<uint32_t>& most = pane.shown.totals->most_loads;
    return most.empty() ? 0 : std::ranges::max(most);
}

uint32_t most_now(const Pane& pane) {
    if (pane.whole_run) return most_loads(pane, true);
    uint32_t most = 0;
    for (const look::LoadedRange& range : pane.known.ranges) most = std::max(most, range.most);
    return most;
}

void heat_panel(Ui& ui, const Rect& rect, const Pane& pane, uint32_t most, bool with_output) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const float top = in.min.y + whose(ui, in, pane);
    // What is wrong is of the output; where three would be too small to read, the second input goes.
    std::vector<uint8_t> inputs = arrays_that(pane.trace, &Array::reads), outputs;
    if (with_output || inputs.empty()) outputs = arrays_that(pane.trace, &Array::writes);
    inputs.resize(std::min<size_t>(inputs.size(), outputs.empty() || in.width() >= ui.px(296) ? 2 : 1));
    outputs.resize(std::min<size_t>(outputs.size(), 1));
    const float gap = ui.px(16),
                columns = static_cast<float>(std::max<size_t>(inputs.size() + outputs.size(), 1));
    const float width = std::floor((in.width() - gap * (columns - 1)) / columns);
    float left = in.min.x;
    const auto next = [&] {
        const Rect column{{left, top}, {left + width, in.max.y}};
        left += width + gap;
        return column;
    };
    for (const uint8_t array : inputs) draw_map(ui, next(), pane, array, most, false);
    for (const uint8_t array : outputs) draw_map(ui, next(), pane, array, most, true);
}

}  // namespace tilescope::compare
