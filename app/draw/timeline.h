// What a timeline is made of: the band of phases, a row per warp, the playhead. They draw any
// TimelineView, so that two blocks can stand one above the other.
#pragma once

#include "app/draw/ui.h"
#include "core/base/words.h"

namespace tilescope::draw {

// Where things of the axis are on the screen.
struct TimeScale {
    const TimelineView& time;
    bool clocks = false;
    float left = 0, width = 1;
    double scale = 1;  // pixels a step or a clock
    float x(double at) const { return left + static_cast<float>((at - time.first) * scale); }
};

// A band with the phases' numbers where there is room for them. phases: of the block; now: on the axis.
void phase_band(Ui& ui, const TimeScale& axis, uint32_t phases, const Rect& band, double now,
                const Notation& notation = {});

// The marks of a warp's steps and, by clocks, its waits.
void warp_row(Ui& ui, const TimeScale& axis, size_t warp, const Rect& row);

void playhead(Ui& ui, const TimeScale& axis, float top, float bottom, double now);

}  // namespace tilescope::draw
