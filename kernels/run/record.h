// From a plan to a recording: contents, run, check of the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/simt/interpreter.h"
#include "core/trace/trace.h"
#include "kernels/run/plan.h"
#include "kernels/run/ready.h"

namespace tilescope::kernels {

struct RecordOptions {
    BlockWindow window;
    std::optional<Schedule> schedule;  // none: Plan::schedule
    unsigned threads = 0;
    uint64_t max_instructions_per_warp = 1ull << 32;
    const std::atomic<bool>* stop = nullptr;
    std::atomic<uint64_t>* blocks_done = nullptr;
    // Bytes that the steps may take, 0 for three quarters of the machine's memory. A window whose first
    // block says that it will take more is refused before it runs.
    uint64_t memory = 0;
    simt::GlobalMemory* after = nullptr;  // takes the arrays as the kernel left them
    bool timestamp = true;                // fill Meta::recorded_at
};

// A fault of the kernel is no Error: the trace holds what was recorded until then, with
// complete == false and the reason. Errors are bad PTX or too little memory.
Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options);

// What a trace was recorded from: its own PTX, source and launch.
Plan plan_of(const trace::Trace& trace);

// Makes blocks of a recorded launch again with values: runs the trace's own PTX on the trace's own
// contents, in the order of warps that the trace recorded. Made once for a trace (it holds program and
// memory), then used for any of its blocks; one thread at a time.
class Replayer {
public:
    static Result<Replayer> of(const trace::Trace& trace);
    Replayer(Replayer&&) noexcept;
    Replayer& operator=(Replayer&&) noexcept;
    ~Replayer();

    // block: index into trace.blocks. `trace` is the one given to of(). The observer sees the same
    // steps as recorded, with values, origins and products; a difference is an Error that says where.
    Result<void> replay(const trace::Trace& trace, uint32_t block, simt::BlockObserver& observer);

    // Floating-point operations of the block that was replayed last; an fma counts as 2.
    uint64_t flop() const;

private:
    struct State;
    explicit Replayer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Floating-point operations of all recorded blocks, counted as they are run again.
Result<uint64_t> count_flop(const trace::Trace& trace);

// What recording on the CPU and on a GPU have in common.

// The window of blocks to record, clipped to the grid; an error where it holds none.
Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options);

// All of Meta but what the recording itself decides, for the CPU.
trace::Meta meta_of(const Plan& plan, const RecordOptions& options, const BlockWindow& window);

// Requests and barriers of the window's first block, which the others are alike to but for edges: runs
// it unrecorded. What it stores stays in `memory`.
Result<uint64_t> steps_of_first_block(const ReadyLaunch& ready, simt::GlobalMemory& memory,
                                      const BlockWindow& window, const RecordOptions& options);

// Refuses a recording that the machine's memory cannot hold.
Result<void> check_memory(uint64_t blocks, uint64_t steps_a_block, uint64_t bytes_a_step,
                          const RecordOptions& options);

// Holds the outputs in `memory` against what they must be, where the plan knows; the answer goes to
// trace.meta.result, and the memory to options.after where that is asked for.
void finish_recording(trace::Trace& trace, const Plan& plan, simt::GlobalMemory& memory,
                      const RecordOptions& options);

}  // namespace tilescope::kernels
