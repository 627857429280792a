// The grid at work: bars recounted step by step, moments against a slow twin, and what is said of it.
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "app/look/grid_at_work.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using look::GridAtWork, look::GridMoment;

analysis::Recording opened_shipped(const char* name) {
    const auto* const shipped = kernels::find_shipped_recording(name);
    EXPECT_NE(shipped, nullptr) << name;
    auto trace = kernels::open_shipped(*shipped);
    EXPECT_TRUE(trace);
    auto recording = analysis::opened(std::move(*trace));
    EXPECT_TRUE(recording);
    return std::move(*recording);
}
analysis::Recording opened_recording(trace::Trace trace) {
    auto recording = analysis::opened(std::move(trace));
    EXPECT_TRUE(recording);
    return std::move(*recording);
}

// Every block's SM, and its least and greatest clock of all of its steps, from the first of its SM on.
void expect_recounted(const trace::Trace& trace, const GridAtWork& grid) {
    std::map<uint32_t, uint64_t> zero;
    const auto clock = [&](const trace::Block& block, uint64_t step) {
        return block.clock + trace.time[step] - trace.time[block.first];
    };
    for (const trace::Block& block : trace.blocks)
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const auto [at, fresh] = zero.try_emplace(block.sm, clock(block, step));
            at->second = std::min(at->second, clock(block, step));
        }
    ASSERT_EQ(grid.runs.size(), trace.blocks.size());
    uint64_t end = 0;
    for (size_t at = 0; at < trace.blocks.size(); ++at) {
        const trace::Block& block = trace.blocks[at];
        uint64_t least = UINT64_MAX, most = 0;
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            least = std::min(least, clock(block, step)), most = std::max(most, clock(block, step));
        const uint64_t number = (uint64_t{block.z} * grid.grid.y + block.y) * grid.grid.x + block.x;
        const analysis::BlockRun& run = grid.runs[number];
        EXPECT_EQ(run.sm, block.sm);
        EXPECT_EQ(run.begin, least - zero.at(block.sm));
        EXPECT_EQ(run.end, most - zero.at(block.sm) + 1);
        EXPECT_EQ(grid.recorded[number], at);
        end = std::max(end, run.end);
    }
    EXPECT_EQ(grid.end, end);
}

// No two blocks are in a slot of an SM at one time, each lies in the first slot that is free when it begins, and
// an SM's blocks stand as they begin.
void expect_slots(const GridAtWork& grid) {
    for (uint32_t sm = 0; sm < grid.sms; ++sm)
        for (size_t at = 0; at < grid.of_sm[sm].size(); ++at) {
            const analysis::BlockRun& run = grid.runs[grid.of_sm[sm][at]];
            EXPECT_EQ(run.sm, sm);
            EXPECT_LT(run.slot, grid.slots);
            std::vector<bool> taken(grid.slots, false);
            for (size_t before = 0; before < at; ++before) {
                const analysis::BlockRun& other = grid.runs[grid.of_sm[sm][before]];
                EXPECT_LE(other.begin, run.begin);
                if (other.end > run.begin) taken[other.slot] = true;
            }
            EXPECT_EQ(run.slot, std::ranges::find(taken, false) - taken.begin());
        }
}

GridMoment counted_slowly(const GridAtWork& grid, uint64_t now) {
    GridMoment made;
    std::vector<bool> works(grid.sms, false);
    for (const analysis::BlockRun& run : grid.runs) {
        made.done += now >= run.end;
        made.running += now >= run.begin && now < run.end;
        if (now >= run.begin && now < run.end) works[run.sm] = true;
    }
    made.idle = static_cast<uint32_t>(std::ranges::count(works, false));
    return made;
}

