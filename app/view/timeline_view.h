// The block's time, step by step from left to right: phases, barriers, and a row per warp.
//
//   phases    | 0            | 1            | 2
//   warp 0    LLSS|mmmmmmmm|w LLSS|mmmmmmmm|w      a mark lasts from a warp's step to its next one
//   warp 1     LLSS|mmmmmmmm|  LLSS|mmmmmmmm|      w: it stands at a barrier until the last warp comes
//
// Long blocks are sampled, one mark a column; barriers and phases are never dropped for lack of room
// but drawn while they are far enough apart to be told from one another.
#pragma once

#include <cstdint>
#include <vector>

#include "app/view/block_index.h"

namespace tilescope::view {

struct TimelineMark {
    uint32_t first = 0, end = 0;  // steps of the block
    StepKind kind = StepKind::GlobalLoad;
    bool operator==(const TimelineMark&) const = default;
};

struct TimelineView {
    uint32_t first = 0, end = 0;  // steps shown
    uint32_t columns = 0;
    std::vector<PhaseSpan> phases;                 // those in view
    std::vector<uint32_t> barriers;                // steps at which a barrier was complete
    std::vector<std::vector<TimelineMark>> warps;  // ascending, without overlap
};

// Steps [first, end) on `columns` columns (pixels, say); at least one.
TimelineView timeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                           uint32_t columns);

// The step under a position 0..1 along the timeline.
uint32_t step_at(const TimelineView& view, double position);

}  // namespace tilescope::view
