// What the Timing screen draws in one place: the roofline, or in its stead what bounds a kernel (bounds.h), and
// whether it hides latency (latency.h); or the way from kernel to kernel (ladder.h); and below, of a launch without
// times, what is known instead (unmeasured.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/draw/chart.h"
#include "app/input/screen.h"
#include "app/timing/state.h"
#include "app/timing/unmeasured.h"

namespace tilescope::timing {

// all: the devices to choose from, machine: of these one whose levels are known; width: of the matrices.
struct BoundsShown {
    const std::vector<Machine>& all;
    const Machine& machine;
    uint32_t width = 0;
};
void bounds_panel(input::Ui<State>& ui, const draw::Rect& rect, const BoundsShown& shown);
void ladder_panel(input::Ui<State>& ui, const draw::Rect& rect, const BoundsShown& shown);
// chosen: it stands there because it was chosen, and not because there is nothing else.
void roofline_panel(input::Ui<State>& ui, const draw::Rect& rect, RooflineChart& chart, bool chosen);

// Of a launch that nobody timed, in the place of all other panels (unmeasured.h).
struct LaunchShown {
    const std::vector<std::pair<std::string, std::string>>& counted;  // from its recording
    const Unmeasured& unmeasured;
    const TrafficChain& chain;
    RooflineChart& roofline;
};
void launch_panels(input::Ui<State>& ui, const draw::Rect& area, const LaunchShown& shown);
// Of a device that was not measured, in the place of the table of traffic.
void unmeasured_panel(input::Ui<State>& ui, const draw::Rect& rect, const Unmeasured& shown,
                      const TrafficChain& chain);

// The panel's surface and the room within; where there is nothing to draw it says why.
draw::Rect panel(input::Ui<State>& ui, const draw::Rect& rect, const std::string& title = {},
                 const std::string& nothing = {}, const char* name = __builtin_FUNCTION());
// The point under the mouse, with a ring around it.
std::optional<size_t> pointed_at(input::Ui<State>& ui, const draw::Chart& axes,
                                 const std::vector<ImVec2>& points);
// A sentence of at most so many lines, with its sources behind it; returns the height taken.
float sentence(input::Ui<State>& ui, const draw::Rect& rect, const std::string& words,
               const std::string& rests_on, int most = 3);
// The choice between these and the roofline, at the right of a panel's head. in: the room within the panel.
// Returns the width taken.
float beside_choice(input::Ui<State>& ui, const draw::Rect& in);

}  // namespace tilescope::timing
