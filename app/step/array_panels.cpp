// The arrays of a launch. Of a product M left, N above, P in the corner, on one camera, the map of the whole
// in the free corner:
//
//     +-------+-------+
//     |  map  |   N   |
//     +-------+-------+
//     |   M   |   P   |
//     +-------+-------+
//
// Of any other launch what the kernel reads left and above, what it writes right and below:
//
//     +-------+-------+        +---------------+
//     |   a   |       |        |       a       |
//     +-------+   c   |   or   +---------------+      whichever leaves the cells larger
//     |   b   |       |        |       b       |
//     +-------+-------+        +---------------+
//     | legend        |        |       c       |
//     +---------------+        +---------------+
//                              | legend        |
//
// The legend says what stands for what; the map beside it shows where the screen looks, which tiles this
// phase uses, and how often each element of M and N was loaded by all recorded blocks.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

void one_map(Ui& ui, uint8_t array, ImVec2 corner, float pitch, const Port& port, float port_pitch) {
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
std::string even_loads(const Ui& ui, const analysis::Product& product, uint32_t most) {
    const auto &m = ui.session.totals->loads[product.M], &n = ui.session.totals->loads[product.N];
    for (const auto* loads : {&m, &n})
        if (std::ranges::adjacent_find(*loads, std::not_equal_to<>()) != loads->end()) return "";
    const auto name = [&](uint8_t array) { return name_in(ui.notation(), ui.trace().launch.arrays[array]); };
    if (m.empty() || n.empty() || m[0] == n[0]) return fmt::format("inputs loaded {}\u00d7", most);
    return fmt::format("{} loaded {}\u00d7, {} {}\u00d7", name(product.M), m[0], name(product.N), n[0]);
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
    const analysis::Product& product = *ui.index()->product;
    add("inactive, outside", [](Ui& to, const Rect& box) {
        to.list.AddRect(box.min, box.max, to.ink(Ink::LineStrong));
        hatch(to, box, to.ink(Ink::LineStrong), to.px(4));
    });
    if (summary.shared_store.requests > 0) {
        add("stale value", draw::stale_sign);
        if (product.m % product.tile + product.k % product.tile + product.n % product.tile > 0)
            add("zero fill", [](Ui& to, const Rect& box) {
                to.list.AddRectFilled(box.min, box.max, to.ink(Ink::Outside));
                zero_sign(to, box);
            });
    }
    if (!ui.session.totals) return list;
    const auto& loads = ui.session.totals->most_loads;
    const uint32_t most = std::max(loads[product.M], loads[product.N]);
    if (most == 0) return list;
    if (const std::string even = even_loads(ui, product, most); !even.empty()) {
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

// In lines as wide as the rectangle. Returns the height that it takes.
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
    const analysis::Product& product = *ui.index()->product;
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
        const auto rows = static_cast<float>(product.m), cols = static_cast<float>(product.n),
                   k = static_cast<float>(product.k);
        const float gap = ui.px(5), most = ui.px(150), title = line_high + ui.px(2);
        const float pitch = std::min(std::min(width - gap, most) / (k + cols),
                                     std::min(rect.height() - gap - title, most) / (k + rows));
        const ImVec2 corner{rect.min.x, rect.min.y + title},
            inner{corner.x + k * pitch + gap, corner.y + k * pitch + gap};
        if (pitch > 0) {
            small_text(ui, rect.min, width, Ink::TextQuiet, "overview");
            one_map(ui, product.N, {inner.x, corner.y}, pitch, n, port_pitch);
            one_map(ui, product.M, {corner.x, inner.y}, pitch, m, port_pitch);
            one_map(ui, product.P, inner, pitch, p, port_pitch);
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

// Logical pixels a cell: enough to read a value, and the most that a camera or a person chooses.
constexpr double kReadable = 16, kLargest = 64, kLargestOfProduct = 96, kMost = 128;

// The wheel zooms about the mouse, the right or middle button drags; row, col: of the view, where the box
// begins. Returns the rows and columns that were dragged by.
ImVec2 navigate(Ui& ui, const Rect& box, View& view, double& row, double& col) {
    if (!ui.over(box)) return {};
    const ImGuiIO& io = ImGui::GetIO();
    const double scale = ui.context.scale;
    if (io.MouseWheel != 0) {
        const double pitch = std::clamp(std::round(view.pitch * std::pow(1.2, io.MouseWheel)), 1.0, kMost);
        const double by = (1 / view.pitch - 1 / pitch) / scale;
        col += (io.MousePos.x - box.min.x) * by;
        row += (io.MousePos.y - box.min.y) * by;
        view.pitch = pitch;
        view.fit = false;
    }
    if (!ImGui::IsMouseDragging(1, 0) && !ImGui::IsMouseDragging(2, 0)) return {};
    const double dx = io.MouseDelta.x / scale / view.pitch, dy = io.MouseDelta.y / scale / view.pitch;
    col -= dx;
    row -= dy;
    view.fit = false;
    return {static_cast<float>(dx), static_cast<float>(dy)};
}

// One array and the rectangle of its cells.
struct Box {
    uint8_t array = 0;
    Rect rect;
};

// Rectangles one below the other, each with a line for its title.
void stack(Ui& ui, std::vector<Box>& boxes, const std::vector<uint8_t>& arrays, const Rect& rect) {
    const float n = static_cast<float>(arrays.size()), gap = ui.px(6), title = line_height(ui, Size::Body);
    const float each = (rect.height() - gap * (n - 1)) / std::max(n, 1.f);
    for (size_t i = 0; i < arrays.size(); ++i) {
        const float y = std::round(rect.min.y + (each + gap) * static_cast<float>(i));
        boxes.push_back({arrays[i], {{rect.min.x, y + title}, {rect.max.x, std::round(y + each)}}});
    }
}

Camera camera_of(const Ui& ui, const Box& box) {
    const float scale = ui.context.scale;
    return framed_array(ui.trace(), *ui.index(), ui.step(), box.array, box.rect.width() / scale,
                        box.rect.height() / scale, kReadable, kLargest);
}

std::vector<Box> boxes_of(Ui& ui, const Rect& in) {
    const auto& arrays = ui.trace().launch.arrays;
    std::vector<uint8_t> all;
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].space == Space::Global && arrays[i].elements() > 0)
            all.push_back(static_cast<uint8_t>(i));
    // Those that the kernel only reads, and then those that it writes.
    const auto written =
        std::ranges::stable_partition(all, [&](uint8_t i) { return !arrays[i].writes(); }).begin();
    std::vector<Box> stacked, beside;
    stack(ui, stacked, all, in);
    if (written == all.begin() || written == all.end()) return stacked;
    const float half = std::floor((in.width() - ui.px(12)) / 2);
    stack(ui, beside, {all.begin(), written}, {in.min, {in.min.x + half, in.max.y}});
    stack(ui, beside, {written, all.end()}, {{in.max.x - half, in.min.y}, in.max});
    const auto smallest = [&](const std::vector<Box>& boxes) {
        double pitch = kLargest;
        for (const Box& box : boxes) pitch = std::min(pitch, camera_of(ui, box).pitch);
        return pitch;
    };
    return smallest(beside) >= smallest(stacked) ? beside : stacked;
}

// Above the cells the array's name, its extents and what else is to say.
void titled_grid(Ui& ui, uint8_t array, const Port& port, float pitch, const char* also,
                 const look::Relations& selected) {
    const Array& shape = ui.trace().launch.arrays[array];
    heading(ui, {port.box.min.x, port.box.min.y - line_height(ui, Size::Body)}, port.box.width(),
            name_in(ui.notation(), shape), fmt::format("{}  {}", extents_text(shape, "\u00d7"), also));
    array_grid(ui, array, port, pitch, selected);
}

void product_panel(Ui& ui, const Rect& in, const look::Relations& selected) {
    const analysis::Product& product = *ui.index()->product;
    const float gap = ui.px(12), title = line_height(ui, Size::Body), scale = ui.context.scale;
    const float left = std::floor((in.width() - gap) * 0.5f);
    const float high = std::floor((in.height() - title * 2 - ui.px(6)) * 0.5f);
    const Rect corner{in.min, {in.min.x + left, in.min.y + title + high}};
    const Rect n{{in.min.x + left + gap, in.min.y + title}, {in.max.x, in.min.y + title + high}};
    const float low = n.max.y + ui.px(6);
    const Rect m{{in.min.x, low + title}, {in.min.x + left, in.max.y}};
    const Rect p{{n.min.x, low + title}, in.max};

    View& view = ui.state.view;
    if (view.fit) {
        const Viewports ports{m.width() / scale, n.height() / scale, m.height() / scale, n.width() / scale};
        static_cast<Camera&>(view) =
            framed(ui.trace(), *ui.index(), ui.step(), ports, kReadable, kLargestOfProduct);
    }
    view.n_k -= navigate(ui, m, view, view.row, view.m_k).x;
    view.m_k -= navigate(ui, n, view, view.n_k, view.col).y;
    navigate(ui, p, view, view.row, view.col);
    const auto pitch = static_cast<float>(view.pitch * scale);
    const auto part = [&](uint8_t array, const char* axes, const Port& port) {
        titled_grid(ui, array, port, pitch, axes, selected);
        return port;
    };
    const Port in_n = part(product.N, "k \u00d7 n", {n, view.n_k, view.col});
    const Port in_m = part(product.M, "m \u00d7 k", {m, view.row, view.m_k});
    const Port in_p = part(product.P, "m \u00d7 n", {p, view.row, view.col});
    matrix_map(ui, corner, in_m, in_n, in_p, pitch);
}

}  // namespace

void matrices_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    if (ui.index()->product) return product_panel(ui, in, selected);
    const auto& arrays = ui.trace().launch.arrays;
    in.max.y -= legend_lines(ui, in, false) + ui.px(6);
    legend_lines(ui, {{in.min.x, in.max.y + ui.px(6)}, {in.max.x, rect.max.y}}, true);
    const std::vector<Box> boxes = boxes_of(ui, in);
    if (boxes.empty())
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "The kernel has no array in global memory.");
    ui.state.arrays.resize(arrays.size());
    for (const Box& box : boxes) {
        View& view = ui.state.arrays[box.array];
        if (view.fit) static_cast<Camera&>(view) = camera_of(ui, box);
        navigate(ui, box.rect, view, view.row, view.col);
        titled_grid(ui, box.array, {box.rect, view.row, view.col},
                    static_cast<float>(view.pitch * ui.context.scale), c_name_of(arrays[box.array].type),
                    selected);
    }
}

void zoom(State& state, session::Session& session, double by) {
    // About the upper left corner plus half a tile: what is framed stays in sight.
    const double half =
        session.recording && session.recording->product ? session.recording->product->tile / 2.0 : 0;
    const auto closer = [&](View& view) {
        const double pitch = std::clamp(std::round(view.pitch * by), 1.0, kMost);
        const double keep = half * (1 - view.pitch / pitch);
        for (double* corner : {&view.row, &view.col, &view.m_k, &view.n_k}) *corner += keep;
        view.pitch = pitch;
        view.fit = false;
    };
    closer(state.view);
    std::ranges::for_each(state.arrays, closer);
}

void pan(State& state, int by) {
    const double cells = by * std::max(1.0, std::round(64 / std::max(state.view.pitch, 1.0)));
    for (double* corner : {&state.view.col, &state.view.m_k, &state.view.n_k}) *corner += cells;
    state.view.fit = false;
    for (View& array : state.arrays) array.col += cells, array.fit = false;
}

void frame_again(State& state) {
    state.view = {};
    state.arrays.clear();
}

}  // namespace tilescope::step
