// What can be done on every screen: walking through the recording, how things look, and files; and the two
// boxes that take the keyboard while they are open: the command palette and the path box.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/screen.h"
#include "app/input/state.h"

namespace tilescope::input {

// In the order in which the list of keys has them: before those that the screens bring, and behind them.
const Actions<State>& walking();
const Actions<State>& looks();
const Actions<State>& files();

// What fields and lists of the record form are worked with.
bool is_form_key(const KeyPress& press);

// One line of text, as hands know it (overlay_keys.cpp): characters, arrows, Home, End, Backspace, Delete,
// with Control a word at a time. Text is UTF-8; the caret always stands between two whole characters.
void set_text(TextField& field, std::string text);  // the caret behind it
void type(TextField& field, uint32_t character);    // control characters are ignored
// Does what a key means to a line of text; false for a key that means nothing to it.
bool edit(TextField& field, const KeyPress& press);

// The palette or the path box is open: what is typed is text.
bool overlay_open(const State& state);
// The keyboard while one of them is open. offers: all that can be done.
void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press);
// Takes up what the session asks of the overlays, and what has come of what they asked for.
void update(State& state, Session& session);

// The command palette's list (palette.cpp): everything that can be done, found by a few letters of its name.
//
//   "nxt ph"     next phase                        letters in order, each word of the query for itself
//   "step 12"    Go to step 12 of this block       places are made from what is typed
//   ""           recently used ones first
struct Command {
    std::string id;     // "action:next_step", "shipped:tiled-4x4x4-t2", "step:12": what run_command takes
    std::string title;  // "Next request or barrier"
    std::string keys;   // "" where no key does it
};
// How well a query meets a title: higher is better, below 0 for not at all. Case does not matter.
int match(std::string_view query, std::string_view title);
// Those that meet the query, best first; where equally good, the recently used first, then as listed.
std::vector<Command> find_commands(const Session& session, std::span<const Offer> offers,
                                   std::string_view query);
// Does what the palette's row says, and remembers it.
void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id);

// What the path box suggests (path_box.cpp): folders and recordings that begin with what is typed, and before
// anything is typed the recordings opened lately and those that ship.
struct Suggestion {
    enum class Kind : uint8_t { Folder, File, Recent, Shipped } kind = Kind::File;
    std::string text;   // as it is shown
    std::string value;  // the path; the name of what ships
};
// Looks at the folder that is typed; a folder that cannot be read suggests nothing.
std::vector<Suggestion> suggestions(const PathBox& box, const Session& session);
// What Tab makes of the typed path: as far as all the folders and recordings that begin with it agree.
std::string completed(const std::string& typed);

void open_path_box(State& state, Session& session, PathBox::Mode mode);
// The path box for an export of the recording (session/exporting.h).
void open_export_box(State& state, Session& session, const std::string& what);
// Opens, saves or exports what is chosen in the path box, or typed.
void take_path(State& state, Session& session);

}  // namespace tilescope::input
