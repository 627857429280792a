// What a screen offers the program: a row of its table (app.h), its actions and keys. Its functions get the
// screen's own state, the session, and what to draw with (Ui); nobody below app.h sees more.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/draw/ui.h"
#include "app/platform/input.h"
#include "app/session/session.h"

namespace tilescope::input {

using platform::Key, platform::KeyPress, session::Session;

struct Chord {
    Key key = Key::None;
    bool shift = false, control = false;
    char32_t character = 0;  // instead of a key: what is typed, on whatever keyboard
};
constexpr Chord key(Key k) { return {k, false, false, 0}; }
constexpr Chord shift(Key k) { return {k, true, false, 0}; }
constexpr Chord control(Key k) { return {k, false, true, 0}; }
constexpr Chord shift_control(Key k) { return {k, true, true, 0}; }
constexpr Chord typed(char32_t c) { return {Key::None, false, false, c}; }

// What can be done, as people see it: in the list of keys, in the palette, on a button.
struct Offer {
    std::string name;     // "next_step"; with a colon, "lesson:reuse", it is listed in the palette alone
    std::string help;     // "next request or barrier"
    std::string keys;     // as the list of keys prints them, "Shift + Right"; in the palette: where it leads
    Chord chord, other;   // either does it
    std::string group{};  // the heading it stands under in the list of keys
    bool platform::Abilities::*needs = nullptr;  // what the platform must be able to do, if anything
};
bool means(const Offer& offer, const KeyPress& press);
inline bool can(const Session& session, const Offer& offer) {
    return offer.needs == nullptr || session.can.*offer.needs;
}

// An offer and what does it: a function of the state that it belongs to, of the session, or of both.
template <class State>
struct Action : Offer {
    std::function<void(State&, Session&)> apply;

    template <class Do>
    Action(std::string called, std::string says, std::string by, Chord one, Chord another, Do what,
           std::string under = "")
        : Offer{std::move(called), std::move(says), std::move(by), one, another, std::move(under)} {
        if constexpr (std::invocable<Do, State&, Session&>)
            apply = std::move(what);
        else if constexpr (std::invocable<Do, Session&>)
            apply = [what = std::move(what)](State&, Session& session) { what(session); };
        else
            apply = [what = std::move(what)](State& state, Session&) { what(state); };
    }
    template <class Do>
    Action(std::string called, std::string says, std::string by, Chord one, Do what)
        : Action(std::move(called), std::move(says), std::move(by), one, {}, std::move(what)) {}

    Action needing(bool platform::Abilities::*ability) && {
        this->needs = ability;
        return std::move(*this);
    }
};
template <class State>
using Actions = std::vector<Action<State>>;

// Actions that stand under one heading of the list of keys.
template <class State>
Actions<State> under(const char* heading, Actions<State> actions) {
    for (Action<State>& action : actions) action.group = heading;
    return actions;
}

// What screens and overlays draw with: a Ui (draw/ui.h) with the session and the screen's own state.
struct SessionUi : draw::Ui {
    Session& session;
    std::span<const Offer> offers;  // all that can be done

