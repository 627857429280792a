#include "app/look/block_clock.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilescope::look {
namespace {

const uint32_t* clocks_of(const trace::Trace& trace, const BlockIndex& index) {
    return trace.time.data() + index.first;
}

}  // namespace

bool has_clocks(const trace::Trace& trace, uint32_t block) {
    if (trace.time.size() != trace.steps() || block >= trace.blocks.size()) return false;
    const trace::Block& of = trace.blocks[block];
    const auto first = trace.time.begin() + static_cast<std::ptrdiff_t>(of.first);
    return of.count > 0 && std::is_sorted(first, first + static_cast<std::ptrdiff_t>(of.count));
}

std::vector<BarrierTimes> barrier_times(const trace::Trace& trace, const BlockIndex& index) {
    std::vector<BarrierTimes> barriers;
    if (!index.clocked) return barriers;
    const uint32_t* clocks = clocks_of(trace, index);
    for (const auto& arrivals : index.arrivals) {
        BarrierTimes barrier;
        barrier.number = static_cast<uint32_t>(&arrivals - index.arrivals.data());
        std::vector<bool> came(index.steps_of_warp.size(), false);
        for (const uint32_t step : arrivals) {
            const uint32_t warp = trace.warp_of(index.first + step);
            came[warp] = true;
            barrier.arrivals.push_back({warp, step, clocks[step]});
            barrier.last_warp = warp;
        }
        if (barrier.arrivals.empty()) continue;
        barrier.first = barrier.arrivals.front().clock;
        barrier.last = barrier.opens = barrier.arrivals.back().clock;
        for (size_t warp = 0; warp < came.size(); ++warp) {
            const auto& steps = index.steps_of_warp[warp];
            if (!came[warp] && !steps.empty()) barrier.opens = std::max(barrier.opens, clocks[steps.back()]);
        }
        barriers.push_back(std::move(barrier));
    }
    return barriers;
}

const BarrierTimes* barrier_of_step(const BlockIndex& index, uint32_t step) {
    if (step >= index.phases.interval.size()) return nullptr;
    const auto at =
        std::lower_bound(index.barriers.begin(), index.barriers.end(), index.phases.interval[step],
                         [](const BarrierTimes& b, uint32_t number) { return b.number < number; });
    if (at == index.barriers.end() || at->number != index.phases.interval[step]) return nullptr;
    const bool here = std::any_of(at->arrivals.begin(), at->arrivals.end(),
                                  [&](const BarrierTimes::Arrival& a) { return a.step == step; });
    return here ? &*at : nullptr;
}

const BarrierTimes* barrier_at(const BlockIndex& index, uint32_t warp, uint32_t clock) {
    // Barriers open one after the other: only the next to open can be stood at.
    const auto at = std::upper_bound(index.barriers.begin(), index.barriers.end(), clock,
                                     [](uint32_t c, const BarrierTimes& b) { return c < b.opens; });
    if (at == index.barriers.end()) return nullptr;
    for (const BarrierTimes::Arrival& arrival : at->arrivals)
        if (arrival.warp == warp && arrival.clock <= clock) return &*at;
    return nullptr;
}

uint32_t clock_of(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    if (index.steps == 0) return 0;
    return clocks_of(trace, index)[std::min(step, index.steps - 1)];
}

uint32_t step_at_clock(const trace::Trace& trace, const BlockIndex& index, double clock) {
    const uint32_t* begin = clocks_of(trace, index);
    const auto after = std::upper_bound(begin, begin + index.steps, clock,
                                        [](double at, uint32_t of) { return at < static_cast<double>(of); });
    return after == begin ? 0 : static_cast<uint32_t>(after - begin - 1);
}

uint32_t last_clock(const trace::Trace& trace, const BlockIndex& index) {
    return clock_of(trace, index, UINT32_MAX);
}

std::string no_clocks(const trace::Trace& trace) {
    if (trace.meta.backend == trace::Backend::Cpu)
        return "There are no clocks: this was recorded on the CPU, whose time is the logical step.";
    return trace.time.empty() ? "This recording holds no clocks, so its time is the step."
                              : "The clocks of this block run backwards, so it is shown by steps.";
}

std::string microseconds(const trace::Meta& meta, double clocks) {
    if (!(meta.price.clock_mhz > 0)) return "";
    const double us = clocks / meta.price.clock_mhz;
    if (us < 0.0995) return fmt::format("{:.0f} ns", us * 1000);
    if (us >= 1000) return fmt::format("{:.2f} ms", us / 1000);
    return fmt::format("{:.{}f} µs", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string block_time(const trace::Trace& trace, const BlockIndex& index) {
    const uint32_t clocks = last_clock(trace, index) + 1;
    std::string text = counted(clocks, "clock");
    if (index.block < trace.blocks.size()) text += fmt::format(" of SM {}", trace.blocks[index.block].sm);
    if (trace.meta.price.clock_mhz > 0)
        text += fmt::format(", about {} at {} MHz", microseconds(trace.meta, clocks),
                            grouped(static_cast<uint64_t>(std::llround(trace.meta.price.clock_mhz))));
    return text;
}

std::string wait_words(const trace::Trace& trace, const BarrierTimes& barrier, uint32_t warp) {
    std::string text;
    for (const BarrierTimes::Arrival& arrival : barrier.arrivals) {
        if (arrival.warp != warp) continue;
        const uint32_t waited = barrier.opens - arrival.clock;
        const std::string us = microseconds(trace.meta, waited);
        if (waited == 0)
            text = fmt::format("Warp {} did not wait here", warp);
        else
            text = fmt::format("Warp {} waited {}{} here", warp, counted(waited, "clock"),
                               us.empty() ? "" : fmt::format(" ({})", us));
    }
    if (barrier.arrivals.size() < 2) return text.empty() ? text : text + ".";
    if (!text.empty()) text += "; t";
    return text + fmt::format("{}he warps came {} apart, warp {} last.", text.empty() ? "T" : "",
                              counted(barrier.skew(), "clock"), barrier.last_warp);
}

}  // namespace tilescope::look
