// tilescope record KERNEL ...: runs a kernel and writes its recording.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "core/base/words.h"
#include "core/trace/file.h"
#include "kernels/gpu/backend.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string kernel;
    uint32_t m = 64, k = 64, n = 64;
    std::optional<uint32_t> tile;    // none: 16, or what block says
    std::string block;               // "16x16"
    std::string blocks;              // "x0:x1,y0:y1", "" for all
    std::string backend = "auto";    // cpu, gpu, auto
    std::string compiler = "clang";  // whose PTX: clang's, which ships, or what nvrtc makes
    uint64_t buffer = 0;             // bytes of the device trace buffer, 0 for what fits well
    bool one_launch = false, exact = false;
    std::string schedule;  // "" for the kernel's own
    uint64_t seed = kernels::kDefaultSeed;
    unsigned threads = 0;
    std::string ptx_file;  // "" for the PTX that ships
    std::string output;    // "" for a name made of the launch
};

// What was asked for becomes a plan and a window of blocks.
struct RecordJob {
    kernels::TextbookPlan plan;
    gpu::GpuRecordOptions options;  // `common` is all that the CPU needs
    gpu::BackendChoice backend = gpu::BackendChoice::Auto;
    std::string output;
};

// The block of every kernel that ships is T x T, so --block is another way to say --tile.
uint32_t tile_of(const Options& options) {
    if (options.block.empty()) return options.tile.value_or(16);
    const auto block = parse_pair(options.block, 'x');
    if (!block)
        refuse(kWrongCall, "--block '{}' is not a block; give it as XxY, such as 16x16", options.block);
    if (block->first != block->second) {
        refuse(kWrongCall,
               "--block {} is not square, and the kernels that ship run in T x T blocks; choose 2x2, "
               "4x4, 8x8, 16x16 or 32x32",
               options.block);
    }
    if (options.tile.value_or(block->first) != block->first) {
        refuse(kWrongCall, "--block {} and --tile {} contradict each other; give one of them", options.block,
               *options.tile);
    }
    return block->first;
}

// "x0:x1,y0:y1", half-open and not empty.
std::optional<BlockWindow> parse_window(std::string_view text) {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const auto x = parse_pair(text.substr(0, comma), ':'), y = parse_pair(text.substr(comma + 1), ':');
    if (!x || !y || x->first >= x->second || y->first >= y->second) return std::nullopt;
    return BlockWindow{x->first, x->second, y->first, y->second};
}

BlockWindow window_of(const Options& options, const Dim3& grid) {
    if (options.blocks.empty()) return BlockWindow{0, grid.x, 0, grid.y};
    auto window = parse_window(options.blocks);
    if (!window) {
        refuse(kWrongCall,
               "--blocks '{}' is not a window of blocks; give it as x0:x1,y0:y1 with x0 < x1 and "
               "y0 < y1, such as 0:2,0:2",
               options.blocks);
    }
    if (window->x0 >= grid.x || window->y0 >= grid.y) {
        refuse(kWrongCall, "--blocks {} lies outside the grid of {} x {} blocks; x goes to {} and y to {}",
               options.blocks, grid.x, grid.y, grid.x, grid.y);
    }
    window->x1 = std::min(window->x1, grid.x);
    window->y1 = std::min(window->y1, grid.y);
    return *window;
}

// An option that only one of them takes decides where auto would: --schedule is the CPU's, --buffer and the
// like are the GPU's.
gpu::BackendChoice backend_of(const Options& options) {
    const auto choice = gpu::backend_of(options.backend);
    if (!choice) refuse(kWrongCall, "--backend '{}' is not known; choose cpu, gpu or auto", options.backend);
    const std::string gpus = options.buffer > 0   ? "--buffer"
                             : options.one_launch ? "--one-launch"
                             : options.exact      ? "--exact"
                                                  : "";
    if (!options.schedule.empty() && (*choice == gpu::BackendChoice::Gpu || !gpus.empty())) {
        refuse(
            kWrongCall,
            "--schedule is an order of warps for the CPU, and a GPU has its own; leave out --schedule or {}",
            gpus.empty() ? "--backend gpu" : gpus);
    }
    if (*choice == gpu::BackendChoice::Cpu && !gpus.empty())
        refuse(kWrongCall, "{} is for recording on a GPU; leave it out or --backend cpu", gpus);
    return gpus.empty() ? *choice : gpu::BackendChoice::Gpu;
}

// "fair", "greedy", or a seed; "" for the kernel's own.
std::optional<Schedule> schedule_of(const Options& options) {
    const std::string& text = options.schedule;
    if (text.empty()) return std::nullopt;
    if (text == "fair") return Schedule{Schedule::Kind::Fair, 0};
    if (text == "greedy") return Schedule{Schedule::Kind::Greedy, 0};
    if (const auto seed = parse_number<uint64_t>(text)) return Schedule{Schedule::Kind::Seeded, *seed};
    refuse(kWrongCall,
           "--schedule '{}' is not an order of warps; choose fair, greedy or a whole number as a seed", text);
}

