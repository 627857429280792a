// A launch recorded on a GPU and on the CPU: the same requests warp for warp and lane for lane, the same
// product bit for bit; and what a trace buffer that is too small does.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/gpu/nvrtc.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/textbook/reference.h"
#include "tests/recorded.h"
#include "tests/same_accesses.h"

namespace tilescope::gpu {
namespace {

const kernels::Shape kShapes[] = {{4, 4, 4, 2},    {5, 3, 7, 2},       {1, 1, 1, 4},     {16, 16, 16, 4},
                                  {9, 17, 6, 4},   {40, 24, 56, 8},    {33, 31, 29, 8},  {64, 64, 64, 16},
                                  {17, 1, 16, 16}, {100, 70, 130, 16}, {96, 64, 32, 32}, {65, 33, 97, 32}};

std::shared_ptr<Device> device() {
    static const auto opened = Device::open();
    return opened ? *opened : nullptr;
}

#define NEEDS_DEVICE()                         \
    if (!device())                             \
        GTEST_SKIP() << "needs an NVIDIA GPU"; \
    else                                       \
        (void)0

kernels::TextbookPlan plan_of(const std::string& kernel, const kernels::Shape& shape, bool nvrtc) {
    auto plan = kernels::plan(kernel, shape);
    EXPECT_TRUE(plan) << plan.error().message;
    if (nvrtc) {
        const auto compiled =
            compile(plan->source, plan->source_name, 80, "TILE_WIDTH=" + std::to_string(shape.tile));
        EXPECT_TRUE(compiled) << compiled.error().message;
        plan->ptx = compiled ? compiled->ptx : "";
        plan->ptx_name = "nvrtc.ptx";
    }
    return *plan;
}

struct Recorded {
    trace::Trace trace;
    std::vector<float> product;
};

Recorded on_gpu(const kernels::TextbookPlan& plan, GpuRecordOptions options = {}) {
    Recorded made;
    simt::GlobalMemory after;
    options.common.after = &after;
    auto trace = record_gpu(*device(), plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    if (trace) made.product = kernels::product_in(after);
    if (trace) made.trace = std::move(*trace);
    return made;
}

Recorded on_cpu(const kernels::TextbookPlan& plan, BlockWindow window = {}) {
    Recorded made;
    kernels::RecordOptions options;
    simt::GlobalMemory after;
    options.after = &after;
    options.window = window;
    auto trace = kernels::record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    if (trace) made.product = kernels::product_in(after);
    if (trace) made.trace = std::move(*trace);
    return made;
}

// Elements that never took part of an uninitialised cell, which holds NaN on the CPU and anything on a GPU.
uint64_t different_bits(const std::vector<float>& cpu, const std::vector<float>& gpu) {
    if (cpu.size() != gpu.size()) return ~uint64_t{0};
    uint64_t different = 0;
    for (size_t i = 0; i < cpu.size(); ++i)
        different += !std::isnan(cpu[i]) && std::memcmp(&cpu[i], &gpu[i], sizeof(float)) != 0;
    return different;
}

class SameOnBoth : public testing::TestWithParam<std::string> {};

TEST_P(SameOnBoth, RequestsAndProduct) {
    NEEDS_DEVICE();
    const std::string& kernel = GetParam();
    for (kernels::Shape shape : kShapes) {
        if (kernels::tile_width(kernel) == 0) shape.tile = 0;
        for (const bool nvrtc : {false, true}) {
            SCOPED_TRACE(fmt::format("{} {}x{}x{} T={} {}", kernel, shape.m, shape.k, shape.n, shape.tile,
                                     nvrtc ? "NVRTC" : "clang"));
            const kernels::TextbookPlan plan = plan_of(kernel, shape, nvrtc);
            const Recorded cpu = on_cpu(plan), gpu = on_gpu(plan);
            EXPECT_TRUE(gpu.trace.meta.complete) << gpu.trace.meta.incomplete_reason;
            EXPECT_EQ(trace::first_difference(cpu.trace, gpu.trace), "");
            EXPECT_EQ(gpu.trace.time.size(), gpu.trace.steps());
            // The product of a kernel that is made to race depends on the order of warps.
            if (kernels::find(kernel)->fault != "race")
                EXPECT_EQ(different_bits(cpu.product, gpu.product), 0u);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SameOnBoth, testing::ValuesIn(kernels::names_of_kernels()),
                         [](const auto& kernel) { return kernel.param; });

// Every way of taking the same recording.
TEST(RecordGpu, AnyWayOfTakingItIsTheSame) {
    NEEDS_DEVICE();
    for (const kernels::Shape& shape :
         {kernels::Shape{100, 70, 130, 16}, {33, 31, 29, 8}, {65, 33, 97, 32}}) {
        const kernels::TextbookPlan plan = plan_of("tiled", shape, false);
        const Recorded cpu = on_cpu(plan);
        GpuRecordOptions exact, small_chunks, windows;
        exact.exact = true;
        small_chunks.chunk_bytes = 512;
        windows.buffer_bytes = 1 << 20;
        windows.chunk_bytes = 512;
        for (const auto& [name, options] :
             {std::pair{"exact", exact}, {"chunks of 512", small_chunks}, {"windows", windows}}) {
            SCOPED_TRACE(name);
            const Recorded gpu = on_gpu(plan, options);
            EXPECT_TRUE(gpu.trace.meta.complete) << gpu.trace.meta.incomplete_reason;
            EXPECT_EQ(trace::first_difference(cpu.trace, gpu.trace), "");
            EXPECT_EQ(different_bits(cpu.product, gpu.product), 0u);
        }
        EXPECT_EQ(cpu.trace.meta.result.verified, true);
    }
}

TEST(RecordGpu, ManyWindowsAreOneRecording) {
    NEEDS_DEVICE();
    const kernels::TextbookPlan plan = plan_of("tiled", {256, 256, 256, 16}, false);
    GpuRecordOptions options;
    options.buffer_bytes = 1 << 20;  // of about 12 MB
    const Recorded cpu = on_cpu(plan), gpu = on_gpu(plan, options);
    EXPECT_GT(gpu.trace.meta.price.launches, 4u);
    EXPECT_TRUE(gpu.trace.meta.complete);
    EXPECT_TRUE(gpu.trace.meta.result.verified);
    EXPECT_EQ(trace::first_difference(cpu.trace, gpu.trace), "");
}

TEST(RecordGpu, ChosenBlocksOnly) {
    NEEDS_DEVICE();
    for (const char* kernel : {"tiled", "untiled", "untiled_swapped", "tiled_transposed"}) {
        SCOPED_TRACE(kernel);
        const kernels::TextbookPlan plan = plan_of(kernel, {256, 192, 320, 16}, false);
        GpuRecordOptions options;
        options.common.window = {3, 7, 2, 5};
        const Recorded cpu = on_cpu(plan, options.common.window), gpu = on_gpu(plan, options);
        EXPECT_EQ(gpu.trace.blocks.size(), 12u);
        EXPECT_TRUE(gpu.trace.meta.complete);
        EXPECT_TRUE(gpu.trace.meta.result.verified);
        EXPECT_EQ(trace::first_difference(cpu.trace, gpu.trace), "");
        // Blocks outside the window computed their part of P too.
        const Recorded all = on_cpu(plan);
        EXPECT_EQ(different_bits(all.product, gpu.product), 0u);
    }
}

// One warp, so that what fits can be counted: a header, then a slot of 16 bytes for each record or pair.
TEST(RecordGpu, ABufferOneRecordTooSmallSaysSo) {
    NEEDS_DEVICE();
    const kernels::TextbookPlan plan = plan_of("tiled", {4, 4, 4, 4}, false);
    const Recorded whole = on_gpu(plan);
    const uint64_t bytes = whole.trace.meta.price.device_bytes;
    GpuRecordOptions options;
    options.one_launch = true;
    options.buffer_bytes = bytes;
    const Recorded fits = on_gpu(plan, options);
    EXPECT_TRUE(fits.trace.meta.complete) << fits.trace.meta.incomplete_reason;
    options.buffer_bytes = bytes - 16;
    const Recorded lacks = on_gpu(plan, options);
    EXPECT_FALSE(lacks.trace.meta.complete);
    EXPECT_EQ(trace::dropped_of(lacks.trace), 1u);
    EXPECT_EQ(lacks.trace.steps() + 1, whole.trace.steps());
    EXPECT_NE(lacks.trace.meta.incomplete_reason.find("1 request did not fit"), std::string::npos)
        << lacks.trace.meta.incomplete_reason;
    EXPECT_EQ(different_bits(whole.product, lacks.product), 0u);
    // Left to itself the program would have needed a larger buffer, and says so.
    options.one_launch = false;
    const auto refused = record_gpu(*device(), plan, options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("too small for one block"), std::string::npos);
}

// Clocks of a block begin at 0, never go back, and order what barriers order: nobody passes a barrier before
// the last one came.
TEST(RecordGpu, ClocksKeepTheOrderThatBarriersGive) {
    NEEDS_DEVICE();
    const Recorded gpu = on_gpu(plan_of("tiled", {128, 128, 128, 16}, false));
    const trace::Trace& trace = gpu.trace;
    constexpr uint32_t kWarps = 8;
    for (const trace::Block& block : trace.blocks) {
        ASSERT_EQ(trace.time[block.first], 0u);
        std::array<std::vector<uint32_t>, kWarps> arrived, went_on;  // by warp: at each barrier, and after it
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const uint32_t warp = trace.warp_of(step), time = trace.time[step];
            if (step > block.first) ASSERT_GE(time, trace.time[step - 1]);
            if (went_on[warp].size() < arrived[warp].size()) went_on[warp].push_back(time);
            const ptx::Site& site = trace.sites[trace.form_of(step).site];
            if (site.kind == ptx::SiteKind::Barrier) arrived[warp].push_back(time);
        }
        for (size_t barrier = 0; barrier < arrived[0].size(); ++barrier) {
            uint32_t last = 0;
            for (const auto& times : arrived) last = std::max(last, times.at(barrier));
            for (const auto& times : went_on) EXPECT_GT(times.at(barrier), last);
        }
    }
}

}  // namespace
}  // namespace tilescope::gpu
