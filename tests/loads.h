// Loads of every element of a small array, side by side.
#pragma once

#include <vector>

#include "core/analysis/reuse.h"

namespace tilescope::analysis {

// Row-major, by all recorded blocks.
inline std::vector<uint32_t> loads_per_element(const trace::Trace& trace, uint8_t array) {
    LoadCounter loads(trace);
    for (uint64_t step = 0; step < trace.steps(); ++step) loads.add(step);
    loads.finish();
    return loads.of(array).all(trace.launch.arrays[array].elements());
}

}  // namespace tilescope::analysis
