// The current view as a PNG or an SVG, as an action or the path box asked for it (State::teach.requests).
#pragma once

#include "app/frame.h"

namespace tilescope::app {

// After Frame::render and before the window shows it, so that the PNG is what is seen. A request for ".png"
// alone gets a name of its own, in $XDG_PICTURES_DIR or, without it, the current folder; nothing that is
// there is written over by that. state.message says where the picture is, or why there is none.
void save_pictures(State& state, Frame& frame, const Canvas& canvas);

}  // namespace tilescope::app
