// The arrays of a launch that is no product: what the kernel reads left and above, what it writes right and below.
// Arrays of the same extents have cells of one size.
//
//     +-------+-------+        +---------------+
//     |   a   |       |        |       a       |
//     +-------+   c   |   or   +---------------+      whichever leaves the cells larger
//     |   b   |       |        |       b       |
//     +-------+-------+        +---------------+
//     | maps, legend  |        |       c       |
//     +---------------+        +---------------+
//                              | maps, legend  |
//
// Of three dimensions the slice in work is shown, and all of them small below it; an array that is not all in
// sight has a small map at the foot of the panel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/step/grids.h"
#include "app/step/zoom.h"
#include "core/base/text.h"

namespace tilescope::step {
namespace {

// Rectangles one below the other, each with a line for its title and a ruler.
void stack(Ui& ui, std::vector<ArrayBox>& boxes, const std::vector<uint8_t>& arrays, const Rect& rect) {
    const float n = static_cast<float>(arrays.size()), gap = ui.px(6),
                title = line_height(ui, Size::Body) + ruler_height(ui) + ui.px(2);
    const float each = (rect.height() - gap * (n - 1)) / std::max(n, 1.f);
    for (size_t i = 0; i < arrays.size(); ++i) {
        const Array& of = ui.trace().launch.arrays[arrays[i]];
        const float y = std::round(rect.min.y + (each + gap) * static_cast<float>(i));
        const float rows = static_cast<float>(of.rank == 3 ? of.rows : draw::Sheet(of).rows);
        const float left = rect.min.x + ruler_width(ui, static_cast<uint32_t>(rows));
        ArrayBox box{arrays[i], {{left, y + title}, {rect.max.x, std::round(y + each)}}};
        if (of.rank == 3 && of.slices > 1 && ui.state.arrays[box.array].fit) {
            box.z = slice_in_work(ui.trace(), *ui.index(), box.array, ui.step());
            box.slice = slice_on_sheet(of, box.z);
            const float thumb = std::clamp(box.rect.height() * 0.2f, ui.px(18), ui.px(48));
            box.strip = box.rect;
            box.strip.min.y = box.rect.max.y - thumb - line_height(ui, Size::Small);
            box.rect.max.y = box.strip.min.y - ui.px(6);
        }
        boxes.push_back(box);
    }
}

Camera camera_of(const Ui& ui, const ArrayBox& box, double most = kMostArrayPitch) {
    const float scale = ui.context.scale;
    return framed_array(ui.trace(), *ui.index(), ui.step(), box.array, box.rect.width() / scale,
                        box.rect.height() / scale, most, box.slice);
}

// The cameras of arrays that the screen frames itself: of one size where the arrays are.
std::vector<Camera> cameras_of(Ui& ui, const std::vector<ArrayBox>& boxes) {
    std::vector<Camera> all;
    for (const ArrayBox& box : boxes) all.push_back(camera_of(ui, box));
    const auto extents = [&](const ArrayBox& box) {
        const Array& of = ui.trace().launch.arrays[box.array];
        return std::tuple(of.rank, of.slices, of.rows, of.cols);
    };
    for (size_t i = 0; i < boxes.size(); ++i) {
        double most = all[i].pitch;
        for (size_t j = 0; j < boxes.size(); ++j)
            if (extents(boxes[i]) == extents(boxes[j])) most = std::min(most, camera_of(ui, boxes[j]).pitch);
        if (most < all[i].pitch) all[i] = camera_of(ui, boxes[i], most);
    }
    return all;
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

// Both, made anew when something changes that they depend on.
const ArraysLaidOut& laid_out_arrays(Ui& ui, const Rect& in) {
    ArraysLaidOut& made = ui.state.arrays_laid_out;
    const ImVec4 room{in.min.x, in.min.y, in.max.x, in.max.y};
    std::vector<bool> fit;
    for (const ArrayView& view : ui.state.arrays) fit.push_back(view.fit);
    const bool same = made.of == ui.session.block && made.step == ui.step() && made.room.x == room.x &&
                      made.room.y == room.y && made.room.z == room.z && made.room.w == room.w &&
                      made.scale == ui.context.scale && made.fit == fit;
    if (same) return made;
    made = {ui.session.block, ui.step(), room, ui.context.scale, std::move(fit), boxes_of(ui, in), {}};
    made.cameras = cameras_of(ui, made.boxes);
    return made;
}

// All slices small, below each its number; as many as have room, those about the one in work.
void slice_strip(Ui& ui, const ArrayBox& box) {
    const Array& of = ui.trace().launch.arrays[box.array];
    const float small = line_height(ui, Size::Small), high = box.strip.height() - small, gap = ui.px(8);
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const float named = draw::text_size(font, "z =").x + ui.px(6);
    const float number = draw::text_size(font, std::to_string(of.slices - 1)).x;
    const float room = box.strip.width() - named;
    const float pitch = std::min(
        high / static_cast<float>(std::max(of.rows, 1u)),
        std::max(room / static_cast<float>(of.slices) - gap, ui.px(16)) / static_cast<float>(of.cols));
    const float each = std::max(pitch * static_cast<float>(of.cols), number) + gap;
    const auto most = static_cast<uint32_t>(std::max(1.f, (room + gap) / each));
    const uint32_t first =
        of.slices <= most ? 0 : std::min(box.z - std::min(box.z, most / 2), of.slices - most);
    const float bottom = box.strip.max.y - small;
    note(ui, {box.strip.min.x, bottom + ui.px(1)}, named, "z =");
    for (uint32_t z = first; z < std::min(of.slices, first + most); ++z) {
        const ImVec2 min{std::round(box.strip.min.x + named + each * static_cast<float>(z - first)),
                         std::round(bottom - pitch * static_cast<float>(of.rows))};
        const ImVec2 max{min.x + pitch * static_cast<float>(of.cols), bottom};
        const CellRect at = slice_on_sheet(of, z);
        const draw::GridView grid{min.x - static_cast<float>(at.col0) * pitch,
                                  min.y - static_cast<float>(at.row0) * pitch, pitch, min, max};
        array_cells(ui, box.array, grid, true, {});
        const bool here = z == box.z;
        ui.list.AddRect(min, max, ui.ink(here ? Ink::Accent : Ink::LineStrong), 0.f, 0,
                        here ? ui.px(2) : 1.f);
        line(ui, {(min.x + max.x) / 2, bottom + ui.px(1)}, each, here ? Face::Strong : Face::Text,
             Size::Small, here ? Ink::Text : Ink::TextQuiet, std::to_string(z), Align::Center);
    }
}

// Arrays of which the screen shows a part, as small maps below their names; returns the width that they take.
// A bar of what is wrapped, as of one dimension: a sheet of a million elements is a hair.
float small_maps(Ui& ui, const Rect& rect, const std::vector<ArrayBox>& boxes) {
    const float small = line_height(ui, Size::Small), high = rect.height() - small - ui.px(2);
    float x = rect.min.x;
    for (const ArrayBox& box : boxes) {
        const Array& of = ui.trace().launch.arrays[box.array];
        const draw::Sheet sheet(of);
        const bool bar = sheet.wrapped;
        ArrayView& view = ui.state.arrays[box.array];
        const auto pitch = static_cast<float>(view.pitch * ui.context.scale);
        const bool whole = static_cast<float>(sheet.rows) * pitch <= box.rect.height() + 1 &&
                           static_cast<float>(sheet.cols) * pitch <= box.rect.width() + 1;
        if (whole || of.rank == 3 || high < ui.px(16)) continue;
        const std::string name = name_in(ui.notation(), of);
        const float least = draw::text_size(ui.font(Face::Text, Size::Small), name).x;
        float wide = ui.px(96);
        if (!bar)
            wide = std::min(wide, high * static_cast<float>(sheet.cols) / static_cast<float>(sheet.rows));
        const float each = std::max({wide, least, ui.px(24)});
        if (x + each > rect.max.x) break;
        note(ui, {x, rect.min.y}, each + 1, name);
        const ImVec2 corner{x, rect.min.y + small + ui.px(2)};
        if (!bar) {
            one_map(ui, box.array, corner, wide / static_cast<float>(sheet.cols),
                    {box.rect, view.row, view.col}, pitch);
        } else {
            const ImVec2 end{corner.x + wide, corner.y + ui.px(12)};
            ui.list.AddRectFilled(corner, end, ui.ink(Ink::Cell));
            ui.list.AddRect(corner, end, ui.ink(Ink::LineStrong));
            const auto at = [&](double row) {
                return corner.x +
                       wide * static_cast<float>(std::clamp(row / std::max(sheet.rows, 1u), 0.0, 1.0));
            };
            const float from = at(view.row),
                        to = std::max(at(view.row + double{1} * box.rect.height() / pitch), from + ui.px(7));
            ui.list.AddRect({from, corner.y - ui.px(1)}, {std::min(to, end.x + ui.px(1)), end.y + ui.px(1)},
                            ui.ink(Ink::Accent), 0.f, 0, ui.px(2));
        }
        // A click or a drag moves the screen there; of a bar along its rows alone.
        const float of_map = wide / static_cast<float>(bar ? sheet.rows : sheet.cols);
        const float tall = bar ? ui.px(12) : of_map * static_cast<float>(sheet.rows);
        if (const auto cell = map_pressed(ui, {corner, {corner.x + wide, corner.y + tall}}, of_map)) {
            view.fit = false;
            view.row = (bar ? cell->x : cell->y) - box.rect.height() / pitch / 2;
            if (!bar) view.col = cell->x - box.rect.width() / pitch / 2;
        }
        x += each + ui.px(14);
    }
    return x - rect.min.x;
}

}  // namespace

void matrices_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    if (ui.index()->product) return product_panel(ui, in);
    const auto& arrays = ui.trace().launch.arrays;
    ui.state.arrays.resize(arrays.size());
    in.min.y += path_strip(ui, in);
    // The foot: maps of what is not all in sight, and the legend beside them.
    // The legend stands beside the maps, or below them where these leave no room.
    State::SmallMaps& maps = ui.state.maps;
    const ImVec2 panel{in.width(), in.height()};
    if (maps.serial != ui.session.recording->serial || maps.panel.x != panel.x || maps.panel.y != panel.y)
        maps = {ui.session.recording->serial, panel, 0};
    const float maps_wide = maps.width, maps_high = std::min(in.height() * 0.16f, ui.px(64));
    const bool is_beside = in.width() - maps_wide >= ui.px(200);
    const float legend =
        legend_lines(ui, {{in.min.x + (is_beside ? maps_wide : 0), in.min.y}, in.max}, false);
    const float maps_part = maps_wide > 0 ? maps_high : 0;
    const float foot = is_beside ? std::max(legend, maps_part) : legend + maps_part + ui.px(4);
    const Rect below{{in.min.x, in.max.y - foot}, {in.max.x, in.max.y - foot + maps_high}};
    in.max.y = below.min.y - ui.px(6);
    const ArraysLaidOut& laid_out = laid_out_arrays(ui, in);
    const std::vector<ArrayBox>& boxes = laid_out.boxes;
    if (boxes.empty())
        line(ui, in.min, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
             "The kernel has no array in global memory.");
    for (size_t i = 0; i < boxes.size(); ++i) {
        const ArrayBox& box = boxes[i];
        ArrayView& view = ui.state.arrays[box.array];
        const Array& of = arrays[box.array];
        std::string also =
            has_structs(of) ? one_line(of.members.of->name, kLongestName) : std::string(c_name_of(of.type));
        if (view.fit) static_cast<Camera&>(view) = laid_out.cameras[i];
        navigate(ui, box.rect, view, view.row, view.col);
        const auto pitch = static_cast<float>(view.pitch * ui.context.scale);
        Rect shown = box.rect;
        CellRect numbered = {0, draw::Sheet(of).rows, 0, draw::Sheet(of).cols};
        if (!box.slice.empty()) {  // nothing of its neighbours on the sheet
            shown.max.x = std::min(shown.max.x, shown.min.x + pitch * static_cast<float>(of.cols));
            shown.max.y = std::min(shown.max.y, shown.min.y + pitch * static_cast<float>(of.rows));
            also = fmt::format("z = {}  {}", box.z, also);
            numbered = box.slice;
        }
        const draw::GridView grid = array_grid(ui, box.array, {shown, view.row, view.col}, pitch);
        draw::GridView own = grid;  // whose row 0 is the slice's
        own.x += static_cast<float>(numbered.col0) * pitch;
        own.y += static_cast<float>(numbered.row0) * pitch;
        if ((of.rank == 2 && !draw::Sheet(of).wrapped) || !box.slice.empty())
            rulers(ui, own, numbered.rows(), numbered.cols());
        if (const auto common = ui.state.common.find(box.array); common != ui.state.common.end())
            also = fmt::format("{} + what the cells show", common->second);
        array_title(
            ui, box.array,
            {box.rect.min.x, box.rect.min.y - line_height(ui, Size::Body) - ruler_height(ui) - ui.px(2)},
            box.rect.width(), also.c_str());
        if (!box.slice.empty()) slice_strip(ui, box);
    }
    if (const float wide = small_maps(ui, below, boxes); wide > maps.width) {
        maps.width = wide;
        ui.context.another_frame = true;
    }
    const ImVec2 corner{below.min.x + (is_beside ? maps_wide : 0),
                        below.min.y + (is_beside ? 0 : maps_part + ui.px(4))};
    legend_lines(ui, {corner, {below.max.x, rect.max.y}}, true);
}

}  // namespace tilescope::step
