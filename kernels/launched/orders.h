// What `tilescope record FILE.cu` and the runtime in the program that it starts tell each other.
//
//   command                                   program, linked with the runtime
//   orders.json  --- TILESCOPE_ORDERS --->    which launches to record, and where to
//   lines        <-- Orders::launches ----    a JSON line for each launch, as it ends
//
// A program that is started without orders runs its launches and records none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"

namespace tilescope::launched {

inline constexpr const char* kOrdersVariable = "TILESCOPE_ORDERS";

// Behind the name of Orders::launches: a file that is there while the program, asked to stop, keeps what it has
// recorded.
inline constexpr const char* kKeeping = ".keeping";

struct Orders {
    std::string folder;    // recordings are written here as KERNEL.NUMBER.tsc; it exists
    std::string launches;  // the file that takes a line for each launch; it exists and is empty
    std::string source;    // path of the program's source
    std::string device;    // id in assets/devices; empty: H200, or the GPU that it runs on
    std::string backend;   // "cpu", "gpu", or "auto": the GPU where there is one; empty: cpu
    std::string engine;    // "auto", "interpreted" or "compiled" (kernels/compiled/engine.h); empty: auto
    // Which launches are recorded: the first one of each kernel, where none of these says more.
    std::vector<std::string> kernels;  // only launches of these kernels
    std::vector<uint64_t> numbers;     // these launches, numbered from 1
    bool every = false;                // all launches (of `kernels`, where they are named)
    BlockWindow window;                // the blocks that are recorded of a launch
    bool operator==(const Orders&) const = default;
};

// A row of analysis::said_faults(), or of what else went wrong.
struct LaunchFault {
    std::string kind, severity;         // the keys of core/hazards/hazards.h
    uint32_t line = 0, other_line = 0;  // of the kernel's source; 0 for none
    uint64_t count = 0;
    std::string sentence;
    bool operator==(const LaunchFault&) const = default;
};

// What went wrong in a call of the runtime that is no launch, or is to be known of it.
struct CallNote {
    std::string severity;  // as of a LaunchFault
    uint32_t line = 0;     // of the host's source; 0 where that is not known
    std::string sentence;
    bool operator==(const CallNote&) const = default;
};

struct LaunchLine {
    uint64_t number = 0;  // from 1
    std::string kernel;   // as people call it
    Dim3 grid, block;
    uint64_t shared = 0;     // dynamic bytes a block
    double ms = 0;           // time of the engine on the CPU, or of the kernel on the GPU
    std::string backend;     // "cpu" or "gpu": where it ran
    std::string engine;      // on the CPU: "interpreted", or "compiled" where compiled code ran blocks of it
    std::string error;       // a sentence; empty where the launch was right
    std::string recorded;    // path of the recording; empty where there is none
    std::string unrecorded;  // why a launch that was to be recorded was not; empty
    std::string remark;      // what else is to be known of a launch without errors; empty
    std::vector<LaunchFault> faults;  // what its recording proves, remarks too; empty
    uint64_t same_as = 0;  // the earlier launch that this one repeats and was not run again for; 0: none
    bool operator==(const LaunchLine&) const = default;
};

std::string to_json(const Orders& orders);
std::string to_json(const LaunchLine& line);  // one line, without its end
std::string to_json(const CallNote& note);    // the same, in the same file
bool is_note(std::string_view line);

// Errors: text that is not what to_json() writes.
Result<Orders> orders_from_json(std::string_view text);
Result<LaunchLine> launch_from_json(std::string_view text);
Result<CallNote> note_from_json(std::string_view text);

}  // namespace tilescope::launched
