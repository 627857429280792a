// An array as a description gives it: extents and contents.
#pragma once

#include <cstdint>

#include "core/base/launch.h"
#include "kernels/alone/description.h"

namespace tilescope::kernels {

// Type and extents of an argument that is an array; without contents, name and role.
Array array_of(const GivenArgument& argument);

// stream: tells the arrays of a launch apart and is the same each time, as the place among the parameters;
// guessed contents are random ones.
void put_contents(Array& array, const GivenContents& contents, uint32_t stream);

}  // namespace tilescope::kernels
