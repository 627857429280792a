// The block's time from left to right, by steps or by clocks: phases, barriers, and a row per warp.
//
// By steps, every step takes the same room:
//
//   phases    | 0            | 1            | 2
//   warp 0    LLSS|mmmmmmmm|w LLSS|mmmmmmmm|w      a mark lasts from a warp's step to its next one
//   warp 1     LLSS|mmmmmmmm|  LLSS|mmmmmmmm|      w: it stands at a barrier until the last warp comes
//
// Long blocks are sampled, one mark a column; barriers and phases are never dropped for lack of room
// but drawn while they are far enough apart to be told from one another.
//
// By clocks, where the recording has them, a mark stands at the moment at which the warp asked, and a wait
// lasts from a warp's arrival at a barrier until the barrier opens (block_clock.h):
//
//   warp 0    L L  S |//////////|   m m m m m |//      what is neither: it computes, or its request is
//   warp 1      L   L    S |////|  m m m m m  |/       under way; the recording cannot tell
//
// Where requests of one warp share a column the rarest kind is seen: stores before loads, global before
// shared. A column is a wait where the warp stands for at least half of it.
#pragma once

#include <cstdint>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

using draw::TimeAxis;
using draw::TimelineMark;
using draw::TimelineView;

// Steps [first, end) on `columns` columns (pixels, say); at least one.
TimelineView timeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                           uint32_t columns);

// The same by clocks, of a block that has them: clocks [first, end), end at most the last step's plus one.
TimelineView clock_timeline(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                            uint32_t columns);

// Clocks [first, end) of a block; whole where end is 0.
struct ClockWindow {
    double first = 0, end = 0;
    bool whole() const { return end <= first; }
    bool operator==(const ClockWindow&) const = default;
};

// Zooms by `by` (2: half as much is shown) about a position 0..1 of what is shown, which stays where it is.
// No closer than 64 clocks; as far out as the block's `clocks`, where the window is whole again.
ClockWindow zoomed(const ClockWindow& window, uint32_t clocks, double position, double by);
// Moved, where `clock` is not in it, so that it lies a tenth into the window.
ClockWindow following(const ClockWindow& window, uint32_t clocks, double clock);

// The step, or the clock, under a position 0..1 along the timeline.
uint32_t step_at(const TimelineView& view, double position);

// Where the axis has its numbers: multiples of 1, 2 or 5 times a power of ten, at most `most` of them.
std::vector<uint32_t> ticks(uint32_t first, uint32_t end, uint32_t most);

}  // namespace tilescope::look
