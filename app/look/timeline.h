// The block's time from left to right, by steps or by clocks: phases, barriers, and a row per warp.
//
// By steps, every step takes the same room:
//
//   phases    | 0            | 1            | 2
//   warp 0    LLSS|mmmmmmmm|w LLSS|mmmmmmmm|w      a mark lasts from a warp's step to its next one
//   warp 1     LLSS|mmmmmmmm|  LLSS|mmmmmmmm|      w: it stands at a barrier until the last warp comes
//
// A wait for a barrier in memory is a step where it is over: the warp stands from its step before up to there.
//
// Long blocks are sampled, one mark a column; barriers and phases are never dropped for lack of room
// but drawn while they are far enough apart to be told from one another.
//
// By clocks, where a GPU recorded them, a mark stands at the moment at which the warp asked, and a wait lasts
// from a warp's arrival at a barrier until the barrier opens:
//
//   clocks     0        100       200       300       400       500
//   warp 0     L L S |//////////////////////|  m m m         arrives first, stands longest
//   warp 1         L L S |//////////////////|   m m m
//   warp 2               L     L   S  |/////|  m m m         what is neither: it computes, or its request is
//   warp 3                 L       L      S ||m m m          under way; the recording cannot tell
//                    |<------ skew -------->|
//
// A barrier opens when every warp of the block that has not exited has arrived (PTX ISA, "bar, barrier":
// threads that exited do not hold others up). So a warp stands from its own arrival to that of the last
// warp; and where a warp never comes to a barrier, because it exits, the others stand at least until its
// last request. A barrier's instances are told apart by how many barriers a warp has passed before.
//
// The recording notes an arrival just before the barrier itself, so a wait includes the barrier's own cost
// and not the time that the warp then needs to be picked to run again.
//
// Clocks are those of the SM that the block ran on, counted from the block's first step. They can be
// compared within a block; what recording itself costs is in them (trace::Price).
//
// Where requests of one warp share a column the rarest kind is seen: atomics before stores, stores before
// loads, global before shared. A column is a wait where the warp stands for at least half of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

// A barrier of a block with several warps as a gate, at a step: each of its warps is on the way to it or held
// by it, until the last one opens it for all.
struct GateView {
    uint32_t number = 0;  // number of the barrier in the block, from 0
    bool open = false;    // the last one arrives at this very step
    uint32_t held = 0;    // warps that have arrived
    struct WarpAtGate {
        uint32_t warp = 0;
        bool held = false;
        uint32_t since = 0;  // the step at which it arrives
    };
    std::vector<WarpAtGate> warps;  // ascending
};

// What a warp does, or that it waits (Barrier; SignalWait for a barrier in memory), in [first, end): positions of the axis, cut to what is shown.
struct TimelineMark {
    uint32_t first = 0, end = 0;
    StepKind kind = StepKind::GlobalLoad;
};

enum class TimeAxis : uint8_t { Steps, Clocks };

// All positions are of the axis: steps of the block, or clocks since its first step.
struct TimelineView {
    TimeAxis axis = TimeAxis::Steps;
    uint32_t first = 0, end = 0;  // shown
    uint32_t columns = 0;
    std::vector<PhaseSpan> phases;                 // those in view
    std::vector<uint32_t> barriers;                // steps or clocks at which a barrier was complete
    std::vector<std::vector<TimelineMark>> warps;  // ascending, without overlap
    // By warp, ascending: waits at barriers, by clocks only, and for those in memory (mbarrier).
    std::vector<std::vector<TimelineMark>> waits;
};

// Steps [first, end) on `columns` columns (pixels, say); at least one.
TimelineView timeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                           uint32_t columns);

// Of a whole block by steps, as wide as it was last drawn: the same for every step of it, and milliseconds to make.
struct BlockStrip {
    std::shared_ptr<const BlockIndex> of;
    TimelineView view;
};

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

// The step that a warp's row shows at a step of the block: its last one until then; none before its first.
std::optional<uint32_t> step_of_warp(const BlockIndex& index, uint32_t warp, uint32_t step);

// Where the axis has its numbers: multiples of 1, 2 or 5 times a power of ten, at most `most` of them.
std::vector<uint32_t> ticks(uint32_t first, uint32_t end, uint32_t most);

// The barrier that a step arrives at; null where it is none or the block has no clocks.
const BarrierTimes* barrier_of_step(const BlockIndex& index, uint32_t step);

// The barrier that a warp stands at at a clock; null where it stands at none.
const BarrierTimes* barrier_at(const BlockIndex& index, uint32_t warp, uint32_t clock);

// The barrier before which the block's warps gather at a step, or that the step completes, as a gate. Nothing
// while none has come, or where a single warp comes to it and has nobody to wait for.
std::optional<GateView> gate_at(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// Whether the warps come in an order: what the block's barriers show of it, and that none is promised.
//
//   3 different warps come last at the 8 barriers; CUDA promises no order.
//
// "" of a block with one warp or no barrier. Source of the promise: CUDA C++ Programming Guide 12, "Hardware
// Multithreading": at each issue a scheduler takes any warp that is ready.
std::string order_words(const trace::Trace& trace, const BlockIndex& index);

// Of a block with clocks: the clock of a step (the last one's for steps beyond it), and the latest step that
// has been made at a clock.
uint32_t clock_of(const trace::Trace& trace, const BlockIndex& index, uint32_t step);
uint32_t step_at_clock(const trace::Trace& trace, const BlockIndex& index, double clock);
uint32_t last_clock(const trace::Trace& trace, const BlockIndex& index);

// Why a block is shown by steps and not by clocks.
std::string no_clocks(const trace::Trace& trace);

// "2.41 µs", "4 ns"; "" where the clock's rate is not known.
std::string microseconds(const trace::Meta& meta, double clocks);

// "9,842 clocks of SM 17, about 4.97 µs at 1,980 MHz": the block's time, from its first to its last step.
std::string block_time(const trace::Trace& trace, const BlockIndex& index);

// "Warp 3 waited 412 clocks (0.21 µs) here; the warps came 980 clocks apart, warp 5 last."
std::string wait_words(const trace::Trace& trace, const BarrierTimes& barrier, uint32_t warp);

}  // namespace tilescope::look
