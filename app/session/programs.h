// Programs: .cu files with a main, which our command line compiles, runs and records beside the window.
//
//   run_program  -->  tilescope record FILE.cu --json -o FOLDER [-- ARG...]
//                       standard error    what the compiler says and what the program prints
//                       FOLDER            a recording for each recorded launch
//                       standard output   the list of launches, as it ends
//
// The recordings live as long as the program is open here; Ctrl+S keeps one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/jobs.h"
#include "core/base/result.h"
#include "kernels/launched/orders.h"

namespace tilescope::session {

struct Session;

// The screen that shows a program, by its option's name.
inline constexpr const char* kProgramScreen = "program";

// What to run and which launches to record, as a person types it.
struct ProgramOrder {
    std::string path;       // path of the .cu file
    std::string arguments;  // between blanks; quotes keep blanks together
    std::string kernel;     // only this kernel's launches; "" for each
    std::string launches;   // "2" or "2, 5"; "all"; "" for the first one of each kernel
    std::string blocks;     // "x0:x1,y0:y1"; "" for all of them
    std::string device{};   // device that the program sees; "" for the GPU that it runs on, or an H200
    std::string flags{};    // the compiler's flags and further files, in one word as --flags takes them
    bool operator==(const ProgramOrder&) const = default;
};

bool is_program(std::string_view path);  // told by its ending

// Words between blanks; what stands in single or double quotes is one word. No shell is asked.
// Error: a quote that is not closed.
Result<std::vector<std::string>> words_of(std::string_view arguments);

// The words behind the program's name; the path should be a whole one. Error: what was typed cannot be read.
Result<std::vector<std::string>> program_arguments(const ProgramOrder& order, const std::string& folder);

// What `tilescope record FILE.cu --json` prints; a launch's `recorded` is the path of its recording.
struct LaunchList {
    std::string program, compiler, backend;
    int exit = 0;  // exit status of the program
    std::vector<launched::LaunchLine> launches;
};
Result<LaunchList> launches_from_json(std::string_view text);

// The list of a later run, with the recordings of the former one for launches that are the same.
LaunchList with_recordings_of(LaunchList list, const LaunchList& former);

// The sentence of ours in what the command wrote, "'x.cu' cannot be read"; "" where there is none.
std::string sentence_in(std::string_view written);

// A folder for recordings, removed with all that is in it when nobody refers to it any more.
using Folder = std::shared_ptr<const std::string>;
Result<Folder> make_folder();

// What a running program and the window say to each other.
struct Hearing {
    std::mutex mutex;
    std::string written;                    // the end of what the compiler and the program wrote
    uint64_t bytes = 0;                     // bytes of all that was written
    uint64_t launches = 0, recordings = 0;  // launches that ended; complete recordings in the folder
    bool begun = false;                     // the program is compiled and was started
    std::atomic<bool> cancelled{false};
};

// How a run ended.
struct ProgramRun {
    std::optional<LaunchList> list;  // none where there was no launch to speak of
    std::string written;             // by the compiler and the program: the end of it
    std::string problem;             // one sentence; "" where all went well
    double seconds = 0;
};

struct Program {
    ProgramOrder order;
    std::string name;  // "transpose.cu"
    bool running = false;
    std::shared_ptr<Hearing> hearing;
    std::chrono::steady_clock::time_point began{};
    uint64_t wanted = 0;  // the launch to be opened when it is recorded; 0: the first one that is
    uint64_t opened = 0;  // the launch that was opened last; 0: none yet
    ProgramRun ended;     // the latest run that ended
    std::vector<Folder> folders{};
};

// The window keeps the end of what a program writes; one that writes more than kMostWritten is ended.
inline constexpr size_t kMostKept = 1 << 20;        // bytes
inline constexpr uint64_t kMostWritten = 64 << 20;  // bytes

// Shows the screen of the program and begins to run it, in place of one that runs. wanted: as in Program; of
// the same program, the former recordings stay. What is wrong with the order goes to session.message.
void run_program(Session& session, const ProgramOrder& order, uint64_t wanted = 0);

// Asks the running program to end; its launches until then are kept.
void cancel_program(Session& session);

// Opens the recording of a launch; of one that was not recorded, runs the program again and records it.
// beside: in place of B of the Compare screen, where it is recorded already.
void open_launch(Session& session, uint64_t number, bool beside = false);

// Launches of the open program that were recorded, in their order; none while it runs.
std::vector<const launched::LaunchLine*> recorded_launches(const Session& session);
// "launch 2 of saxpy.cu: saxpy", of the open program.
std::string launch_name(const Session& session, const launched::LaunchLine& launch);

// Takes over a run that has ended, and leads to its first recording. True while it runs. wait: until it ends.
bool update_program(Session& session, bool wait);

// A whole program that ships (kernels/examples).
struct Example {
    std::string name;   // "transpose_tiled"
    std::string about;  // the comment that it begins with, up to its "Look at:"
    std::string_view text;
};
const std::vector<Example>& examples();
std::vector<Example> examples_of(const std::vector<std::pair<std::string_view, std::string_view>>& files);

// Those that can be opened: none where programs cannot be run.
const std::vector<Example>& offered_examples(const Session& session);

// Where a compiler and a person find it: NAME.cu in the cache folder, written where it is not there as it
// ships. $XDG_CACHE_HOME/tilescope/, else ~/.cache/tilescope/. Error: it cannot be written.
Result<std::string> path_of(const Example& example);
// Opens it from there. What went wrong goes to session.message.
void open_example(Session& session, std::string_view name);

}  // namespace tilescope::session
