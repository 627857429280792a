// tilescope capture -- COMMAND...: runs any program on the GPU, lists the launches that it makes, and records chosen
// ones (kernels/capture).
//
// The program has this command's working directory, standard input and output. Standard output then gets the list; with
// --json a document, and the program's output goes to standard error. Where the program fails, the exit status is its
// own.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/capture_list.h"
#include "app/cli/record.h"
#include "app/cli/work.h"
#include "core/base/process.h"
#include "core/base/words.h"
#include "kernels/alone/written.h"
#include "kernels/gpu/driver.h"
#include "kernels/program/capture_run.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

struct CaptureOptions {
    std::vector<std::string> command, kernels;
    std::vector<uint64_t> launches;
    bool every = false, python = false, json = false;
    std::string blocks, output;

    OptionTable table() {
        return {
            {"COMMAND", &command, "A program and its arguments, behind --", "PATH", kRequired},
            {"--kernel", &kernels, "Record the first launch of this kernel", "NAME", kSeveral | kSingleWords},
            {"--launch", &launches, "Record this launch, from 1 on", "", kSeveral | kSingleWords},
            {"--every", &every, "Record all launches, or with --kernel all of these kernels"},
            {"--blocks", &blocks, "Record only blocks x0:x1,y0:y1 (all)", "X0:X1,Y0:Y1"},
            {"--python", &python, "Of a Python program: give arrays the names and shapes of its tensors"},
            {"-o,--output", &output, "The folder for recordings (named after the program)", "PATH"},
            {"--json", &json, "Print the launches as JSON; the program's own output goes to standard error"},
        };
    }
    bool records() const { return every || !kernels.empty() || !launches.empty(); }
};

// The folder for recordings, which is made when there is one.
std::string folder_of(const CaptureOptions& options) {
    std::string folder = options.output;
    if (folder.empty()) folder = fs::path(options.command.front()).stem().string() + "-launches";
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_directory(folder, error))
        refuse(kFailure, "'{}' is a file, and recordings go to a folder; name another one with -o", folder);
    return folder;
}

// Moves what was recorded to its place, by which the lines then call it.
void keep_recordings(std::vector<launched::CapturedProcess>& processes, const std::string& folder) {
    std::error_code error;
    const bool several =
        std::ranges::count_if(processes, [](const auto& process) { return !process.rows.empty(); }) > 1;
    for (launched::CapturedProcess& process : processes)
        for (launched::CapturedLaunch& launch : process.launches) {
            if (launch.recorded.empty()) continue;
            fs::path to = fs::path(folder);
            if (several) to /= fmt::format("process-{}", process.pid);
            fs::create_directories(to, error);
            to /= fs::path(launch.recorded).filename();
            const std::string why = move_whole(launch.recorded, to.string());
            launch.recorded = why.empty() ? to.string() : "";
            if (!why.empty())
                launch.unrecorded =
                    fmt::format("'{}' cannot be written: {}; name another place with -o", to.string(), why);
        }
}

std::string failure_of(const program::CaptureOutcome& outcome, const CaptureOptions& options, bool stopped) {
    uint64_t rows = 0, recorded = 0;
    for (const launched::CapturedProcess& process : outcome.processes) {
        rows += process.rows.size();
        recorded += static_cast<uint64_t>(std::ranges::count_if(
            process.launches, [](const auto& launch) { return !launch.recorded.empty(); }));
    }
    for (const launched::CapturedProcess& process : outcome.processes)
        for (const std::string& problem : {process.note.problem, process.damage})
            if (!problem.empty() && rows == 0) return problem;
    if (stopped) return fmt::format("stopped; {} kept", counted(recorded, "recording"));
    if (outcome.status != 0) return "the program " + how_it_ended(outcome.status);
    if (outcome.processes.empty())
        return "the program did not ask for CUDA, so that there is nothing to list; give one that launches "
               "kernels";
    if (rows == 0)
        return outcome.processes.front().note.graphs > 0 ? "the program launched CUDA graphs alone, whose "
                                                           "kernels are not seen; run it without graphs"
                                                         : "the program launched no kernel";
    if (options.records() && recorded == 0)
        return "no launch was recorded; the list says why, and names kernels and launches";
    return "";
}

int run_capture(const CaptureOptions& options) {
    const BlockWindow window = window_of(options.blocks);
    for (const uint64_t number : options.launches)
        if (number == 0) refuse(kWrongCall, "--launch 0 is no launch; they are numbered from 1");
    if (!options.records() && (!options.blocks.empty() || !options.output.empty()))
        refuse(kWrongCall, "{} is for recordings; say which launches with --kernel, --launch or --every",
               options.blocks.empty() ? "-o" : "--blocks");
    if (find_program(options.command.front()).empty())
        refuse(kFailure, "there is no program '{}'; give it as it is called in a shell, behind --",
               options.command.front());
    if (const auto found = gpu::devices(); !found)
        refuse(kFailure,
               "capture sees the launches of an NVIDIA GPU, and there is none here ({}); run it on a machine "
               "with one",
               found.error().message.substr(0, found.error().message.find(';')));

    const std::string folder = folder_of(options);
    std::error_code error;
    fs::path kept = fs::absolute(folder, error).parent_path() / ".tilescope-XXXXXX";
    std::string temporary = kept.string();
    if (options.records()) {
        fs::create_directories(kept.parent_path(), error);
        if (mkdtemp(temporary.data()) == nullptr)
            refuse(kFailure, "no file can be made in '{}'; name another folder with -o",
                   kept.parent_path().string());
    }
    program::CaptureRequest request;
    request.command = options.command;
    request.output_to_error = options.json;
    if (options.python && options.records())
        request.python = {{"capture_launch.py", std::string(kernels::capture_recipe())},
                          {"sitecustomize.py", std::string(kernels::capture_site())}};
    request.orders.folder = temporary;
    request.orders.kernels = options.kernels;
    request.orders.numbers = options.launches;
    request.orders.every = options.every;
    request.orders.window = window;
    std::atomic<bool> stop{false};
    request.stop = &stop;
    request.stop_signal = &StopOnSignal::signal();
    const StopOnSignal guard(stop);
    auto ran = program::run_captured(request);
    if (ran) keep_recordings(ran->processes, folder);
    if (options.records()) fs::remove_all(temporary, error);
    const program::CaptureOutcome done = need(std::move(ran));
    const std::string failure = failure_of(done, options, stop);
    const std::string said = options.json
                                 ? captured_json(options.command, done.status, failure, done.processes)
                                 : captured_table(done.processes);
    if (print(said) != kDone) return kFailure;
    if (failure.empty()) return kDone;
    fail(kFailure, failure);
    return done.status != 0 ? done.status : static_cast<int>(kFailure);
}

}  // namespace

CliCommand capture_command() {
    return command("capture",
                   "Run a program on the GPU, list the launches that it makes, and record chosen ones",
                   run_capture);
}

}  // namespace tilescope::cli
