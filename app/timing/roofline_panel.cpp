// The roofline as a chart, and what the panels of this screen that are charts share.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/draw/chart.h"
#include "app/draw/widgets.h"
#include "app/look/time_words.h"
#include "app/timing/bounds_panel.h"
#include "app/timing/ladder.h"
#include "app/timing/state.h"

namespace tilescope::timing {

using draw::Chart, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
using Ui = input::Ui<State>;
using Kind = RoofPoint::Kind;

Rect panel(Ui& ui, const Rect& rect, const std::string& title, const std::string& nothing, const char* name) {
    surface(ui, rect, name);
    const Rect in = rect.inset(ui.px(16));
    if (nothing.empty()) return in;
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, title);
    paragraph(ui, {in.min.x, in.min.y + ui.px(32)}, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
              nothing);
    return in;
}

std::optional<size_t> pointed_at(Ui& ui, const Chart& axes, const std::vector<ImVec2>& points) {
    if (!ui.over(axes.plot)) return std::nullopt;
    std::vector<draw::Dot> dots;
    for (const ImVec2& point : points) dots.push_back({point.x, point.y});
    const auto near = draw::nearest(dots, ui.cursor().x, ui.cursor().y, ui.px(24));
    if (near) ui.list.AddCircle(points[*near], ui.px(9), ui.ink(Ink::Selected), 0, ui.px(2));
    return near;
}

namespace {

// --- roofs as lines, kernels as points, the chosen kernel at each level where its bytes were counted

void roofs(Ui& ui, const Chart& axes, const RooflineChart& chart, std::vector<draw::PixelBox>& taken) {
    const float small = line_height(ui, Size::Small);
    int below = 0;  // labels that stand below the roofs
    for (size_t i = 0; i < chart.roofs.size(); ++i) {
        const Roof& roof = chart.roofs[i];
        const double top = roof.gflops > 0 ? roof.gflops : roof.gbs * chart.x.high;
        const double ridge = std::clamp(top / roof.gbs, chart.x.low, chart.x.high);
        const double start = std::max(chart.x.low, chart.y.low / roof.gbs);
        const ImVec2 points[] = {axes.point(start, std::min(roof.gbs * start, top)),
                                 axes.point(ridge, std::min(roof.gbs * ridge, top)),
                                 axes.point(chart.x.high, top)};
        const Rgba color = ui.ink(roof.measured ? Ink::Text : Ink::TextQuiet);
        chart_line(ui, points, color, ui.px(roof.measured ? 2 : 1.5f), !roof.measured);
        for (size_t leg = 0; leg < 2; ++leg) {  // labels keep off the line
            constexpr int kParts = 40;
            for (int part = 0; part <= kParts; ++part) {
                const float t = static_cast<float>(part) / kParts;
                const ImVec2 p{points[leg].x + (points[leg + 1].x - points[leg].x) * t,
                               points[leg].y + (points[leg + 1].y - points[leg].y) * t};
                taken.push_back({p.x - 1, p.y - 1, p.x + 1, p.y + 1});
            }
        }
        const std::string peak =
            roof.gflops > 0 ? draw::figure(roof.gflops) + " GFLOP/s" : std::string("peak not known");
        const draw::Font font = ui.font(roof.measured ? Face::Strong : Face::Text, Size::Small);
        const float over = points[2].y - small - ui.px(2);
        // Of two roofs the higher one is named above its line, the lower one below.
        const bool higher = chart.roofs.size() == 1 || roof.gflops >= chart.roofs[1 - i].gflops;
        const bool above = higher && over >= axes.plot.min.y;
        const float y = above ? over : points[2].y + ui.px(8) + small * static_cast<float>(below++);
        // Below its line it must not reach the slope, which comes from the left.
        const float rise = points[0].y - points[1].y, run = points[1].x - points[0].x;
        const float at = rise > 0 ? points[1].x - (y - points[1].y) / rise * run : points[1].x;
        const float room = points[2].x - std::max(above ? axes.plot.min.x : at, axes.plot.min.x) - ui.px(28);
        const std::string said =
            fitting(font,
                    {fmt::format("{}: {} GB/s, {}", roof.name, draw::figure(roof.gbs), peak),
                     fmt::format("{}: {}", roof.name, peak), roof.name},
                    room);
        const ImVec2 size = draw::text_size(font, said);
        const float x = points[2].x - size.x - ui.px(4);
        put(ui, ui.list, font, {x, y}, color, said);
        taken.push_back({x, y, x + size.x, y + small});
        if (ui.over({{x, y}, {x + size.x, y + small}})) ui.tip = roof.exact;
    }
}

bool is_chosen(const Ui& ui, const RoofPoint& point) {
    return point.kind != Kind::Bound && point.kernel == ui.state.kernel;
}

// Named without being pointed at: cuBLAS, and on the ladder the neighbours of the chosen kernel.
bool is_beside(const Ui& ui, const RoofPoint& point) {
    const std::span<const Rung> all = rungs(kernels::input_of(ui.state.kernel));
    const auto here = std::ranges::find(all, ui.state.kernel, &Rung::kernel),
               there = std::ranges::find(all, point.kernel, &Rung::kernel);
    if (kernels::is_library(point.kernel)) return true;
    if (here == all.end()) return point.kernel == "untiled";
    return there != all.end() && std::abs(here - there) == 1;
}

// Sorts the chart's points into the order in which their labels take their places, the chosen kernel's and
// the bounds before the others, and draws them. The chosen kernel's, which are of one height, are joined: the
// chain. Returns where they are, in the same order as chart.points.
std::vector<ImVec2> points(Ui& ui, const Chart& axes, RooflineChart& chart,
                           std::vector<draw::PixelBox>& taken) {
    std::ranges::stable_sort(chart.points, {}, [&](const RoofPoint& point) {
        return is_chosen(ui, point) ? 0 : point.kind == Kind::Bound ? 1 : 2;
    });
    std::vector<ImVec2> places, chain;
    for (const RoofPoint& point : chart.points) {
        const ImVec2 at = places.emplace_back(axes.point(point.intensity, point.gflops));
        const float r = ui.px(5);
        taken.push_back({at.x - r, at.y - r, at.x + r, at.y + r});
        if (is_chosen(ui, point)) chain.push_back(at);
    }
    chart_line(ui, chain, draw::with_alpha(ui.ink(Ink::Selected), 0.7f), ui.px(1.5f));
    if (chain.size() > 1)
        taken.push_back({chain.front().x, chain.front().y - 1, chain.back().x, chain.back().y + 1});
    for (size_t i = places.size(); i-- > 0;) {  // the chosen one above the others
        const RoofPoint& point = chart.points[i];
        const bool bound = point.kind == Kind::Bound, asked = point.kind == Kind::Asked,
                   on = is_chosen(ui, point);
        const Rgba color = bound ? ui.ink(Ink::TextQuiet) : color_of(ui.context.palette, point.kernel);
        const draw::PointShape shape = bound ? draw::PointShape::Diamond : shape_of(point.kernel);
        marker(ui, places[i], shape, color, ui.px(on ? 6 : 4.5f), asked);
    }
    for (size_t i = 0; i < places.size(); ++i) {
        const RoofPoint& point = chart.points[i];
        const bool on = is_chosen(ui, point);
        if (on || point.kind == Kind::Bound || is_beside(ui, point))
            point_label(ui, axes, places[i], point.label, ui.ink(on ? Ink::Text : Ink::TextQuiet), on, taken);
    }
    return places;
}

}  // namespace

