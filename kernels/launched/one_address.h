// Two `extern __shared__` arrays of a kernel begin at one address: what one stores, the other overwrites.
//
//   extern __shared__ float a[];   a[t] = 0.5f * t;    bytes 0 to 3: stored through a
//   extern __shared__ int b[];     b[t] = t;           bytes 0 to 3: stored through b
//                                  ... a[t] ...        read through a, and last stored through b
//
// Two names for one piece of memory that is used in turns are no fault: only a value that was stored through
// one name and is read through the other is.
//
// Source: CUDA C++ Programming Guide, "__shared__": all such variables start at the same address.
#pragma once

#include <optional>

#include "core/trace/trace.h"

namespace tilescope::launched {

std::optional<trace::Finding> read_through_other_name(const trace::Trace& trace);

}  // namespace tilescope::launched
