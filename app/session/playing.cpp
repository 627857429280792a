#include "app/session/playing.h"

#include <algorithm>
#include <cmath>

#include "app/look/block_clock.h"

namespace tilescope::session {

namespace {

const analysis::PhaseMap& phases_of(const Session& session) {
    static const analysis::PhaseMap none;
    return session.block && session.block->block == session.cursor.block ? session.block->phases : none;
}

void move(Session& session, playback::Move where) {
    if (!session.recording || session.trace().blocks.empty()) return;
    session.cursor = playback::moved(session.trace(), phases_of(session), session.cursor, where);
    session.playback.carry = 0;
}

}  // namespace

bool at_end(const Session& session) {
    const auto& blocks = session.trace().blocks;
    return session.cursor.step + 1 >= blocks[session.cursor.block].count;
}

bool by_clock(const Session& session) {
    return session.by_clock && session.recording && session.block && session.block->clocked &&
           session.block->block == session.cursor.block;
}

double clock_now(const Session& session) {
    if (!by_clock(session)) return 0;
    return look::clock_of(session.trace(), *session.block, session.cursor.step) +
           (session.playback.playing ? session.playback.carry : 0);
}

double fitting_clocks_per_second(uint32_t clocks) {
    const double fitting = std::exp2(std::round(std::log2(std::max(1.0, clocks / kSecondsABlock))));
    return std::clamp(fitting, kSlowestClock, kFastestClock);
}

double steps_per_second(const Session& session) {
    if (!by_clock(session)) return session.playback.steps_per_second;
    const double clocks = look::last_clock(session.trace(), *session.block) + 1.0;
    return session.block->steps / clocks * session.playback.clocks_per_second;
}

void advance(Session& session, double seconds) {
    Playback& playback = session.playback;
    if (!playback.playing || !session.recording || session.trace().blocks.empty()) return;
    // After a long pause of the program itself, no more than a tenth of a second is made good.
    seconds = std::clamp(seconds, 0.0, 0.1);
    if (by_clock(session)) {
        const double clock = clock_now(session) + seconds * playback.clocks_per_second;
        // Steps of one clock are shown together; never back, though the first of them was the cursor's.
        session.cursor.step =
            std::max(session.cursor.step, look::step_at_clock(session.trace(), *session.block, clock));
        playback.carry = clock - look::clock_of(session.trace(), *session.block, session.cursor.step);
        if (at_end(session)) playback.playing = false;
        return;
    }
    playback.carry += seconds * playback.steps_per_second;
    const auto steps = static_cast<uint64_t>(playback.carry);
    playback.carry -= static_cast<double>(steps);
    const uint64_t count = session.trace().blocks[session.cursor.block].count;
    session.cursor.step =
        static_cast<uint32_t>(std::min(session.cursor.step + steps, count == 0 ? 0 : count - 1));
    if (at_end(session)) playback.playing = false;
}

void go_to(Session& session, uint32_t step) {
    if (!session.recording || session.trace().blocks.empty()) return;
    const uint64_t count = session.trace().blocks[session.cursor.block].count;
    session.cursor.step = static_cast<uint32_t>(std::min<uint64_t>(step, count == 0 ? 0 : count - 1));
    session.playback.playing = false;
    session.playback.carry = 0;
}

void jump(Session& session, playback::Move where) {
    session.playback.playing = false;
    move(session, where);
}

void play(Session& session) {
    if (!session.recording || session.trace().blocks.empty()) return;
    if (!session.playback.playing && at_end(session)) move(session, playback::Move::First);
    session.playback.playing = !session.playback.playing;
    session.playback.carry = 0;
}

void to_fault(Session& session, std::optional<uint32_t> (*find)(const look::BlockFaults&, uint32_t)) {
    if (!session.faults) return;
    if (const auto step = find(*session.faults, session.cursor.step)) {
        go_to(session, *step);
        return;
    }
    session.message = session.faults->steps.empty() ? "No fault is found in this block."
                                                    : "No more faults in this block that way.";
}

void pick_warp(Session& session, int by) {
    if (!session.block || session.block->warps == 0) return;
    const auto last = static_cast<int>(session.block->warps) - 1;
    int warp = by > 0 ? -1 : last + 1;  // none picked yet: begin beside the cursor's
    if (session.pin.kind == look::Pick::Kind::Warp)
        warp = static_cast<int>(session.pin.warp);
    else if (session.cursor.step < session.block->steps)
        warp = static_cast<int>(session.trace().warp_of(session.block->first + session.cursor.step)) - by;
    session.pin = {};
    session.pin.kind = look::Pick::Kind::Warp;
    session.pin.warp = static_cast<uint32_t>(std::clamp(warp + by, 0, last));
}

void speed(Session& session, double by) {
    if (by_clock(session)) {
        session.playback.clocks_per_second =
            std::clamp(session.playback.clocks_per_second * by, kSlowestClock, kFastestClock);
        return;
    }
    session.playback.steps_per_second =
        std::clamp(session.playback.steps_per_second * by, kSlowest, kFastest);
}

void change_axis(Session& session) {
    if (session.recording && session.block && !session.block->clocked) {
        session.message = look::no_clocks(session.trace());
        return;
    }
    session.by_clock = !session.by_clock;
    session.playback.carry = 0;
}

}  // namespace tilescope::session
