
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

void map_cells(Ui& ui, uint64_t id, uint8_t array) {
    const uint64_t version = ui.session.totals ? 1 : 0;
    if (!ui.context.grids.stale(id, version)) return;
    const Array& shape = ui.trace().launch.arrays[array];
    const std::vector<uint32_t> loads =
        ui.session.totals ? ui.session.totals->loads[array] : std::vector<uint32_t>{};
    ui.context.grids.set_cells(id, version, shape.rows, shape.cols, draw::sheet_cells(shape, loads));
}

void one_map(Ui& ui, int array, ImVec2 at, float pitch, const MapView::Window& look) {
    const auto which = static_cast<uint8_t>(array);
    const Array& shape = ui.trace().launch.arrays[which];
    const ImVec2 end{at.x + static_cast<float>(shape.cols) * pitch,
                     at.y + static_cast<float>(shape.rows) * pitch};
    ui.list.AddRectFilled(at, end, ui.ink(Ink::Cell));
    draw::GridView grid{at.x, at.y, pitch, at, end};
    const bool large = large_array(shape.rows, shape.cols);
    const uint64_t id = grid_id(ui, draw::GridUse::Map, which);
    if (large)
        large_cells(ui, grid_id(ui, draw::GridUse::MapGround, which),
                    grid_id(ui, draw::GridUse::MapPart, which), which, grid, true);
    else
        map_cells(ui, id, which);
    std::vector<draw::GridMark> marks;
    const draw::CellRect tile =
        look::tile_of_phase(ui.trace(), *ui.index(), which, ui.index()->phase_at(ui.step()));
    if (!large) ui.context.grids.draw(ui.list, id, grid, ui.context.palette, ui.context.scale, marks);
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
    if (b.x - a.x < end.x - at.x - 1 || b.y - a.y < end.y - at.y - 1)
        ui.list.AddRect(a, b, draw::with_alpha(ui.ink(Ink::Text), 0.55f), 0.f, 0, 1.f);
}

bool even(const std::vector<uint32_t>& loads) {
    return std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) == loads.end();
}

struct Entry {
    std::function<void(const Rect&)> mark;  // in a square; none: words alone
    std::string words;
    float wide = 0;  // of the mark, where it is no square
};

// What stands for what, the most wanted first: a low corner leaves out the last.
std::vector<Entry> entries(Ui& ui, const look::Roles& roles) {
    std::vector<Entry> list;
    const analysis::Summary& summary = ui.session.summary();
    const auto kind = [&](draw::StepKind of, uint64_t requests) {
        if (requests > 0) list.push_back({[&ui, of](const Rect& box) { sign(ui, box, of); }, words_of(of)});
    };
    kind(draw::StepKind::GlobalLoad, summary.global_load.requests);
    kind(draw::StepKind::SharedStore, summary.shared_store.requests);
    kind(draw::StepKind::SharedLoad, summary.shared_load.requests);
    kind(draw::StepKind::GlobalStore, summary.global_store.requests);
    if (summary.barriers_per_block > 0 && session::by_clock(ui.session))  // a wait as long as it was
        list.push_back({[&ui](const Rect& box) { wait_bar(ui, box); }, words_of(draw::StepKind::Barrier)});
    else
        kind(draw::StepKind::Barrier, summary.barriers_per_block);
    list.push_back(
        {[&ui](const Rect& box) { ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), 0.f, 0, ui.px(2)); },
         ui.index()->product ? "tile of this phase" : "touched in this phase"});
    if (!ui.index()->product) return list;
    list.push_back({[&ui](const Rect& box) {
                        ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
                        hatch(ui, box, ui.ink(Ink::LineStrong), ui.px(4));
                    },
                    "inactive, outside"});
    const analysis::Product& product = *ui.index()->product;
    if (summary.shared_store.requests > 0) {
        list.push_back({[&ui](const Rect& box) { stale_sign(ui, box); }, "stale value"});
        if (product.m % product.tile + product.k % product.tile + product.n % product.tile > 0)
            list.push_back({[&ui](const Rect& box) {
                                ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Outside));
                                zero_sign(ui, box);
                            },
                            "zero fill"});
    }
    if (!ui.session.totals) return list;
    const auto input = [&](int array) -> const std::vector<uint32_t>& {
        return ui.session.totals->loads[static_cast<size_t>(array)];
    };
    const uint32_t loads = std::max(ui.session.totals->most_loads[static_cast<size_t>(roles.m)],
                                    ui.session.totals->most_loads[static_cast<size_t>(roles.n)]);
    if (loads == 0) return list;
    if (even(input(roles.m)) && even(input(roles.n))) {
        const bool same =
            input(roles.m).empty() || input(roles.n).empty() || input(roles.m)[0] == input(roles.n)[0];
        list.push_back({nullptr, same ? fmt::format("inputs loaded {}\u00d7", loads)
                                      : fmt::format("M loaded {}\u00d7, N {}\u00d7", input(roles.m)[0],
                                                    input(roles.n)[0])});
        return list;
    }
    list.push_back(
        {[&ui](const Rect& box) {
             for (float x = box.min.x; x < box.max.x; x += 1) {
                 const float t = (x - box.min.x) / box.width();
                 ui.list.AddRectFilled({x, box.min.y}, {x + 1, box.max.y}, ui.context.palette.hot(t));
             }
         },
         fmt::format("up to {} loads", loads), ui.px(44)});
    return list;
}

