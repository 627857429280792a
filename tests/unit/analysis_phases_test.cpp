// Phases and barrier intervals of recordings, against lanes followed one by one.
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/recording/lane_classes.h"
#include "core/recording/phases.h"
#include "tests/unit/tiled_by_hand.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::analysis {
namespace {

TEST(LaneClasses, KeepEveryLaneAsIfAlone) {
    std::mt19937 engine(3);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int round = 0; round < 50; ++round) {
        LaneClasses<uint32_t> classes(5);
        std::array<uint32_t, 32> alone;
        alone.fill(5);
        for (int i = 0; i < 200; ++i) {
            const uint32_t mask = i % 3 == 0 ? ~0u : random() | 1u << random() % 32;
            const uint32_t add = random() % 3;
            const bool reset = random() % 10 == 0;
            const auto change = [&](uint32_t& s) { s = reset ? 0 : s + add; };
            const uint32_t first = classes.update(mask, change);
            for (int lane = 0; lane < 32; ++lane)
                if (mask >> lane & 1) change(alone[lane]);
            ASSERT_EQ(first, alone[std::countr_zero(mask)]);
            uint32_t seen = 0;
            classes.each([&](uint32_t lanes, uint32_t state) {
                ASSERT_NE(lanes, 0u);
                ASSERT_EQ(seen & lanes, 0u);
                seen |= lanes;
                for (int lane = 0; lane < 32; ++lane)
                    if (lanes >> lane & 1) ASSERT_EQ(state, alone[lane]);
            });
            ASSERT_EQ(seen, ~0u);
        }
    }
}

TEST(Phases, OfATiledProduct) {
    for (const by_hand::Tiled t : {by_hand::Tiled{4, 2}, {3, 2}, {16, 8}, {17, 8}, {5, 4, 1, 1}}) {
        const trace::Trace trace = by_hand::record({t});
        const PhaseMap map = phases_of_block(trace, by_hand::rule(), 0);
        EXPECT_EQ(map.phases, t.phases());
        EXPECT_EQ(map.barriers, 2 * t.phases());
        ASSERT_EQ(map.phase.size(), trace.steps());
        std::vector<uint32_t> barriers(t.warps(), 0);
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            const uint32_t site = trace.form_of(step).site, warp = trace.warp_of(step);
            // By hand the phase is that of the barriers that lie behind: two a phase.
            EXPECT_EQ(map.phase[step], site == 8 ? kAfter : barriers[warp] / 2) << step;
            EXPECT_EQ(map.interval[step], barriers[warp]) << step;
            barriers[warp] += site == 4 || site == 7;
        }
        const PhaseRule rule = by_hand::rule();
        PhaseWalk walk(trace, rule);
        for (int again = 0; again < 2; ++again) {
            walk.enter(0);
            for (uint64_t step = 0; step < trace.steps(); ++step)
                EXPECT_EQ(walk.next().phase, map.phase[step]);
            EXPECT_EQ(walk.phases(), map.phases);
            EXPECT_EQ(walk.barriers(), map.barriers);
        }
    }
}

// A lane's whole life, alone: the header's rules word by word.
PhaseMap slow_phases(const trace::Trace& trace, const PhaseRule& rule, uint32_t block) {
    struct Lane {
        int32_t place = -1;
        uint32_t body = 0, phase = 0;
        std::map<uint32_t, uint32_t> visits;
    };
    std::map<uint32_t, Lane> lanes;
    std::map<uint32_t, uint32_t> barriers, last;
    PhaseMap map;
    for (uint64_t s = trace.blocks[block].first; s < trace.blocks[block].first + trace.blocks[block].count;
         ++s) {
        const trace::Access access = trace::decode(trace, s);
        const bool barrier = trace.sites[access.site].kind == ptx::SiteKind::Barrier;
        map.interval.push_back(barriers[access.warp]);
        uint32_t phase = last[access.warp];
        if (rule.after[access.site]) {
            phase = kAfter;
        } else if (rule.by_place ? rule.rank[access.site] >= 0 : !barrier) {
            for (int l = 31; l >= 0; --l) {  // the lowest lane last: its phase is the request's
                if (!(access.mask >> l & 1)) continue;
                Lane& lane = lanes[access.warp * 32 + static_cast<uint32_t>(l)];
                if (rule.by_place) {
                    const int32_t place = rule.rank[access.site];
                    if (place < lane.place || (place == lane.place && !rule.stays[access.site]))
                        ++lane.phase;
                    else if (lane.place >= 0 && rule.body[access.site] != lane.body)
                        ++lane.phase;
                    lane.place = place;
                    lane.body = rule.body[access.site];
                    phase = lane.phase;
                } else {
                    const uint32_t group = rule.group[access.site];
                    phase = lane.visits[group]++ / (rule.a_trip.empty() ? 1 : rule.a_trip[group]);
                }
            }
            last[access.warp] = phase;
            map.phases = std::max(map.phases, phase + 1);
        }
        map.phase.push_back(phase);
        if (barrier) map.barriers = std::max(map.barriers, ++barriers[access.warp]);
    }
    return map;
}

TEST(Phases, OfAnythingAtAllAgreeWithLanesAlone) {
    const trace::Trace trace = trace::random_trace(8, 2, 1, 3000);
    std::mt19937 engine(4);
    const auto random = [&] { return static_cast<uint32_t>(engine()); };
    for (int round = 0; round < 8; ++round) {
        PhaseRule rule;
        rule.by_place = round % 2;
        rule.groups = 3;
        if (round % 4 < 2) rule.a_trip = {1, 2, 5};
        for (size_t site = 0; site < trace.sites.size(); ++site) {
            rule.after.push_back(random() % 8 == 0);
            rule.rank.push_back(static_cast<int32_t>(random() % 6) - 1);
            rule.stays.push_back(random() % 2);
            rule.body.push_back(random() % 2);
            rule.group.push_back(random() % 3);
        }
        for (uint32_t block = 0; block < 2; ++block) {
            const PhaseMap fast = phases_of_block(trace, rule, block), slow = slow_phases(trace, rule, block);
            EXPECT_EQ(fast.phase, slow.phase);
            EXPECT_EQ(fast.interval, slow.interval);
            EXPECT_EQ(fast.phases, slow.phases);
            EXPECT_EQ(fast.barriers, slow.barriers);
        }
    }
}

}  // namespace
}  // namespace tilescope::analysis
