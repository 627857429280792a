// Structs whose members the PTX names in comments, as Tilescope's compiler writes them behind the code: PTX itself
// knows words alone. PTX of others has none.
//
//   //.struct Particle = 32; 0 f32 pos.x; 4 f32 pos.y; 8 f32 pos.z; 16 f64 mass; 24 s32 id
//   //.elements particles = Particle          a variable
//   //.elements _Z4stepP8Particle 0 = Particle      what a parameter of a kernel points to, counted from 0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/launch.h"

namespace tilescope::ptx {

// By variable, "particles", or kernel and parameter, "_Z4stepP8Particle 0".
using Structs = std::map<std::string, std::shared_ptr<const Members>, std::less<>>;

// Lines that are damaged, or say what no struct can be, say nothing.
Structs structs_in(std::string_view ptx);
std::string struct_line(const Members& members);  // with its line end
std::string elements_line(std::string_view of, const Members& members);
std::string parameter_key(std::string_view kernel, size_t parameter);

// Gives the arrays of a launch the structs that they are made of, where their elements are not wider than what they
// are parts of.
void name_members(Launch& launch, const Structs& structs);
// The same, and arrays of which nobody knows extents or types become rows of structs, each a row of its words.
void shape_by_members(Launch& launch, const Structs& structs);

}  // namespace tilescope::ptx
