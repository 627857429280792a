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
    simt::GlobalMemory* after = nullptr;                        // takes the arrays as the kernel left them
    bool timestamp = true;                                      // fill Meta::recorded_at
    std::function<std::string(uint64_t address)> name_outside;  // as simt::RunOptions
    std::function<void(std::string_view)> print;                // the same
    std::function<uint64_t(uint64_t bytes)> allocate;           // the same
    std::function<void(uint64_t address)> release;              // the same
    std::optional<simt::Fault>* fault = nullptr;                // takes the kernel's own fault
    // The window needs little of its arrays: those of zeros do not count against the memory that is allowed.
    // The result is not checked then.
    bool little_of_arrays = false;
    // The map of what is filled of the array at an address (simt::View); null where that is not followed.
    std::function<uint8_t*(uint64_t base)> filled;
    std::vector<simt::Undefined>* undefined = nullptr;  // takes what the run met
    bool* too_large = nullptr;  // set where an Error says that a smaller window would do
};

// A fault of the kernel is no Error: the trace holds what was recorded until then, with
// complete == false and the reason. Errors are bad PTX, texts and names that a reader would refuse, and
// arrays or a window that take more memory than is allowed (claims.h), as the window's first block tells
// before the others run. Where that shows only later, the recording ends there and says so.
Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options);

// What a trace was recorded from: its own PTX, source and launch.
Plan plan_of(const trace::Trace& trace);

struct ReplayOptions {
    const std::atomic<bool>* stop = nullptr;
    // Warp instructions that a block may take: these, for kernels that compute long and access little, and
    // some for each of its steps. (The kernels that ship take 5 to 7 a step.)
    uint64_t spare = uint64_t{1} << 25;
    uint64_t a_step = 64;
};

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
    // steps as recorded, with values, origins and products; a difference is an Error that says where. So is
    // a kernel that runs on and on between two steps or after the last one, and one that was stopped.
    Result<void> replay(const trace::Trace& trace, uint32_t block, simt::BlockObserver& observer,
                        const ReplayOptions& options = {});

    // Floating-point operations of the block that was replayed last, an fma counts as 2; and the warp
    // instructions that its replay took, clearing the block's memory included.
    uint64_t flop() const;
    uint64_t work() const;
    // Whether it did other steps than the recorded ones, where replay() gave an Error.
    bool differed() const;

private:
    struct State;
    explicit Replayer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Floating-point operations of all recorded blocks, counted as they are run again. Error: as replay(), and
// where all blocks together take more than eight times what one may spare.
Result<uint64_t> count_flop(const trace::Trace& trace, const ReplayOptions& options = {});

// What recording on the CPU and on a GPU have in common.

// The window of blocks to record, clipped to the grid; an error where it holds none.
Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options);

// All of Meta but what the recording itself decides, for the CPU.
trace::Meta meta_of(const Plan& plan, const RecordOptions& options, const BlockWindow& window);

// make_ready() within the memory that is allowed. Refuses what a reader would refuse (claims.h).
struct ReadyRecording : ReadyLaunch {
    uint64_t left = 0;  // bytes for the steps; no more than a reader takes
};
Result<ReadyRecording> ready_to_record(const Plan& plan, const RecordOptions& options,
                                       const BlockWindow& window);

struct StepsOfBlock {
    uint64_t all = 0;
    std::vector<uint64_t> of_site;  // by id; empty where only a guess is known
};
// Requests, barriers and exchanges of the window's first block, which the others are alike to but for edges: runs it
// unrecorded, and puts back what it may have stored to; a guess where it can only run on a GPU. An Error where so many
// steps of every block, of `bytes_a_step` bytes each, take more memory than is left.
Result<StepsOfBlock> steps_of_first_block(ReadyRecording& ready, const BlockWindow& window,
                                          uint64_t bytes_a_step, const RecordOptions& options);

// Why a recording ends early that has taken all the memory that is left for its steps.
std::string no_memory_left();

// Holds the outputs in `memory` against what they must be, where the plan knows; the answer goes to
// trace.meta.result, and the memory to options.after where that is asked for.
void finish_recording(trace::Trace& trace, const Plan& plan, simt::GlobalMemory& memory,
                      const RecordOptions& options);

}  // namespace tilescope::kernels
