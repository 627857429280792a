#include "app/look/signal.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/block_index.h"
#include "app/look/pipeline.h"
#include "core/base/words.h"

namespace tilescope::look {

namespace {

using analysis::SignalEvent;
using ptx::Signal;

std::string times(uint32_t count) {
    return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", grouped(count));
}

// "1 of 4 arrivals and 0 of 1,024 bytes"
std::string standing(uint32_t arrived, uint32_t expected, int64_t brought, int64_t asked) {
    std::string text = fmt::format("{} of {}", grouped(arrived), counted(expected, "arrival"));
    if (asked != 0 || brought != 0)
        text += fmt::format(" and {} of {}", grouped(static_cast<uint64_t>(std::max<int64_t>(brought, 0))),
                            counted(static_cast<uint64_t>(asked), "byte"));
    return text;
}

const char* verb_of_signal(Signal signal) {
    switch (signal) {
        case Signal::Init: return "initialises";
        case Signal::Invalidate: return "gives up";
        case Signal::Arrive: return "arrives at";
        case Signal::Drop: return "arrives for the last time at";
        case Signal::Expect: return "expects bytes at";
        case Signal::Complete: return "reports bytes to";
        case Signal::CopyArrive: return "arrives behind its copies at";
        default: return "has waited for";
    }
}

// The phase that the last of these arrivals belongs to, and what it lacks still.
std::string verdict_of(const std::vector<SignalEvent>& events) {
    const SignalEvent& last = events.back();
    uint32_t count = 0;
    uint64_t bytes = 0;
    for (const SignalEvent& event : events) count += event.count, bytes += event.bytes;
    switch (last.signal) {
        case Signal::Init:
            return fmt::format("Each of its phases ends with {}.", counted(last.count, "arrival"));
        case Signal::Invalidate: return "Its memory can be used for something else.";
        case Signal::Wait: return fmt::format("It is in phase {} now.", last.phase);
        case Signal::CopyArrive:
            return "It arrives when all copies that the thread asked for before have landed.";
        default: break;
    }
    std::string text = bytes > 0 && last.signal != Signal::Complete
                           ? fmt::format("It expects {}: ", counted(bytes, "byte"))
                           : "";
    if (events.size() > 1 && count > 0)
        text = fmt::format("{} {}: ", counted(events.size(), "lane"), "arrive");
    if (last.ended)
        return text + fmt::format("{} ends phase {}.", text.empty() ? "This" : "this", last.phase - 1);
    return text + fmt::format("{} {} has {}.", text.empty() ? "Phase" : "phase", last.phase,
                              standing(last.arrived, last.expected, last.brought, last.asked));
}

}  // namespace

std::string name_of_barrier(const trace::Trace& trace, const BlockIndex& index, uint32_t offset) {
    return shared_name(trace.launch.arrays, offset, ptx::kBarrierBytes, "mbarrier", index.notation);
}

std::string barrier_of_copy(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    const trace::Form& form = trace.form_of(index.first + step);
    if (trace.sites[form.site].box != ptx::Box::Row && trace.sites[form.site].box != ptx::Box::Tensor)
        return "";
    std::optional<uint32_t> barrier;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        if (!(form.mask >> lane & 1)) continue;
        const uint32_t of = trace::words_of(trace, index.first + step, lane)[1];
        if (of == ptx::kNoBarrier || (barrier && *barrier != of)) return "";
        barrier = of;
    }
    return barrier ? name_of_barrier(trace, index, *barrier) : "";
}

std::string barrier_words(const BarrierView& barrier) {
    return fmt::format("phase {}, {}", barrier.phase, standing_words(barrier));
}

std::string standing_words(const BarrierView& barrier) {
    return standing(barrier.arrived, barrier.expected, barrier.brought, barrier.asked);
}

std::vector<BarrierView> barriers_after(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    std::vector<BarrierView> views;
    if (!index.signals) return views;
    for (const uint32_t offset : index.signals->barriers()) {
        const SignalEvent* const latest = index.signals->before(step + 1, offset);
        if (latest == nullptr || latest->signal == Signal::Invalidate) continue;
        views.push_back({.name = name_of_barrier(trace, index, offset),
                         .offset = offset,
                         .phase = latest->phase,
                         .arrived = latest->arrived,
                         .expected = latest->expected,
                         .brought = latest->brought,
                         .asked = latest->asked});
    }
    return views;
}

SignalView signal_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    SignalView view;
    view.barriers = barriers_after(trace, index, step);
    const trace::AccessView access(trace, index.first + step);
    if (trace::is_elsewhere(trace, trace.form_of(index.first + step)) && access.mask() != 0) {
        const trace::Block& block = trace.blocks[index.block];
        const trace::PlaceElsewhere at =
            trace::place_elsewhere(trace, {block.x, block.y, block.z},
                                   access.addresses()[static_cast<size_t>(std::countr_zero(access.mask()))]);
        const std::string there = block_name(trace.launch.grid, at.block, index.notation);
        const uint64_t offset =
            at.offset + (at.array == trace::kNoArray ? 0 : trace.launch.arrays[at.array].base);
        view.title = fmt::format("Warp {} {} {} of {}", access.warp(), verb_of_signal(access.site().signal),
                                 name_of_barrier(trace, index, static_cast<uint32_t>(offset)), there);
        view.verdict = fmt::format("What that barrier is then is among the steps of {}", there);
        return view;
    }
    if (!index.signals) return view;
    const std::vector<SignalEvent> events = index.signals->of_step(step);
    if (events.empty()) return view;
    const SignalEvent& last = events.back();
    const std::string name = name_of_barrier(trace, index, last.barrier);
    for (BarrierView& barrier : view.barriers) barrier.meant = barrier.name == name;
    const uint32_t warp = trace.warp_of(index.first + step);
    const bool waits = last.signal == Signal::Wait;
    const std::string what =
        waits && last.phase > 0 ? fmt::format("phase {} of {}", last.phase - 1, name) : name;
    view.title = fmt::format("Warp {} {} {}", warp, verb_of_signal(last.signal), what);
    if (ptx::arrives(last.signal) && last.signal != Signal::CopyArrive && last.count > 1)
        view.title += " " + times(last.count);
    view.verdict = verdict_of(events);
    if (const std::string ring = waited_words(trace, index, step); !ring.empty()) view.verdict = ring;
    return view;
}

}  // namespace tilescope::look
