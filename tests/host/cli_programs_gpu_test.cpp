// Programs on a GPU, with the driver that stands in for NVIDIA's: it runs one kernel, add_one, by itself, and
// so shows what the runtime does around a launch. A launch that is recorded runs twice, first with its
// recording, and memory is put back between the two: were it not, every element would be one too large.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;

// Two launches with a copy by the host between them. It checks itself against the sum worked out by hand:
// element i is 10 i, the host makes the first eight 1000 + i after the first launch, and each launch adds
// one.
constexpr const char* kAddOne = R"(#include <cstdio>
extern "C" __global__ void add_one(unsigned* p, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1;
}
int main() {
    unsigned host[64], once[64], some[8], *p, *other;
    for (unsigned i = 0; i < 64; ++i) host[i] = 10 * i;
    for (unsigned i = 0; i < 8; ++i) some[i] = 1000 + i;
    if (cudaMalloc(&p, sizeof host) != cudaSuccess || cudaMalloc(&other, sizeof host) != cudaSuccess) return 3;
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(other, 0, sizeof host);
    add_one<<<2, 32>>>(p, 60);
    if (cudaMemcpy(once, p, sizeof once, cudaMemcpyDeviceToHost) != cudaSuccess) return 6;
    cudaMemcpy(p, some, sizeof some, cudaMemcpyHostToDevice);
    add_one<<<2, 32>>>(p, 60);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < 64; ++i) {
        unsigned added = i < 60 ? 1 : 0;
        if (once[i] != 10 * i + added) { printf("once[%u] is %u\n", i, once[i]); return 4; }
        if (host[i] != (i < 8 ? 1000 + i + added : 10 * i + 2 * added)) {
            printf("p[%u] is %u\n", i, host[i]);
            return 5;
        }
    }
    cudaMemcpy(host, other, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < 64; ++i)
        if (host[i] != 0) { printf("other[%u] is %u\n", i, host[i]); return 7; }
    puts("right");
    return cudaDeviceSynchronize();
}
)";

Ran record_on_gpu(const std::string& told, const std::string& rest) {
    write(in_folder("add.cu"), kAddOne);
    const std::string path = fs::path(TILESCOPE_FAKE_CUDA).parent_path().string();
    return shell("unset CUDA_VISIBLE_DEVICES; XDG_CACHE_HOME=\"$PWD/cache\" LD_LIBRARY_PATH='" + path +
                 "' FAKE_CUDA='" + told + "' \"$TILESCOPE\" record add.cu --backend gpu " + rest);
}

TEST(CliProgramsOnAGpu, LeaveMemoryAsOneRunDoes) {
    const Ran none = record_on_gpu("", "--launch 2 -o one");
    EXPECT_EQ(none.status, 0) << none.out << none.err;
    EXPECT_NE(none.out.find("right\n"), std::string::npos) << none.out;
    EXPECT_FALSE(fs::exists(in_folder("one/add_one.1.tsc")));
    EXPECT_TRUE(fs::exists(in_folder("one/add_one.2.tsc")));

    const Ran both = record_on_gpu("", "--every -o both");
    EXPECT_EQ(both.status, 0) << both.out << both.err;
    EXPECT_NE(both.out.find("right\n"), std::string::npos) << both.out;
    for (const char* launch : {"1", "2"}) {
        const Ran report = tilescope({"report", "--json", std::string("both/add_one.") + launch + ".tsc"});
        ASSERT_EQ(report.status, 0) << report.err;
        EXPECT_NE(report.out.find("Stand-in GPU"), std::string::npos) << report.out;
    }
}

TEST(CliProgramsOnAGpu, AreListedAsWhatRan) {
    const Ran ran = record_on_gpu("", "--json -o out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.err.find("right\n"), std::string::npos) << "the program's own output";
    const auto list = nlohmann::json::parse(ran.out);
    EXPECT_EQ(list["backend"], "gpu");
    ASSERT_EQ(list["launches"].size(), 2u);
    EXPECT_TRUE(list["launches"][0]["recorded"].is_string());
    EXPECT_TRUE(list["launches"][1]["recorded"].is_null());
    for (const auto& launch : list["launches"])
        EXPECT_TRUE(launch["same_as"].is_null()) << "each runs on a GPU";
}

TEST(CliProgramsOnAGpu, SayWhatTheDriverRefuses) {
    for (const auto& [told, says] : {std::pair{"launch=701", "too many resources requested for launch"},
                                     {"fault=700", "an illegal memory access was encountered"}}) {
        const Ran ran = record_on_gpu(told, "-o out");
        EXPECT_EQ(ran.status, 1) << told << ran.out << ran.err;
        EXPECT_EQ(ran.out.find("right\n"), std::string::npos) << told;
        EXPECT_NE(ran.err.find("launch 1, add_one: "), std::string::npos) << ran.err;
        EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    }
    const Ran none = record_on_gpu("init=100", "-o out");
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.err.find("GPU"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace tilescope::cli_test
