// One zoom from the whole to a number: grid, block, warp, lane. The grid at work is the outermost level
// (grid_view.cpp).
#pragma once

#include "app/step/panels.h"

namespace tilescope::step {

// Whether the grid at work is what the screen shows; never while a question is open, whose answer it might tell.
inline bool grid_shown(const State& state, const session::Session& session) {
    return state.grid.shown && !session.question.open;
}
// Shows it, or what was shown before.
void show_grid(State& state, session::Session& session);
// Keys that it has for itself: Space plays, the arrows move the moment, Enter enters the block.
bool press_in_grid(State& state, session::Session& session, const input::KeyPress& press);
void grid_view(Ui& ui, const Rect& area);

}  // namespace tilescope::step
