// The current view as a PNG or an SVG, as an action or the path box asked for it (Session::pictures).
#pragma once

#include "app/frame.h"

namespace tilescope::app {

// After Frame::render and before the window shows it, so that the PNG is what is seen. A request for ".png"
// alone gets a name of its own, in $XDG_PICTURES_DIR or, without it, the current folder; nothing that is
// there is written over by that. the message says where the picture is, or why there is none.
void save_pictures(State& state, Frame& frame, const platform::Backend& shown);

// "tiled-64x64x64-t16-step12.png": the recording and the step, from 1, without what a file's name cannot
// hold. number: from 2 on, "-2" before the ending.
std::string picture_name(const trace::Trace& trace, const playback::Cursor& cursor, std::string_view ending,
                         int number = 1);

}  // namespace tilescope::app
