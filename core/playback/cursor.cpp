#include "core/playback/cursor.h"

#include <algorithm>

namespace tilescope::playback {
namespace {

// The steps of a block at which the last warp arrives at a barrier, ascending. interval: by step, how many
// barriers its warp passed before it; warps may run apart, so barriers may be left in another order than the
// one in which they were first come to.
std::vector<uint32_t> barriers_of(const trace::Trace& trace, uint32_t block,
                                  const std::vector<uint32_t>& interval) {
    std::vector<uint32_t> last;  // by barrier
    for (uint32_t step = 0; step < interval.size(); ++step) {
        const trace::Form& form = trace.form_of(trace.blocks[block].first + step);
        if (trace.sites[form.site].kind != ptx::SiteKind::Barrier) continue;
        if (last.size() <= interval[step]) last.resize(interval[step] + 1, step);
        last[interval[step]] = step;
    }
    std::ranges::sort(last);
    return last;
}

// Warps may run apart (a greedy schedule), so that steps of an earlier phase follow those of a later one: the
// next phase is always looked for ahead, and this phase's first step from the block's start.
uint32_t next_phase(const std::vector<uint32_t>& phase, uint32_t step) {
    const auto found =
        std::find_if(phase.begin() + step + 1, phase.end(), [&](uint32_t p) { return p > phase[step]; });
    return found == phase.end() ? step : static_cast<uint32_t>(found - phase.begin());
}

uint32_t previous_phase(const std::vector<uint32_t>& phase, uint32_t step) {
    const auto first_of = [&](uint32_t p) {
        return static_cast<uint32_t>(std::find(phase.begin(), phase.end(), p) - phase.begin());
    };
    const uint32_t start = first_of(phase[step]);
    if (start < step) return start;
    bool any = false;
    uint32_t before = 0;  // the largest phase below this one, among the steps before
    for (uint32_t i = 0; i < step; ++i)
        if (phase[i] < phase[step] && (!any || phase[i] > before)) {
            any = true;
            before = phase[i];
        }
    return any ? first_of(before) : step;
}

}  // namespace

Cursor moved(const trace::Trace& trace, const analysis::PhaseMap& phases, Cursor cursor, Move move) {
    if (cursor.block >= trace.blocks.size()) return cursor;
    const auto steps = static_cast<uint32_t>(trace.blocks[cursor.block].count);
    const uint32_t step = cursor.step;
    const bool inside = step < steps && phases.phase.size() == steps && phases.interval.size() == steps;
    switch (move) {
        case Move::NextStep:
            if (step + 1 < steps) ++cursor.step;
            break;
        case Move::PreviousStep:
            if (step > 0) --cursor.step;
            break;
        case Move::NextBarrier: {
            const auto all = barriers_of(trace, cursor.block, phases.interval);
            const auto next = std::ranges::upper_bound(all, step);
            if (inside && next != all.end()) cursor.step = *next;
            break;
        }
        case Move::PreviousBarrier: {
            const auto all = barriers_of(trace, cursor.block, phases.interval);
            const auto next = std::ranges::lower_bound(all, step);
            if (inside && next != all.begin()) cursor.step = *(next - 1);
            break;
        }
        case Move::NextPhase:
            if (inside) cursor.step = next_phase(phases.phase, step);
            break;
        case Move::PreviousPhase:
            if (inside) cursor.step = previous_phase(phases.phase, step);
            break;
        case Move::NextBlock:
            if (cursor.block + 1 < trace.blocks.size()) return {cursor.block + 1, 0};
            break;
        case Move::PreviousBlock:
            if (cursor.block > 0) return {cursor.block - 1, 0};
            break;
        case Move::First: cursor.step = 0; break;
        case Move::Last: cursor.step = steps == 0 ? 0 : steps - 1; break;
    }
    return cursor;
}

}  // namespace tilescope::playback