float entry_width(Ui& ui, const Entry& entry) {
    const float mark = !entry.mark ? 0 : (entry.wide > 0 ? entry.wide : ui.px(11)) + ui.px(7);
    return mark + draw::text_size(ui.font(Face::Text, Size::Small), entry.words).x;
}

void show(Ui& ui, const Entry& entry, ImVec2 at, float width) {
    const float size = ui.px(11), small = line_height(ui, Size::Small);
    float used = 0;
    if (entry.mark) {
        const float top = std::round(at.y + (small - size) / 2), wide = entry.wide > 0 ? entry.wide : size;
        entry.mark({{at.x, top}, {at.x + wide, top + size}});
        used = wide + ui.px(7);
    }
    line(ui, {at.x + used, at.y}, width - used, Face::Text, Size::Small, Ink::TextQuiet, entry.words);
}

}  // namespace

bool large_array(uint32_t rows, uint32_t cols) {
    return rows > 8192 || cols > 8192 || uint64_t{rows} * cols > (16ull << 20);
}

void large_cells(Ui& ui, uint64_t ground_id, uint64_t part_id, uint8_t array, const draw::GridView& grid,
                 bool heat) {
    const Array& shape = ui.trace().launch.arrays[array];
    const draw::Sheet sheet(shape);
    const std::vector<draw::GridMark> ground{
        draw::fill_mark({0, sheet.rows, 0, sheet.cols}, ui.ink(Ink::Cell))};
    ui.context.grids.draw(ui.list, ground_id, grid, ui.context.palette, ui.context.scale, ground);
    if (!ui.session.totals) return;
    const session::LoadsWindow& part = ui.session.totals->windows[array];
    if (part.loads.empty()) return;
    const uint32_t rows = part.box.rows(), cols = part.box.cols();
    if (rows > 16384 || cols > 16384) return;
    const uint64_t version = heat ? 1 : 0;
    if (ui.context.grids.stale(part_id, version)) {
        std::vector<draw::Cell> cells(part.loads.size(), draw::cell(Ink::Cell));
        if (heat) draw::heat_cells(cells, part.loads, part.most);
        ui.context.grids.set_cells(part_id, version, rows, cols, cells);
    }
    draw::GridView view = grid;
    view.x += static_cast<float>(part.box.col0) * grid.pitch;
    view.y += static_cast<float>(part.box.row0) * grid.pitch;
    ui.context.grids.draw(ui.list, part_id, view, ui.context.palette, ui.context.scale);
}

float legend_lines(Ui& ui, const Rect& rect, bool drawn) {
    const float small = line_height(ui, Size::Small);
    ImVec2 at = rect.min;
    for (const Entry& entry : entries(ui, ui.index()->roles)) {
        const float width = entry_width(ui, entry);
        if (at.x > rect.min.x && at.x + width > rect.max.x) at = {rect.min.x, at.y + small};
        if (drawn) show(ui, entry, at, width + 1);
        at.x += width + ui.px(16);
    }
    return at.y + small - rect.min.y;
}

void matrix_map(Ui& ui, const Rect& rect, const MapView& looks) {
    const look::Roles& roles = ui.index()->roles;
    const analysis::Product& product = *ui.index()->product;
    const float line_high = line_height(ui, Size::Small);
    const std::vector<Entry> list = entries(ui, roles);
    float widest = 0;
    for (const Entry& entry : list) widest = std::max(widest, entry_width(ui, entry));
    widest = std::round(widest) + ui.px(2);
    // Where a column of them all would be too high: closer, then two columns in the map's place.
    const auto count = static_cast<float>(list.size());
    const float closest = std::round(line_high * 0.88f),
                small = std::clamp(rect.height() / count, closest, line_high);
    const bool one = small * count <= rect.height() + 1 || rect.width() < widest * 2 + ui.px(16);
    const float legend = one ? std::min(widest, rect.width()) : rect.width();
    const Rect area{rect.min, {rect.max.x - legend - ui.px(16), rect.max.y}};
    // A narrow corner has room for the legend alone.
    if (one && area.width() >= ui.px(60)) {
        const float gap = ui.px(5);
        const float wide = static_cast<float>(product.k) + static_cast<float>(product.n);
        const float tall = static_cast<float>(product.k) + static_cast<float>(product.m);
        const float most = ui.px(150);
        const float pitch = std::min(std::min(area.width() - gap, most) / wide,
                                     std::min(area.height() - gap - line_high - ui.px(2), most) / tall);
        const float km = static_cast<float>(product.k) * pitch;
        const ImVec2 at{area.min.x, area.min.y + line_high + ui.px(2)};
        if (pitch > 0) {
            line(ui, area.min, area.width(), Face::Text, Size::Small, Ink::TextQuiet, "overview");
            one_map(ui, roles.n, {at.x + km + gap, at.y}, pitch, looks.n);
            one_map(ui, roles.m, {at.x, at.y + km + gap}, pitch, looks.m);
            one_map(ui, roles.p, {at.x + km + gap, at.y + km + gap}, pitch, looks.p);
        }
    }
    const auto rows = static_cast<size_t>(std::max(1.f, std::floor((rect.height() + 1) / small)));
    const float column = one ? legend : std::round((rect.width() + ui.px(16)) / 2);
    for (size_t i = 0; i < list.size(); ++i) {
        const size_t at = i % rows, side = i / rows;
        if (side > (one ? 0u : 1u)) break;
        show(ui, list[i],
             {rect.max.x - legend + column * static_cast<float>(side),
              rect.min.y + small * static_cast<float>(at)},
             one ? legend : column - ui.px(16));
    }
}

}  // namespace tilescope::step
