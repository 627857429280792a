// What `record` says of a program beyond its launches' own faults: every fault that the report knows, memory that
// nobody filled, lanes that do not come, shared arrays at one address, copies in the wrong direction, elements
// that no thread stored, managed memory that nobody waited for.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

struct Said {
    int status = -1;
    json document;
    std::string err;
    // Sentences of a launch's faults of a kind, and their severities.
    std::string of(uint64_t launch, const std::string& kind) const {
        std::string all;
        for (const json& fault : document["launches"][launch - 1]["faults"])
            if (fault["kind"] == kind)
                all +=
                    fault["severity"].get<std::string>() + ": " + fault["sentence"].get<std::string>() + "\n";
        return all;
    }
    std::string calls() const {
        std::string all;
        for (const json& call : document["calls"])
            all += call["severity"].get<std::string>() + ": " + call["sentence"].get<std::string>() + "\n";
        return all;
    }
};

Said said(const std::string& name, const std::string& program) {
    write(in_folder(name + ".cu"), program);
    const Ran ran = record(name + ".cu --every --json -o " + name);
    Said all{ran.status, json::parse(ran.out, nullptr, false), ran.err};
    if (!all.document.is_object() || !all.document.contains("calls"))
        ADD_FAILURE() << ran.out << ran.err,
            all.document = {{"launches", json::array()}, {"calls", json::array()}};
    return all;
}

void expect_in(const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        EXPECT_NE(text.find(word), std::string::npos) << text << "lacks " << word;
}

TEST(CliUndefined, MemoryThatNobodyFilled) {
    const Said all = said("unfilled", R"(#include <cuda_runtime.h>
struct Padded { char c; double d; };
__global__ void add(float *o, const float *in, int n) { int i = threadIdx.x; if (i < n) o[i] += in[i]; }
__global__ void part(const float *in, float *o, int n) { int i = threadIdx.x; if (i < n) o[i] = in[i]; }
__global__ void count(int *h) { atomicAdd(&h[threadIdx.x % 4], 1); }
__global__ void make(Padded *p) { p[threadIdx.x].c = 1; p[threadIdx.x].d = 2; }
__global__ void take(const Padded *p, Padded *q) { q[threadIdx.x] = p[threadIdx.x]; }
__global__ void vain(const float *in, float *o) { float v = ((volatile const float *)in)[threadIdx.x]; o[threadIdx.x] = v * 0 == 1 ? 1 : 2; }
int main() {
    const int n = 256; float h[n], *a, *b, *c, *d, *e; int *f; Padded *p, *q;
    for (float &x : h) x = 1;
    cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4); cudaMalloc(&d, n * 4); cudaMalloc(&e, n * 4);
    cudaMalloc(&f, 16); cudaMalloc(&p, 32 * sizeof *p); cudaMalloc(&q, 32 * sizeof *q);
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
    add<<<1, n>>>(b, a, n);
    cudaMemcpy(c, h, n, cudaMemcpyHostToDevice);
    part<<<1, n>>>(c, b, n);
    cudaMemcpy(d, c, n * 4, cudaMemcpyDeviceToDevice);
    part<<<1, n>>>(d, b, n);
    count<<<1, 32>>>(f);
    make<<<1, 32>>>(p);
    take<<<1, 32>>>(p, q);
    vain<<<1, n>>>(e, b);
    cudaMemset(e, 0, n * 4);
    part<<<1, n>>>(e, b, n);
    return cudaDeviceSynchronize();
}
)");
    EXPECT_EQ(all.status, 1);
    expect_in(all.of(1, "unfilled"), {"fault: thread[0] of block(0) reads o[0] at line 3", "256 such reads"});
    expect_in(all.of(2, "unfilled"),
              {"fault: thread[64] of block(0) reads in[64] at line 4", "from in[64] to in[255]"});
    expect_in(all.of(3, "unfilled"), {"in[64]", "192"});
    expect_in(all.of(4, "unfilled"), {"updates h[0] at line 5"});
    EXPECT_EQ(all.of(5, "unfilled") + all.of(6, "unfilled"), "") << "what fills up a struct is nobody's";
    expect_in(all.of(7, "unfilled"), {"remark: ", "changes nothing"});
    EXPECT_EQ(all.of(8, "unfilled"), "");
}

