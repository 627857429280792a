// The command line: a command is a function that adds it to the parser, and one that runs it. Beside them
// stands what several commands do the same way: what arguments name, files, long work.
//
//   exit status   0 done   1 failure   2 wrong call
//   errors        one plain sentence on standard error, "tilescope: ...": what was wrong and what to do
#pragma once

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/json_fields.h"
#include "core/base/result.h"
#include "core/base/version.h"
#include "core/playback/cursor.h"
#include "core/trace/trace.h"
#include "kernels/alone/description.h"
#include "kernels/launched/orders.h"
#include "kernels/gpu/backend.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/program/compile.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"
#include "kernels/textbook/timings.h"

namespace tilescope::cli {

enum Status : int { kDone = 0, kFailure = 1, kWrongCall = 2 };

// Parses and runs; returns the exit status. Catches what libraries throw.
int run(int argc, char** argv);

// The parser, and what to do once all is read: what the command that was called left there.
struct CommandLine : CLI::App {
    using CLI::App::App;
    std::function<int()> chosen;

    // A command with its options as they stand when nothing is given; `run` gets them as they were given.
    template <class Options>
    auto command(const char* called, const char* about, int (*run)(const Options&)) {
        auto options = std::make_shared<Options>();
        CLI::App* const added = add_subcommand(called, about);
        added->callback([this, options, run] { chosen = [options, run] { return run(*options); }; });
        return std::pair{added, options};
    }
};

// A command adds itself. add_window is what is done without a command: the window, with the default kernel
// recorded.
using AddCommand = void(CommandLine& line);
AddCommand add_window, add_open, add_kernels, add_devices, add_record, add_recordings, add_report, add_table,
    add_time, add_limits, add_roofline, add_levels, add_compare, add_render, add_export, add_complete,
    add_manual;

// The parser with all commands.
std::unique_ptr<CommandLine> command_line();

// What can follow these words, of which the last one is as far as it is typed: what `complete` prints
// (complete.cpp).
std::vector<std::string> completions(const CommandLine& line, std::vector<std::string> words);
// Gives options that take one of a few words, or a kind of thing, the name of that for --help.
void name_places(CommandLine& line);
bool takes_value(const CLI::Option& option);  // else it is a flag
// What the window has by names, and what each is: the kind is "LESSON", "FIGURE" or "ACTION". None in a build
// without it.
std::vector<std::pair<std::string, std::string>> window_names(std::string_view kind);

// The manual page, as troff reads it (manual.cpp).
std::string manual(const CommandLine& line);

// Reads the arguments into it: none where line.chosen is what to do, or the exit status where nothing is left
// to do (a wrong call, of which it has told; --help; --version).
std::optional<int> parse(CommandLine& line, int argc, const char* const* argv);

// What `export` was asked for, and `render`, which is the same for one picture.
struct ExportOptions {
    std::string file, format = "png", output;
    std::string block, steps;  // of all formats but a single picture's
    bool lanes = false;        // csv and json: every lane's access
    // Pictures. with: the second recording of the Compare screen, "" for none; size: "" for the usual one.
    std::string figure, set;  // of the lessons: its name, "warps=8,latency=400"
    std::string screen = "step", with, at = "first", size, theme = "light";
    // Films: fps: a picture a step, so many a second; seconds: with motion, how long a step lasts. At most
    // one of them; neither: with motion, as long as captions take to read.
    std::optional<uint32_t> fps;
    std::optional<double> seconds;
    bool lecture = false;
    std::vector<std::string> actions;  // that are done before the picture is drawn, by name
    // Of a lesson (by name; html: or by its file), or of "ask me": the stop from 1 on, and of its question an
    // answer, or what is right.
    std::string lesson, answer;
    uint32_t stop = 1;
    bool reveal = false, ask = false;
};

// png, svg, gif and mp4; returns the exit status.
int export_pictures(const ExportOptions& options);
// The place of a lesson that ships, by its name, in the list of them; another name is refused.
size_t shipped_lesson(const std::string& name);
// html: a lesson's handout; returns the exit status.
int export_handout(const ExportOptions& options);

// --- what a command says

// Prints "tilescope: <message>" to standard error, on one line, and returns the status given. What a terminal
// would obey is left out of it, and of what print() prints (core/base/text.h).
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

using Json = nlohmann::ordered_json;  // keys stay in the order in which a person reads them

// Keys and values that alternate, behind the schema's name and the program's version.
template <class... Fields>
std::string document(const char* schema, const Fields&... fields) {
    return json_text(object_of("schema", schema, "version", kVersion, fields...), 2) + "\n";
}

// --- what arguments name, each read whole; what cannot be read is refused

// "1024".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "16x8" with separator 'x', "3,0" with ','.
using NumberPair = std::pair<uint32_t, uint32_t>;
std::optional<NumberPair> parse_pair(std::string_view text, char separator);

// One of a few words; the sentence says of another word what there is to choose from.
template <class Value>
Value choose(std::string_view word, std::initializer_list<std::pair<std::string_view, Value>> words,
             fmt::format_string<std::string_view&> sentence) {
    for (const auto& [name, value] : words)
        if (name == word) return value;
    refuse(kWrongCall, sentence, word);
}

struct OpenedRecording {
    trace::Trace trace;
    std::string origin;  // the file, or the label of a recording that ships
};

// Whether two names lead to one recording.
bool is_same_recording(const std::string& a, const std::string& b);

// A file of that name comes first; where there is none, a recording that ships.
// beside: bytes of another recording that stays open.
Result<OpenedRecording> open_recording(
    const std::string& file_or_name,
    const std::vector<kernels::ShippedRecording>& shipped = kernels::shipped_recordings(),
    uint64_t beside = 0);

// What --help says of such an argument.
inline constexpr const char* kRecordingArgument = "A recording: a .tsc file, or a name from 'recordings'";

// In what follows `file` is what the sentence calls the recording.

// --block: x and y, read before a recording is opened, none where nothing is given; and then its index in
// trace.blocks, the first block for none.
std::optional<NumberPair> parse_block(const std::string& option);
uint32_t choose_block(std::optional<NumberPair> block, const trace::Trace& trace, const std::string& file);

// --at: a step's number from 1, or "first", "last", or "middle", which is the middle step of the middle block
// (half of all steps is often just where a block begins).
playback::Cursor choose_step(const std::string& option, const trace::Trace& trace, const std::string& file);

// --steps: "12:40" is steps 12 to 40, both of them, each as --at takes it. Half-open, from 0.
std::pair<uint64_t, uint64_t> choose_steps(const std::string& option, const trace::Trace& trace,
                                           const std::string& file);

// --ptx and --compiler: which PTX of a textbook kernel runs. At most one of them is given.
struct PtxChoice {
    std::string ptx_file;  // another compiler's PTX of the same kernel; "" for none
    std::string compiler;  // "" or "clang" for the PTX that ships, "nvrtc" for what NVRTC makes of the source
};
void check_ptx(const PtxChoice& choice);  // reads no file
// The source of a PTX file is the file that its .file and .loc lines name. Where that cannot be read no
// source is shown: it need not be the one that ships.
// Returns the files that were read.
std::vector<std::string> use_ptx(const PtxChoice& choice, kernels::TextbookPlan& plan);
// Gives a plan the source of its PTX, and returns the file that was read; "" where there is none.
std::string find_source(kernels::Plan& plan, const std::string& ptx_file);

// --- record: what its ways have in common

// --blocks: "x0:x1,y0:y1", half-open and not empty; "" for the whole grid.
BlockWindow window_of(const std::string& text);
// The same, clipped to a grid that it must not lie outside of.
BlockWindow choose_window(const std::string& text, const Dim3& grid);
// --schedule: "fair", "greedy", or a seed; "" for the kernel's own.
std::optional<Schedule> choose_schedule(const std::string& text);
// What a recording that was written holds, in a line. said: on what it was recorded.
int say_recorded(const trace::Trace& trace, const std::string& output, const std::string& said);

// A kernel in a file without a main, as far as it is described.
struct AloneOptions {
    std::string file, kernel, flags, grid, block, shared, call, blocks, output;
    std::vector<std::string> arguments;
    bool json = false;
    bool nvcc = false;  // makes the PTX of a .cu file
    gpu::BackendChoice backend{};
    gpu::GpuRecordOptions how;
    bool said() const { return !arguments.empty() || !(grid + shared + call).empty(); }
};
// What the command line says of a launch or a call, in the words of a description.
kernels::Description said_by(const AloneOptions& options);
// Whether that file is to be recorded as a kernel alone: PTX, CUDA C++ without a main, or one whose launch is
// described.
bool is_kernel_alone(const std::string& file, const AloneOptions& options);
int record_alone(const AloneOptions& options);

// --- record FILE.cu: a program with a main

struct ProgramRequest {
    std::vector<std::string> kernels;  // none: all
    std::vector<uint64_t> launches;    // numbers from 1; none: each kernel's first
    bool every = false, json = false;
    std::string device, flags;
    std::vector<std::string> arguments;             // of the program
    std::string compiler, backend, blocks, output;  // as the kernels that ship have them
};

// A document of launches. command: what repeats them, "" where it is not told.
std::string launches_document(const std::string& file, const Json& compiler, const std::string& backend,
                              const Json& exit, const std::vector<launched::LaunchLine>& launches,
                              const std::string& command = "");

// Whether `record` is given a program rather than the name of a kernel that ships.
bool is_program(const std::string& name);

// Compiles it, runs it, says what it launched and what was recorded; returns the exit status.
int record_program(const std::string& file, const ProgramRequest& request);

// The same of a program that `make` builds.
struct MadeProgram {
    program::Built built;
    std::vector<std::string> arguments;
    std::string command;  // what repeats the call; "" for a program with a main of its own
};
int record_made_program(const std::string& file, const ProgramRequest& request,
                        const std::function<MadeProgram()>& make);
// Whether --compiler of a file says nvcc; refuses what it may not say.
bool is_nvcc(const std::string& compiler);
// The compiler's words go to standard error. own_main: as program::CompileOptions.
program::Built build_program(const std::string& file, const ProgramRequest& request,
                             const std::string& own_main = "");

// --- record FILE.cu: a host function without a main, such as solve() (kernels/call)

// Whether that file is to be recorded so: what is said names such a function, or the file has no main and one
// function that launches.
bool is_host_call(const std::string& file, const AloneOptions& options);
int record_host_call(const std::string& file, const ProgramRequest& request, const AloneOptions& options);

// --- files: a command writes a whole file, or none (core/base/file.h)

// Refuses before long work, rather than after it, a file that cannot be written: no such folder, a folder or
// a device of that name, no permission, a file that the command reads. Other files may be replaced.
void check_output(const std::string& path, const std::vector<std::string>& inputs = {});

// It takes the place of what was there when it is complete.
void write_text(const std::string& path, std::string_view text);

// Gives the file its name; refuses where anything failed. path: as it was given.
void keep(OutputFile& file, const std::string& path);

// --- long work

// Runs `work` on a thread of its own until it returns. Meanwhile Ctrl-C and SIGTERM set `stop`, which the
// work watches; where standard error is a terminal, a line shows `done` of `total` of `things`.
void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things);

