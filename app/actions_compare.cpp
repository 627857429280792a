// What keys and buttons do to a comparison: wishes only, which app/compare_session.cpp fulfils.
#include <iterator>

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

}  // namespace tilescope::app
