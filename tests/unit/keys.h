// Keys and characters as input, and a recording to press them on.
#pragma once

#include <string_view>

#include "app/input/overlays.h"
#include "tests/app_names.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {

inline State state_of(const Recorded& made) {
    State state;
    auto recording = std::make_shared<session::Recording>();
    static_cast<analysis::Recording&>(*recording) = made;
    recording->product = made.index->product;
    state.session.recording = recording;
    state.session.block = made.index;
    state.session.replay = made.replay;
    return state;
}

using platform::Key;

inline platform::Input press(Key key, bool shift = false, bool control = false) {
    platform::Input input;
    input.presses.push_back({key, shift, control});
    return input;
}

// The characters of a text, each as the entry that it is of its own.
inline platform::Input typed_text(std::u32string_view text) {
    platform::Input input;
    for (const char32_t character : text) {
        platform::KeyPress typed;
        typed.character = character;
        input.presses.push_back(typed);
    }
    return input;
}

inline platform::Input type(char32_t character) { return typed_text({&character, 1}); }

class Keys : public testing::Test {
protected:
    Recorded made = record("tiled", {64, 64, 64, 16});
    State state = state_of(made);
};

}  // namespace tilescope::app
