// A line a kernel over the width of the matrices, labelled where it ends.
#include <algorithm>
#include <cmath>

#include "app/draw/widgets.h"
#include "app/timing/panels.h"

namespace tilescope::timing {
Ink ink_of(Operands operands) {
    switch (operands) {
        case Operands::Global:
            return Ink::GlobalLoad;
        case Operands::Shared:
            return Ink::SharedLoad;
        case Operands::Library:
            break;
    }
    return Ink::TextQuiet;
}

namespace {

Rgba color_of(Ui& ui, const TimeLine& line) {
    const Rgba full = ui.ink(line.faulty ? Ink::Fault : ink_of(line.operands));
    return line.chosen ? full : draw::mix(ui.ink(Ink::Panel), full, 0.55f);
}

// The order of drawing: the chosen line last, above the others.
std::vector<const TimeLine*> ordered(const TimeChart& chart) {
    std::vector<const TimeLine*> lines;
    for (const TimeLine& line : chart.lines) lines.push_back(&line);
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto* a, const auto* b) { return a->chosen < b->chosen; });
    return lines;
}

}  // namespace

void time_panel(Ui& ui, const Rect& rect, const Timed& timed) {
    surface(ui, rect);
    State& chosen = ui.state;
    const TimeChart chart = time_chart(timed.machine, chosen);
    const Rect in = rect.inset(ui.px(16));
    if (!chart.nothing.empty()) {
        line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, chart.title);
        paragraph(ui, {in.min.x, in.min.y + ui.px(32)}, in.width(), Face::Text, Size::Body, Ink::TextQuiet,
                  chart.nothing);
        return;
    }
    std::vector<std::string> names;
    for (const TimeLine& l : chart.lines) names.push_back(l.label);
    const Chart axes = chart_axes(ui, in, {chart.title, {}, end_labels_width(ui, names)}, chart.x, chart.y,
                                  chart.x_ticks, chart.y_ticks);
    if (draw::holds(chart.x, timed.width)) {  // what the roofline and the chain are about
        const float x = std::round(draw::at(axes.x, timed.width));
        ui.list.AddLine({x, axes.plot.min.y}, {x, axes.plot.max.y},
                        draw::with_alpha(ui.ink(Ink::Accent), 0.5f), std::max(1.f, ui.px(1)));
    }
    std::vector<draw::EndLabel> labels;
    std::vector<draw::Dot> dots;
    std::vector<std::pair<const TimeLine*, const TimePoint*>> of;
    for (const TimeLine* l : ordered(chart)) {
        const Rgba color = color_of(ui, *l);
        std::vector<ImVec2> points;
        for (const TimePoint& point : l->points) {
            points.push_back(axes.point(point.width, point.value));
            dots.push_back({points.back().x, points.back().y});
            of.emplace_back(l, &point);
        }
        chart_line(ui, points, color, ui.px(l->chosen ? 3 : 1.5f), l->faulty || l->bound);
        for (const ImVec2& point : points) marker(ui, point, l->shape, color, ui.px(l->chosen ? 5 : 3.5f));
        labels.push_back({points.back(), l->label, color, l->chosen, l->shape, 0});
    }
    const std::vector<Rect> boxes = end_labels(ui, axes, labels);
    const std::vector<const TimeLine*> lines = ordered(chart);
    for (size_t i = 0; i < boxes.size(); ++i) {
        if (ui.over(boxes[i])) ui.tip = lines[i]->points.back().exact;
        if (ui.clicked(boxes[i])) chosen.kernel = lines[i]->kernel;
    }
    if (!ui.over(axes.plot)) return;
    const auto near = draw::nearest(dots, ui.cursor().x, ui.cursor().y, ui.px(24));
    if (!near) return;
    const auto& [l, point] = of[*near];
    ui.list.AddCircle({dots[*near].x, dots[*near].y}, ui.px(9), ui.ink(Ink::Selected), 0, ui.px(2));
    ui.tip = point->exact;
    if (ImGui::IsMouseClicked(0)) chosen.kernel = l->kernel, chosen.width = point->width;
}

}  // namespace tilescope::timing
