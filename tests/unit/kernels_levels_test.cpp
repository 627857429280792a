// The replay through the memory levels: the cache against a slow twin, sums against those of the recording,
// closed forms, and a few blocks moved against all of them recorded.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/levels/batch_cost.h"
#include "core/levels/bounds.h"
#include "core/levels/sector_cache.h"
#include "kernels/run/levels.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/known_launch.h"
#include "tests/file_text.h"
#include "tests/h200.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using analysis::AmountOfBlocks, analysis::blocks_in_step, analysis::LevelBound, analysis::LevelDevice,
    analysis::LevelOptions, analysis::Levels, analysis::LevelSums, analysis::StepKind;

Levels levels(const Plan& plan, const LevelDevice& on, const LevelOptions& options = {}) {
    const auto found = levels_of(plan, on, options);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Levels{};
}

// What a GPU was measured to do: visits the rest of each line of a file of tests/data/hardware that begins
// with `what`.
template <class Visit>
void for_measured(const std::string& file, const std::string& what, Visit visit) {
    std::istringstream lines(file_text(TILESCOPE_SOURCE_DIR "/tests/data/hardware/" + file));
    for (std::string line, first; std::getline(lines, line);) {
        SCOPED_TRACE(line);
        if (std::istringstream words(line); words >> first && first == what) {
            visit(words);
            EXPECT_FALSE(words.fail());
        }
    }
}

// Blocks that are alike, and of which each touches so many lines more than the one before it; of one array.
analysis::LevelLaunch launch_of(const LevelDevice& on, const analysis::BlockWork& work,
                                int64_t lines_apart = 0) {
    analysis::LevelLaunch launch;
    launch.blocks = 1;
    launch.l1_bytes = 1 << 17;
    launch.dram_gbs = on.device.memory_gbs;
    launch.block = [shared = std::make_shared<const analysis::BlockWork>(work),
                    lines_apart](uint64_t number) {
        return analysis::PlacedBlock{shared, {static_cast<int64_t>(number) * lines_apart}};
    };
    return launch;
}

