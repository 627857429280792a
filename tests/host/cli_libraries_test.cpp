// Programs that call NVIDIA's libraries and use its numbers of 16 and 8 bits: they compile, compute what is right, and say
// what of them is not recorded.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/file_text.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;

// A kernel held against cuBLAS, with matrices that cuRAND filled; states of cuRAND in device code.
constexpr const char* kLibraries = R"(#include <cstdio>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <curand.h>
#include <curand_kernel.h>
__global__ void product(const float* a, const float* b, float* c, int n) {
    int row = threadIdx.x, col = blockIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row + k * n] * b[k + col * n];
    c[row + col * n] = sum;
}
__global__ void draw(curandState* states, curandStatePhilox4_32_10_t* others, unsigned* bits) {
    int i = threadIdx.x;
    curand_init(1234, i, 0, &states[i]);
    curand_init(1234, i, 0, &others[i]);
    bits[i] = curand(&states[i]);
    bits[32 + i] = curand(&others[i]);
}
int main() {
    const int n = 32;
    float *a, *b, *c, *d;
    cudaMalloc(&a, n * n * 4), cudaMalloc(&b, n * n * 4), cudaMalloc(&c, n * n * 4), cudaMalloc(&d, n * n * 4);
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
    curandGenerateUniform(generator, a, n * n);
    curandGenerateUniform(generator, b, n * n);
    curandDestroyGenerator(generator);
    product<<<n, n>>>(a, b, c, n);
    cublasHandle_t handle;
    cublasCreate(&handle);
    const float one = 1, zero = 0, minus = -1;
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, d, n);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, d, n);
    cublasSaxpy(handle, n * n, &minus, c, 1, d, 1);
    float size = 1;
    cublasSnrm2(handle, n * n, d, 1, &size);
    cublasDestroy(handle);
    printf("product %s\n", size < 1e-3f ? "right" : "wrong");
    curandState* states;
    curandStatePhilox4_32_10_t* others;
    unsigned *bits, host[64];
    cudaMalloc(&states, 32 * sizeof *states), cudaMalloc(&others, 32 * sizeof *others), cudaMalloc(&bits, sizeof host);
    draw<<<1, 32>>>(states, others, bits);
    cudaMemcpy(host, bits, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 32; ++i) {
        curandState state;
        curand_init(1234, i, 0, &state);
        curandStatePhilox4_32_10_t other;
        curand_init(1234, i, 0, &other);
        wrong += host[i] != curand(&state) || host[32 + i] != curand(&other);
    }
    printf("%u %u, %d wrong\n", host[1], host[33], wrong);
    return cudaDeviceSynchronize();
}
)";

TEST(CliLibraries, CublasAndCurandAreComputedOnTheCpuAndSaySo) {
    write(in_folder("libraries.cu"), kLibraries);
    const Ran ran = record("libraries.cu -o out --flags '-lcublas -l curand -lcudart'");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("product right\n3522650202 3507855656, 0 wrong\n"), std::string::npos) << ran.out;
    EXPECT_EQ(count_of(ran.err, "tilescope: cublasSgemm is computed on the CPU and not recorded\n"), 1u)
        << ran.err;
    EXPECT_EQ(count_of(ran.err, "curandGenerateUniform is computed on the CPU and not recorded"), 1u)
        << ran.err;
    EXPECT_TRUE(fs::is_regular_file(in_folder("out/product.1.tsc")));
    // No table of powers, and no array of its own: the states and the bits are all that the kernel stores.
    const trace::Trace drawn = recording(in_folder("out/draw.2.tsc"));
    EXPECT_EQ(drawn.launch.arrays.size(), 3u);
}

// A program that only calls libraries has nothing to record, and the document says that this is why the command fails.
TEST(CliLibraries, AProgramWithoutAKernelSaysWhyItFails) {
    write(in_folder("axpy.cu"), R"(#include <cublas_v2.h>
int main() {
    float *x, *y, one = 1;
    cudaMalloc(&x, 400), cudaMalloc(&y, 400);
    cudaMemset(x, 0, 400), cudaMemset(y, 0, 400);
    cublasHandle_t handle;
    cublasCreate(&handle);
    return cublasSaxpy(handle, 100, &one, x, 1, y, 1);
}
)");
    const Ran ran = record("axpy.cu --json");
    EXPECT_EQ(ran.status, 1);
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << ran.out;
    EXPECT_EQ(document["exit"], 0);
    EXPECT_EQ(document["failure"], "the program launched no kernel, so that nothing was recorded");
    EXPECT_NE(ran.err.find(document["failure"].get<std::string>()), std::string::npos) << ran.err;
}

