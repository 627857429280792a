// What is done with an open GPU: work, and every way in which it fails; after each the program goes on.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/host/gpu_fake.h"

namespace tilescope::gpu_test {
namespace {

using Clock = std::chrono::steady_clock;

class GpuDriver : public FakeGpu {
protected:
    void SetUp() override {
        FakeGpu::SetUp();
        device = open();
        ASSERT_TRUE(device);
    }

    gpu::Function add_one() {
        auto function = device->load(kAddOne, "add_one.ptx", "add_one");
        EXPECT_TRUE(function) << function.error().message;
        return function ? *function : gpu::Function{};
    }

    gpu::Memory words(uint64_t count) {
        auto memory = device->allocate(count * 4, "words");
        EXPECT_TRUE(memory) << memory.error().message;
        return memory ? *memory : gpu::Memory{};
    }

    // 5 words, each 41 before and 42 after.
    void expect_works() {
        const gpu::Memory memory = words(5);
        ASSERT_TRUE(device->fill32(memory, 41, 5));
        const auto time = device->launch(add_one(), {1}, {32}, {memory.address(), 5});
        ASSERT_TRUE(time) << time.error().message;
        EXPECT_GE(*time, 0);
        std::vector<uint32_t> values(5);
        ASSERT_TRUE(device->download(values.data(), memory, 0, 20));
        EXPECT_EQ(values, std::vector<uint32_t>(5, 42));
    }

    std::shared_ptr<gpu::Device> device;
};

TEST_F(GpuDriver, Works) {
    expect_works();
    EXPECT_EQ(ask("fake_held"), 2) << "the two events that launches share";
    device.reset();
    EXPECT_EQ(ask("fake_held"), 0);
    EXPECT_EQ(ask("fake_stale"), 0);
}

TEST_F(GpuDriver, KnowsWhatAKernelTakes) {
    const gpu::Function function = add_one();
    EXPECT_EQ(function.name, "add_one");
    EXPECT_EQ(function.registers, 24);
    EXPECT_EQ(function.local_bytes, 8);
    EXPECT_EQ(function.shared_bytes, 1024);
    EXPECT_EQ(function.max_threads, 1024);
    EXPECT_EQ(function.parameters, 2);
}

TEST_F(GpuDriver, CopiesWithinItsBuffers) {
    const gpu::Memory memory = words(4), other = words(2);
    const std::vector<uint32_t> in{1, 2, 3, 4};
    ASSERT_TRUE(device->upload(memory, 0, in.data(), 16));
    ASSERT_TRUE(device->upload(memory, 8, in.data(), 4));
    ASSERT_TRUE(device->copy(other, memory, 8));
    std::vector<uint32_t> out(4);
    ASSERT_TRUE(device->download(out.data(), memory, 0, 16));
    EXPECT_EQ(out, (std::vector<uint32_t>{1, 2, 1, 4}));
    ASSERT_TRUE(device->download(out.data(), other, 4, 4));
    EXPECT_EQ(out[0], 2u);
    ASSERT_TRUE(device->fill(other, 0xab));
    ASSERT_TRUE(device->download(out.data(), other, 0, 4));
    EXPECT_EQ(out[0], 0xababababu);

    expect_error(device->upload(memory, 0, in.data(), 17), {"17 bytes", "16 bytes"});
    expect_error(device->upload(memory, UINT64_MAX, in.data(), 2), {"outside"});
    expect_error(device->download(out.data(), memory, 16, 1), {"outside"});
    expect_error(device->copy(other, memory, 9), {"outside"});
    expect_error(device->fill32(memory, 0, 5), {"outside"});
    expect_error(device->fill32(memory, 0, UINT64_MAX), {"outside"});
    expect_error(device->upload(gpu::Memory{}, 0, in.data(), 0), {"allocate it again"});
    EXPECT_TRUE(device->download(out.data(), memory, 16, 0)) << "nothing, at the end";
    EXPECT_FALSE(device->lost());
}

TEST_F(GpuDriver, HasNoMoreMemoryThanThereIs) {
    tell("memory=1048576");
    const gpu::Memory memory = words(1000);
    expect_error(device->allocate(2 << 20, "the matrix M"),
                 {"2.10 MB", "Stand-in GPU", "the matrix M", "out of memory", "1.05 MB are free", "smaller"});
    expect_error(device->allocate(0, "the matrix N"), {"the matrix N has no bytes"});
    const auto free = device->free_bytes();
    ASSERT_TRUE(free);
    EXPECT_EQ(*free, 1048576u - 4000);
    expect_works();
}

TEST_F(GpuDriver, LocksHostMemory) {
    auto host = device->allocate_host(10000, "the drain");
    ASSERT_TRUE(host);
    EXPECT_EQ(host->bytes(), 10000u);
    std::memset(host->data(), 1, 10000);
    EXPECT_EQ(ask("fake_held"), 1);
    host = gpu::HostMemory{};
    EXPECT_EQ(ask("fake_held"), 0);
    expect_error(device->allocate_host(uint64_t{1} << 60, "the drain"), {"the drain", "smaller"});
    expect_error(device->allocate_host(0, "the drain"), {"no bytes"});
}

TEST_F(GpuDriver, HasHostMemoryThatCannotBeLocked) {
    tell("register=1");
    const auto host = device->allocate_host(4096, "the drain");
    ASSERT_TRUE(host) << "slower, but there";
    host->data()[4095] = std::byte{1};
    tell("register=700");
    expect_error(device->allocate_host(4096, "the drain"), {"illegal memory access", "the drain"});
    EXPECT_TRUE(device->lost());
    EXPECT_EQ(host->data()[4095], std::byte{1});
}

TEST_F(GpuDriver, SaysWhatTheCompilerSaid) {
    tell("load=218");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"),
                 {"add_one.ptx", "a PTX JIT compilation failed",
                  "\"ptxas application ptx input, line 7; error : Unknown symbol 'nothing'\""});
    tell("load=222");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"),
                 {"unsupported toolchain", "newer CUDA than the driver's 13.0", "update the driver"});
    tell("load=209");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"),
                 {"no kernel image", "compute capability 9.0"});
    tell("load=221");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"), {"libnvidia-ptxjitcompiler.so.1"});
    tell("load=2");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"), {"out of memory", "end other programs"});
    tell("load=304");
    expect_error(device->load(kAddOne, "add_one.ptx", "add_one"), {"OS call failed", "check the PTX"});
    tell("");
    expect_error(device->load(kAddOne, "add_one.ptx", "sub_one"), {"add_one.ptx has no kernel 'sub_one'"});
    EXPECT_EQ(ask("fake_held"), 0) << "no module is left behind";
    expect_works();
}

