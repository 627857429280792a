// tilescope record KERNEL ...: runs a kernel and writes its recording.
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/ptx_choice.h"
#include "app/cli/record_options.h"
#include "core/base/words.h"
#include "core/trace/file.h"

namespace tilescope::cli {

namespace {

// Without separators, for programs that read them.
std::string counted(uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "verified", or what is wrong with the result.
std::string judgement(const trace::Trace& trace) {
    const trace::Verification& result = trace.meta.result;
    if (!result.checked) return "result not checked";
    if (result.verified) return "result verified";
    std::string text = "result WRONG in " + counted(result.wrong, "element");
    if (result.first_wrong >= 0)
        text += ", the first " + element_name(trace.launch.arrays[result.array], result.first_wrong);
    return text;
}

// ", in 3 launches and 4.1 times the kernel's own 0.29 ms"; "" where it was not measured.
std::string price_of(const trace::Price& price) {
    if (!(price.plain_ms > 0) || !(price.recorded_ms > 0)) return "";
    return fmt::format(", in {} and {:.2f} times the kernel's own {:.4g} ms",
                       price.launches == 1 ? "1 launch" : fmt::format("{} launches", price.launches),
                       price.recorded_ms / price.plain_ms, price.plain_ms);
}

uint64_t count_barriers(const trace::Trace& trace) {
    uint64_t barriers = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step)
        barriers += trace.sites[trace.form_of(step).site].kind == ptx::SiteKind::Barrier;
    return barriers;
}

int run_record(const RecordRequest& request) {
    auto job = job_of(request);
    if (!job) return fail(kWrongCall, job.error().message);
    if (auto good = check_output(job->output); !good) return fail(kFailure, good.error().message);
    if (!request.ptx_file.empty()) {
        if (auto good = use_ptx_file(job->plan, request.ptx_file); !good)
            return fail(kFailure, good.error().message);
    } else if (request.compiler == "nvrtc") {
        // For the GPU that is there; without one, for the oldest that NVRTC still compiles for.
        const auto devices = gpu::devices();
        const int capability = devices ? devices->front().major * 10 + devices->front().minor : 75;
        if (auto good = use_nvrtc(job->plan, capability); !good) return fail(kFailure, good.error().message);
    }

    std::atomic<bool> stop{false};
    std::atomic<uint64_t> blocks_done{0};
    job->options.common.stop = &stop;
    job->options.common.blocks_done = &blocks_done;
    const BlockWindow& window = job->options.common.window;
    const uint64_t total = uint64_t{window.x1 - window.x0} * (window.y1 - window.y0);
    std::optional<Result<trace::Trace>> outcome;
    std::string said;
    run_with_progress([&] { outcome.emplace(gpu::record(job->plan, job->options, job->backend, said)); },
                      stop, blocks_done, total);
    const Result<trace::Trace>& trace = *outcome;
    if (stop) return fail(kFailure, fmt::format("stopped; '{}' was not written", job->output));
    if (!trace) return fail(kFailure, trace.error().message);
    if (auto good = trace::write_file(*trace, job->output); !good)
        return fail(kFailure, good.error().message);

    if (!trace->meta.complete) {
        return fail(kFailure, fmt::format("{}; what was recorded until then is in '{}'",
                                          trace->meta.incomplete_reason, job->output));
    }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(job->output, error);
    const uint64_t barriers = count_barriers(*trace);
    return print(fmt::format("{}: {} and {} in {}, {}; {}; recorded {}\n", job->output,
                             counted(trace->steps() - barriers, "request"), counted(barriers, "barrier"),
                             counted(trace->blocks.size(), "block"), judgement(*trace),
                             counted(error ? 0 : bytes, "byte"), said + price_of(trace->meta.price)));
}

}  // namespace

void add_record(CLI::App& app, Chosen& chosen) {
    auto request = std::make_shared<RecordRequest>();
    CLI::App* command =
        app.add_subcommand("record", "Run a kernel and write which thread touched what, and when");
    command->add_option("KERNEL", request->kernel, "A kernel that 'tilescope kernels' lists")->required();
    CLI::Option* tile = command->add_option("--tile", request->tile, "Tile width T: 2, 4, 8, 16 or 32 (16)");
    command->add_option("--m", request->m, "Rows of M and P (64)");
    command->add_option("--k", request->k, "Columns of M, rows of N (64)");
    command->add_option("--n", request->n, "Columns of N and P (64)");
    command->add_option("--block", request->block,
                        "Threads of a block as XxY; the same as --tile for a square");
    command->add_option("--blocks", request->blocks, "Record only blocks x0:x1,y0:y1 (all)");
    command->add_option("--backend", request->backend,
                        "cpu, gpu, or auto: the GPU where there is one (auto)");
    command->add_option("--compiler", request->compiler, "clang, whose PTX ships, or nvrtc (clang)");
    command->add_option("--schedule", request->schedule,
                        "Order of warps on the CPU: fair, greedy, or a seed (what shows the kernel's point)");
    command->add_option("--buffer", request->buffer, "Bytes of the GPU's trace buffer (what fits well)")
        ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
    command->add_flag("--one-launch", request->one_launch,
                      "One launch on the GPU: what does not fit the buffer is dropped and counted");
    command->add_flag("--exact", request->exact,
                      "Every lane's address in full on the GPU: slow, assumes nothing");
    command->add_option("--seed", request->seed, "Seed of the inputs (1)");
    command->add_option("--threads", request->threads, "CPU threads to use (all)");
    command->add_option("--ptx", request->ptx_file, "PTX of the same kernel by another compiler");
    command->add_option("-o,--output", request->output, "The file to write (KERNEL-MxKxN-tT.tsc)");
    command->callback([request, tile, &chosen] {
        request->tile_given = tile->count() > 0;
        chosen = [request] { return run_record(*request); };
    });
}

}  // namespace tilescope::cli
