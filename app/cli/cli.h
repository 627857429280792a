// The command line: a command is a function that adds it to the parser, and one that runs it.
//
//   exit status   0 done   1 failure   2 wrong call
//   errors        one plain sentence on standard error, "tilescope: ...": what was wrong and what to do
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/base/result.h"

namespace tilescope::cli {

enum Status : int { kDone = 0, kFailure = 1, kWrongCall = 2 };

// Parses and runs; returns the exit status. Catches what libraries throw.
int run(int argc, char** argv);

// A command adds itself to `app`; where it is called, it leaves in `chosen` what to do. add_window is what is
// done without a command: the window, with the default kernel recorded.
using Chosen = std::function<int()>;
using AddCommand = void(CLI::App& app, Chosen& chosen);
AddCommand add_window, add_open, add_kernels, add_devices, add_record, add_recordings, add_report, add_table,
    add_time, add_limits, add_roofline, add_compare, add_render, add_export;

// A command with its options as they stand when nothing is given; `run` gets them as they were given.
template <class Options>
std::pair<CLI::App*, std::shared_ptr<Options>> add_command(CLI::App& app, Chosen& chosen, const char* name,
                                                           const char* about, int (*run)(const Options&)) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(name, about);
    command->callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
    return {command, options};
}

// What `export` was asked for, and `render`, which is the same for one picture.
struct ExportOptions {
    std::string file, format = "png", output;
    std::string block, steps;  // of all formats but a single picture's
    bool lanes = false;        // csv and json: every lane's access
    // Pictures. with: the second recording of the Compare screen, "" for none; size: "" for the usual one.
    std::string screen = "step", with, at = "first", size, theme = "light";
    uint32_t fps = 8;
    bool lecture = false;
};

// png, svg, gif and mp4; returns the exit status.
int export_pictures(const ExportOptions& options);

// Prints "tilescope: <message>" to standard error, on one line, and returns the status given.
int fail(Status status, std::string_view message);

// Ends the command with that status and sentence, from wherever it is; run() prints it.
struct Refused {
    Status status;
    std::string message;
};
template <class... Args>
[[noreturn]] void refuse(Status status, fmt::format_string<Args...> sentence, Args&&... args) {
    throw Refused{status, fmt::format(sentence, std::forward<Args>(args)...)};
}

// What a command needs to go on; where there is none, that ends it with the error's sentence.
template <class T>
T need(Result<T> made, Status status = kFailure) {
    if (!made) throw Refused{status, made.error().message};
    if constexpr (!std::is_void_v<T>) return std::move(*made);
}

// Prints to standard output; kFailure where that cannot be written (a full disk).
int print(std::string_view text);

// --- files: where a command may write, and files of which nobody ever sees a half

// Says before long work, rather than after it, that a file cannot be written there: no such folder, a folder
// or a device of that name, no permission. Existing files may be replaced.
Result<void> check_output(const std::string& path);

// The whole text or no file: it takes the place of what was there when it is complete.
Result<void> write_text(const std::string& path, std::string_view text);

// A file written piece by piece: it grows under a temporary name and takes its own when it is whole.
class OutputFile {
public:
    explicit OutputFile(std::string path);
    ~OutputFile();  // removes what was not kept
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    bool write(std::string_view text);  // false once the file cannot be written
    Result<void> keep();                // gives the file its name; says why where anything failed

    // For a program that writes the file itself.
    const std::string& temporary() const { return temporary_; }

private:
    std::string path_, temporary_;
    std::FILE* file_ = nullptr;
    int why_ = 0;  // errno of the first failure
};

// --- long work

// Runs `work` on a thread of its own until it returns. Meanwhile Ctrl-C and SIGTERM set `stop`, which the
// work watches; where standard error is a terminal, a line shows `done` of `total` of `things`.
void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things);

// What work(stop, done) makes, run so; nothing where it was stopped.
template <class Work>
auto with_progress(uint64_t total, const char* things, const Work& work) {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    std::optional<std::invoke_result_t<Work, std::atomic<bool>&, std::atomic<uint64_t>&>> made;
    run_with_progress([&] { made.emplace(work(stop, done)); }, stop, done, total, things);
    if (stop) made.reset();
    return made;
}

}  // namespace tilescope::cli
