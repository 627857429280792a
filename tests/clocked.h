// CPU recordings with clocks as a GPU's would have: made up, but in an order that a GPU could take.
//
// Every warp has a clock of its own, which a request moves on by its latency and a little that depends on
// warp and place, and which a barrier sets to that of the last warp to come. A block's steps are then put in
// the order of their clocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::trace {

// Clocks that a step of a kind takes from its warp before the next one.
inline uint32_t made_up_latency(const Trace& trace, uint64_t step, uint32_t seed) {
    const Form& form = trace.form_of(step);
    const bool barrier = trace.sites[form.site].kind == ptx::SiteKind::Barrier;
    const uint32_t jitter =
        (trace.warp_of(step) * 2654435761u + static_cast<uint32_t>(step) * 40503u + seed) >> 16;
    if (barrier) return 24 + jitter % 8;
    return form.space == Space::Global ? 430 + jitter % 90 : 26 + jitter % 10;
}

inline void clock_block(Trace& trace, Block& block, uint32_t seed) {
    struct Timed {
        uint64_t clock = 0;
        uint32_t warp = 0, base = 0, key = 0;
    };
    std::array<uint64_t, kMaxWarpsPerBlock> at{};
    for (size_t warp = 0; warp < at.size(); ++warp) at[warp] = warp * 38 + (warp * 7919 + seed) % 60;
    std::vector<Timed> steps;
    std::array<std::vector<uint64_t>, kMaxWarpsPerBlock> of_warp;
    for (uint64_t step = block.first; step < block.first + block.count; ++step)
        of_warp[trace.warp_of(step)].push_back(step);
    std::array<size_t, kMaxWarpsPerBlock> next{};
    const auto is_barrier = [&](uint64_t step) {
        return trace.sites[trace.form_of(step).site].kind == ptx::SiteKind::Barrier;
    };
    const auto take = [&](uint32_t warp) {
        const uint64_t step = of_warp[warp][next[warp]++];
        steps.push_back({at[warp], warp, trace.base[step], trace.key[step]});
        return step;
    };
    for (bool more = true; more;) {  // from barrier to barrier
        uint64_t opens = 0;
        std::vector<std::pair<uint32_t, uint64_t>> waiting;
        for (uint32_t warp = 0; warp < kMaxWarpsPerBlock; ++warp) {
            while (next[warp] < of_warp[warp].size() && !is_barrier(of_warp[warp][next[warp]])) {
                const uint64_t step = take(warp);
                at[warp] += made_up_latency(trace, step, seed);
            }
            if (next[warp] < of_warp[warp].size()) {
                waiting.emplace_back(warp, take(warp));
                opens = std::max(opens, at[warp]);
            }
        }
        for (const auto& [warp, step] : waiting) at[warp] = opens + made_up_latency(trace, step, seed);
        more = !waiting.empty();
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Timed& a, const Timed& b) { return a.clock < b.clock; });
    for (size_t i = 0; i < steps.size(); ++i) {
        trace.base[block.first + i] = steps[i].base;
        trace.key[block.first + i] = steps[i].key;
        trace.time[block.first + i] = static_cast<uint32_t>(steps[i].clock - steps[0].clock);
    }
    block.sm = 17 + seed % 100;
    block.clock = 1'000'000 + seed;
}

// The recording as if an H200 had made it.
inline Trace with_clocks(Trace trace) {
    trace.time.assign(trace.steps(), 0);
    for (size_t i = 0; i < trace.blocks.size(); ++i)
        clock_block(trace, trace.blocks[i], static_cast<uint32_t>(i) * 131);
    trace.meta.backend = Backend::Gpu;
    trace.meta.device = "NVIDIA H200";
    trace.meta.driver = "580.159.04";
    trace.meta.schedule = {Schedule::Kind::Recorded, 0};
    trace.meta.price = {0.0061, 0.0252, 1, 200'000, 1980};
    return trace;
}

}  // namespace tilescope::trace
