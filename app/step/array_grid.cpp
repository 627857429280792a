// The cells of an array on the Step screen: plain ground or heat, what lies over it, and the values. A cell shows
// its value if it is large enough, what this step and phase do to it, and the selection.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "app/pictures/pictures.h"
#include "app/step/grids.h"
#include "core/base/contents.h"

namespace tilescope::step {
namespace {

constexpr float kIndexPitch = 44;  // logical pixels a cell, from which on it says its own index

// What a cell holds: what the block stored there, else what was there before the launch; of a product's
// output the running sums of the block.
std::optional<Value> cell_value(const Ui& ui, const MatrixView& matrix, uint64_t element, bool in_tile) {
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const playback::BlockReplay* replay = ui.session.replay.get();
    if (is_output(ui, matrix.array)) {
        if (replay == nullptr || !in_tile) return std::nullopt;
        const auto step = step_of_cell(ui, matrix.array, element);
        return step ? replay->running_sum(playback::Element{matrix.array, element}, *step) : std::nullopt;
    }
    if (replay != nullptr && array.writes()) {
        const playback::CellState state = replay->cell(matrix.array, element, ui.step());
        if (state.written) return state.value;
    }
    return array.reads() ? std::optional(initial_value(array, element)) : std::nullopt;
}

// Of numbers in sight that differ and yet read alike, as 10,000,000,001 and 10,000,000,002 do: what they have in
// common, which their cells leave out; none where they can be told apart.
std::optional<double> common_part(const Ui& ui, const MatrixView& matrix, const draw::Sheet& sheet,
                                  const CellRect& sight) {
    std::set<std::string> texts;
    std::set<double> numbers;
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        for (uint32_t col = sight.col0; col < sight.col1; ++col)
            if (const auto element = sheet.element(row, col))
                if (const auto held = cell_value(ui, matrix, *element, true)) {
                    texts.insert(short_value(*held));
                    numbers.insert(number_of(*held));
                    if (texts.size() > 1) return std::nullopt;
                }
    if (numbers.size() < 2) return std::nullopt;
    return std::strtod(as_typed(*texts.begin()).c_str(), nullptr);
}

// What the block made of an element: the running sum of its thread, or a value that was stored.
struct MadeCell {
    CellRect place;
    Value value;
    bool stored = false;
    Rgba fill = 0;
    std::pair<uint32_t, uint32_t> at() const { return {place.row0, place.col0}; }
};

// The cells in sight that were stored up to this step; none of an array that the kernel only reads, and none
// where more cells are in sight than can be told apart. Of very many small ones one of each square stands for it; the
// squares are the tile's, whatever is in sight of it.
std::vector<MadeCell> made_cells(const Ui& ui, const MatrixView& matrix, const draw::GridView& grid) {
    constexpr uint64_t kMostCells = 1 << 15, kMostEach = 1 << 12;
    std::vector<MadeCell> made;
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const playback::BlockReplay* replay = ui.session.replay.get();
    if (replay == nullptr || !array.writes()) return made;
    const draw::Sheet sheet(array);
    const bool sums = is_output(ui, matrix.array);
    const double largest = sums ? largest_stored(ui) : 0;
    const CellRect sight = in_sight(grid, sheet);
    for (const CellRect& tile : matrix.touched_by_block) {
        const CellRect part{std::max(tile.row0, sight.row0), std::min(tile.row1, sight.row1),
                            std::max(tile.col0, sight.col0), std::min(tile.col1, sight.col1)};
        if (part.empty() || uint64_t{part.rows()} * part.cols() > kMostCells) continue;
        uint32_t by = 1;
        while (grid.pitch < ui.px(4) && uint64_t{tile.rows() / by} * (tile.cols() / by) > kMostEach) ++by;
        const uint32_t first_row = part.row0 - (part.row0 - tile.row0) % by,
                       first_col = part.col0 - (part.col0 - tile.col0) % by;
        for (uint32_t row = first_row; row < part.row1; row += by)
            for (uint32_t col = first_col; col < part.col1; col += by) {
                const auto element = sheet.element(row, col);
                if (!element) continue;
                const playback::CellState cell = replay->cell(matrix.array, *element, ui.step());
                const auto step = step_of_cell(ui, matrix.array, *element);
                const auto sum = sums && step
                                     ? replay->running_sum(playback::Element{matrix.array, *element}, *step)
                                     : std::nullopt;
                if (!cell.written && !sum) continue;
                const CellRect place{row, std::min(row + by, tile.row1), col, std::min(col + by, tile.col1)};
                MadeCell one{place, sum.value_or(cell.value), cell.written};
                const double part_of = std::abs(number_of(one.value)) / std::max(largest, 1e-30);
                one.fill = sums ? sum_color(ui, static_cast<float>(part_of))
                                : draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::GlobalStore), 0.35f);
                made.push_back(one);
            }
    }
    // Of one tile they are in order: a sort of 16,384 of them takes a third of the time.
    if (!std::ranges::is_sorted(made, {}, &MadeCell::at)) std::ranges::sort(made, {}, &MadeCell::at);
    return made;
}