TEST(SectorCache, IsLeastRecentlyUsed) {
    struct Line {
        uint64_t number;
        uint32_t sectors;
    };
    std::mt19937 random(7);
    for (const uint32_t lines : {24u, 23u, 6u, 1u}) {
        analysis::SectorCache cache(lines, lines);  // one set
        std::list<Line> twin;                       // the most recent first
        uint64_t found = 0;
        for (int i = 0; i < 20'000; ++i) {
            const uint64_t line = random() % (2 * lines);
            const auto asked = static_cast<uint32_t>(1 + random() % 15);
            uint32_t held = 0;
            for (auto at = twin.begin(); at != twin.end(); ++at)
                if (at->number == line) {
                    held = at->sectors;
                    twin.erase(at);
                    break;
                }
            twin.push_front({line, held | asked});
            if (twin.size() > lines) twin.pop_back();
            ASSERT_EQ(cache.touch(line, asked), held & asked) << lines << " lines, access " << i;
            found += (held & asked) != 0;
            if (i % 5 == 0) {
                cache.fill_too(line, 9);
                twin.front().sectors |= 9;
            }
        }
        EXPECT_GT(found, 5'000u) << lines;
        EXPECT_LT(found, 19'000u) << lines;
    }
}

TEST(SectorCache, KeepsWhatFitsItsSetsWhateverTheStride) {
    for (const uint64_t stride : {1u, 8u, 32u, 4096u, 1'000'003u}) {
        analysis::SectorCache cache(2048);
        uint64_t found = 0;
        for (int round = 0; round < 2; ++round)
            for (uint64_t i = 0; i < 512; ++i) found += cache.touch(i * stride, 1);
        EXPECT_EQ(found, 512u) << stride;  // a quarter of its lines: all of the second round
    }
}

TEST(Levels, SumsAreThoseOfTheRecording) {
    for (const char* kernel : {"untiled", "tiled", "tiled_swapped", "tiled_transposed"})
        for (const Shape& shape : {Shape{64, 64, 64, 16}, Shape{50, 37, 45, 8}, Shape{9, 11, 10, 2}}) {
            const auto sized = plan(kernel, shape);
            ASSERT_TRUE(sized);
            const auto summary = analysis::summarize(recorded(*sized));
            ASSERT_TRUE(summary);
            const Levels found = levels(*sized, h200());
            EXPECT_TRUE(found.launch.sampled);
            const LevelSums& sums = found.asked.all;
            EXPECT_EQ(sums.l1_sectors, (*summary)[StepKind::GlobalLoad].sectors) << kernel << shape.m;
            EXPECT_EQ(sums.requested_bytes, (*summary)[StepKind::GlobalLoad].bytes) << kernel;
            EXPECT_EQ(sums.stored_sectors, (*summary)[StepKind::GlobalStore].sectors) << kernel;
            EXPECT_EQ(sums.wavefronts, (*summary)[StepKind::SharedLoad].wavefronts +
                                           (*summary)[StepKind::SharedStore].wavefronts);
            EXPECT_EQ(sums.accesses, summary->total().requests) << kernel;
        }
}

// 16 blocks on 132 SMs: every block loads its own rows and columns, a sector once.
TEST(Levels, MissesAreDistinctSectorsWhereSmsHoldABlockEach) {
    for (const char* kernel : {"untiled", "tiled", "untiled_swapped", "tiled_swapped"}) {
        const Levels found = levels(*plan(kernel, {64, 64, 64, 16}), h200());
        constexpr uint64_t kSectors = 16 * (16 * 64 + 64 * 16) * 4 / 32;
        EXPECT_EQ(found.asked.distinct_sectors, kSectors) << kernel;
        EXPECT_DOUBLE_EQ(found.model.misses.l1_misses, kSectors) << kernel;
        EXPECT_DOUBLE_EQ(found.model.misses.dram_read_bytes, 2 * 64 * 64 * 4) << kernel;
        EXPECT_LE(found.model.misses.l2_read_sectors, kSectors);
        EXPECT_GE(found.model.misses.l2_read_sectors, 2 * 64 * 64 * 4 / 32);
        EXPECT_EQ(found.asked.all.fp32, 64 * 64 * 64 / 32) << kernel;
    }
}

// Whole tiles, so that tensor cores multiply what the product needs, and nothing else.
TEST(Levels, TensorCoresAreAskedForTheProduct) {
    for (const char* kernel : {"wmma_tile", "mma_tile", "mma_swizzled", "mma_stages"}) {
        const Levels found = levels(*plan(kernel, {256, 64, 256, 0}), h200());
        EXPECT_EQ(found.asked.all.tensor, 256u * 64 * 256) << kernel;
        EXPECT_EQ(
            std::ranges::count(found.bounds.all, std::string_view("tensor"),
                               [](const LevelBound& bound) { return std::string_view(bound.resource); }),
            1)
            << kernel;
    }
    for (const LevelBound& bound : levels(*plan("tiled", {64, 64, 64, 16}), h200()).bounds.all)
        EXPECT_NE(std::string_view(bound.resource), "tensor") << "there is nothing of it";
}

TEST(Levels, NothingIsMergedWhereGroupsHoldOneSm) {
    LevelDevice on = h200();
    on.levels.gpcs.value = 132;
    const Levels found = levels(*plan("tiled", {128, 128, 128, 16}), on);
    EXPECT_DOUBLE_EQ(found.model.misses.l2_read_sectors, found.model.misses.l1_misses);
}

// A second-level cache that holds a row of tiles, but not all of N, reads N again for every row of blocks.
TEST(Levels, SmallSecondLevelReadsAgain) {
    LevelDevice on = h200();
    on.device.sms = 2;
    on.levels.l2_bytes.value = 64 << 10;
    const Levels found = levels(*plan("tiled", {256, 256, 256, 16}), on);
    constexpr double kMatrix = 256 * 256 * 4;
    EXPECT_GT(found.model.misses.dram_read_bytes, 8 * kMatrix);
    on.levels.l2_bytes.value = 64 << 20;
    EXPECT_DOUBLE_EQ(levels(*plan("tiled", {256, 256, 256, 16}), on).model.misses.dram_read_bytes,
                     2 * kMatrix);
}

void expect_same(const Levels& a, const Levels& b) {
    EXPECT_EQ(a.asked.all, b.asked.all);
    EXPECT_EQ(a.asked.distinct_sectors, b.asked.distinct_sectors);
    EXPECT_DOUBLE_EQ(a.model.misses.l1_misses, b.model.misses.l1_misses);
    EXPECT_DOUBLE_EQ(a.model.misses.l2_read_sectors, b.model.misses.l2_read_sectors);
    EXPECT_DOUBLE_EQ(a.model.misses.dram_read_bytes, b.model.misses.dram_read_bytes);
    EXPECT_DOUBLE_EQ(a.model.misses.latency_cycles, b.model.misses.latency_cycles);
}

TEST(Levels, BlocksThatWereMovedAreTheOnesRecorded) {
    LevelDevice on = h200();
    on.device.sms = 6;
    for (const char* kernel : {"untiled", "tiled", "tiled_swapped", "untiled_swapped"})
        for (const Shape& shape : {Shape{100, 70, 130, 16}, Shape{61, 40, 33, 8}, Shape{10, 9, 14, 4}}) {
            const auto sized = plan(kernel, shape);
            const auto whole = levels_of(recorded(*sized), on, {});
            ASSERT_TRUE(whole) << whole.error().message;
            EXPECT_FALSE(whole->launch.sampled);
            expect_same(levels(*sized, on), *whole);
        }
}

// `some` was found by fewer blocks, or by parts of them; l1, l2: how far its misses may be off.
void expect_near(const Levels& some, const Levels& all, double l1, double l2) {
    EXPECT_EQ(some.asked.all, all.asked.all);
    EXPECT_NEAR(some.model.misses.l1_misses / all.model.misses.l1_misses, 1, l1);
    EXPECT_NEAR(some.model.misses.l2_read_sectors / all.model.misses.l2_read_sectors, 1, l2);
}

TEST(Levels, LaterWavesAreLikeTheFirst) {
    LevelDevice on = h200();
    on.device.sms = 4;
    for (const char* kernel : {"tiled", "untiled"}) {
        const auto sized = plan(kernel, {512, 512, 512, 16});
        LevelOptions few, all;
        few.most_lines = 1;
        all.all_blocks = true;
        const Levels a = levels(*sized, on, few), b = levels(*sized, on, all);
        EXPECT_EQ(b.model.simulated, 1024u);
        EXPECT_LT(a.model.simulated, 200u);
        SCOPED_TRACE(kernel);
        expect_near(a, b, 0.02, 0.08);
        EXPECT_NEAR(a.model.misses.dram_read_bytes / b.model.misses.dram_read_bytes, 1, 0.05) << kernel;
    }
}

// Of blocks so long that two waves of them take too long, parts are much like these two waves. On four SMs
// chance alone moves the misses of one launch by 4 %, so that three launches are held together.
TEST(Levels, PartsOfBlocksAreLikeTheWhole) {
    LevelDevice on = h200();
    on.device.sms = 4;
    for (const char* kernel : {"tiled", "untiled"}) {
        Levels parts, wholes;
        for (const uint32_t k : {1984u, 2048u, 2112u}) {
            const auto sized = plan(kernel, {256, k, 256, 8});
            LevelOptions part, whole;
            part.most_work = kernel == std::string_view("tiled") ? 600'000 : 1'500'000;
            part.most_lines = whole.most_lines = 1;
            whole.most_work = 3 * part.most_work;
            const Levels a = levels(*sized, on, part), b = levels(*sized, on, whole);
            EXPECT_EQ(b.model.part, 1);
            EXPECT_GT(a.model.part, 0.2) << kernel;
            EXPECT_LT(a.model.part, 0.7) << kernel;
            EXPECT_EQ(a.model.simulated, b.model.simulated);
            parts.asked.all.add(a.asked.all, 1), wholes.asked.all.add(b.asked.all, 1);
            parts.model.misses += a.model.misses, wholes.model.misses += b.model.misses;
        }
        SCOPED_TRACE(kernel);
        expect_near(parts, wholes, 0.1, 0.1);
        EXPECT_NEAR(parts.model.misses.latency_cycles / wholes.model.misses.latency_cycles, 1, 0.05)
            << kernel;
    }
}

// Blocks that load a line of their own in each unit: whatever part of them is simulated, all of them miss. A
// wave has the part of its units behind that of the wave before it, and then the first again.
TEST(Levels, AWaveHasItsPartOfTheUnits) {
    const LevelDevice on = h200();
    constexpr uint32_t kUnits = 70, kPart = 18, kBlocks = 64;
    analysis::BlockWork work;
    work.batches.resize(kUnits);
    for (uint32_t i = 0; i < kUnits; ++i) {
        work.batches[i].first = i, work.batches[i].count = 1, work.batches[i].loads = true;
        work.touches.push_back({i, 0, 15, false});
    }
    work.first_line = {0};
    work.barriers = true;
    analysis::LevelLog log;
    analysis::LevelLaunch launch;
    launch.blocks = kBlocks;
    launch.block = [&](uint64_t number) {
        return analysis::PlacedBlock{std::make_shared<const analysis::BlockWork>(work),
                                     {static_cast<int64_t>(number * kUnits)}};
    };
    launch.sms = 4;
    launch.resident = 2;
    launch.l1_bytes = 1 << 14;
    launch.dram_gbs = 100;
    launch.most_blocks = 0;
    const analysis::LevelReplay whole = analysis::replay_levels(on.levels, launch);
    launch.part = 0.25;
    launch.log = &log;
    const analysis::LevelReplay part = analysis::replay_levels(on.levels, launch);
    EXPECT_EQ(part.simulated, whole.simulated);
    EXPECT_EQ(whole.part, 1);
    EXPECT_DOUBLE_EQ(part.part, double{kPart} / kUnits);
    EXPECT_LT(part.touched, whole.touched / 3);
    for (const analysis::LevelReplay* replay : {&whole, &part}) {
        EXPECT_DOUBLE_EQ(replay->misses.l1_misses, 4 * kUnits * kBlocks);
        EXPECT_DOUBLE_EQ(replay->misses.l2_read_sectors, 4 * kUnits * kBlocks);
        EXPECT_DOUBLE_EQ(replay->misses.dram_read_bytes, 128 * kUnits * kBlocks);
    }
    constexpr uint32_t kWave = 4 * 2, kParts = kUnits / kPart;
    std::set<uint32_t> units;
    for (const auto& sent : log.sent) {
        const uint32_t from = sent.block / kWave % kParts * kPart;
        EXPECT_GE(sent.batch, from);
        EXPECT_LT(sent.batch, from + kPart);
        units.insert(sent.batch);
    }
    EXPECT_EQ(units.size(), kParts * kPart);
}

// NVRTC unrolls the products of a 4 x 4 tile: four loads of a column of N, and one of 16 bytes of a row of M.
TEST(Levels, LoadsOfNeighboursAreJoined) {
    auto sized = plan("tiled", {16, 16, 16, 4});
    ASSERT_TRUE(sized);
    sized->ptx = file_text(TILESCOPE_SOURCE_DIR "/tests/data/ptx/nvrtc/tiled.default.ptx");
    const Levels found = levels(*sized, h200());
    constexpr uint64_t kBlocks = 16, kPhases = 4;
    EXPECT_EQ(found.asked.all.accesses, kBlocks * (kPhases * (2 + 2 + 5) + 1));
    // A wavefront each for the loads of N, and one for the four rows of M, whose lanes agree in pairs.
    EXPECT_EQ(found.asked.all.wavefronts, kBlocks * kPhases * (2 + 4 + 1));
    const Levels apart = levels(*plan("tiled", {16, 16, 16, 4}), h200());
    EXPECT_EQ(apart.asked.all.accesses, kBlocks * (kPhases * (2 + 2 + 8) + 1));
    EXPECT_LT(found.asked.all.instructions, apart.asked.all.instructions);
}

// 16 rows of M a whole number of lines apart lie in one bank; 33 elements apart they lie in 16 of them.
TEST(Levels, PassesDependOnThePitch) {
    const Levels even = levels(*plan("tiled_swapped", {32, 32, 32, 16}), h200());
    const Levels odd = levels(*plan("tiled_swapped", {33, 33, 33, 16}), h200());
    constexpr uint64_t kWarps = 4 * 8, kLoads = kWarps * 2 * 2;
    EXPECT_EQ(even.asked.all.passes, kLoads * 16 + kWarps * 2);  // a warp stores to two rows of P
    EXPECT_LT(odd.asked.all.passes, even.asked.all.passes);
    // Where they miss, lines whose tags share a bank go through one after the other; in one bank of words
    // they do so anyhow.
    EXPECT_EQ(even.asked.all.more_passes, 0u);
    EXPECT_GT(odd.asked.all.more_passes, 0u);
    EXPECT_GT(odd.passes(), static_cast<double>(odd.asked.all.passes));
    EXPECT_LE(odd.passes(), static_cast<double>(odd.asked.all.passes + odd.asked.all.more_passes));
}

// Only what the recorded blocks touch takes memory: 1.6 GB of P may not be recorded, but its levels are
// known.
TEST(Levels, ArraysMayBeLargerThanWhatIsAllowed) {
    auto large = plan("tiled", {20'000, 16, 20'000, 16});
    ASSERT_TRUE(large);
    for (Array& array : large->launch.arrays) array.contents = {};
    large->check = {};
    RecordOptions one_block;
    one_block.window = {0, 1, 0, 1};
    const auto refused = record_cpu(*large, one_block);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("takes more memory"), std::string::npos);
    LevelOptions options;
    options.most_lines = 100'000;
    const Levels found = levels(*large, h200(), options);
    EXPECT_EQ(found.asked.all.requested_bytes, uint64_t{20'000} * 20'000 * 2 * 4);
    EXPECT_LT(found.model.simulated, found.launch.blocks);
}

// As in tests/data/hardware/sms.txt: 8 SMs, five turns of GPCs, the 8 SMs again, and after eight turns the
// first.
TEST(Levels, BlocksAreDealtByGpcs) {
    const LevelDevice on = h200();
    analysis::BlockWork work;
    work.batches.resize(1);
    work.warps = 8;
    analysis::LevelLog log;
    analysis::LevelLaunch launch = launch_of(on, work);
    launch.blocks = 264;
    launch.sms = 132;
    launch.resident = 2;
    launch.log = &log;
    analysis::replay_levels(on.levels, launch);
    ASSERT_EQ(log.sent.size(), 264u);
    std::vector<uint32_t> sm(264);
    for (const auto& sent : log.sent) sm[sent.block] = sent.sm;
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(sm[80 + i], sm[i]);
        EXPECT_EQ(sm[140 + i], sm[8 + i]);
    }
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(sm[148 + i], sm[16 + i]);
    EXPECT_EQ(std::set<uint32_t>(sm.begin(), sm.begin() + 80).size(), 80u);
}

TEST(Levels, DramHasARangeWhereBlocksMayStayInStepOrNot) {
    LevelDevice on = h200();
    on.device.sms = 4;
    on.levels.gpcs.value = 2;
    LevelOptions with;
    with.range = true;
    const auto sized = plan("tiled", {256, 256, 256, 16});
    EXPECT_FALSE(levels(*sized, on, with).model.dram_range);  // all of it fits L2
    on.levels.l2_bytes.value = 64 << 10;
    EXPECT_FALSE(levels(*sized, on).model.dram_range);  // nobody asks
    on.levels.dram_cycles.value = 3000;                 // longer than an SM's turn, though not twice as long
    const Levels found = levels(*sized, on, with);
    ASSERT_TRUE(found.model.dram_range);
    EXPECT_LE(found.model.dram_range->first, found.model.misses.dram_read_bytes);
    EXPECT_GE(found.model.dram_range->second, found.model.misses.dram_read_bytes);
    EXPECT_GT(found.model.dram_range->second, 1.02 * found.model.dram_range->first);
    on.levels.dram_cycles.value = 100'000;  // much longer: they stay in step
    EXPECT_FALSE(levels(*sized, on, with).model.dram_range);
}

TEST(Levels, TheLongestBoundBinds) {
    LevelDevice on = h200();
    on.device.sms = 4;
    const Levels found = levels(*plan("tiled_transposed", {128, 128, 128, 32}), on);
    ASSERT_EQ(found.bounds.all.size(), 7u);
    for (const LevelBound& bound : found.bounds.all) EXPECT_LE(bound.ms, found.bounds.longest().ms);
    EXPECT_STREQ(found.bounds.longest().resource, "data_pipe");  // 32 wavefronts a load of N
    const double cycles = (found.passes() + static_cast<double>(found.asked.all.wavefronts)) / 4;
    EXPECT_DOUBLE_EQ(found.bounds.all[2].ms,
                     cycles / (1980 * 1e3) + found.bounds.idle_ms + found.bounds.launch_ms);
}

// Blocks do not move: of six equal ones on four SMs some SM runs two, as if there were eight.
TEST(Levels, TheBusiestSmBinds) {
    LevelDevice on = h200();
    on.device.sms = 4;
    const Levels six = levels(*plan("tiled", {64, 64, 96, 32}), on),
                 eight = levels(*plan("tiled", {64, 64, 128, 32}), on);
    ASSERT_EQ(six.launch.blocks, 6u);
    ASSERT_EQ(eight.launch.blocks, 8u);
    for (const size_t shared : {2, 3, 4, 5})
        EXPECT_NEAR(six.bounds.all[shared].ms - six.bounds.idle_ms,
                    eight.bounds.all[shared].ms - eight.bounds.idle_ms, 1e-12);
    EXPECT_LT(six.bounds.all[0].ms, eight.bounds.all[0].ms);
    // A block cut by an edge does less: here the busiest SM may have two such.
    const Levels cut = levels(*plan("tiled", {33, 64, 96, 32}), on);
    ASSERT_EQ(cut.launch.blocks, 6u);
    EXPECT_LT(cut.bounds.all[2].ms - cut.bounds.idle_ms, six.bounds.all[2].ms - six.bounds.idle_ms);
    // Of five whole ones some SM has two, whatever else there is.
    const Levels five = levels(*plan("untiled_swapped", {32, 64, 176, 32}), on),
                 two = levels(*plan("untiled_swapped", {32, 64, 256, 32}), on);
    ASSERT_EQ(five.launch.blocks, 6u);
    ASSERT_EQ(two.launch.blocks, 8u);
    EXPECT_NEAR(five.bounds.all[2].ms, two.bounds.all[2].ms, 0.02 * two.bounds.all[2].ms);
    // Where each SM has a block at most, a whole one takes as long as ever, cut ones beside it or not.
    const Levels edge = levels(*plan("untiled_swapped", {32, 64, 40, 32}), h200()),
                 whole = levels(*plan("untiled_swapped", {32, 64, 32, 32}), h200());
    ASSERT_EQ(edge.launch.blocks, 2u);
    EXPECT_NEAR(edge.bounds.all[2].ms, whole.bounds.all[2].ms, 0.02 * whole.bounds.all[2].ms);
}

// The least that any way to deal blocks leaves the busiest SM.
double least_of_deals(const std::vector<double>& blocks, std::vector<double>& sms, size_t next = 0) {
    if (next == blocks.size()) return *std::max_element(sms.begin(), sms.end());
    double least = std::numeric_limits<double>::max();
    for (double& sm : sms) {
        const double before = sm;
        sm += blocks[next];
        least = std::min(least, least_of_deals(blocks, sms, next + 1));
        sm = before;
    }
    return least;
}

TEST(Levels, NoDealLeavesTheBusiestSmLess) {
    std::mt19937 random(7);
    const auto draw = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
    int met = 0;
    for (int round = 0; round < 300; ++round) {
        std::vector<AmountOfBlocks> kinds(static_cast<size_t>(draw(1, 3)));
        std::vector<double> blocks;
        for (AmountOfBlocks& kind : kinds) {
            kind = {static_cast<double>(draw(0, 9)), static_cast<uint64_t>(draw(0, 3))};
            blocks.insert(blocks.end(), kind.blocks, kind.amount);
        }
        const auto sms = static_cast<size_t>(draw(1, 3));
        // The same block by block.
        std::sort(blocks.begin(), blocks.end(), std::greater{});
        double twin = 0;
        for (size_t i = 0; i * sms + 1 <= blocks.size(); ++i)
            twin = std::max(twin,
                            std::accumulate(blocks.begin() + static_cast<std::ptrdiff_t>(i * sms - i),
                                            blocks.begin() + static_cast<std::ptrdiff_t>(i * sms + 1), 0.0));
        const double found = least_of_busiest(kinds, static_cast<uint32_t>(sms));
        ASSERT_DOUBLE_EQ(found, twin) << round;
        std::vector<double> loads(sms, 0.0);
        const double least = least_of_deals(blocks, loads);
        ASSERT_LE(found, least) << round;
        met += found == least;
    }
    EXPECT_GT(met, 200);
}

TEST(Levels, BlocksOfFewWarpsStayInStepAsMeasured) {
    size_t in_step = 0, apart = 0;
    for_measured("steps.txt", "steps", [&](std::istream& words) {
        std::string kernel;
        uint32_t width = 0, blocks = 0, warps = 0;
        double share = 0;
        words >> kernel >> width >> blocks >> warps >> share;
        // Blocks that have no warp for each scheduler are less so.
        if (blocks_in_step(warps) && warps / blocks < analysis::kSchedulers)
            EXPECT_LT(share, 0.25) << "anywhere";
        else
            EXPECT_EQ(blocks_in_step(warps), share < 0.2);
        ++(blocks_in_step(warps) ? in_step : apart);
    });
    EXPECT_GE(in_step, 24u);
    EXPECT_GE(apart, 16u);
}

// One SM and one block: it works, and while the block waits it does nothing. With many blocks there is always
// one that has its data.
TEST(Levels, WhatAllBlocksWaitIsPartOfABound) {
    LevelDevice on = h200();
    on.device.sms = 1;
    LevelOptions options;
    options.registers = 128;  // two blocks
    const Levels one = levels(*plan("warp_tile", {128, 64, 128, 0}), on, options);
    ASSERT_EQ(one.launch.blocks, 1u);
    EXPECT_TRUE(one.launch.in_step);
    // And until the first loads of each of 8 phases have come from shared memory.
    const double first_reads = 8 * on.levels.shared_cycles.value, clocks = 1980 * 1e3;
    EXPECT_EQ(one.bounds.sending_ms, 0);
    EXPECT_DOUBLE_EQ(one.bounds.idle_ms, (one.model.misses.wait_cycles + first_reads) / clocks);
    // 8 phases, which wait twice each: N is asked for when M's data are there, from L2.
    EXPECT_GE(one.model.misses.wait_cycles,
              16 * 0.9 * on.levels.l2_latency.value);  // from the last one's issue
    EXPECT_LE(one.model.misses.wait_cycles, 16 * 1.5 * on.levels.l2_latency.value);
    EXPECT_LE(one.model.misses.wait_cycles, one.model.misses.latency_cycles);
    // Nothing is issued while the pipe serves the first loads of a warp of each scheduler, 4 of 16 bytes a
    // lane.
    const double issued = static_cast<double>(one.asked.all.instructions) / 4 / clocks;
    const double filling =
        (one.bounds.all[4].ms - one.bounds.launch_ms - one.bounds.idle_ms - issued) * clocks;
    EXPECT_GE(filling, 8 * 4 * 4 * 1 - 1e-6);
    EXPECT_LE(filling, 8 * 4 * 4 * 4 + 1e-6);
    // Blocks in step are taken in pairs: of six on two SMs one runs four, and of three one runs two.
    on.device.sms = 2;
    const auto busiest = [&](uint32_t blocks) {
        return levels(*plan("warp_tile", {128, 8, blocks * 128, 0}), on, options).launch.of_busiest(2);
    };
    EXPECT_EQ(busiest(3), 2u);
    EXPECT_EQ(busiest(4), 2u);
    EXPECT_EQ(busiest(5), 3u);
    EXPECT_EQ(busiest(6), 4u);
    on.device.sms = 1;
    // Rounds of two blocks: five wait as long as six.
    const Levels five = levels(*plan("warp_tile", {128, 64, 5 * 128, 0}), on, options);
    EXPECT_EQ(five.launch.resident, 2u);
    EXPECT_DOUBLE_EQ(five.bounds.idle_ms, (five.model.misses.wait_cycles / 5 + first_reads) * 3 / clocks);
    const Levels many = levels(*plan("tiled", {256, 64, 256, 16}), on);
    EXPECT_FALSE(many.launch.in_step);
    EXPECT_GT(many.model.misses.wait_cycles, 0);
    EXPECT_LT(many.bounds.idle_ms, 0.1 * many.bounds.all[2].ms);
    EXPECT_LT(many.bounds.idle_ms * clocks, 0.02 * many.model.misses.wait_cycles);
    // One block of 32 warps is not in step with another: what it waits is what the SM does nothing, but for
    // what sending takes longer by chance.
    const Levels alone = levels(*plan("tiled", {32, 64, 32, 32}), on);
    EXPECT_FALSE(alone.launch.in_step);
    constexpr double kMargin = 0.95;
    const double waited = alone.model.misses.wait_cycles, later = 2 * on.levels.spread_cycles.value;
    EXPECT_GE(alone.bounds.idle_ms * clocks,
              kMargin * (waited - alone.passes() * on.levels.send_share.value));
    EXPECT_LE(alone.bounds.idle_ms * clocks, kMargin * (waited + later));
}

// No SM sends stores faster; nor slower, where lanes are far apart, warps store to many lines, and none of
// them to the same sectors twice in a row.
TEST(Levels, StoresAreSentAsMeasured) {
    size_t met = 0, least = 0;
    for_measured("stores.txt", "stores", [&](std::istream& words) {
        uint32_t apart = 0, times = 0, warps = 0, sms = 0;
        double clocks = 0;
        words >> apart >> times >> warps >> sms >> clocks;
        analysis::BatchStores stores;  // as many requests as are to the same sectors
        stores.bytes = 128 * times;
        stores.warps = warps;
        if (apart >= 8) {
            stores.apart = (32 + apart) * (1 + 2 * (times - 1));
            stores.fewest_lines = apart;
        } else {
            stores.bytes_together = stores.bytes;
        }
        const double modelled =
            static_cast<double>(sent_for(stores)) / times / h200().levels.sent_per_clock.value;
        EXPECT_LE(modelled, 1.005 * clocks);
        ++least;
        if (apart < 8 || apart * warps < 32 || times > 1 || sms > 1) return;
        EXPECT_NEAR(modelled, clocks, 0.005 * clocks);
        ++met;
    });
    EXPECT_EQ(least, 270u);
    EXPECT_EQ(met, 12u);
}

// A thread of vector_loads stores 8 rows of 8 words, whose sectors it shares with no other; the lanes of a
// warp, two rows of 16. A warp of a tiled kernel stores whole sectors.
TEST(Levels, WhatBlocksStoreIsSentToL2) {
    LevelDevice on = h200(), fast = h200();
    on.device.sms = fast.device.sms = 1;
    fast.levels.sent_per_clock.value = 64;
    const auto found = [&](const char* kernel, const Shape& shape, const LevelDevice& device) {
        return levels(*plan(kernel, shape), device);
    };
    const Shape one{128, 8, 128, 0};
    const Levels alone = found("vector_loads", one, on), hidden = found("vector_loads", one, fast);
    const uint64_t first = 32 + 8, again = 2 * first;
    EXPECT_EQ(alone.asked.all.sent_sectors, 8u * 8 * (first + 7 * again));
    EXPECT_TRUE(alone.bounds.by_sending);
    EXPECT_DOUBLE_EQ(alone.bounds.all[1].ms - alone.bounds.launch_ms,
                     static_cast<double>(alone.asked.all.sent_sectors) / 2 / (1980 * 1e3));
    // Part of what the SM and the block take, but for the requests themselves.
    EXPECT_EQ(hidden.bounds.sending_ms, 0);
    EXPECT_GT(alone.bounds.sending_ms, 0.95 * 0.75 * (alone.bounds.all[1].ms - alone.bounds.launch_ms));
    EXPECT_LT(alone.bounds.sending_ms, 0.95 * (alone.bounds.all[1].ms - alone.bounds.launch_ms));
    for (const size_t by : {2, 3, 4, 5, 6})
        EXPECT_NEAR(alone.bounds.all[by].ms - hidden.bounds.all[by].ms, alone.bounds.sending_ms, 1e-12) << by;
    // Two blocks side by side send one after the other. What those of earlier rounds send may take no time of
    // its own.
    const auto sending = [&](uint32_t blocks) {
        LevelOptions options;
        options.registers = 128;  // two at once
        const Levels many = levels(*plan("vector_loads", {blocks * 128, 8, 128, 0}), on, options);
        EXPECT_EQ(many.launch.resident, 2u);
        return many.bounds.sending_ms / alone.bounds.sending_ms;
    };
    EXPECT_NEAR(sending(2), 2, 1e-9);
    EXPECT_NEAR(sending(3), 1, 1e-9);
    EXPECT_NEAR(sending(4), 2, 1e-9);
    const Levels tiles = found("tiled", {64, 64, 64, 16}, on);
    EXPECT_EQ(tiles.asked.all.sent_sectors, tiles.asked.all.stored_sectors);
    EXPECT_EQ(tiles.bounds.sending_ms, 0);
    // Each lane of untiled_swapped has a row of its own, but warps share them: only the bytes are counted.
    const Levels rows = found("untiled_swapped", {32, 64, 32, 32}, on);
    EXPECT_EQ(rows.asked.all.stored_sectors, 32u * 32);
    EXPECT_EQ(rows.asked.all.sent_sectors, 32u * 32 * 4 / 32);
    // So they are of blocks that an edge cuts.
    EXPECT_LT(found("vector_loads", {100, 8, 100, 0}, on).asked.all.sent_sectors,
              alone.asked.all.sent_sectors / 2);
}

// A launch behind another one finds its arrays in L2, if that holds them.
TEST(Levels, BoundsWaitForDramOnlyWhereL2DoesNotHoldTheArrays) {
    LevelDevice on = h200(), slow = h200();
    slow.levels.dram_cycles.value *= 10;
    slow.levels.dram_latency.value *= 10;
    const auto longer = [&](const char* kernel, const Shape& shape, uint32_t registers = 0) {
        const auto sized = plan(kernel, shape);
        LevelOptions options;
        options.registers = registers;
        const Levels found = levels(*sized, on, options), other = levels(*sized, slow, options);
        EXPECT_GT(found.model.misses.wait_cycles, 0) << kernel;
        return other.model.misses.wait_cycles / found.model.misses.wait_cycles;
    };
    const Shape square{64, 64, 64, 16}, many_warps{64, 64, 64, 32}, pair{128, 64, 256, 0};
    EXPECT_EQ(longer("untiled", square), 1);
    EXPECT_EQ(longer("tiled", many_warps), 1);
    EXPECT_EQ(longer("warp_tile", pair, 128), 1);
    on.levels.l2_bytes.value = slow.levels.l2_bytes.value = 32 << 10;
    EXPECT_GT(longer("untiled", square), 2);
    EXPECT_GT(longer("tiled", many_warps), 2);
    EXPECT_GT(longer("tiled", square), 2);
    EXPECT_GT(longer("warp_tile", pair, 128), 2);
}

// Two blocks of 8 warps in step, of which every trip of a loop loads two words of shared memory: 32
// wavefronts, for which the pipe needs less time than a warp for its trip.
TEST(Levels, BlocksInStepHaveLittleToDoInATripOfALoop) {
    LevelDevice on = h200(), quick = h200();
    on.device.sms = quick.device.sms = 1;
    quick.levels.trip_cycles.value = 1;
    const auto longer = [&](uint32_t columns, bool unrolled = false) {
        auto sized = plan("tiled", {16, 64, columns, 16});
        if (unrolled) sized->ptx = file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/nvrtc/tiled.t16.ptx");
        return (levels(*sized, on).bounds.idle_ms - levels(*sized, quick).bounds.idle_ms) * 1980 * 1e3;
    };
    const double phases = 4, trips = 15, wavefronts = 8 * 2;
    EXPECT_NEAR(longer(32), phases * (trips * 46 - 16 * 2 * wavefronts), 1e-6);
    EXPECT_NEAR(longer(16), phases * (trips * 46 - 16 * wavefronts), 1e-6);
    EXPECT_EQ(longer(32, true), 0);  // as NVRTC unrolls it
    // Four blocks have more to do, and are not in step.
    EXPECT_EQ(longer(64), 0);
}

// Three blocks on two SMs: the one that runs two idles less, since one sends its requests while the other
// waits, and is what both count as.
TEST(Levels, SmsThatRunMostBlocksIdleLess) {
    LevelDevice on = h200();
    on.levels.send_share.value = on.levels.spread_cycles.value = on.levels.spread_share.value = 1e-9;
    analysis::BlockWork work;
    work.warps = 8;
    work.barriers = true;
    for (uint32_t line = 0; line < 32; ++line) work.touches.push_back({line, 0, 1});
    work.batches.resize(1);
    work.batches[0].count = 32, work.batches[0].loads = true;
    work.batches[0].load_cycles = work.batches[0].work_cycles = 100;
    work.first_line = {100};
    analysis::LevelLaunch launch = launch_of(on, work, 32);
    launch.resident = 2;
    launch.drift = analysis::Drift::Free;  // DRAM as fast as L2
    const auto idle = [&](uint32_t blocks, uint32_t sms) {
        launch.blocks = blocks, launch.sms = sms;
        return analysis::replay_levels(on.levels, launch).misses.idle_cycles;
    };
    const double alone = on.levels.l2_cycles.value;
    EXPECT_NEAR(idle(1, 1), alone, 15);
    EXPECT_NEAR(idle(2, 1), alone - 100, 15);
    EXPECT_NEAR(idle(2, 2), 2 * alone, 30);
    EXPECT_NEAR(idle(3, 2), 2 * (alone - 100), 30);
    EXPECT_NEAR(idle(4, 2), 2 * (alone - 100), 30);
}

// Blocks on two SMs of different GPCs that ask for one line: L2 asks DRAM for it once, and the second waits
// for that where it is said to.
TEST(Levels, WhoFindsAReadUnderWayInL2MayWaitForIt) {
    LevelDevice on = h200();
    on.levels.gpcs.value = 2;
    analysis::BlockWork work;
    work.warps = 1;
    work.barriers = true;
    work.touches = {{0, 0, 1}};
    work.batches.resize(1);
    work.batches[0].count = 1, work.batches[0].loads = true;
    work.first_line = {100};
    analysis::LevelLaunch launch = launch_of(on, work);
    launch.blocks = launch.sms = 2;
    const double l2 = on.levels.l2_cycles.value, dram = on.levels.dram_cycles.value;
    for (const bool awaited : {false, true}) {
        launch.awaited = awaited;
        const analysis::LevelMisses misses = analysis::replay_levels(on.levels, launch).misses;
        EXPECT_EQ(misses.l2_read_sectors, 2);
        EXPECT_EQ(misses.dram_read_bytes, on.levels.fetch_bytes.value);
        EXPECT_NEAR(misses.wait_cycles, dram + (awaited ? dram : l2), 2 * 32);
    }
}

// A line that L1 does not hold is looked up again when it is there. Each of 16 blocks loads 4 times 16 rows
// of a tile of M and of N, and none of them twice.
TEST(Levels, LinesThatMissAreLookedUpAgain) {
    const Levels found = levels(*plan("tiled", {64, 64, 64, 16}), h200());
    EXPECT_DOUBLE_EQ(found.model.misses.l1_missed_lines, 16 * 4 * 32);
    EXPECT_EQ(found.asked.all.lines, 16u * (4 * 32 + 16));  // and 16 rows of P are stored
    // The warp's two rows of a tile lie in two lines, for which one lookup does. How many do for those that
    // come later is not known.
    EXPECT_EQ(found.asked.all.lookups, found.asked.all.lines / 2);
    EXPECT_EQ(found.lookups_again(), 0);
    EXPECT_DOUBLE_EQ(found.lookups(), static_cast<double>(found.asked.all.lookups) + found.lookups_again());
    // The warps of a tile of 32 have one line each.
    const Levels rows = levels(*plan("tiled", {64, 64, 64, 32}), h200());
    EXPECT_EQ(rows.asked.all.lookups, rows.asked.all.lines);
    EXPECT_DOUBLE_EQ(rows.lookups_again(), rows.model.misses.l1_missed_lines);
}

// An H200 answers no more loads than that allows, and where an SM has 64 warps not much less.
TEST(Levels, LookupsOfLoadsThatMissAreAsMeasured) {
    size_t rates = 0, full = 0;
    for_measured("rates.txt", "rate", [&](std::istream& words) {
        double misses = 0, warps = 0, a_clock = 0;
        words >> misses >> warps >> a_clock;
        const double most = h200().levels.lsu_per_clock.value / (1 + misses / 8);
        EXPECT_LE(a_clock, most);
        ++rates;
        if (warps < 64) return;
        EXPECT_GE(a_clock, 0.85 * most);
        ++full;
    });
    EXPECT_EQ(rates, 16u);
    EXPECT_EQ(full, 4u);
}

// The cycles of L1, L2 and DRAM were fitted to counters; one warp that follows a chain of loads waits for as
// long, to a fifth.
TEST(Levels, LoadsTakeAboutAsLongAsOneWarpWaits) {
    const analysis::LevelSpec spec = h200().levels;
    const std::map<std::string, double> modelled{
        {"l1", spec.l1_cycles.value}, {"l2", spec.l2_cycles.value}, {"dram", spec.dram_cycles.value}};
    size_t found = 0;
    for_measured("latency.txt", "latency", [&](std::istream& words) {
        std::string where;
        double cycles = 0;
        words >> where >> cycles;
        if (!modelled.contains(where)) return;
        EXPECT_NEAR(modelled.at(where) / cycles, 1, 0.2);
        const bool second = found++ >= modelled.size();
        const analysis::LevelSpec of = *find_levels(second ? "h100" : "h200");
        // What blocks in step wait is no more than was measured.
        if (where == "l1") return;
        EXPECT_EQ((where == "l2" ? of.l2_latency : of.dram_latency).value, std::floor(cycles));
    });
    EXPECT_EQ(found, 2 * modelled.size());  // of an H200, and behind it of an H100
}

// A loop that is not unrolled: T trips a phase as clang compiles them, of which the work hides nothing where
// there is one warp. NVRTC unrolls them.
TEST(Levels, TripsOfALoopTakeAsLongAsMeasured) {
    const analysis::LevelSpec spec = h200().levels;
    double measured = 0;
    for_measured("latency.txt", "trip_shared", [&](std::istream& words) { words >> measured; });
    EXPECT_LE(spec.trip_cycles.value, measured);
    EXPECT_GE(spec.trip_cycles.value, measured - 1);
    LevelDevice fast = h200();
    fast.levels.trip_cycles.value = fast.levels.shared_cycles.value;
    const auto clocks_of_trips = [&](uint32_t k, uint32_t tile, bool unrolled = false) {
        auto sized = plan("tiled", {tile, k, tile, tile});
        if (unrolled) sized->ptx = file_text(TILESCOPE_SOURCE_DIR "/tests/data/ptx/nvrtc/tiled.default.ptx");
        const Levels with = levels(*sized, h200()), without = levels(*sized, fast);
        return (with.bounds.all.back().ms - without.bounds.all.back().ms) * spec.clock_mhz.value * 1e3;
    };
    const double more = spec.trip_cycles.value - spec.shared_cycles.value;
    EXPECT_NEAR(clocks_of_trips(64, 8), 8 * 7 * more, 1e-3);  // phases, trips behind the first
    EXPECT_NEAR(clocks_of_trips(128, 8), 16 * 7 * more, 1e-3);
    EXPECT_NEAR(clocks_of_trips(64, 4), 16 * 3 * more, 1e-3);
    EXPECT_NEAR(clocks_of_trips(64, 4, true), 0, 1e-3);
}

// The least that a launch was found to take beside its work, between two events; the whole of an empty one,
// as Nsight Compute counts, is shorter.
TEST(Levels, TimeBesideTheWorkOfALaunchIsAsMeasured) {
    double least = 1e9;
    for_measured("latency.txt", "beside", [&](std::istream& words) {
        double cycles = 0, ns = 0;
        words >> cycles >> ns;
        least = std::min(least, ns);
    });
    EXPECT_EQ(h200().levels.launch_ns.value, least);
    size_t empty = 0;
    for_measured("rates.txt", "empty", [&](std::istream& words) {
        double shortest = 0;
        words >> shortest;
        EXPECT_LT(shortest, least);
        ++empty;
    });
    EXPECT_GE(empty, 1u);
}

// Two warps, and two units that ask L1 for a line each: both miss in the first, and one of them in the
// second.
TEST(Levels, WarpsWithoutBarriersWaitEachOnItsOwn) {
    LevelDevice on = h200();
    analysis::BlockWork work;
    work.warps = 2;
    work.touches = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {1, 0, 1}};
    work.warps_of = {1, 2, 1, 2};
    work.batches.resize(2);
    for (uint32_t i = 0; i < 2; ++i)
        work.batches[i].first = 2 * i, work.batches[i].count = 2, work.batches[i].loads = true;
    work.first_line = {100};
    const auto waits = [&](bool barriers) {
        work.barriers = barriers;
        analysis::LevelLaunch launch = launch_of(on, work);
        launch.drift = analysis::Drift::Free;  // DRAM as fast as L2
        return analysis::replay_levels(on.levels, launch).misses.wait_cycles;
    };
    const double l1 = on.levels.l1_cycles.value, l2 = on.levels.l2_cycles.value;
    EXPECT_NEAR(waits(false), l2 + (l1 + l2) / 2, 1);
    EXPECT_NEAR(waits(true), 2 * l2, 1);
}

