// The search for hazards against a slow, obvious twin, which compares all accesses with all others, on random
// recordings: any order of warps, barriers that some lanes miss, vector accesses, scattered lanes.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "core/trace/builder.h"
#include "tests/launches.h"
#include "tests/one_phase.h"
#include "tests/opened.h"

namespace tilescope::analysis {
namespace {

constexpr uint32_t kWarps = 3;

std::vector<Array> arrays() {
    return {test_array("in", Space::Global, ArrayRole::Input, 4, 8, 0x10000),
            test_array("out", Space::Global, ArrayRole::Output, 4, 16, 0x20000),
            test_array("A", Space::Shared, ArrayRole::Shared, 4, 8, 0, "A"),
            test_array("B", Space::Shared, ArrayRole::Shared, 4, 12, 128, "B")};
}

// Two sites share line 12, as copies do that a compiler makes.
std::vector<ptx::Site> sites() {
    using enum ptx::SiteKind;
    return {{0, 0, Load, Space::Global, 4, 10, 1, 1},  {1, 1, Store, Space::Global, 4, 11, 1, 2},
            {2, 2, Load, Space::Shared, 4, 12, 1, 3},  {3, 3, Load, Space::Shared, 4, 12, 1, 4},
            {4, 4, Load, Space::Shared, 8, 13, 1, 5},  {5, 5, Store, Space::Shared, 4, 14, 1, 6},
            {6, 6, Store, Space::Shared, 8, 15, 1, 7}, {7, 7, Barrier, Space::Global, 0, 16, 1, 8}};
}

// One lane's access to one cell.
struct LaneAccess {
    uint32_t block, interval, thread, line, array, step;
    uint64_t element;
    bool store;
};

struct Made {
    trace::Trace trace;
    std::vector<LaneAccess> lanes;
    std::vector<std::vector<uint32_t>> passed;  // block -> thread -> barriers
};

Made random_recording(uint64_t seed, bool whole_barriers) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t limit) { return random() % limit; };
    static const std::vector<Array> kArrays = arrays();
    static const std::vector<ptx::Site> kSites = sites();
    Made made;
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    const auto blocks = static_cast<uint32_t>(1 + below(3));
    // Few or many stores and cells: from recordings without a conflict to those full of them.
    const uint64_t spread = 1 + below(8), stores = below(4), length = 8 + below(44);
    for (uint32_t block = 0; block < blocks; ++block) {
        recorders.push_back(
            std::make_unique<trace::BlockRecorder>(kArrays, kSites, simt::BlockId{block, 0, 0}));
        auto& passed = made.passed.emplace_back(kWarps * 32, 0);
        for (uint32_t step = 0; step < length;) {
            const auto warp = static_cast<uint32_t>(below(kWarps));
            uint32_t site = static_cast<uint32_t>(below(kSites.size()));
            if (kSites[site].kind == ptx::SiteKind::Store && below(4) > stores) site = 2;
            const ptx::Site& s = kSites[site];
            uint32_t mask = below(3) ? ~0u : static_cast<uint32_t>(random()) | 1u;
            if (s.kind == ptx::SiteKind::Barrier) {
                if (whole_barriers || below(4)) mask = ~0u;
                const bool all = below(4) != 0;  // warps, one after the other
                for (uint32_t w = all ? 0 : warp; w < (all ? kWarps : warp + 1); ++w, ++step) {
                    recorders.back()->on_barrier(site, w, mask);
                    for (uint32_t lane = 0; lane < 32; ++lane) passed[w * 32 + lane] += mask >> lane & 1;
                }
                continue;
            }
            const uint32_t array = s.space == Space::Global
                                       ? (s.kind == ptx::SiteKind::Store || below(2) ? 1u : 0u)
                                       : static_cast<uint32_t>(2 + below(2));
            const Array& a = kArrays[array];
            const uint64_t elements = a.bytes() / 4, words = s.bytes / 4;
            const uint64_t base = below(elements), stride = below(spread), turn = below(4);
            std::array<uint64_t, 32> address{};
            for (uint32_t lane = 0; lane < 32; ++lane) {
                uint64_t element = turn == 0 ? below(elements) : base + stride * (lane >> turn);
                element = element % elements / words * words;
                address[lane] = a.base + 4 * element;
                for (uint64_t word = 0; word < words && (mask >> lane & 1); ++word)
                    made.lanes.push_back({block, passed[warp * 32 + lane], warp * 32 + lane, s.line, array,
                                          step, element + word, s.kind == ptx::SiteKind::Store});
            }
            simt::Request request;
            request.site = site;
            request.warp = warp;
            request.mask = mask;
            request.space = s.space;
            request.address = address.data();
            recorders.back()->on_request(request);
            ++step;
        }
    }
    trace::Meta meta;
    meta.complete = true;
    made.trace = trace::assemble(meta, test_launch(kArrays, {blocks, 1, 1}, {32, kWarps, 1}), kSites,
                                 std::move(recorders));
    return made;
}

