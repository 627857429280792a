// Whether latency is hidden: Little's law in closed form, and the words and bars made of it.
#include <gtest/gtest.h>

#include "app/timing/latency.h"
#include "kernels/textbook/devices.h"
#include "tests/h200.h"

namespace tilescope::timing {
namespace {

using analysis::Levels;

BoundsOf untiled_launch(const char* compiler) { return {"h200", compiler, "untiled", 1024, 32, 32}; }

// 1,056 blocks of 32 warps, two on an SM at once. A block has 100 units, each of `loads` loads a warp, and a
// unit takes 400 clocks. The data pipe needs `pipe_clocks` clocks for a unit of a block.
Levels levels_of(uint64_t loads, double pipe_clocks, const analysis::LevelDevice& on) {
    Levels levels;
    levels.launch.blocks = levels.model.simulated = 1056;
    levels.launch.resident = 2;
    levels.asked.all.load_turns = levels.launch.blocks * 100;
    levels.asked.all.loads = levels.asked.all.loads_ahead = levels.asked.all.load_turns * 32 * loads;
    levels.asked.all.instructions = 1024ull * 1024 * 1024 / 32 * 5;
    levels.model.misses.latency_cycles = 400. * static_cast<double>(levels.asked.all.load_turns);
    const double a_ms = on.levels.clock_mhz.value * 1e3;
    const double units_of_sm = static_cast<double>(levels.asked.all.load_turns) / on.device.sms;
    levels.bounds.all = {{"dram", 0.001, ""},
                         {"data_pipe", units_of_sm * pipe_clocks / a_ms, ""},
                         {"latency", units_of_sm * 400 / 2 / a_ms, ""}};
    levels.bounds.bound_by = levels.bounds.all[1].ms > levels.bounds.all[2].ms ? 1 : 2;
    return levels;
}

// Latency is the bound just where less is in flight than would have to be: both are one sum.
TEST(Latency, IsLittlesLaw) {
    const analysis::LevelDevice on = h200();
    for (const uint64_t loads : {1, 2, 8})
        for (const double pipe : {64., 128., 199., 201., 500.}) {
            const Levels levels = levels_of(loads, pipe, on);
            const LoadFlow flow = flow_of(untiled_launch("clang"), levels, on);
            EXPECT_DOUBLE_EQ(flow.warps, 64);
            EXPECT_DOUBLE_EQ(flow.loads, static_cast<double>(loads));
            EXPECT_DOUBLE_EQ(flow.wait, 400);
            EXPECT_EQ(flow.roof, 1u);
            EXPECT_NEAR(flow.a_clock, 32 * static_cast<double>(loads) / pipe, 1e-9);
            EXPECT_EQ(flow.in_flight() < flow.needed(flow.wait), levels.bounds.bound_by == 2)
                << loads << pipe;
        }
}

TEST(Latency, FewBlocksDoNotFillAnSm) {
    const analysis::LevelDevice on = h200();
    Levels levels = levels_of(2, 128, on);
    levels.launch.blocks = on.device.sms;  // one each
    EXPECT_DOUBLE_EQ(flow_of(untiled_launch("clang"), levels, on).warps, 32);
    levels.asked.all.load_turns = 0;  // a kernel that loads nothing
    EXPECT_EQ(flow_of(untiled_launch("clang"), levels, on).in_flight(), 0);
}

TEST(Latency, TheSentenceSaysWhetherThereIsEnoughInFlight) {
    const analysis::LevelDevice on = h200();
    EXPECT_EQ(
        latency_chart(untiled_launch("clang"), levels_of(2, 128, on), on, {}, nullptr).sentence,
        "An SM holds 64 warps, each with 2 loads in flight: 128. A warp loads again after 400 clocks at "
        "least, and the L1 data pipe takes 0.5 loads a clock: 200 would be needed.");
    const LatencyChart enough =
        latency_chart(untiled_launch("nvrtc"), levels_of(8, 512, on), on, {}, nullptr);
    EXPECT_EQ(
        enough.sentence,
        "An SM holds 64 warps, each with 8 loads in flight: 512. A warp loads again after 400 clocks at "
        "least, and the L1 data pipe takes 0.5 loads a clock: 200 are enough.");
    ASSERT_EQ(enough.flights.size(), 5u);
    EXPECT_EQ(enough.flights[0].figure, "512");
    EXPECT_TRUE(enough.flights[0].marked);
    EXPECT_DOUBLE_EQ(enough.flights[2].value, on.levels.l1_cycles.value / 2);
    EXPECT_DOUBLE_EQ(enough.flights[3].value, on.levels.l2_cycles.value / 2);
    EXPECT_DOUBLE_EQ(enough.flights[4].value, on.levels.dram_cycles.value / 2);
    EXPECT_EQ(enough.flights[1].figure, "200");
    EXPECT_TRUE(enough.stalls.empty()) << "nobody counted";
    EXPECT_TRUE(enough.compilers.empty());
}

TEST(Latency, StallsAreSharesOfTheWarpsTimeTheLongestFirst) {
    const analysis::LevelDevice on = h200();
    kernels::LevelCounterRow row;
    row.stalls = {{"barrier", 1}, {"long_scoreboard", 6}, {"selected", 1}, {"wait", 0.5}, {"drain", 1.5}};
    const auto stalls =
        latency_chart(untiled_launch("clang"), levels_of(2, 128, on), on, {.counted = &row}, nullptr).stalls;
    ASSERT_EQ(stalls.size(), 4u) << "a warp that issues does not wait";
    EXPECT_EQ(stalls[0].name + " " + stalls[0].figure, "long scoreboard 60 %");
    EXPECT_EQ(stalls[1].name + " " + stalls[1].figure, "drain 15 %");
    EXPECT_TRUE(stalls[0].measured);
}

// Every launch that was counted has its stalls; they and those that issue are all warps.
TEST(Latency, TheStallsThatShipAreRead) {
    const kernels::LevelCounterRow* const row =
        kernels::find_level_counters("h200", "untiled", "clang", {1024, 1024, 1024, 32});
    ASSERT_NE(row, nullptr);
    double all = 0, longest = 0;
    for (const auto& [state, warps] : row->stalls) all += warps, longest = std::max(longest, warps);
    EXPECT_EQ(row->stalls.size(), 13u);
    EXPECT_GT(longest / all, 0.5) << "it waits for memory most of the time";
}

TEST(Latency, TheDifferenceOfCompilersIsSaid) {
    const analysis::LevelDevice on = h200();
    kernels::Timing slow, fast;
    slow.median_ms = 0.672, fast.median_ms = 0.352;
    Levels one = levels_of(2, 128, on);
    Levels other = levels_of(8, 512, on);
    const ByCompiler by{untiled_launch("nvrtc"), &other, &fast};
    const LatencyChart chart = latency_chart(untiled_launch("clang"), one, on, {.measured = &slow}, &by);
    ASSERT_EQ(chart.compilers.size(), 2u);
    EXPECT_EQ(chart.compilers[0].loads + chart.compilers[1].loads, "28");
    EXPECT_EQ(chart.compilers[0].instructions, "5.00");
    EXPECT_EQ(chart.difference,
              "clang's PTX takes 1.91 times as long as NVRTC's: NVRTC unrolls the loop, so that a warp has 8 "
              "loads in flight and not 2.");
    const auto difference = [&] {
        return latency_chart(untiled_launch("clang"), one, on, {.measured = &slow}, &by).difference;
    };
    // Another bound of the slower one has another reason.
    other.asked.all.instructions /= 2;
    one.bounds.all[2].ms = 0, one.bounds.bound_by = 1, one.bounds.all[1].resource = "issue";
    EXPECT_EQ(difference(),
              "clang's PTX takes 1.91 times as long as NVRTC's: NVRTC needs 2.50 instructions for each "
              "multiply-add of a warp and not 5.00.");
    one.bounds.all[1].resource = "data_pipe";
    one.asked.all.wavefronts = 1024ull * 1024 * 1024 / 32 * 3,
    other.asked.all.wavefronts = one.asked.all.wavefronts / 2;
    EXPECT_EQ(difference(),
              "clang's PTX takes 1.91 times as long as NVRTC's: NVRTC needs 1.50 passes of the data pipe for "
              "each multiply-add of a warp and not 3.00.");
    one.bounds.all[1].resource = "dram";
    EXPECT_EQ(difference(), "clang's PTX takes 1.91 times as long as NVRTC's.");
    fast.median_ms = 0.67;
    EXPECT_EQ(difference(), "The PTX of both compilers takes about as long.");
    EXPECT_TRUE(latency_chart(untiled_launch("clang"), one, on, {}, &by).compilers.empty())
        << "it was not timed";
}

}  // namespace
}  // namespace tilescope::timing
