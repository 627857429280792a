// What Nsight Compute counted of the memory levels in launches of the kernels that ship, from
// assets/levels/ID.json, beside which `tilescope levels` puts what it models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {

struct LevelCounterRow {
    std::string kernel, compiler;  // "clang", "nvrtc"
    Shape shape;
    double l1_sectors = 0, l1_hits = 0;  // of loads from global memory
    double l2_read_sectors = 0;          // that L1 asked of L2
    double dram_read_bytes = 0;
    // What the machine code did, where it was counted: instructions of warps, passes through the data pipe.
    double instructions = 0, pipe_wavefronts = 0;
    // Of the warps of a scheduler, how many are in a state each time that it issues, by the state: "barrier",
    // "long_scoreboard"; "selected" is the one that issues.
    std::vector<std::pair<std::string, double>> stalls;
};
struct LevelCounters {
    std::string device;  // "NVIDIA H200"
    std::vector<LevelCounterRow> rows;
};

// `name` is named in errors.
Result<LevelCounters> level_counters_from_json(std::string_view text, std::string_view name);

// Of a device by its id, in what ships; null where that launch was not counted.
const LevelCounterRow* find_level_counters(std::string_view device, std::string_view kernel,
                                           std::string_view compiler, const Shape& shape);

}  // namespace tilescope::kernels
