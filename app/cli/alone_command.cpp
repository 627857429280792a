// tilescope record FILE.ptx|FILE.cu ...: a kernel without a main. What is not said of its launch is guessed
// (kernels/alone), and said in the end as the command that repeats it.
// tilescope record FOLDER: launches of such kernels that were written down, of which nothing is guessed.
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
#include "kernels/alone/written.h"
#include "kernels/program/compile.h"
#include "kernels/program/flags.h"
#include "kernels/program/source.h"
#include "kernels/run/judged.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

// A kernel and what is said of its launch.
struct ReadKernel {
    kernels::Alone alone;
    std::vector<std::string> files;  // that were read
    kernels::Description said;
    kernels::Check check{};  // of a launch whose results were written down
    uint64_t number = 1;
};

// What Triton's cache says beside NAME.ptx in NAME.json.
kernels::Description metadata_beside(const fs::path& ptx) {
    const auto text =
        read_whole(fs::path(ptx).replace_extension(".json").string(), kernels::kMostWrittenText);
    return text ? kernels::described_by_metadata(*text) : kernels::Description{};
}

ReadKernel read_kernel(const AloneOptions& options) {
    const std::string& file = options.file;
    ReadKernel read;
    const fs::path path(file);
    kernels::Plan plan;
    kernels::Description beside;
    if (path.extension() == ".cu") {
        plan.source = need(read_whole(file, trace::most_of(trace::Claim::SourceBytes)));
        plan.source_name = path.filename().string();
        program::Complaint complaint;
        std::atomic<bool> stop{false};
        const StopOnSignal guard(stop);
        auto ptx = program::compile_device(path, {options.flags, "", options.nvcc, &stop}, &complaint);
        // What the compiler says is for the person who wrote the kernel, as it is.
        std::fputs(printable(complaint.said).c_str(), stderr);
        plan.ptx = need(std::move(ptx));
        plan.ptx_name = path.stem().string() + ".ptx";
        read.files = {file};
    } else {
        plan.ptx = need(read_whole(file, ptx::kMostText));
        plan.ptx_name = path.filename().string();
        read.files = {file};
        if (const std::string source = find_source(plan, file); !source.empty()) read.files.push_back(source);
        beside = metadata_beside(path);
    }
    read.alone = {plan.ptx, plan.ptx_name, plan.source, plan.source_name};
    const kernels::Description on_line = said_by(options);
    const std::string& commented = kernels::has_description(plan.ptx) ? plan.ptx : plan.source;
    const auto comment = need(kernels::described_in(commented, on_line.kernel));
    read.said = kernels::joined(kernels::joined(std::move(beside), comment), on_line);
    return read;
}

// A launch that was written down: where, and which.
struct FoundLaunch {
    fs::path file;
    uint64_t number = 0;
    std::string kernel;
};

Result<std::string> text_of_launch(const fs::path& file) {
    return read_whole(file.string(), kernels::kMostWrittenText);
}

// Those of a file, of a folder, or of the folders in it, by their numbers.
std::vector<FoundLaunch> found_launches(const std::string& path) {
    std::vector<fs::path> files;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        files.emplace_back(path);
    } else if (const fs::path own = fs::path(path) / kernels::kWrittenLaunch; fs::exists(own, error)) {
        files.push_back(own);
    } else {
        for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
            if (const fs::path file = at->path() / kernels::kWrittenLaunch; fs::exists(file, error))
                files.push_back(file);
        std::ranges::sort(files);
    }
    std::vector<FoundLaunch> found;
    for (const fs::path& file : files) {
        const auto head = need(kernels::parse_written_head(need(text_of_launch(file))));
        found.push_back({file, head.number, head.said.kernel});
    }
    std::ranges::stable_sort(found, {}, &FoundLaunch::number);
    for (size_t i = 0; i < found.size(); ++i)
        if (found[i].number == 0) found[i].number = i + 1;
    if (found.empty())
        refuse(kWrongCall,
               "'{}' holds no launch that was written down: neither {} nor folders with one; name a folder "
               "that capture_launch.py made",
               path, kernels::kWrittenLaunch);
    return found;
}

ReadKernel read_written(const FoundLaunch& found) {
    const fs::path folder = found.file.parent_path();
    ReadKernel read;
    read.files = {found.file.string()};
    // A folder from a stranger may hold links to any file of this machine, and what is read goes into a recording.
    const auto beside = [&](const std::string& name, uint64_t most) -> Result<std::string> {
        std::error_code error;
        read.files.push_back((folder / name).string());
        if (fs::is_symlink(read.files.back(), error))
            return Error{
                fmt::format("'{}' is a link; put the file itself into the folder", read.files.back())};
        return read_whole(read.files.back(), most);
    };
    const auto written = need(kernels::parse_written(need(text_of_launch(found.file)), beside));
    read.alone.ptx_name = written.ptx;
    read.alone.ptx = need(beside(written.ptx, ptx::kMostText));
    read.alone.source_name = written.source.empty() ? written.ptx : written.source;
    if (!written.source.empty())
        read.alone.source = need(beside(written.source, trace::most_of(trace::Claim::SourceBytes)));
    read.said = written.said;
    read.check = kernels::check_of(written);
    read.number = found.number;
    return read;
}

// Whether some of a launch was guessed.
bool said_less(const kernels::Description& said, const kernels::Description& whole) {
    if (said.written) return false;
    return !said.grid || !said.block || said.arguments.size() < whole.arguments.size();
}

