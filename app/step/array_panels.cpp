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
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

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

// Global arrays that the kernel only reads, and those that it writes.
struct Sides {
    std::vector<uint8_t> read, written;
};
Sides sides_of(const std::vector<Array>& arrays) {
    Sides sides;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i].space != Space::Global || arrays[i].elements() == 0) continue;
        (arrays[i].writes() ? sides.written : sides.read).push_back(static_cast<uint8_t>(i));
    }
    return sides;
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

std::vector<Box> boxes_of(Ui& ui, const Rect& in, const Sides& sides) {
    std::vector<uint8_t> all = sides.read;
    all.insert(all.end(), sides.written.begin(), sides.written.end());
    std::vector<Box> stacked, beside;
    stack(ui, stacked, all, in);
    if (sides.read.empty() || sides.written.empty()) return stacked;
    const float half = std::floor((in.width() - ui.px(12)) / 2);
    stack(ui, beside, sides.read, {in.min, {in.min.x + half, in.max.y}});
    stack(ui, beside, sides.written, {{in.max.x - half, in.min.y}, in.max});
    const auto smallest = [&](const std::vector<Box>& boxes) {
        double pitch = kLargest;
        for (const Box& box : boxes) pitch = std::min(pitch, camera_of(ui, box).pitch);
        return pitch;
    };
    return smallest(beside) >= smallest(stacked) ? beside : stacked;
}

void product_panel(Ui& ui, const Rect& in, const look::Relations& selected) {
    const look::Roles& roles = ui.index()->roles;
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
    const auto part = [&](int role, const char* axes, const Port& port) {
        const Array& array = ui.trace().launch.arrays[static_cast<size_t>(role)];
        heading(ui, {port.box.min.x, port.box.min.y - title}, port.box.width(), name_in(ui.notation(), array),
                fmt::format("{}  {}", extents_text(array, "\u00d7"), axes));
        array_grid(ui, static_cast<uint8_t>(role), port, pitch, selected);
        return port;
    };
    const Port in_n = part(roles.n, "k \u00d7 n", {n, view.n_k, view.col});
    const Port in_m = part(roles.m, "m \u00d7 k", {m, view.row, view.m_k});
    const Port in_p = part(roles.p, "m \u00d7 n", {p, view.row, view.col});
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
    const std::vector<Box> boxes = boxes_of(ui, in, sides_of(arrays));
    if (boxes.empty())
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "The kernel has no array in global memory.");
    ui.state.arrays.resize(arrays.size());
    for (const Box& box : boxes) {
        const Array& array = arrays[box.array];
        View& view = ui.state.arrays[box.array];
        if (view.fit) static_cast<Camera&>(view) = camera_of(ui, box);
        navigate(ui, box.rect, view, view.row, view.col);
        heading(ui, {box.rect.min.x, box.rect.min.y - line_height(ui, Size::Body)}, box.rect.width(),
                array.name, fmt::format("{}  {}", extents_text(array, "\u00d7"), c_name_of(array.type)));
        array_grid(ui, box.array, {box.rect, view.row, view.col},
                   static_cast<float>(view.pitch * ui.context.scale), selected);
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
