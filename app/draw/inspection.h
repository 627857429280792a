// What a frame wrote, and where: so that a test can hold that no text is cut, lies outside the window or on
// another text. Nothing is noted where nobody asks (Frame::inspect).
#pragma once

#include <string>
#include <vector>

#include "imgui.h"

namespace tilescope::draw {

struct Written {
    std::string text;                  // in full, also where less of it stands
    ImVec2 min, max;                   // framebuffer pixels
    bool cut = false;                  // an ellipsis stands for the rest
    const ImDrawList* list = nullptr;  // texts of different lists may lie on each other: an overlay's do
};

struct Inspection {
    std::vector<Written> texts;
    std::vector<ImVec4> surfaces;  // of panels: left, top, right, bottom
};

}  // namespace tilescope::draw