void array_texts(Ui& ui, const MatrixView& matrix, const draw::GridView& grid,
                 const std::vector<MadeCell>& made) {
    const float pitch = grid.pitch;
    if (pitch < ui.px(11)) return;
    const Array& array = ui.trace().launch.arrays[matrix.array];
    const draw::Sheet sheet(array);
    const CellRect sight = in_sight(grid, sheet);
    const bool indices = pitch >= ui.px(kIndexPitch);
    const auto index_of = [&](uint64_t element) -> std::string {  // "3,19"
        if (!indices) return "";
        const std::string text = index_text(array, static_cast<int64_t>(element), ui.notation());
        return text.substr(1, text.size() - 2);
    };
    std::vector<CellText> texts;
    std::string longest = "0";
    const std::optional<double> common = common_part(ui, matrix, sheet, sight);
    if (common) ui.state.common[matrix.array] = short_value(value_of(*common));
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        for (uint32_t col = sight.col0; col < sight.col1; ++col) {
            const auto element = sheet.element(row, col);
            if (!element) continue;
            const bool inside = std::ranges::any_of(
                matrix.frames, [&](const CellRect& tile) { return tile.contains(row, col); });
            const auto held = cell_value(ui, matrix, *element, inside);
            const std::string value = !held    ? ""
                                      : common ? short_value(value_of(number_of(*held) - *common))
                                               : short_value(*held);
            longest = std::max(longest, value, shorter);
            const CellRect place{row, row + 1, col, col + 1};
            const bool lit = std::ranges::any_of(
                matrix.touched, [&](const CellRect& part) { return part.contains(row, col); });
            const auto own = std::ranges::lower_bound(made, std::pair(row, col), {}, &MadeCell::at);
            const bool filled = lit || (own != made.end() && own->place == place);
            const Rgba ground = lit ? ui.ink(pictures::ink_of(matrix.kind)) : filled ? own->fill : 0;
            const Rgba ink =
                filled ? ui.context.palette.text_on(ground) : ui.ink(inside ? Ink::Text : Ink::TextFaint);
            texts.push_back({place, value, index_of(*element), ink, filled ? ink : ui.ink(Ink::TextFaint)});
        }
    // One size for the sums all along: that of the largest.
    if (is_output(ui, matrix.array) && ui.session.replay)
        longest = std::max(longest, short_value(value_of(std::round(-largest_stored(ui)))), shorter);
    if (const auto font = cell_texts(ui, grid, texts, longest, index_of(array.elements() - 1)))
        ui.state.cell_fonts[matrix.array] = *font;
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
    draw_grid(ui, id, grid);
}

// An array without a texture of its cells has lines between them, as the others do.
void cell_lines(Ui& ui, const draw::GridView& grid, const draw::Sheet& sheet) {
    const Rgba color = ui.ink(Ink::Panel);
    const ImVec2 end = draw::corner_of(grid, sheet.rows, sheet.cols);
    const float left = std::max(grid.clip_min.x, grid.x), right = std::min(grid.clip_max.x, end.x);
    const float top = std::max(grid.clip_min.y, grid.y), bottom = std::min(grid.clip_max.y, end.y);
    const CellRect sight = in_sight(grid, sheet);
    for (uint32_t col = sight.col0; col < sight.col1; ++col)
        if (const float x = std::round(draw::corner_of(grid, 0, col).x); x >= left)
            ui.list.AddRectFilled({x, top}, {x + 1, bottom}, color);
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        if (const float y = std::round(draw::corner_of(grid, row, 0).y); y >= top)
            ui.list.AddRectFilled({left, y}, {right, y + 1}, color);
}

