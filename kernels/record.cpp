// Runs a plan's blocks on the CPU with a recorder each, and puts the trace together.
#include "kernels/record.h"

#include <mutex>
#include <new>
#include <tuple>

#include "core/trace/builder.h"
#include "kernels/record_parts.h"

namespace tilescope::kernels {

namespace {

bool after(const simt::BlockId& a, const simt::BlockId& b) {
    return std::tie(a.z, a.y, a.x) > std::tie(b.z, b.y, b.x);
}

// Which blocks after a faulting one had begun depends on the threads; the trace must not.
void set_outcome(trace::Meta& meta, const simt::Outcome& outcome) {
    meta.complete = outcome.complete;
    if (outcome.fault) {
        const simt::Fault& fault = *outcome.fault;
        meta.incomplete_reason = fault.message;
        if (fault.kind == simt::Fault::Kind::BarrierDivergence || fault.kind == simt::Fault::Kind::Deadlock) {
            const Dim3& d = meta.block;
            meta.barrier_fault = {true,
                                  fault.block.x,
                                  fault.block.y,
                                  fault.block.z,
                                  (fault.thread_z * d.y + fault.thread_y) * d.x + fault.thread_x,
                                  fault.line};
        }
    } else if (!outcome.complete) {
        meta.incomplete_reason = "the recording was stopped before its end";
    }
}

}  // namespace

Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options) {
    const auto window = window_of(plan, options);
    if (!window) {
        return window.error();
    }
    auto ready = make_ready(plan, options.seed);
    if (!ready) {
        return ready.error();
    }
    simt::Launch& launch = ready->launch;
    launch.window = *window;
    launch.schedule = schedule_of(plan, options);
    simt::RunOptions run;
    run.threads = options.threads;
    run.max_instructions_per_warp = options.max_instructions_per_warp;
    run.stop = options.stop;
    run.blocks_done = options.blocks_done;

    // Windows too small to fill a memory are not measured.
    constexpr uint64_t kFewBlocks = 64;
    constexpr uint64_t kBytesAStep = 16;  // 8 in the block's recorder, 8 in the trace that is put together
    const uint64_t blocks = uint64_t{window->x1 - window->x0} * (window->y1 - window->y0) * plan.grid.z;
    if (blocks >= kFewBlocks || options.memory != 0) {
        const auto steps = steps_of_first_block(*ready, ready->memory, options);
        if (!steps) {
            return steps.error();
        }
        if (auto ok = check_memory(blocks, *steps, kBytesAStep, options); !ok) {
            return ok.error();
        }
    }
    const std::vector<ptx::Site>& sites = simt::sites_of(*ready->program);
    std::mutex mutex;
    std::vector<std::pair<simt::BlockId, std::unique_ptr<trace::BlockRecorder>>> made;
    try {
        const auto make_recorder = [&](const simt::BlockId& id) {
            auto recorder = std::make_unique<trace::BlockRecorder>(launch.arrays, sites, id);
            trace::BlockRecorder* const observer = recorder.get();
            const std::lock_guard lock(mutex);
            made.emplace_back(id, std::move(recorder));
            return observer;
        };
        const auto outcome = simt::run(*ready->program, launch, ready->memory, run, make_recorder);
        if (!outcome) {
            return outcome.error();
        }
        std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
        for (auto& [id, recorder] : made) {
            if (!outcome->fault || !after(id, outcome->fault->block)) {
                recorders.push_back(std::move(recorder));
            }
        }
        trace::Meta meta = meta_of(plan, options, *window);
        set_outcome(meta, *outcome);
        trace::Trace trace = trace::assemble(std::move(meta), sites, launch.arrays, std::move(recorders));
        verify_outputs(trace, ready->memory, options);
        return trace;
    } catch (const std::bad_alloc&) {
        return Error{"too little memory for this recording; record a smaller window of blocks"};
    }
}

}  // namespace tilescope::kernels
