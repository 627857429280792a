// Phases and barrier intervals of a recording.
//
// A phase is one trip of the loop that walks the tiles; in a kernel without barriers, one trip of its
// loop over k. It is found in the recording with the help of the PTX's loops, and comes out the same
// whichever compiler made the PTX:
//
//   a loop that holds a barrier:  a lane enters the next phase when, inside the outermost such loop,
//                                 it comes to a place that does not lie after its last one
//   no barrier in any loop:       a lane's phase at an access is how often it has been at that
//                                 source line, array and direction before (so an unrolled loop counts
//                                 its trips all the same)
//
// A request's phase is that of its first active lane. Steps before the loop have phase 0; steps
// behind it (the store of P) have phase kAfter.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

inline constexpr uint32_t kAfter = 0xFFFF'FFFFu;

struct PhaseMap {
    std::vector<uint32_t> phase;       // one per step of the block
    std::vector<uint32_t> interval;    // barrier interval, one per step: barriers its warp has passed before it
    uint32_t phases = 0;               // of the block
    uint32_t barriers = 0;             // barriers a block passes (of the warp that passed most)
};

// What of the kernel the phases need; made once for a trace.
struct PhaseRule {
    bool by_barrier = false;
    std::vector<int32_t> rank;         // site -> place inside the loop, -1 outside it (before), -2 behind it
    std::vector<uint32_t> group;       // site -> number of its (line, array, direction) group
    std::vector<bool> after;           // site -> lies behind the loop
};
Result<PhaseRule> phase_rule(const trace::Trace& trace);   // parses the trace's PTX
PhaseMap phases_of_block(const trace::Trace& trace, const PhaseRule& rule, uint32_t block);

}  // namespace tilescope::analysis
