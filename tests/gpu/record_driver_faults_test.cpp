// Every kind of fault on a real GPU, a kernel that hangs and one that is stopped: the program goes on, and
// the GPU too where the driver lets it. Each case needs a process of its own, as ctest gives it.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/gpu/record_driver.h"

namespace tilescope::gpu {
namespace {

class RecordDriverFaults : public RecordDriver {
protected:
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
        // Some drivers open the GPU again, some (580 among them) not in this process: then it says so.
        const auto again = Device::open();
        if (!again) {
            EXPECT_NE(again.error().message.find("start the program again"), std::string::npos)
                << again.error().message;
            GTEST_SKIP() << "this driver opens no context after a fault: " << again.error().message;
        }
        device = *again;
        ASSERT_FALSE(device->lost());
        EXPECT_TRUE(before->lost());
        EXPECT_FALSE(device->fill(memory, 0)) << "of the context before";
        EXPECT_FALSE(device->launch(function, {1}, {1}, parameters)) << "of the context before";
        expect_works();
    }
};

TEST_F(RecordDriverFaults, GoesOnAfterAnIllegalAddress) {
    for (int round = 0; round < 3 && !IsSkipped(); ++round)
        expect_fault(load("store_at"), {0x10}, "illegal memory access");
}

TEST_F(RecordDriverFaults, GoesOnAfterAMisalignedAddress) {
    const Memory memory = words(4);
    expect_fault(load("store_at"), {memory.address() + 1}, "misaligned address");
}

TEST_F(RecordDriverFaults, GoesOnAfterATrap) { expect_fault(load("trapped"), {}, "failed: "); }

TEST_F(RecordDriverFaults, GivesUpAKernelThatHangs) {
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

TEST_F(RecordDriverFaults, StopsWaitingWhenAsked) {
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