TEST(CliUndefined, LanesThatDoNotCome) {
    const Said all = said("lanes", R"(#include <cuda_runtime.h>
__global__ void sum(const int *in, int *out, int n) {
    int i = threadIdx.x;
    if (i < n) {
        int v = in[i];
        for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
        if (i == 0) *out = v;
    }
}
__global__ void vote(const int *in, int *out) {
    if (threadIdx.x < 8) out[threadIdx.x] = __ballot_sync(0xffffffff, in[threadIdx.x]);
    out[threadIdx.x] += 1;
}
__global__ void half(const int *in, int *out) {  // right: its mask names who comes, and what is read beyond is unused
    int v = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int d = 8; d > 0; d >>= 1) v += __shfl_down_sync(0xffff, v, d);
        if (threadIdx.x == 0) *out = v;
    }
}
__global__ void whole(const int *in, int *out) {  // right: both sides come to a __syncwarp of the same mask
    if (threadIdx.x & 1) { out[threadIdx.x] = in[0]; __syncwarp(); } else { __syncwarp(); }
    int v = in[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    out[threadIdx.x] = v + __popc(__activemask());
}
int main() {
    int h[32], *a, *o; for (int &x : h) x = 1;
    cudaMalloc(&a, 128); cudaMalloc(&o, 128);
    cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice); cudaMemset(o, 0, 128);
    sum<<<1, 32>>>(a, o, 20);
    vote<<<1, 32>>>(a, o);
    half<<<1, 32>>>(a, o);
    whole<<<1, 32>>>(a, o);
    return cudaDeviceSynchronize();
}
)");
    EXPECT_EQ(all.status, 1);
    expect_in(all.of(1, "absent_lanes"), {"fault: lanes 20 to 31 of warp 0", "0xffffffff",
                                          "do not come to the shuffle at line 6", "undefined"});
    expect_in(all.of(2, "absent_lanes"),
              {"fault: lanes 8 to 31 of warp 0", "do not come to the vote at line 11"});
    EXPECT_EQ(all.of(3, "absent_lanes") + all.of(4, "absent_lanes"), "");
}

TEST(CliUndefined, SharedArraysAtOneAddress) {
    const Said all = said("shared", R"(#include <cuda_runtime.h>
__global__ void both(float *o) {
    extern __shared__ float a[];
    extern __shared__ int b[];
    int t = threadIdx.x;
    a[t] = t * 0.5f;
    b[t] = t;
    __syncthreads();
    o[t] = a[t] + b[t];
}
__global__ void cut(float *o) {  // right: one array, cut in two
    extern __shared__ float all[];
    int t = threadIdx.x, *b = (int *)(all + 128);
    all[t] = t * 0.5f;
    b[t] = t;
    __syncthreads();
    o[t] = all[t] + b[t];
}
__global__ void turns(float *o) {  // right: one after the other
    extern __shared__ float first[];
    extern __shared__ int second[];
    int t = threadIdx.x;
    first[t] = t;
    __syncthreads();
    float v = first[127 - t];
    __syncthreads();
    second[t] = t;
    __syncthreads();
    o[t] = v + second[127 - t];
}
int main() {
    float *o; cudaMalloc(&o, 512);
    both<<<1, 128, 1024>>>(o); cut<<<1, 128, 1024>>>(o); turns<<<1, 128, 1024>>>(o);
    return cudaDeviceSynchronize();
}
)");
    EXPECT_EQ(all.status, 1);
    expect_in(all.of(1, "one_address"), {"fault: a and b are two extern __shared__ arrays at one address",
                                         "at line 9", "through b at line 7"});
    EXPECT_EQ(all.of(2, "one_address") + all.of(3, "one_address"), "");
}

TEST(CliUndefined, CopiesAreToldWithTheirLineAndWhatIsMeant) {
    const Said all = said("copies", R"(#include <cuda_runtime.h>
__constant__ float coef[8];
__device__ int total;
__global__ void set(float *p) { *p = 1; }
__global__ void k(float *o) { o[threadIdx.x] = coef[threadIdx.x % 8] + total; }
int main() {
    float h[32] = {}, *d, *e;
    cudaMalloc(&d, 128); cudaMalloc(&e, 128);
    k<<<1, 32>>>(d);
    cudaMemcpy(h, d, 128, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(d, h, 128, cudaMemcpyDeviceToHost);
    cudaMemcpy2D(e, 16, d, 16, 16, 8, cudaMemcpyHostToDevice);
    cudaMemcpy(coef, h, 32, cudaMemcpyHostToDevice);
    cudaMemcpy(h, &total, 4, cudaMemcpyDeviceToHost);
    cudaMemcpyToSymbol(coef, d, 32);
    cudaMemcpyToSymbol(d, h, 32);
    cudaMemcpy(d, h, 132, cudaMemcpyHostToDevice);
    cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost);  // right
    set<<<1, 1>>>(coef);
    cudaDeviceSynchronize();
}
)");
    EXPECT_EQ(all.status, 1);
    EXPECT_EQ(all.document["calls"].size(), 8u);
    expect_in(all.document["launches"].back()["error"].dump(), {"line 4", "the host's own copy of coef"});
    expect_in(
        all.calls(),
        {"fault: cudaMemcpy at line 10 says cudaMemcpyHostToDevice, but copies from device memory to the "
         "host's memory: cudaMemcpyDeviceToHost is meant\n",
         "cudaMemcpyAsync at line 11", "cudaMemcpyHostToDevice is meant\n", "cudaMemcpy2D at line 12",
         "cudaMemcpyDeviceToDevice is meant\n", "cudaMemcpy at line 13 is given the variable coef",
         "cudaMemcpyToSymbol is meant\n", "cudaMemcpy at line 14", "total", "cudaMemcpyFromSymbol is meant\n",
         "cudaMemcpyToSymbol at line 15", "cudaMemcpyToSymbol at line 16", "cudaMemcpy is meant\n",
         "cudaMemcpy at line 17 reaches 4 bytes behind"});
}

