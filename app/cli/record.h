// What the ways to record share: a kernel that ships (record_command.cpp), a program with a main
// (program_command.cpp), a host function without one (call_command.cpp), a kernel alone (alone_command.cpp).
#pragma once

#include "app/cli/command.h"
#include "core/hazards/said.h"
#include "core/trace/trace.h"
#include "kernels/alone/description.h"
#include "kernels/gpu/backend.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/launched/orders.h"
#include "kernels/program/compile.h"

namespace tilescope::cli {

// --blocks: "x0:x1,y0:y1", half-open and not empty; "" for the whole grid.
BlockWindow window_of(const std::string& text);
// The same, clipped to a grid that it must not lie outside of.
BlockWindow choose_window(const std::string& text, const Dim3& grid);
// --schedule: "fair", "greedy", or a seed; "" for the kernel's own.
std::optional<Schedule> choose_schedule(const std::string& text);
// What a recording that was written holds, in a line. said: on what it was recorded.
int say_recorded(const trace::Trace& trace, const std::string& output, const std::string& said);
// The faults and remarks that a recording proves, as lines with their full sentences, and the commands that
// show them; "" for none. Barriers that keep nothing apart are left to the report.
std::string faults_of(const std::vector<analysis::SaidFault>& said, const std::string& output);

// A kernel in a file without a main, as far as it is described.
struct AloneOptions {
    std::string file, kernel, flags, grid, block, cluster, shared, call, blocks, output;
    std::vector<std::string> arguments;
    bool json = false;
    bool nvcc = false;  // makes the PTX of a .cu file
    gpu::BackendChoice backend{};
    gpu::GpuRecordOptions how;
    bool said() const { return !arguments.empty() || !(grid + cluster + shared + call).empty(); }
};
// What the command line says of a launch or a call, in the words of a description.
kernels::Description said_by(const AloneOptions& options);
// Whether a file is to be recorded as a kernel alone: PTX, CUDA C++ without a main, or a described launch.
bool is_kernel_alone(const std::string& file, const AloneOptions& options);
int record_alone(const AloneOptions& options);

// --- record FOLDER: launches that were written down (kernels/alone/written.h)

struct WrittenChoice {
    std::vector<std::string> kernels;  // none: all
    std::vector<uint64_t> launches;    // numbers; none: all
    bool every = false;                // without any of these, where there are several
};
// Whether a file is a folder of launches, or one that describes a launch.
bool is_written_launch(const std::string& file);
int record_written(const AloneOptions& options, const WrittenChoice& choice);

// --- record FILE.cu: a program with a main

struct ProgramRequest {
    std::vector<std::string> kernels;  // none: all
    std::vector<uint64_t> launches;    // numbers from 1; none: each kernel's first
    bool every = false, json = false;
    std::string device, engine, flags;
    std::vector<std::string> arguments;             // of the program
    std::string compiler, backend, blocks, output;  // as the kernels that ship have them
};

// The document of launches (schema tilescope.launches/1). What is not known is null in it, but the command
// that repeats them, which is then left out.
struct LaunchesDocument {
    std::string program, compiler, backend;
    std::optional<int> exit;
    std::string command, failure{};  // failure: why the command fails, in the end
    std::vector<launched::CallNote> calls{};
};
std::string to_json(const LaunchesDocument& document, const std::vector<launched::LaunchLine>& launches);

// Whether `record` is given a program rather than the name of a kernel that ships.
bool is_program(const std::string& name);

// Compiles it, runs it, says what it launched and what was recorded; returns the exit status.
int record_program(const std::string& file, const ProgramRequest& request);

// The same of a program that `make` builds.
struct MadeProgram {
    program::Built built;
    std::vector<std::string> arguments;
    std::string command;       // what repeats the call; "" for a program with a main of its own
    bool guess_fails = false;  // it goes wrong with the best arguments that were guessed
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

}  // namespace tilescope::cli
