// The legend, what stands for what; and the whole of M, N and P as a small map beside it: where the screen
// looks, which tiles this phase uses, and how often each element of M and N was loaded by all recorded
// blocks.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

void one_map(Ui& ui, int role, ImVec2 corner, float pitch, const Port& port, float port_pitch) {
    const auto array = static_cast<uint8_t>(role);
    const Array& shape = ui.trace().launch.arrays[array];
    const auto rows = static_cast<float>(shape.rows), cols = static_cast<float>(shape.cols);
    const ImVec2 end{corner.x + cols * pitch, corner.y + rows * pitch};
    ui.list.AddRectFilled(corner, end, ui.ink(Ink::Cell));
    const draw::GridView grid{corner.x, corner.y, pitch, corner, end};
    array_cells(ui, array, grid, true, true, {});
    ui.list.AddRect(corner, end, ui.ink(Ink::LineStrong));
    const CellRect tile =
        look::tile_of_phase(ui.trace(), *ui.index(), array, ui.index()->phase_at(ui.step()));
    if (!tile.empty()) {
        const ImVec2 a = draw::corner_of(grid, tile.row0, tile.col0);
        ImVec2 b = draw::corner_of(grid, tile.row1, tile.col1);
        b = {std::max(b.x, a.x + 2), std::max(b.y, a.y + 2)};
        ui.list.AddRectFilled(a, b, draw::with_alpha(ui.ink(Ink::Panel), 0.35f));
        ui.list.AddRect(a, b, ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
    }
    // What the screen shows of it, where that is not all.
    const ImVec2 a = draw::corner_of(grid, std::max(port.row, 0.0), std::max(port.col, 0.0));
    const ImVec2 b = draw::corner_of(grid, std::min<double>(port.row + port.box.height() / port_pitch, rows),
                                     std::min<double>(port.col + port.box.width() / port_pitch, cols));
    if (b.x - a.x < end.x - corner.x - 1 || b.y - a.y < end.y - corner.y - 1)
        ui.list.AddRect(a, b, draw::with_alpha(ui.ink(Ink::Text), 0.55f), 0.f, 0, 1.f);
}

struct Entry {
    std::string words;
    std::function<void(const Rect&)> mark;  // in a square; none: words alone
    float wide = 0;                         // of the mark, where it is no square
};

// "inputs loaded 16×", or each where they differ; "" where elements of an input do.
std::string even_loads(const Ui& ui) {
    const look::Roles& roles = ui.index()->roles;
    const auto loads = [&](int role) -> const std::vector<uint32_t>& {
        return ui.session.totals->loads[static_cast<size_t>(role)];
    };
    for (const int role : {roles.m, roles.n})
        if (std::ranges::adjacent_find(loads(role), std::not_equal_to<>()) != loads(role).end()) return "";
    const auto name = [&](int role) {
        return name_in(ui.notation(), ui.trace().launch.arrays[static_cast<size_t>(role)]);
    };
    const auto &m = loads(roles.m), &n = loads(roles.n);
    if (m.empty() || n.empty() || m[0] == n[0])
        return fmt::format("inputs loaded {}\u00d7",
                           std::max(ui.session.totals->most_loads[static_cast<size_t>(roles.m)],
                                    ui.session.totals->most_loads[static_cast<size_t>(roles.n)]));
    return fmt::format("{} loaded {}\u00d7, {} {}\u00d7", name(roles.m), m[0], name(roles.n), n[0]);
}

// The most wanted first: a low corner leaves out the last.
std::vector<Entry> entries(Ui& ui) {
    std::vector<Entry> list;
    const auto add = [&](std::string words, auto mark) {
        list.push_back({std::move(words), [&ui, mark](const Rect& box) { mark(ui, box); }});
    };
    const analysis::Summary& summary = ui.session.summary();
    const auto kind = [&](StepKind of, uint64_t requests) {
        if (requests > 0) add(words_of(of), [of](Ui& to, const Rect& box) { sign(to, box, of); });
    };
    kind(StepKind::GlobalLoad, summary.global_load.requests);
    kind(StepKind::SharedStore, summary.shared_store.requests);
    kind(StepKind::SharedLoad, summary.shared_load.requests);
    kind(StepKind::GlobalStore, summary.global_store.requests);
    if (summary.barriers_per_block > 0 && session::by_clock(ui.session))  // a wait as long as it was
        add(words_of(StepKind::Barrier), draw::wait_bar);
    else
        kind(StepKind::Barrier, summary.barriers_per_block);
    add(ui.index()->product            ? "tile of this phase"
        : ui.index()->spans.size() > 1 ? "touched in this phase"
                                       : "touched by this block",
        [](Ui& to, const Rect& box) {
            to.list.AddRect(box.min, box.max, to.ink(Ink::Accent), 0.f, 0, to.px(2));
        });
    if (!ui.index()->product) return list;
    add("inactive, outside", [](Ui& to, const Rect& box) {
        to.list.AddRect(box.min, box.max, to.ink(Ink::LineStrong));
        hatch(to, box, to.ink(Ink::LineStrong), to.px(4));
    });
    if (summary.shared_store.requests > 0) {
        add("stale value", draw::stale_sign);
        const analysis::Product& product = *ui.index()->product;
        if (product.m % product.tile + product.k % product.tile + product.n % product.tile > 0)
            add("zero fill", [](Ui& to, const Rect& box) {
                to.list.AddRectFilled(box.min, box.max, to.ink(Ink::Outside));
                zero_sign(to, box);
            });
    }
    if (!ui.session.totals) return list;
    const uint32_t most = std::max(ui.session.totals->most_loads[static_cast<size_t>(ui.index()->roles.m)],
                                   ui.session.totals->most_loads[static_cast<size_t>(ui.index()->roles.n)]);
    if (most == 0) return list;
    if (const std::string even = even_loads(ui); !even.empty()) {
        list.push_back({even, nullptr});
        return list;
    }
    add(fmt::format("up to {} loads", most), [](Ui& to, const Rect& box) {
        for (float x = box.min.x; x < box.max.x; x += 1)
            to.list.AddRectFilled({x, box.min.y}, {x + 1, box.max.y},
                                  to.context.palette.hot((x - box.min.x) / box.width()));
    });
    list.back().wide = ui.px(44);
    return list;
}

float mark_width(Ui& ui, const Entry& entry) {
    if (!entry.mark) return 0;
    return (entry.wide > 0 ? entry.wide : ui.px(11)) + ui.px(7);
}

float entry_width(Ui& ui, const Entry& entry) {
    return mark_width(ui, entry) + draw::text_size(ui.font(Face::Text, Size::Small), entry.words).x;
}

void show(Ui& ui, const Entry& entry, ImVec2 corner, float width) {
    const float size = ui.px(11), top = std::round(corner.y + (line_height(ui, Size::Small) - size) / 2);
    const float used = mark_width(ui, entry);
    if (entry.mark) entry.mark({{corner.x, top}, {corner.x + used - ui.px(7), top + size}});
    small_text(ui, {corner.x + used, corner.y}, width - used, Ink::TextQuiet, entry.words);
}

}  // namespace

