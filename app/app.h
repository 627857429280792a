// The program: its state, its screens, what can be done, and a frame of it. Everything below gets a part of
// the State: a screen its own state and the session (input/screen.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/compare/model.h"
#include "app/draw/ui.h"
#include "app/input/overlays.h"
#include "app/input/screen.h"
#include "app/lessons/walk.h"
#include "app/limits/model.h"
#include "app/platform/backend.h"
#include "app/session/session.h"
#include "app/step/panels.h"
#include "app/timing/model.h"

namespace tilescope::app {

using platform::Canvas;

struct State {
    session::Session session;
    input::State input;
    step::State step;
    compare::State compare;
    timing::State timing;
    limits::State limits;
    lessons::State lessons;
};

// A row of the table of screens (app.cpp): what a screen offers (input/screen.h), as functions of the State.
struct ScreenRow {
    const char *name, *option, *about;
    bool says_messages;
    void (*draw)(State& state, const input::SessionUi& ui, const draw::Rect& area) = nullptr;
    bool (*press)(State& state, const platform::KeyPress& key) = nullptr;
    bool (*update)(State& state, bool wait) = nullptr;
    float (*strip)(State& state, const input::SessionUi& ui, const draw::Rect& area) = nullptr;
};

// In the order of the tabs, of the keys from 1 on, and of what --screen takes.
std::span<const ScreenRow> screens();
const ScreenRow& screen_of(const State& state);         // the one that is shown
const ScreenRow* find_screen(std::string_view option);  // null for none of that name

// All that can be done, in the order of the list of keys: offered by the screens and by input/.
std::span<const input::Offer> offers();
// Does the action of that name; false for a name that is not there.
bool perform(State& state, std::string_view name);

// Everything that was pressed and typed, one after the other, each with all that it asks for, so that two
// keys within one slow frame do what they do in two. Keys that mean nothing are ignored. While the screen is
// blank any key brings it back; while the palette or the path box is open they have the keyboard; the record
// form has the keys that fields are worked with. wait: as update() has it.
void handle_input(State& state, const platform::Input& input, bool wait = false);

// Grants what was asked for, takes over what jobs have finished and begins what is wanted next. wait: until
// all of it is there, for a picture. True while something is still to come.
bool update(State& state, bool wait);

// One frame, inside an ImGui frame: takes the input, does what is due, and draws all there is.
void draw_frame(State& state, const platform::Input& input, const Canvas& canvas, draw::DrawContext& context);

// "tiled 64x64x64 T=16 - step 12 of 9728 - Tilescope"; steps count from 1, as on the screen.
std::string window_title(const State& state);

}  // namespace tilescope::app