// What is wrong with the call is said here, before any file is read.
RecordJob job_of(const Options& options) {
    RecordJob job;
    job.backend = backend_of(options);
    need(check_compiler(options.compiler == "shipped" ? "clang" : options.compiler, options.ptx_file),
         kWrongCall);
    const kernels::Shape shape{options.m, options.k, options.n, tile_of(options)};
    job.plan = need(kernels::plan(options.kernel, shape, options.seed), kWrongCall);
    job.options.common.window = window_of(options, job.plan.launch.grid);
    job.options.common.threads = options.threads;
    job.options.common.schedule = schedule_of(options);
    job.options.buffer_bytes = options.buffer;
    job.options.one_launch = options.one_launch;
    job.options.exact = options.exact;
    job.output = options.output;
    if (job.output.empty())
        job.output =
            fmt::format("{}-{}x{}x{}-t{}.tsc", options.kernel, shape.m, shape.k, shape.n, shape.tile);
    return job;
}

Result<void> choose_ptx(const Options& options, kernels::TextbookPlan& plan) {
    if (!options.ptx_file.empty()) return use_ptx_file(plan, options.ptx_file);
    if (options.compiler != "nvrtc") return {};
    // For the GPU that is there; without one, for the oldest that NVRTC still compiles for.
    const auto devices = gpu::devices();
    return use_nvrtc(plan, devices ? devices->front().major * 10 + devices->front().minor : 75);
}

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

int run_record(const Options& options) {
    RecordJob job = job_of(options);
    need(check_output(job.output));
    need(choose_ptx(options, job.plan));

    const BlockWindow& window = job.options.common.window;
    const uint64_t total = uint64_t{window.x1 - window.x0} * (window.y1 - window.y0);
    std::string said;
    auto recorded = with_progress(total, "blocks", [&](const auto& stop, auto& done) {
        job.options.common.stop = &stop;
        job.options.common.blocks_done = &done;
        return gpu::record(job.plan, job.options, job.backend, said);
    });
    if (!recorded) refuse(kFailure, "stopped; '{}' was not written", job.output);
    const trace::Trace trace = need(std::move(*recorded));
    need(trace::write_file(trace, job.output));

    if (!trace.meta.complete) {
        refuse(kFailure, "{}; what was recorded until then is in '{}'", trace.meta.incomplete_reason,
               job.output);
    }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(job.output, error);
    const uint64_t barriers = count_barriers(trace);
    return print(fmt::format("{}: {} and {} in {}, {}; {}; recorded {}\n", job.output,
                             counted(trace.steps() - barriers, "request"), counted(barriers, "barrier"),
                             counted(trace.blocks.size(), "block"), judgement(trace),
                             counted(error ? 0 : bytes, "byte"), said + price_of(trace.meta.price)));
}

}  // namespace

void add_record(CLI::App& app, Chosen& chosen) {
    const auto [command, options] = add_command(
        app, chosen, "record", "Run a kernel and write which thread touched what, and when", run_record);
    command->add_option("KERNEL", options->kernel, "A kernel that 'tilescope kernels' lists")->required();
    command->add_option("--tile", options->tile, "Tile width T: 2, 4, 8, 16 or 32 (16)");
    command->add_option("--m", options->m, "Rows of M and P (64)");
    command->add_option("--k", options->k, "Columns of M, rows of N (64)");
    command->add_option("--n", options->n, "Columns of N and P (64)");
    command->add_option("--block", options->block,
                        "Threads of a block as XxY; the same as --tile for a square");
    command->add_option("--blocks", options->blocks, "Record only blocks x0:x1,y0:y1 (all)");
    command->add_option("--backend", options->backend,
                        "cpu, gpu, or auto: the GPU where there is one (auto)");
    command->add_option("--compiler", options->compiler, "clang, whose PTX ships, or nvrtc (clang)");
    command->add_option("--schedule", options->schedule,
                        "Order of warps on the CPU: fair, greedy, or a seed (what shows the kernel's point)");
    command->add_option("--buffer", options->buffer, "Bytes of the GPU's trace buffer (what fits well)")
        ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
    command->add_flag("--one-launch", options->one_launch,
                      "One launch on the GPU: what does not fit the buffer is dropped and counted");
    command->add_flag("--exact", options->exact,
                      "Every lane's address in full on the GPU: slow, assumes nothing");
    command->add_option("--seed", options->seed, "Seed of the inputs (1)");
    command->add_option("--threads", options->threads, "CPU threads to use (all)");
    command->add_option("--ptx", options->ptx_file, "PTX of the same kernel by another compiler");
    command->add_option("-o,--output", options->output, "The file to write (KERNEL-MxKxN-tT.tsc)");
}

}  // namespace tilescope::cli
