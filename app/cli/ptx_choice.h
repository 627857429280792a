// The PTX that runs: what ships, or what --ptx or --compiler put in its place.
#pragma once

#include <string>

#include "core/base/result.h"
#include "kernels/catalogue.h"

namespace tilescope::cli {

// Another compiler's PTX of the same kernel, from a file.
Result<void> use_ptx_file(kernels::Plan& plan, const std::string& path);

// What NVRTC makes of the kernel's source for a compute capability (major * 10 + minor).
Result<void> use_nvrtc(kernels::Plan& plan, int compute_capability);

}  // namespace tilescope::cli
