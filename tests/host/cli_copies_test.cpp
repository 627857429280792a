// cp.async in whole programs: the product that copies its tiles ahead is right on edges and rectangles, and a
// wait that is left out is found; CUDA's pipeline primitives compile and are these copies.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"
#include "tests/recorded.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

std::string with(std::string text, const std::string& part, const std::string& other) {
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

const std::string& kKernel = kernels::top_of_ladder();

std::string product() {
    return std::string(kernels::shipped_source(kKernel)) + R"(
#include <cstdio>
#include <vector>
int wrong(int m, int k, int n) {
    std::vector<float> a(m * k), b(k * n), p(m * n, -1.0f);
    for (int i = 0; i < m * k; ++i) a[i] = i * 7 % 19 - 9.0f;
    for (int i = 0; i < k * n; ++i) b[i] = i * 5 % 17 - 8.0f;
    float *M, *N, *P;
    cudaMalloc(&M, a.size() * 4);
    cudaMalloc(&N, b.size() * 4);
    cudaMalloc(&P, p.size() * 4);
    cudaMemcpy(M, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(N, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
    )" + kKernel +
           R"(<<<dim3((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS), THREADS>>>(M, N, P, m, k, n);
    cudaMemcpy(p.data(), P, p.size() * 4, cudaMemcpyDeviceToHost);
    int differ = 0;
    for (int r = 0; r < m; ++r)
        for (int c = 0; c < n; ++c) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += a[r * k + i] * b[i * n + c];
            differ += !(sum == p[r * n + c]);
        }
    return differ;
}
int main() {
    const int sizes[][3] = {{31, 26, 60}, {1, 1, 1}, {257, 17, 131}, {128, 8, 128}};
    int differ = 0;
    for (const auto& size : sizes) differ += wrong(size[0], size[1], size[2]);
    printf("%d wrong\n", differ);
    return differ != 0;
}
)";
}

TEST(CliCopies, TheProductThatCopiesAheadIsRight) {
    write(in_folder("ahead.cu"), product());
    const Ran ran = record("ahead.cu -o ahead");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("0 wrong"), std::string::npos) << ran.out;
    const Ran report = tilescope({"report", "ahead/" + kKernel + ".1.tsc", "--json"});
    ASSERT_EQ(report.status, 0) << report.err;
    const json faults = json::parse(report.out)["faults"];
    EXPECT_TRUE(faults.empty()) << faults.dump(1);
}

TEST(CliCopies, TheWaitThatIsLeftOutIsFound) {
    write(in_folder("hasty.cu"), with(product(), R"(asm volatile("cp.async.wait_group 1;");)", ""));
    const Ran ran = record("hasty.cu -o hasty");
    EXPECT_EQ(ran.out.find("0 wrong"), std::string::npos) << ran.out;
    const Ran report = tilescope({"report", "hasty/" + kKernel + ".1.tsc", "--json"});
    ASSERT_EQ(report.status, 0) << report.err;
    const json faults = json::parse(report.out)["faults"];
    ASSERT_FALSE(faults.empty());
    for (const json& fault : faults) EXPECT_EQ(fault["kind"], "read_before_wait") << fault.dump(1);
    EXPECT_NE(faults[0]["sentence"].get<std::string>().find("before it waits for its own copy there"),
              std::string::npos)
        << faults[0]["sentence"];
}

TEST(CliCopies, PipelinePrimitivesAreCopies) {
    write(in_folder("pipe.cu"), R"(#include <cstdio>
#include <cuda_pipeline.h>
__global__ void pipe(const float* in, float* out, int n) {
    __shared__ __align__(16) float tile[4 * 32 + 32];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 16);
    __pipeline_memcpy_async(&tile[128 + t], &in[t], 4, t < n ? 0 : 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[127 - t] + tile[128 + t];
}
int main() {
    float host[128], *in, *out;
    for (int i = 0; i < 128; ++i) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 32 * 4);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    pipe<<<1, 32>>>(in, out, 20);
    cudaMemcpy(host, out, 32 * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i)
        if (host[i] != 127 - i + (i < 20 ? i : 0)) return 5;
    puts("right");
}
)");
    const Ran ran = record("pipe.cu -o pipe");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("right"), std::string::npos) << ran.out;
    const Ran report = tilescope({"report", "pipe/pipe.1.tsc", "--json"});
    ASSERT_EQ(report.status, 0) << report.err;
    const json made = json::parse(report.out);
    EXPECT_TRUE(made["faults"].empty()) << made["faults"].dump(1);
    EXPECT_NE(report.out.find("\"copy\""), std::string::npos) << report.out;
}

}  // namespace
}  // namespace tilescope::cli_test
