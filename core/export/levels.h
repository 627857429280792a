// `tilescope levels`: what of the accesses of a launch is found in L1, L2 and DRAM, and what bounds it, as JSON
// (schema tilescope.levels/1) and as text.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "core/levels/levels.h"

namespace tilescope::report {

// What a GPU's counters said of the launch.
struct LevelsCounted {
    double l1_sectors = 0, l1_hit_rate = 0, l2_read_sectors = 0, dram_read_bytes = 0;
};

struct LevelsOfLaunch {
    std::string kernel, title;
    std::string compiler;  // of its PTX; "" where that is not known
    // m, k, n and T of a product.
    std::optional<std::array<uint32_t, 4>> sizes;
    Dim3 block;
    analysis::DeviceSpec device;
    analysis::Levels levels;
    uint32_t registers = 0;  // a thread; 0: not known
    // Measured, of the very launch; none where that was not done.
    std::optional<LevelsCounted> counted;
    std::optional<double> measured_ms;
};

std::string to_json(const LevelsOfLaunch& of);
std::string to_text(const LevelsOfLaunch& of);

}  // namespace tilescope::report
