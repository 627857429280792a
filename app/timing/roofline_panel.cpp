// Roofs as lines, kernels as points, the chosen kernel at each level where its bytes were counted.
#include <algorithm>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/timing/panels.h"

namespace tilescope::timing {
namespace {

using Kind = RoofPoint::Kind;

struct Hover {
    std::vector<draw::Dot> dots;
    std::vector<const RoofPoint*> of;
};

void roofs(Ui& ui, const Chart& axes, const RooflineChart& chart, std::vector<draw::Box>& taken) {
    const float small = line_height(ui, Size::Small);
    int below = 0;      // labels that stand below the roofs
    bool above = true;  // the first roof's peak is named above its line where it is the higher one
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
        above = chart.roofs.size() == 1 || roof.gflops >= chart.roofs[1 - i].gflops;
        const std::string peak =
            roof.gflops > 0 ? draw::figure(roof.gflops) + " GFLOP/s" : std::string("peak not known");
        const draw::Font font = ui.font(roof.measured ? Face::Strong : Face::Text, Size::Small);
        const float over = points[2].y - small - ui.px(2);
        above = above && over >= axes.plot.min.y;
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

// The chosen kernel's points at one height, joined: the chain.
void chain(Ui& ui, const Chart& axes, const RooflineChart& chart, std::vector<draw::Box>& taken) {
    std::vector<ImVec2> points;
    for (const RoofPoint& point : chart.points)
        if (point.chosen && point.kind != Kind::Bound)
            points.push_back(axes.point(point.intensity, point.gflops));
    chart_line(ui, points, draw::with_alpha(ui.ink(Ink::Selected), 0.7f), ui.px(1.5f));
    if (points.size() > 1)
        taken.push_back({points.front().x, points.front().y - 1, points.back().x, points.back().y + 1});
}

void points(Ui& ui, const Chart& axes, const RooflineChart& chart, std::vector<draw::Box>& taken,
            Hover& hover) {
    // The chosen one and the bounds take their labels' places before the others.
    std::vector<const RoofPoint*> order;
    for (const RoofPoint& point : chart.points) {
        order.push_back(&point);
        const ImVec2 at = axes.point(point.intensity, point.gflops);
        const float r = ui.px(5);
        taken.push_back({at.x - r, at.y - r, at.x + r, at.y + r});
    }
    const auto rank = [](const RoofPoint* p) { return p->chosen ? 0 : p->kind == Kind::Bound ? 1 : 2; };
    std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
    for (const RoofPoint* point : order) {
        const ImVec2 at = axes.point(point->intensity, point->gflops);
        const bool bound = point->kind == Kind::Bound,
                   level = point->kind == Kind::L2 || point->kind == Kind::Dram;
        const Rgba full = ui.ink(bound ? Ink::TextQuiet : ink_of(point->operands));
        const Rgba color = point->chosen || bound ? full : draw::mix(ui.ink(Ink::Panel), full, 0.6f);
        marker(ui, at, bound ? draw::Shape::Diamond : point->shape, color, ui.px(point->chosen ? 6 : 4.5f),
               !bound && !level);
        point_label(ui, axes, at, point->label, ui.ink(point->chosen ? Ink::Text : Ink::TextQuiet),
                    point->chosen, taken);
        hover.dots.push_back({at.x, at.y});
        hover.of.push_back(point);
    }
}

}  // namespace

void roofline_panel(Ui& ui, const Rect& rect, const Timed& timed) {
    surface(ui, rect);
    State& chosen = ui.state;
    const RooflineChart chart = roofline_chart(timed.machine, timed.counters, chosen, timed.width);
    const Rect in = rect.inset(ui.px(16));
    const std::string title =
        timed.machine.times != nullptr
            ? fmt::format("Roofline at width {}, T = {}, GFLOP/s", draw::figure(timed.width), chosen.tile)
            : fmt::format("Roofline by stated figures, bounds only, GFLOP/s");
    if (!chart.nothing.empty()) {
        line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, title);
        paragraph(ui, {in.min.x, in.min.y + ui.px(32)}, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
                  chart.nothing);
        return;
    }
    const Chart axes = chart_axes(ui, in, {title, "FLOP per byte", ui.px(8)}, chart.x, chart.y, chart.x_ticks,
                                  chart.y_ticks);
    std::vector<draw::Box> taken;
    Hover hover;
    ui.list.PushClipRect(axes.plot.min, axes.plot.max, true);
    roofs(ui, axes, chart, taken);
    chain(ui, axes, chart, taken);
    points(ui, axes, chart, taken, hover);
    ui.list.PopClipRect();
    if (!ui.over(axes.plot)) return;
    const auto near = draw::nearest(hover.dots, ui.cursor().x, ui.cursor().y, ui.px(24));
    if (!near) return;
    ui.list.AddCircle({hover.dots[*near].x, hover.dots[*near].y}, ui.px(9), ui.ink(Ink::Selected), 0,
                      ui.px(2));
    ui.tip = hover.of[*near]->exact;
    if (ImGui::IsMouseClicked(0)) chosen.kernel = hover.of[*near]->kernel;
}

}  // namespace tilescope::timing
