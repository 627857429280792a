// Times on a real GPU: verified, plausible, and beside roofs that no kernel breaks. Else skipped.
#include <gtest/gtest.h>

#include "kernels/gpu/cublas.h"
#include "kernels/gpu/nvrtc.h"
#include "kernels/gpu/timing.h"

namespace tilescope::gpu {
namespace {

class GpuTime : public testing::Test {
protected:
    void SetUp() override {
        auto opened = Device::open();
        if (!opened) GTEST_SKIP() << opened.error().message;
        device_ = *opened;
    }

    static kernels::TextbookPlan plan(const std::string& kernel, const kernels::Shape& shape) {
        auto plan = kernels::plan(kernel, shape);
        EXPECT_TRUE(plan) << plan.error().message;
        return *plan;
    }

    std::shared_ptr<Device> device_;
};

TimeOptions without_price() {
    TimeOptions options;
    options.price = false;
    return options;
}

TEST_F(GpuTime, EveryKernelIsVerifiedAtWholeTilesAndAtEdges) {
    for (const kernels::Shape& shape : {kernels::Shape{512, 512, 512, 16}, kernels::Shape{300, 70, 530, 8},
                                        kernels::Shape{100, 333, 65, 32}}) {
        const auto floats = make_operands(*device_, shape),
                   halves = make_operands(*device_, shape, ElementType::F16);
        ASSERT_TRUE(floats) << floats.error().message;
        ASSERT_TRUE(halves) << halves.error().message;
        for (const kernels::KernelInfo& info : kernels::catalogue()) {
            const Operands& operands = info.input == ElementType::F16 ? *halves : *floats;
            const uint32_t tile = info.own_tile ? 0 : shape.tile;
            const auto timing = time_kernel(
                *device_, operands, plan(info.name, {shape.m, shape.k, shape.n, tile}), without_price());
            ASSERT_TRUE(timing) << timing.error().message;
            EXPECT_TRUE(timing->verified || kernels::made_wrong(info.name)) << info.name;
            EXPECT_EQ(timing->runs, 20u);
            EXPECT_GT(timing->low_ms, 0);
            EXPECT_LE(timing->low_ms, timing->median_ms);
            EXPECT_LE(timing->median_ms, timing->high_ms);
            EXPECT_GT(timing->requested_gbs, 0);
            EXPECT_GT(timing->registers, 0);
            EXPECT_EQ(timing->shared_bytes > 0, info.tiled) << info.name;
        }
    }
}

TEST_F(GpuTime, TheStaleEdgeIsWrongWhereAnEdgeIs) {
    const auto timing = time_kernel(*device_, plan("tiled_stale_edge", {100, 70, 130, 16}), without_price());
    ASSERT_TRUE(timing) << timing.error().message;
    EXPECT_FALSE(timing->verified);
    const auto whole = time_kernel(*device_, plan("tiled_stale_edge", {128, 64, 128, 16}), without_price());
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_TRUE(whole->verified) << "without edges there is nothing stale";
}

// Another kernel under the name of this one: it is not timed.
TEST_F(GpuTime, AWrongKernelHasNoTime) {
    kernels::TextbookPlan wrong = plan("tiled", {100, 70, 130, 16});
    wrong.ptx = plan("tiled_stale_edge", {100, 70, 130, 16}).ptx;
    for (size_t at; (at = wrong.ptx.find("tiled_stale_edge")) != std::string::npos;)
        wrong.ptx.replace(at, 16, "tiled");
    // The mangled names of its shared arrays have another length, which no one reads.
    const auto timing = time_kernel(*device_, wrong, without_price());
    ASSERT_FALSE(timing);
    EXPECT_NE(timing.error().message.find("wrong result"), std::string::npos) << timing.error().message;
}

TEST_F(GpuTime, PtxOfNvrtcIsTimedToo) {
    kernels::TextbookPlan other = plan("tiled", {512, 512, 512, 16});
    const DeviceInfo& info = device_->info();
    const auto compiled =
        compile(other.source, other.source_name, info.major * 10 + info.minor, "TILE_WIDTH=16");
    if (!compiled) GTEST_SKIP() << compiled.error().message;
    other.ptx = compiled->ptx;
    const auto timing = time_kernel(*device_, other, without_price());
    ASSERT_TRUE(timing) << timing.error().message;
    EXPECT_TRUE(timing->verified);
}

// Stated roofs are upper bounds at the clocks stated; a measurement far below them measured something else.
TEST_F(GpuTime, MeasuredRoofsLieCloseBelowTheStatedOnes) {
    const auto roofs = measure_roofs(*device_);
    ASSERT_TRUE(roofs) << roofs.error().message;
    EXPECT_GT(roofs->copy_gbs, 0);
    EXPECT_GT(roofs->fp32_gflops, 0);
    if (roofs->stated_gbs > 0) {
        EXPECT_LT(roofs->copy_gbs, roofs->stated_gbs);
        EXPECT_GT(roofs->copy_gbs, 0.6 * roofs->stated_gbs);
    }
    if (roofs->stated_gflops > 0) {
        EXPECT_LT(roofs->fp32_gflops, 1.01 * roofs->stated_gflops);
        EXPECT_GT(roofs->fp32_gflops, 0.8 * roofs->stated_gflops);
    }
}

TEST_F(GpuTime, TiledIsFasterThanUntiledAndThatThanSwapped) {
    const kernels::Shape shape{1024, 1024, 1024, 32};
    const auto operands = make_operands(*device_, shape);
    ASSERT_TRUE(operands) << operands.error().message;
    double last = 0;
    for (const char* kernel : {"untiled_swapped", "untiled", "tiled"}) {
        const auto timing = time_kernel(*device_, *operands, plan(kernel, shape), without_price());
        ASSERT_TRUE(timing) << timing.error().message;
        EXPECT_GT(timing->gflops, last) << kernel;
        last = timing->gflops;
    }
    const auto cublas = time_cublas(*device_, *operands, without_price());
    ASSERT_TRUE(cublas) << cublas.error().message;
    if (*cublas) {
        EXPECT_TRUE((*cublas)->verified);
        EXPECT_GT((*cublas)->gflops, last);
    }
}

TEST_F(GpuTime, TensorCoresAreFasterThanFp32) {
    const kernels::Shape shape{1024, 1024, 1024, 0};
    const auto halves = make_operands(*device_, shape, ElementType::F16),
               floats = make_operands(*device_, shape);
    ASSERT_TRUE(halves && floats);
    const auto rung = time_kernel(*device_, *halves, plan("mma_stages", shape), without_price());
    ASSERT_TRUE(rung) << rung.error().message;
    const auto half = time_cublas(*device_, *halves, without_price()),
               plain = time_cublas(*device_, *floats, without_price());
    ASSERT_TRUE(half && plain);
    if (!*half) GTEST_SKIP() << "no libcublas here";
    EXPECT_TRUE((*half)->verified);
    EXPECT_EQ((*half)->kernel, "cublas_half");
    EXPECT_GT((*half)->gflops, rung->gflops);
    EXPECT_GT(rung->gflops, (*plain)->gflops);
}

TEST_F(GpuTime, CublasKeepsAllBitsOfFp32) {
    auto cublas = Cublas::open(*device_);
    ASSERT_TRUE(cublas) << cublas.error().message;
    if (!*cublas) GTEST_SKIP() << "no libcublas here";
    for (const kernels::Shape& shape : {kernels::Shape{256, 256, 256}, kernels::Shape{2048, 2048, 2048}}) {
        const auto operands = make_operands(*device_, shape);
        ASSERT_TRUE(operands) << operands.error().message;
        const auto plain = (*cublas)->uses_plain_fp32(*device_, *operands);
        ASSERT_TRUE(plain) << plain.error().message;
        EXPECT_TRUE(*plain);
    }
}

TEST_F(GpuTime, ThePriceOfRecordingIsMeasured) {
    for (const kernels::Shape& shape :
         {kernels::Shape{256, 256, 256, 16}, kernels::Shape{1024, 2048, 1024, 16}}) {
        std::string note;
        TimeOptions options;
        options.note = [&](const std::string& text) { note = text; };
        const auto timing = time_kernel(*device_, plan("tiled", shape), options);
        ASSERT_TRUE(timing) << timing.error().message;
        EXPECT_EQ(note, "");
        EXPECT_GT(timing->recorded_ms, 0);
        EXPECT_EQ(timing->recorded_blocks, shape.k == 256 ? 256u : 16u);
    }
}

}  // namespace
}  // namespace tilescope::gpu
