// The driver on a real GPU: work, times, every kind of fault, and that the program and the GPU go on after
// it. The cases skip where there is no GPU.
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/driver.h"

namespace tilescope::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// add_one   p[i] += 1 for i < n
// store_at  a store to the address given
// spin      runs for the nanoseconds given, then stores 1
constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry add_one(.param .u64 p, .param .u32 n) {
    .reg .pred %out;
    .reg .b32 %i, %n, %size, %block, %v;
    .reg .b64 %p, %offset;
    ld.param.u64 %p, [p];
    ld.param.u32 %n, [n];
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %out, %i, %n;
    @%out ret;
    cvta.to.global.u64 %p, %p;
    mul.wide.u32 %offset, %i, 4;
    add.u64 %p, %p, %offset;
    ld.global.u32 %v, [%p];
    add.u32 %v, %v, 1;
    st.global.u32 [%p], %v;
    ret;
}

.visible .entry store_at(.param .u64 p) {
    .reg .b32 %v;
    .reg .b64 %p;
    ld.param.u64 %p, [p];
    mov.u32 %v, 7;
    st.global.u32 [%p], %v;
    ret;
}

.visible .entry trapped() {
    trap;
    ret;
}

.visible .entry spin(.param .u64 p, .param .u64 ns) {
    .reg .pred %more;
    .reg .b32 %v;
    .reg .b64 %p, %ns, %start, %now;
    ld.param.u64 %p, [p];
    ld.param.u64 %ns, [ns];
    mov.u64 %start, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %more, %now, %ns;
    @%more bra again;
    mov.u32 %v, 1;
    st.global.u32 [%p], %v;
    ret;
}
)";

class RecordDriver : public testing::Test {
protected:
    void SetUp() override {
        const auto found = devices();
        if (!found) GTEST_SKIP() << found.error().message;
        open();
    }

    void open() {
        auto opened = Device::open();
        ASSERT_TRUE(opened) << opened.error().message;
        device = *opened;
    }

    Function load(const std::string& kernel) {
        auto function = device->load(kPtx, "driver_test.ptx", kernel);
        EXPECT_TRUE(function) << function.error().message;
        return function ? *function : Function{};
    }

    Memory words(uint64_t count) {
        auto memory = device->allocate(count * 4, "words");
        EXPECT_TRUE(memory) << memory.error().message;
        return memory ? *memory : Memory{};
    }

    // Adds one to 0, 1, 2 ... on the device.
    void expect_works() {
        constexpr uint32_t kCount = 1000;
        std::vector<uint32_t> values(kCount);
        std::iota(values.begin(), values.end(), 0u);
        const Memory memory = words(kCount);
        ASSERT_TRUE(device->upload(memory, 0, values.data(), kCount * 4));
        const auto time = device->launch(load("add_one"), {4}, {256}, {memory.address(), kCount});
        ASSERT_TRUE(time) << time.error().message;
        EXPECT_GT(*time, 0);
        EXPECT_LT(*time, 1000);
        std::vector<uint32_t> after(kCount);
        ASSERT_TRUE(device->download(after.data(), memory, 0, kCount * 4));
        for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(after[i], i + 1);
    }

    void expect_fault(const Function& function, const std::vector<uint64_t>& parameters,
                      const std::string& words_of_driver) {
        const Memory memory = words(64);
        auto host = device->allocate_host(4096, "host");
        ASSERT_TRUE(host);
        std::memset(host->data(), 0x5a, 4096);
        const auto time = device->launch(function, {1}, {1}, parameters);
        ASSERT_FALSE(time);
        EXPECT_NE(time.error().message.find(words_of_driver), std::string::npos) << time.error().message;
        EXPECT_NE(time.error().message.find(function.name), std::string::npos) << time.error().message;
        // What is left of the lost context gives errors, and its pieces may be dropped at any time.
        EXPECT_TRUE(device->lost());
        EXPECT_FALSE(device->fill(memory, 0));
        EXPECT_FALSE(device->launch(function, {1}, {1}, parameters));
        EXPECT_FALSE(device->free_bytes());
        EXPECT_EQ(host->data()[4095], std::byte{0x5a});
        const std::shared_ptr<Device> before = device;
        open();
        ASSERT_FALSE(device->lost());
        EXPECT_TRUE(before->lost());
        EXPECT_FALSE(device->fill(memory, 0)) << "of the context before";
        EXPECT_FALSE(device->launch(function, {1}, {1}, parameters)) << "of the context before";
        expect_works();
    }