TEST(LevelCounters, AreReadAndDamagedOnesRefused) {
    const std::string row =
        R"({"kernel":"tiled","m":4,"k":5,"n":6,"tile":2,"compiler":"clang","l1_sectors":100,"l1_hits":40,)"
        R"("l2_read_sectors_l1":50,"dram_read_bytes":640})";
    const std::string text = R"({"device":"NVIDIA H200","rows":[)" + row + "]}";
    const auto read = level_counters_from_json(text, "my.json");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->rows.size(), 1u);
    EXPECT_EQ(read->rows[0].shape, (Shape{4, 5, 6, 2}));
    EXPECT_EQ(read->rows[0].l2_read_sectors, 50);
    for (const auto& [from, to] : {std::pair{"\"l1_hits\":40", "\"l1_hits\":400"},
                                   {"\"tile\":2", "\"tile\":-2"},
                                   {"\"rows\"", "\"lines\""},
                                   {"{\"device\"", "[\"device\""}}) {
        std::string damaged = text;
        damaged.replace(damaged.find(from), std::string_view(from).size(), to);
        const auto refused = level_counters_from_json(damaged, "my.json");
        ASSERT_FALSE(refused) << damaged;
        EXPECT_NE(refused.error().message.find("'my.json'"), std::string::npos);
    }
    EXPECT_EQ(find_level_counters("h200", "tiled", "clang", {3, 3, 3, 2}), nullptr);
}

