#include "core/analysis/phases.h"

#include <algorithm>
#include <array>

#include "core/analysis/lane_classes.h"

namespace tilescope::analysis {
namespace {

// Where a lane stands in a kernel whose phase loop holds a barrier.
struct Walk {
    int32_t place = -1;  // its last place inside the loop, -1 before it came to one
    uint32_t copy = 0;   // of the loop's body
    uint32_t phase = 0;
    bool operator==(const Walk&) const = default;
};

void advance(Walk& walk, int32_t place, uint32_t copy, bool stays) {
    const bool back = place < walk.place || (place == walk.place && !stays);
    if (back || (walk.place >= 0 && copy != walk.copy)) ++walk.phase;
    walk.place = place;
    walk.copy = copy;
}

// kMaps: fill the maps of steps too.
template <bool kMaps>
PhaseMap walk_block(const trace::Trace& trace, const PhaseRule& rule, uint32_t block) {
    const trace::Block& b = trace.blocks[block];
    PhaseMap map;
    if constexpr (kMaps) {
        map.phase.resize(b.count);
        map.interval.resize(b.count);
    }
    const auto warps = static_cast<uint32_t>(std::clamp<uint64_t>(
        (trace.launch.block.count() + kWarpSize - 1) / kWarpSize, 1, trace::kMaxWarpsPerBlock));
    std::vector<LaneClasses<Walk>> walks(rule.by_barrier ? warps : 0);
    std::vector<LaneClasses<uint32_t>> visits(rule.by_barrier ? 0 : size_t{warps} * rule.groups,
                                              LaneClasses<uint32_t>(0));
    std::array<uint32_t, trace::kMaxWarpsPerBlock> barriers{};    // per warp
    std::array<uint32_t, trace::kMaxWarpsPerBlock> last_phase{};  // per warp, for steps outside the loop

    for (uint64_t i = 0; i < b.count; ++i) {
        const uint64_t step = b.first + i;
        const trace::Form& form = trace.form_of(step);
        const uint32_t warp = std::min(trace.warp_of(step), warps - 1);
        const bool is_barrier = trace.sites[form.site].kind == ptx::SiteKind::Barrier;
        if constexpr (kMaps) map.interval[i] = barriers[warp];

        uint32_t phase = last_phase[warp];
        if (rule.after[form.site]) {
            phase = kAfter;
        } else if (rule.by_barrier) {
            if (const int32_t place = rule.rank[form.site]; place >= 0) {
                const bool stays = rule.stays[form.site];
                const uint32_t copy = rule.copy[form.site];
                phase = walks[warp].update(form.mask, [&](Walk& w) { advance(w, place, copy, stays); }).phase;
                last_phase[warp] = phase;
                map.phases = std::max(map.phases, phase + 1);
            }
        } else if (!is_barrier) {
            auto& lanes = visits[size_t{warp} * rule.groups + rule.group[form.site]];
            phase = lanes.update(form.mask, [](uint32_t& been) { ++been; }) - 1;
            last_phase[warp] = phase;
            map.phases = std::max(map.phases, phase + 1);
        }
        if constexpr (kMaps) map.phase[i] = phase;
        if (is_barrier) map.barriers = std::max(map.barriers, ++barriers[warp]);
    }
    return map;
}

}  // namespace

PhaseMap phases_of_block(const trace::Trace& trace, const PhaseRule& rule, uint32_t block) {
    return walk_block<true>(trace, rule, block);
}

PhaseMap count_phases(const trace::Trace& trace, const PhaseRule& rule, uint32_t block) {
    return walk_block<false>(trace, rule, block);
}

}  // namespace tilescope::analysis
