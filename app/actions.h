// What can be done, as a table: a name, the keys that do it, and a function over the State. The window,
// the buttons and the tests all go through it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/platform/input.h"
#include "app/state.h"

namespace tilescope::app {

struct Chord {
    platform::Key key = platform::Key::None;
    bool shift = false, control = false;
    char32_t character = 0;  // instead of a key: what is typed, on whatever keyboard
};

struct Action {
    const char* name;    // "next_step"
    const char* help;    // "next request or barrier"
    const char* keys;    // as the overlay prints them: "Shift + Right"
    Chord chord, other;  // either does it
    void (*apply)(State&);
};

// In the order in which the keys overlay lists them.
std::span<const Action> actions();

// Does the action of that name; false for a name that is not there.
bool perform(State& state, std::string_view name);

// Everything that was pressed and typed, in order. Keys that mean nothing are ignored.
void handle_input(State& state, const platform::Input& input);

// Lets `seconds` of playing go by. Stops at the last step of the block.
void advance(State& state, double seconds);

// Puts the cursor at a step of the block, clamped; ends playing.
void go_to(State& state, uint32_t step);

// Speeds are powers of two from 1/2 to 4096 steps a second. Motion is drawn up to 20.
inline constexpr double kSlowest = 0.5, kFastest = 4096, kFastestMotion = 20;

}  // namespace tilescope::app
