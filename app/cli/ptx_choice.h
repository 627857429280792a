// The PTX that runs: what ships, or what --ptx or --compiler put in its place.
#pragma once

#include <string>

#include "core/base/result.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::cli {

// Another compiler's PTX of the same kernel, from a file. The source is the file that its .file and .loc
// lines name, where that can be read; else none is shown, for nobody knows that the shipped one is it.
Result<void> use_ptx_file(kernels::Plan& plan, const std::string& path);

// What NVRTC makes of the kernel's source for a compute capability (major * 10 + minor).
Result<void> use_nvrtc(kernels::TextbookPlan& plan, int compute_capability);

}  // namespace tilescope::cli
