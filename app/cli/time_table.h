// Times as a table for a person.
#pragma once

#include <string>
#include <vector>

#include "kernels/textbook/timings.h"

namespace tilescope::cli {

// Device, roofs, a row a kernel with its speed-up over `untiled` and `untiled_swapped` of the same shape and
// tile width, and a legend. notes: a line each below it.
std::string time_table(const kernels::Timings& timings, const std::vector<std::string>& notes);

}  // namespace tilescope::cli
