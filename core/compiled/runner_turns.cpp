// Which warp of a block goes on, and what barriers wait for.
#include <algorithm>
#include <bit>

#include "core/compiled/runner.h"

namespace tilescope::compiled {

namespace {

constexpr uint64_t kPause = 512;  // instructions of a warp before others of its block go on
// Instructions of a warp from one barrier to the next: beyond, it may wait for others. Loops that wait are likely where
// atomics are in order, all the more where a part of the warp goes round, and rare without volatile loads.
constexpr uint64_t kMostAtOnce = 1ull << 30, kMostVolatile = 1ull << 26, kMostWithAtomics = 1ull << 20,
                   kMostAlone = 1ull << 16;

}  // namespace

// Runs a ready warp to its next event; false where it gives up.
bool Runner::go(uint32_t w) {
    Warp& warp = warps_[w];
    began_ = states_[w].began;
    context_.limit = warp.count + kPause;
    const int event = run_(&context_, &warp);
    if (event == kGivenUp || warp.count >= options_.max_instructions_per_warp) return false;
    if (event == kPaused || event == kBeforeAtomic)
        if (poll(warp.count, 0) != 0) return false;
    if (event == kPaused) return true;
    State& state = states_[w];
    state.at = State::At::Event;
    state.event = event;
    if (event != kBeforeAtomic) state.began = warp.count;
    const uint64_t made = warp.turns - state.turns;
    // It ends with the turn of its last request.
    state.time = event != kEnded ? state.origin + made * kernel_.warps
                 : made > 0      ? state.origin + (made - 1) * kernel_.warps
                                 : state.since;
    return true;
}

// From inside a loop. depth: of the warp's stack; a path that goes round alone may wait for a lane that waits for it.
int Runner::poll(uint64_t count, uint32_t depth) {
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) return 1;
    const uint64_t most = kernel_.in_turns        ? (depth > 0 ? kMostAlone : kMostWithAtomics)
                          : program_.has_volatile ? kMostVolatile
                                                  : kMostAtOnce;
    stuck_ = count - began_ > most;
    if (stuck_ || count >= options_.max_instructions_per_warp || count >= options_.max_instructions_per_block)
        return 1;
    context_.limit = count + kPause;
    return 0;
}

// No order matters but that of barriers, where all warps that have not ended meet.
bool Runner::run_to_barriers() {
    for (;;) {
        uint32_t waiting = 0, ready = 0, number = 0;
        for (uint32_t w = 0; w < kernel_.warps; ++w) {
            State& state = states_[w];
            if (state.at == State::At::Ready && !go(w)) return false;
            if (state.at == State::At::Event)
                state.at = state.event == kEnded ? State::At::Ended : State::At::Waiting;
            ready += state.at == State::At::Ready;
            if (state.at != State::At::Waiting) continue;
            if (waiting++ > 0 && warps_[w].barrier != number) return false;
            number = warps_[w].barrier;
        }
        if (ready > 0) continue;
        if (waiting == 0) return true;
        if (number >= 16) return false;
        release(number);
    }
}

// Whether a warp's barrier has all that it waits for.
bool Runner::arrives(uint32_t w) const {
    uint32_t here = 0, others = 0;
    for (uint32_t o = 0; o < kernel_.warps; ++o) {
        const bool same = states_[o].at == State::At::Waiting && warps_[o].barrier == warps_[w].barrier;
        here += same, others += !same && states_[o].at != State::At::Ended;
    }
    const uint32_t wanted = (warps_[w].threads + kWarpSize - 1) / kWarpSize;
    return warps_[w].threads ? here >= wanted : others == 0;
}

// All that wait at a barrier go on, with what bar.red gives them.
void Runner::release(uint32_t number) {
    uint32_t threads = 0, holding = 0;
    for (uint32_t w = 0; w < kernel_.warps; ++w) {
        if (states_[w].at != State::At::Waiting || warps_[w].barrier != number) continue;
        if ((program_.code[warps_[w].event].c & ~simt::kBarrierThreads) == 0) continue;
        threads += static_cast<uint32_t>(std::popcount(warps_[w].alive));
        holding += static_cast<uint32_t>(std::popcount(warps_[w].votes & warps_[w].alive));
    }
    for (uint32_t w = 0; w < kernel_.warps; ++w) {
        if (states_[w].at != State::At::Waiting || warps_[w].barrier != number) continue;
        const simt::Ref how = program_.code[warps_[w].event].c;
        const bool holds = how & simt::kBarrierAll ? holding == threads : holding > 0;
        warps_[w].result = how & simt::kBarrierCount ? holding : holds ? ~0u : 0u;
        states_[w].at = State::At::Ready;
    }
}

bool Runner::run_in_turns() {
    const uint32_t n = kernel_.warps;
    for (;;) {
        bool ready = false;
        for (uint32_t w = 0; w < n; ++w) {
            if (states_[w].at == State::At::Ready && !go(w)) return false;
            ready = ready || states_[w].at == State::At::Ready;
        }
        if (ready) continue;
        uint32_t next = n;
        for (uint32_t w = 0; w < n; ++w)
            if (states_[w].at == State::At::Event && (next == n || states_[w].time < states_[next].time))
                next = w;
        if (next == n)
            return std::ranges::all_of(states_, [](const State& s) { return s.at == State::At::Ended; });
        State& state = states_[next];
        if (state.event == kBeforeAtomic) {
            state.at = State::At::Ready;
            continue;
        }
        const uint64_t now = state.time;
        state.at = state.event == kEnded ? State::At::Ended : State::At::Waiting;
        if (state.event == kAtBarrier && warps_[next].barrier >= 16) return false;
        for (uint32_t w = 0; w < n; ++w) {
            if (states_[w].at != State::At::Waiting || !arrives(w)) continue;
            std::vector<bool> waited(n);
            for (uint32_t o = 0; o < n; ++o)
                waited[o] = states_[o].at == State::At::Waiting && warps_[o].barrier == warps_[w].barrier;
            release(warps_[w].barrier);
            for (uint32_t o = 0; o < n; ++o)
                if (waited[o]) {
                    states_[o].origin = now + 1 + (o + n - (now + 1) % n) % n;
                    states_[o].turns = warps_[o].turns, states_[o].since = now;
                }
            break;
        }
    }
}

}  // namespace tilescope::compiled
