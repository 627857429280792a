// The driver on a real GPU: what it states, copies, launches, times, and calls that it must refuse.
#include "tests/gpu/record_driver.h"

#include <chrono>
#include <cstdio>
#include <cstring>

namespace tilescope::gpu {
namespace {

TEST_F(RecordDriver, StatesWhatTheDeviceIs) {
    const DeviceInfo& info = device->info();
    EXPECT_FALSE(info.name.empty());
    EXPECT_GE(info.major, 7);
    EXPECT_GE(info.cuda_major, 11);
    EXPECT_EQ(info.warp_size, 32);
    EXPECT_GT(info.sms, 0);
    EXPECT_GE(info.threads_per_block, 1024);
    EXPECT_GE(info.threads_per_sm, 1024);
    EXPECT_GE(info.blocks_per_sm, 16);
    EXPECT_GE(info.registers_per_sm, 65536);
    EXPECT_GE(info.registers_per_block, 65536);
    EXPECT_GE(info.shared_per_block, 48 * 1024);
    EXPECT_GE(info.shared_per_block_optin, info.shared_per_block);
    EXPECT_GE(info.shared_per_sm, info.shared_per_block_optin);
    EXPECT_GT(info.memory_bytes, 1u << 30);
    EXPECT_GT(info.l2_bytes, 0u);
    EXPECT_GT(info.clock_khz, 0);
    EXPECT_GT(info.memory_bus_bits, 0);
    EXPECT_NE(describe(info).find(info.name), std::string::npos);
    std::printf("%s: %d SMs, %d kHz, memory %d kHz x %d bits, driver '%s'\n", describe(info).c_str(),
                info.sms, info.clock_khz, info.memory_clock_khz, info.memory_bus_bits, info.driver.c_str());
    const auto free = device->free_bytes();
    ASSERT_TRUE(free);
    EXPECT_LE(*free, info.memory_bytes);
}

TEST_F(RecordDriver, RunsAKernel) {
    expect_works();
    const Function function = load("add_one");
    EXPECT_GT(function.registers, 0);
    EXPECT_GE(function.max_threads, 256);
    EXPECT_TRUE(function.parameters == 2 || function.parameters == -1) << function.parameters;
}

TEST_F(RecordDriver, FillsAndCopies) {
    const Memory a = words(100), b = words(100);
    ASSERT_TRUE(device->fill32(a, 0x01020304, 100));
    ASSERT_TRUE(device->copy(b, a, 200));
    ASSERT_TRUE(device->fill(a, 0xff));
    auto host = device->allocate_host(400, "host");
    ASSERT_TRUE(host);
    ASSERT_TRUE(device->fill32(b, 5, 1));
    ASSERT_TRUE(device->download(host->data(), b, 0, 200));
    uint32_t value = 0;
    std::memcpy(&value, host->data(), 4);
    EXPECT_EQ(value, 5u);
    std::memcpy(&value, host->data() + 196, 4);
    EXPECT_EQ(value, 0x01020304u);
    ASSERT_TRUE(device->download(&value, a, 396, 4));
    EXPECT_EQ(value, 0xffffffffu);
    EXPECT_FALSE(device->download(&value, a, 397, 4));
    EXPECT_FALSE(device->fill32(a, 0, 101));
}

TEST_F(RecordDriver, TimesEveryRun) {
    const Memory memory = words(1);
    const auto times = device->launch_timed(load("spin"), {1}, {1}, {memory.address(), 2'000'000}, 70);
    ASSERT_TRUE(times) << times.error().message;
    ASSERT_EQ(times->size(), 70u);
    for (const double time : *times) {
        EXPECT_GT(time, 1.9);  // milliseconds; the timer's step is up to 1 us
        EXPECT_LT(time, 20);
    }
}

TEST_F(RecordDriver, WaitsForAShortKernelNoLongerThanItTakes) {
    const Memory memory = words(32);
    const Function function = load("add_one");
    ASSERT_TRUE(device->launch(function, {1}, {32}, {memory.address(), 32}));
    const auto start = Clock::now();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(device->launch(function, {1}, {32}, {memory.address(), 32}));
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 100;
    std::printf("a launch and its wait: %.1f us\n", us);
    EXPECT_LT(us, 1000);
}

TEST_F(RecordDriver, SaysWhatTheCompilerSays) {
    const auto function = device->load(R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry f() {
  .reg .b32 %a;
  add.u32 %a, nothing, 2;
  ret;
}
)ptx",
                                       "broken.ptx", "f");
    ASSERT_FALSE(function);
    EXPECT_NE(function.error().message.find("broken.ptx"), std::string::npos) << function.error().message;
    EXPECT_NE(function.error().message.find("line 6; error"), std::string::npos) << function.error().message;
    EXPECT_FALSE(device->load(kPtx, "driver_test.ptx", "no_such"));
    EXPECT_FALSE(device->load(".version 99.0\n.target sm_70\n", "newer.ptx", "f"));
    expect_works();
}

TEST_F(RecordDriver, RefusesWhatIsTooLarge) {
    const auto memory = device->allocate(uint64_t{1} << 50, "a buffer");
    ASSERT_FALSE(memory);
    EXPECT_NE(memory.error().message.find("a buffer"), std::string::npos) << memory.error().message;
    const Function function = load("add_one");
    EXPECT_FALSE(device->launch(function, {1}, {2048}, {0, 0}));
    EXPECT_FALSE(device->launch(function, {0}, {1}, {0, 0}));
    EXPECT_FALSE(device->launch(function, {1, 70000}, {1}, {0, 0})) << "grids have 65535 blocks along y";
    LaunchOptions shared;
    shared.shared_bytes = 1 << 20;
    EXPECT_FALSE(device->launch(function, {1}, {1}, {0, 0}, shared));
    if (function.parameters >= 0) EXPECT_FALSE(device->launch(function, {1}, {1}, {0}));
    EXPECT_FALSE(device->lost());
    expect_works();
}

TEST_F(RecordDriver, TakesMoreSharedMemoryThanTheUsual) {
    const Function function = load("add_one");
    LaunchOptions shared;
    shared.shared_bytes =
        static_cast<uint32_t>(device->info().shared_per_block_optin - function.shared_bytes);
    const Memory memory = words(32);
    const auto time = device->launch(function, {1}, {32}, {memory.address(), 32}, shared);
    EXPECT_TRUE(time) << time.error().message;
}

}  // namespace
}  // namespace tilescope::gpu
