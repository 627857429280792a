// Keys that the Timing and Limits screens have for themselves: the arrows choose, + and - change a figure.
#include <algorithm>

#include "app/actions.h"
#include "app/view/limits_view.h"
#include "app/view/roofline_view.h"
#include "kernels/devices.h"

namespace tilescope::app {
namespace {

using platform::Key;

// The neighbour of what is chosen; the first where it is not among them.
template <typename T>
T neighbour(const std::vector<T>& all, const T& chosen, int by) {
    if (all.empty()) return chosen;
    const auto found = std::find(all.begin(), all.end(), chosen);
    if (found == all.end()) return all.front();
    const auto at = found - all.begin() + by;
    return all[static_cast<size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(all) - 1))];
}

bool timing_key(State& state, Key key) {
    TimingState& chosen = state.timing;
    const auto& timings = state.timings != nullptr ? *state.timings : kernels::shipped_timings();
    const auto& counters = chosen.counters != nullptr ? *chosen.counters : kernels::shipped_counters();
    const std::vector<view::Machine> all = view::machines(timings, kernels::devices());
    const view::Machine* machine = view::find_machine(all, chosen.device);
    if (machine == nullptr) return false;
    const int by = key == Key::Right || key == Key::Down || key == Key::Plus ? 1 : -1;
    switch (key) {
        case Key::Up:
        case Key::Down:
            chosen.kernel = neighbour(view::timed_kernels(*machine), chosen.kernel, by);
            return true;
        case Key::Left:
        case Key::Right:
            chosen.width =
                neighbour(view::timed_widths(*machine), view::shown_width(*machine, counters, chosen), by);
            return true;
        case Key::Plus:
        case Key::Minus:
            chosen.tile = neighbour(view::timed_tiles(*machine), chosen.tile, by);
            return true;
        default:
            return false;
    }
}

bool limits_key(State& state, Key key) {
    LimitsState& chosen = state.limits;
    std::vector<std::string> cases;
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) cases.push_back(preset.id);
    const int by = key == Key::Right || key == Key::Down || key == Key::Plus ? 1 : -1;
    switch (key) {
        case Key::Up:
        case Key::Down:
            take_preset(chosen, neighbour(cases, chosen.preset, by));
            return true;
        case Key::Left:
        case Key::Right:
            chosen.parameter =
                static_cast<analysis::Parameter>(std::clamp(static_cast<int>(chosen.parameter) + by, 0, 2));
            return true;
        case Key::Plus:
        case Key::Minus:
            change_parameter(chosen, view::limits_device(chosen, kernels::devices()).sm, chosen.parameter,
                             by);
            return true;
        default:
            return false;
    }
}

}  // namespace

bool screen_key(State& state, const platform::KeyPress& press) {
    if (press.control || press.alt) return false;
    if (state.screen == Screen::Timing) return timing_key(state, press.key);
    return state.screen == Screen::Limits && limits_key(state, press.key);
}

}  // namespace tilescope::app
