// Timing on a driver whose kernels do nothing: no time of a wrong result is ever shown.
#include <atomic>

#include "kernels/gpu/timing.h"
#include "tests/host/gpu_fake.h"

namespace tilescope::gpu_test {
namespace {

class TimingOnFakeGpu : public FakeGpu {
protected:
    static kernels::TextbookPlan plan(const char* kernel) {
        auto plan = kernels::plan(kernel, {40, 24, 56, 8});
        EXPECT_TRUE(plan) << plan.error().message;
        return *plan;
    }

    static gpu::TimeOptions quick() {
        gpu::TimeOptions options;
        options.price = false;
        return options;
    }
};

TEST_F(TimingOnFakeGpu, AProductThatNobodyStoredHasNoTime) {
    const auto device = open();
    ASSERT_TRUE(device);
    for (const char* kernel : {"untiled", "untiled_swapped", "tiled", "tiled_padded"}) {
        expect_error(
            gpu::time_kernel(*device, plan(kernel), quick()),
            {kernel, "wrong result", "P[0,0] is not a number", "40 of 40 rows", "time is not shown"});
    }
}

TEST_F(TimingOnFakeGpu, AKernelMadeToBeWrongHasATimeThatIsNotVerified) {
    const auto device = open();
    ASSERT_TRUE(device);
    for (const char* kernel : {"tiled_no_barrier", "tiled_stale_edge"}) {
        tell("hang=1");  // it runs for a millisecond
        const auto timing = gpu::time_kernel(*device, plan(kernel), quick());
        ASSERT_TRUE(timing) << timing.error().message;
        EXPECT_FALSE(timing->verified);
        EXPECT_EQ(timing->kernel, kernel);
        EXPECT_EQ(timing->runs, 20u);
        EXPECT_GT(timing->median_ms, 0);
        EXPECT_LE(timing->low_ms, timing->median_ms);
        EXPECT_LE(timing->median_ms, timing->high_ms);
        EXPECT_NEAR(timing->gflops, 2.0 * 40 * 24 * 56 / (timing->median_ms * 1e6), 1e-9);
        EXPECT_EQ(timing->recorded_ms, 0);
        EXPECT_EQ(timing->tile, 8u);
    }
}

TEST_F(TimingOnFakeGpu, RoofsOfADeviceThatComputesNothingAreRefused) {
    const auto device = open();
    ASSERT_TRUE(device);
    expect_error(gpu::measure_roofs(*device), {"did not copy"});
}

TEST_F(TimingOnFakeGpu, FailuresOfTheDriverAreSaid) {
    const auto device = open();
    ASSERT_TRUE(device);
    tell("load=218");
    expect_error(gpu::time_kernel(*device, plan("tiled"), quick()), {"tiled.t8.ptx"});
    tell("launch=701");
    expect_error(gpu::time_kernel(*device, plan("tiled"), quick()), {"tiled"});
    tell("launch=700");
    EXPECT_FALSE(gpu::time_kernel(*device, plan("tiled"), quick()));
}

TEST_F(TimingOnFakeGpu, StopsWhenAsked) {
    const auto device = open();
    ASSERT_TRUE(device);
    std::atomic<bool> stop = true;
    gpu::TimeOptions options = quick();
    options.stop = &stop;
    tell("hang=200");
    expect_error(gpu::time_kernel(*device, plan("tiled"), options), {"stopped"});
}

TEST_F(TimingOnFakeGpu, TooLittleMemoryIsSaid) {
    tell("memory=1048576");
    const auto device = open();
    ASSERT_TRUE(device);
    auto large = kernels::plan("tiled", {1024, 256, 1024, 16});
    ASSERT_TRUE(large);
    EXPECT_FALSE(gpu::time_kernel(*device, *large, quick()));
}

}  // namespace
}  // namespace tilescope::gpu_test
