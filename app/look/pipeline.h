// A block's ring of stages at a step, in words and as it is drawn: what each buffer holds, how its full and its empty
// barrier stand, and which warps wait for which of them.
//
//   full[0]    phase 1  ● 0 of 1,024 bytes  | stage[0,0..255]  trip 3 under way |  empty[0]   phase 1  ○○○○   warp 0 waits
//   full[1]    phase 1  ○                   | stage[1,0..255]  trip 1           |  empty[1]   phase 0  ●●●○
//
//   Warp 0 waits for empty[1]: 3 of 4 arrivals; warp 2 has not come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/look/signal.h"
#include "core/recording/pipeline.h"

namespace tilescope::look {

struct BlockIndex;

struct StageView {
    // What its buffer holds: nothing yet, a fill that copies bring, one that is there to be read, or one that its readers
    // are done with.
    enum class Holds : uint8_t { Nothing, UnderWay, Landed, Free } holds = Holds::Nothing;
    std::string name;  // "stage[0,0..255]"
    uint32_t ring = 0;
    uint32_t trip = 0;   // of the latest fill
    uint64_t bytes = 0;  // of it
    std::string source;  // where its first copy reads: "in[256..511]"; "" where that is not known
    BarrierView full;
    std::optional<BarrierView> empty;
    bool meant = false;  // the step copies into it, or is about one of its barriers
};

// Warps that wait for one phase of one barrier at a step.
struct WaitingWarps {
    uint32_t barrier = 0;
    std::vector<uint32_t> warps;  // ascending
    std::string sentence;         // "Warp 0 waits for empty[1]: 3 of 4 arrivals; warp 2 has not come."
};

struct PipelineView {
    std::vector<StageView> stages;
    uint32_t rings = 0;
    std::vector<WaitingWarps> waiting;  // by barrier
    bool empty() const { return stages.empty(); }
};

// Behind a step. Empty of a block without a ring.
PipelineView pipeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "empty", "trip 3 under way", "trip 3", "trip 3, read": what a buffer holds. With `source` where it comes from.
std::string holds_words(const StageView& stage, bool source = false);

// "producer", "consumer", "producer and consumer"; "" for none.
const char* name_of(analysis::WarpRole role);

// Of a ring with a row for each stage: [first, end) on the axis of steps during which a fill is under way, and during
// which it is there.
struct StageSpan {
    uint32_t trip = 0;
    uint32_t asked = 0, landed = 0, freed = 0;  // steps of the block; of what never comes, their end
};
std::vector<StageSpan> stage_spans(const BlockIndex& index, uint32_t stage);

// The wait for a barrier in memory in which a warp stands behind a step; null for none.
const analysis::SignalWaitSpan* wait_of(const BlockIndex& index, uint32_t warp, uint32_t step);

// What a step's wait for a barrier of the ring means: "Trip 1 is in stage[1,0..255].", "Trip 4 can be copied to
// stage[1,0..255]."; "" for any other step.
std::string waited_words(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// How long a warp has waited at a step that is a wait: "It waited at most 412 clocks (0.21 µs), since its step before.",
// or by steps "12 steps of other warps lie between its step before and this one."; "" for any other step.
std::string wait_length(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "warps 1 to 4", "warp 0", "warps 0, 2 and 5"
std::string warps_words(const std::vector<uint32_t>& warps);

}  // namespace tilescope::look