TEST(LevelCounters, ThatShipCountTheSectorsOfWholeTiles) {
    for (const char* compiler : {"clang", "nvrtc"})
        for (const uint32_t n : {512u, 1024u, 2048u})
            for (const uint32_t tile : {16u, 32u}) {
                const auto* row = find_level_counters("h200", "tiled", compiler, {n, n, n, tile});
                ASSERT_TRUE(row) << compiler << " " << n << " " << tile;
                const double tiles = n / tile;
                EXPECT_EQ(row->l1_sectors, tiles * tiles * tiles * 2 * tile * tile / 8);
                EXPECT_GE(row->dram_read_bytes, 2.0 * n * n * 4);
            }
}

TEST(LevelSpec, EveryFigureHasItsSource) {
    for (const char* id : {"h100", "h200"}) {
        const analysis::LevelSpec* const spec = find_levels(id);
        ASSERT_TRUE(spec) << id;
        for (const auto& name : analysis::level_figures()) EXPECT_GT((spec->*name.figure).source.size(), 20u);
    }
    EXPECT_FALSE(find_levels("g80"));
}

TEST(LevelSpec, DamagedFiguresAreRefused) {
    const std::string text = file_text(TILESCOPE_SOURCE_DIR "/assets/devices/h200.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos);
        return analysis::levels_from_json(changed.replace(at, from.size(), to), "my.json");
    };
    ASSERT_TRUE(with("\"levels\"", "\"levels\""));
    EXPECT_FALSE(*with("\"levels\"", "\"others\""));
    for (const auto& [from, to] : {std::pair{"\"l1_bytes\"", "\"l1\""},
                                   {"262144", "0"},
                                   {"262144", "-1"},
                                   {"262144", "1e12"},
                                   {"\"documented\"", "\"known\""}}) {
        const auto damaged = with(from, to);
        ASSERT_FALSE(damaged) << to;
        EXPECT_NE(damaged.error().message.find("'my.json'"), std::string::npos);
        EXPECT_NE(damaged.error().message.find("l1_bytes"), std::string::npos) << damaged.error().message;
    }
}

}  // namespace
}  // namespace tilescope::kernels
