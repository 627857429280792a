// What is said to bound a kernel: the sentence holds the figures that it is made of, whichever resource is
// the longest, and the bars are in order beside what was measured.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/timing/model.h"
#include "kernels/textbook/devices.h"
#include "tests/h200.h"

namespace tilescope::timing {
namespace {

using analysis::Levels;

// 64 x 64 x 64: 8,192 multiply-adds of a warp.
constexpr uint32_t kTiledWidth = 64;
constexpr uint64_t kMultiplyAdds = uint64_t{kTiledWidth} * kTiledWidth * kTiledWidth / 32;
BoundsOf tiled_launch() { return {"h200", "nvrtc", "tiled", kTiledWidth, 16, 32}; }

Levels bound_by(const char* resource) {
    Levels levels;
    levels.launch.blocks = levels.model.simulated = 132;  // one an SM
    levels.launch.resident = 8;
    levels.asked.all.passes = kMultiplyAdds;
    levels.asked.all.wavefronts = kMultiplyAdds * 7 / 8;
    levels.asked.all.accesses = kMultiplyAdds * 5 / 4;
    levels.asked.all.instructions = kMultiplyAdds * 9 / 2;
    levels.asked.all.fp32 = kMultiplyAdds * 3;
    levels.asked.all.tensor = kMultiplyAdds * kWarpSize * 5 / 4;
    levels.asked.all.l1_sectors = 1000;
    levels.asked.all.stored_sectors = 125;  // 4,000 bytes
    levels.model.misses.l2_read_sectors = 2500;
    levels.model.misses.dram_read_bytes = 2e6;
    levels.model.misses.latency_cycles = 132 * 4321.;
    levels.model.l1_hit_rate = 0.625;
    double ms = 1;
    for (const char* one : {"dram", "l2", "data_pipe", "lsu", "issue", "fp32", "tensor", "latency"}) {
        if (one == std::string_view(resource)) levels.bounds.bound_by = levels.bounds.all.size();
        levels.bounds.all.push_back(
            {one, one == std::string_view(resource) ? 10 : ms++, "what it is made of"});
    }
    return levels;
}

TEST(Bounds, TheSentenceHoldsTheFiguresOfEveryResource) {
    const analysis::LevelDevice on = h200();
    const std::pair<const char*, std::string> kSaid[] = {
        {"dram", fmt::format("Bound by DRAM: 2.00 MB read and 4.00 kB stored, at {} GB/s.",
                             draw::figure(on.device.memory_gbs))},
        {"l2", fmt::format("Bound by L2: 80.0 kB read and 4.00 kB stored, at {} bytes a clock.",
                           draw::figure(on.levels.l2_per_clock.value))},
        {"data_pipe", "Bound by the L1 data pipe: 1.88 passes for each multiply-add of a warp, one a clock."},
        {"lsu",
         "Bound by the load/store units: 1.25 loads and stores for each multiply-add of a warp, one a "
         "clock."},
        {"issue", "Bound by issue slots: 4.50 instructions for each multiply-add of a warp, 4 a clock."},
        {"fp32",
         "Bound by the fp32 units: 3.00 fp32 instructions for each multiply-add of a warp, 4 a clock."},
        {"tensor", "Bound by the tensor cores: 1.25 multiply-adds for each of the product's, 2,048 a clock."},
        {"latency", "Bound by latency: a block waits 4,321 cycles for its data, and an SM holds 8 blocks."},
    };
    for (const auto& [resource, said] : kSaid) {
        const BoundChart chart = bound_chart(tiled_launch(), bound_by(resource), on, {});
        EXPECT_EQ(chart.sentence, said + " L1 finds 62.5 % of the sectors that it is asked for.");
        EXPECT_TRUE(chart.bars.front().marked) << resource;
        EXPECT_EQ(std::ranges::count_if(chart.bars, &BoundBar::marked), 1) << resource;
        EXPECT_EQ(chart.bars.front().rests_on, chart.rests_on.substr(0, chart.bars.front().rests_on.size()));
    }
}

TEST(Bounds, LookupsBoundTheLoadStoreUnitsWhereTheyAreMore) {
    Levels levels = bound_by("lsu");
    const auto sentence = [&] { return bound_chart(tiled_launch(), levels, h200(), {}).sentence; };
    levels.asked.all.lookups = levels.asked.all.accesses;
    EXPECT_NE(sentence().find("1.25 loads and stores for each multiply-add"), std::string::npos)
        << sentence();
    levels.asked.all.lookups = kMultiplyAdds * 8;
    EXPECT_NE(sentence().find("8.00 lookups of tags for each multiply-add"), std::string::npos) << sentence();
}

TEST(Bounds, BarsStandInOrderBelowTheMeasuredOne) {
    kernels::Timing row;
    row.median_ms = 12.5, row.low_ms = 12, row.high_ms = 13, row.runs = 20;
    const BoundChart chart = bound_chart(tiled_launch(), bound_by("issue"), h200(), {.measured = &row});
    ASSERT_EQ(chart.bars.size(), 9u);
    EXPECT_TRUE(chart.bars[0].measured);
    EXPECT_TRUE(std::ranges::is_sorted(chart.bars, std::greater{}, &BoundBar::value));
    EXPECT_EQ(chart.bars[1].name, "issue slots");
    EXPECT_NE(chart.note.find("Measured: 1.25 times the longest."), std::string::npos) << chart.note;
    // A time below a bound is said to be one: then the model is wrong.
    row.median_ms = 8;
    const BoundChart below = bound_chart(tiled_launch(), bound_by("issue"), h200(), {.measured = &row});
    EXPECT_NE(below.note.find("0.80 times the longest, which is modelled as more than it is"),
              std::string::npos)
        << below.note;
}

// Each says what it rests on, and a figure that is only assumed says so.
// Where blocks do not come out even, what some SM runs more is said; DRAM serves all SMs together.
TEST(Bounds, TheBusiestSmIsSaid) {
    const auto sentence = [](const char* resource, uint64_t blocks) {
        Levels levels = bound_by(resource);
        levels.launch.blocks = blocks;
        return bound_chart(tiled_launch(), levels, h200(), {}).sentence;
    };
    EXPECT_NE(sentence("issue", 192).find("4 a clock; 192 blocks on 132 SMs, so that one runs 2."),
              std::string::npos)
        << sentence("issue", 192);
    EXPECT_EQ(sentence("issue", 1310).find("SMs"), std::string::npos);
    EXPECT_EQ(sentence("dram", 192).find("SMs"), std::string::npos);
}

// Waits that nothing hides are said where they are a part of the bound that one sees, and only of resources
// of SMs.
TEST(Bounds, WhatAllBlocksWaitIsSaid) {
    Levels levels = bound_by("issue");
    const auto said = [&] { return bound_chart(tiled_launch(), levels, h200(), {}).sentence; };
    levels.bounds.idle_ms = 0.3;  // of 10
    EXPECT_EQ(said().find("wait"), std::string::npos) << said();
    levels.bounds.idle_ms = 2.5;
    EXPECT_NE(said().find("4 a clock; for 2.50 ms the 8 blocks of an SM wait for data at once."),
              std::string::npos)
        << said();
    levels.launch.resident = 1;
    EXPECT_NE(said().find("; for 2.50 ms an SM's block waits for data."), std::string::npos) << said();
    levels.launch.resident = 2, levels.launch.in_step = true;
    const BoundChart chart = bound_chart(tiled_launch(), levels, h200(), {});
    EXPECT_NE(
        chart.rests_on.find("For 2.50 ms of 10.00 ms all blocks of an SM wait for data, modelled: few warps"),
        std::string::npos)
        << chart.rests_on;
    levels.launch.resident = 8, levels.bounds.sending_ms = 1;
    EXPECT_NE(bound_chart(tiled_launch(), levels, h200(), {})
                  .rests_on.find("all blocks of an SM wait for data, or send what they store, modelled"),
              std::string::npos);
    EXPECT_NE(said().find("wait for data at once, or send what they store."), std::string::npos) << said();
    levels.bounds.sending_ms = 0.1;
    EXPECT_EQ(said().find("send"), std::string::npos) << said();
    levels = bound_by("dram");
    levels.bounds.idle_ms = 2.5;
    EXPECT_EQ(said().find("wait"), std::string::npos) << said();
}

TEST(Bounds, WhatSmsSendIsSaidWhereItBinds) {
    Levels levels = bound_by("l2");
    levels.bounds.all[levels.bounds.bound_by].of =
        "4,096 sectors that SMs send for what they store, 2 a clock each";
    const auto chart = [&] { return bound_chart(tiled_launch(), levels, h200(), {}); };
    EXPECT_EQ(chart().sentence.find("send"), std::string::npos) << chart().sentence;
    levels.bounds.by_sending = true;
    EXPECT_NE(chart().sentence.find("4,096 sectors that SMs send for what they store, 2 a clock each"),
              std::string::npos)
        << chart().sentence;
    for (const BoundBar& bar : chart().bars)
        EXPECT_EQ(bar.rests_on.find("stores.txt") != std::string::npos, bar.name == "L2") << bar.rests_on;
}

TEST(Bounds, EveryBarHasItsSources) {
    const analysis::LevelDevice on = h200();
    Levels levels = bound_by("l2");
    levels.launch.blocks = 1600;
    for (const BoundBar& bar : bound_chart(tiled_launch(), levels, on, {}).bars) {
        EXPECT_NE(bar.rests_on.find("what it is made of"), std::string::npos) << bar.name;
        EXPECT_NE(bar.rests_on.find("documented"), std::string::npos) << bar.name;
        const bool modelled = bar.name == "DRAM" || bar.name == "L2" || bar.name == "latency";
        EXPECT_EQ(bar.rests_on.find("modelled by the first 132 of 1,600 blocks") != std::string::npos,
                  modelled)
            << bar.rests_on;
        if (bar.name == "L2") EXPECT_NE(bar.rests_on.find("(assumed: "), std::string::npos) << bar.rests_on;
    }
}

// As LEVELS counts it: L1 is asked for 1,000 sectors less, L2 for 50 less.
TEST(Bounds, WhatL1CaughtIsWhatL2WasNotSpared) {
    kernels::LevelCounterRow untiled, tiled;
    untiled.l1_sectors = 1200, untiled.l2_read_sectors = 150;
    tiled.l1_sectors = 200, tiled.l2_read_sectors = 100;
    ASSERT_TRUE(caught_of_saved(untiled, tiled));
    EXPECT_DOUBLE_EQ(*caught_of_saved(untiled, tiled), 0.95);
    const BoundsBeside beside{.counted = &tiled, .untiled = &untiled};
    const BoundChart chart = bound_chart(tiled_launch(), bound_by("issue"), h200(), beside);
    EXPECT_TRUE(chart.sentence.ends_with(" L1 caught 95 % of what tiles were to save.")) << chart.sentence;
    EXPECT_NE(chart.rests_on.find("measured by Nsight Compute"), std::string::npos);
    tiled.l2_read_sectors = 160;  // more than without tiles
    EXPECT_TRUE(bound_chart(tiled_launch(), bound_by("issue"), h200(), beside)
                    .sentence.ends_with(" L1 caught all that tiles were to save."));
    EXPECT_FALSE(caught_of_saved(tiled, untiled)) << "nothing was to be saved";
}

TEST(Bounds, WhatTheMachineCodeDidStandsBesideWhatThePtxSays) {
    kernels::LevelCounterRow counted;
    counted.l1_sectors = 100, counted.instructions = 31'200'000;
    for (const BoundBar& bar :
         bound_chart(tiled_launch(), bound_by("issue"), h200(), {.counted = &counted}).bars) {
        const bool said = bar.rests_on.find("Nsight Compute counted it: 31.2 M.") != std::string::npos;
        EXPECT_EQ(said, bar.name == "issue slots") << bar.rests_on;
    }
}

TEST(Bounds, AllBarsAreInOneUnit) {
    EXPECT_EQ(in_ms(0.0321, 0.337), "0.032 ms");
    EXPECT_EQ(in_ms(0.00012, 0.337), "<0.001 ms");
    EXPECT_EQ(in_ms(0, 0.337), "0.000 ms");
    EXPECT_EQ(in_ms(275.06, 275.06), "275.1 ms");
    EXPECT_EQ(in_ms(0.0089, 0.0153), "0.0089 ms");
}

// A launch that ships, through the job: counted sums are closed forms, and what was worked out is kept.
TEST(Bounds, AreWorkedOutOnceInAJob) {
    session::Jobs jobs;
    Bounds bounds;
    const BoundsOf of{"h200", "clang", "tiled", 64, 16, 32};
    EXPECT_EQ(bounds.find(of), nullptr);
    EXPECT_FALSE(bounds.ask(of, jobs, true)) << "it was waited for";
    const Result<Levels>* const made = bounds.find(of);
    ASSERT_NE(made, nullptr);
    ASSERT_TRUE(*made) << made->error().message;
    // Each of 64^2 threads loads 2 * 64 / 16 elements.
    EXPECT_EQ((*made)->asked.all.requested_bytes, 64u * 64 * 8 * 4);
    // Of 16 blocks each of 8 warps makes 2 of them in each of 4 phases.
    EXPECT_EQ((*made)->asked.all.loads, 16u * 8 * 2 * 4);
    EXPECT_EQ((*made)->asked.all.load_turns, 16u * 4);
    EXPECT_FALSE(bounds.ask(of, jobs, false));
    EXPECT_FALSE(bounds.working.begun()) << "it is known";
    // Another one takes the place of what is being worked out.
    const BoundsOf unknown{"h200", "nvcc", "tiled", 64, 3, 32};
    bounds.ask(unknown, jobs, true);
    ASSERT_NE(bounds.find(unknown), nullptr);
    EXPECT_FALSE(*bounds.find(unknown)) << "no such PTX ships";
}

}  // namespace
}  // namespace tilescope::timing