void expect_moments(const GridAtWork& grid, uint32_t seed) {
    std::mt19937_64 random(seed);
    std::vector<uint64_t> times{0, grid.end, grid.end + 1, grid.end - 1, grid.first_idle};
    for (int i = 0; i < 60; ++i) times.push_back(random() % (grid.end + 2));
    for (int i = 0; i < 20; ++i) times.push_back(grid.runs[random() % grid.runs.size()].end);
    for (const uint64_t now : times) {
        const GridMoment fast = moment(grid, now), slow = counted_slowly(grid, now);
        EXPECT_EQ(fast.running, slow.running) << now;
        EXPECT_EQ(fast.done, slow.done) << now;
        EXPECT_EQ(fast.idle, slow.idle) << now;
    }
}

TEST(GridAtWork, EveryBarIsWhatTheBlockRecorded) {
    for (const char* name : {"untiled-512x8x512-t16", "untiled-1024x4x1024-t32", "tiled-64x64x64-t16"}) {
        SCOPED_TRACE(name);
        const analysis::Recording recording = opened_shipped(name);
        const GridAtWork grid = look::grid_at_work(recording);
        ASSERT_TRUE(grid.measured) << grid.why_modelled;
        EXPECT_EQ(grid.sms, 132u);
        expect_recounted(*recording.trace, grid);
        expect_slots(grid);
        expect_moments(grid, 1);
    }
}

// What the recordings that ship were made to show.
TEST(GridAtWork, TheShippedGridsHaveOneWaveAndSeveral) {
    const GridAtWork one = look::grid_at_work(opened_shipped("untiled-512x8x512-t16"));
    EXPECT_EQ(one.slots, 8u);
    EXPECT_EQ(one.places(), 1056u);
    EXPECT_EQ(look::headlines(one).front(),
              "1,024 blocks on 132 SMs, up to 8 at once on each: one wave of 1,056 slots is not full, 32 "
              "stay empty.");
    const GridAtWork waves = look::grid_at_work(opened_shipped("untiled-1024x4x1024-t32"));
    EXPECT_EQ(waves.slots, 2u);
    EXPECT_NE(look::headlines(waves).front().find("3 waves of 264 and a last one of 232."),
              std::string::npos);
    EXPECT_GT(waves.first_idle, 0u);
    EXPECT_LT(waves.first_idle, waves.end);
    const GridAtWork small = look::grid_at_work(opened_shipped("tiled-64x64x64-t16"));
    EXPECT_EQ(small.unused, 116u);
    EXPECT_EQ(look::headlines(small).front(),
              "16 blocks on 132 SMs: the grid is too small, 116 SMs get no block.");
    EXPECT_EQ(moment(small, 0).idle, 116u);
}

TEST(GridAtWork, RandomClocksAreRecounted) {
    std::mt19937 random(3);
    for (int round = 0; round < 30; ++round) {
        trace::Trace trace = trace::with_clocks(kernels::recorded("tiled", {16, 8, 24, 4}));
        for (trace::Block& block : trace.blocks)
            block.sm = random() % 5, block.clock = 1'000'000'000ull * block.sm + random() % 9000;
        const analysis::Recording recording = opened_recording(std::move(trace));
        const GridAtWork grid = look::grid_at_work(recording);
        ASSERT_TRUE(grid.measured);
        expect_recounted(*recording.trace, grid);
        expect_slots(grid);
        expect_moments(grid, static_cast<uint32_t>(round));
    }
}