TEST(CliUndefined, WhatNoThreadStoredAndTheHostReadsTooSoonAreRemarks) {
    const Said all = said("remarks", R"(#include <cuda_runtime.h>
__global__ void add(const float *a, float *c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i]; }
__global__ void k(int *p) { p[threadIdx.x] = threadIdx.x; }
int main() {
    const int n = 1000; static float h[n], *a, *c; int *p, sum = 0;
    cudaMalloc(&a, n * 4); cudaMalloc(&c, n * 4); cudaMallocManaged(&p, 128);
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
    add<<<n / 256, 256>>>(a, c, n);
    cudaMemcpy(h, c, 768 * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(h, c, n * 4, cudaMemcpyDeviceToHost);
    k<<<1, 32>>>(p);
    sum += p[5];
    cudaDeviceSynchronize();
    k<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    sum += p[5];
    return sum == 10 ? 0 : 1;
}
)");
    EXPECT_EQ(all.status, 0) << all.err;
    EXPECT_EQ(all.document["calls"].size(), 2u) << all.calls();
    expect_in(all.calls(),
              {"remark: cudaMemcpy at line 10 copies c[768] to c[999] to the host", "768 threads",
               "1,000 elements", "remark: line 12: the host uses p while launch 2 may still run"});
}

TEST(CliUndefined, EveryFaultOfTheReportIsSaidByRecord) {
    write(in_folder("hist.cu"), R"(#include <cuda_runtime.h>
__global__ void hist(const int *in, int *h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) h[in[i] % 10] = h[in[i] % 10] + 1;
}
__global__ void half_sync(float *a) {
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 32) { __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x]; }
}
int main() {
    static int a[2048]; int *d, *h; float *f;
    for (int i = 0; i < 2048; ++i) a[i] = i;
    cudaMalloc(&d, sizeof a); cudaMalloc(&h, 40); cudaMalloc(&f, 256); cudaMemset(h, 0, 40); cudaMemset(f, 0, 256);
    cudaMemcpy(d, a, sizeof a, cudaMemcpyHostToDevice);
    hist<<<8, 256>>>(d, h, 2048);
    half_sync<<<1, 64>>>(f);
}
)");
    const Ran ran = record("hist.cu -o out");
    EXPECT_EQ(ran.status, 1);
    expect_in(ran.err,
              {"launch 1, hist: ", "nothing orders blocks", "at line 4", "launch 2, half_sync: ", "line 9"});
    expect_in(ran.out, {"'tilescope report out/hist.1.tsc'", "'tilescope open out/hist.1.tsc'"});
    const json report = json::parse(tilescope({"report", "out/hist.1.tsc", "--json"}).out, nullptr, false);
    ASSERT_TRUE(report.is_object());
    EXPECT_GT(report["faults"].size(), 1u);
    for (const json& fault : report["faults"]) EXPECT_EQ(fault["severity"], "fault") << fault;
}

TEST(CliUndefined, LaunchesOfOneShapeAreNotCalledTheSame) {
    write(in_folder("shape.cu"), R"(#include <cuda_runtime.h>
__global__ void offset(float *a, int s) { a[blockIdx.x * blockDim.x + threadIdx.x + s] += 1; }
int main() {
    float *a; cudaMalloc(&a, 8192); cudaMemset(a, 0, 8192);
    for (int s = 0; s < 4; ++s) offset<<<4, 256>>>(a, s);
    return cudaDeviceSynchronize();
}
)");
    const Ran ran = record("shape.cu -o out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    expect_in(ran.out, {"4 launches of one shape"});
    EXPECT_EQ(ran.out.find("times the same"), std::string::npos) << ran.out;
}

TEST(CliUndefined, AGuessOfOursIsMadeInsideAndAFolderIsMade) {
    write(in_folder("between.cu"), R"(#include <cuda_runtime.h>
__global__ void sum(const int *in, int *out, int N, int S, int E) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i == 0) out[0] = in[E] - (S ? in[S - 1] : 0);
}
extern "C" void solve(const int *input, int *output, int N, int S, int E) {
    int *d; cudaMalloc(&d, N * sizeof(int)); cudaMemcpy(d, input, N * sizeof(int), cudaMemcpyDeviceToDevice);
    sum<<<1, 32>>>(d, output, N, S, E); cudaDeviceSynchronize(); cudaFree(d);
}
)");
    const Ran inside = record("between.cu");
    EXPECT_EQ(inside.status, 0) << inside.out << inside.err;
    const Ran outside = record("between.cu --arg N=64 --arg S=1 --arg E=64");
    EXPECT_EQ(outside.status, 1);
    expect_in(outside.err, {"in[64]"});
    write(in_folder("alone.cu"),
          "__global__ void add(const float *a, float *c, int n) { int i = blockIdx.x * blockDim.x + "
          "threadIdx.x; if "
          "(i < n) c[i] = a[i]; }\n");
    EXPECT_EQ(record("alone.cu -o NEW/").status, 0);
    EXPECT_TRUE(std::filesystem::is_regular_file(in_folder("NEW/add.1.tsc")));
}

}  // namespace
}  // namespace tilescope::cli_test
