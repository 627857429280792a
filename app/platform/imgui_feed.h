// Hands Input to ImGui. Releases of ImGui differ in how they take keys; that is hidden here.
#pragma once

#include <vector>

#include "app/platform/input.h"

namespace tilescope::platform {

class ImguiFeed {
public:
    void start();  // once, after ImGui::CreateContext
    // Before ImGui::NewFrame; framebuffer pixels. form: one of ImGui's own lies open, for the keys to walk
    // in.
    void feed(const Input& input, int width, int height, bool form);

private:
    std::vector<Key> release_next_;  // pressed and released within one frame
};

}  // namespace tilescope::platform
