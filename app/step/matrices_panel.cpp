// M left, N above, P in the corner, on one camera; the map of the whole in the free corner.
//
//     +-------+-------+
//     |  map  |   N   |
//     +-------+-------+
//     |   M   |   P   |
//     +-------+-------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/matrix_view.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// The wheel zooms about the mouse, the right or middle button drags.
void navigate(Ui& ui, const Rect& m, const Rect& n, const Rect& p) {
    const bool in_m = ui.over(m), in_n = ui.over(n), in_p = ui.over(p);
    if (!in_m && !in_n && !in_p) return;
    View& view = ui.state.view;
    const ImGuiIO& io = ImGui::GetIO();
    const double scale = ui.context.scale;
    if (io.MouseWheel != 0) {
        const Rect& box = in_m ? m : in_n ? n : p;
        const double x = (io.MousePos.x - box.min.x) / scale, y = (io.MousePos.y - box.min.y) / scale;
        const double old = view.pitch,
                     now = std::clamp(std::round(old * std::pow(1.2, io.MouseWheel)), 1.0, 128.0);
        const double dx = x / old - x / now, dy = y / old - y / now;
        (in_m ? view.m_k : view.col) += dx;
        (in_n ? view.n_k : view.row) += dy;
        view.pitch = now;
        view.fit = false;
    }
    if (ImGui::IsMouseDragging(1, 0) || ImGui::IsMouseDragging(2, 0)) {
        const double dx = io.MouseDelta.x / scale / view.pitch, dy = io.MouseDelta.y / scale / view.pitch;
        if (in_m)
            view.m_k -= dx, view.n_k -= dx;
        else
            view.col -= dx;
        if (in_n)
            view.n_k -= dy, view.m_k -= dy;
        else
            view.row -= dy;
        view.fit = false;
    }
}

}  // namespace

void matrices_panel(Ui& ui, const Rect& rect, const look::Relations& selected) {
    if (!ui.index()->product) return arrays_panel(ui, rect, selected);
    surface(ui, rect);
    const look::Roles& roles = ui.index()->roles;
    const float pad = ui.px(12), gap = ui.px(12), title = line_height(ui, Size::Body);
    const Rect in = rect.inset(pad);
    const float left = std::floor((in.width() - gap) * 0.5f);
    const float high = std::floor((in.height() - title * 2 - ui.px(6)) * 0.5f);
    const Rect corner{in.min, {in.min.x + left, in.min.y + title + high}};
    const Rect n{{in.min.x + left + gap, in.min.y + title}, {in.max.x, in.min.y + title + high}};
    const float low = n.max.y + ui.px(6);
    const Rect m{{in.min.x, low + title}, {in.min.x + left, in.max.y}};
    const Rect p{{n.min.x, low + title}, in.max};

    const double scale = ui.context.scale;
    const auto logical = [&](float size) { return static_cast<float>(size / scale); };
    View& look = ui.state.view;
    if (look.fit) {
        const Viewports ports{logical(m.width()), logical(n.height()), logical(m.height()),
                              logical(n.width())};
        const Camera camera = framed(ui.trace(), *ui.index(), ui.step(), ports, 16, 96);
        look.pitch = camera.pitch;
        look.row = camera.row;
        look.col = camera.col;
        look.m_k = camera.m_k;
        look.n_k = camera.n_k;
    }
    navigate(ui, m, n, p);
    const auto pitch = static_cast<float>(look.pitch * scale);
    const auto title_at = [&](const Rect& box, int array, const char* axes) {
        const Array& a = ui.trace().launch.arrays[static_cast<size_t>(array)];
        const float y = box.min.y - title;
        const float used = line(ui, {box.min.x, y}, box.width(), Face::Strong, Size::Body, Ink::Text, a.name);
        line(ui, {box.min.x + used + ui.px(8), y + ui.px(3)}, box.width() - used - ui.px(8), Face::Mono,
             Size::Small, Ink::TextQuiet, fmt::format("{} \u00d7 {}  {}", a.rows, a.cols, axes));
    };
    title_at(n, roles.n, "k \u00d7 n");
    title_at(m, roles.m, "m \u00d7 k");
    title_at(p, roles.p, "m \u00d7 n");
    for (const Rect& box : {m, n, p})
        ui.list.AddRectFilled(box.min, box.max, draw::with_alpha(ui.ink(Ink::Ground), 0.6f));
    array_grid(ui, static_cast<uint8_t>(roles.m), {m, look.row, look.m_k}, pitch, selected);
    array_grid(ui, static_cast<uint8_t>(roles.n), {n, look.n_k, look.col}, pitch, selected);
    array_grid(ui, static_cast<uint8_t>(roles.p), {p, look.row, look.col}, pitch, selected);

    MapView map;
    map.m = {look.row, look.m_k, m.height() / pitch, m.width() / pitch};
    map.n = {look.n_k, look.col, n.height() / pitch, n.width() / pitch};
    map.p = {look.row, look.col, p.height() / pitch, p.width() / pitch};
    matrix_map(ui, corner, map);
}

}  // namespace tilescope::step
