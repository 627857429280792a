// Whether a kernel hides latency: how many of its loads are in flight on an SM, how many there would have to
// be, and why its warps wait, as counters have it.
//
//     in flight   ############|          blocks of an SM x warps of a block x loads that a warp has under
//     from L1     ##          |          way together
//     from L2     ########    |          Little's law: loads in flight = loads a clock x clocks until their
//     from DRAM   ############|#####     data are here; as many a clock as the lowest roof but latency allows
//
// Source: Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9(3), 1961.
#pragma once

#include <string>
#include <vector>

#include "app/timing/bounds.h"

namespace tilescope::timing {

// How loads come and go on an SM, on average; modelled but for the warps.
struct LoadFlow {
    double warps = 0;    // warps that an SM holds, no more than the launch has for it
    double loads = 0;    // loads that a warp has in flight together
    double wait = 0;     // clocks until it gets on
    double a_clock = 0;  // loads that an SM would take each clock by the lowest roof but latency
    size_t roof = 0;     // index of that roof among the bounds
    double in_flight() const { return warps * loads; }
    double needed(double clocks) const { return clocks * a_clock; }
};
LoadFlow flow_of(const BoundsOf& of, const analysis::Levels& levels, const analysis::LevelDevice& on);

// The same launch of another compiler's PTX.
struct ByCompiler {
    BoundsOf of;
    const analysis::Levels* levels = nullptr;
    const kernels::Timing* measured = nullptr;
};
struct CompilerRow {
    std::string compiler, loads, instructions, bound_by, measured;
};

struct LatencyChart {
    std::string sentence, rests_on;
    std::vector<BoundBar> flights;  // what is in flight, then what would have to be
    std::vector<BoundBar> stalls;   // measured: shares of the warps' time, the longest first; none where not
    std::string stalls_title;
    std::vector<CompilerRow> compilers;  // none where there is no other
    std::string difference;              // of the compilers, in a sentence
};
LatencyChart latency_chart(const BoundsOf& of, const analysis::Levels& levels,
                           const analysis::LevelDevice& on, const BoundsBeside& beside,
                           const ByCompiler* other);

}  // namespace tilescope::timing
