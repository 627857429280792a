// The real time of a block that a GPU recorded: when each warp asked, and how long it stood at barriers.
//
//   clocks     0        100       200       300       400       500
//   warp 0     L L S |//////////////////////|  m m m         arrives first, stands longest
//   warp 1         L L S |//////////////////|   m m m
//   warp 2               L     L   S  |/////|  m m m
//   warp 3                 L       L      S ||m m m          arrives last: the barrier opens
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
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

// Whether the recording has a clock for every step of the block, and in the order of its steps: a block
// whose clocks run backwards (a gap in what the device wrote) is shown by steps.
bool has_clocks(const trace::Trace& trace, uint32_t block);

// The barriers of the block, in the order of the instances; nothing without clocks. Reads steps, arrivals
// and steps_of_warp of the index.
std::vector<BarrierTimes> barrier_times(const trace::Trace& trace, const BlockIndex& index);

// The barrier that a step arrives at; null where it is none or the block has no clocks.
const BarrierTimes* barrier_of_step(const BlockIndex& index, uint32_t step);

// The barrier that a warp stands at at a clock; null where it stands at none.
const BarrierTimes* barrier_at(const BlockIndex& index, uint32_t warp, uint32_t clock);

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
