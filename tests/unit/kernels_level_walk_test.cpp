// A walk through the memory levels: blocks that share their work against each of them alone, sums against
// those of the replay and of single requests, and any state of L1 against a replay from the start.
#include <list>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/coalescing.h"
#include "core/analysis/cost.h"
#include "kernels/run/levels.h"
#include "kernels/textbook/catalogue.h"
#include "tests/h200.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using analysis::FoundIn, analysis::LevelDevice, analysis::LevelShare, analysis::LevelWalk,
    analysis::RecordedBlocks, analysis::WalkedLevels;

// A device of few SMs, so that blocks share an L1, which can be made small.
LevelDevice device(uint32_t sms, double l1_bytes = 0) {
    LevelDevice on = h200();
    on.device.sms = sms;
    if (l1_bytes > 0) on.levels.l1_bytes.value = l1_bytes;
    return on;
}

WalkedLevels walked(const trace::Trace& trace, const LevelDevice& on) {
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(rule);
    auto made = walk_levels(trace, *rule, on, {});
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : WalkedLevels{};
}

struct WalkCase {
    const char* kernel;
    Shape shape;
};
const WalkCase kWalkCases[] = {{"untiled", {100, 70, 130, 16}},
                               {"tiled", {64, 64, 64, 16}},
                               {"tiled", {61, 40, 33, 8}},
                               {"untiled_swapped", {50, 37, 45, 8}},
                               {"tiled_transposed", {40, 24, 50, 4}}};

TEST(LevelWalk, BlocksThatShareTheirWorkAreEachOneAlone) {
    for (const WalkCase& of : kWalkCases) {
        const trace::Trace trace = recorded(of.kernel, of.shape);
        const LevelDevice on = device(4);
        const analysis::WorkRules rules{&on.levels, 2, 2048};
        auto code = analysis::LevelCode::of(trace);
        ASSERT_TRUE(code);
        const RecordedBlocks blocks(trace, *code, rules);
        ASSERT_EQ(blocks.blocks(), trace.blocks.size());
        EXPECT_LT(blocks.kinds().size(), blocks.blocks()) << of.kernel;
        const std::vector<int64_t> zero(analysis::level_slots(trace.launch), 0);
        for (uint32_t number = 0; number < blocks.blocks(); ++number) {
            std::vector<uint32_t> batch_of;
            const auto alone = work_of_block(trace, *code, blocks.recorded(number), rules, zero, &batch_of);
            const auto shared = blocks.block(number);
            EXPECT_EQ(shared.work->sums, alone.sums);
            EXPECT_EQ(blocks.kinds()[blocks.kind_of(number)].batch_of, batch_of);
            ASSERT_EQ(shared.work->touches.size(), alone.touches.size());
            for (size_t i = 0; i < alone.touches.size(); ++i) {
                const analysis::LineTouch &a = shared.work->touches[i], &b = alone.touches[i];
                EXPECT_EQ(shared.work->first_line[a.slot] + static_cast<uint64_t>(shared.relocation[a.slot]) +
                              a.line,
                          alone.first_line[b.slot] + b.line);
                EXPECT_EQ(a.sectors, b.sectors);
                EXPECT_EQ(a.store, b.store);
            }
        }
    }
}

LevelShare sum_of(const std::vector<LevelShare>& shares) {
    LevelShare sum;
    for (const LevelShare& share : shares) sum += share;
    return sum;
}

