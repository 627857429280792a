// What `tilescope capture` and the library that it has the driver load into a program tell each other.
//
//   command                                      program, with the library in it
//   orders.json  --- TILESCOPE_CAPTURE --->      launches to record (launched::Orders)
//   FOLDER/PID   <-- Orders::launches ----       lines of JSON, a file for each process
//
// Launches of one kernel and one shape are one row. A row is written again when its numbers have changed; the last
// line of a row holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"

namespace tilescope::launched {

inline constexpr const char* kCaptureVariable = "TILESCOPE_CAPTURE";
// A folder with cubins and the PTX that they were made of, which the command keeps while the program runs.
inline constexpr const char* kKeptVariable = "TILESCOPE_KEPT_PTX";

// Launches of one kernel with one grid, block and size of dynamic shared memory.
struct CapturedRow {
    uint64_t id = 0;     // in its process
    std::string kernel;  // as people call it
    std::string entry;   // its name for the driver
    Dim3 grid, block;
    uint64_t shared = 0;            // dynamic bytes a block
    uint64_t first = 0, count = 0;  // number of the first launch, from 1; how many there were
    uint64_t timed = 0;             // how many of them were timed
    double ms = 0;                  // sum of these times, on the GPU
    std::string ptx;      // where its PTX is: "in the fat binary of train"; empty where there is none
    std::string without;  // why there is none
    std::string remark;   // what else is to be known of it; empty
    bool operator==(const CapturedRow&) const = default;
};

// A launch that was to be recorded.
struct CapturedLaunch {
    uint64_t number = 0, row = 0;
    std::string recorded;    // path of the recording; empty where there is none
    std::string unrecorded;  // why there is none
    std::string remark;      // what else is to be known of the recording; empty
    double ms = 0;           // time that recording it took, all in all
    bool operator==(const CapturedLaunch&) const = default;
};

// What is to be said of the process: that it cannot be watched, or how many graphs it launched.
struct CapturedNote {
    std::string problem;  // a sentence; empty
    uint64_t graphs = 0;  // launches of CUDA graphs, whose kernels are not seen
    bool operator==(const CapturedNote&) const = default;
};

struct CapturedProcess {
    uint64_t pid = 0;
    std::vector<CapturedRow> rows;  // by id
    std::vector<CapturedLaunch> launches;
    CapturedNote note;
    std::string damage;  // why a line could not be read; empty mostly
};

std::string to_json(const CapturedRow& row);  // one line, without its end
std::string to_json(const CapturedLaunch& launch);
std::string to_json(const CapturedNote& note);

// What a process has written, whole lines only.
CapturedProcess captured_from_lines(uint64_t pid, std::string_view lines);

}  // namespace tilescope::launched
