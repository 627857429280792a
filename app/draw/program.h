// A program of shaders, for what draws with OpenGL.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace tilescope::draw {

// Of shaders/NAME.vert.glsl and shaders/NAME.frag.glsl, each behind shaders/pattern.glsl; its number in OpenGL. Needs a
// current context.
Result<unsigned> link_program(std::string_view name);

}  // namespace tilescope::draw
