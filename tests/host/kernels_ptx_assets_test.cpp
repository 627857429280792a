// assets/ptx is what kernels/textbook/make_ptx.sh makes of kernels/: held against the compiler where it is
// the same one, and against ptxas where there is one.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/textbook/catalogue.h"
#include "tests/file_text.h"

namespace tilescope::kernels {

// How a test names its kernel.
void PrintTo(const KernelInfo& kernel, std::ostream* out) { *out << kernel.name; }

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILESCOPE_SOURCE_DIR;

struct Output {
    int status = -1;
    std::string text;
};

Output shell_output(const std::string& command) {
    Output output;
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return output;
    char buffer[4096];
    while (size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, got);
    output.status = pclose(pipe);
    return output;
}

// T of 0 stands for a kernel that has none.
std::vector<int> widths_of(const KernelInfo& info) {
    if (info.own_tile) return {0};
    return {std::begin(kTiles), std::end(kTiles)};
}

std::string file_name(const KernelInfo& info, int tile) {
    return info.tiled && tile > 0 ? fmt::format("{}.t{}.ptx", info.name, tile) : info.name + ".ptx";
}

class PtxAssets : public testing::TestWithParam<KernelInfo> {};

TEST_P(PtxAssets, AreWhatTheSameCompilerMakesToday) {
    const KernelInfo& info = GetParam();
    const std::string clang = TILESCOPE_CLANG;
    if (clang.empty()) GTEST_SKIP() << "no clang++ here";
    const std::string shipped = file_text(kRoot / "assets/ptx" / file_name(info, widths_of(info).front()));
    const std::string made_by = shipped.substr(3, shipped.find('\n') - 3);  // "// clang version 14.0.6"
    ASSERT_EQ(made_by.rfind("clang version ", 0), 0u) << made_by;
    if (shell_output(clang + " --version").text.find(made_by + "\n") == std::string::npos)
        GTEST_SKIP() << "assets/ptx was made by " << made_by << ", which is not the clang++ of this machine";
    const fs::path out = fs::path(TILESCOPE_BINARY_DIR) / "tests" / ("ptx-" + info.name);
    const Output made =
        shell_output(fmt::format("CXX='{}' '{}' '{}' {}", clang,
                                 (kRoot / "kernels/textbook/make_ptx.sh").string(), out.string(), info.name));
    ASSERT_EQ(made.status, 0) << made.text;
    for (int tile : widths_of(info)) {
        const std::string name = file_name(info, tile);
        EXPECT_EQ(file_text(out / name), file_text(kRoot / "assets/ptx" / name))
            << name << " is stale; make the target ptx";
    }
}

TEST_P(PtxAssets, AreBuiltIntoTheProgram) {
    const KernelInfo& info = GetParam();
    for (int tile : widths_of(info)) {
        EXPECT_EQ(shipped_ptx(info.name, static_cast<uint32_t>(tile)),
                  file_text(kRoot / "assets/ptx" / file_name(info, tile)));
    }
    EXPECT_EQ(shipped_source(info.name), file_text(kRoot / "kernels/textbook" / (info.name + ".cu")));
}

void expect_no_folder(const std::string& file) {
    const std::string ptx = file_text(kRoot / "assets/ptx" / file);
    EXPECT_FALSE(ptx.empty()) << file;
    for (const char* folder : {"\"/", " /usr", " /home", "/work"})
        EXPECT_EQ(ptx.find(folder), std::string::npos) << file << ": " << folder;
}

TEST_P(PtxAssets, NameNoFolderOfTheMachineThatMadeThem) {
    for (int tile : widths_of(GetParam())) expect_no_folder(file_name(GetParam(), tile));
}

TEST(PtxRoofs, NameNoFolderOfTheMachineThatMadeThem) {
    for (const char* file : {"roofs/fp32_peak.ptx", "roofs/copy.ptx"}) expect_no_folder(file);
}

TEST_P(PtxAssets, AssembleWithPtxas) {
    std::string ptxas = "/usr/local/cuda/bin/ptxas";
    if (!fs::exists(ptxas)) ptxas = "ptxas";
    if (shell_output(ptxas + " --version").status != 0) GTEST_SKIP() << "no ptxas here (CUDA Toolkit)";
    for (int tile : widths_of(GetParam())) {
        const fs::path file = kRoot / "assets/ptx" / file_name(GetParam(), tile);
        const bool newer = file_text(file).find(".target sm_90a") != std::string::npos;
        const Output out = shell_output(
            fmt::format("{} -arch={} -o /dev/null '{}'", ptxas, newer ? "sm_90a" : "sm_80", file.string()));
        EXPECT_EQ(out.status, 0) << out.text;
        if (!GetParam().tiled) break;
    }
}

// LLVM left every loop as it is, so a site of the PTX is an access of the source: two in the inner loop.
TEST_P(PtxAssets, HaveASiteForEachAccessOfTheSource) {
    const KernelInfo& info = GetParam();
    if (info.own_tile) return;  // Ladder.KeepsAThreadsSumsInRegisters counts theirs
    for (int tile : kTiles) {
        const std::string ptx = file_text(kRoot / "assets/ptx" / file_name(info, tile));
        EXPECT_EQ(count_of(ptx, "ld.global.f32"), 2u);
        EXPECT_EQ(count_of(ptx, "st.global.f32"), 1u);
        EXPECT_EQ(count_of(ptx, "ld.shared.f32"), info.tiled ? 2u : 0u);
        EXPECT_EQ(count_of(ptx, "st.shared.f32"), info.tiled ? 2u : 0u);
        EXPECT_EQ(count_of(ptx, "bar.sync"), !info.tiled ? 0u : info.name == "tiled_no_barrier" ? 1u : 2u);
    }
}

// The kernels that measure a device's roofs, which no catalogue names.
TEST(PtxRoofs, AreWhatTheSameCompilerMakesToday) {
    const std::string clang = TILESCOPE_CLANG;
    if (clang.empty()) GTEST_SKIP() << "no clang++ here";
    const fs::path out = fs::path(TILESCOPE_BINARY_DIR) / "tests" / "ptx-roofs";
    for (const std::string name : {"roofs/fp32_peak", "roofs/copy"}) {
        const std::string shipped = file_text(kRoot / "assets/ptx" / (name + ".ptx"));
        const std::string made_by = shipped.substr(3, shipped.find('\n') - 3);
        if (shell_output(clang + " --version").text.find(made_by + "\n") == std::string::npos)
            GTEST_SKIP() << "assets/ptx was made by " << made_by;
        const Output made =
            shell_output(fmt::format("CXX='{}' '{}' '{}' {}", clang,
                                     (kRoot / "kernels/textbook/make_ptx.sh").string(), out.string(), name));
        ASSERT_EQ(made.status, 0) << made.text;
        EXPECT_EQ(file_text(out / (name + ".ptx")), shipped) << name << " is stale; make the target ptx";
    }
}

// 16 sums, 16 times, as roofs.cpp counts them; and a copy that reads before it writes, 8 pieces of 8 bytes.
TEST(PtxRoofs, DoWhatTheirMeasurementCounts) {
    const std::string peak = file_text(kRoot / "assets/ptx/roofs/fp32_peak.ptx");
    EXPECT_EQ(count_of(peak, "fma.rn.f32"), 256u);
    const std::string copy = file_text(kRoot / "assets/ptx/roofs/copy.ptx");
    EXPECT_EQ(count_of(copy, "ld.global.f64"), 8u);
    EXPECT_EQ(count_of(copy, "st.global.f64"), 8u);
    EXPECT_LT(copy.rfind("ld.global.f64"), copy.find("st.global.f64"));
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxAssets, testing::ValuesIn(catalogue()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace tilescope::kernels