float legend_lines(Ui& ui, const Rect& rect, bool drawn) {
    const float small = line_height(ui, Size::Small);
    ImVec2 corner = rect.min;
    for (const Entry& entry : entries(ui)) {
        const float width = entry_width(ui, entry);
        if (corner.x > rect.min.x && corner.x + width > rect.max.x) corner = {rect.min.x, corner.y + small};
        if (drawn) show(ui, entry, corner, width + 1);
        corner.x += width + ui.px(16);
    }
    return corner.y + small - rect.min.y;
}

void matrix_map(Ui& ui, const Rect& rect, const Port& m, const Port& n, const Port& p, float port_pitch) {
    const look::Roles& roles = ui.index()->roles;
    const float line_high = line_height(ui, Size::Small);
    const std::vector<Entry> list = entries(ui);
    float widest = 0;
    for (const Entry& entry : list) widest = std::max(widest, entry_width(ui, entry));
    widest = std::round(widest) + ui.px(2);
    // Where a column of them all would be too high: closer, then two columns in the map's place.
    const auto count = static_cast<float>(list.size());
    const float closest = std::round(line_high * 0.88f),
                small = std::clamp(rect.height() / count, closest, line_high);
    const bool one = small * count <= rect.height() + 1 || rect.width() < widest * 2 + ui.px(16);
    const float legend = one ? std::min(widest, rect.width()) : rect.width();
    // A narrow corner has room for the legend alone.
    if (const float width = rect.width() - legend - ui.px(16); one && width >= ui.px(60)) {
        const analysis::Product& product = *ui.index()->product;
        const auto rows = static_cast<float>(product.m), cols = static_cast<float>(product.n),
                   k = static_cast<float>(product.k);
        const float gap = ui.px(5), most = ui.px(150), title = line_high + ui.px(2);
        const float pitch = std::min(std::min(width - gap, most) / (k + cols),
                                     std::min(rect.height() - gap - title, most) / (k + rows));
        const ImVec2 corner{rect.min.x, rect.min.y + title},
            inner{corner.x + k * pitch + gap, corner.y + k * pitch + gap};
        if (pitch > 0) {
            small_text(ui, rect.min, width, Ink::TextQuiet, "overview");
            one_map(ui, roles.n, {inner.x, corner.y}, pitch, n, port_pitch);
            one_map(ui, roles.m, {corner.x, inner.y}, pitch, m, port_pitch);
            one_map(ui, roles.p, inner, pitch, p, port_pitch);
        }
    }
    const auto rows = static_cast<size_t>(std::max(1.f, std::floor((rect.height() + 1) / small)));
    const float column = one ? legend : std::round((rect.width() + ui.px(16)) / 2);
    for (size_t i = 0; i < std::min(list.size(), rows * (one ? 1 : 2)); ++i)
        show(ui, list[i],
             {rect.max.x - legend + column * static_cast<float>(i / rows),
              rect.min.y + small * static_cast<float>(i % rows)},
             one ? legend : column - ui.px(16));
}

}  // namespace tilescope::step