// Cells as the fewest rectangles of whole rows that cover them.
std::vector<CellRect> joined(std::vector<CellRect> cells) {
    std::ranges::sort(cells, {}, [](const CellRect& cell) { return std::pair(cell.row0, cell.col0); });
    std::vector<CellRect> runs, parts;
    for (const CellRect& cell : cells)
        if (!runs.empty() && runs.back().row0 == cell.row0 && runs.back().row1 == cell.row1 &&
            runs.back().col1 >= cell.col0)
            runs.back().col1 = std::max(runs.back().col1, cell.col1);
        else
            runs.push_back(cell);
    for (const CellRect& run : runs) {
        const auto above = std::ranges::find_if(parts, [&](const CellRect& part) {
            return part.row1 == run.row0 && part.col0 == run.col0 && part.col1 == run.col1;
        });
        if (above == parts.end())
            parts.push_back(run);
        else
            above->row1 = run.row1;
    }
    return parts;
}

// What lies over the cells, from below: what is beyond the edges, what this phase loaded, what the step's
// values have to do with, what it touches, the tile's frame, the selection, faults.
std::vector<draw::GridMark> marks_of(Ui& ui, const MatrixView& matrix, const std::vector<MadeCell>& made,
                                     float pitch) {
    const bool output = is_output(ui, matrix.array);
    const Rgba color = ui.ink(pictures::ink_of(matrix.kind));
    std::vector<draw::GridMark> marks;
    for (const CellRect& beyond : matrix.beyond) {
        marks.push_back(draw::frame_mark(beyond, ui.ink(Ink::LineStrong), 1, true));
        marks.back().fill = ui.ink(Ink::Outside);
        marks.back().pattern = draw::CellPattern::Hatch;
    }
    for (const MadeCell& cell : made) {
        marks.push_back(draw::fill_mark(cell.place, cell.fill));
        marks.back().edge = pitch < ui.px(8) ? 0 : ui.ink(cell.stored ? Ink::GlobalStore : Ink::Panel);
        marks.back().edge_px = marks.back().edge == 0 ? 0 : 1;
    }
    for (const CellRect& cell : matrix.loaded)
        marks.push_back(draw::fill_mark(cell, draw::with_alpha(ui.ink(Ink::GlobalLoad), 0.26f)));
    const bool own = ui.trace().launch.arrays[matrix.array].role == ArrayRole::Output;
    for (const CellRect& cell : own ? std::vector<CellRect>() : matrix.related) {
        marks.push_back(draw::fill_mark(cell, draw::with_alpha(color, 0.45f)));
        if (pitch >= ui.px(14)) marks.back().edge = color;
    }
    for (const CellRect& cell : matrix.touched) marks.push_back(draw::fill_mark(cell, color));
    if (own) {  // an outline, which no load or store has
        for (const CellRect& part : joined(matrix.related)) {
            const float edge = std::min(ui.px(3), pitch / 3);
            marks.push_back(draw::frame_mark(part, ui.ink(Ink::Text), edge));
            marks.push_back(draw::frame_mark(part, ui.ink(Ink::Product), std::max(edge - 1, 1.f)));
        }
        note_sign(ui, Sign::Output, !matrix.related.empty());
    }
    note_sign(ui, Sign::Outside, !matrix.beyond.empty());
    note_sign(ui, Sign::Loaded, !matrix.loaded.empty());
    note_sign(ui, Sign::Tile, !matrix.frames.empty());
    for (const MadeCell& cell : made) {
        note_sign(ui, Sign::Sums, output);
        note_sign(ui, Sign::Stored, cell.stored);
    }
    // Around the cells, not over their values; where cells are small, on the lines between cells.
    const bool small = pitch < ui.px(22);
    for (const CellRect& slice : matrix.frames) {
        draw::GridMark frame = draw::frame_mark(slice, ui.ink(Ink::Accent), ui.px(small ? 2.f : 2.5f));
        const float edge = (small ? 1 : frame.edge_px) / pitch;
        frame.row -= edge;
        frame.col -= edge;
        frame.rows += 2 * edge;
        frame.cols += 2 * edge;
        marks.push_back(frame);
    }
    selection_and_faults(ui, marks, matrix.array, pitch);
    return marks;
}

}  // namespace

