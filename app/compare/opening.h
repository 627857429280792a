// The Compare screen's recordings: opened by a job when a comparison is chosen, or on the spot for a picture.
//
//   choose --> Pair: A, B, their totals, their tallies      A becomes the session's own recording
//   cursor of A, lock --> cursor of B, index of B's block   every frame, microseconds
#pragma once

#include "app/compare/presets.h"
#include "app/compare/state.h"
#include "app/input/screen.h"

namespace tilescope::compare {

// Chooses the comparison that is so many further on in the list; the next frame opens it.
void next_comparison(State& state, session::Session& session, int by);
void next_lock(State& state);

// The list of pairs, or back from it.
void choose_comparison(State& state, session::Session& session);
void swap_sides(State& state, session::Session& session);
// Asks for the path of a recording, or the name of one that ships, to set beside A.
void open_beside(session::Session& session);
// The list of pairs is shown: asked for, or there is nothing else to show.
bool choosing(const State& state, const session::Session& session);
// Takes what is chosen on the list: a pair, or another recording as A or as B.
void take_choice(State& state, session::Session& session, int chosen);
// What the list of pairs has keys for; false for all others.
bool press(State& state, session::Session& session, const platform::KeyPress& key);

// Sets a second recording beside the session's own.
void set_beside(State& state, std::shared_ptr<const session::Recording> other);

// Takes a recording that was opened to be set beside the session's own, and shows the two.
bool update(State& state, session::Session& session, bool wait);

// Opens what was chosen, and makes B stand where the lock has it. wait: at once; else what takes long comes
// with a later call. Returns true while something is still to come.
bool ready(State& state, session::Session& session, bool wait);

const input::Actions<State>& actions();

}  // namespace tilescope::compare
