// The remembered costs, sums and loads of random recordings, against every step judged afresh.
#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/cost.h"
#include "core/analysis/reuse.h"
#include "core/analysis/summary.h"
#include "tests/loads.h"
#include "tests/twin/request.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::analysis {
namespace {

bool is_store(const trace::Trace& trace, uint32_t site) {
    return trace.sites[site].kind == ptx::SiteKind::Store;
}

// What a request costs in blocks of 16 x 16 threads: a warp has two rows of them.
SectorCost judged(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    SectorCost cost = sector_cost(address, mask, bytes);
    twin::Addresses at;
    std::copy_n(address, at.size(), at.begin());
    cost.block_sectors = static_cast<uint32_t>(twin::global_cost(at, mask, bytes, 16).least_of_block());
    return cost;
}

TEST(CostTable, EveryStepCostsWhatItsAddressesCost) {
    std::vector<trace::PlainStep> plain;
    const trace::Trace trace = trace::random_trace(5, 2, 2, 2000, &plain);
    CostTable costs(trace);
    ASSERT_EQ(trace.steps(), plain.size());
    for (int again = 0; again < 2; ++again)
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            const trace::PlainStep& p = plain[step];
            const uint32_t bytes = trace.sites[p.site].bytes;
            Cost expected;
            if (!p.barrier && p.space == Space::Global)
                expected.global = judged(p.address.data(), p.mask, bytes);
            if (!p.barrier && p.space == Space::Shared)
                expected.shared =
                    bank_cost(p.address.data(), p.mask, bytes, keeps_groups(trace.sites[p.site]));
            ASSERT_EQ(costs.of(step).global, expected.global) << step;
            ASSERT_EQ(costs.of(step).shared, expected.shared) << step;
        }
}

TEST(Sums, OfStepsAreTheSumOverTheSteps) {
    std::vector<trace::PlainStep> plain;
    const trace::Trace trace = trace::random_trace(6, 3, 1, 1500, &plain);
    const uint64_t cuts[] = {0, 1, 777, 1500, 3100, trace.steps()};
    for (const uint64_t first : cuts)
        for (const uint64_t last : cuts) {
            Sums expected;
            for (uint64_t step = first; step < last; ++step) {
                const trace::PlainStep& p = plain[step];
                if (p.barrier) continue;
                const uint32_t bytes = trace.sites[p.site].bytes;
                Sums one{.requests = 1, .lanes = static_cast<uint64_t>(std::popcount(p.mask))};
                one.bytes = one.lanes * bytes;
                if (p.space == Space::Global) {
                    const SectorCost c = judged(p.address.data(), p.mask, bytes);
                    one.sectors = c.sectors, one.ideal_sectors = c.ideal_sectors, one.lines = c.lines;
                    one.block_sectors = c.block_sectors;
                } else {
                    const BankCost c =
                        bank_cost(p.address.data(), p.mask, bytes, keeps_groups(trace.sites[p.site]));
                    one.wavefronts = c.wavefronts, one.ideal_wavefronts = c.ideal_wavefronts;
                }
                expected += one;
            }
            EXPECT_EQ(sums_of_steps(trace, first, last), expected) << first << ".." << last;
        }
}

// Counted lane by lane and byte by byte: who touches nothing, what is asked for, and which sectors that moves.
TEST(Sums, IdleLanesAndEfficiencyAgreeWithCountingThem) {
    std::vector<trace::PlainStep> plain;
    const trace::Trace trace = trace::random_trace(8, 2, 2, 2500, &plain);
    SplitSums sums;
    CostTable costs(trace);
    uint64_t idle = 0, all = 0;
    std::map<StepKind, uint64_t> asked, moved;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        add_step(sums, trace, step, costs.of(step));
        const trace::PlainStep& p = plain[step];
        if (p.barrier) continue;
        std::set<uint64_t> sectors;
        const uint32_t bytes = trace.sites[p.site].bytes;
        const StepKind kind = kind_of(trace, step);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            ++all;
            if ((p.mask >> lane & 1) == 0) {
                ++idle;
                continue;
            }
            for (uint32_t byte = 0; byte < bytes; ++byte) {
                ++asked[kind];
                sectors.insert((p.address[lane] + byte) / 32);
            }
        }
        moved[kind] += sectors.size() * 32;
    }
    EXPECT_GT(idle, 0u);
    EXPECT_EQ(sums.total().idle_lanes(), idle);
    EXPECT_EQ(sums.total().all_lanes(), all);
    for (const StepKind kind : {StepKind::GlobalLoad, StepKind::GlobalStore}) {
        ASSERT_GT(moved[kind], 0u);
        EXPECT_EQ(sums[kind].moved_bytes(), moved[kind]);
        EXPECT_DOUBLE_EQ(*sums[kind].efficiency(),
                         static_cast<double>(asked[kind]) / static_cast<double>(moved[kind]));
    }
    EXPECT_FALSE(sums[StepKind::SharedLoad].efficiency()) << "shared memory has no sectors";
    EXPECT_FALSE(Sums{}.efficiency());
}

