// Runs a plan's blocks on the CPU with a recorder each, and puts the trace together.
#include "kernels/run/record.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <tuple>

#include <fmt/core.h>

#include "core/base/contents.h"
#include "core/base/utc.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/trace/builder.h"
#include "core/trace/claims.h"
#include "core/trace/format.h"

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
    StepCounter(uint64_t most_steps, size_t sites) : most(most_steps) { counted.of_site.resize(sites); }
    StepsOfBlock counted;
    uint64_t most = 0;
    void on_request(const simt::Request& request) override { count(request.site); }
    void on_barrier(uint32_t site, uint32_t, uint32_t) override { count(site); }
    void on_exchange(const simt::Exchange& exchange) override { count(exchange.site); }

private:
    void count(uint32_t site) {
        ++counted.of_site[site];
        enough = ++counted.all > most;
    }
};

uint64_t blocks_of(const BlockWindow& window, const Dim3& grid) {
    return uint64_t{window.x1 - window.x0} * (window.y1 - window.y0) * grid.z;
}

// What the check of a result needs beside the arrays: two bits for each element, and a row's sums.
uint64_t bytes_of_check(const Plan& plan) {
    uint64_t bytes = 0;
    for (const Array& array : plan.launch.arrays)
        if (plan.check && array.writes())
            bytes += array.elements() / 4 + uint64_t{array.rows} * sizeof(trace::Verification);
    return bytes;
}

Result<void> check_readable(trace::Meta meta, const ReadyLaunch& ready) {
    using trace::Claim;
    trace::Trace empty;
    empty.meta = std::move(meta);
    empty.launch = ready.launch;
    empty.sites = simt::sites_of(*ready.program);
    const std::string &ptx = empty.meta.ptx, &source = empty.meta.source;
    const auto lines = [](const std::string& text) {
        return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    };
    for (const Result<void>& held :
         {trace::within(Claim::PtxBytes, ptx.size()), trace::within(Claim::PtxLines, lines(ptx)),
          trace::within(Claim::SourceBytes, source.size()), trace::within(Claim::SourceLines, lines(source)),
          trace::check_claims(empty.meta, empty.launch),
          trace::within(Claim::MetaBytes, trace::meta_to_json(empty).size())}) {
        if (held) continue;
        return Error{
            fmt::format("a recording of {} could not be opened again: {}; record a smaller kernel or "
                        "launch",
                        empty.meta.kernel, held.error().message)};
    }
    return {};
}

simt::RunOptions run_options(const RecordOptions& options, const ReadyRecording& ready) {
    simt::RunOptions run;
    run.memory = ready.left + simt::memory_of(*ready.program, ready.launch, run.values);
    run.max_instructions_per_warp = options.max_instructions_per_warp;
    run.stop = options.stop;
    run.allocate = options.allocate;
    run.release = options.release;
    return run;
}

// What the kernel may have stored to, as the launch begins.
void refill_outputs(ReadyLaunch& ready) {
    const std::vector<Array>& arrays = ready.launch.arrays;
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].writes()) fill(arrays[i], ready.memory.buffers[buffer_of(arrays, i)].data());
}

}  // namespace

