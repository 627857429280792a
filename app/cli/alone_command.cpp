// tilescope record FILE.ptx|FILE.cu ...: a kernel without a main. What is not said of its launch is guessed
// (kernels/alone), and said in the end as the command that repeats it.
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/record.h"
#include "app/cli/work.h"
#include "core/analysis/array_shapes.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ptx/parse.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/alone/guess.h"
#include "kernels/program/compile.h"
#include "kernels/program/flags.h"
#include "kernels/program/source.h"
#include "kernels/run/judged.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

struct ReadKernel {
    kernels::Alone alone;
    std::vector<std::string> files;  // that were read
};

ReadKernel read_kernel(const AloneOptions& options) {
    const std::string& file = options.file;
    ReadKernel read;
    const fs::path path(file);
    kernels::Plan plan;
    if (path.extension() == ".cu") {
        plan.source = need(read_whole(file, trace::most_of(trace::Claim::SourceBytes)));
        plan.source_name = path.filename().string();
        program::Complaint complaint;
        std::atomic<bool> stop{false};
        const StopOnSignal guard(stop);
        auto ptx = program::compile_device(path, {options.flags, "", options.nvcc, &stop}, &complaint);
        // What the compiler says is for the person who wrote the kernel, as it is.
        std::fputs(printable(complaint.said).c_str(), stderr);
        return {{need(std::move(ptx)), path.stem().string() + ".ptx", plan.source, plan.source_name}, {file}};
    }
    plan.ptx = need(read_whole(file, ptx::kMostText));
    plan.ptx_name = path.filename().string();
    read.files = {file};
    if (const std::string source = find_source(plan, file); !source.empty()) read.files.push_back(source);
    read.alone = {plan.ptx, plan.ptx_name, plan.source, plan.source_name};
    return read;
}

// Whether some of a launch was guessed.
bool said_less(const kernels::Description& said, const kernels::Description& whole) {
    return !said.grid || !said.block || said.arguments.size() < whole.arguments.size();
}

// FOLDER/KERNEL.1.tsc of a folder, which is made, KERNEL.tsc where nothing is said.
std::string output_of(const AloneOptions& options, const std::string& kernel) {
    std::error_code error;
    if (options.output.empty()) return kernel + ".tsc";
    if (!fs::is_directory(options.output, error)) {
        if (!options.output.ends_with('/')) return options.output;
        fs::create_directories(options.output, error);
        if (error)
            refuse(kFailure, "the folder '{}' cannot be made: {}; name another one with -o", options.output,
                   error.message());
    }
    return (fs::path(options.output) / (kernel + ".1.tsc")).string();
}

}  // namespace

kernels::Description said_by(const AloneOptions& options) {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--call", options.call);
    add("--kernel", options.kernel);
    add("--grid", options.grid);
    add("--block", options.block);
    add("--shared", options.shared);
    for (const std::string& argument : options.arguments) words.insert(words.end(), {"--arg", argument});
    kernels::Description said;
    need(kernels::add_options(said, words), kWrongCall);
    return said;
}

bool is_kernel_alone(const std::string& file, const AloneOptions& options) {
    const fs::path end = fs::path(file).extension();
    if (end == ".ptx") return true;
    if (end != ".cu") return false;
    if (options.said()) return true;
    // A file that cannot be read is refused by whoever reads it next.
    const auto text = read_whole(file, trace::most_of(trace::Claim::SourceBytes));
    return text && !program::names_files(options.flags) && !program::has_main(*text);
}

int record_alone(const AloneOptions& options) {
    const kernels::Description on_line = said_by(options);
    const ReadKernel read = read_kernel(options);
    const kernels::Alone& alone = read.alone;
    const std::string& commented = kernels::has_description(alone.ptx) ? alone.ptx : alone.source;
    const kernels::Description said =
        kernels::joined(need(kernels::described_in(commented, on_line.kernel)), on_line);

    const kernels::GuessedLaunch guessed =
        with_progress(1, "launches guessed", "nothing was recorded",
                      [&](const auto& stop, auto&) { return kernels::guess_launch(alone, said, &stop); });
    const kernels::Plan& plan = guessed.plan;
    std::string command = kernels::command_of(options.file, guessed.whole);
    if (!options.flags.empty()) command += " --flags " + kernels::shell_word(options.flags);
    if (options.nvcc) command += " --compiler nvcc";
    const std::string output = output_of(options, plan.kernel);
    check_output(output, read.files);
    gpu::GpuRecordOptions how = options.how;
    how.common.window = choose_window(options.blocks, plan.launch.grid);
    how.common.max_instructions_per_warp = kernels::kMostAlone;
    const BlockWindow& window = how.common.window;
    const uint64_t total = uint64_t{window.x1 - window.x0} * (window.y1 - window.y0) * plan.launch.grid.z;
    std::string recorder;
    const auto start = std::chrono::steady_clock::now();
    trace::Trace trace = with_progress(total, "blocks", fmt::format("'{}' was not written", output),
                                       [&](const auto& stop, auto& done) {
                                           how.common.stop = &stop;
                                           how.common.blocks_done = &done;
                                           return gpu::record(plan, how, options.backend, recorder);
                                       });
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    analysis::infer_arrays(trace);
    need(trace::write_file(trace, output));

    const auto recording = analysis::opened(std::make_shared<const trace::Trace>(trace));
    std::vector<analysis::SaidFault> faults;
    if (recording) faults = analysis::said_faults(kernels::judged(*recording));
    const auto fault = std::ranges::find(faults, analysis::Severity::Fault, &analysis::SaidFault::severity);
    const bool guess = said_less(said, guessed.whole);
    if (!trace.meta.complete && guess)
        trace.meta.incomplete_reason +=
            "; what was not given of this launch is a guess of Tilescope's, and another one may be right: "
            "give "
            "it with --grid, --block and --arg";

    if (options.json) {
        launched::LaunchLine line;
        line.number = 1;
        line.kernel = plan.kernel;
        line.grid = plan.launch.grid;
        line.block = plan.launch.block;
        line.shared = plan.launch.dynamic_shared;
        line.ms = took.count();
        line.recorded = output;
        for (const analysis::SaidFault& one : faults)
            line.faults.push_back(
                {key_of(one.kind), key_of(one.severity), one.line, one.other_line, one.count, one.sentence});
        if (!trace.meta.complete)
            line.error = trace.meta.incomplete_reason;
        else if (fault != faults.end() && !guess)
            line.error = fault->sentence;
        const char* backend = trace.meta.backend == trace::Backend::Gpu ? "gpu" : "cpu";
        const int printed =
            print(to_json({options.file, "", backend, std::nullopt, command, line.error}, {line}));
        return line.error.empty() ? printed : kFailure;
    }
    // What was guessed is said in any case: a launch that fails is to be said better.
    print(fmt::format("{}\n", command));
    const int done = say_recorded(trace, output, recorder);
    if (const int printed = print(faults_of(faults, output)); printed != kDone) return printed;
    if (fault == faults.end() || done != kDone) return done;
    // Blocks that are too many race for what one alone would own.
    if (guess)
        return print("parts of this launch are a guess of Tilescope's: another one may have no such fault\n");
    return fail(kFailure, "the launch has faults; the lines above say which");
}

}  // namespace tilescope::cli
