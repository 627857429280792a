// Pairs of recordings on the Compare screen, drawn and read: its pictures, and all that is written in them.
#pragma once

#include <string>
#include <utility>

#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {

inline constexpr kernels::Shape kShape{64, 64, 64, 16};

inline State alone(trace::Trace trace) {
    State state;
    show_trace(state, std::move(trace), "test.tsc");
    state.session.assets.recordings = Assets::of(kNothingShips);
    state.session.assets.timings = Assets::of(kNoTimes);
    state.session.screen = "compare";
    return state;
}

inline std::shared_ptr<const session::Recording> recording_of(trace::Trace trace) {
    auto made = session::make_recording(std::move(trace), "test.tsc");
    EXPECT_TRUE(made);
    return *made;
}

inline State pair(trace::Trace a, trace::Trace b) {
    State state = alone(std::move(a));
    set_beside(state.session, recording_of(std::move(b)));
    return state;
}

inline State pair(const char* a, kernels::Shape of_a, const char* b, kernels::Shape of_b) {
    return pair(kernels::recorded(a, of_a), kernels::recorded(b, of_b));
}

inline void golden(State state, int width, int height, const std::string& name) {
    test::expect_golden(picture(std::move(state), width, height), name);
}

inline size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

inline std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

inline testing::AssertionResult says(const std::string& drawn, const std::string& words) {
    if (drawn.find(without_spaces(words)) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << words << "' is not in " << drawn;
}

}  // namespace tilescope::app