TEST(LevelWalk, SharesAddUpToTheReplay) {
    for (const WalkCase& of : kWalkCases) {
        const trace::Trace trace = recorded(of.kernel, of.shape);
        for (const double l1 : {0., 40. * 1024}) {
            const WalkedLevels found = walked(trace, device(3, l1));
            EXPECT_FALSE(found.part);
            const auto plain = levels_of(trace, device(3, l1), {});
            ASSERT_TRUE(plain);
            EXPECT_EQ(found.levels.asked.all, plain->asked.all) << "looking on changes nothing";
            EXPECT_DOUBLE_EQ(found.levels.model.misses.l1_misses, plain->model.misses.l1_misses);
            EXPECT_DOUBLE_EQ(found.levels.model.misses.l2_read_sectors, plain->model.misses.l2_read_sectors);
            const LevelShare& all = found.shares.all;
            EXPECT_EQ(all.bytes, plain->asked.all.requested_bytes);
            EXPECT_EQ(all.asked(), plain->asked.all.l1_sectors) << of.kernel;
            EXPECT_EQ(all.asked() - all.sectors[0], static_cast<uint64_t>(plain->model.misses.l1_misses));
            EXPECT_EQ(all.sectors[2] + all.sectors[3],
                      static_cast<uint64_t>(plain->model.misses.l2_read_sectors));
            EXPECT_EQ(sum_of(found.shares.by_site), all);
            EXPECT_EQ(sum_of(found.shares.by_slot), all);
            LevelShare phases = sum_of(found.shares.by_phase);
            phases += found.shares.after;
            EXPECT_EQ(phases, all);
            EXPECT_DOUBLE_EQ(all.hit_rate(), plain->model.l1_hit_rate);
        }
    }
}

// 16 blocks of 16 x 16 threads, an SM each: every block finds in L1 what it has loaded before, and each of
// the 4 rows or columns of blocks gets its part of a matrix from L2 or on the way. DRAM gives a sector once.
TEST(LevelWalk, EachSectorComesOnceWhereSmsHoldABlockEach) {
    const trace::Trace trace = recorded("untiled", {64, 64, 64, 16});
    LevelDevice on = device(16);
    on.levels.gpcs.value = 1;  // of several, one gets more blocks than others
    const WalkedLevels found = walked(trace, on);
    constexpr uint64_t kSectorsOfABlock = (16 * 64 + 64 * 16) * 4 / 32;
    const auto arrays = found.shares.by_slot;
    for (const size_t array : {0, 1}) {
        EXPECT_EQ(arrays[array].bytes, 64ull * 64 * 64 * 4) << "each thread loads a row or column";
        EXPECT_EQ(arrays[array].asked() - arrays[array].sectors[0], 16 * kSectorsOfABlock / 2);
    }
    // M: the warp's two rows have a sector each. N: 16 neighbours have two, the same for both rows.
    constexpr uint64_t kRequests = 16 * 8 * 64;
    EXPECT_EQ(arrays[0].requests, kRequests);
    EXPECT_EQ(arrays[0].asked(), kRequests * 2);
    EXPECT_EQ(arrays[1].asked(), kRequests * 2);
    const uint64_t from_dram = found.shares.all.sectors[static_cast<size_t>(FoundIn::Dram)];
    EXPECT_LE(from_dram, 2 * 64 * 64 * 4 / 32u);
    EXPECT_GE(from_dram, 2 * 64 * 64 * 4 / 64u) << "DRAM is read 64 bytes at a time";
}

TEST(LevelWalk, SharesAreThoseOfSingleRequests) {
    for (const WalkCase& of : kWalkCases) {
        const trace::Trace trace = recorded(of.kernel, of.shape);
        const WalkedLevels found = walked(trace, device(2, 40. * 1024));
        std::map<uint32_t, LevelShare> by_site;
        for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
            const uint32_t number = found.number_of[block];
            EXPECT_EQ(found.recorded[number], block);
            const auto requests = requests_of_kind(found, trace, found.kind_of[number]);
            for (uint32_t step = 0; step < trace.blocks[block].count; ++step) {
                const trace::Form& form = trace.form_of(trace.blocks[block].first + step);
                const auto lines = requests.of(step);
                if (lines.empty() || lines[0].store) continue;
                LevelShare& share = by_site[form.site];
                ++share.requests;
                std::set<uint64_t> sectors;
                const trace::Access access =
                    trace::AccessView(trace, trace.blocks[block].first + step).decoded();
                for_lanes(access.mask,
                          [&](uint32_t lane) { ++share.bytes, sectors.insert(access.offset[lane] / 32); });
                const auto log = found.walk->found(number, requests.batch_of[step]);
                for (const analysis::RequestLine& line : lines)
                    for (uint32_t sector = 0; sector < 4; ++sector) {
                        if (!(line.sectors >> sector & 1)) continue;
                        const uint64_t at = found.walk->line_of(number, line.slot, line.line) * 4 + sector;
                        EXPECT_EQ(sectors.erase(at), 1u) << "is a sector that its lanes are in";
                        const bool first = line.first >> sector & 1;
                        ++share.sectors[static_cast<size_t>(
                            first ? LevelWalk::found_in(log[line.touch], sector) : FoundIn::L1)];
                    }
                EXPECT_TRUE(sectors.empty());
            }
        }
        for (auto& [site, share] : by_site) {
            share.bytes *= 4;
            EXPECT_EQ(share, found.shares.by_site[site]) << of.kernel << " site " << site;
        }
    }
}

