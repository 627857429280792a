// The panels of the Timing screen.
#pragma once

#include "app/draw/chart.h"
#include "app/input/ui.h"
#include "app/timing/roofline.h"
#include "app/timing/time_chart.h"

namespace tilescope::timing {

using draw::Chart;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
using Ui = input::Ui<State>;

extern const input::Screen<State> kScreen;  // screen.cpp

// What was measured where, as the screen has it in this frame.
struct Timed {
    const Machine& machine;
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

// The colour of a kernel, by where its operands come from.
Ink ink_of(Operands operands);

}  // namespace tilescope::timing