void array_cells(Ui& ui, uint8_t array, const draw::GridView& grid, bool map,
                 const std::vector<draw::GridMark>& marks) {
    using draw::GridUse;
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    const bool heat = map || grid.pitch < ui.px(4);
    const auto id_of = [&](GridUse use) { return grid_id(ui, use, array); };
    // An array of very many elements has no texture of its own: plain ground, and on it the part that the
    // recorded blocks loaded.
    if (sheet.rows > 8192 || sheet.cols > 8192 || uint64_t{sheet.rows} * sheet.cols > (16ull << 20)) {
        const CellRect all{0, sheet.rows, 0, sheet.cols};
        draw_grid(ui, id_of(map ? GridUse::MapGround : GridUse::Ground), grid,
                  {draw::fill_mark(all, ui.ink(Ink::Cell))});
        loaded_part(ui, id_of(map ? GridUse::MapPart : GridUse::Part), array, grid, heat);
        if (!map && grid.pitch >= ui.px(5)) cell_lines(ui, grid, sheet);
        if (!marks.empty()) draw_grid(ui, id_of(GridUse::Marks), grid, marks);
        return;
    }
    const uint64_t id = id_of(map ? GridUse::Map : GridUse::Matrix),
                   version = heat && ui.session.totals ? 1 : 0;
    if (ui.context.grids.stale(id, version))
        ui.context.grids.set_cells(id, version, sheet.rows, sheet.cols,
                                   draw::sheet_cells(shape, version > 0 ? ui.session.totals->loads[array]
                                                                        : std::vector<uint32_t>()));
    draw_grid(ui, id, grid, marks);
}

float ruler_height(Ui& ui) { return std::round(ui.px(14)); }

float ruler_width(Ui& ui, uint32_t rows) {
    const std::string last = std::to_string(std::max(rows, 1u) - 1);
    return std::round(draw::text_size(ui.font(Face::Mono, Size::CellSmall), last).x + ui.px(6));
}

void rulers(Ui& ui, const draw::GridView& grid, uint32_t rows, uint32_t cols, Rulers sides,
            uint32_t first_row) {
    if (grid.pitch < 1e-3f || grid.pitch >= ui.px(kIndexPitch) ||
        ui.session.question.hides(session::Hide::Shape))
        return;
    const draw::Font font = ui.font(Face::Mono, Size::CellSmall);
    // Every cell where all have room, else every fourth, eighth, ...
    const auto stride_of = [&](float room) {
        uint32_t stride = 1;
        while (static_cast<float>(stride) * grid.pitch < room) stride = std::max(4u, stride * 2);
        return stride;
    };
    const float line = font.px, wide = draw::text_size(font, std::to_string(std::max(cols, 1u) - 1)).x;
    const ImVec2 end = draw::corner_of(grid, rows, cols);
    const float left = std::max(grid.x, grid.clip_min.x), top = std::max(grid.y, grid.clip_min.y);
    const float half = grid.pitch / 2;
    const auto number = [&](ImVec2 at, uint32_t of, Align align) {
        put(ui, ui.list, font, at, ui.ink(Ink::TextQuiet), std::to_string(of), align);
        if (draw::Inspection* const seen = ui.context.inspection) seen->texts.back().place = true;
    };
    const float right = std::min(end.x, grid.clip_max.x), bottom = std::min(end.y, grid.clip_max.y);
    const float slack = std::min(1.f, half);
    if (const uint32_t every = stride_of(line); sides.rows)
        for (uint32_t row = 0; row < rows; row += every)
            if (const float y = draw::corner_of(grid, row, 0).y;
                y >= top - slack && y + grid.pitch <= bottom + slack)
                number({left - ui.px(4), std::round(y + half - line / 2)}, first_row + row, Align::Right);
    if (const uint32_t every = stride_of(wide + ui.px(6)); sides.cols)
        for (uint32_t col = 0; col < cols; col += every)
            if (const float x = draw::corner_of(grid, 0, col).x;
                x >= left - slack && x + grid.pitch <= right + slack)
                number({x + half, top - ruler_height(ui) - ui.px(1)}, col, Align::Center);
}

