// What timing a kernel of ours and timing cuBLAS have in common: a verified first run, then a Timing of the
// runs after it.
#pragma once

#include <vector>

#include "kernels/gpu/timing.h"

namespace tilescope::gpu {

// Fills P with NaN, so that an element that nobody stores is found.
Result<void> spoil_product(Device& device, const Operands& operands);
Result<kernels::ProductCheck> check_on_host(Device& device, const Operands& operands);

// Median, percentiles and GFLOP/s of times in milliseconds.
kernels::Timing timing_of(const std::string& kernel, const kernels::Shape& shape,
                          const std::vector<double>& milliseconds);

}  // namespace tilescope::gpu
