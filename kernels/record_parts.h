// What recording on the CPU and on a GPU have in common: before the launch and after it.
#pragma once

#include <cstdint>

#include "kernels/record.h"
#include "kernels/record_launch.h"

namespace tilescope::kernels {

// The window of blocks to record, clipped to the grid; an error where it holds none.
Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options);

Schedule schedule_of(const Plan& plan, const RecordOptions& options);

// All of Meta but what the recording itself decides, for the CPU.
trace::Meta meta_of(const Plan& plan, const RecordOptions& options, const BlockWindow& window);

// Requests and barriers of the window's first block, which the others are alike to but for edges: runs
// it unrecorded. What it stores stays in `memory`.
Result<uint64_t> steps_of_first_block(const ReadyLaunch& ready, simt::GlobalMemory& memory,
                                      const RecordOptions& options);

// Refuses a recording that the machine's memory cannot hold.
Result<void> check_memory(uint64_t blocks, uint64_t steps_a_block, uint64_t bytes_a_step,
                          const RecordOptions& options);

// Holds the outputs in `memory` against the plain product; the answer goes to trace.meta.result, and P to
// options.product where that is asked for.
void verify_outputs(trace::Trace& trace, const simt::GlobalMemory& memory, const RecordOptions& options);

}  // namespace tilescope::kernels