void array_title(Ui& ui, uint8_t array, ImVec2 corner, float width, const char* also) {
    const Array& shape = ui.trace().launch.arrays[array];
    const std::string name = name_in(ui.notation(), shape), extents = extents_text(shape, "\u00d7");
    const float used = draw::text_size(ui.font(Face::Strong, Size::Body), name).x + ui.px(8);
    const bool told = !ui.session.question.hides(session::Hide::Shape);
    // Of several things to say the first; of one none, but the extents.
    const std::string_view all = also;
    const size_t gap = all.find("  ");
    const std::string first = gap == std::string_view::npos ? extents : std::string(all.substr(0, gap));
    const std::string both = first == extents ? extents : extents + "  " + first;
    heading(ui, corner, width, name,
            !told ? also
                  : fitting(ui.font(Face::Mono, Size::Small),
                            {fmt::format("{}  {}", extents, also), both, first}, width - used));
}

draw::GridView array_grid(Ui& ui, uint8_t array, const Port& port, float pitch) {
    const session::Question& asked = ui.session.question;
    const draw::GridView grid{std::round(port.box.min.x - static_cast<float>(port.col * pitch)),
                              std::round(port.box.min.y - static_cast<float>(port.row * pitch)), pitch,
                              port.box.min, port.box.max};
    ui.state.places.emplace_back(array, grid);
    MatrixView matrix = matrix_view(ui.trace(), *ui.index(), ui.session.replay.get(), array, ui.step());
    // What would be lit for a thirtieth of a second and less only flickers: P fills, and trails or counts say
    // the rest (motion.cpp).
    if (rushing(ui)) matrix.touched.clear(), matrix.related.clear();
    // A value is worked out from those of other arrays: where it is asked for, only its own array keeps them.
    const bool elements = asked.hides(session::Hide::Elements);
    const bool values = asked.hides(session::Hide::Values) && (elements || asked.array == array);
    if (elements) {
        matrix.touched.clear(), matrix.related.clear(), matrix.loaded.clear(), matrix.beyond.clear();
        // The tile is, or is much of, what is asked for; of the output it says which block this is.
        if (!is_output(ui, array) || asked.array == array) matrix.frames.clear();
    }
    // Nothing is marked whose panel is still to come: what the step does, the tiles, the block's own elements.
    using session::Panel;
    const session::Session& session = ui.session;
    const bool acts = session.shows(Panel::Source) || session.shows(Panel::Request);
    if (!acts) matrix.touched.clear(), matrix.related.clear(), matrix.loaded.clear();
    if (!session.shows(is_output(ui, array) ? Panel::Threads : Panel::Tiles)) matrix.frames.clear();
    const bool results = asked.hides(session::Hide::Result);
    std::vector<MadeCell> made =
        elements || values || results ? std::vector<MadeCell>() : made_cells(ui, matrix, grid);
    if (!acts)  // nor is there a scale yet
        for (MadeCell& cell : made)
            cell.fill = draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::Product), 0.35f), cell.stored = false;
    const std::vector<draw::GridMark> marks = marks_of(ui, matrix, made, pitch);
    note_marks(ui, array, grid, marks);
    // A frame lies around its cells: at the edges of the array beyond the viewport, too.
    draw::GridView framed = grid;
    const float room = ui.px(kFrameRoom / 2);
    const draw::Sheet sheet(ui.trace().launch.arrays[array]);
    const ImVec2 end = draw::corner_of(grid, sheet.rows, sheet.cols);
    if (grid.x >= grid.clip_min.x) framed.clip_min.x -= room;
    if (grid.y >= grid.clip_min.y) framed.clip_min.y -= room;
    if (end.x <= grid.clip_max.x + 1) framed.clip_max.x += room;
    if (end.y <= grid.clip_max.y + 1) framed.clip_max.y += room;
    array_cells(ui, array, framed, false, marks);
    if (!values) array_texts(ui, matrix, grid, made);
    offer_element(ui, array, grid);
    return grid;
}