// --- any state of L1

using Cache = std::vector<std::list<std::pair<uint64_t, uint32_t>>>;  // by set: lines and sectors

// The slow twin: all units of an SM from its first one on, through lists.
Cache replayed(const WalkedLevels& found, uint32_t sm, uint32_t turns, uint64_t lines) {
    const analysis::SectorCache like(lines);
    Cache sets(like.sets());
    uint32_t done = 0;
    for (const auto& sent : found.walk->log().sent) {
        if (sent.sm != sm) continue;
        if (done++ == turns) break;
        const auto& work = *found.walk->block(sent.block).work;
        for (uint32_t i = 0; i < work.batches[sent.batch].count; ++i) {
            const analysis::LineTouch& touch = work.touches[work.batches[sent.batch].first + i];
            if (touch.store) continue;
            const uint64_t line = found.walk->line_of(sent.block, touch.slot, touch.line);
            auto& set = sets[like.set_number(line)];
            uint32_t sectors = touch.sectors;
            for (auto at = set.begin(); at != set.end(); ++at)
                if (at->first == line) {
                    sectors |= at->second;
                    set.erase(at);
                    break;
                }
            set.push_front({line, sectors});
            if (set.size() > like.ways()) set.pop_back();
        }
    }
    return sets;
}

void expect_holds(const analysis::SectorCache& l1, const Cache& twin) {
    ASSERT_EQ(l1.sets(), twin.size());
    for (uint32_t set = 0; set < l1.sets(); ++set) {
        uint32_t way = 0;
        for (const auto& [line, sectors] : twin[set]) {
            const auto here = l1.at(set, way++);
            ASSERT_EQ(here.number, line);
            ASSERT_EQ(here.sectors, sectors);
        }
        while (way < l1.ways()) ASSERT_EQ(l1.at(set, way++).sectors, 0u);
    }
}

TEST(LevelWalk, AnyStateIsThatOfTheReplayFromTheStart) {
    const trace::Trace trace = recorded("untiled_swapped", {128, 64, 128, 16});
    // 36 KB of L1: far less than what the blocks of an SM ask for.
    const LevelDevice on = device(2, 36. * 1024);
    const WalkedLevels found = walked(trace, on);
    EXPECT_GT(found.walk->copies(), 2u) << "states between copies are what is tested";
    const uint64_t lines = found.levels.launch.l1_bytes / 128;
    std::mt19937 random(11);
    LevelWalk::BatchPlace last{};
    for (int i = 0; i < 40; ++i) {  // back and forth
        const uint32_t block = static_cast<uint32_t>(random() % trace.blocks.size());
        const auto units = static_cast<uint32_t>(found.walk->block(block).work->batches.size());
        const auto place = found.walk->place_of(block, static_cast<uint32_t>(random() % units));
        expect_holds(found.walk->before(place).l1, replayed(found, place.sm, place.turn, lines));
        // With all of its lines come it is the state before the next one.
        const auto all = found.walk->within(place, std::vector<bool>(4096, true));
        expect_holds(all.l1, replayed(found, place.sm, place.turn + 1, lines));
        if (i > 0) expect_holds(found.walk->before(last).l1, replayed(found, last.sm, last.turn, lines));
        last = place;
    }
}

