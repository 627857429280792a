#include "app/panels/matrix_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/actions.h"
#include "app/view/matrix_view.h"

namespace tilescope::panels {
namespace {

void map_cells(Ui& ui, uint32_t id, uint8_t array) {
    const app::Session& session = *ui.state.session;
    const auto version = session.serial;
    if (!ui.context.grids.stale(id, version)) return;
    const Array& shape = session.trace->arrays[array];
    const size_t count = size_t{shape.rows} * shape.cols;
    std::vector<draw::Cell> cells(count, draw::cell(Ink::Cell));
    heat_cells(cells, session.loads[array]);
    ui.context.grids.set_cells(id, version, shape.rows, shape.cols, cells);
}

void one_map(Ui& ui, int array, ImVec2 at, float pitch, const MapView::Window& look) {
    const auto which = static_cast<uint8_t>(array);
    const Array& shape = ui.trace().arrays[which];
    const ImVec2 end{at.x + static_cast<float>(shape.cols) * pitch,
                     at.y + static_cast<float>(shape.rows) * pitch};
    ui.list.AddRectFilled(at, end, ui.ink(Ink::Cell));
    draw::GridView grid{at.x, at.y, pitch, at, end};
    const bool large = large_array(shape.rows, shape.cols);
    if (large)
        large_cells(ui, 120u + which, 90u + which, which, grid, true);
    else
        map_cells(ui, 30u + which, which);
    std::vector<draw::GridMark> marks;
    const view::CellRect tile =
        view::tile_of_phase(ui.trace(), *ui.index, which, ui.index->phase_at(ui.step()));
    if (!large)
        ui.context.grids.draw(ui.list, 30u + which, grid, ui.context.palette, ui.context.scale, marks);
    ui.list.AddRect(at, end, ui.ink(Ink::LineStrong));
    if (!tile.empty()) {
        ImVec2 a = draw::corner_of(grid, tile.row0, tile.col0),
               b = draw::corner_of(grid, tile.row1, tile.col1);
        b = {std::max(b.x, a.x + 2), std::max(b.y, a.y + 2)};
        ui.list.AddRectFilled(a, b, draw::with_alpha(ui.ink(Ink::Panel), 0.35f));
        ui.list.AddRect(a, b, ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
    }
    // What the screen shows of it, where that is not all.
    const ImVec2 a = draw::corner_of(grid, std::max(look.row, 0.0), std::max(look.col, 0.0));
    const ImVec2 b = draw::corner_of(grid, std::min(look.row + look.rows, static_cast<double>(shape.rows)),
                                     std::min(look.col + look.cols, static_cast<double>(shape.cols)));
    if (b.x - a.x < end.x - at.x - 1 || b.y - a.y < end.y - at.y - 1) {
        ui.list.AddRect(a, b, draw::with_alpha(ui.ink(Ink::Text), 0.55f), 0.f, 0, 1.f);
    }
}

void legend_entry(Ui& ui, ImVec2 at, float width, view::StepKind kind) {
    const float size = ui.px(11), small = line_height(ui, Size::Small);
    const float top = at.y + (small - size) / 2;
    // By clocks the timeline shows a wait as long as it was.
    if (kind == view::StepKind::Barrier && app::by_clock(ui.state))
        wait_bar(ui, {{at.x, top}, {at.x + size, top + size}});
    else
        sign(ui, {{at.x, top}, {at.x + size, top + size}}, kind);
    line(ui, {at.x + size + ui.px(7), at.y}, width - size - ui.px(7), Face::Text, Size::Small, Ink::TextQuiet,
         words_of(kind));
}

}  // namespace

bool large_array(uint32_t rows, uint32_t cols) {
    return rows > 8192 || cols > 8192 || uint64_t{rows} * cols > (16ull << 20);
}

void large_cells(Ui& ui, uint32_t ground_id, uint32_t part_id, uint8_t array, const draw::GridView& grid,
                 bool heat) {
    const app::Session& session = *ui.state.session;
    const Array& shape = session.trace->arrays[array];
    const std::vector<draw::GridMark> ground{
        fill_mark({0, shape.rows, 0, shape.cols}, ui.ink(Ink::Cell))};
    ui.context.grids.draw(ui.list, ground_id, grid, ui.context.palette, ui.context.scale, ground);
    const view::LoadsWindow& part = session.windows[array];
    if (part.loads.empty()) return;
    const uint32_t rows = part.box.rows(), cols = part.box.cols();
    if (rows > 16384 || cols > 16384) return;
    const uint64_t version = session.serial * 2 + (heat ? 1 : 0);
    if (ui.context.grids.stale(part_id, version)) {
        std::vector<draw::Cell> cells(part.loads.size(), draw::cell(Ink::Cell));
        if (heat) heat_cells(cells, part.loads, part.most);
        ui.context.grids.set_cells(part_id, version, rows, cols, cells);
    }
    draw::GridView view = grid;
    view.x += static_cast<float>(part.box.col0) * grid.pitch;
    view.y += static_cast<float>(part.box.row0) * grid.pitch;
    ui.context.grids.draw(ui.list, part_id, view, ui.context.palette, ui.context.scale);
}

bool even(const std::vector<uint32_t>& loads) {
    return std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) == loads.end();
}

void heat_cells(std::vector<draw::Cell>& cells, const std::vector<uint32_t>& loads) {
    if (loads.size() != cells.size() || even(loads)) return;
    heat_cells(cells, loads, *std::max_element(loads.begin(), loads.end()));
}

void heat_cells(std::vector<draw::Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most) {
    if (loads.size() != cells.size()) return;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (loads[i] == 0) continue;
        const double heat = std::min(255.0 * loads[i] / std::max(most, 1u), 255.0);
        cells[i] = draw::cell(Ink::Heat, static_cast<uint8_t>(std::lround(heat)));
    }
}