// The same for work that shows itself: nothing is shown.
void run_stoppable(const std::function<void()>& work, std::atomic<bool>& stop);

// Runs work(stop, done), which returns a Result, and returns what that holds. outcome: what is said of work
// that was stopped, "no times are shown".
template <class Work>
auto with_progress(uint64_t total, const char* things, std::string_view outcome, const Work& work) {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    std::optional<decltype(work(stop, done))> made;
    run_with_progress([&] { made.emplace(work(stop, done)); }, stop, done, total, things);
    if (stop) refuse(kFailure, "stopped; {}", outcome);
    return need(std::move(*made));
}

// --- time: what was asked for, what that means (a plan for every kernel, size and tile width), and its table

struct TimeRequest : PtxChoice {
    std::vector<std::string> kernels;  // none: all; "cublas" is one
    std::vector<std::string> sizes;    // --n; words among them are kernels, as in "--n 1024 tiled"
    std::vector<uint32_t> tiles;
    std::optional<uint32_t> m, k;  // none: as n
    uint32_t runs = 20, warm_up = 3;
    bool all = false, json = false, no_cublas = false, no_price = false, no_roofs = false;
    std::string output;  // "" for standard output
};

// The launches of one shape, which share their inputs.
struct TimeGroup {
    kernels::Shape shape;  // of any tile
    std::vector<kernels::TextbookPlan> plans;
    bool cublas = false;
};

struct TimeJob {
    std::vector<TimeGroup> groups;
    uint64_t launches() const;  // kernels to time, cuBLAS among them
};

// Refuses what is wrong with the call: which value, and what may be given. Reads no file.
TimeJob job_of(const TimeRequest& request);

// The call that asks for the same again: "tilescope time tiled --n 1024 --tile 16 --json".
std::string command_of(const TimeRequest& request);

// Where there is no GPU: the rows of the times that ship that a job asks for. They are of the first device
// whose times of that compiler's PTX have every kernel, size and tile width of the job, in the job's order.
// cuBLAS is left out where it was not measured, unless nothing else was asked for.
std::optional<kernels::Timings> shipped_times(
    const TimeJob& job, const std::string& compiler,
    const std::vector<kernels::Timings>& shipped = kernels::shipped_timings());

// For a person: device, roofs, a row a kernel with its speed-up over `untiled` and `untiled_swapped` of the
// same shape and tile width, and a legend. notes: a line each below it.
std::string time_table(const kernels::Timings& timings, const std::vector<std::string>& notes);

}  // namespace tilescope::cli
