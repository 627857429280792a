// Whether a kernel stores through pointers that it finds in memory: what these lead to is not known before it runs, so
// that it cannot be saved.
//
//   ld.param %rd1, [a];  ld.global %r2, [%rd1];  st [%rd1 + 4 * %r2]     no: based on a parameter, at an index from memory
//   ld.param %rd1, [a];  ld.global %rd2, [%rd1]; st [%rd2]               yes
//
// Without regard to the order of instructions: an address counts as based on a parameter, or on a variable, where any
// value that goes into it is.
#pragma once

#include "core/ptx/ast.h"

namespace tilescope::capture {

bool stores_through_loaded_pointers(const ptx::Kernel& kernel);

}  // namespace tilescope::capture
