#include "core/recording/phases.h"

#include <algorithm>
#include <array>

#include "core/recording/lane_classes.h"
#include "core/recording/pipeline.h"

namespace tilescope::analysis {
namespace {

// Where a lane stands in a kernel whose phase loop holds a barrier.
struct Walk {
    int32_t place = -1;  // its last place inside the loop, -1 before it came to one
    uint32_t body = 0;   // which copy of the loop's body
    uint32_t phase = 0;
    bool operator==(const Walk&) const = default;
};

void advance(Walk& walk, int32_t place, uint32_t body, bool stays) {
    const bool back = place < walk.place || (place == walk.place && !stays);
    if (back || (walk.place >= 0 && body != walk.body)) ++walk.phase;
    walk.place = place;
    walk.body = body;
}

constexpr uint32_t kUnvisited = 0xFFFF'FFFFu;

}  // namespace

struct PhaseWalk::State {
    State(const trace::Trace& of, const PhaseRule& by) : trace(of), rule(by) {
        places.reserve(trace.sites.size());
        for (size_t site = 0; site < trace.sites.size(); ++site)
            places.push_back({rule.rank[site], rule.body[site], rule.group[site],
                              rule.a_trip.empty() ? 1 : rule.a_trip[rule.group[site]], rule.stays[site],
                              rule.after[site], trace.sites[site].kind == ptx::SiteKind::Barrier,
                              trace.sites[site].kind == ptx::SiteKind::Exchange});
    }
    // What the rule says of a site, side by side.
    struct Place {
        int32_t rank;
        uint32_t body, group, a_trip;
        bool stays, after, barrier, exchange;
    };
    const trace::Trace& trace;
    const PhaseRule& rule;
    std::vector<Place> places;  // by site
    uint32_t warps = 1;
    uint64_t step = 0;                     // the next one
    std::vector<LaneClasses<Walk>> walks;  // by warp
    // By warp and group: its number in `visits`. Those of a block alone are there, which may come to few.
    std::vector<uint32_t> number, visited;
    std::vector<LaneClasses<uint32_t>> visits;
    std::array<uint32_t, trace::kMaxWarpsPerBlock> passed{};      // barriers, by warp
    std::array<uint32_t, trace::kMaxWarpsPerBlock> last_phase{};  // by warp, for steps outside the loop
    uint32_t phases = 0, barriers = 0;
    uint64_t looked_at = 0;
    std::vector<uint32_t> of_ring;  // by step of the block, where the rule goes by the ring
    uint64_t first = 0;             // step of the block

    LaneClasses<uint32_t>& visits_of(uint32_t warp, uint32_t group) {
        const auto place = static_cast<uint32_t>(size_t{warp} * rule.groups + group);
        if (number[place] == kUnvisited) {
            number[place] = static_cast<uint32_t>(visits.size());
            visited.push_back(place);
            visits.emplace_back(0);
        }
        return visits[number[place]];
    }

    // That of the block's next step. Inlined, as this is most of what a walk costs.
    [[gnu::always_inline]] Step next() {
        const trace::Form& form = trace.form_of(step);
        const uint32_t warp = std::min(trace.warp_of(step++), warps - 1);
        const Place& place = places[form.site];
        Step at{last_phase[warp], passed[warp]};
        if (rule.by_ring) {
            const uint64_t in_block = step - 1 - first;
            at.phase = in_block < of_ring.size() ? of_ring[in_block] : 0;
            if (at.phase != kAfter) phases = std::max(phases, at.phase + 1);
        } else if (place.after) {
            at.phase = kAfter;
        } else if (rule.by_place) {
            if (place.rank >= 0) {
                LaneClasses<Walk>& lanes = walks[warp];
                at.phase =
                    lanes.update(form.mask, [&](Walk& w) { advance(w, place.rank, place.body, place.stays); })
                        .phase;
                enter_phase(warp, at.phase, lanes.classes());
            }
        } else if (!place.barrier && !place.exchange) {
            LaneClasses<uint32_t>& lanes = visits_of(warp, place.group);
            at.phase = (lanes.update(form.mask, [](uint32_t& been) { ++been; }) - 1) / place.a_trip;
            enter_phase(warp, at.phase, lanes.classes());
        }
        if (place.barrier) barriers = std::max(barriers, ++passed[warp]);
        return at;
    }
    void enter_phase(uint32_t warp, uint32_t phase, uint64_t classes) {
        looked_at += classes;
        last_phase[warp] = phase;
        phases = std::max(phases, phase + 1);
    }
};

PhaseWalk::PhaseWalk(const trace::Trace& trace, const PhaseRule& rule)
    : state_(std::make_unique<State>(trace, rule)) {
    state_->warps = static_cast<uint32_t>(std::clamp<uint64_t>(
        (trace.launch.block.count() + kWarpSize - 1) / kWarpSize, 1, trace::kMaxWarpsPerBlock));
    if (!rule.by_place) state_->number.assign(size_t{state_->warps} * rule.groups, kUnvisited);
}

PhaseWalk::~PhaseWalk() = default;

void PhaseWalk::enter(uint32_t block) {
    State& s = *state_;
    s.step = s.first = s.trace.blocks[block].first;
    if (s.rule.by_ring) s.of_ring = phases_by_ring(s.trace, block);
    s.walks.assign(s.rule.by_place ? s.warps : 0, LaneClasses<Walk>{});
    for (const uint32_t place : s.visited) s.number[place] = kUnvisited;
    s.visited.clear();
    s.visits.clear();
    s.passed.fill(0);
    s.last_phase.fill(0);
    s.phases = s.barriers = 0;
}

PhaseWalk::Step PhaseWalk::next() { return state_->next(); }

void PhaseWalk::skip(uint64_t steps) {
    for (; steps > 0; --steps) state_->next();
}

uint32_t PhaseWalk::phases() const { return state_->phases; }
uint32_t PhaseWalk::barriers() const { return state_->barriers; }
uint64_t PhaseWalk::looked_at() const { return state_->looked_at; }

PhaseMap phases_of_block(PhaseWalk& walk, const trace::Trace& trace, uint32_t block) {
    PhaseMap map;
    map.phase.resize(trace.blocks[block].count);
    map.interval.resize(trace.blocks[block].count);
    walk.enter(block);
    for (size_t i = 0; i < map.phase.size(); ++i) {
        const PhaseWalk::Step at = walk.state_->next();
        map.phase[i] = at.phase;
        map.interval[i] = at.interval;
    }
    map.phases = walk.phases();
    map.barriers = walk.barriers();
    return map;
}

PhaseMap phases_of_block(const trace::Trace& trace, const PhaseRule& rule, uint32_t block) {
    PhaseWalk walk(trace, rule);
    return phases_of_block(walk, trace, block);
}

}  // namespace tilescope::analysis
