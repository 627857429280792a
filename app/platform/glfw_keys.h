// GLFW's keys as ours.
#pragma once

#include <cstdint>

#include "app/platform/input.h"

namespace tilescope::platform {

// Letters by what the keyboard's layout puts on the key, all else by place.
Key key_of_glfw(int key, int scancode);
// The same while Control is held, when no character comes: plus and minus by what the layout puts on the key.
Key key_with_control(int key, int scancode);
// Plus (also the unshifted =), Minus and Question, whichever keys make them.
Key key_of_character(uint32_t code_point);

}  // namespace tilescope::platform