Result<BlockWindow> window_of(const Plan& plan, const RecordOptions& options) {
    const BlockWindow& asked = options.window;
    const Dim3& grid = plan.launch.grid;
    const BlockWindow window{asked.x0, std::min(asked.x1, grid.x), asked.y0, std::min(asked.y1, grid.y)};
    if (window.x0 >= window.x1 || window.y0 >= window.y1) {
        return Error{fmt::format(
            "the window of blocks holds none of the grid's {} × {}; choose x below {} and y below {}", grid.x,
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

Result<ReadyRecording> ready_to_record(const Plan& plan, const RecordOptions& options,
                                       const BlockWindow& window) {
    const auto limit = trace::memory_limit();
    if (!limit) return limit.error();
    const uint64_t check = options.little_of_arrays ? 0 : bytes_of_check(plan);
    auto ready = make_ready(plan, *limit - std::min(*limit, check), "recording " + plan.kernel, false,
                            options.little_of_arrays);
    if (!ready) return ready.error();
    ReadyRecording made{std::move(*ready)};
    if (auto ok = check_readable(meta_of(plan, options, window), made); !ok) return ok.error();
    uint64_t taken = check + simt::memory_of(*made.program, made.launch, false);
    for (const simt::Buffer& buffer : made.memory.buffers) taken += buffer.bytes.size();
    // Of what a reader takes, the texts, and a sixteenth for tables and for steps that come before it shows
    // that there is no memory left.
    const uint64_t readable = trace::most_unpacked(*limit, 0), texts = plan.ptx.size() + plan.source.size();
    made.left = std::min(*limit - taken, (readable - std::min(readable, texts)) / 16 * 15);
    return made;
}

Result<StepsOfBlock> steps_of_first_block(ReadyRecording& ready, const BlockWindow& window,
                                          uint64_t bytes_a_step, const RecordOptions& options) {
    const uint64_t blocks = blocks_of(window, ready.launch.grid);
    StepCounter counter(ready.left / blocks / bytes_a_step, simt::sites_of(*ready.program).size());
    constexpr uint64_t kUnknown = 1u << 16;  // where the first block cannot be run here
    if (!simt::why_not_run(*ready.program).empty()) return StepsOfBlock{std::min(kUnknown, counter.most), {}};
    simt::RunOptions run = run_options(options, ready);
    run.threads = 1;
    run.window = {window.x0, window.x0 + 1, window.y0, window.y0 + 1, 0, 1};
    const auto outcome = simt::run(*ready.program, ready.launch, ready.memory, run,
                                   [&](const simt::BlockId&) { return &counter; });
    if (!outcome) return outcome.error();
    refill_outputs(ready);
    if (!counter.enough) return std::move(counter.counted);
    if (options.too_large) *options.too_large = true;
    const Error error = trace::more_memory(fmt::format(
        "recording {} of more than {}", counted(blocks, "block"), counted(counter.most, "request")));
    return Error{error.message + ", or record a smaller window of blocks"};
}

std::string no_memory_left() {
    return trace::more_memory("the recording").message + ", or record a smaller window of blocks";
}

void finish_recording(trace::Trace& trace, const Plan& plan, simt::GlobalMemory& memory,
                      const RecordOptions& options) {
    if (plan.check && !options.little_of_arrays)
        trace.meta.result = plan.check(trace, memory, options.threads, options.stop);
    if (options.after) *options.after = std::move(memory);
}

Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options) try {
    const auto window = window_of(plan, options);
    if (!window) return window.error();
    auto ready = ready_to_record(plan, options, *window);
    if (!ready) return ready.error();
    simt::RunOptions run = run_options(options, *ready);
    run.threads = options.threads;
    run.blocks_done = options.blocks_done;
    run.window = *window;
    run.schedule = options.schedule.value_or(plan.schedule);
    run.name_outside = options.name_outside;
    run.print = options.print;

    // Windows too small to fill a memory are not measured.
    constexpr uint64_t kFewBlocks = 64;
    constexpr uint64_t kBytesAStep = 8;
    if (blocks_of(*window, plan.launch.grid) >= kFewBlocks)
        if (const auto steps = steps_of_first_block(*ready, *window, kBytesAStep, options); !steps)
            return steps.error();
    if (options.filled)
        for (simt::Buffer& buffer : ready->memory.buffers) buffer.filled = options.filled(buffer.base);
    const std::vector<ptx::Site>& sites = simt::sites_of(*ready->program);
    trace::RecordingMemory memory(ready->left);
    std::mutex mutex;
    std::vector<std::pair<simt::BlockId, std::unique_ptr<trace::BlockRecorder>>> made;
    const auto make_recorder = [&](const simt::BlockId& id) {
        auto recorder = std::make_unique<trace::BlockRecorder>(ready->launch.arrays, sites, id, &memory);
        trace::BlockRecorder* const observer = recorder.get();
        const std::lock_guard lock(mutex);
        made.emplace_back(id, std::move(recorder));
        return observer;
    };
    const auto outcome = simt::run(*ready->program, ready->launch, ready->memory, run, make_recorder);
    if (!outcome) return outcome.error();
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    for (auto& [id, recorder] : made)
        if (!outcome->fault || !after(id, outcome->fault->block)) recorders.push_back(std::move(recorder));
    trace::Meta meta = meta_of(plan, options, *window);
    set_outcome(meta, *outcome);
    if (options.fault) *options.fault = outcome->fault;
    if (options.undefined) *options.undefined = outcome->undefined;
    if (!outcome->complete && !outcome->fault && memory.spent()) meta.incomplete_reason = no_memory_left();
    trace::Trace trace = trace::assemble(std::move(meta), ready->launch, sites, std::move(recorders));
    trace.module = ready->module;
    finish_recording(trace, plan, ready->memory, options);
    return trace;
} catch (const std::bad_alloc&) {
    if (options.too_large) *options.too_large = true;
    return Error{"too little memory for this recording; record a smaller window of blocks"};
}

}  // namespace tilescope::kernels
