#include "core/recording/signals.h"

#include <algorithm>
#include <map>

#include "core/base/cluster.h"
#include "core/simt/memory_barrier.h"
#include "core/trace/access.h"

namespace tilescope::analysis {

namespace {

using ptx::Signal;

class BarriersOfBlock {
public:
    std::map<uint32_t, simt::MemoryBarrier> barriers;
    bool with_others = false;  // of a cluster

    // Applies it, and fills in what the barrier is then.
    SignalEvent applied(SignalEvent event) {
        if (event.signal == Signal::Init)
            barriers[event.barrier] = {.expected = event.count, .pending = event.count};
        simt::MemoryBarrier& barrier = barriers[event.barrier];
        const uint32_t phase = barrier.phase;
        switch (event.signal) {
            case Signal::None:
            case Signal::Complete: barrier.complete(event.bytes); break;
            case Signal::Expect: barrier.expect(event.bytes); break;
            case Signal::Arrive:
            case Signal::Drop:
                barrier.expect(event.bytes);
                if (event.signal == Signal::Drop) barrier.expected -= std::min(barrier.expected, event.count);
                barrier.arrive(event.count);
                break;
            case Signal::CopyArrive:
                // Its arrival comes behind its copies, before the next wait at the barrier.
                if (event.count == 0) ++barrier.pending;
                ++to_come[event.barrier];
                break;
            case Signal::Wait:
                for (uint32_t& left = to_come[event.barrier]; left > 0; --left) barrier.arrive(1);
                if (with_others && !barrier.has_ended(event.count)) barrier.end();
                break;
            default: break;
        }
        event.ended = barrier.phase != phase;
        event.phase = barrier.phase;
        event.expected = barrier.expected;
        event.arrived = barrier.expected - std::min(barrier.expected, barrier.pending);
        event.asked = barrier.asked, event.brought = barrier.asked - barrier.bytes;
        if (event.signal == Signal::Invalidate) barriers.erase(event.barrier);
        return event;
    }

private:
    std::map<uint32_t, uint32_t> to_come;  // arrivals behind copies of cp.async, by barrier
};

}  // namespace

struct SignalWalk::State {
    State(const trace::Trace& of, const trace::Block& walked)
        : trace(of), block(walked), arrivals(of, walked), landed(arrivals) {
        barriers.with_others = has_clusters(of.launch);
    }
    const trace::Trace& trace;
    const trace::Block& block;
    trace::Arrivals arrivals;
    trace::ArrivalCursor landed;
    BarriersOfBlock barriers;
};

SignalWalk::SignalWalk(const trace::Trace& trace, const trace::Block& block) {
    const auto signals = [](const ptx::Site& site) { return site.signal != Signal::None; };
    if (std::ranges::any_of(trace.sites, signals)) state_ = std::make_unique<State>(trace, block);
}
SignalWalk::~SignalWalk() = default;

void SignalWalk::go(uint32_t step, const Visit& visit) {
    if (!state_) return;
    const trace::Trace& trace = state_->trace;
    const uint64_t first = state_->block.first;
    while (const auto next = state_->landed.next(step)) {
        const uint32_t at = state_->arrivals.later()[*next].step;
        const trace::Form& form = trace.form_of(first + at);
        if (trace.sites[form.site].box == ptx::Box::None || trace::is_elsewhere(trace, form)) continue;
        const trace::StepWords of_step(trace, first + at);
        for_lanes(form.mask, [&](uint32_t lane) {
            const auto words = of_step.of(lane);
            if (words[1] == ptx::kNoBarrier) return;
            SignalEvent copy{.step = step, .barrier = words[1], .lane = static_cast<uint8_t>(lane)};
            copy.bytes = words[0], copy.asked_at = at;
            visit(state_->barriers.applied(copy));
        });
    }
    const trace::Form& form = trace.form_of(first + step);
    const ptx::Site& site = trace.sites[form.site];
    if (site.signal == Signal::None) return;
    const trace::AccessView access(trace, first + step);
    const trace::StepWords of_step(trace, first + step);
    for_lanes(form.mask, [&](uint32_t lane) {
        if (is_of_other_block(access.addresses()[lane])) return;
        const auto words = of_step.of(lane);
        SignalEvent event{.step = step,
                          .barrier = static_cast<uint32_t>(access.addresses()[lane]),
                          .lane = static_cast<uint8_t>(lane),
                          .signal = site.signal};
        const bool of_bytes = site.signal == Signal::Expect || site.signal == Signal::Complete;
        (of_bytes ? event.bytes : event.count) = words[0];
        if (site.signal == Signal::Arrive || site.signal == Signal::Drop) event.bytes = words[1];
        visit(state_->barriers.applied(event));
    });
}

Signals::Signals(const trace::Trace& trace, uint32_t number) {
    const trace::Block& block = trace.blocks[number];
    SignalWalk walk(trace, block);
    if (!walk.any()) return;
    for (uint32_t step = 0; step < block.count; ++step)
        walk.go(step, [&](const SignalEvent& event) { events_.push_back(event); });
    for (const SignalEvent& event : events_) barriers_.push_back(event.barrier);
    std::ranges::sort(barriers_);
    barriers_.erase(std::unique(barriers_.begin(), barriers_.end()), barriers_.end());
}

std::vector<SignalEvent> Signals::of_step(uint32_t step) const {
    const auto [first, end] = std::ranges::equal_range(events_, step, {}, &SignalEvent::step);
    std::vector<SignalEvent> events;
    std::copy_if(first, end, std::back_inserter(events),
                 [](const SignalEvent& event) { return event.signal != Signal::None; });
    return events;
}

const SignalEvent* Signals::before(uint32_t step, uint32_t barrier) const {
    auto at = std::ranges::lower_bound(events_, step, {}, &SignalEvent::step);
    while (at != events_.begin())
        if ((--at)->barrier == barrier) return &*at;
    return nullptr;
}

}  // namespace tilescope::analysis