TEST_F(GpuDriver, RefusesALaunchThatCannotBe) {
    const gpu::Function function = add_one();
    const gpu::Memory memory = words(1);
    const std::vector<uint64_t> parameters{memory.address(), 1};
    expect_error(device->launch(function, {1}, {64, 32}, parameters),
                 {"64 × 32 has 2048 threads", "'add_one' can have 1024", "24 registers", "smaller block"});
    expect_error(device->launch(function, {1, 0}, {32}, parameters), {"1 × 0", "at least one"});
    expect_error(device->launch(function, {1}, {32}, {memory.address()}), {"takes 2 parameters", "given 1"});
    gpu::LaunchOptions shared;
    shared.shared_bytes = 232448;
    expect_error(device->launch(function, {1}, {32}, parameters, shared),
                 {"233472 bytes", "232448", "smaller"});
    expect_error(device->launch(gpu::Function{}, {1}, {32}, {}), {"load it again"});
    tell("launch=701");
    expect_error(
        device->launch(function, {7, 5, 2}, {32}, parameters),
        {"launching 'add_one' with 7 × 5 × 2 blocks of 32 × 1 threads", "too many resources requested"});
    tell("");
    EXPECT_FALSE(device->lost());
    shared.shared_bytes = 232448 - 1024;
    EXPECT_TRUE(device->launch(function, {1}, {32}, parameters, shared));
}

TEST_F(GpuDriver, TimesEachRun) {
    const gpu::Memory memory = words(1);
    ASSERT_TRUE(device->fill32(memory, 0, 1));
    const gpu::Function function = add_one();
    const auto times = device->launch_timed(function, {1}, {32}, {memory.address(), 1}, 150);
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(times->size(), 150u);
    uint32_t value = 0;
    ASSERT_TRUE(device->download(&value, memory, 0, 4));
    EXPECT_EQ(value, 150u);
    tell("hang=2");
    const auto slow = device->launch_timed(function, {1}, {32}, {memory.address(), 1}, 3);
    ASSERT_TRUE(slow) << slow.error().message;
    for (const double time : *slow) EXPECT_GT(time, 1.99);
    EXPECT_TRUE(device->launch_timed(function, {1}, {32}, {memory.address(), 1}, 0)->empty());
}

TEST_F(GpuDriver, TimesOtherWork) {
    const gpu::Memory a = words(100), b = words(100);
    const auto times = device->time_work([&] { return device->copy(a, b, 400); }, "a copy", 10);
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(times->size(), 10u);
    expect_error(device->time_work([&] { return device->copy(a, b, 401); }, "a copy", 10), {"outside"});
}

