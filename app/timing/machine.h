// The devices that the Timing screen can choose from: those that kernels were timed on, those whose figures
// their makers state, and those that lectures make up for a sum. What is computed for a device that was not
// measured is a bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/device_spec.h"
#include "core/analysis/roofline.h"
#include "kernels/textbook/timings.h"

namespace tilescope::timing {

struct Machine {
    std::string name;                          // "NVIDIA H200"
    const kernels::Timings* times = nullptr;   // null: not measured
    double stated_gbs = 0, stated_gflops = 0;  // 0 unknown
    std::string source;                        // of what is stated
};

// Measured ones first, as they are given, then the devices that none of them is, then the lectures'.
std::vector<Machine> machines(const std::vector<kernels::Timings>& timings,
                              const std::vector<analysis::DeviceSpec>& devices);

// The one of that name, else the first; null where there is none.
const Machine* find_machine(const std::vector<Machine>& all, std::string_view name);

// "measured on NVIDIA H200, driver 580.159.04, CUDA 13.0, 21 Nov 2026", or what not measured means.
std::string measured_words(const Machine& machine);

// The bound of analysis/roofline.h by the stated figures; 0 where the bandwidth is not known.
double bound_gflops(const Machine& machine, double flop_per_byte);

}  // namespace tilescope::timing
