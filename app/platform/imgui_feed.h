// Hands Input to ImGui. Releases of ImGui differ in how they take keys; that is hidden here.
#pragma once

#include <vector>

#include "app/platform/input.h"

namespace tilescope::platform {

class ImguiFeed {
public:
    void start();                                          // once, after ImGui::CreateContext
    void feed(const Input& input, int width, int height);  // before ImGui::NewFrame; framebuffer pixels
private:
    std::vector<Key> release_next_;  // pressed and released within one frame
};

}  // namespace tilescope::platform
