#include "app/draw/chart.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace tilescope::draw {

Chart chart_axes(Ui& ui, const Rect& rect, const Axes& axes, float right) {
    const float small = line_height(ui, Size::Small);
    const Font mono = ui.font(Face::Mono, Size::Small);
    float widest = 0;
    for (const Tick& tick : axes.y_ticks) widest = std::max(widest, text_size(mono, tick.label).x);
    const float title = axes.title.empty() ? 0 : line_height(ui, Size::Body) + ui.px(8);
    Chart chart{{{std::round(rect.min.x + widest + ui.px(10)), std::round(rect.min.y + title)},
                 {std::round(rect.max.x - right),
                  std::round(rect.max.y - small * (axes.x_title.empty() ? 1.f : 2.f) - ui.px(4))}},
                axes.x,
                axes.y};
    const Rect& plot = chart.plot;
    chart.x.from = plot.min.x, chart.x.to = plot.max.x;
    chart.y.from = plot.max.y, chart.y.to = plot.min.y;
    line(ui, rect.min, rect.width(), Face::Strong, Size::Body, Ink::Text, axes.title);
    float last = -1e9f;
    for (const Tick& tick : axes.y_ticks) {
        const float at = std::round(draw::at(chart.y, tick.value));
        const bool said = !tick.label.empty();
        ui.list.AddLine({plot.min.x - (said ? ui.px(4) : 0), at}, {plot.max.x, at},
                        with_alpha(ui.ink(Ink::Line), said ? 1.f : 0.45f));
        if (!said || std::abs(at - last) < small) continue;
        last = at;
        put(ui, ui.list, mono, {plot.min.x - ui.px(8), at - small * 0.45f}, ui.ink(Ink::TextQuiet),
            tick.label, Align::Right);
    }
    float free = -1e9f;
    for (const Tick& tick : axes.x_ticks) {
        const float at = std::round(draw::at(chart.x, tick.value));
        const bool said = !tick.label.empty();
        ui.list.AddLine({at, plot.min.y}, {at, plot.max.y + (said ? ui.px(4) : 0)},
                        with_alpha(ui.ink(Ink::Line), said ? 1.f : 0.45f));
        const float half = text_size(mono, tick.label).x / 2;
        if (!said || at - half < free) continue;
        free = at + half + ui.px(8);
        put(ui, ui.list, mono, {at, plot.max.y + ui.px(5)}, ui.ink(Ink::TextQuiet), tick.label,
            Align::Center);
    }
    ui.list.AddLine({plot.min.x, plot.max.y}, plot.max, ui.ink(Ink::LineStrong));
    note(ui, {plot.max.x, plot.max.y + small + ui.px(5)}, plot.width(), axes.x_title, Align::Right);
    return chart;
}

void marker(Ui& ui, ImVec2 at, PointShape shape, Rgba color, float r, bool filled) {
    const float t = std::max(1.f, ui.px(1.5f));
    const auto point = [&](ImVec2 p) { return ImVec2{at.x + p.x * r, at.y + p.y * r}; };
    const auto stroke = [&](ImVec2 to, float wide = 1.3f) {  // through the middle
        ui.list.AddLine(point({-to.x, -to.y}), point(to), color, t * wide);
    };
    const auto polygon = [&](std::initializer_list<ImVec2> corners) {
        for (const ImVec2 corner : corners) ui.list.PathLineTo(point(corner));
        filled ? ui.list.PathFillConvex(color) : ui.list.PathStroke(color, ImDrawFlags_Closed, t);
    };
    switch (shape) {
        case PointShape::Circle:
            return filled ? ui.list.AddCircleFilled(at, r, color) : ui.list.AddCircle(at, r, color, 0, t);
        case PointShape::Ring:
            ui.list.AddCircle(at, r * 0.9f, color, 0, t);
            return ui.list.AddCircleFilled(at, r * 0.35f, color);
        case PointShape::Cross: return stroke({1, 1}), stroke({1, -1});
        case PointShape::Plus: return stroke({1, 0}), stroke({0, 1});
        case PointShape::Star:
            for (const float angle : {0.5236f, 1.5708f, 2.618f})
                stroke({std::cos(angle), std::sin(angle)}, 1.2f);
            return;
        case PointShape::Square:
            return polygon({{-0.85f, -0.85f}, {0.85f, -0.85f}, {0.85f, 0.85f}, {-0.85f, 0.85f}});
        case PointShape::Triangle: return polygon({{0, -1.1f}, {1, 0.8f}, {-1, 0.8f}});
        case PointShape::Down: return polygon({{-1, -0.8f}, {1, -0.8f}, {0, 1.1f}});
        case PointShape::Diamond: return polygon({{0, -1.2f}, {1.2f, 0}, {0, 1.2f}, {-1.2f, 0}});
        case PointShape::Left: return polygon({{-1.1f, 0}, {0.8f, -1}, {0.8f, 1}});
        case PointShape::Right: return polygon({{1.1f, 0}, {-0.8f, 1}, {-0.8f, -1}});
        case PointShape::Hexagon:
            return polygon({{-0.5f, -1}, {0.5f, -1}, {1.1f, 0}, {0.5f, 1}, {-0.5f, 1}, {-1.1f, 0}});
        case PointShape::Hourglass:
            return polygon({{-0.9f, -1}, {0.9f, -1}, {0, 0}}), polygon({{0, 0}, {0.9f, 1}, {-0.9f, 1}});
        case PointShape::Bar: return polygon({{-1.2f, -0.5f}, {1.2f, -0.5f}, {1.2f, 0.5f}, {-1.2f, 0.5f}});
        case PointShape::Pillar: return polygon({{-0.5f, -1.2f}, {0.5f, -1.2f}, {0.5f, 1.2f}, {-0.5f, 1.2f}});
    }
}

