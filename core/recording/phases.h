// Phases and barrier intervals of a recording.
//
// A phase is one trip of the loop that walks the tiles; in a kernel without barriers, one trip of its
// outermost loop; without such a loop, all of it. It is found in the recording with the help of the PTX's
// loops, and comes out the same whichever compiler made the PTX:
//
//   a loop that holds a barrier:  a lane enters the next phase when, inside the outermost such loop,
//                                 it comes to a place that does not lie after its last one,
//                                 or into another copy of the body
//   a ring of stages that copies fill and mbarriers guard (pipeline.h), and no barrier of the block in its loop:
//                                 a warp enters a trip's phase when it has waited for the trip's full barrier, and
//                                 a copy is of the trip that it brings
//   loops, and no barrier at all: the same as with barriers, inside any outermost loop; but where a compiler wrote several
//                                 trips into one, or all accesses lie in inner loops, a lane's phase at
//                                 an access is how often it has been at that source line, array and
//                                 direction before, divided by how often one trip comes there
//   neither:                      all of it is phase 0: one place, in which a lane stays
//
// The places of the first rule are those of the loop's body, without the way back to its top, in an order in
// which every path through the body only climbs (a topological order); a loop inside the body is one place,
// in which a lane may stay as long as it likes:
//
//     +-> load M 0 -> load N 1 -> barrier 2 -> [ multiply 3 ]* -> barrier 4 -+
//     +----------------------------------------------------------------------+
//
// A compiler may write several trips into one (unrolling), and the odd trip left over once more behind the
// loop (nvcc does so for T = 4). Such copies stand at the same source lines; each is a trip of its own, and
// begins where the lines that fetch a tile come again behind a barrier.
//
// Lanes are followed one by one, so that the two arms of a bounds check count as one trip, whichever a lane
// takes. A request's phase is that of its first active lane. Steps before the loop have phase 0; steps behind
// it (the store of P) have phase kAfter.
//
// Source: loops as in Aho, Lam, Sethi, Ullman, "Compilers", section 9.6 (natural loops, depth-first order).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

inline constexpr uint32_t kAfter = 0xFFFF'FFFFu;

struct PhaseMap {
    std::vector<uint32_t> phase;     // one per step of the block
    std::vector<uint32_t> interval;  // barrier interval, one per step: barriers its warp has passed before it
    uint32_t phases = 0;             // number of phases of the block
    uint32_t barriers = 0;           // barriers a block passes (of the warp that passed most)
};

// What of the kernel the phases need; made once for a trace.
struct PhaseRule {
    bool by_place = false;  // by the places of the loop's body; else by how often a lane has been somewhere
    // site -> place inside the loop or a copy of it, -1 outside (before), -2 behind
    std::vector<int32_t> rank;
    std::vector<bool> stays;      // site -> its place is an inner loop: coming back to it is no new trip
    std::vector<uint32_t> body;   // site -> copy of the loop's body that it lies in, each a trip of its own
    std::vector<uint32_t> group;  // site -> number of its (line, array, direction) group
    uint32_t groups = 0;
    std::vector<uint32_t> a_trip;  // group -> times that a trip comes to it; empty: once each
    std::vector<bool> after;       // site -> lies behind the loop
    bool by_ring = false;          // by the ring of stages of each block, and not by the sites
};
Result<PhaseRule> phase_rule(const trace::Trace& trace);
PhaseMap phases_of_block(const trace::Trace& trace, const PhaseRule& rule, uint32_t block);

// The same step by step, for a walk over many blocks, or over a block too long for its maps.
class PhaseWalk {
public:
    PhaseWalk(const trace::Trace& trace, const PhaseRule& rule);  // keeps references
    ~PhaseWalk();
    void enter(uint32_t block);  // stands before its first step
    struct Step {
        uint32_t phase = 0, interval = 0;
    };
    Step next();  // phase and interval of the block's next step
    void skip(uint64_t steps);
    uint32_t phases() const;  // as in PhaseMap, of the steps so far
    uint32_t barriers() const;
    uint64_t looked_at() const;  // sets of lanes, over all blocks: what the walk has cost

private:
    friend PhaseMap phases_of_block(PhaseWalk& walk, const trace::Trace& trace, uint32_t block);
    struct State;
    std::unique_ptr<State> state_;
};
PhaseMap phases_of_block(PhaseWalk& walk, const trace::Trace& trace, uint32_t block);

}  // namespace tilescope::analysis