    const trace::Trace& trace() const { return session.trace(); }
    // Null while it is made, and where it cannot be.
    const look::BlockIndex* index() const {
        return session.block && session.block->why_not.empty() ? session.block.get() : nullptr;
    }
    const Notation& notation() const { return session.recording->notation; }
    uint32_t step() const { return session.cursor.step; }
    // What was picked, as all panels show it: what is hovered over before what is pinned.
    const look::Pick& shown_pick() const {
        return session.hover.kind != look::Pick::Kind::None ? session.hover : session.pin;
    }
    look::Pick& hovered;  // out: what the mouse is over
};

// What a click means while a question is open: an element of the array that is asked about, or a lane.
inline void offer_prediction(SessionUi& ui, const look::Pick& pick) {
    using Takes = session::Question::Takes;
    session::Question& asked = ui.session.question;
    if (!ImGui::IsMouseClicked(0)) return;
    const bool element = pick.kind == look::Pick::Kind::Element || pick.kind == look::Pick::Kind::SharedCell;
    if (asked.takes == Takes::Cells && element && pick.array == asked.array)
        asked.take_cell(pick.index);
    else if (asked.takes == Takes::Lanes && pick.kind == look::Pick::Kind::Thread && pick.warp == asked.warp)
        asked.take_lane(pick.thread % kWarpSize);
    else
        return;
    ui.context.another_frame = true;
}

// Pins on a click, hints on hover.
inline void offer_pick(SessionUi& ui, const look::Pick& pick) {
    if (ui.session.question.open) return offer_prediction(ui, pick);
    ui.hovered = pick;
    if (ImGui::IsMouseClicked(0)) ui.session.pin = ui.session.pin == pick ? look::Pick{} : pick;
}

// A button's words with the key that does the same: "Lessons (5)".
inline std::string with_key(const SessionUi& ui, std::string_view words, std::string_view action) {
    const auto found = std::ranges::find(ui.offers, action, &Offer::name);
    return fmt::format("{} ({})", words, found != ui.offers.end() ? found->keys : "");
}

// Asks for an action by its name, as its key would.
inline void ask(SessionUi& ui, const char* action) {
    ui.session.ask_to(action);
    ui.context.another_frame = true;
}

template <class State>
struct Ui : SessionUi {
    State& state;
};

template <class State>
struct Screen {
    const char* name;    // "Step", as its tab says
    const char* option;  // "step", as --screen says
    const char* about;   // a few words, for the tab's hint
    // Draws below the top bar.
    void (*draw)(Ui<State>& ui, const draw::Rect& area);
    bool says_messages = false;  // Session::message stands on the screen itself
    // Does what a key means to the screen while it is shown; false for a key that means nothing to it.
    bool (*press)(State& state, Session& session, const KeyPress& key) = nullptr;
    // What can be done from wherever one is.
    const Actions<State>& (*actions)() = nullptr;
    // Before every frame, whichever screen is shown, and after every key. wait: for a picture, do all of it
    // now. True while something is still to come.
    bool (*update)(State& state, Session& session, bool wait) = nullptr;
    // Hears a wish of the session, and grants it where it is this screen's.
    void (*grant)(State& state, Session& session, const session::Wish& wish) = nullptr;
    // A strip above the screen that is shown, where there is something to say; returns the height taken.
    float (*strip)(Ui<State>& ui, const draw::Rect& area) = nullptr;
    // Whether its strip stands above this screen too, and not above the others alone; null: never.
    bool (*keeps_strip)(const State& state) = nullptr;
    // Gets a key before the screen that is shown and the table of keys, whichever screen it is: a line that
    // is typed, a question that waits for its answer. False for a key that means nothing to it.
    bool (*listens)(State& state, Session& session, const KeyPress& key) = nullptr;
    // Whether it hides the answer of an open question by itself, so that it need not be hidden; null: never.
    bool (*hides_itself)(const session::Question& question) = nullptr;
    // Whether its tab stands in the bar though it is not shown; null: always.
    bool (*there)(const Session& session) = nullptr;
};

// -1 or 1 for a key that means less or more; 0 for any other.
inline int along(const KeyPress& press, Key less, Key more) {
    return press.key == less ? -1 : press.key == more ? 1 : 0;
}

// What the arrow keys choose: the neighbour of what is chosen; the first where it is not among them.
template <typename T>
T neighbour(const std::vector<T>& all, const T& chosen, int by) {
    if (all.empty()) return chosen;
    const auto found = std::find(all.begin(), all.end(), chosen);
    if (found == all.end()) return all.front();
    const auto at = found - all.begin() + by;
    return all[static_cast<size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(all) - 1))];
}

}  // namespace tilescope::input
