// The block from inside: its tiles in shared memory, what they hold and from where, and its threads by warps.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/pictures.h"
#include "app/step/grids.h"

namespace tilescope::step {
namespace {

// All of a sheet below a heading. least, largest: pixels a cell.
draw::GridView fitted(Ui& ui, const Rect& rect, const draw::Sheet& sheet, float least, float largest) {
    const ImVec2 min{rect.min.x, rect.min.y + line_height(ui, Size::Body) + ui.px(2)};
    const auto wide = static_cast<float>(sheet.cols), high = static_cast<float>(sheet.rows);
    const float fits = std::min({rect.width() / wide, (rect.max.y - min.y) / high, largest});
    const float pitch = std::floor(std::max(fits, least));
    const ImVec2 max{std::min(rect.max.x, min.x + pitch * wide + 1),
                     std::min(rect.max.y, min.y + pitch * high + 1)};
    return {min.x, min.y, pitch, min, max};
}

// A cell with a line around it where it is large enough.
draw::GridMark cell_mark(const Ui& ui, const draw::GridView& grid, const CellRect& cell, Rgba fill) {
    const bool lined = grid.pitch >= ui.px(5);
    draw::GridMark mark = draw::fill_mark(cell, fill);
    mark.edge = lined ? ui.ink(Ink::Panel) : 0;
    mark.edge_px = lined ? 1 : 0;
    return mark;
}

// Below the values in large cells where they came from.
void shared_values(Ui& ui, uint8_t array, const SharedView& tile, const draw::GridView& grid) {
    if (grid.pitch < ui.px(8)) return;
    const bool sources = grid.pitch >= ui.px(48);
    std::vector<CellText> texts;
    std::string longest = "0", longest_source = sources ? "M[0,0]" : "";
    for (const SharedCellView& cell : tile.cells) {
        if (!cell.held.written) continue;
        const bool lit = cell.lanes != 0 && !rushing(ui);
        const Rgba ink = lit ? ui.context.palette.text_on(ui.ink(pictures::ink_of(tile.kind)))
                             : ui.ink(cell.stale ? Ink::TextFaint : Ink::Text);
        texts.push_back({cell.place, short_value(cell.held.value),
                         sources ? source_text(ui.trace(), cell.held, ui.notation()) : "", ink,
                         lit ? ink : ui.ink(Ink::TextQuiet)});
        longest = std::max(longest, texts.back().value, shorter);
        longest_source = std::max(longest_source, texts.back().below, shorter);
    }
    if (const auto font = cell_texts(ui, grid, texts, longest, longest_source))
        ui.state.cell_fonts[array] = *font;
}

// What has a place of its own in the panel: an array of shared memory, or one of the buffers that it is cut
// into, or the threads of the block.
struct TilePane {
    uint8_t array = kOfThreads;
    CellRect part;     // rows and columns of its sheet
    std::string note;  // of a buffer what it does
    bool threads() const { return array == kOfThreads; }
    bool numbered() const { return !threads() && part.row0 == 0; }  // its columns, once an array
};

// split: an array of several buffers is a pane each.
std::vector<TilePane> panes_of(Ui& ui, bool with_threads, bool split) {
    std::vector<TilePane> all;
    BufferCache& cache = ui.state.buffers;
    if (cache.of != ui.session.block) {
        cache = {ui.session.block, {}};
        cache.by_array.resize(ui.trace().launch.arrays.size());
        for (const uint8_t array : ui.index()->shared)
            cache.by_array[array] = buffers_of(ui.trace(), *ui.index(), array);
    }
    const bool told = !ui.session.question.hides_any();
    for (const uint8_t array : ui.index()->shared) {
        for (const Buffer& buffer : cache.by_array[array])
            if (split)
                all.push_back({array, buffer.part,
                               told ? std::string(words_of(state_at(buffer, ui.step()))) : std::string()});
        if (split && !cache.by_array[array].empty()) continue;
        const draw::Sheet sheet(ui.trace().launch.arrays[array]);
        all.push_back({array, {0, sheet.rows, 0, sheet.cols}, ""});
    }
    if (with_threads) {
        const draw::Sheet sheet(shape_of_threads(ui));
        all.push_back({kOfThreads, {0, sheet.rows, 0, sheet.cols}, ""});
    }
    return all;
}

// Where the panes lie, and the pixels of a cell of shared memory: in as many columns as leave the cells
// largest, one below the other in each. A thread asks for half of what a shared cell does.
struct TileLayout {
    float pitch = 0;
    std::vector<Rect> boxes;  // a pane each
};

TileLayout in_columns(Ui& ui, const std::vector<TilePane>& panes, const Rect& in, size_t columns) {
    const float gap = ui.px(12), above = ui.px(6), title = line_height(ui, Size::Body) + ui.px(2);
    const size_t each = (panes.size() + columns - 1) / columns;
    const auto share = [](const TilePane& pane) { return pane.threads() ? 0.5f : 1.f; };
    // What does not grow with the cells: titles, rulers, frames, and what whole pixels take.
    const auto fixed = [&](const TilePane& pane) {
        return title + ui.px(1.5f) + (pane.threads() ? 0 : ui.px(3)) +
               (pane.numbered() ? ruler_height(ui) : 0);
    };
    const auto beside = [&](const TilePane& pane) {
        return pane.threads() ? ui.px(pictures::kGateWidth) : ruler_width(ui, pane.part.row1) + ui.px(3);
    };
    float across = 0, across_fixed = gap * static_cast<float>(columns - 1), pitch = 1e6f;
    for (size_t column = 0; column < columns; ++column) {
        float wide = 0, wide_fixed = 0, high = 0, high_fixed = -above;
        for (size_t i = column * each; i < std::min(panes.size(), (column + 1) * each); ++i) {
            wide = std::max(wide, share(panes[i]) * static_cast<float>(panes[i].part.cols()));
            wide_fixed = std::max(wide_fixed, beside(panes[i]));
            high += share(panes[i]) * static_cast<float>(panes[i].part.rows());
            high_fixed += fixed(panes[i]) + above;
        }
        pitch = std::min(pitch, (in.height() - high_fixed) / std::max(high, 0.5f));
        across += wide;
        across_fixed += wide_fixed;
    }
    pitch = std::min({pitch, (in.width() - across_fixed) / std::max(across, 0.5f), ui.px(112)});
    // A column has room for the names in it, for which the cells of the others give way.
    const auto named = [&](size_t column) {
        float wide = 0;
        for (size_t i = column * each; i < std::min(panes.size(), (column + 1) * each); ++i)
            if (panes[i].threads())
                wide = std::max(wide,
                                draw::text_size(ui.font(Face::Strong, Size::Body), "Threads").x + ui.px(1));
        return wide;
    };
    if (const size_t last = columns - 1; columns > 1 && named(last) > 0 && pitch > 2) {
        float cells = 0;
        for (size_t i = last * each; i < panes.size(); ++i)
            cells = std::max(cells, share(panes[i]) * static_cast<float>(panes[i].part.cols()));
        const float missing = named(last) - cells * std::floor(pitch) - beside(panes.back());
        const float spare = in.width() - across_fixed - across * std::floor(pitch);
        if (missing > spare && across > cells) pitch -= (missing - spare) / (across - cells);
    }
    // So has a column of short arrays, such as barriers, whose names are longer by more than the gap beside it.
    std::vector<float> least(columns, 0);
    float missing = 0, narrow = 0;
    for (size_t column = 0; column < columns; ++column) {
        float cells = 0, ruler = 0, name = 0;
        for (size_t i = column * each; i < std::min(panes.size(), (column + 1) * each); ++i) {
            cells = std::max(cells, share(panes[i]) * static_cast<float>(panes[i].part.cols()));
            ruler = std::max(ruler, beside(panes[i]));
            const std::string called = panes[i].threads()
                                           ? "Threads"
                                           : name_in(ui.notation(), ui.trace().launch.arrays[panes[i].array]);
            name = std::max(name, draw::text_size(ui.font(Face::Strong, Size::Body), called).x + ui.px(1));
        }
        const float lacks = name - cells * pitch - ruler;
        if (lacks <= gap || (column + 1 == columns && pitch > 2)) continue;
        least[column] = name;
        missing += lacks, narrow += cells;
    }
    if (const float spare = in.width() - across_fixed - across * pitch; missing > spare && across > narrow)
        pitch -= (missing - spare) / (across - narrow);
    TileLayout made{pitch >= 2 ? std::floor(pitch) : std::max(pitch, 0.25f), {}};
    float x = in.min.x;
    for (size_t column = 0; column < columns; ++column) {
        const size_t first = column * each, end = std::min(panes.size(), first + each);
        float wide = least[column], y = in.min.y;
        for (size_t i = first; i < end; ++i)
            wide = std::max(
                wide, std::ceil(share(panes[i]) * static_cast<float>(panes[i].part.cols()) * made.pitch) +
                          beside(panes[i]));
        // The last column takes what is left of the width, the last pane of a column of the height.
        const float right = column + 1 == columns ? in.max.x : std::min(in.max.x, x + wide);
        for (size_t i = first; i < end; ++i) {
            const float high =
                fixed(panes[i]) +
                std::ceil(share(panes[i]) * static_cast<float>(panes[i].part.rows()) * made.pitch);
            made.boxes.push_back({{x, y}, {right, i + 1 == end ? in.max.y : std::min(in.max.y, y + high)}});
            y = std::round(y + high + above);
        }
        x = std::round(right + gap);
    }
    return made;
}

TileLayout layout_of(Ui& ui, const std::vector<TilePane>& panes, const Rect& in) {
    TileLayout best;
    for (size_t columns = 1; columns <= panes.size(); ++columns)
        if ((panes.size() + columns - 1) / columns * (columns - 1) < panes.size())
            if (TileLayout one = in_columns(ui, panes, in, columns); one.pitch > best.pitch)
                best = std::move(one);
    return best;
}

// The panes and where they lie. Buffers are apart where each then has a pixel a cell at least, or cells about as
// large as together.
std::pair<std::vector<TilePane>, TileLayout> laid_out(Ui& ui, bool with_threads, const Rect& in) {
    std::vector<TilePane> panes = panes_of(ui, with_threads, true);
    TileLayout layout = layout_of(ui, panes, in);
    if (layout.pitch < 1 && panes.size() > ui.index()->shared.size() + (with_threads ? 1 : 0)) {
        std::vector<TilePane> together = panes_of(ui, with_threads, false);
        TileLayout flat = layout_of(ui, together, in);
        if (layout.pitch < 0.8f * flat.pitch) return {std::move(together), std::move(flat)};
    }
    return {std::move(panes), std::move(layout)};
}

void shared_tile(Ui& ui, const Rect& rect, const TilePane& pane, float pitch) {
    const uint8_t array = pane.array;
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    const session::Question& asked = ui.session.question;
    const float gutter = ruler_width(ui, sheet.rows);
    const ImVec2 min{rect.min.x + gutter, rect.min.y + line_height(ui, Size::Body) + ui.px(2) +
                                              (pane.numbered() ? ruler_height(ui) : ui.px(3))};
    heading(ui, {min.x, rect.min.y}, rect.max.x - min.x, name_in(ui.notation(), shape),
            !pane.note.empty()                  ? pane.note
            : asked.hides(session::Hide::Shape) ? ""
            : pane.part.rows() < sheet.rows ? fmt::format("rows {}..{}", pane.part.row0, pane.part.row1 - 1)
                                            : extents_text(shape, "\u00d7"));
    draw::GridView grid{min.x, min.y, pitch, min, min};
    grid.clip_max = {std::min(rect.max.x, min.x + pitch * static_cast<float>(pane.part.cols()) + 1),
                     std::min(rect.max.y, min.y + pitch * static_cast<float>(pane.part.rows()) + 1)};
    grid.y -= static_cast<float>(pane.part.row0) * pitch;
    // An array too tall is shown around the rows that were touched last.
    const auto shown = static_cast<uint32_t>(std::max(grid.clip_max.y - grid.clip_min.y, 0.f) / pitch);
    if (shown > 0 && shown < pane.part.rows()) {
        const uint32_t row = touched_last(ui.trace(), *ui.index(), array, ui.step()).row0;
        const uint32_t below = row - std::min(row, pane.part.row0 + shown / 4);  // rows of the part above it
        grid.y -= static_cast<float>(std::min(below, pane.part.rows() - shown)) * pitch;
    }
    rulers(ui, grid, pane.part.row1, sheet.cols, {true, pane.numbered()});
    // While it is asked which cells the step touches they stand as the step before left them.
    const bool elements = asked.hides(session::Hide::Elements);
    const bool values = asked.hides(session::Hide::Values) && (elements || asked.array == array);
    SharedView tile =
        shared_view(ui.trace(), *ui.index(), ui.session.replay.get(), array,
                    elements && ui.step() > 0 ? ui.step() - 1 : ui.step(), in_sight(grid, sheet));
    for (SharedCellView& cell : tile.cells) {
        if (elements) cell.lanes = 0;
        // What comes to it is on its way: it holds what it held, and is not lit yet.
        const auto element = sheet.element(cell.place.row0, cell.place.col0);
        if (const auto at = element ? step_of_cell(ui, array, *element) : std::optional(ui.step());
            at != ui.step() && !elements) {
            cell.held = at && ui.session.replay ? ui.session.replay->cell(array, *element, *at)
                                                : playback::CellState{};
            const uint32_t before = at.value_or(0);
            cell.stale = ui.index()->product && origin_of(*ui.index(), cell.held, before) == Origin::Stale;
            cell.zero_fill = cell.zero_fill && cell.held.written;
            cell.lanes = 0;
        }
        if (values || (elements && ui.step() == 0)) cell.held = {}, cell.stale = cell.zero_fill = false;
    }
    ui.state.places.emplace_back(array, grid);

    const Rgba color = ui.ink(pictures::ink_of(tile.kind));
    std::vector<draw::GridMark> marks;
    if (pane.part.rows() < sheet.rows && pane.note == words_of(BufferState::ReadNow))
        ui.list.AddRect({grid.clip_min.x - ui.px(3), grid.clip_min.y - ui.px(3)},
                        {grid.clip_max.x + ui.px(2), grid.clip_max.y + ui.px(2)}, ui.ink(Ink::SharedLoad),
                        0.f, 0, ui.px(2));
    const bool signs = pitch >= ui.px(5), rushes = rushing(ui);
    for (const SharedCellView& cell : tile.cells) {
        if (!sheet.element(cell.place.row0, cell.place.col0)) continue;
        Rgba fill = ui.ink(Ink::Cell);
        if (cell.held.written && !cell.stale)
            fill = cell.zero_fill ? ui.ink(Ink::Outside) : draw::mix(fill, ui.ink(Ink::SharedStore), 0.30f);
        marks.push_back(cell_mark(ui, grid, cell.place, cell.lanes != 0 && !rushes ? color : fill));
        note_sign(ui, Sign::Filled, cell.held.written);
        note_sign(ui, Sign::Zero, cell.marked_zero());
        note_sign(ui, Sign::Stale, cell.marked_stale());
        if (signs || cell.lanes != 0 || !cell.held.written) continue;  // else too small for a sign of its own
        if (cell.zero_fill) marks.back().pattern = draw::CellPattern::Hatch;
        if (cell.stale) marks.back().pattern = draw::CellPattern::Dots;
    }
    selection_and_faults(ui, marks, array, pitch);
    note_marks(ui, array, grid, marks);
    draw_grid(ui, grid_id(ui, draw::GridUse::Shared, array), grid, marks);

    // Told apart by shape: a zero fill is struck out, a stale value has a notch; idle lanes are hatched.
    for (const SharedCellView& cell : tile.cells) {
        if (!signs) break;
        const ImVec2 at = draw::corner_of(grid, cell.place.row0, cell.place.col0);
        const Rect inside{at, {at.x + pitch - 1, at.y + pitch - 1}};
        if (cell.marked_zero()) zero_sign(ui, inside);
        if (cell.marked_stale()) stale_notch(ui, inside);
    }
    shared_values(ui, array, tile, grid);

    const auto under = offer_element(ui, array, grid);
    if (!under || !ui.session.replay || elements || values) return;
    const playback::CellState held = ui.session.replay->cell(array, *under, ui.step());
    if (held.written)
        ui.tip += fmt::format(" = {}  from {}", short_value(held.value),
                              source_text(ui.trace(), held, ui.notation()));
}

// Whether a gate with the warps' names has room beside the threads.
bool gate_beside(const Ui& ui, const Rect& rect, const draw::GridView& grid) {
    return rect.max.x - grid.clip_max.x >= ui.px(102) && !ui.index()->shared.empty();
}

// Beside the threads, or in the panel's margin: the gate at which their warps gather.
void threads_gate(Ui& ui, const Rect& rect, const draw::GridView& grid, const draw::Sheet& sheet,
                  const look::GateView& gate) {
    const float left = grid.clip_max.x + ui.px(6);
    if (gate_beside(ui, rect, grid)) {
        pictures::gate_picture(ui,
                               {{left + ui.px(8), grid.clip_min.y - line_height(ui, Size::Small)},
                                {std::min(rect.max.x, left + ui.px(200)), grid.clip_max.y}},
                               gate);
        return;
    }
    const auto count = static_cast<uint32_t>(ui.trace().launch.block.count());
    const float x = std::min(grid.clip_max.x + ui.px(1), rect.max.x - ui.px(1));
    pictures::slim_gate(
        ui, {{x, grid.clip_min.y}, {x + ui.px(pictures::kGateWidth), grid.clip_max.y}}, gate,
        [&](const look::GateView::WarpAtGate& warp) {
            const CellRect first = sheet.cell(warp.warp * kWarpSize),
                           last = sheet.cell(std::min(warp.warp * kWarpSize + kWarpSize, count) - 1);
            return grid.y + (static_cast<float>(first.row0 + last.row1)) / 2 * grid.pitch;
        });
}

// Returns the corner in which they end, below and on the right.
ImVec2 block_threads(Ui& ui, const Rect& rect) {
    const Dim3& size = ui.trace().launch.block;
    const Array& shape = shape_of_threads(ui);
    const draw::Sheet sheet(shape);
    const draw::GridView grid = fitted(ui, rect, sheet, 1, ui.px(ui.session.unfolds() ? 120 : 72));
    ui.state.places.emplace_back(kOfThreads, grid);
    const float pitch = grid.pitch;
    // The header says what the cells say.
    const bool places = pitch >= ui.px(44), lanes = !places && pitch >= ui.px(14);
    std::string axes = size.z > 1 ? "z,y,x" : size.y > 1 ? "y,x" : "x";
    if (ui.notation().x_first) std::ranges::reverse(axes);
    std::string what = places ? axes : lanes ? "lanes" : "";
    const session::Question& asked = ui.session.question;
    const bool counts_warps = !asked.hides(session::Hide::Warps);
    if (rect.width() >= ui.px(180) && !asked.hides(session::Hide::Shape)) {
        const std::string deep = size.z > 1 ? fmt::format(" \u00d7 {}", size.z) : "";
        what += fmt::format("{}{} \u00d7 {}{}", what.empty() ? "" : "  ", size.x, size.y, deep);
        if (!asked.hides_any()) what += ", " + counted(ui.index()->warps, "warp");
    }
    // Who waits is no sight while it is asked.
    const std::optional<look::GateView> gate =
        asked.hides(session::Hide::Waits) ? std::nullopt : look::gate_at(ui.trace(), *ui.index(), ui.step());
    const bool wide_gate = gate && gate_beside(ui, rect, grid);
    ui.state.gate_named = wide_gate;
    heading(ui, rect.min, wide_gate ? grid.clip_max.x - rect.min.x : rect.width(), "Threads", what);

    const auto text_of = [&](uint32_t thread) {
        if (lanes) return std::to_string(thread % kWarpSize);
        const std::string index = thread_index(size, thread, ui.notation());
        return index.substr(1, index.size() - 2);
    };
    // What they do is lit from when the panel that explains it is there.
    const bool steps = ui.step() < ui.index()->steps && (ui.session.shows(session::Panel::Source) ||
                                                         ui.session.shows(session::Panel::Request));
    const uint64_t step = ui.index()->first + ui.step();
    const trace::Access access = steps ? trace::decode(ui.trace(), step) : trace::Access{};
    const Rgba color = ui.ink(steps ? pictures::ink_of(look::kind_of(ui.trace(), step)) : Ink::GlobalLoad);
    const bool hidden = asked.hides(session::Hide::Lanes);
    std::vector<bool> held(ui.index()->warps, false);  // by warp, at a barrier that is not yet open
    if (gate && !gate->open)
        for (const look::GateView::WarpAtGate& warp : gate->warps) held[warp.warp] = warp.held;
    const auto has_output = [&](uint32_t thread) { return look::output_of(*ui.index(), thread).has_value(); };
    // Threads that load and store nothing at all; in a product, those beyond the matrix.
    const auto is_outside = [&](uint32_t thread) {
        if (ui.index()->product) return !has_output(thread);
        const std::vector<uint32_t>& active = ui.index()->lanes_of_warp;
        return thread / kWarpSize >= active.size() ||
               (active[thread / kWarpSize] >> thread % kWarpSize & 1) == 0;
    };
    const auto count = static_cast<uint32_t>(size.count());
    std::vector<draw::GridMark> marks;
    std::vector<CellText> texts;
    for (uint32_t thread = 0; thread < count; ++thread) {
        const CellRect cell = sheet.cell(thread);
        const bool in_warp = steps && thread / kWarpSize == access.warp;
        const bool active = in_warp && !hidden && (access.mask >> thread % kWarpSize & 1) != 0;
        // Warps told apart by two shades, as the stripes of a table.
        const Rgba shade = draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::LineStrong),
                                     thread / kWarpSize % 2 == 0 || !counts_warps ? 0.f : 0.22f);
        marks.push_back(cell_mark(ui, grid, cell, active ? color : shade));
        if ((places || lanes) && (active || pitch >= ui.px(22)))
            texts.push_back({cell, text_of(thread), "",
                             active ? ui.context.palette.text_on(color) : ui.ink(Ink::TextQuiet)});
        if (held[thread / kWarpSize]) {  // as a wait on the timeline
            marks.back().fill = draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::Barrier), 0.25f);
            marks.back().pattern = draw::CellPattern::Hatch;
            marks.back().edge = ui.ink(Ink::Barrier);
            continue;
        }
        if (active || (!in_warp && !is_outside(thread))) continue;
        if (hidden && in_warp) {  // which warp it is may be seen
            marks.back().edge = color;
            continue;
        }
        marks.back().pattern = draw::CellPattern::Hatch;
        marks.back().edge = in_warp ? color : ui.ink(Ink::LineStrong);
        note_sign(ui, Sign::Outside);
    }
    for (const uint32_t thread : ui.state.selected.threads)
        marks.push_back(
            draw::frame_mark(sheet.cell(thread), ui.ink(Ink::Selected), std::min(ui.px(2), pitch / 4), true));
    if (asked.takes == session::Question::Takes::Lanes)
        for_lanes(asked.lanes, [&](uint32_t lane) {
            const uint32_t thread = asked.warp * kWarpSize + lane;
            if (thread < count)
                marks.push_back(draw::frame_mark(sheet.cell(thread), ui.ink(Ink::Selected),
                                                 std::min(ui.px(3), pitch / 4)));
        });
    draw_grid(ui, grid_id(ui, draw::GridUse::Threads), grid, marks);
    cell_texts(ui, grid, texts, places ? text_of(count - 1) : "00", "", Size::Body);
    if (gate) threads_gate(ui, rect, grid, sheet, *gate);

    const auto under = draw::element_under(ui, {grid.clip_min, grid.clip_max}, grid, shape);
    if (!under) return grid.clip_max;
    const auto thread = static_cast<uint32_t>(*under), warp = thread / kWarpSize;
    ui.tip = fmt::format("{}: warp {}, lane {}", thread_name(size, thread, ui.notation()), warp,
                         thread % kWarpSize);
    if (is_outside(thread))
        ui.tip += ui.index()->product ? ", beyond the matrix" : ", loads and stores nothing";
    else if (!has_output(thread))
        ui.tip += ", stores to no array";
    input::offer_pick(ui, {.kind = Pick::Kind::Thread, .thread = thread, .warp = warp});
    return grid.clip_max;
}

