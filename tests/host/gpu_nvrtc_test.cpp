// NVIDIA's run-time compiler, where it is installed; it needs no GPU.
#include <string>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "kernels/gpu/nvrtc.h"
#include "tests/file_text.h"

namespace tilescope::gpu {
namespace {

std::string shipped_source(const std::string& kernel) {
    return file_text(std::string(TILESCOPE_SOURCE_DIR) + "/kernels/textbook/" + kernel + ".cu");
}

class GpuNvrtc : public testing::Test {
protected:
    void SetUp() override {
        const auto tried = compile("", "empty.cu", 90, "");
        if (!tried && tried.error().message.find("was not found") != std::string::npos)
            GTEST_SKIP() << tried.error().message;
    }
};

TEST_F(GpuNvrtc, CompilesAShippedKernel) {
    const std::string source = shipped_source("tiled");
    ASSERT_FALSE(source.empty());
    for (const int tile : {8, 32}) {
        const auto compiled =
            compile(source, "kernels/textbook/tiled.cu", 90, "TILE_WIDTH=" + std::to_string(tile));
        ASSERT_TRUE(compiled) << compiled.error().message;
        EXPECT_EQ(compiled->compiler.rfind("NVRTC 1", 0), 0u) << compiled->compiler;
        EXPECT_NE(compiled->ptx.find(".entry tiled("), std::string::npos);
        EXPECT_NE(compiled->ptx.find(".target sm_90"), std::string::npos);
        EXPECT_NE(compiled->ptx.find(".loc"), std::string::npos) << "source lines";
        EXPECT_NE(compiled->ptx.find("kernels/textbook/tiled.cu"), std::string::npos);
        EXPECT_EQ(compiled->ptx.find('\0'), std::string::npos);
        const auto module = ptx::parse(compiled->ptx, "tiled");
        ASSERT_TRUE(module) << module.error().message;
        // The tile width that was asked for: Mds is T x T words.
        EXPECT_NE(compiled->ptx.find("Mds[" + std::to_string(tile * tile * 4) + "]"), std::string::npos);
    }
}

TEST_F(GpuNvrtc, TakesTheNewestArchitectureThatItKnows) {
    const auto compiled = compile(shipped_source("untiled"), "untiled.cu", 999, "");
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_NE(compiled->ptx.find(".entry untiled("), std::string::npos);
}

TEST_F(GpuNvrtc, SaysWhichArchitecturesItKnows) {
    const auto compiled = compile(shipped_source("untiled"), "untiled.cu", 10, "");
    ASSERT_FALSE(compiled);
    EXPECT_NE(compiled.error().message.find("10"), std::string::npos) << compiled.error().message;
}

TEST_F(GpuNvrtc, GivesItsFirstComplaint) {
    const auto compiled = compile(
        "extern \"C\" __global__ void broken(float* P) {\n    P[0] = missing;\n    also_missing();\n}\n",
        "broken.cu", 90, "");
    ASSERT_FALSE(compiled);
    const std::string& text = compiled.error().message;
    EXPECT_NE(text.find("broken.cu(2): error"), std::string::npos) << text;
    EXPECT_NE(text.find("\"missing\""), std::string::npos) << text;
    EXPECT_EQ(text.find("also_missing"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_F(GpuNvrtc, CompilesFunctionsWithoutAMark) {
    const auto compiled = compile(
        "float twice(float x) { return 2 * x; }\nextern \"C\" __global__ void f(float* P) { P[0] = "
        "twice(P[0]); }\n",
        "unmarked.cu", 90, "");
    EXPECT_TRUE(compiled) << compiled.error().message;
}

}  // namespace
}  // namespace tilescope::gpu
