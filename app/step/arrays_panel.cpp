// The arrays of a launch that is no product: what the kernel reads left and above, what it writes right and
// below.
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

#include "app/draw/sheet.h"
#include "app/input/panels.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

constexpr double kReadable = 16, kLargest = 64;  // logical pixels a cell

// One array and the rectangle of its cells.
struct Box {
    uint8_t array = 0;
    Rect rect;
};

struct Sides {
    std::vector<uint8_t> read, written;
    size_t count() const { return read.size() + written.size(); }
};

Sides sides_of(const std::vector<Array>& arrays) {
    Sides sides;
    for (size_t at = 0; at < arrays.size(); ++at) {
        if (arrays[at].space != Space::Global || arrays[at].elements() == 0) continue;
        (arrays[at].writes() ? sides.written : sides.read).push_back(static_cast<uint8_t>(at));
    }
    return sides;
}

// Rectangles one below the other, each with a line for its title.
void stack(std::vector<Box>& boxes, const std::vector<uint8_t>& arrays, const Rect& rect, float title,
           float gap) {
    const auto n = static_cast<float>(arrays.size());
    const float each = (rect.height() - gap * (n - 1)) / std::max(n, 1.f);
    for (size_t i = 0; i < arrays.size(); ++i) {
        const float y = std::round(rect.min.y + (each + gap) * static_cast<float>(i));
        boxes.push_back({arrays[i], {{rect.min.x, y + title}, {rect.max.x, std::round(y + each)}}});
    }
}

// The part of an array that is looked at where all of it is too large: what the block touches in the phase,
// else at all.
CellRect part_of(const Ui& ui, uint8_t array) {
    const look::BlockIndex& index = *ui.index();
    const CellRect phase = look::tile_of_phase(ui.trace(), index, array, index.phase_at(ui.step()));
    return phase.empty() ? index.touched[array] : phase;
}

SheetCamera camera_of(const Ui& ui, const Box& box) {
    MatrixView sheet;
    const draw::Sheet whole(ui.trace().launch.arrays[box.array]);
    sheet.rows = whole.rows, sheet.cols = whole.cols;
    const double scale = ui.context.scale;
    return framed_sheet(sheet, part_of(ui, box.array), static_cast<float>(box.rect.width() / scale),
                        static_cast<float>(box.rect.height() / scale), kReadable, kLargest);
}

double smallest_pitch(const Ui& ui, const std::vector<Box>& boxes) {
    double smallest = kLargest;
    for (const Box& box : boxes) smallest = std::min(smallest, camera_of(ui, box).pitch);
    return smallest;
}

std::vector<Box> lay_out(Ui& ui, const Rect& in, const Sides& sides) {
    const float title = line_height(ui, Size::Body), gap = ui.px(6), between = ui.px(12);
    std::vector<uint8_t> all = sides.read;
    all.insert(all.end(), sides.written.begin(), sides.written.end());
    std::vector<Box> stacked, beside;
    stack(stacked, all, in, title, gap);
    if (sides.read.empty() || sides.written.empty()) return stacked;
    const float half = std::floor((in.width() - between) / 2);
    stack(beside, sides.read, {in.min, {in.min.x + half, in.max.y}}, title, gap);
    stack(beside, sides.written, {{in.max.x - half, in.min.y}, in.max}, title, gap);
    return smallest_pitch(ui, beside) >= smallest_pitch(ui, stacked) ? beside : stacked;
}

// The wheel zooms about the mouse, the right or middle button drags.
void navigate(Ui& ui, const Rect& rect, View& view) {
    if (!ui.over(rect)) return;
    const ImGuiIO& io = ImGui::GetIO();
    const double scale = ui.context.scale;
    if (io.MouseWheel != 0) {
        const double x = (io.MousePos.x - rect.min.x) / scale, y = (io.MousePos.y - rect.min.y) / scale;
        const double now = std::clamp(std::round(view.pitch * std::pow(1.2, io.MouseWheel)), 1.0, 128.0);
        view.col += x / view.pitch - x / now;
        view.row += y / view.pitch - y / now;
        view.pitch = now;
        view.fit = false;
    }
    if (ImGui::IsMouseDragging(1, 0) || ImGui::IsMouseDragging(2, 0)) {
        view.col -= io.MouseDelta.x / scale / view.pitch;
        view.row -= io.MouseDelta.y / scale / view.pitch;
        view.fit = false;
    }
}

}  // namespace

void arrays_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    const auto& arrays = ui.trace().launch.arrays;
    in.max.y -= legend_lines(ui, in, false) + ui.px(6);
    legend_lines(ui, {{in.min.x, in.max.y + ui.px(6)}, {in.max.x, rect.max.y}}, true);
    const Sides sides = sides_of(arrays);
    if (sides.count() == 0) {
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "The kernel has no array in global memory.");
        return;
    }
    ui.state.arrays.resize(arrays.size());
    const float title = line_height(ui, Size::Body);
    for (const Box& box : lay_out(ui, in, sides)) {
        const Array& array = arrays[box.array];
        View& view = ui.state.arrays[box.array];
        if (view.fit) {
            const SheetCamera camera = camera_of(ui, box);
            view.row = camera.row, view.col = camera.col, view.pitch = camera.pitch;
        }
        navigate(ui, box.rect, view);
        const float y = box.rect.min.y - title, width = box.rect.width();
        const float used =
            line(ui, {box.rect.min.x, y}, width, Face::Strong, Size::Body, Ink::Text, array.name) + ui.px(8);
        line(ui, {box.rect.min.x + used, y + ui.px(3)}, width - used, Face::Mono, Size::Small, Ink::TextQuiet,
             fmt::format("{}  {}", extents_text(array, "\u00d7"), c_name_of(array.type)));
        ui.list.AddRectFilled(box.rect.min, box.rect.max, draw::with_alpha(ui.ink(Ink::Ground), 0.6f));
        array_grid(ui, box.array, {box.rect, view.row, view.col},
                   static_cast<float>(view.pitch * ui.context.scale), selected);
    }
}

}  // namespace tilescope::step
