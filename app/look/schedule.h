// The schedule of one SM, of a recording from a GPU: which of its warps asks for memory or comes to a barrier
// when, by the SM's own clock.
//
//   clocks      0        1,000      2,000      3,000      4,000
//   slot 0      | block 0,0                | block 7,0
//     warp 0    L L----S |///|mmmm L L---S   L L----S |//|mmmm       L, S, m  a request
//     warp 1      L L-----S  |mmmm L L---S     L L-----S |mmmm       ----     behind a global load: it is the
//   slot 1         | block 3,0                                                warp's last step so far
//     warp 0       L L-----S |/////|mmmm L L----S |////|mmmm         ////     at a barrier, until it opens
//
// All blocks of an SM read one clock (trace::Block::clock, PTX ISA "%clock64"), so their steps can be set
// beside each other. A block takes the first slot that is free, so blocks that follow each other share one,
// and there are as many slots as blocks ran at the same time. Where no recorded block runs for long (between
// two launches, say), most of that time is left out.
//
// What is neither a step, nor behind a global load, nor at a barrier computes or waits for something else:
// the recording cannot tell. Behind a global load a warp may compute, too, until it needs what it loaded.
#pragma once

#include <cstdint>
#include <vector>

#include "app/look/timeline.h"
#include "core/trace/trace.h"

namespace tilescope::look {

// The SMs that recorded blocks with clocks ran on, ascending. None of a recording without clocks.
std::vector<uint32_t> sms_with_blocks(const trace::Trace& trace);

// Positions are clocks since the SM's first step, less what is left out before them.
struct SmSchedule {
    struct Resident {
        uint32_t block = 0;   // of the trace
        uint64_t at = 0;      // position of its first step
        uint64_t clocks = 0;  // clocks to its last step, inclusive
        uint32_t slot = 0, warps = 0;
    };
    struct Cut {
        uint64_t at = 0, clocks = 0;  // so many are left out there
    };
    uint32_t sm = 0;
    std::vector<Resident> blocks;  // by their first steps
    std::vector<Cut> cuts;
    uint64_t clocks = 0, steps = 0;
    uint32_t slots = 0, warps = 0;  // warps: of all its blocks
    uint32_t beyond = 0;            // blocks that it ran behind these, more than are walked through
    uint32_t backwards = 0;         // blocks that are not here since their clocks run backwards
};
// Blocks are added until they have made `most_steps` steps.
inline constexpr uint64_t kMostScheduled = 300'000;
SmSchedule sm_schedule(const trace::Trace& trace, uint32_t sm, uint64_t most_steps = kMostScheduled);

// What its warps spend their time on, each from its first step to its last, in clocks of all warps together;
// and the longest time in which a recorded block ran and no warp made a step.
struct SmTimes {
    uint64_t warps = 0;  // all of it
    uint64_t behind_load = 0, at_barrier = 0;
    uint64_t gap = 0, gap_at = 0;
};
SmTimes sm_times(const trace::Trace& trace, const SmSchedule& schedule);

// Positions [first, end) of a schedule on columns.
struct ScheduleView {
    uint64_t first = 0, end = 0;
    // Warps and waits as on any timeline, on an axis of columns; an entry for each warp, block after block.
    TimelineView rows;
    std::vector<std::vector<TimelineMark>> behind;  // by row: behind a global load, for half a column
    std::vector<size_t> first_row;                  // by block of the schedule
    // By column: how many warps are there, behind a global load and at a barrier, as the mean of its clocks.
    struct Level {
        double there = 0, behind_load = 0, at_barrier = 0;
    };
    std::vector<Level> levels;
};
ScheduleView schedule_view(const trace::Trace& trace, const SmSchedule& schedule, uint64_t first,
                           uint64_t end, uint32_t columns);

}  // namespace tilescope::look
