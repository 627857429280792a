#include "kernels/record_parts.h"

#include <algorithm>

#include <fmt/core.h>
#include <unistd.h>

#include "core/base/utc.h"
#include "core/base/version.h"

namespace tilescope::kernels {

namespace {

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

}  // namespace

Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options) {
    const BlockWindow& asked = options.window;
    const BlockWindow window{asked.x0, std::min(asked.x1, plan.grid.x), asked.y0,
                             std::min(asked.y1, plan.grid.y)};
    if (window.x0 >= window.x1 || window.y0 >= window.y1) {
        return Error{fmt::format(
            "the window of blocks holds none of the grid's {} x {}; choose x below {} and y below {}",
            plan.grid.x, plan.grid.y, plan.grid.x, plan.grid.y)};
    }
    return window;
}

Schedule schedule_of(const Plan& plan, const RecordOptions& options) {
    return options.schedule.value_or(plan.kernel ? plan.kernel->default_schedule : Schedule{});
}

trace::Meta meta_of(const Plan& plan, const RecordOptions& options, const BlockWindow& window) {
    trace::Meta meta;
    meta.tool_version = kVersion;
    meta.kernel = plan.kernel ? plan.kernel->name : "";
    meta.source_name = plan.source_name;
    meta.source = plan.source;
    meta.ptx_name = plan.ptx_name;
    meta.ptx = plan.ptx;
    meta.backend = trace::Backend::Cpu;
    meta.device = "CPU lockstep interpreter";
    meta.recorded_at = options.timestamp ? now_utc() : "";
    meta.m = plan.shape.m;
    meta.k = plan.shape.k;
    meta.n = plan.shape.n;
    meta.tile = plan.shape.tile;
    meta.grid = plan.grid;
    meta.block = plan.block;
    meta.window = window;
    meta.schedule = schedule_of(plan, options);
    meta.seed = options.seed;
    return meta;
}

Result<uint64_t> steps_of_first_block(const ReadyLaunch& ready, simt::GlobalMemory& memory,
                                      const RecordOptions& options) {
    const BlockWindow& window = ready.launch.window;
    simt::Launch first = ready.launch;
    first.window = {window.x0, window.x0 + 1, window.y0, window.y0 + 1};
    StepCounter counter;
    simt::RunOptions run;
    run.threads = 1;
    run.max_instructions_per_warp = options.max_instructions_per_warp;
    run.stop = options.stop;
    const auto outcome =
        simt::run(*ready.program, first, memory, run, [&](const simt::BlockId&) { return &counter; });
    if (!outcome) {
        return outcome.error();
    }
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

void verify_outputs(trace::Trace& trace, const simt::GlobalMemory& memory, const RecordOptions& options) {
    for (size_t i = 0; i < trace.arrays.size(); ++i) {
        if (trace.arrays[i].role == ArrayRole::Output) {
            const auto& bytes = memory.buffers[buffer_of(trace.arrays, i)].bytes;
            const auto* values = reinterpret_cast<const float*>(bytes.data());
            trace.meta.result = verify(trace, values, options.threads);
            if (options.product) {
                options.product->assign(values, values + bytes.size() / sizeof(float));
            }
        }
    }
}

}  // namespace tilescope::kernels
