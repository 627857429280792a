// What bounds a launch, as JSON and as text, from values:
//
//   limits     tilescope.limits/1     what an SM holds at once
//   roofline   tilescope.roofline/1   points under the roofs of devices. Every row says which it is: a bound
//                                     is worked out from stated figures, a measured one has a clock behind it
//   levels     tilescope.levels/1     what of the accesses is found in L1, L2 and DRAM, and what bounds the
//                                     launch
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/levels/levels.h"
#include "core/limits/presets.h"
#include "core/limits/roofline.h"

namespace tilescope::report {

// A case of the user's own has no id.
struct LimitsCase {
    std::string id, title;
    analysis::PresetAnswer answer;
};

// curves: occupancy over each parameter too.
std::string to_json(const LimitsCase& c, bool curves);
std::string to_text(const LimitsCase& c);

// The cases that there are, and these devices.
std::string limit_cases_json(const std::vector<analysis::DeviceSpec>& devices);
std::string limit_cases_text(const std::vector<analysis::DeviceSpec>& devices);

struct RooflineRow {
    std::string id;
    analysis::Roof roof;
    analysis::RoofPoint point;
    uint32_t tile = 0;  // tile width in shared memory; 0: no tiles, or not known
    // The bound by the sectors that the recorded accesses need.
    std::optional<analysis::RoofPoint> of_sectors{};
    // m, k and n of a product; none where the row holds for every size.
    std::optional<std::array<uint32_t, 3>> sizes{};
    std::string compiler{};  // compiler of the PTX that was timed; "" for a bound
};

std::string to_json(const std::vector<RooflineRow>& rows);
std::string to_text(const std::vector<RooflineRow>& rows);

// What a GPU's counters said of the launch.
struct LevelsCounted {
    double l1_sectors = 0, l1_hit_rate = 0, l2_read_sectors = 0, dram_read_bytes = 0;
};

struct LevelsOfLaunch {
    std::string kernel, title;
    std::string compiler;  // compiler of its PTX; "" where that is not known
    // m, k, n and T of a product.
    std::optional<std::array<uint32_t, 4>> sizes;
    Dim3 block;
    analysis::DeviceSpec device;
    analysis::Levels levels;
    uint32_t registers = 0;  // registers per thread; 0: not known
    // Counters of this very launch; none where it was not counted.
    std::optional<LevelsCounted> counted;
    std::optional<double> measured_ms;
};

std::string to_json(const LevelsOfLaunch& of);
std::string to_text(const LevelsOfLaunch& of);

}  // namespace tilescope::report
