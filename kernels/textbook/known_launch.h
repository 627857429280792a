// What ships of a launch of a textbook kernel on a device: its registers, its time, and what Nsight Compute
// counted of its memory levels (assets/levels/ID.json), beside which `tilescope levels` puts what it models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/levels/levels.h"
#include "core/limits/device_spec.h"
#include "core/trace/trace.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {

struct LevelCounterRow {
    std::string kernel, compiler;  // compiler: "clang" or "nvrtc"
    Shape shape;
    double l1_sectors = 0, l1_hits = 0;  // sectors of loads from global memory, and hits
    double l2_read_sectors = 0;          // sectors that L1 asked of L2
    double dram_read_bytes = 0;
    // What the machine code did, where counted: instructions of warps, wavefronts of the data stage.
    double instructions = 0, pipe_wavefronts = 0;
    // By stall reason ("barrier", "long_scoreboard"): how many warps of a scheduler are in that state each
    // time that it issues; "selected" is the warp that issues.
    std::vector<std::pair<std::string, double>> stalls;

    double l1_hit_rate() const { return l1_sectors > 0 ? l1_hits / l1_sectors : 0; }
    analysis::LevelTraffic traffic() const {
        return analysis::traffic_of(std::nullopt, l1_sectors, l1_sectors - l1_hits, l2_read_sectors,
                                    dram_read_bytes);
    }
};
struct LevelCounters {
    std::string device;  // "NVIDIA H200"
    std::vector<LevelCounterRow> rows;
};

// `name` is named in errors.
Result<LevelCounters> level_counters_from_json(std::string_view text, std::string_view name);

// Counters that ship of a launch on a device, by its id; null where it was not counted.
const LevelCounterRow* find_level_counters(std::string_view device, std::string_view kernel,
                                           std::string_view compiler, const Shape& shape);

struct KnownLaunch {
    uint32_t registers = 0;  // registers per thread; 0: not known
    std::optional<double> measured_ms;
    const LevelCounterRow* counted = nullptr;  // null: the launch was not counted
};
// compiler: "clang" or "nvrtc"; with any other nothing is known.
KnownLaunch known_launch(const analysis::DeviceSpec& device, const std::string& kernel,
                         const std::string& compiler, const Shape& shape);

// The compiler whose PTX a recording of a textbook kernel has: "clang", whose PTX ships; "" where it is not
// known, since other PTX has other times.
std::string compiler_of(const trace::Trace& trace, uint32_t tile);

}  // namespace tilescope::kernels
