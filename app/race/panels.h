// The panels of the Race screen.
#pragma once

#include <array>
#include <string>

#include "app/draw/widgets.h"
#include "app/input/screen.h"
#include "app/race/state.h"

namespace tilescope::race {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
using Ui = input::Ui<State>;

// One of the two recordings at a moment.
struct Pane {
    const Race& race;
    const Side& side;
    const session::Shown& shown;
    std::array<Counts, 3>& counts;  // of its inputs, and of its output
    uint32_t moment = 0;

    const Notation& notation() const { return shown.recording->notation; }
    const Array& array(uint8_t at) const { return shown.trace().launch.arrays[at]; }
    uint64_t bytes() const { return side.bytes[moment]; }
};

// M, N and P as they fill, what was loaded so far, and the pipe from global memory to an SM.
void side_panel(Ui& ui, const Rect& rect, const Pane& pane);
// The pipe, and the SM with its shared arrays.
void pipe(Ui& ui, const Rect& rect, const Pane& pane);
// Bytes over the progress of both, the scale of the maps, and where there is no paper the buttons. A drag on it
// goes to a moment.
void chart_panel(Ui& ui, const Rect& rect, const Race& race, uint32_t moment);

}  // namespace tilescope::race
