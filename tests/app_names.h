// The program with the names of all its floors: tests speak of several at once.
#pragma once

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "app/app.h"
#include "app/input/overlays.h"
#include "app/session/playing.h"

namespace tilescope::app {

using namespace draw;     // NOLINT(google-build-using-namespace): of this namespace's tests alone
using namespace look;     // NOLINT(google-build-using-namespace)
using namespace session;  // NOLINT(google-build-using-namespace)
using namespace input;    // NOLINT(google-build-using-namespace)
using namespace step;     // NOLINT(google-build-using-namespace)
using namespace compare;  // NOLINT(google-build-using-namespace)
using namespace timing;   // NOLINT(google-build-using-namespace)
using namespace limits;   // NOLINT(google-build-using-namespace)
using namespace lessons;  // NOLINT(google-build-using-namespace)

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
