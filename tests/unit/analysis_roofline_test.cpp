// The roofs by closed forms, and what a recording asked of memory against sums by hand.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/limits/roofline.h"
#include "tests/launches.h"
#include "tests/opened.h"
#include "tests/unit/analysis_sm.h"

namespace tilescope::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Roofline, TheTwoRoofsMeetAtTheRidge) {
    const Roof roof{"", 86.4, 367};
    EXPECT_DOUBLE_EQ(ridge(roof), 367 / 86.4);
    EXPECT_DOUBLE_EQ(bound_gflops(roof, ridge(roof)), 367);
    EXPECT_DOUBLE_EQ(bound_gflops(roof, ridge(roof) / 2), 367 / 2.0);
    EXPECT_DOUBLE_EQ(bound_gflops(roof, ridge(roof) * 2), 367);
    EXPECT_EQ(bound_gflops(roof, 0), 0);
    EXPECT_DOUBLE_EQ(operands_per_second(roof), 21.6);
    EXPECT_EQ(bound_gflops(roof, kInfinity), 367) << "what asks nothing of memory";
}

TEST(Roofline, BoundsNeverRiseAboveEitherRoofAndNeverFall) {
    const Roof roof{"", 936.2, 35580};
    double before = 0;
    for (double intensity = 0.01; intensity < 1000; intensity *= 1.1) {
        const double bound = bound_gflops(roof, intensity);
        EXPECT_LE(bound, roof.peak_gflops);
        EXPECT_LE(bound, roof.memory_gbs * intensity);
        EXPECT_GE(bound, before);
        before = bound;
    }
    EXPECT_EQ(before, roof.peak_gflops);
}

TEST(Roofline, WithoutAPeakMemoryAloneBounds) {
    const Roof roof{"", 150, 0};
    EXPECT_FALSE(roof.has_peak());
    EXPECT_EQ(bound_gflops(roof, 4), 600);
    EXPECT_EQ(bound_gflops(roof, 4000), 600'000);
    EXPECT_EQ(ridge(roof), 0);
    const RoofPoint point = bound_point("", roof, 4);
    EXPECT_EQ(point.share_of_peak, 0);
    EXPECT_TRUE(point.memory_bound);
    EXPECT_EQ(ridge({"", 0, 100}), 0);
}

TEST(Roofline, PointsSayWhichTheyAre) {
    const Roof roof{"", 1000, 12000};
    const RoofPoint bound = bound_point("b", roof, 0.25), measured = measured_point("m", roof, 0.25, 900);
    EXPECT_EQ(bound.kind, Kind::Bound);
    EXPECT_EQ(bound.gflops, 250);
    EXPECT_DOUBLE_EQ(bound.share_of_peak, 250.0 / 12000);
    EXPECT_EQ(measured.kind, Kind::Measured);
    EXPECT_EQ(measured.gflops, 900) << "a clock is not cut at a bound";
    EXPECT_TRUE(measured.memory_bound);
    EXPECT_FALSE(bound_point("", roof, 12).memory_bound);
    EXPECT_STREQ(name_of(Kind::Bound), "bound");
    EXPECT_STREQ(name_of(Kind::Measured), "measured");
}

TEST(Roofline, TilesDivideTheBytesByT) {
    EXPECT_EQ(tile_intensity(1), 0.25);
    for (const uint32_t t : {1u, 2u, 4u, 8u, 16u, 32u}) {
        EXPECT_EQ(tile_intensity(t), t * 0.25);
        EXPECT_EQ(cgma_of_intensity(tile_intensity(t)), t);
        EXPECT_EQ(intensity_of_cgma(t), tile_intensity(t));
        EXPECT_EQ(tile_shared_bytes(t), uint64_t{8} * t * t);
    }
}

TEST(Roofline, TheWidestTileHasAThreadAnElement) {
    EXPECT_EQ(widest_tile(sm_8_6()), 32u);
    EXPECT_EQ(widest_tile(sm_1_0()), 22u) << "22 × 22 is 484 of 512";
    SmLimits sm;
    for (uint32_t threads = 1; threads <= 1024; ++threads) {
        sm.threads_per_block = threads;
        const uint32_t tile = widest_tile(sm);
        EXPECT_LE(tile * tile, threads);
        EXPECT_GT((tile + 1) * (tile + 1), threads);
    }
}

// 16 elements of P with k = 8: 2 * 8 * 16 operations; 64 operands of 4 bytes, in 12 sectors of 32.
struct Recorded {
    trace::Trace trace;
    Summary summary;
    Recorded() {
        trace.launch = test_launch({test_array("M", Space::Global, ArrayRole::Input, 4, 8, 0x10000),
                                    test_array("N", Space::Global, ArrayRole::Input, 8, 4, 0x20000),
                                    test_array("P", Space::Global, ArrayRole::Output, 4, 4, 0x30000)},
                                   {1, 1, 1}, {4, 4, 1});
        trace.meta.complete = true;
        summary[StepKind::GlobalLoad].lanes = 64;
        summary[StepKind::GlobalLoad].bytes = 256;
        summary[StepKind::GlobalLoad].sectors = 12;
        summary[StepKind::GlobalStore].lanes = 16;
        summary[StepKind::GlobalStore].bytes = 64;
    }
};

TEST(Roofline, ARecordingsWorkIsItsProductsOverItsBytes) {
    const Recorded r;
    const auto work = recorded_work(r.trace, r.summary);
    ASSERT_TRUE(work) << work.error().message;
    EXPECT_EQ(work->flops, 256u);
    EXPECT_EQ(work->loaded, 256u);
    EXPECT_EQ(work->stored, 64u);
    EXPECT_EQ(work->sector_bytes, 384u);
    EXPECT_EQ(work->intensity, 1);
    EXPECT_EQ(work->cgma(), 4);
    EXPECT_EQ(work->intensity_with_stores, 256.0 / 320);
    EXPECT_EQ(work->intensity_of_sectors, 256.0 / 384);
}

TEST(Roofline, WhatIsNotWholeOrLoadsNothingHasNoIntensity) {
    Recorded r;
    for (const StepKind side : {StepKind::GlobalLoad, StepKind::GlobalStore}) {
        Summary nothing = r.summary;
        nothing[side] = {};
        const auto none = recorded_work(r.trace, nothing);
        ASSERT_FALSE(none);
        EXPECT_NE(none.error().message.find("loads or stores nothing"), std::string::npos);
    }
    r.trace.meta.complete = false;
    const auto cut = recorded_work(r.trace, r.summary);
    ASSERT_FALSE(cut);
    EXPECT_NE(cut.error().message.find("is not whole"), std::string::npos);
}

TEST(Roofline, TheCasesNeedTheirDevices) {
    const auto none = roof_cases({});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("'g80'"), std::string::npos);
    DeviceSpec g80, rtx;
    g80.id = "g80", g80.memory_gbs = 1, g80.peak_gflops = 2;
    rtx.id = "rtx-3090", rtx.memory_gbs = 3, rtx.peak_gflops = 4;
    const auto cases = roof_cases({g80, rtx});
    ASSERT_TRUE(cases);
    size_t made_up = 0;
    for (const RoofCase& one : *cases) made_up += !one.known;
    EXPECT_EQ(made_up, 3u);
    EXPECT_EQ(cases->size(), 7u);
}

}  // namespace
}  // namespace tilescope::analysis