void roofline_panel(Ui& ui, const Rect& rect, RooflineChart& chart, bool chosen) {
    const std::string title = std::exchange(chart.title, {});
    const Rect in = panel(ui, rect, title, chart.nothing);
    if (!chart.nothing.empty()) return;
    const float room = in.width() - (chosen ? beside_choice(ui, in) : 0);
    line(ui, in.min, room, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {title, "Roofline, GFLOP/s"}, room));
    // The ratios stand below it, with the kernel's name where there is room for all.
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string name = shown_name(ui.state.kernel) + ": ";
    const bool named = std::ranges::all_of(chart.ratios, [&](const std::string& ratio) {
        return draw::text_size(font, name + ratio).x <= in.width();
    });
    float y = in.min.y + line_height(ui, Size::Body) + ui.px(2);
    for (const std::string& ratio : chart.ratios) {
        line(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::Text, named ? name + ratio : ratio);
        y += line_height(ui, Size::Small);
    }
    const Chart axes = chart_axes(ui, {{in.min.x, y + ui.px(6)}, in.max}, chart, ui.px(8));
    std::vector<draw::PixelBox> taken;
    ui.list.PushClipRect(axes.plot.min, axes.plot.max, true);
    roofs(ui, axes, chart, taken);
    const std::vector<ImVec2> places = points(ui, axes, chart, taken);
    ui.list.PopClipRect();
    const auto near = pointed_at(ui, axes, places);
    if (!near) return;
    ui.tip = chart.points[*near].exact;
    if (ImGui::IsMouseClicked(0)) ui.state.kernel = chart.points[*near].kernel;
}

}  // namespace tilescope::timing
