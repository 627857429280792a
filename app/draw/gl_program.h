// A shader program of the shaders built into the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::draw {

// Needs a current OpenGL 3.3 core context. Names are of files in shaders/: link_program("cells") takes
// cells.vert.glsl and cells.frag.glsl; a line  #include "x.glsl"  stands for shaders/x.glsl.
Result<uint32_t> link_program(std::string_view name);

}  // namespace tilescope::draw
