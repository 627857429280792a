// What panels lie on: rounded rectangles of one colour, under all else. They cover most of a frame, and a
// clear costs software OpenGL a fraction of what the same pixels cost as triangles, so they are cleared.
#pragma once

#include <span>

#include "app/draw/theme.h"
#include "imgui.h"

namespace tilescope::draw {

struct Surface {
    ImVec2 min, max;  // framebuffer pixels
    float rounding = 0;
    Rgba color = 0;
};

// All but the corners, into the bound framebuffer of that height (pixels). Leaves the scissor test off.
void clear_surfaces(std::span<const Surface> surfaces, int height);

// The corners alone, as a draw list's smooth shapes.
void draw_corners(ImDrawList& list, const Surface& surface);

}  // namespace tilescope::draw
