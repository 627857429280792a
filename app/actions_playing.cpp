// Playing: how fast, along which axis, and what goes by in a frame.
#include <algorithm>
#include <cmath>

#include "app/actions.h"
#include "app/view/block_clock.h"

namespace tilescope::app {

bool at_end(const State& state) {
    const auto& blocks = state.session->trace->blocks;
    return state.cursor.step + 1 >= blocks[state.cursor.block].count;
}

bool by_clock(const State& state) {
    return state.by_clock && state.session && state.block && state.block->clocked &&
           state.block->block == state.cursor.block;
}

double clock_now(const State& state) {
    if (!by_clock(state)) return 0;
    return view::clock_of(*state.session->trace, *state.block, state.cursor.step) +
           (state.playback.playing ? state.playback.carry : 0);
}

double fitting_clocks_per_second(uint32_t clocks) {
    const double fitting = std::exp2(std::round(std::log2(std::max(1.0, clocks / kSecondsABlock))));
    return std::clamp(fitting, kSlowestClock, kFastestClock);
}

double steps_per_second(const State& state) {
    if (!by_clock(state)) return state.playback.steps_per_second;
    const double clocks = view::last_clock(*state.session->trace, *state.block) + 1.0;
    return state.block->steps / clocks * state.playback.clocks_per_second;
}

void advance(State& state, double seconds) {
    Playback& playback = state.playback;
    if (!playback.playing || !state.session || state.session->trace->blocks.empty()) return;
    // After a long pause of the program itself, no more than a tenth of a second is made good.
    seconds = std::clamp(seconds, 0.0, 0.1);
    if (by_clock(state)) {
        const double clock = clock_now(state) + seconds * playback.clocks_per_second;
        // Steps of one clock are shown together; never back, though the first of them was the cursor's.
        state.cursor.step =
            std::max(state.cursor.step, view::step_at_clock(*state.session->trace, *state.block, clock));
        playback.carry = clock - view::clock_of(*state.session->trace, *state.block, state.cursor.step);
        if (at_end(state)) playback.playing = false;
        return;
    }
    playback.carry += seconds * playback.steps_per_second;
    const auto steps = static_cast<uint64_t>(playback.carry);
    playback.carry -= static_cast<double>(steps);
    const uint64_t count = state.session->trace->blocks[state.cursor.block].count;
    state.cursor.step =
        static_cast<uint32_t>(std::min(state.cursor.step + steps, count == 0 ? 0 : count - 1));
    if (at_end(state)) playback.playing = false;
}

void go_to(State& state, uint32_t step) {
    if (!state.session || state.session->trace->blocks.empty()) return;
    const uint64_t count = state.session->trace->blocks[state.cursor.block].count;
    state.cursor.step = static_cast<uint32_t>(std::min<uint64_t>(step, count == 0 ? 0 : count - 1));
    state.playback.playing = false;
    state.playback.carry = 0;
}

}  // namespace tilescope::app
