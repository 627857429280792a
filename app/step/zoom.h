// One zoom from the whole to a number:
//
//   grid  <->  block  <->  warp  <->  lane        wheel, W and S
//
// Zoomed out until no array is larger than its panel, the next step out leads to the grid at work (grid_view.cpp);
// from there in, back to the very same view. At the largest cells the next steps in pin the warp and then the lane that
// the mouse or the step is on, whose numbers the panels then show; the next steps out let go of them again. A path
// (path_panel.cpp) says where one is.
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

// Goes a level in or out. False where zooming the cells comes first.
bool zoom_level(State& state, session::Session& session, bool in);
// The same by the wheel over an array, before the arrays are drawn anew: it needs their places of the frame before.
void zoom_by_wheel(Ui& ui);

// Where one is, from the outermost level on: "grid", "block(2,1)", "warp 3", "lane 5".
std::vector<std::string> path_names(const trace::Trace& trace, uint32_t block, const Pick& pin,
                                    const Notation& notation);
// The path on one line, where there is room for it and no question is open; a click on a part leads back there.
// Returns the height that it takes.
float path_strip(Ui& ui, const Rect& rect);

// The cell of a small map at the mouse, while it is pressed there: the view is to have it in its middle.
std::optional<ImVec2> map_pressed(Ui& ui, const Rect& map, float pitch);

}  // namespace tilescope::step
