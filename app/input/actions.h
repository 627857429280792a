// What can be done on every screen: walking through the recording, how things look, and files.
#pragma once

#include <span>
#include <string>

#include "app/input/screen.h"
#include "app/input/state.h"

namespace tilescope::input {

// In the order in which the list of keys has them: before those that the screens bring, and behind them.
const Actions<State>& walking();
const Actions<State>& looks_and_files();

// The palette or the path box is open: what is typed is text.
bool overlay_open(const State& state);
// The keyboard while one of them is open. offers: all that can be done.
void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press);
// What fields and lists of the record form are worked with.
bool is_form_key(const KeyPress& press);

void open_path_box(State& state, Session& session, PathBox::Mode mode);
// The path box for an export of the recording (session/exporting.h).
void open_export_box(State& state, Session& session, const std::string& what);
// Does what the palette's row says, and remembers it.
void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id);
// Opens, saves or exports what is chosen in the path box, or typed.
void take_path(State& state, Session& session);

// Takes up what the session asks of the overlays, and what has come of what they asked for.
void update(State& state, Session& session);

}  // namespace tilescope::input
