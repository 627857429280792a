#include "app/draw/surface.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/platform/gl.h"

namespace tilescope::draw {
namespace {

// On whole pixels, so that the cleared parts and the corners meet; no rounder than its sides allow.
Surface snapped(Surface s) {
    s.min = {std::round(s.min.x), std::round(s.min.y)};
    s.max = {std::round(s.max.x), std::round(s.max.y)};
    s.rounding = std::floor(std::min({s.rounding, (s.max.x - s.min.x) / 2, (s.max.y - s.min.y) / 2}));
    return s;
}

}  // namespace

void clear_surfaces(std::span<const Surface> surfaces, int height) {
    const auto clear = [height](float x0, float y0, float x1, float y1) {
        if (x0 >= x1 || y0 >= y1) return;
        glScissor(static_cast<int>(x0), height - static_cast<int>(y1), static_cast<int>(x1 - x0),
                  static_cast<int>(y1 - y0));
        glClear(GL_COLOR_BUFFER_BIT);
    };
    glEnable(GL_SCISSOR_TEST);
    for (const Surface& surface : surfaces) {
        const Surface s = snapped(surface);
        const float r = s.rounding;
        const auto part = [&](int shift) { return static_cast<float>(s.color >> shift & 0xFF) / 255.f; };
        glClearColor(part(0), part(8), part(16), 1);
        clear(s.min.x + r, s.min.y, s.max.x - r, s.max.y);
        clear(s.min.x, s.min.y + r, s.min.x + r, s.max.y - r);
        clear(s.max.x - r, s.min.y + r, s.max.x, s.max.y - r);
    }
    glDisable(GL_SCISSOR_TEST);
}

void draw_corners(ImDrawList& list, const Surface& surface) {
    const Surface s = snapped(surface);
    const float r = s.rounding;
    if (r <= 0) return;
    const ImVec2 centres[] = {{s.max.x - r, s.max.y - r},
                              {s.min.x + r, s.max.y - r},
                              {s.min.x + r, s.min.y + r},
                              {s.max.x - r, s.min.y + r}};
    constexpr auto kQuarter = std::numbers::pi_v<float> / 2;
    float angle = 0;  // 0 points right, a quarter on points down
    for (const ImVec2 centre : centres) {
        list.PathLineTo(centre);
        list.PathArcTo(centre, r, angle, angle + kQuarter);
        list.PathFillConvex(s.color);
        angle += kQuarter;
    }
}

}  // namespace tilescope::draw
