// What a chart needs before anything is drawn: axes, ticks, where labels go, and which point is meant.
//
//   y |        o---o label      Lines are labelled where they end, so that no legend has to be matched by
//     |    o--'                 colour; spread() moves labels apart by as little as can be, and place()
//     |o--'   x---x label      finds room around single points, or none.
//     +-----------------> x
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilescope::draw {

// One direction: values from low to high on pixels from `from` to `to` (to < from for a y axis).
struct Axis {
    double low = 1, high = 10;
    bool log = true;
    float from = 0, to = 1;
};
float at(const Axis& axis, double value);        // the pixel; beyond the axis too
double value_at(const Axis& axis, float pixel);  // back
inline bool holds(const Axis& axis, double value) { return value >= axis.low && value <= axis.high; }

struct Tick {
    double value = 0;
    std::string label;  // empty for those between decades
    bool operator==(const Tick&) const = default;
};
// What a chart says along its edges, before it is drawn: the pixels of x and y are not known yet.
struct Axes {
    std::string title, x_title;  // above the plot, and below it; "" for none
    Axis x, y;
    std::vector<Tick> x_ticks, y_ticks;
};
// Decades labelled, 2..9 of each without a label; where there are fewer than two decades, 2 and 5 as well.
std::vector<Tick> log_ticks(double low, double high);
// At most `most` round steps of 1, 2 or 5 times a power of ten, all labelled.
std::vector<Tick> even_ticks(double low, double high, int most);
// low and high moved out to the nearest 1, 2 or 5 times a power of ten.
void round_out(double& low, double& high);

// "0.01", "5", "10,000", "100 k", "2 M": what an axis says.
std::string axis_number(double value);
// Four digits, grouped from a thousand on: "0.2360", "12.35", "9,098".
std::string figure(double value);

// Middles of labels of one height, as near as can be to where they are wanted (least squares), none closer
// than `height` to another, all within [low, high] where they fit there. The order of the wanted is kept.
std::vector<float> spread(const std::vector<float>& wanted, float height, float low, float high);

struct PixelBox {
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    bool overlaps(const PixelBox& b) const { return x0 < b.x1 && b.x0 < x1 && y0 < b.y1 && b.y0 < y1; }
    bool within(const PixelBox& b) const { return x0 >= b.x0 && x1 <= b.x1 && y0 >= b.y0 && y1 <= b.y1; }
    bool empty() const { return x0 >= x1 || y0 >= y1; }
};
inline PixelBox common(const PixelBox& a, const PixelBox& b) {
    return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}
// A place for a label of w x h beside a point: right, left, above, below, then further out; within `area` and
// clear of all that is `taken`. It is added to `taken`. None where there is no room.
std::optional<PixelBox> place(float x, float y, float w, float h, float gap, const PixelBox& area,
                              std::vector<PixelBox>& taken);

// Signs of points, told apart without colour.
// clang-format off
enum class PointShape : uint8_t {
    Circle, Square, Triangle, Diamond, Down, Cross, Plus, Ring, Left, Right, Hexagon, Hourglass, Bar, Pillar, Star,
};
// clang-format on

// The index of the pixel point nearest to (x, y), no further than `within`.
struct Dot {
    float x = 0, y = 0;
};
std::optional<size_t> nearest(const std::vector<Dot>& dots, float x, float y, float within);

}  // namespace tilescope::draw
