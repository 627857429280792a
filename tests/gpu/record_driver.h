// A test of the driver on a real GPU, with small kernels written in PTX. It skips where there is no GPU.
#pragma once

#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

using Clock = std::chrono::steady_clock;

// add_one   p[i] += 1 for i < n
// store_at  a store to the address given
// spin      runs for the nanoseconds given, then stores 1
inline constexpr const char* kPtx = R"(
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

    std::shared_ptr<Device> device;
};

}  // namespace tilescope::gpu