    std::shared_ptr<Device> device;
};

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
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(device->launch(function, {1}, {32}, {memory.address(), 32}));
    }
    const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / 100;
    std::printf("a launch and its wait: %.1f us\n", us);
    EXPECT_LT(us, 1000);
}

TEST_F(RecordDriver, SaysWhatTheCompilerSays) {
    const auto function = device->load(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() {\n  add.u32 nothing, 1, 2;\n  "
        "ret;\n}\n",
        "broken.ptx", "f");
    ASSERT_FALSE(function);
    EXPECT_NE(function.error().message.find("broken.ptx"), std::string::npos) << function.error().message;
    EXPECT_NE(function.error().message.find("nothing"), std::string::npos) << function.error().message;
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
    if (function.parameters >= 0) {
        EXPECT_FALSE(device->launch(function, {1}, {1}, {0}));
    }
    EXPECT_FALSE(device->lost());
    expect_works();
}

TEST_F(RecordDriver, TakesMoreSharedMemoryThanTheUsual) {
    LaunchOptions shared;
    shared.shared_bytes = static_cast<uint32_t>(device->info().shared_per_block_optin);
    const Memory memory = words(32);
    const auto time = device->launch(load("add_one"), {1}, {32}, {memory.address(), 32}, shared);
    EXPECT_TRUE(time) << time.error().message;
}

TEST_F(RecordDriver, GoesOnAfterAnIllegalAddress) {
    for (int round = 0; round < 3; ++round) expect_fault(load("store_at"), {0x10}, "illegal memory access");
}

TEST_F(RecordDriver, GoesOnAfterAMisalignedAddress) {
    const Memory memory = words(4);
    expect_fault(load("store_at"), {memory.address() + 1}, "misaligned address");
}

TEST_F(RecordDriver, GoesOnAfterATrap) { expect_fault(load("trapped"), {}, "failed: "); }

TEST_F(RecordDriver, GivesUpAKernelThatHangs) {
    const Memory memory = words(1);
    auto host = device->allocate_host(4096, "host");
    ASSERT_TRUE(host);
    LaunchOptions options;
    options.timeout_s = 0.5;
    const Function spin = load("spin");
    const auto start = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    const auto time = device->launch(spin, {1}, {1}, {memory.address(), 3'000'000'000}, options);
    ASSERT_FALSE(time);
    EXPECT_NE(time.error().message.find("did not end within 0.5 s"), std::string::npos)
        << time.error().message;
    EXPECT_LT(seconds(), 1.5);
    // Nothing here may wait for the kernel.
    EXPECT_TRUE(device->lost());
    EXPECT_FALSE(device->fill(memory, 0));
    EXPECT_FALSE(device->allocate(16, "more"));
    host = HostMemory{};
    device.reset();
    const auto busy = Device::open();
    ASSERT_FALSE(busy);
    EXPECT_NE(busy.error().message.find("still busy"), std::string::npos) << busy.error().message;
    EXPECT_LT(seconds(), 2.5);
    // Its time is over at 3 s; the GPU is then opened anew.
    while (seconds() < 10 && !device) {
        if (auto again = Device::open()) device = *again;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_TRUE(device);
    EXPECT_GT(seconds(), 2.5);
    expect_works();
}

TEST_F(RecordDriver, StopsWaitingWhenAsked) {
    const Memory memory = words(1);
    std::atomic<bool> stop = false;
    LaunchOptions options;
    options.stop = &stop;
    const Function spin = load("spin");
    std::thread asks([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        stop = true;
    });
    const auto start = Clock::now();
    const auto time = device->launch(spin, {1}, {1}, {memory.address(), 1'500'000'000}, options);
    asks.join();
    ASSERT_FALSE(time);
    EXPECT_NE(time.error().message.find("stopped"), std::string::npos) << time.error().message;
    EXPECT_LT(std::chrono::duration<double>(Clock::now() - start).count(), 1.0);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    open();
    expect_works();
}

}  // namespace
}  // namespace tilescope::gpu
