// What screens and overlays draw with: a Ui (draw/ui.h) with the session, what of it is drawn most, and the
// screen's own state.
#pragma once

#include "app/draw/ui.h"
#include "app/input/screen.h"

namespace tilescope::input {

struct SessionUi : draw::Ui {
    Session& session;

    const trace::Trace& trace() const { return session.trace(); }
    const look::BlockIndex* index() const { return session.block.get(); }  // null while it is made
    const Notation& notation() const { return session.recording->notation; }
    uint32_t step() const { return session.cursor.step; }
    // What was picked, as all panels show it: what is hovered over before what is pinned.
    const look::Pick& shown_pick() const {
        return session.hover.kind != look::Pick::Kind::None ? session.hover : session.pin;
    }
    look::Pick& hovered;  // out: what the mouse is over
};

// Pins on a click, hints on hover.
inline void offer_pick(SessionUi& ui, const look::Pick& pick) {
    ui.hovered = pick;
    if (ImGui::IsMouseClicked(0)) ui.session.pin = ui.session.pin == pick ? look::Pick{} : pick;
}

// Asks for an action by its name, as its key would.
inline void ask(SessionUi& ui, const char* action) {
    ui.session.asked.emplace_back(action);
    ui.context.another_frame = true;
}

template <class State>
struct Ui : SessionUi {
    State& state;
};

}  // namespace tilescope::input