// Kind, block, interval, array, element, line, other line, other stores, one warp.
using Key = std::tuple<HazardKind, uint32_t, uint32_t, uint32_t, uint64_t, uint32_t, uint32_t, bool, bool>;

bool touch(const LaneAccess& x, const LaneAccess& y) {
    return x.array == y.array && x.element == y.element && (x.store || y.store);
}

std::set<Key> twin_of_block(const Made& made, uint32_t block) {
    std::set<Key> keys;
    std::vector<LaneAccess> lanes;  // of the block
    std::ranges::copy_if(made.lanes, std::back_inserter(lanes),
                         [&](const LaneAccess& x) { return x.block == block; });
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t, uint32_t, bool>, bool> races;  // -> one warp
    for (const LaneAccess& x : lanes) {
        for (const LaneAccess& y : lanes) {
            if (x.interval != y.interval || x.thread == y.thread || !touch(x, y)) continue;
            if (std::tuple(!x.store, x.line) > std::tuple(!y.store, y.line)) continue;  // once a pair
            const auto key = std::tuple(x.interval, x.array, x.element, x.line, y.line, y.store);
            const auto at = races.try_emplace(key, true).first;
            at->second = at->second && x.thread / 32 == y.thread / 32;
        }
        if (x.store || x.array < 2) continue;
        int64_t written = -1, filled = -1;
        const LaneAccess* writer = nullptr;  // the lowest thread that stored the value, where it did so last
        for (const LaneAccess& y : lanes) {
            if (!y.store || y.array != x.array || y.interval > x.interval) continue;
            filled = std::max<int64_t>(filled, y.interval);
            if (y.element != x.element || y.interval < written) continue;
            if (y.interval > written || y.thread <= writer->thread) writer = &y;
            written = y.interval;
        }
        // Others came to the writer's store when the array was filled last, the writer did not.
        int64_t by_anyone = -1, by_writer = -1;
        for (const LaneAccess& y : lanes) {
            if (!writer || !y.store || y.array != x.array || y.line != writer->line ||
                y.interval > x.interval)
                continue;
            by_anyone = std::max<int64_t>(by_anyone, y.interval);
            if (y.thread == writer->thread) by_writer = std::max<int64_t>(by_writer, y.interval);
        }
        bool used = false;  // the value, before the array was filled anew
        for (const LaneAccess& y : lanes)
            used = used || (!y.store && y.array == x.array && y.element == x.element &&
                            int64_t{y.interval} > written && int64_t{y.interval} < filled);
        if (written < 0)
            keys.insert(
                {HazardKind::Uninitialised, block, x.interval, x.array, x.element, x.line, 0, false, false});
        else if (written < x.interval && written < filled && used && by_anyone == filled &&
                 by_writer < filled)
            keys.insert({HazardKind::Stale, block, x.interval, x.array, x.element, x.line, 0, false, false});
    }
    for (const auto& [key, one_warp] : races) {
        const auto& [interval, array, element, line, other, stores] = key;
        keys.insert({HazardKind::Race, block, interval, array, element, line, other, stores, one_warp});
    }
    return keys;
}

TEST(HazardsTwin, CellsOfABlockAreThoseOfTheTwin) {
    uint64_t kinds[4] = {};
    for (uint64_t seed = 0; seed < 48; ++seed) {
        SCOPED_TRACE(seed);
        const Made made = random_recording(seed, false);
        for (uint32_t block = 0; block < made.trace.blocks.size(); ++block) {
            std::set<Key> got;
            const auto found = faulty_cells(made.trace, one_phase(8), block);
            for (const FaultyCell& c : found.cells) {
                const auto &a = c.example.a, &b = c.example.b;
                const ptx::Site& site = made.trace.sites[a.site];
                const bool race = c.kind == HazardKind::Race;
                const ptx::Site* const other = race ? &made.trace.sites[b.site] : nullptr;
                got.insert({c.kind, block, c.interval, c.array, c.element, site.line, other ? other->line : 0,
                            other && other->kind == ptx::SiteKind::Store, c.same_warp});
                ++kinds[static_cast<int>(c.kind)];
                // The sides did what they are said to have done.
                const auto did = [&](const HazardSide& side, bool store) {
                    return std::any_of(made.lanes.begin(), made.lanes.end(), [&](const LaneAccess& lane) {
                        return lane.block == block && lane.thread == side.thread && lane.array == c.array &&
                               lane.element == c.element && lane.store == store &&
                               lane.step + made.trace.blocks[block].first == side.step;
                    });
                };
                EXPECT_TRUE(did(a, race));
                if (c.kind != HazardKind::Uninitialised)
                    EXPECT_TRUE(did(b, !race || other->kind == ptx::SiteKind::Store));
                EXPECT_TRUE(!race || a.thread != b.thread);
            }
            ASSERT_EQ(got.size(), found.cells.size());
            ASSERT_EQ(got, twin_of_block(made, block));
        }
    }
    EXPECT_GT(kinds[static_cast<int>(HazardKind::Race)], 100u);
    EXPECT_GT(kinds[static_cast<int>(HazardKind::Uninitialised)], 100u);
    EXPECT_GT(kinds[static_cast<int>(HazardKind::Stale)], 10u);
}