void matrix_map(Ui& ui, const Rect& rect, const MapView& looks) {
    const view::Roles roles = view::roles_of(ui.trace());
    const trace::Meta& meta = ui.trace().meta;
    const float small = std::min(line_height(ui, Size::Small), std::floor(rect.height() / 8));
    const float wanted = std::clamp(rect.width() * 0.56f, ui.px(132), ui.px(176));
    // A narrow corner has room for the legend alone.
    const bool with_map = rect.width() >= wanted + ui.px(72);
    const float legend = with_map ? wanted : rect.width();
    const Rect area{rect.min, {rect.max.x - legend - ui.px(12), rect.max.y}};

    const float gap = ui.px(5);
    const float wide = static_cast<float>(meta.k) + static_cast<float>(meta.n);
    const float tall = static_cast<float>(meta.k) + static_cast<float>(meta.m);
    const float most = ui.px(150);
    const float pitch = std::min(std::min(area.width() - gap, most) / wide,
                                 std::min(area.height() - gap - small, most) / tall);
    if (pitch > 0 && with_map) {
        const float km = static_cast<float>(meta.k) * pitch;
        const ImVec2 at{area.min.x, area.min.y + small};
        line(ui, area.min, area.width(), Face::Text, Size::Small, Ink::TextQuiet, "overview");
        one_map(ui, roles.n, {at.x + km + gap, at.y}, pitch, looks.n);
        one_map(ui, roles.m, {at.x, at.y + km + gap}, pitch, looks.m);
        one_map(ui, roles.p, {at.x + km + gap, at.y + km + gap}, pitch, looks.p);
    }

    ImVec2 at{with_map ? rect.max.x - legend : rect.min.x, rect.min.y};
    const auto entry = [&](view::StepKind kind, const analysis::Sums& sums) {
        if (sums.requests == 0) return;
        legend_entry(ui, at, legend, kind);
        at.y += small;
    };
    const analysis::Summary& summary = ui.state.session->summary;
    entry(view::StepKind::GlobalLoad, summary.global_load);
    entry(view::StepKind::SharedStore, summary.shared_store);
    entry(view::StepKind::SharedLoad, summary.shared_load);
    entry(view::StepKind::GlobalStore, summary.global_store);
    if (summary.barriers_per_block > 0) {
        legend_entry(ui, at, legend, view::StepKind::Barrier);
        at.y += small;
    }
    const float size = ui.px(11), top = at.y + (small - size) / 2;
    const Rect frame{{at.x, top}, {at.x + size, top + size}};
    ui.list.AddRect(frame.min, frame.max, ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
    line(ui, {at.x + size + ui.px(7), at.y}, legend - size - ui.px(7), Face::Text, Size::Small,
         Ink::TextQuiet, "tile of this phase");
    at.y += small;
    if (at.y + small <= rect.max.y) {
        const Rect box{{at.x, at.y + (small - size) / 2}, {at.x + size, at.y + (small + size) / 2}};
        ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
        hatch(ui, box, ui.ink(Ink::LineStrong), ui.px(4));
        line(ui, {at.x + size + ui.px(7), at.y}, legend - size - ui.px(7), Face::Text, Size::Small,
             Ink::TextQuiet, "inactive, outside");
        at.y += small;
    }
    const uint32_t loads = std::max(ui.state.session->most_loads[static_cast<size_t>(roles.m)],
                                    ui.state.session->most_loads[static_cast<size_t>(roles.n)]);
    if (at.y + small > rect.max.y + 1 || loads == 0) return;
    const auto input = [&](int array) -> const std::vector<uint32_t>& {
        return ui.state.session->loads[static_cast<size_t>(array)];
    };
    if (even(input(roles.m)) && even(input(roles.n))) {
        const bool same =
            input(roles.m).empty() || input(roles.n).empty() || input(roles.m)[0] == input(roles.n)[0];
        line(ui, at, legend, Face::Text, Size::Small, Ink::TextQuiet,
             same ? fmt::format("inputs loaded {}\u00d7", loads)
                  : fmt::format("M loaded {}\u00d7, N {}\u00d7", input(roles.m)[0], input(roles.n)[0]));
    } else {
        const float ramp = ui.px(44), y = at.y + (small - size) / 2;
        for (float x = 0; x < ramp; x += 1) {
            ui.list.AddRectFilled({at.x + x, y}, {at.x + x + 1, y + size}, ui.context.palette.hot(x / ramp));
        }
        line(ui, {at.x + ramp + ui.px(7), at.y}, legend - ramp, Face::Text, Size::Small, Ink::TextQuiet,
             fmt::format("up to {} loads", loads));
    }
}

}  // namespace tilescope::panels
