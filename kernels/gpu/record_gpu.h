// Records a launch on an NVIDIA GPU.
#pragma once

#include <cstdint>
#include <functional>

#include "core/trace/trace.h"
#include "kernels/gpu/arrays.h"
#include "kernels/gpu/driver.h"
#include "kernels/run/record.h"

namespace tilescope::gpu {

struct GpuRecordOptions {
    kernels::RecordOptions common;  // schedule must not be set: the hardware has its own
    uint64_t buffer_bytes = 0;      // device trace buffer, 0: what fits well; a multiple of 16 is used
    bool one_launch = false;  // do not split into windows of blocks: what does not fit is dropped and counted
    bool exact = false;       // see ptx::InstrumentOptions
    uint32_t chunk_bytes = 4096;
    double timeout_s = 60;  // a launch that takes longer counts as hung
    // By array of the plan's launch: where a running program has it already; empty: nowhere. The launch
    // begins with what lies there, and leaves what its last run left: the kernel runs more than once.
    std::vector<ArrayPlace> places;
    // Puts back, before each run, what the places that are kept held at first; empty where there are none.
    std::function<Result<void>()> restore;
};

// The trace is what record_cpu would give, with clocks, SM numbers and the price of recording in Meta.
Result<trace::Trace> record_gpu(Device& device, const kernels::Plan& plan, const GpuRecordOptions& options);

}  // namespace tilescope::gpu