// FOLDER/KERNEL.1.tsc of a folder, which is made, KERNEL.tsc where nothing is said. several: a launch among others,
// KERNEL.2.tsc where nothing is said.
std::string output_of(const AloneOptions& options, const std::string& kernel, uint64_t number, bool several) {
    std::error_code error;
    const std::string numbered = fmt::format("{}.{}.tsc", kernel, number);
    if (options.output.empty()) return several ? numbered : kernel + ".tsc";
    if (!fs::is_directory(options.output, error)) {
        if (!options.output.ends_with('/') && !several) return options.output;
        fs::create_directories(options.output, error);
        if (error)
            refuse(kFailure, "the folder '{}' cannot be made: {}; name another one with -o", options.output,
                   error.message());
    }
    return (fs::path(options.output) / numbered).string();
}

struct DoneLaunch {
    launched::LaunchLine line;
    std::string command, backend;
    int status = kDone;  // of what was printed
};

DoneLaunch record_launch(const AloneOptions& options, const ReadKernel& read, bool several) {
    const kernels::Description& said = read.said;
    kernels::GuessedLaunch guessed = with_progress(
        1, "launches guessed", "nothing was recorded",
        [&](const auto& stop, auto&) { return kernels::guess_launch(read.alone, said, &stop); });
    kernels::Plan& plan = guessed.plan;
    plan.check = read.check;
    std::string command = kernels::command_of(options.file, guessed.whole);
    if (said.written) command = "tilescope record " + kernels::shell_word(read.files.front());
    if (!options.flags.empty()) command += " --flags " + kernels::shell_word(options.flags);
    if (options.nvcc) command += " --compiler nvcc";
    const std::string output = output_of(options, plan.kernel, read.number, several);
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

    DoneLaunch done;
    done.command = command;
    done.backend = trace.meta.backend == trace::Backend::Gpu ? "gpu" : "cpu";
    if (options.json) {
        launched::LaunchLine& line = done.line;
        line.number = read.number;
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
        return done;
    }
    // What was guessed is said in any case: a launch that fails is to be said better.
    print(fmt::format("{}\n", command));
    done.status = say_recorded(trace, output, recorder);
    if (const int printed = print(faults_of(faults, output)); printed != kDone) done.status = printed;
    if (fault == faults.end() || done.status != kDone) return done;
    // Blocks that are too many race for what one alone would own.
    done.status =
        guess ? print("parts of this launch are a guess of Tilescope's: another one may have no such fault\n")
              : fail(kFailure, "the launch has faults; the lines above say which");
    return done;
}

int record_launches(const AloneOptions& options, const std::vector<ReadKernel>& kernels) {
    LaunchesDocument document{options.file, "", "", std::nullopt, "", ""};
    std::vector<launched::LaunchLine> lines;
    int status = kDone;
    for (const ReadKernel& read : kernels) {
        const DoneLaunch done = record_launch(options, read, kernels.size() > 1);
        if (done.status != kDone) status = done.status;
        document.backend = done.backend;
        document.command = kernels.size() > 1 ? "" : done.command;
        if (document.failure.empty()) document.failure = done.line.error;
        lines.push_back(done.line);
    }
    if (!options.json) return status;
    const int printed = print(to_json(document, lines));
    return document.failure.empty() ? printed : kFailure;
}

struct RecipeOptions {
    OptionTable table() { return {}; }
};

int run_capture_launch(const RecipeOptions&) { return print(kernels::capture_recipe()); }

}  // namespace

CliCommand capture_launch_command() {
    return command("capture-launch",
                   "Print capture_launch.py, which writes down launches of a Python program",
                   run_capture_launch);
}

kernels::Description said_by(const AloneOptions& options) {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {option, value});
    };
    add("--call", options.call);
    add("--kernel", options.kernel);
    add("--grid", options.grid);
    add("--block", options.block);
    add("--cluster", options.cluster);
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

int record_alone(const AloneOptions& options) { return record_launches(options, {read_kernel(options)}); }

bool is_written_launch(const std::string& file) {
    std::error_code error;
    return fs::is_directory(file, error) || fs::path(file).extension() == ".json";
}

int record_written(const AloneOptions& options, const WrittenChoice& choice) {
    const std::vector<FoundLaunch> found = found_launches(options.file);
    std::vector<FoundLaunch> chosen;
    for (const FoundLaunch& one : found) {
        const auto is_in = [](const auto& list, const auto& value) {
            return std::ranges::find(list, value) != list.end();
        };
        const bool all = choice.every || found.size() == 1;
        const bool named = choice.kernels.empty() || is_in(choice.kernels, one.kernel);
        const bool numbered = choice.launches.empty() || is_in(choice.launches, one.number);
        const bool said = !choice.kernels.empty() || !choice.launches.empty();
        if (named && numbered && (said || all)) chosen.push_back(one);
    }
    if (chosen.empty()) {
        std::string list;
        for (const FoundLaunch& one : found)
            list += fmt::format("{}{} {}", list.empty() ? "" : ", ", one.number, printable(one.kernel));
        refuse(kWrongCall, "{}",
               one_sentence(
                   fmt::format("'{}' holds the launches {}; choose with --launch NUMBER or --kernel NAME, "
                               "or all with --every",
                               options.file, list)));
    }
    // All are read before the first is recorded.
    std::vector<ReadKernel> kernels;
    for (const FoundLaunch& one : chosen) kernels.push_back(read_written(one));
    return record_launches(options, kernels);
}

}  // namespace tilescope::cli
