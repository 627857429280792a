// What actions ask for that needs files and other recordings (State::teach.requests), done once a frame.
#pragma once

#include <string>

#include "app/state.h"

namespace tilescope::app {

// Opens, saves, records and walks as asked. Failures go to state.message, those of the path box beside it.
void do_requests(State& state);

// Opens a recording and remembers it; false, with the sentence in state.message, where it cannot be opened.
bool open_path(State& state, const std::string& path);

// Remembers the recording that is shown, where it came from a file.
void remember_file(State& state);

}  // namespace tilescope::app
