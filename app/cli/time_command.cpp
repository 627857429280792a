// tilescope time [KERNEL...] ...: how long the uninstrumented kernels take on the GPU.
//
// Without a GPU it shows the times that ship, named as what they are: of another machine's device.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/ptx_choice.h"
#include "app/cli/shipped_times.h"
#include "app/cli/time_options.h"
#include "app/cli/time_table.h"
#include "core/base/utc.h"
#include "core/base/version.h"
#include "kernels/gpu/timing.h"

namespace tilescope::cli {

namespace {

struct Measured {
    kernels::Timings timings;
    std::vector<std::string> notes;
};

void add_note(std::vector<std::string>& notes, const std::string& note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

Result<void> choose_ptx(const TimeRequest& request, TimeJob& job, const gpu::DeviceInfo& info) {
    for (TimeGroup& group : job.groups) {
        for (kernels::TextbookPlan& plan : group.plans) {
            Result<void> good;
            if (!request.ptx_file.empty()) good = use_ptx_file(plan, request.ptx_file);
            if (request.compiler == "nvrtc") good = use_nvrtc(plan, info.major * 10 + info.minor);
            if (!good) return good;
        }
    }
    return {};
}

// cuBLAS is a guest: where it is missing or fails, the kernels' times stand without it.
void add_cublas(gpu::Device& device, const gpu::Operands& operands, const gpu::TimeOptions& options,
                Measured& measured) {
    const auto timing = gpu::time_cublas(device, operands, options);
    if (!timing) return add_note(measured.notes, timing.error().message);
    if (*timing) return measured.timings.rows.push_back(**timing);
    add_note(measured.notes,
             "libcublas is not on this machine, so there is no time of cuBLAS; the CUDA Toolkit brings it");
}

Result<Measured> measure(gpu::Device& device, const TimeRequest& request, const TimeJob& job,
                         const std::atomic<bool>& stop, std::atomic<uint64_t>& done) {
    Measured measured;
    const gpu::DeviceInfo& info = device.info();
    kernels::Timings& timings = measured.timings;
    timings.device = info.name;
    timings.driver = info.driver;
    timings.cuda = fmt::format("{}.{}", info.cuda_major, info.cuda_minor);
    timings.date = now_utc();
    timings.command = command_of(request);
    timings.tool_version = kVersion;
    timings.compiler = compiler_of(request);
    gpu::TimeOptions options;
    options.warm_up = request.warm_up;
    options.runs = request.runs;
    options.price = !request.no_price;
    options.stop = &stop;
    options.note = [&](const std::string& note) { add_note(measured.notes, note); };
    timings.roofs = gpu::stated_roofs(info);
    if (!request.no_roofs) {
        const auto roofs = gpu::measure_roofs(device);
        if (!roofs) return roofs.error();
        timings.roofs = *roofs;
    }
    for (const TimeGroup& group : job.groups) {
        const auto operands = gpu::make_operands(device, group.shape);
        if (!operands) return operands.error();
        for (const kernels::TextbookPlan& plan : group.plans) {
            const auto timing = gpu::time_kernel(device, *operands, plan, options);
            if (!timing) return timing.error();
            timings.rows.push_back(*timing);
            ++done;
        }
        if (group.cublas) add_cublas(device, *operands, options, measured), ++done;
    }
    return measured;
}

int show(const TimeRequest& request, const Measured& measured) {
    if (request.json)
        for (const std::string& note : measured.notes) fail(kDone, note);
    const std::string text =
        request.json ? to_json(measured.timings) : time_table(measured.timings, measured.notes);
    if (request.output.empty()) return print(text);
    if (auto good = write_text(request.output, text); !good) return fail(kFailure, good.error().message);
    return kDone;
}

int show_shipped(const TimeRequest& request, const TimeJob& job, const std::string& why) {
    if (!request.ptx_file.empty()) return fail(kFailure, why);
    if (auto chosen = shipped_times(job, compiler_of(request))) {
        fail(kDone, fmt::format("{}; with an NVIDIA GPU this measures the kernels on this machine, and "
                                "without one it shows the times that ship, measured on {}",
                                why, chosen->device));
        return show(request, {std::move(*chosen), {}});
    }
    return fail(kFailure,
                fmt::format("{}; with an NVIDIA GPU this measures the kernels, and of those asked for "
                            "not all have times that ship ('tilescope time --all' shows which do)",
                            why));
}

int run_time(const TimeRequest& request) {
    auto job = job_of(request);
    if (!job) return fail(kWrongCall, job.error().message);
    if (!request.output.empty()) {
        if (auto good = check_output(request.output); !good) return fail(kFailure, good.error().message);
    }
    auto device = gpu::Device::open();
    if (!device) return show_shipped(request, *job, device.error().message);
    if (auto good = choose_ptx(request, *job, (*device)->info()); !good)
        return fail(kFailure, good.error().message);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    std::optional<Result<Measured>> outcome;
    run_with_progress([&] { outcome.emplace(measure(**device, request, *job, stop, done)); }, stop, done,
                      job->launches(), "times");
    if (stop) return fail(kFailure, "stopped; no times are shown");
    if (!*outcome) return fail(kFailure, outcome->error().message);
    return show(request, **outcome);
}

}  // namespace

void add_time(CLI::App& app, Chosen& chosen) {
    auto request = std::make_shared<TimeRequest>();
    CLI::App* command =
        app.add_subcommand("time", "Time the uninstrumented kernels on the GPU, verified first");
    const auto take_all = CLI::MultiOptionPolicy::TakeAll;
    command->add_option("KERNEL", request->kernels, "Kernels that 'tilescope kernels' lists, or cublas (all)")
        ->multi_option_policy(take_all);
    command->add_option("--n", request->sizes, "Columns of N and P, and m and k too unless given (1024)")
        ->multi_option_policy(take_all);
    command->add_option("--m", request->m, "Rows of M and P (n)");
    command->add_option("--k", request->k, "Columns of M, rows of N (n)");
    command->add_option("--tile", request->tiles, "Tile widths T: 2, 4, 8, 16, 32 (16)")
        ->multi_option_policy(take_all);
    command->add_flag("--all", request->all, "All kernels, n 256 to 8192, T 8, 16 and 32: minutes");
    command->add_option("--runs", request->runs, "Timed runs of each, at least 20 (20)");
    command->add_option("--warm-up", request->warm_up, "Runs before them, the verified one included (3)");
    command->add_option("--ptx", request->ptx_file, "PTX of the same kernel by another compiler");
    command->add_option("--compiler", request->compiler, "clang, whose PTX ships, or nvrtc (clang)");
    command->add_flag("--no-cublas", request->no_cublas, "Leave out cuBLAS");
    command->add_flag("--no-price", request->no_price, "Do not run the recorded kernel too");
    command->add_flag("--no-roofs", request->no_roofs, "Do not measure copy bandwidth and fp32 peak");
    command->add_flag("--json", request->json, "Print JSON (schema tilescope.timings/1)");
    command->add_option("-o,--output", request->output, "Write to this file instead");
    command->callback([request, &chosen] { chosen = [request] { return run_time(*request); }; });
}

}  // namespace tilescope::cli
