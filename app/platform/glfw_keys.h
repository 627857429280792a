// GLFW's keys as ours.
#pragma once

#include <cstdint>

#include "app/platform/input.h"

namespace tilescope::platform {

// Letters by what the keyboard's layout puts on the key, all else by place.
Key key_of_glfw(int key, int scancode);
// Plus (also the unshifted =), Minus and Question, whichever keys make them.
Key key_of_character(uint32_t code_point);

}  // namespace tilescope::platform
