// What can be done, as a table: a name, the keys that do it, and a function over the State. The window,
// the buttons and the tests all go through it.
#pragma once

#include <cstdint>
#include <functional>
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
    const char* group = "More";  // the heading it stands under in the list of keys
};

// In the order in which the keys overlay lists them.
std::span<const Action> actions();

// Does the action of that name; false for a name that is not there.
bool perform(State& state, std::string_view name);

// Everything that was pressed and typed, one after the other; after each, `after` carries out what it asked
// for, so that two keys within one slow frame do what they do in two. Keys that mean nothing are ignored.
// While the screen is blank any key brings it back; while the palette or the path box is open they have the
// keyboard; the record form has the keys that fields are worked with (actions_keys.cpp).
void handle_input(State& state, const platform::Input& input, const std::function<void(State&)>& after = {});

// Does what the Timing and Limits screens have keys of their own for; false for all others.
bool screen_key(State& state, const platform::KeyPress& press);

// The palette or the path box is open: what is typed is text (actions_overlays.cpp).
bool overlay_open(const State& state);
void press_in_overlay(State& state, const platform::KeyPress& press);
void type_in_overlay(State& state, uint32_t character);
void open_path_box(State& state, PathBox::Mode mode);
// The path box for an export of the recording (view/export_choice.h).
void open_export_box(State& state, const std::string& what);
// Does what the palette's row says, and remembers it.
void run_command(State& state, const std::string& id);
// Takes the row that is chosen, or what is typed.
void take_command(State& state);
void take_path(State& state);
// Walks to a stop of a lesson; ends the lesson when it leads beyond the last one.
void go_to_stop(State& state, size_t lesson, size_t stop);

// Nothing comes after the cursor's step in its block.
bool at_end(const State& state);

// Whether the timeline and playing go by clocks: asked for, and the cursor's block has them.
bool by_clock(const State& state);

// Where playing stands on the clocks' axis: the cursor's step and what has gone by since.
double clock_now(const State& state);

// Lets `seconds` of playing go by, in steps or in clocks. Stops at the last step of the block.
void advance(State& state, double seconds);

// Puts the cursor at a step of the block, clamped; ends playing.
void go_to(State& state, uint32_t step);

// Speeds are powers of two from 1/2 to 4096 steps a second. Motion is drawn up to 20.
inline constexpr double kSlowest = 0.5, kFastest = 4096, kFastestMotion = 20;

// By clocks they are powers of two from 1 to 2^24 a second; a block opens at the one that shows it in about
// 20 seconds.
inline constexpr double kSlowestClock = 1, kFastestClock = 1 << 24, kSecondsABlock = 20;
double fitting_clocks_per_second(uint32_t clocks);

// How fast steps go by while playing, for what is only drawn at low speeds.
double steps_per_second(const State& state);

}  // namespace tilescope::app
