// NVIDIA's run-time compiler, opened at run time by name.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tilescope::gpu {

struct Compiled {
    std::string ptx;
    std::string compiler;  // "NVRTC 13.0"
};

// CUDA C++ to PTX for a compute capability (such as 90). defines: "TILE_WIDTH=16". The error holds
// the compiler's own first complaint, or says that libnvrtc is not there and how to get it.
Result<Compiled> compile(const std::string& source, const std::string& source_name, int compute_capability,
                         const std::string& define);

}  // namespace tilescope::gpu
