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
// The map beside the legend (legend.cpp) shows where the screen looks, which tiles this phase uses, and how
// often each element of M and N was loaded by all recorded blocks.
//
// A cell shows its value if it is large enough, what this step and phase do to it, and the selection.
#include <algorithm>
#include <cmath>

#include "app/step/grids.h"
#include "core/base/text.h"

namespace tilescope::step {
namespace {

// One array and the rectangle of its cells.
struct ArrayBox {
    uint8_t array = 0;
    Rect rect;
};

// Rectangles one below the other, each with a line for its title.
void stack(Ui& ui, std::vector<ArrayBox>& boxes, const std::vector<uint8_t>& arrays, const Rect& rect) {
    const float n = static_cast<float>(arrays.size()), gap = ui.px(6), title = line_height(ui, Size::Body);
    const float each = (rect.height() - gap * (n - 1)) / std::max(n, 1.f);
    for (size_t i = 0; i < arrays.size(); ++i) {
        const float y = std::round(rect.min.y + (each + gap) * static_cast<float>(i));
        boxes.push_back({arrays[i], {{rect.min.x, y + title}, {rect.max.x, std::round(y + each)}}});
    }
}

Camera camera_of(const Ui& ui, const ArrayBox& box) {
    const float scale = ui.context.scale;
    return framed_array(ui.trace(), *ui.index(), ui.step(), box.array, box.rect.width() / scale,
                        box.rect.height() / scale);
}

std::vector<ArrayBox> boxes_of(Ui& ui, const Rect& in) {
    const auto& arrays = ui.trace().launch.arrays;
    std::vector<uint8_t> all;
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].space != Space::Shared && arrays[i].elements() > 0)
            all.push_back(static_cast<uint8_t>(i));
    // Those that the kernel only reads, and then those that it writes.
    const auto written =
        std::ranges::stable_partition(all, [&](uint8_t i) { return !arrays[i].writes(); }).begin();
    std::vector<ArrayBox> stacked, beside;
    stack(ui, stacked, all, in);
    if (written == all.begin() || written == all.end()) return stacked;
    const float half = std::floor((in.width() - ui.px(12)) / 2);
    stack(ui, beside, {all.begin(), written}, {in.min, {in.min.x + half, in.max.y}});
    stack(ui, beside, {written, all.end()}, {{in.max.x - half, in.min.y}, in.max});
    const auto smallest = [&](const std::vector<ArrayBox>& boxes) {
        double pitch = kMostPitch;
        for (const ArrayBox& box : boxes) pitch = std::min(pitch, camera_of(ui, box).pitch);
        return pitch;
    };
    return smallest(beside) >= smallest(stacked) ? beside : stacked;
}

}  // namespace

void matrices_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    if (ui.index()->product) return product_panel(ui, in);
    const auto& arrays = ui.trace().launch.arrays;
    in.max.y -= legend_lines(ui, in, false) + ui.px(6);
    legend_lines(ui, {{in.min.x, in.max.y + ui.px(6)}, {in.max.x, rect.max.y}}, true);
    const std::vector<ArrayBox> boxes = boxes_of(ui, in);
    if (boxes.empty())
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "The kernel has no array in global memory.");
    ui.state.arrays.resize(arrays.size());
    for (const ArrayBox& box : boxes) {
        ArrayView& view = ui.state.arrays[box.array];
        const Array& of = arrays[box.array];
        const std::string type =
            has_structs(of) ? one_line(of.members.of->name, kLongestName) : c_name_of(of.type);
        if (view.fit) static_cast<Camera&>(view) = camera_of(ui, box);
        navigate(ui, box.rect, view, view.row, view.col);
        array_title(ui, box.array, {box.rect.min.x, box.rect.min.y - line_height(ui, Size::Body)},
                    box.rect.width(), type.c_str());
        array_grid(ui, box.array, {box.rect, view.row, view.col},
                   static_cast<float>(view.pitch * ui.context.scale));
    }
}

}  // namespace tilescope::step