// 32 lanes: neighbours use all that is moved; a row apart an eighth; one element for all is moved once for 32.
TEST(Sums, EfficiencyInClosedForm) {
    const auto of = [](uint64_t bytes, uint64_t sectors) {
        return Sums{.requests = 1, .lanes = 32, .bytes = bytes, .sectors = sectors}.efficiency();
    };
    EXPECT_EQ(of(128, 4), 1.0);
    EXPECT_EQ(of(128, 32), 0.125);
    EXPECT_EQ(of(128, 1), 4.0);
    const Sums half{.requests = 3, .lanes = 48};
    EXPECT_EQ(half.idle_lanes(), 48u);
}

TEST(Sums, OfMoreFormsThanAreRememberedAreExactToo) {
    // Most random requests are forms of their own: more of them than a table remembers.
    const trace::Trace trace = trace::random_trace(9, 1, 1, 60000);
    ASSERT_GT(trace.forms.size(), kRememberedForms);
    CostTable costs(trace);
    uint64_t sectors = 0, wavefronts = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Access access = trace::AccessView(trace, step).decoded();
        const ptx::Site& site = trace.sites[access.site];
        if (site.kind == ptx::SiteKind::Barrier) continue;
        if (trace.form_of(step).space == Space::Global) {
            sectors += sector_cost(access.offset.data(), access.mask, site.bytes).sectors;
            ASSERT_EQ(costs.of(step).global, judged(access.offset.data(), access.mask, site.bytes));
        } else {
            wavefronts +=
                bank_cost(access.offset.data(), access.mask, site.bytes, keeps_groups(site)).wavefronts;
        }
    }
    const Sums sums = sums_of_steps(trace, 0, trace.steps());
    EXPECT_EQ(sums.sectors, sectors);
    EXPECT_EQ(sums.wavefronts, wavefronts);
}

TEST(Reuse, LoadsOfEveryElementAgreeWithWalkingTheLanes) {
    std::vector<trace::PlainStep> plain;
    const trace::Trace trace = trace::random_trace(7, 2, 2, 3000, &plain);
    LoadCounter counter(trace);
    for (uint64_t step = 0; step < trace.steps(); ++step) counter.add(step);
    counter.finish();
    for (uint8_t array = 0; array < 3; ++array) {
        const Array& a = trace.launch.arrays[array];
        std::map<uint64_t, uint32_t> expected;
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            const trace::Access access = trace::decode(trace, step);
            if (plain[step].barrier || access.array != array || is_store(trace, access.site)) continue;
            for (int lane = 0; lane < 32; ++lane) {
                if (!(access.mask >> lane & 1)) continue;
                const uint64_t first = plain[step].address[lane] - a.base;
                const uint64_t last = (first + trace.sites[access.site].bytes - 1) / 4;
                for (uint64_t e = first / 4; e <= last && e < uint64_t{a.rows} * a.cols; ++e) ++expected[e];
            }
        }
        ASSERT_FALSE(expected.empty());
        uint64_t elements = 0, loads = 0, expected_loads = 0;
        counter.of(array).each([&](uint64_t, uint32_t count) { ++elements, loads += count; });
        for (const auto& [element, count] : expected) expected_loads += count;
        EXPECT_EQ(elements, expected.size()) << a.name;
        EXPECT_EQ(loads, expected_loads) << a.name;
        if (array == 0) continue;  // M has more elements than a test should list
        const std::vector<uint32_t> all = loads_per_element(trace, array);
        ASSERT_EQ(all.size(), size_t{a.rows} * a.cols);
        for (uint64_t e = 0; e < all.size(); ++e)
            ASSERT_EQ(all[e], expected.contains(e) ? expected[e] : 0) << a.name << " " << e;
    }
}

}  // namespace
}  // namespace tilescope::analysis
