#include "app/draw/surface.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <glad/gl.h>

namespace tilescope::draw {
namespace {

// No larger than two of them fit into either side.
float rounding_of(const Surface& s) {
    return std::floor(std::min({s.rounding, (s.max.x - s.min.x) / 2, (s.max.y - s.min.y) / 2}));
}

}  // namespace

void clear_surfaces(std::span<const Surface> surfaces, int height) {
    const auto clear = [height](float x0, float y0, float x1, float y1) {
        const auto left = static_cast<int>(std::lround(x0)), right = static_cast<int>(std::lround(x1)),
                   top = static_cast<int>(std::lround(y0)), bottom = static_cast<int>(std::lround(y1));
        if (left >= right || top >= bottom) return;
        glScissor(left, height - bottom, right - left, bottom - top);
        glClear(GL_COLOR_BUFFER_BIT);
    };
    glEnable(GL_SCISSOR_TEST);
    for (const Surface& s : surfaces) {
        const float r = rounding_of(s);
        const auto part = [&](int shift) { return static_cast<float>(s.color >> shift & 0xFF) / 255.f; };
        glClearColor(part(0), part(8), part(16), 1);
        clear(s.min.x + r, s.min.y, s.max.x - r, s.max.y);
        clear(s.min.x, s.min.y + r, s.min.x + r, s.max.y - r);
        clear(s.max.x - r, s.min.y + r, s.max.x, s.max.y - r);
    }
    glDisable(GL_SCISSOR_TEST);
}

void draw_corners(ImDrawList& list, const Surface& s) {
    const float r = rounding_of(s);
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
