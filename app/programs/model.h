// The Program screen: a program that was opened, while it is compiled and runs, and then its launches.
//
//   transpose.cu     clang · CPU · 12 launches, 3 recorded · 0.8 s      [Run again] [Other arguments...]
//   +--------------------------------------------+-------------------------+
//   |  #  kernel      grid    block     CPU ms   |  what the program       |
//   |  1  copy        64 x 64 32 x 8  1.20  ...  |  printed, its last      |
//   |  2  transpose   64 x 64 32 x 8  1.31  ...  |  lines in sight         |
//   +--------------------------------------------+                         |
//   |  the chosen launch, and what to do with it |                         |
//   +--------------------------------------------+-------------------------+
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/programs.h"

namespace tilescope::programs {

// A launch as its row shows it.
struct ProgramRow {
    std::string number, kernel, grid, block, shared, ms, state;
    bool fault = false, recorded = false;
};
ProgramRow row_of(const launched::LaunchLine& launch);
// What stands above their times: the interpreter's are the CPU's. As the command's own table has it.
const char* time_head(const session::LaunchList& list);

// The launch that is chosen, in words: "Launch 2: transpose <<<64 x 64, 32 x 8>>>", and what is to be known
// of it: what went wrong, or what Enter does.
std::string title_of(const launched::LaunchLine& launch);
std::string about(const launched::LaunchLine& launch);

// How far a run is, or how it ended, the longest wording first. hearing: of a run that goes on.
struct Progress {
    uint64_t launches = 0, recordings = 0;  // launches that ended; recordings made so far
    bool begun = false;                     // the program is compiled and was started
    std::optional<double> seconds;          // since it began; none in pictures, which hold no time
};
std::vector<std::string> progress_words(const Progress& progress);
std::vector<std::string> ended_words(const session::ProgramRun& run);

// What was written, in lines of at most `columns` characters; of a line that was written over (a carriage
// return, as progress bars send it) what was written last.
std::vector<std::string> lines_of(std::string_view text, size_t columns);

// The row to stand on when a run has ended: the first launch at fault, else the one that was opened.
size_t first_choice(const session::Program& program);

}  // namespace tilescope::programs