// What has no clocks of the whole grid is modelled, and says why.
TEST(GridAtWork, ModelsWhatWasNotRecorded) {
    const trace::Trace cpu = kernels::recorded("tiled", {64, 64, 64, 16});
    const GridAtWork grid = look::grid_at_work(opened_recording(cpu));
    EXPECT_FALSE(grid.measured);
    EXPECT_NE(grid.why_modelled.find("no clocks"), std::string::npos);
    EXPECT_EQ(grid.sms, 132u) << "an H200's";
    EXPECT_FALSE(grid.equal_times);
    EXPECT_EQ(grid.runs,
              analysis::deal(16, 132, grid.slots, [&](uint64_t block) { return cpu.blocks[block].count; }));
    expect_moments(grid, 5);

    const analysis::Recording window = opened_shipped("tiled-1024x1024x1024-t16-window");
    const GridAtWork part = look::grid_at_work(window);
    EXPECT_EQ(part.why_modelled, "Only 4 of 4,096 blocks were recorded.");
    EXPECT_TRUE(part.equal_times);
    EXPECT_EQ(part.runs.size(), 4096u);
    EXPECT_EQ(
        part.recorded.size() - static_cast<size_t>(std::ranges::count(part.recorded, look::kNotRecorded)),
        4u);
    EXPECT_EQ(part.end, (4096 + part.places() - 1) / part.places() * look::kBlockTime) << "equal waves";

    for (const auto& [why, damage] : std::vector<std::pair<std::string, void (*)(trace::Trace&)>>{
             {"in 3 launches", [](trace::Trace& t) { t.meta.price.launches = 3; }},
             {"run backwards", [](trace::Trace& t) { t.time[t.blocks[1].first] = 4'000'000'000u; }},
             {"SM 4294967295", [](trace::Trace& t) { t.blocks[2].sm = UINT32_MAX; }}}) {
        trace::Trace damaged = trace::with_clocks(kernels::recorded("tiled", {4, 4, 4, 2}));
        damage(damaged);
        const GridAtWork made = look::grid_at_work(opened_recording(std::move(damaged)));
        EXPECT_FALSE(made.measured);
        EXPECT_NE(made.why_modelled.find(why), std::string::npos) << made.why_modelled;
    }
    // Another device is asked what it would do.
    const analysis::DeviceSpec small = *kernels::device_named("rtx-3090");
    const GridAtWork asked = look::grid_at_work(opened_shipped("untiled-512x8x512-t16"), &small);
    EXPECT_FALSE(asked.measured);
    EXPECT_EQ(asked.sms, small.sms);
    for (const GridAtWork* one : {&grid, &part, &asked})
        for (const std::string& words : look::rests_on(*one)) EXPECT_TRUE(words.starts_with("Modelled"));
}

// A grid beyond what is dealt is dealt so far, in a time that nobody waits for.
TEST(GridAtWork, AHugeGridIsDealtInPart) {
    trace::Trace trace = kernels::recorded("tiled", {4, 4, 4, 2});
    trace.launch.grid = {65535, 65535, 1};
    analysis::Recording recording = opened_recording(kernels::recorded("tiled", {4, 4, 4, 2}));
    recording.trace = std::make_shared<const trace::Trace>(std::move(trace));
    const GridAtWork grid = look::grid_at_work(recording);
    EXPECT_EQ(grid.runs.size(), look::kMostDealt);
    EXPECT_EQ(grid.blocks(), uint64_t{65535} * 65535);
}

// Why each SM begins at 0: what a GPU answered about its clocks (clocks.txt). Read at one moment they are either
// equal, within a turn of the loop that reads them, or far apart; and SMs that begin together by the timer
// begin millions of clocks apart.
TEST(SmClocks, HaveNoCommonZero) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/clocks.txt");
    ASSERT_TRUE(file);
    std::vector<int64_t> ahead;
    int64_t apart_ns = 0, apart_clocks = 0;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string what;
        int64_t sm = 0, low = 0, high = 0;
        if (in >> what && what == "sm" && in >> sm >> low >> high) {
            EXPECT_EQ(sm, static_cast<int64_t>(ahead.size()));
            EXPECT_LE(high - low, 100) << "all run equally fast";
            ahead.push_back(low);
        }
        if (what == "blocks") in >> apart_ns >> apart_clocks;
    }
    ASSERT_EQ(ahead.size(), 132u);
    std::ranges::sort(ahead);
    size_t groups = 1;
    for (size_t at = 1; at < ahead.size(); ++at) {
        const int64_t gap = ahead[at] - ahead[at - 1];
        EXPECT_TRUE(gap < 100 || gap > 10'000) << gap;
        groups += gap > 10'000;
    }
    EXPECT_EQ(groups, 8u) << "GPCs";
    EXPECT_EQ(apart_ns, 160);
    EXPECT_GT(apart_clocks, 1'000'000);
}

}  // namespace
}  // namespace tilescope::app