void no_shared_memory(Ui& ui, ImVec2 corner, float width) {
    paragraph(ui, corner, width, Face::Text, Size::Small, Ink::TextQuiet,
              ui.index()->product
                  ? "No shared memory: every factor comes from global memory each time it is needed."
                  : "No shared memory: all that the threads use comes from global memory.",
              8);
}

}  // namespace

const Array& shape_of_threads(const Ui& ui) {
    ThreadsShape& threads = ui.state.threads;
    if (threads.serial == ui.session.recording->serial) return threads.shape;
    threads = {ui.session.recording->serial, {}};
    const Dim3& size = ui.trace().launch.block;
    Array& shape = threads.shape;
    shape.rank = static_cast<uint8_t>(size.z > 1 ? 3 : size.y > 1 ? 2 : 1);
    shape.slices = size.z, shape.rows = size.y, shape.cols = size.x;
    // A block of one warp or less as rows of eight: cells large enough for their numbers.
    if (shape.rank == 1 && size.x > 8 && size.x <= kWarpSize && size.x % 8 == 0)
        shape.rank = 2, shape.rows = size.x / 8, shape.cols = 8;
    return shape;
}

float tiles_pitch(Ui& ui, float width, float height, bool with_threads) {
    return laid_out(ui, with_threads, {{0, 0}, {width, height}}).second.pitch;
}

