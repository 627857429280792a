// Runs a plan's blocks on the CPU with a recorder each, and puts the trace together.
#include "kernels/run/record.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <tuple>

#include <fmt/core.h>
#include <unistd.h>

#include "core/base/contents.h"
#include "core/base/utc.h"
#include "core/base/version.h"
#include "core/trace/builder.h"

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
            meta.barrier_fault = {true,          fault.block.x, fault.block.y,
                                  fault.block.z, fault.thread,  fault.line};
        }
    } else if (!outcome.complete) {
        meta.incomplete_reason = "the recording was stopped before its end";
    }
}

struct StepCounter final : simt::BlockObserver {
    uint64_t steps = 0;
    void on_request(const simt::Request&) override { ++steps; }
    void on_barrier(uint32_t, uint32_t, uint32_t) override { ++steps; }
};

uint64_t memory_for_steps(const RecordOptions& options) {
    return options.memory ? options.memory
                          : static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
}

simt::RunOptions run_options(const RecordOptions& options) {
    simt::RunOptions run;
    run.max_instructions_per_warp = options.max_instructions_per_warp;
    run.stop = options.stop;
    return run;
}

// What the kernel may have stored to, as the launch begins.
void refill_outputs(ReadyLaunch& ready) {
    const std::vector<Array>& arrays = ready.launch.arrays;
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].writes()) fill(arrays[i], ready.memory.buffers[buffer_of(arrays, i)].bytes.data());
}

}  // namespace

Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options) {
    const BlockWindow& asked = options.window;
    const Dim3& grid = plan.launch.grid;
    const BlockWindow window{asked.x0, std::min(asked.x1, grid.x), asked.y0, std::min(asked.y1, grid.y)};
    if (window.x0 >= window.x1 || window.y0 >= window.y1) {
        return Error{fmt::format(
            "the window of blocks holds none of the grid's {} x {}; choose x below {} and y below {}", grid.x,
            grid.y, grid.x, grid.y)};
    }
    return window;
}

trace::Meta meta_of(const Plan& plan, const RecordOptions& options, const BlockWindow& window) {
    trace::Meta meta;
    meta.tool_version = kVersion;
    meta.kernel = plan.kernel;
    meta.source_name = plan.source_name;
    meta.source = plan.source;
    meta.ptx_name = plan.ptx_name;
    meta.ptx = plan.ptx;
    meta.backend = trace::Backend::Cpu;
    meta.device = "CPU lockstep interpreter";
    meta.recorded_at = options.timestamp ? now_utc() : "";
    meta.window = window;
    meta.schedule = options.schedule.value_or(plan.schedule);
    return meta;
}

Result<uint64_t> steps_of_first_block(const ReadyLaunch& ready, simt::GlobalMemory& memory,
                                      const BlockWindow& window, const RecordOptions& options) {
    StepCounter counter;
    simt::RunOptions run = run_options(options);
    run.threads = 1;
    run.window = {window.x0, window.x0 + 1, window.y0, window.y0 + 1, 0, 1};
    const auto outcome =
        simt::run(*ready.program, ready.launch, memory, run, [&](const simt::BlockId&) { return &counter; });
    if (!outcome) return outcome.error();
    return counter.steps;
}

Result<void> check_memory(uint64_t blocks, uint64_t steps_a_block, uint64_t bytes_a_step,
                          const RecordOptions& options) {
    const double bytes =
        static_cast<double>(steps_a_block) * static_cast<double>(blocks) * static_cast<double>(bytes_a_step);
    if (bytes > static_cast<double>(memory_for_steps(options))) {
        return Error{fmt::format(
            "{} blocks of about {} requests need {:.1f} GB of memory; record a smaller window of blocks",
            blocks, steps_a_block, bytes / 1e9)};
    }
    return {};
}

void finish_recording(trace::Trace& trace, const Plan& plan, simt::GlobalMemory& memory,
                      const RecordOptions& options) {
    if (plan.check) trace.meta.result = plan.check(trace, memory, options.threads);
    if (options.after) *options.after = std::move(memory);
}

Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options) {
    const auto window = window_of(plan, options);
    if (!window) return window.error();
    auto ready = make_ready(plan);
    if (!ready) return ready.error();
    simt::RunOptions run = run_options(options);
    run.threads = options.threads;
    run.blocks_done = options.blocks_done;
    run.window = *window;
    run.schedule = options.schedule.value_or(plan.schedule);

    // Windows too small to fill a memory are not measured.
    constexpr uint64_t kFewBlocks = 64;
    constexpr uint64_t kBytesAStep = 16;  // 8 in the block's recorder, 8 in the trace that is put together
    const uint64_t blocks =
        uint64_t{window->x1 - window->x0} * (window->y1 - window->y0) * plan.launch.grid.z;
    if (blocks >= kFewBlocks || options.memory != 0) {
        const auto steps = steps_of_first_block(*ready, ready->memory, *window, options);
        if (!steps) return steps.error();
        if (auto ok = check_memory(blocks, *steps, kBytesAStep, options); !ok) return ok.error();
        refill_outputs(*ready);
    }
    const std::vector<ptx::Site>& sites = simt::sites_of(*ready->program);
    std::mutex mutex;
    std::vector<std::pair<simt::BlockId, std::unique_ptr<trace::BlockRecorder>>> made;
    try {
        const auto make_recorder = [&](const simt::BlockId& id) {
            auto recorder = std::make_unique<trace::BlockRecorder>(ready->launch.arrays, sites, id);
            trace::BlockRecorder* const observer = recorder.get();
            const std::lock_guard lock(mutex);
            made.emplace_back(id, std::move(recorder));
            return observer;
        };
        const auto outcome = simt::run(*ready->program, ready->launch, ready->memory, run, make_recorder);
        if (!outcome) return outcome.error();
        std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
        for (auto& [id, recorder] : made)
            if (!outcome->fault || !after(id, outcome->fault->block))
                recorders.push_back(std::move(recorder));
        trace::Meta meta = meta_of(plan, options, *window);
        set_outcome(meta, *outcome);
        trace::Trace trace = trace::assemble(std::move(meta), ready->launch, sites, std::move(recorders));
        finish_recording(trace, plan, ready->memory, options);
        return trace;
    } catch (const std::bad_alloc&) {
        return Error{"too little memory for this recording; record a smaller window of blocks"};
    }
}

}  // namespace tilescope::kernels
