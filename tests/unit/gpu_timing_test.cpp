// What timing knows without a device: roofs by clocks and widths, and the window that gives a price.
#include <gtest/gtest.h>

#include "kernels/gpu/timing.h"

namespace tilescope::gpu {
namespace {

DeviceInfo device(int major, int minor, int sms, int clock_khz, int memory_khz, int bits) {
    DeviceInfo info;
    info.major = major;
    info.minor = minor;
    info.sms = sms;
    info.clock_khz = clock_khz;
    info.memory_clock_khz = memory_khz;
    info.memory_bus_bits = bits;
    return info;
}

// Data sheets: RTX 3090, 82 SMs at 1695 MHz, 384 bits at 9751 MHz: 35 580 GFLOP/s and 936.1 GB/s;
// H100 SXM, 132 SMs at 1980 MHz: 66.9 TFLOP/s; V100, 80 SMs at 1530 MHz: 15.7 TFLOP/s.
TEST(StatedRoofs, AreThoseOfDataSheets) {
    const kernels::Roofs ampere = stated_roofs(device(8, 6, 82, 1'695'000, 9'751'000, 384));
    EXPECT_NEAR(ampere.stated_gflops, 35'580, 5);
    EXPECT_NEAR(ampere.stated_gbs, 936.1, 0.1);
    EXPECT_NEAR(stated_roofs(device(9, 0, 132, 1'980'000, 0, 5120)).stated_gflops, 66'908, 1);
    EXPECT_NEAR(stated_roofs(device(7, 0, 80, 1'530'000, 877'000, 4096)).stated_gflops, 15'667, 1);
    EXPECT_NEAR(stated_roofs(device(7, 0, 80, 1'530'000, 877'000, 4096)).stated_gbs, 898, 0.1);
}

TEST(StatedRoofs, AreNoneWhereTheDriverDoesNotSay) {
    EXPECT_EQ(stated_roofs(device(9, 0, 132, 0, 0, 5120)).stated_gflops, 0);
    EXPECT_EQ(stated_roofs(device(9, 0, 132, 0, 0, 5120)).stated_gbs, 0);
    EXPECT_EQ(stated_roofs(device(99, 0, 132, 1'000'000, 0, 5120)).stated_gflops, 0);
}

TEST(PriceWindow, IsTheWholeGridOrSixteenBlocks) {
    const auto window = [](const char* kernel, kernels::Shape shape) {
        const auto plan = kernels::plan(kernel, shape);
        EXPECT_TRUE(plan) << plan.error().message;
        return price_window(*plan);
    };
    EXPECT_EQ(window("tiled", {1024, 1024, 1024, 16}), (BlockWindow{0, 64, 0, 64}));
    EXPECT_EQ(window("tiled", {100, 70, 130, 16}), (BlockWindow{0, 9, 0, 7}));
    EXPECT_EQ(window("tiled", {1024, 1024, 1025, 16}), (BlockWindow{0, 4, 0, 4}));
    EXPECT_EQ(window("tiled", {8192, 8192, 8192, 32}), (BlockWindow{0, 4, 0, 4}));
    EXPECT_EQ(window("tiled", {16, 100'000, 8192, 16}), (BlockWindow{0, 16, 0, 1}));
    EXPECT_EQ(window("tiled", {8192, 100'000, 32, 16}), (BlockWindow{0, 2, 0, 8}));
    EXPECT_EQ(window("untiled_swapped", {8192, 100'000, 16, 16}), (BlockWindow{0, 16, 0, 1}));
}

TEST(TimingOf, IsWhatItsTimesSay) {
    const kernels::Timing timing = timing_of("tiled", {100, 200, 300, 8}, {4, 1, 3, 2, 5});
    EXPECT_EQ(timing.median_ms, 3);
    EXPECT_EQ(timing.low_ms, 1);
    EXPECT_EQ(timing.high_ms, 5);
    EXPECT_EQ(timing.runs, 5u);
    EXPECT_DOUBLE_EQ(timing.gflops, 2.0 * 100 * 200 * 300 / 3e6);
    EXPECT_FALSE(timing.verified) << "until somebody has verified it";
}

}  // namespace
}  // namespace tilescope::gpu
