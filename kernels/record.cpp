// Runs a plan's blocks on the CPU with a recorder each, and puts the trace together.
#include "kernels/record.h"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <new>
#include <tuple>

#include <fmt/core.h>
#include <unistd.h>

#include "core/base/version.h"
#include "core/trace/builder.h"
#include "kernels/record_launch.h"

namespace tilescope::kernels {

namespace {

BlockWindow clip(const BlockWindow& window, const Dim3& grid) {
    return {window.x0, std::min(window.x1, grid.x), window.y0, std::min(window.y1, grid.y)};
}

std::string now_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {text, length};
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

bool after(const simt::BlockId& a, const simt::BlockId& b) {
    return std::tie(a.z, a.y, a.x) > std::tie(b.z, b.y, b.x);
}

// Which blocks after a faulting one had begun depends on the threads; the trace must not.
void set_outcome(trace::Meta& meta, const simt::Outcome& outcome) {
    meta.complete = outcome.complete;
    if (outcome.fault) {
        meta.incomplete_reason = outcome.fault->message;
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

// Runs the first block unrecorded and multiplies: the blocks of a window are alike but for edges.
// Windows too small to fill a memory are not measured.
Result<void> check_memory(const ReadyLaunch& ready, simt::GlobalMemory& memory, const RecordOptions& options,
                          simt::RunOptions run) {
    constexpr uint64_t kFewBlocks = 64;
    constexpr uint64_t kBytesAStep = 16;  // 8 in the block's recorder, 8 in the trace that is put together
    const BlockWindow& window = ready.launch.window;
    const uint64_t blocks = uint64_t{window.x1 - window.x0} * (window.y1 - window.y0) * ready.launch.grid.z;
    if (blocks < kFewBlocks && options.memory == 0) {
        return {};
    }
    simt::Launch first = ready.launch;
    first.window = {window.x0, window.x0 + 1, window.y0, window.y0 + 1};
    StepCounter counter;
    run.threads = 1;
    run.blocks_done = nullptr;
    const auto outcome =
        simt::run(*ready.program, first, memory, run, [&](const simt::BlockId&) { return &counter; });
    if (!outcome) {
        return outcome.error();
    }
    const double bytes = static_cast<double>(counter.steps) * static_cast<double>(blocks) * kBytesAStep;
    if (bytes > static_cast<double>(memory_for_steps(options))) {
        return Error{fmt::format(
            "{} blocks of about {} requests need {:.1f} GB of memory; record a smaller window of blocks",
            blocks, counter.steps, bytes / 1e9)};
    }
    return {};
}

}  // namespace

Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options) {
    const BlockWindow window = clip(options.window, plan.grid);
    if (window.x0 >= window.x1 || window.y0 >= window.y1) {
        return Error{fmt::format(
            "the window of blocks holds none of the grid's {} x {}; choose x below {} and y below {}",
            plan.grid.x, plan.grid.y, plan.grid.x, plan.grid.y)};
    }
    auto ready = make_ready(plan, options.seed);
    if (!ready) {
        return ready.error();
    }
    simt::Launch& launch = ready->launch;
    launch.window = window;
    launch.schedule = schedule_of(plan, options);
    simt::RunOptions run;
    run.threads = options.threads;
    run.max_instructions_per_warp = options.max_instructions_per_warp;
    run.stop = options.stop;
    run.blocks_done = options.blocks_done;

    if (auto ok = check_memory(*ready, ready->memory, options, run); !ok) {
        return ok.error();
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
        trace::Meta meta = meta_of(plan, options, window);
        set_outcome(meta, *outcome);
        trace::Trace trace = trace::assemble(std::move(meta), sites, launch.arrays, std::move(recorders));
        for (size_t i = 0; i < trace.arrays.size(); ++i) {
            if (trace.arrays[i].role == ArrayRole::Output) {
                const auto& bytes = ready->memory.buffers[buffer_of(trace.arrays, i)].bytes;
                trace.meta.result =
                    verify(trace, reinterpret_cast<const float*>(bytes.data()), options.threads);
            }
        }
        return trace;
    } catch (const std::bad_alloc&) {
        return Error{"too little memory for this recording; record a smaller window of blocks"};
    }
}

}  // namespace tilescope::kernels
