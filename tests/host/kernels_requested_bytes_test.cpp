// Bytes asked for, from the kinds of blocks, held against recordings of whole launches and closed forms.
#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "kernels/textbook/requested_bytes.h"
#include "kernels/textbook/timings.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;

void expect_as_recorded(const std::string& kernel, const Shape& shape) {
    SCOPED_TRACE(testing::Message() << kernel << " " << shape.m << " " << shape.k << " " << shape.n << " T "
                                    << shape.tile);
    const auto sized = plan(kernel, shape);
    ASSERT_TRUE(sized) << sized.error().message;
    const auto bytes = requested_bytes(*sized, 1);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto summary = analysis::summarize(recorded(*sized));
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(bytes->loaded, (*summary)[StepKind::GlobalLoad].bytes);
    EXPECT_EQ(bytes->stored, (*summary)[StepKind::GlobalStore].bytes);
}

class RequestedBytesOf : public testing::TestWithParam<std::string> {};

TEST_P(RequestedBytesOf, IsWhatAWholeRecordingSays) {
    for (const Shape& shape : {Shape{4, 4, 4, 2}, Shape{3, 3, 3, 2}, Shape{1, 1, 1, 4}, Shape{12, 7, 9, 4},
                               Shape{8, 16, 24, 8}, Shape{33, 20, 5, 8}, Shape{5, 40, 50, 16},
                               Shape{48, 17, 35, 16}, Shape{70, 33, 40, 32}, Shape{32, 32, 64, 32}})
        expect_as_recorded(GetParam(), shape);
}

TEST_P(RequestedBytesOf, FollowsTheClosedFormOfWholeTiles) {
    const uint64_t m = 64, k = 96, n = 128;
    const bool tiled = find(GetParam())->tiled;
    for (uint32_t tile : {8u, 16u, 32u}) {
        const auto sized = plan(GetParam(), {64, 96, 128, tile});
        ASSERT_TRUE(sized);
        const auto bytes = requested_bytes(*sized, 1);
        ASSERT_TRUE(bytes) << bytes.error().message;
        EXPECT_EQ(bytes->loaded, 4 * 2 * m * k * n / (tiled ? tile : 1));
        EXPECT_EQ(bytes->stored, 4 * m * n);
    }
}

// NVRTC unrolls loops, keeps elements in registers and joins shared loads, but asks for the same bytes.
TEST_P(RequestedBytesOf, IsTheSameAsNvrtcCompilesThem) {
    for (const Shape& shape : {Shape{4, 4, 4, 2}, Shape{3, 3, 3, 2}, Shape{12, 7, 9, 4}, Shape{33, 20, 5, 8},
                               Shape{48, 17, 35, 16}, Shape{70, 33, 40, 32}}) {
        SCOPED_TRACE(shape.tile);
        auto sized = plan(GetParam(), shape);
        ASSERT_TRUE(sized) << sized.error().message;
        const auto by_clang = analysis::summarize(recorded(*sized));
        sized->ptx = shipped_nvrtc_ptx(GetParam(), shape.tile);
        ASSERT_FALSE(sized->ptx.empty());
        const auto trace = recorded(*sized);
        EXPECT_TRUE(trace.meta.complete);
        if (!made_wrong(GetParam())) EXPECT_TRUE(trace.meta.result.verified);
        const auto by_nvrtc = analysis::summarize(trace);
        ASSERT_TRUE(by_clang && by_nvrtc);
        EXPECT_EQ((*by_nvrtc)[StepKind::GlobalLoad].bytes, (*by_clang)[StepKind::GlobalLoad].bytes);
        EXPECT_EQ((*by_nvrtc)[StepKind::GlobalStore].bytes, (*by_clang)[StepKind::GlobalStore].bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RequestedBytesOf, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const KernelInfo& kernel : kernels_with_tile_width())
                                 names.push_back(kernel.name);
                             return names;
                         }()),
                         [](const auto& parameter) { return parameter.param; });

// Only four blocks are recorded, whatever the width.
TEST(RequestedBytes, OfLargeSizesIsQuick) {
    const auto sized = plan("tiled", {8192, 64, 8191, 32});
    ASSERT_TRUE(sized);
    const auto bytes = requested_bytes(*sized, 1);
    ASSERT_TRUE(bytes) << bytes.error().message;
    // Every one of 256 x 256 blocks loads 1024 elements of M in each of 2 phases; of N one column less where
    // the matrix ends.
    EXPECT_EQ(bytes->loaded, 4 * (256ull * 256 * 1024 * 2 + 256ull * 64 * 8191));
    EXPECT_EQ(bytes->stored, 4 * 8192ull * 8191);
}

TEST(RequestedBytes, NamesPtxThatCannotRun) {
    auto sized = plan("tiled", {4, 4, 4, 2});
    ASSERT_TRUE(sized);
    sized->ptx = "nonsense";
    sized->ptx_name = "bad.ptx";
    const auto bytes = requested_bytes(*sized, 1);
    ASSERT_FALSE(bytes);
    EXPECT_NE(bytes.error().message.find("bad.ptx"), std::string::npos) << bytes.error().message;
}

}  // namespace
}  // namespace tilescope::kernels
