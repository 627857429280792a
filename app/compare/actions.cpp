// What keys and buttons do to a comparison: wishes only, which opening.cpp fulfils.
#include <algorithm>
#include <iterator>

#include "app/compare/opening.h"
#include "app/compare/panels.h"

namespace tilescope::compare {

void next_comparison(State& state, session::Session& session, int by) {
    const auto count = static_cast<int>(compare::compare_presets().size());
    state.preset = state.preset < 0 ? (by > 0 ? 0 : count - 1) : (state.preset + by + count) % count;
    state.wanted = true;
    session.screen = kScreen.option;
}

void next_lock(State& state) {
    constexpr auto count = std::size(compare::kLockNames);
    state.lock = static_cast<compare::Lock>((static_cast<size_t>(state.lock) + 1) % count);
}

bool choosing(const State& state, const session::Session& session) {
    return state.choosing || !state.other || !session.recording;
}

void choose_comparison(State& state, session::Session& session) {
    const bool shown = session.screen == kScreen.option && choosing(state, session);
    state.choosing = !shown || !state.other;
    if (state.preset >= 0) state.chosen = state.preset;
    session.screen = kScreen.option;
}

void swap_sides(State& state, session::Session& session) {
    if (session.screen == kScreen.option && !choosing(state, session)) state.swap = true;
}

void open_beside(session::Session& session) { session.wants_beside = true; }

void take_choice(State& state, session::Session& session, int chosen) {
    const auto pairs = static_cast<int>(compare::compare_presets().size());
    state.chosen = std::clamp(chosen, 0, pairs + 1);
    if (state.chosen < pairs) {
        state.preset = state.chosen;
        state.wanted = true;
    } else if (state.chosen == pairs) {
        session.asked.emplace_back("open");
    } else {
        open_beside(session);
    }
}

bool press(State& state, session::Session& session, const platform::KeyPress& key) {
    using platform::Key;
    if (!choosing(state, session)) return false;
    const int last = static_cast<int>(compare::compare_presets().size()) + 1;
    const auto step = [&](int by) {
        state.chosen = std::clamp(state.chosen, 0, last);
        if (state.chosen + by >= 0 && state.chosen + by <= last) state.chosen += by;
        return true;
    };
    switch (key.key) {
        case Key::Left:
            return step(-1);
        case Key::Right:
            return step(1);
        case Key::Up:
            return step(-state.columns);
        case Key::Down:
            return step(state.columns);
        case Key::Enter:
            take_choice(state, session, state.chosen);
            return true;
        case Key::Escape:
            if (!state.choosing || !state.other || !session.recording) return false;
            state.choosing = false;
            return true;
        default:
            return false;
    }
}

const input::Actions<State>& actions() {
    using input::key, input::shift, input::control, input::Key, session::Session;
    constexpr const char* kGroup = "Compare";
    static const input::Actions<State> all = {
        {"lock", "lock by step, phase or share", "K", key(Key::K), {}, next_lock, kGroup},
        {"next_comparison",
         "compare the next pair",
         "N",
         key(Key::N),
         {},
         [](State& s, Session& of) { next_comparison(s, of, 1); },
         kGroup},
        {"previous_comparison",
         "compare the pair before",
         "Shift + N",
         shift(Key::N),
         {},
         [](State& s, Session& of) { next_comparison(s, of, -1); },
         kGroup},
        {"choose_comparison", "choose what to compare", "V", key(Key::V), {}, choose_comparison, kGroup},
        {"open_beside", "open another as B", "Ctrl + B", control(Key::B), {}, open_beside, kGroup},
        {"swap_sides", "A and B change places", "Tab", key(Key::Tab), {}, swap_sides, kGroup},
    };
    return all;
}

}  // namespace tilescope::compare
