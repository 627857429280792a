// Pictures of the window: which requests to save are for one, and the name that it gets.
#pragma once

#include <string>
#include <string_view>

#include "core/playback/cursor.h"
#include "core/trace/trace.h"

namespace tilescope::view {

// ".png" or ".svg" at the end of a path; "" for neither.
std::string_view picture_ending(std::string_view path);

// "tiled-64x64x64-t16-step12.png": the recording and the step, from 1, without what a file's name cannot
// hold. number: from 2 on, "-2" before the ending.
std::string picture_name(const trace::Trace& trace, const playback::Cursor& cursor, std::string_view ending,
                         int number = 1);

}  // namespace tilescope::view