// Every function of a pair that has a value is computed in device code and on the host, where tests/unit holds it against
// exact numbers.
constexpr const char* kShortFloats = R"(#include <cstdio>
#include <cstring>
#include <cassert>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_profiler_api.h>
#include <cooperative_groups.h>
#include <device_types.h>
#include <mma.h>
#include <nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
template <class H, class H2>
__host__ __device__ unsigned mixed(H2 a, H2 b, H2 c, int i) {
    H2 made[] = {__hfma2(a, b, c), __hadd2_sat(a, b), __hmax2(a, b), __hmin2_nan(a, c), __hcmadd(a, b, c), __h2div(a, b),
                 __habs2(__hneg2(a)), __hgtu2(a, b), a + b, __hsub2_rn(__hmul2_rn(a, b), c),
                 __hfma2_relu(a, b, c), H2(__hmax(a.x, b.x), __hmul_rn(a.y, c.y))};
    unsigned sum = __hlt2_mask(a, b) + __hbge2(a, c) + __hisnan2(a).x.tilescope_bits;
    for (H2 one : made) {
        unsigned bits;
        memcpy(&bits, &one, 4);
        // not a number has many names
        if (!__hisnan(one.x) && !__hisnan(one.y)) sum = sum * 31 + bits;
    }
    __nv_fp8_e4m3 small((float)a.x);
    return sum + small.__x;
}
template <class H, class H2>
__host__ __device__ unsigned at(int i) {
    unsigned short bits[6];
    for (int k = 0; k < 6; ++k) bits[k] = (unsigned short)((i * 2654435761u >> (k + 3)) * (k + 1));
    H2 pairs[3];
    memcpy(pairs, bits, 12);
    return mixed<H, H2>(pairs[0], pairs[1], pairs[2], i);
}
__global__ void check(unsigned* halves, unsigned* brains, __half2* sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < 1024);
    halves[i] = at<__half, __half2>(i);
    brains[i] = at<__nv_bfloat16, __nv_bfloat162>(i);
    if (i < 32) atomicAdd(sums, __floats2half2_rn(1, 2));
    if (i < 32) sums[1 + i] = __shfl_xor_sync(~0u, __half2(__half(i), __half(-i)), 1);
}
#ifdef TENSOR
__global__ void tensor(half* a) {
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> f;
    nvcuda::wmma::load_matrix_sync(f, a, 16);
}
#endif
int main() {
    nvtx3::scoped_range range{"all"};
    NVTX3_FUNC_RANGE();
    nvtxRangePushA("check");
    cudaProfilerStart();
    unsigned *halves, *brains, wrong = 0;
    __half2* sums;
    cudaMallocManaged(&halves, 4096), cudaMallocManaged(&brains, 4096), cudaMallocManaged(&sums, 4 * 33);
    memset(sums, 0, 4 * 33);
    check<<<8, 128>>>(halves, brains, sums);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1024; ++i) {
        wrong += halves[i] != at<__half, __half2>(i);
        wrong += brains[i] != at<__nv_bfloat16, __nv_bfloat162>(i);
    }
    nvtxRangePop();
    printf("%u wrong, %g %g, %g %g\n", wrong, __low2float(sums[0]), __high2float(sums[0]), __low2float(sums[1]),
           __high2float(sums[1]));
}
)";

TEST(CliLibraries, ShortFloatsAreTheSameOnTheDevice) {
    write(in_folder("short.cu"), kShortFloats);
    for (const char* arch : {"sm_70", "sm_80"}) {
        const Ran ran = record(std::string("short.cu -o short.tsc --flags -arch=") + arch);
        EXPECT_EQ(ran.status, 0) << ran.err;
        EXPECT_NE(ran.out.find("0 wrong, 32 64, 1 -1\n"), std::string::npos) << arch << ran.out << ran.err;
    }
    const Ran refused = record("short.cu --flags -DTENSOR");
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.err.find("tilescope: Tilescope does not record tensor cores"), std::string::npos)
        << refused.err;
}

constexpr const char* kThrust = R"(#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
__global__ void total(const float* in, float* out) {
    using Reduce = cub::BlockReduce<float, 64>;
    __shared__ typename Reduce::TempStorage room;
    float sum = Reduce(room).Sum(in[threadIdx.x]);
    if (threadIdx.x == 0) *out = sum;
}
int main() {
    thrust::device_vector<float> d(64, 3.0f), out(1);
    thrust::transform(d.begin(), d.end(), d.begin(), Square());
    total<<<1, 64>>>(thrust::raw_pointer_cast(d.data()), thrust::raw_pointer_cast(out.data()));
    printf("%g %g\n", thrust::reduce(d.begin(), d.end()), (float)out[0]);
}
)";

TEST(CliLibraries, ThrustAndCubAreTheDistributionsAndRecorded) {
    if (!fs::exists("/usr/include/thrust/version.h")) GTEST_SKIP() << "libthrust-dev is not on this machine";
    write(in_folder("thrust.cu"), kThrust);
    const Ran ran = record("thrust.cu -o out --every");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("576 576\n"), std::string::npos) << ran.out << ran.err;
    size_t recorded = 0;
    for (const auto& entry : fs::directory_iterator(in_folder("out")))
        recorded += entry.path().extension() == ".tsc";
    EXPECT_EQ(recorded, 5u) << "two vectors are filled; transform, total and reduce" << ran.out;
}

}  // namespace
}  // namespace tilescope::cli_test
