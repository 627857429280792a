// The program with the names of all its floors (names.h).
#pragma once

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "app/app.h"
#include "app/input/overlays.h"
#include "app/session/playing.h"
#include "tests/names.h"

namespace tilescope::app {

// A recording in place of the one that is open, with all that is made of it.
inline void show_trace(State& state, std::shared_ptr<const trace::Trace> trace, const char* origin = "test") {
    auto recording = session::make_recording(std::move(trace), origin);
    ASSERT_TRUE(recording) << recording.error().message;
    session::show(state.session, *recording);
    update(state, true);
}
inline void show_trace(State& state, trace::Trace trace, const char* origin = "test") {
    show_trace(state, std::make_shared<const trace::Trace>(std::move(trace)), origin);
}

// A recording that holds nothing, as no file does.
inline void show_hollow(State& state) {
    auto recording = std::make_shared<session::Recording>();
    recording->trace = std::make_shared<const trace::Trace>();
    state.session.recording = std::move(recording);
}

}  // namespace tilescope::app
