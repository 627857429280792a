// A ring of stages that copies fill while warps read others of them, and barriers in memory (mbarrier) without one:
//
//   full              stage                 empty
//   full[0]  * 0 B    [ trip 3 under way ]  empty[0]  o o o o
//   full[1]  o        [ trip 1           ]  empty[1]  * * * o    <- hatched: warps wait for it
//   Warp 0 waits for empty[1]: 3 of 4 arrivals; warp 2 has not come.
//
// The buffer of a stage is filled as far as its bytes have come; one that is read and free is a frame.
#pragma once

#include <functional>
#include <span>

#include "app/look/pipeline.h"
#include "app/pictures/pictures.h"

namespace tilescope::pictures {

// The height that the ring takes, at most `most`: stages, then sentences; 0 where that is too little, or there is none.
float pipeline_height(Ui& ui, const look::PipelineView& view, float most);
void pipeline_picture(Ui& ui, const Rect& rect, const look::PipelineView& view, Rgba color);

// Barriers without a ring: a row each, with phase, arrivals as dots, and bytes.
void barriers_picture(Ui& ui, const Rect& rect, const look::SignalView& view, Rgba color);

// The ink of what a warp is to the ring: a producer brings tiles from global memory, a consumer reads shared memory.
Ink ink_of(analysis::WarpRole role);
// A strip in that colour before a warp's row, of two halves where it is both.
void role_strip(Ui& ui, const Rect& rect, analysis::WarpRole role);

// A stage's fills along a timeline: pale while they are under way, full while they are there, each with its trip.
// place: of a step on the axis.
void stage_row(Ui& ui, const TimeScale& axis, const Rect& row, std::span<const look::StageSpan> spans,
               const std::function<double(uint32_t)>& place);

}  // namespace tilescope::pictures
