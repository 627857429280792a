// What the Timing screen draws in the roofline's place: what bounds a kernel (bounds.h), and whether it hides
// latency (latency.h); or the way from kernel to kernel (ladder.h).
#pragma once

#include "app/input/screen.h"
#include "app/timing/state.h"

namespace tilescope::timing {

// all: the devices to choose from, machine: of these one whose levels are known; width: of the matrices.
struct BoundsShown {
    const std::vector<Machine>& all;
    const Machine& machine;
    uint32_t width = 0;
};
void bounds_panel(input::Ui<State>& ui, const draw::Rect& rect, const BoundsShown& shown);
void ladder_panel(input::Ui<State>& ui, const draw::Rect& rect, const BoundsShown& shown);
// A sentence of at most so many lines, with its sources behind it; returns the height taken.
float sentence(input::Ui<State>& ui, const draw::Rect& rect, const std::string& words,
               const std::string& rests_on, int most = 3);
// The choice between these and the roofline, at the right of a panel's head. in: the room within the panel.
// Returns the width taken.
float beside_choice(input::Ui<State>& ui, const draw::Rect& in);

}  // namespace tilescope::timing