TEST(HazardsTwin, BarriersAndBlocksAreThoseOfTheTwin) {
    uint64_t redundant_all = 0, grid_all = 0, missing_all = 0;
    for (uint64_t seed = 1000; seed < 1040; ++seed) {
        SCOPED_TRACE(seed);
        const Made made = random_recording(seed, seed % 2);
        uint64_t redundant = 0, judged = 0, missing = 0;
        for (uint32_t block = 0; block < made.trace.blocks.size(); ++block) {
            const auto& passed = made.passed[block];
            const uint32_t most = *std::max_element(passed.begin(), passed.end());
            for (const uint32_t p : passed) missing += p < most;
            judged += most;
            for (uint32_t at = 0; at < most; ++at) {
                const bool needed =
                    std::any_of(made.lanes.begin(), made.lanes.end(), [&](const LaneAccess& x) {
                        return x.block == block && x.interval == at &&
                               std::any_of(made.lanes.begin(), made.lanes.end(), [&](const LaneAccess& y) {
                                   return y.block == block && y.interval == at + 1 && x.thread != y.thread &&
                                          touch(x, y);
                               });
                    });
                redundant += !needed;
            }
        }
        std::set<std::tuple<uint64_t, uint32_t, uint32_t, bool>> grid;  // element of out, lines
        for (const LaneAccess& x : made.lanes) {
            if (x.array != 1 || !x.store) continue;
            for (const LaneAccess& y : made.lanes)
                if (x.block != y.block && touch(x, y) && (!y.store || x.line <= y.line))
                    grid.insert({x.element, x.line, y.line, y.store});
        }
        uint64_t got_redundant = 0, got_judged = judged, got_missing = 0, got_grid = 0;
        for (const Hazard& h : find_hazards(made.trace, one_phase(8)).found) {
            if (h.kind == HazardKind::RedundantBarrier) got_redundant += h.count, got_judged = h.of;
            if (h.kind == HazardKind::BarrierDivergence) got_missing += h.count;
            if (h.kind == HazardKind::GridRace) got_grid += h.count;
            EXPECT_FALSE(h.examples.empty());
            EXPECT_LE(h.examples.size(), std::min<uint64_t>(h.count, 4));
            EXPECT_FALSE(h.sentence.empty());
        }
        EXPECT_EQ(got_redundant, redundant);
        EXPECT_EQ(got_judged, judged);
        EXPECT_EQ(got_missing, missing);
        EXPECT_EQ(got_grid, grid.size());
        redundant_all += redundant, grid_all += grid.size(), missing_all += missing;
    }
    EXPECT_GT(redundant_all, 10u);
    EXPECT_GT(grid_all, 10u);
    EXPECT_GT(missing_all, 10u);
}

TEST(HazardsTwin, ARecordingThatIsNotWholeJudgesNoBarriers) {
    Made made = random_recording(5, true);
    made.trace.meta.complete = false;
    const Hazards found = find_hazards(made.trace, one_phase(8));
    EXPECT_FALSE(found.not_judged.empty());
    for (const Hazard& h : found.found) {
        EXPECT_NE(h.kind, HazardKind::RedundantBarrier);
        EXPECT_NE(h.kind, HazardKind::BarrierDivergence);
    }
}

TEST(HazardsTwin, FewerCellsThanThereAreAreSaidToBeCut) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const Made made = random_recording(seed, true);
        const size_t all = faulty_cells(made.trace, one_phase(8), 0).cells.size();
        if (all < 2) continue;
        const FaultyCells some = faulty_cells(made.trace, one_phase(8), 0, {}, all - 1);
        EXPECT_TRUE(some.cut);
        EXPECT_EQ(some.cells.size(), all - 1);
        EXPECT_FALSE(faulty_cells(made.trace, one_phase(8), 0, {}, all).cut);
    }
}

}  // namespace
}  // namespace tilescope::analysis
