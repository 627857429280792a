#include "app/session/playing.h"

#include <algorithm>
#include <cmath>

#include "app/look/timeline.h"

namespace tilescope::session {
namespace {

// Whether there is something to walk through.
bool walkable(const Session& session) { return session.recording && !session.trace().blocks.empty(); }

bool block_is_there(const Session& session) {
    return session.block && session.block->block == session.cursor.block;
}

// Puts the cursor on a step of its block, or on the block's last one.
void put_cursor(Session& session, uint64_t step) {
    const uint64_t count = session.trace().blocks[session.cursor.block].count;
    session.cursor.step = static_cast<uint32_t>(std::min(step, count == 0 ? 0 : count - 1));
}

void move(Session& session, playback::Move where) {
    if (!walkable(session)) return;
    static const analysis::PhaseMap none;
    const analysis::PhaseMap& phases = block_is_there(session) ? session.block->phases : none;
    session.cursor = playback::moved(session.trace(), phases, session.cursor, where);
    session.playback.carry = 0;
}

// Nothing comes after the cursor's step in its block.
bool at_end(const Session& session) {
    return session.cursor.step + 1 >= session.trace().blocks[session.cursor.block].count;
}

bool last_block(const Session& session) { return session.cursor.block + 1 >= session.trace().blocks.size(); }

}  // namespace

void mark(Session& session, uint32_t first, uint32_t end) {
    session.marked.reset();
    if (!walkable(session)) return;
    const uint64_t steps = session.trace().blocks[session.cursor.block].count;
    end = static_cast<uint32_t>(std::min<uint64_t>(end, steps));
    if (first < end) session.marked = MarkedSteps{session.cursor.block, first, end};
}

void mark_from_here(Session& session) {
    const auto marked = marked_here(session);
    const uint32_t here = session.cursor.step;
    mark(session, here, marked && marked->end > here ? marked->end : UINT32_MAX);
}

void mark_up_to_here(Session& session) {
    const auto marked = marked_here(session);
    const uint32_t here = session.cursor.step;
    mark(session, marked && marked->first <= here ? marked->first : 0, here + 1);
}

std::optional<MarkedSteps> marked_here(const Session& session) {
    return session.marked && session.marked->block == session.cursor.block ? session.marked : std::nullopt;
}

bool by_clock(const Session& session) {
    return session.by_clock && session.recording && block_is_there(session) && session.block->clocked;
}

double clock_now(const Session& session) {
    if (!by_clock(session)) return 0;
    return look::clock_of(session.trace(), *session.block, session.cursor.step) +
           (session.playback.playing ? session.playback.carry : 0);
}

double fitting_clocks_per_second(uint32_t clocks) {
    constexpr double kSecondsABlock = 20;
    const double fitting = std::exp2(std::round(std::log2(std::max(1.0, clocks / kSecondsABlock))));
    return std::clamp(fitting, kSlowestClock, kFastestClock);
}

double steps_per_second(const Session& session) {
    if (!by_clock(session)) return session.playback.steps_per_second;
    const double clocks = look::last_clock(session.trace(), *session.block) + 1.0;
    return session.block->steps / clocks * session.playback.clocks_per_second;
}

double seconds_of_step(const Session& session) {
    constexpr double kLong = 1e6;
    const Playback& playback = session.playback;
    if (!playback.playing) return kLong;
    if (!by_clock(session)) return 1 / playback.steps_per_second;
    const uint32_t step = session.cursor.step;
    if (step + 1 >= session.block->steps) return kLong;
    return std::max(0.0, double{1} * look::clock_of(session.trace(), *session.block, step + 1) -
                             look::clock_of(session.trace(), *session.block, step)) /
           playback.clocks_per_second;
}

double usual_speed(const trace::Trace& trace) {
    const bool few = !trace.blocks.empty() && trace.blocks[0].count <= kFewSteps;
    return few ? kSpeedOfFewSteps : kUsualSpeed;
}

void advance(Session& session, double seconds) {
    Playback& playback = session.playback;
    if (!playback.playing || !walkable(session)) return;
    if (session.cursor.block > 0 && !block_is_there(session)) return;  // it has just come here
    if (at_end(session) && !last_block(session)) {
        playback.rested += std::clamp(seconds, 0.0, 0.1);
        if (playback.rested < kRest) return;
        playback.rested = 0;
        return move(session, playback::Move::NextBlock);
    }
    // After a long pause of the program itself, no more than a tenth of a second is made good.
    seconds = std::clamp(seconds, 0.0, 0.1);
    if (by_clock(session)) {
        const double clock = clock_now(session) + seconds * playback.clocks_per_second;
        // Steps of one clock are shown together; never back, though the first of them was the cursor's.
        put_cursor(session, std::max(session.cursor.step,
                                     look::step_at_clock(session.trace(), *session.block, clock)));
        playback.carry = clock - look::clock_of(session.trace(), *session.block, session.cursor.step);
    } else {
        playback.carry += seconds * playback.steps_per_second;
        const auto steps = static_cast<uint64_t>(playback.carry);
        playback.carry -= static_cast<double>(steps);
        put_cursor(session, session.cursor.step + steps);
    }
    if (at_end(session) && last_block(session)) playback.playing = false;
}

void go_to(Session& session, uint32_t step) {
    if (!walkable(session)) return;
    put_cursor(session, step);
    session.playback.playing = false;
    session.playback.carry = 0;
}

void jump(Session& session, playback::Move where) {
    session.playback.playing = false;
    move(session, where);
}

void play(Session& session) {
    if (!walkable(session)) return;
    if (!session.playback.playing && at_end(session)) move(session, playback::Move::First);
    session.playback.playing = !session.playback.playing;
    session.playback.carry = session.playback.rested = 0;
}

// Whether this is where the first fault of the recording is, or its block has faults that are walked through.
static bool walked_to(const Session& session, const look::SaidFaults& said) {
    return session.cursor.block == said.block &&
           (session.cursor.step == said.step || !session.faults->steps.empty());
}

void to_fault(Session& session, std::optional<uint32_t> (*find)(const look::BlockFaults&, uint32_t)) {
    if (!session.faults) return;
    if (const auto step = find(*session.faults, session.cursor.step)) return go_to(session, *step);
    // The strip leads to the first fault of the recording, in whichever block it is.
    if (const auto& said = session.said; said && said->placed && !walked_to(session, *said)) {
        session.cursor.block = said->block, session.cursor.step = said->step;
        session.playback.playing = false;
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
    session.pin = {.kind = look::Pick::Kind::Warp,
                   .warp = static_cast<uint32_t>(std::clamp(warp + by, 0, last))};
}

void speed(Session& session, double by) {
    Playback& playback = session.playback;
    if (by_clock(session))
        playback.clocks_per_second =
            std::clamp(playback.clocks_per_second * by, kSlowestClock, kFastestClock);
    else
        playback.steps_per_second = std::clamp(playback.steps_per_second * by, kSlowest, kFastest);
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
