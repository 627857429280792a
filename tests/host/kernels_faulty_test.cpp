// Kernels with a fault are caught: their product is not that of the plain reference.
#include <gtest/gtest.h>

#include "tests/host/kernels_walk.h"

namespace tilescope::kernels {
namespace {

TEST(Faulty, TheMissingBarrierGivesWrongSums) {
    const trace::Trace trace = recorded("tiled_no_barrier", {64, 64, 64, 16});
    EXPECT_TRUE(trace.meta.complete);
    EXPECT_TRUE(trace.meta.result.checked);
    EXPECT_FALSE(trace.meta.result.verified);
    EXPECT_GT(trace.meta.result.wrong, 0u);
}

TEST(Faulty, ABlockOfOneWarpHidesTheMissingBarrier) {
    EXPECT_TRUE(recorded("tiled_no_barrier", {8, 8, 8, 4}).meta.result.verified);
}

TEST(Faulty, TheStaleEdgeGivesWrongSums) {
    const trace::Trace trace = recorded("tiled_stale_edge", {20, 30, 20, 8});  // 30 = 3 x 8 + 6
    EXPECT_TRUE(trace.meta.result.checked);
    EXPECT_FALSE(trace.meta.result.verified);
    EXPECT_GT(trace.meta.result.wrong, 0u);
}

TEST(Faulty, WithoutEdgesNothingIsStale) {
    EXPECT_TRUE(recorded("tiled_stale_edge", {16, 24, 32, 8}).meta.result.verified);
}

TEST(Faulty, TheOthersAreVerifiedOnAllShapes) {
    for (const KernelInfo& kernel : kernels_with_tile_width()) {
        if (made_wrong(kernel.name)) continue;
        for (const Shape& shape : {Shape{16, 16, 16, 8}, {20, 30, 20, 8}, {33, 35, 40, 32}, {3, 3, 3, 2}}) {
            const trace::Trace trace = recorded(kernel.name, shape);
            EXPECT_TRUE(trace.meta.result.verified) << kernel.name << " k=" << shape.k;
            EXPECT_EQ(trace.meta.result.max_abs_error, 0) << kernel.name;
        }
    }
}

}  // namespace
}  // namespace tilescope::kernels
