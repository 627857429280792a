// Barriers in memory: what is given to their phases, and what a wait is sure of.
#include <algorithm>

#include "core/hazards/order.h"

namespace tilescope::analysis {
namespace {

constexpr size_t kKeptPhases = 4;  // of each barrier, that have ended

}  // namespace

uint32_t BlockOrder::barrier_number(uint32_t offset) {
    const auto [found, fresh] = number_of_.try_emplace(offset, static_cast<uint32_t>(barriers_.size()));
    if (fresh) barriers_.emplace_back().offset = offset;
    return found->second;
}

// Anything but a wait.
void BlockOrder::signal(const SignalEvent& event) {
    const uint32_t number = barrier_number(event.barrier);
    MemoryBarrierOrder& barrier = barriers_[number];
    if (event.signal == ptx::Signal::Init) {
        MemoryBarrierOrder fresh;
        fresh.offset = barrier.offset, fresh.base = fresh.phase = barrier.phase;
        barrier = std::move(fresh);
        return;
    }
    if (event.signal == ptx::Signal::Complete)
        barrier.expected -= std::min<uint64_t>(barrier.expected, event.bytes);
    else if (event.signal != ptx::Signal::None)
        barrier.expected += event.bytes;
    if (ptx::arrives(event.signal)) {
        const auto team = std::ranges::find_if(warps_[warp_].teams,
                                               [&](const Team& one) { return one.lanes >> event.lane & 1; });
        if (barrier.given_step != step_ || barrier.given_last != team->clock) {
            give(barrier.given, warp_, 1u << event.lane, false);
            barrier.given_step = step_, barrier.given_last = team->clock;
        }
        const uint32_t one = thread(warp_, event.lane);
        auto& given = barrier.given;
        given.seen.resize(std::max<size_t>(given.seen.size(), threads_), 0);
        given.seen[one] = std::max(given.seen[one], 2 * step_);
        if (fences_) {
            given.fenced.resize(std::max<size_t>(given.fenced.size(), threads_), 0);
            given.fenced[one] = std::max(given.fenced[one], warps_[warp_].fence[event.lane]);
        }
        barrier.arrivals.emplace_back(one, 2 * step_);
    }
    if (event.signal == ptx::Signal::CopyArrive)
        for (const uint32_t open : warps_[warp_].open) {
            AskedCopy& copy = copies_[open];
            if (copy.by != AskedCopy::Ends::Group || !(copy.lanes >> event.lane & 1) ||
                copy.barrier != AskedCopy::kOpen)
                continue;
            copy.barrier = number, copy.phase = copy.counted_in = barrier.phase;
        }
    while (barrier.base + event.phase > barrier.phase) end_phase(number);
}

void BlockOrder::end_phase(uint32_t number) {
    MemoryBarrierOrder& barrier = barriers_[number];
    EndedPhase ended;
    ended.phase = barrier.phase;
    ended.bytes = barrier.expected > 0 || !barrier.copies.empty();
    auto given = std::make_shared<VectorClock>(std::move(barrier.given));
    if (!barrier.ended.empty()) given->join(*barrier.ended.back().given);
    given->seen.resize(std::max<size_t>(given->seen.size(), threads_ + barriers_.size()), 0);
    given->seen[threads_ + number] = barrier.phase + 1;
    ended.given = std::move(given);
    ended.arrivals = std::move(barrier.arrivals);
    for (const uint32_t one : barrier.copies) {
        AskedCopy& copy = copies_[one];
        // Where the phase can end without these bytes, it does so in some order of the copies.
        if (barrier.brought - std::min(barrier.brought, copy.bytes) < barrier.expected)
            copy.phase = barrier.phase;
        else
            copy.expected = barrier.expected, copy.brought = barrier.brought;
    }
    if (barrier.ended.size() == kKeptPhases) barrier.ended.erase(barrier.ended.begin());
    barrier.ended.push_back(std::move(ended));
    barrier.given = {}, barrier.arrivals.clear(), barrier.copies.clear();
    barrier.given_last = nullptr, barrier.given_step = AskedCopy::kOpen;
    barrier.expected = barrier.brought = 0;
    ++barrier.phase;
}

// Whether a lane knows of a phase that it has ended, since it knows of all that had to arrive.
bool BlockOrder::knows_end(const MemoryBarrierOrder& barrier, uint32_t phase, uint32_t lane) const {
    const auto ended = std::ranges::find(barrier.ended, phase, &EndedPhase::phase);
    if (ended == barrier.ended.end()) return phase < barrier.phase;  // one long ago: not kept
    if (ended->bytes) return false;
    const std::vector<Team>& teams = warps_[warp_].teams;
    const auto team = std::ranges::find_if(teams, [&](const Team& one) { return one.lanes >> lane & 1; });
    return std::ranges::all_of(ended->arrivals, [&](const auto& arrival) {
        return arrival.first == thread(warp_, lane) ||
               VectorClock::of(team->clock->seen, arrival.first) >= arrival.second;
    });
}

// The phases that a wait's lane is sure to have seen end, of all since the block began.
uint32_t BlockOrder::phases_seen(uint32_t number, const SignalEvent& wait) const {
    const MemoryBarrierOrder& barrier = barriers_[number];
    if (!facts_.waits_for_parity(site_->id)) return barrier.phase;
    const std::vector<Team>& teams = warps_[warp_].teams;
    const auto team =
        std::ranges::find_if(teams, [&](const Team& one) { return one.lanes >> wait.lane & 1; });
    uint32_t known =
        std::clamp(VectorClock::of(team->clock->seen, threads_ + number), barrier.base, barrier.phase);
    // The wait is over where the latest phase that has ended has its parity, which the first ones count from 0.
    const auto is_over = [&](uint32_t ended) { return ((ended - barrier.base) & 1) != (wait.count & 1); };
    while (known + 1 < barrier.phase && knows_end(barrier, known, wait.lane)) ++known;
    return std::min(is_over(known) ? known : known + 1, barrier.phase);
}

// The lanes of one step.
void BlockOrder::wait(const std::vector<SignalEvent>& events) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> lanes_of;  // barrier, phases -> lanes
    for (const SignalEvent& event : events) {
        const uint32_t number = barrier_number(event.barrier);
        MemoryBarrierOrder& barrier = barriers_[number];
        while (barrier.base + event.phase > barrier.phase) end_phase(number);
        // It is a step, so it is over, though the copies that ended the phase may not be in the recording.
        if (facts_.waits_for_parity(site_->id) && ((barrier.phase - barrier.base) & 1) == (event.count & 1))
            end_phase(number);
        lanes_of[{number, phases_seen(number, event)}] |= 1u << event.lane;
    }
    for (const auto& [seen, lanes] : lanes_of) {
        const auto& [number, phases] = seen;
        const MemoryBarrierOrder& barrier = barriers_[number];
        if (phases == barrier.base || barrier.ended.empty()) continue;
        auto ended = std::ranges::find(barrier.ended, phases - 1, &EndedPhase::phase);
        if (ended == barrier.ended.end())
            ended = barrier.ended.begin();  // not kept: a later one stands for it
        take(warp_, lanes, ended->given);
    }
}

}  // namespace tilescope::analysis
