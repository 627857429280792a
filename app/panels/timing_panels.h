// The panels of the Timing screen.
#pragma once

#include "app/panels/ui.h"
#include "app/view/roofline_view.h"
#include "app/view/timing_view.h"

namespace tilescope::panels {

// What was measured where, as the screen has it in this frame.
struct Timed {
    const view::Machine& machine;
    const std::vector<kernels::Counters>& counters;
    uint32_t width;  // of the roofline and the chain
};

// Clicks on lines, points and labels choose the kernel, and on points the width.
void time_panel(Ui& ui, const Rect& rect, const Timed& timed);
void roofline_panel(Ui& ui, const Rect& rect, const Timed& timed);
void traffic_panel(Ui& ui, const Rect& rect, const Timed& timed);
float traffic_height(Ui& ui);
// The chain alone, from left to right.
void traffic_strip(Ui& ui, const Rect& rect, const Timed& timed);
float traffic_strip_height(Ui& ui);

}  // namespace tilescope::panels