ImVec2 navigate(Ui& ui, const Rect& box, ArrayView& view, double& row, double& col) {
    if (!ui.over(box)) return {};
    const ImGuiIO& io = ImGui::GetIO();
    const double scale = ui.context.scale;
    if (io.MouseWheel != 0) {
        const double fewer = view.zoom(std::pow(1.2, io.MouseWheel)) / scale;
        col += (io.MousePos.x - box.min.x) * fewer;
        row += (io.MousePos.y - box.min.y) * fewer;
    }
    if (!ImGui::IsMouseDragging(1, 0) && !ImGui::IsMouseDragging(2, 0)) return {};
    const double dx = io.MouseDelta.x / scale / view.pitch, dy = io.MouseDelta.y / scale / view.pitch;
    col -= dx;
    row -= dy;
    view.fit = false;
    return {static_cast<float>(dx), static_cast<float>(dy)};
}

CellRect in_sight(const draw::GridView& grid, const draw::Sheet& sheet) {
    const auto cells = [&](float pixels) { return std::max(0.f, pixels / grid.pitch); };
    const auto first = [&](float pixels) { return static_cast<uint32_t>(cells(pixels)); };
    const auto end = [&](float pixels) { return static_cast<uint32_t>(std::ceil(cells(pixels))); };
    return {first(grid.clip_min.y - grid.y), std::min(sheet.rows, end(grid.clip_max.y - grid.y)),
            first(grid.clip_min.x - grid.x), std::min(sheet.cols, end(grid.clip_max.x - grid.x))};
}

std::optional<draw::Font> cell_texts(Ui& ui, const draw::GridView& grid, const std::vector<CellText>& texts,
                                     std::string_view longest, std::string_view longest_below, Size most) {
    const bool two = !longest_below.empty();
    const float pitch = grid.pitch, room = pitch - ui.px(3);
    const auto font = ui.context.fonts.for_cells(longest, room, two ? pitch * 0.55f : room, most);
    const auto small = ui.context.fonts.for_cells(longest_below, room, room, Size::Small);
    if (!font) return font;
    for (const CellText& text : texts) {
        const ImVec2 min = draw::corner_of(grid, text.place.row0, text.place.col0),
                     max{min.x + pitch, min.y + pitch};
        // A cell that the viewport cuts shows no half digits.
        if (min.x < grid.clip_min.x - 1 || min.y < grid.clip_min.y - 1 || max.x > grid.clip_max.x + 1 ||
            max.y > grid.clip_max.y + 1)
            continue;
        draw::draw_text_in(ui.list, *font, min, {max.x, min.y + pitch * (two ? 0.68f : 1.f)}, text.ink,
                           text.value);
        if (two && small)
            draw::draw_text_in(ui.list, *small, {min.x, min.y + pitch * 0.62f}, max, text.below_ink,
                               text.below);
    }
    return font;
}

void selection_and_faults(Ui& ui, std::vector<draw::GridMark>& marks, uint8_t array, float pitch) {
    for (const auto& [where, cells] : ui.state.selected.cells)
        if (where == array) marks.push_back(draw::frame_mark(cells, ui.ink(Ink::Selected), ui.px(2), true));
    prediction_marks(ui, marks, array, pitch);
    if (!ui.session.faults || ui.session.question.hides_any()) return;
    std::vector<CellRect> faulty = look::faulty_at(ui.trace(), *ui.session.faults, array, ui.step());
    for (const look::WrongElement& wrong : ui.session.faults->wrong)
        if (is_output(ui, array) && !ui.session.question.hides(session::Hide::Result))
            faulty.push_back(draw::cell_on_sheet(ui.trace().launch.arrays[array], wrong.element));
    for (const CellRect& cell : faulty) marks.push_back(draw::fault_mark(ui, cell, pitch));
}

std::optional<uint64_t> offer_element(Ui& ui, uint8_t array, const draw::GridView& grid) {
    const Array& shape = ui.trace().launch.arrays[array];
    const auto under = draw::element_under(ui, {grid.clip_min, grid.clip_max}, grid, shape);
    if (!under) return under;
    ui.tip = element_name(shape, static_cast<int64_t>(*under), ui.notation());
    input::offer_pick(
        ui, look::picked_element(
                array, *under, shape.space == Space::Shared ? Pick::Kind::SharedCell : Pick::Kind::Element));
    return under;
}

}  // namespace tilescope::step
