// What keys and buttons do to a comparison: wishes only, which app/compare_session.cpp fulfils.
#include <algorithm>
#include <iterator>

#include "app/actions.h"
#include "app/compare_session.h"

namespace tilescope::app {

void next_comparison(State& state, int by) {
    const auto count = static_cast<int>(view::compare_presets().size());
    Compare& compare = state.compare;
    compare.preset = compare.preset < 0 ? (by > 0 ? 0 : count - 1) : (compare.preset + by + count) % count;
    compare.wanted = true;
    state.screen = Screen::Compare;
}

void next_lock(State& state) {
    constexpr auto count = std::size(view::kLockNames);
    state.compare.lock = static_cast<view::Lock>((static_cast<size_t>(state.compare.lock) + 1) % count);
}

bool choosing(const State& state) { return state.compare.choosing || !state.compare.other || !state.session; }

void choose_comparison(State& state) {
    Compare& compare = state.compare;
    const bool shown = state.screen == Screen::Compare && choosing(state);
    compare.choosing = !shown || !compare.other;
    if (compare.preset >= 0) compare.chosen = compare.preset;
    state.screen = Screen::Compare;
}

void swap_sides(State& state) {
    if (state.screen == Screen::Compare && !choosing(state)) state.compare.swap = true;
}

void open_beside(State& state) {
    open_path_box(state, PathBox::Mode::Open);
    state.teach.path.beside = state.session.has_value();  // nothing is there to set it beside: it comes first
}

void take_choice(State& state, int chosen) {
    const auto pairs = static_cast<int>(view::compare_presets().size());
    Compare& compare = state.compare;
    compare.chosen = std::clamp(chosen, 0, pairs + 1);
    if (compare.chosen < pairs) {
        compare.preset = compare.chosen;
        compare.wanted = true;
    } else if (compare.chosen == pairs) {
        open_path_box(state, PathBox::Mode::Open);
    } else {
        open_beside(state);
    }
}

bool compare_key(State& state, const platform::KeyPress& press) {
    using platform::Key;
    Compare& compare = state.compare;
    if (state.screen != Screen::Compare || !choosing(state) || state.show_keys || press.control || press.alt)
        return false;
    const int last = static_cast<int>(view::compare_presets().size()) + 1;
    const auto step = [&](int by) {
        compare.chosen = std::clamp(compare.chosen, 0, last);
        if (compare.chosen + by >= 0 && compare.chosen + by <= last) compare.chosen += by;
        return true;
    };
    switch (press.key) {
        case Key::Left:
            return step(-1);
        case Key::Right:
            return step(1);
        case Key::Up:
            return step(-compare.columns);
        case Key::Down:
            return step(compare.columns);
        case Key::Enter:
            take_choice(state, compare.chosen);
            return true;
        case Key::Escape:
            if (!compare.choosing || !compare.other || !state.session) return false;
            compare.choosing = false;
            return true;
        default:
            return false;
    }
}

}  // namespace tilescope::app