void tiles_panel(Ui& ui, const Rect& rect, bool with_threads) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const auto [panes, layout] = laid_out(ui, with_threads, in);
    for (size_t i = 0; i < layout.boxes.size(); ++i) {
        if (!panes[i].threads()) {
            shared_tile(ui, layout.boxes[i], panes[i], layout.pitch);
            continue;
        }
        const ImVec2 end = block_threads(ui, layout.boxes[i]);
        if (ui.index()->shared.empty() && !ui.index()->product)
            no_shared_memory(ui, {in.min.x, end.y + ui.px(12)}, in.width());
    }
}

void threads_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const ImVec2 end = block_threads(ui, in);
    if (!ui.index()->shared.empty() || ui.session.unfolds()) return;
    // Beside the threads of a square block; below those of a wide one.
    const float square = in.min.x + in.height() - line_height(ui, Size::Body);
    const float x = std::max(square, end.x) + ui.px(16), below = end.y + ui.px(12);
    if (in.max.x - x >= ui.px(90))
        no_shared_memory(ui, {x, in.min.y + line_height(ui, Size::Body) + ui.px(2)}, in.max.x - x);
    else if (in.max.y - below >= 3 * line_height(ui, Size::Small))
        no_shared_memory(ui, {in.min.x, below}, in.width());
}

}  // namespace tilescope::step