void chart_line(Ui& ui, std::span<const ImVec2> points, Rgba color, float width, bool dashed) {
    if (points.size() < 2) return;
    if (!dashed) return ui.list.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, width);
    const float period = ui.px(8), on = ui.px(5);
    float walked = 0;
    for (size_t i = 1; i < points.size(); ++i) {
        const ImVec2 a = points[i - 1], b = points[i];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (length <= 0) continue;
        const ImVec2 unit{(b.x - a.x) / length, (b.y - a.y) / length};
        const auto along = [&](float by) { return ImVec2{a.x + unit.x * by, a.y + unit.y * by}; };
        for (float at = 0, step; at < length; at += step) {
            const float phase = std::fmod(walked + at, period);
            step = std::min((phase < on ? on : period) - phase + 0.01f, length - at);
            if (phase < on) ui.list.AddLine(along(at), along(at + step), color, width);
        }
        walked += length;
    }
}

void step_line(Ui& ui, std::span<const ImVec2> points, Rgba color, float width, bool dashed) {
    std::vector<ImVec2> corners;
    for (size_t i = 0; i < points.size(); ++i) {
        if (i > 0 && points[i].y != points[i - 1].y) corners.push_back({points[i].x, points[i - 1].y});
        corners.push_back(points[i]);
    }
    chart_line(ui, corners, color, width, dashed);
}

float end_labels_width(Ui& ui, std::span<const std::string> texts) {
    float widest = 0;
    for (const std::string& text : texts)
        widest = std::max(widest, text_size(ui.font(Face::Strong, Size::Small), text).x);
    return widest + ui.px(40);
}

std::vector<Rect> end_labels(Ui& ui, const Chart& chart, std::span<const EndLabel> labels) {
    const float small = line_height(ui, Size::Small);
    const float top = chart.plot.min.y - small, bottom = chart.plot.max.y + small / 2;
    // Of more labels than have room the strong ones stay, and the first of the others.
    auto room = static_cast<size_t>(std::max(0.f, (bottom - top) / small));
    std::vector<bool> stays(labels.size(), labels.size() <= room);
    for (const bool strong : {true, false})
        for (size_t i = 0; i < labels.size(); ++i)
            if (room > 0 && !stays[i] && labels[i].strong == strong) stays[i] = true, --room;
    std::vector<float> wanted;
    for (size_t i = 0; i < labels.size(); ++i)
        if (stays[i]) wanted.push_back(labels[i].end.y);
    const std::vector<float> placed = spread(wanted, small, top, bottom);
    auto place = placed.begin();
    std::vector<Rect> boxes;
    const float sign = chart.plot.max.x + ui.px(20), text = sign + ui.px(10);
    for (size_t i = 0; i < labels.size(); ++i) {
        const EndLabel& label = labels[i];
        if (!stays[i]) {
            boxes.emplace_back();
            continue;
        }
        const float y = std::round(*place++);
        ui.list.AddLine({label.end.x + ui.px(6), label.end.y}, {chart.plot.max.x + ui.px(2), label.end.y},
                        with_alpha(label.color, 0.35f));
        ui.list.AddLine({chart.plot.max.x + ui.px(2), label.end.y}, {sign - ui.px(7), y},
                        with_alpha(label.color, 0.5f));
        marker(ui, {sign, y}, label.shape, label.color, ui.px(4));
        const Font font = ui.font(label.strong ? Face::Strong : Face::Text, Size::Small);
        put(ui, ui.list, font, {text, y - small * 0.45f}, ui.ink(label.strong ? Ink::Text : Ink::TextQuiet),
            label.text);
        boxes.push_back(
            {{sign - ui.px(8), y - small / 2}, {text + text_size(font, label.text).x, y + small / 2}});
    }
    return boxes;
}

bool point_label(Ui& ui, const Chart& chart, ImVec2 at, std::string_view text, Rgba color, bool strong,
                 std::vector<PixelBox>& taken) {
    const Font font = ui.font(strong ? Face::Strong : Face::Text, Size::Small);
    const ImVec2 size = text_size(font, text);
    const Rect& p = chart.plot;
    const auto box =
        place(at.x, at.y, size.x + ui.px(2), size.y, ui.px(9), {p.min.x, p.min.y, p.max.x, p.max.y}, taken);
    if (!box) return false;
    put(ui, ui.list, font, {box->x0 + ui.px(1), box->y0}, color, text);
    // Where it had to stand apart, a thin line says what it names.
    const ImVec2 near{std::clamp(at.x, box->x0, box->x1),
                      std::clamp(at.y, box->y0 + ui.px(2), box->y1 - ui.px(2))};
    const float dx = near.x - at.x, dy = near.y - at.y, apart = std::hypot(dx, dy), off = ui.px(7);
    if (apart > ui.px(14))
        ui.list.AddLine({at.x + dx / apart * off, at.y + dy / apart * off}, near, with_alpha(color, 0.45f),
                        std::max(1.f, ui.px(1)));
    return true;
}

}  // namespace tilescope::draw