TEST(LevelWalk, WhoIsEvictedComesBackWhenTheNextOneAsks) {
    const trace::Trace trace = recorded("untiled_swapped", {64, 64, 64, 16});
    const WalkedLevels found = walked(trace, device(1, 6. * 1024));
    uint64_t evicted = 0, back = 0, cut = 0;
    for (uint32_t block = 0; block < 4; ++block)
        for (uint32_t unit = 0; unit < found.walk->block(block).work->batches.size(); unit += 7) {
            const auto place = found.walk->place_of(block, unit);
            const auto before = found.walk->before(place);
            const auto after = found.walk->within(place, std::vector<bool>(4096, true));
            std::set<uint64_t> were, are;
            for (const auto& [of, into] : {std::pair{&before.l1, &were}, std::pair{&after.l1, &are}})
                for (uint32_t set = 0; set < of->sets(); ++set)
                    for (uint32_t way = 0; way < of->ways(); ++way)
                        if (of->at(set, way).sectors) into->insert(of->at(set, way).number);
            for (const LevelWalk::Eviction& eviction : after.evicted) {
                ++evicted;
                const auto [next, all] = found.walk->comes_back(place, eviction.line, UINT64_MAX);
                EXPECT_TRUE(all);
                // Looking at fewer lines finds the same, or says that it has not looked at all of them.
                const auto soon = found.walk->comes_back(place, eviction.line, 40);
                EXPECT_EQ(soon.next.has_value(), soon.all && next.has_value());
                cut += !soon.all;
                uint32_t turn = 0;  // the slow way: all units, one after the other
                bool seen = false;
                for (const auto& sent : found.walk->log().sent) {
                    if (turn++ <= place.turn || seen) continue;
                    const auto& work = *found.walk->block(sent.block).work;
                    for (uint32_t i = 0; i < work.batches[sent.batch].count; ++i) {
                        const auto& touch = work.touches[work.batches[sent.batch].first + i];
                        seen |= !touch.store &&
                                found.walk->line_of(sent.block, touch.slot, touch.line) == eviction.line;
                    }
                    if (!seen) continue;
                    ASSERT_TRUE(next);
                    EXPECT_EQ(next->block, sent.block);
                    EXPECT_EQ(next->batch, sent.batch);
                }
                EXPECT_EQ(next.has_value(), seen);
                back += seen;
            }
            for (const uint64_t line : are)
                EXPECT_TRUE(were.contains(line) || std::ranges::count(after.came, line) == 1);
        }
    EXPECT_GT(evicted, 50u);
    EXPECT_GT(back, 10u);
    EXPECT_GT(cut, 10u);
    EXPECT_LT(cut, evicted);
}

TEST(LevelWalk, AWindowOfBlocksRunsAlone) {
    const auto sized = plan("tiled", {256, 64, 256, 16});
    RecordOptions window;
    window.window = {4, 6, 8, 10};
    const auto trace = record_cpu(*sized, window);
    ASSERT_TRUE(trace);
    const WalkedLevels found = walked(*trace, device(132));
    EXPECT_TRUE(found.part);
    EXPECT_EQ(found.levels.launch.blocks, 4u);
    EXPECT_EQ(found.shares.all.bytes, 4ull * 256 * 64 * 2 / 16 * 4)
        << "each thread loads 4 elements of M and N";
    // 32 rows of M and 32 columns of N, 64 long: from DRAM once, to an SM that asks for them a half.
    EXPECT_DOUBLE_EQ(found.levels.model.misses.l1_misses, 4. * (16 * 64 + 64 * 16) * 4 / 32);
}

TEST(LevelWalk, RefusesWhatItCannotKnow) {
    trace::Trace trace = recorded("tiled", {16, 16, 16, 4});
    const auto rule = analysis::phase_rule(trace);
    trace.meta.complete = false;
    trace.meta.incomplete_reason = "a buffer was full";
    const auto made = walk_levels(trace, *rule, device(2), {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message,
              "the recording is not complete (a buffer was full), and its levels would be those of a part; "
              "record it again");
}

}  // namespace
}  // namespace tilescope::kernels
