// From a recording to the state that a screen shows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/state.h"
#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::app {

// Derives all that is derived once from a recording. Fails for a recording whose PTX cannot be read.
Result<Session> session_of(std::shared_ptr<const trace::Trace> trace, std::string origin);

// A state that shows this session from its first step, with the record form set to its launch.
State state_of(Session session);

// The cursor at a step of the whole recording, from 0; clamped to its last one.
playback::Cursor cursor_at(const trace::Trace& trace, uint64_t step);

}  // namespace tilescope::app
