// Times of the uninstrumented kernels on a GPU, with the device's own roofs measured beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/catalogue.h"
#include "kernels/gpu/driver.h"
#include "kernels/timings.h"

namespace tilescope::gpu {

struct TimeOptions {
    uint32_t warm_up = 3, runs = 20;
    bool price = true;   // run the recorded kernel too (one launch that keeps only what fits)
    bool cublas = true;  // where libcublas is
    bool roofs = true;   // copy bandwidth and fp32 peak
    const std::atomic<bool>* stop = nullptr;
};

// Verifies the result against a plain product, warms up, then runs it options.runs times.
Result<kernels::Timing> time_kernel(Device& device, const kernels::Plan& plan, const TimeOptions& options);
Result<kernels::Roofs> measure_roofs(Device& device);
// SGEMM of cuBLAS, kernel name "cublas"; nothing where libcublas is not there.
Result<std::optional<kernels::Timing>> time_cublas(Device& device, const kernels::Shape& shape,
                                                   const TimeOptions& options);

}  // namespace tilescope::gpu
