// Charts drawn with a panel's means: axes with their ticks, lines, points told apart by shape, and labels
// that stand beside what they name. Where things go is decided in axes.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/draw/axes.h"
#include "app/draw/ui.h"

namespace tilescope::draw {

struct Chart {
    Rect plot;  // where values are drawn
    Axis x, y;  // axes, with their pixels
    ImVec2 point(double at_x, double at_y) const { return {at(x, at_x), at(y, at_y)}; }
};

// Draws titles, grid and ticks inside `rect`, leaving `right` pixels beside the plot for labels.
Chart chart_axes(Ui& ui, const Rect& rect, const Axes& axes, float right);

// A point's sign, `r` from its middle to its edge.
void marker(Ui& ui, ImVec2 at, PointShape shape, Rgba color, float r, bool filled = true);

void chart_line(Ui& ui, std::span<const ImVec2> points, Rgba color, float width, bool dashed = false);
// A line in steps: a value holds until the next one.
void step_line(Ui& ui, std::span<const ImVec2> points, Rgba color, float width, bool dashed = false);

// Labels at the right end of lines, spread so that none lies on another, each joined to its line.
struct EndLabel {
    ImVec2 end;  // right end of the line
    std::string text;
    Rgba color;
    bool strong = false;
    PointShape shape = PointShape::Circle;
};
// Returns the rectangles of the labels, in their order, for hover and click; an empty one of a label that has no
// room.
std::vector<Rect> end_labels(Ui& ui, const Chart& chart, std::span<const EndLabel> labels);
float end_labels_width(Ui& ui, std::span<const std::string> texts);

// Text beside a point, clear of what is taken; nothing where there is no room. Returns whether it stands.
bool point_label(Ui& ui, const Chart& chart, ImVec2 at, std::string_view text, Rgba color, bool strong,
                 std::vector<PixelBox>& taken);

}  // namespace tilescope::draw