TEST_F(GpuDriver, GoesOnAfterAFault) {
    const gpu::Memory memory = words(16);
    const gpu::Function function = add_one();
    const auto host = device->allocate_host(4096, "the drain");
    ASSERT_TRUE(host);
    host->data()[0] = std::byte{7};
    for (const char* const how : {"fault=700", "fault=719", "launch=700"}) {
        tell(how);
        const bool illegal = std::string(how).ends_with("700");
        const gpu::Memory held = words(4);
        const gpu::Function faulty = add_one();
        expect_error(device->launch(faulty, {1}, {32}, {held.address(), 4}),
                     {"running 'add_one' on Stand-in GPU failed",
                      illegal ? "an illegal memory access was encountered" : "unspecified launch failure",
                      "--backend cpu", "opened anew"});
        tell("");
        EXPECT_TRUE(device->lost());
        uint32_t value = 0;
        for (const auto& refused :
             {device->upload(held, 0, &value, 4), device->download(&value, held, 0, 4),
              device->copy(held, held, 4), device->fill(held, 0), device->fill32(held, 0, 1)})
            expect_error(refused, {"Stand-in GPU cannot be used as it was opened", "running 'add_one'"});
        expect_error(device->launch(faulty, {1}, {32}, {0, 0}), {"open it again"});
        expect_error(device->allocate(4, "words"), {"open it again"});
        expect_error(device->allocate_host(4, "words"), {"open it again"});
        expect_error(device->load(kAddOne, "add_one.ptx", "add_one"), {"open it again"});
        expect_error(device->free_bytes(), {"open it again"});
        device = open();
        ASSERT_TRUE(device);
        // What is left of the context before is known as such.
        expect_error(device->fill(held, 0), {"allocate it again"});
        expect_error(device->launch(faulty, {1}, {32}, {0, 0}), {"load it again"});
        expect_works();
    }
    EXPECT_EQ(host->data()[0], std::byte{7});
    EXPECT_EQ(ask("fake_resets"), 3);
    EXPECT_EQ(ask("fake_stale"), 0) << "nothing of a context that is gone was given back";
}

TEST_F(GpuDriver, LosesEveryDeviceOnTheContext) {
    const auto second = open();
    tell("fault=719");
    const gpu::Memory memory = words(1);
    EXPECT_FALSE(device->launch(add_one(), {1}, {32}, {memory.address(), 1}));
    EXPECT_TRUE(second->lost());
    tell("");
    EXPECT_FALSE(open()->lost());
}

TEST_F(GpuDriver, GivesUpAKernelThatHangs) {
    gpu::Memory memory = words(16);
    gpu::Function function = add_one();
    auto host = device->allocate_host(4096, "the drain");
    ASSERT_TRUE(host);
    tell("hang=600");
    gpu::LaunchOptions options;
    options.timeout_s = 0.05;
    const auto start = Clock::now();
    expect_error(device->launch(function, {1}, {32}, {memory.address(), 16}, options),
                 {"'add_one' did not end within 0.05 s", "Stand-in GPU", "hung"});
    tell("");
    EXPECT_TRUE(device->lost());
    expect_error(device->fill(memory, 0), {"'add_one' does not end"});
    // Everything of it goes, and nothing waits for the kernel.
    memory = gpu::Memory{};
    function = gpu::Function{};
    host = gpu::HostMemory{};
    device.reset();
    expect_error(gpu::Device::open(), {"Stand-in GPU is still busy", "'add_one' does not end", "wait"});
    EXPECT_EQ(ask("fake_blocked"), 0);
    EXPECT_EQ(ask("fake_resets"), 0);
    EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(500));
    std::this_thread::sleep_until(start + std::chrono::milliseconds(700));
    device = open();
    ASSERT_TRUE(device);
    EXPECT_EQ(ask("fake_resets"), 1);
    expect_works();
    EXPECT_EQ(ask("fake_blocked"), 0);
    EXPECT_EQ(ask("fake_stale"), 0);
}

TEST_F(GpuDriver, StopsWaitingWhenAsked) {
    const gpu::Memory memory = words(16);
    const gpu::Function function = add_one();
    tell("hang=600");
    std::atomic<bool> stop = false;
    gpu::LaunchOptions options;
    options.stop = &stop;
    std::thread asks([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        stop = true;
    });
    const auto start = Clock::now();
    const auto stopped = device->launch(function, {1}, {32}, {memory.address(), 16}, options);
    EXPECT_LT(Clock::now() - start, std::chrono::milliseconds(500));
    asks.join();
    expect_error(stopped, {"'add_one' was stopped before its end"});
    std::thread elsewhere([] {  // which has no context of its own yet
        expect_error(gpu::Device::open(), {"still busy", "was stopped before its end"});
    });
    elsewhere.join();
    EXPECT_EQ(ask("fake_blocked"), 0);
}

}  // namespace
}  // namespace tilescope::gpu_test
