// What the Race screen keeps between frames: the race of the pair that is shown, and the moment of it.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "app/race/model.h"
#include "app/session/session.h"

namespace tilescope::race {

struct State {
    double at = 0;  // share of the work, 0 to 1
    bool playing = false;
    bool begins = false;     // it was started, and no frame of it was drawn yet: it may still have to be made
    double drawn_at = -1;    // seconds of the latest frame that was played; below 0 for none
    bool at_cursor = false;  // a picture of the moment at which A has made the cursor's step

    uint64_t a = 0, b = 0;  // serials of the recordings that it is of
    std::shared_ptr<const Race> race;
    session::Job<Result<std::shared_ptr<const Race>>> running;
    std::string why_not;                          // why there is no race
    std::array<std::array<Counts, 3>, 2> counts;  // of the maps of A and of B
};

uint32_t moment_of(const State& state);
// Plays on by so many seconds; stops at the end.
void play_on(State& state, double seconds);
// Plays or pauses; from the start again where it has come to the end.
void toggle(State& state);

// Opens a pair where none is there, and makes its race. wait: at once; else what takes long comes with a later
// call. Returns true while something is still to come.
bool ready(State& state, session::Session& session, bool wait);

bool press(State& state, session::Session& session, const platform::KeyPress& key);

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::race
