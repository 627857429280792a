// A file without a main whose host function launches the kernels: it is called with what is said and guessed,
// and recorded like any program.
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

constexpr const char* kScale = R"(#include <cuda_runtime.h>
__global__ void scale(const float* in, float* out, int rows, int cols, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) out[i] = factor * in[i];
}
__global__ void shift(float* out, const int* by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[by[i]] += 1;
}
extern "C" void solve(const float* in, const int* by, float* out, int rows, int cols, float factor) {
    scale<<<(rows * cols + 127) / 128, 128>>>(in, out, rows, cols, factor);
    shift<<<1, 32>>>(out, by, 20);
    cudaDeviceSynchronize();
}
)";

trace::Trace recording_here(const std::string& path) { return recording(in_folder(path)); }

TEST(CliCall, ASolutionIsCalledWithGuesses) {
    write(in_folder("solve it.cu"), kScale);
    const Ran ran = record("'solve it.cu' -o out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string command = ran.out.substr(0, ran.out.find('\n'));
    // Sizes by their names, indices that lie inside, arrays as large as what is touched.
    EXPECT_EQ(command,
              "tilescope record 'solve it.cu' --call 'solve(in=float[4096]:random, by=int[20]:iota, "
              "out=float[4096]:zeros, rows=64, cols=64, factor=2)'");
    const trace::Trace scale = recording_here("out/scale.1.tsc"), shift = recording_here("out/shift.2.tsc");
    EXPECT_EQ(scale.launch.grid.x, 32u);
    ASSERT_EQ(scale.launch.arrays.size(), 2u);
    EXPECT_EQ(scale.launch.arrays[0].elements(), 4096u);
    EXPECT_EQ(scale.meta.source, kScale) << "of the user's file, not of the main that was made";
    EXPECT_FALSE(std::filesystem::exists(in_folder("solve it")));

    // The command that was printed makes the same recordings.
    const Ran again = record(command.substr(17) + " -o again");
    EXPECT_EQ(again.status, 0) << again.err;
    const trace::Trace twice = recording_here("again/scale.1.tsc");
    EXPECT_EQ(twice.launch.arrays, scale.launch.arrays);
    EXPECT_EQ(twice.key, scale.key);
}

TEST(CliCall, WhatIsSaidIsTaken) {
    write(in_folder("s.cu"), std::string("// tilescope: --call 'solve(rows=4, factor=0.5)'\n") + kScale);
    const Ran ran =
        record("s.cu --arg cols=8 --json -o out --kernel scale --call 'solve(in=float[4,8]:ones)'");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json told = json::parse(ran.out);
    ASSERT_EQ(told["launches"].size(), 2u);
    EXPECT_EQ(told["launches"][0]["grid"], json({1, 1, 1}));
    EXPECT_TRUE(told["launches"][1]["recorded"].is_null());
    EXPECT_NE(
        told["command"].get<std::string>().find("in=float[4,8]:ones, by=int[20]:iota, out=float[32]:zeros, "
                                                "rows=4, cols=8, factor=0.5"),
        std::string::npos)
        << told["command"];
    const trace::Trace scale = recording_here("out/scale.1.tsc");
    ASSERT_TRUE(scale.launch.arrays[0].contents.bytes);
    float first = 0;
    std::memcpy(&first, scale.launch.arrays[0].contents.bytes->data(), sizeof first);
    EXPECT_EQ(first, 1);
}

TEST(CliCall, AFunctionBesideAMainIsCalledInItsPlace) {
    write(in_folder("m.cu"),
          "#include <cstdio>\n"
          "__global__ void fill(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }\n"
          "void run(int* a, int n) { fill<<<1, 64>>>(a, n); }\n"
          "int main() { puts(\"of its own\"); return 3; }\n");
    const Ran ran = record("m.cu --call 'run(n=40)'");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("--call 'run(a=int[40]:random, n=40)'"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("of its own"), std::string::npos);
    EXPECT_EQ(record("m.cu").status, 1) << "without a call it is a program";
}

TEST(CliCall, AFaultIsSaidAndTheCallThatLeadsToIt) {
    write(in_folder("s.cu"), kScale);
    const Ran ran = record("s.cu --call 'solve(in=float[100], rows=64, cols=64)'");
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.out.find("--call 'solve(in=float[100]:random,"), std::string::npos) << ran.out;
    EXPECT_NE(ran.err.find("reads in[100]"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("outside in's 100 elements"), std::string::npos) << ran.err;
}

TEST(CliCall, AFunctionThatCannotBeCalledLeavesItsKernelAlone) {
    write(in_folder("k.cu"),
          "__global__ void fill(int* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = n; }\n"
          "void run(int** a, int n) { fill<<<1, 64>>>(*a, n); }\n");
    const Ran ran = record("k.cu");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("--kernel fill"), std::string::npos) << ran.out;
    EXPECT_NE(record("k.cu --call 'run(n=4)'").err.find("'a' of run is a pointer to pointers"),
              std::string::npos);
}

TEST(CliCall, WhatDoesNotFitIsRefused) {
    write(in_folder("s.cu"), kScale);
    expect_refused(1, {"record", "s.cu", "--call", "solve(m=1)"},
                   "solve has no parameter 'm'; its parameters are in");
    expect_refused(1, {"record", "s.cu", "--call", "solve(in=4)"}, "'in' is a pointer: give it an array");
    expect_refused(1, {"record", "s.cu", "--call", "solve(rows=float[4])"}, "'rows' is a number");
    expect_refused(2, {"record", "s.cu", "--", "word"}, "'word' is an argument for a main");
}

}  // namespace
}  // namespace tilescope::cli_test
