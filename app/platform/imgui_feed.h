// Hands Input to ImGui. Releases of ImGui differ in how they take keys; that is hidden here.
#pragma once

#include <vector>

#include "app/platform/input.h"

namespace tilescope::platform {

class ImguiFeed {
public:
    void start();  // once, after ImGui::CreateContext
    // Before ImGui::NewFrame; framebuffer pixels. form: keys for a form of ImGui's own that lies open, null
    // where there is none. One of them, or the characters before it, is taken from the front a frame: ImGui
    // walks and edits by frames, and several keys within one would be one.
    void feed(const Input& input, int width, int height, std::vector<KeyPress>* form);

private:
    Key held_ = Key::None;  // until the next frame
};

}  // namespace tilescope::platform
