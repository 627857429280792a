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
}

// Products of one tile by nvcuda::wmma in all layouts, from global and from shared memory, against plain loops. Small
// whole numbers are exact.
constexpr const char* kFragments = R"(#include <cstdio>
#include <cstdlib>
#include <mma.h>
using namespace nvcuda::wmma;
template <int M, int N, int K, class F, class T, class S, class LA, class LB, bool shared>
__global__ void product(const T* a, const T* b, S* c, int lda, int ldb, int ldc, layout_t layout) {
    __shared__ __align__(32) T sa[M * K], sb[K * N];
    __shared__ __align__(32) S sc[M * N];
    if (shared) {
        for (int i = threadIdx.x; i < M * K; i += 32) sa[i] = a[i];
        for (int i = threadIdx.x; i < K * N; i += 32) sb[i] = b[i];
        for (int i = threadIdx.x; i < M * N; i += 32) sc[i] = c[i];
        __syncwarp();
    }
    fragment<matrix_a, M, N, K, F, LA> x;
    fragment<matrix_b, M, N, K, F, LB> y;
    fragment<accumulator, M, N, K, S> sums[2];
    fill_fragment(sums[0], S(0));
    load_matrix_sync(x, shared ? sa : a, lda);
    load_matrix_sync(y, shared ? sb : b, ldb);
    load_matrix_sync(sums[1], shared ? sc : c, ldc, layout);
    mma_sync(sums[0], x, y, sums[0]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < sums[0].num_elements; ++i) sums[1].x[i] = sums[0].x[i] + sums[1].x[i];
    store_matrix_sync(shared ? sc : c, sums[1], ldc, layout);
    if (!shared) return;
    __syncwarp();
    for (int i = threadIdx.x; i < M * N; i += 32) c[i] = sc[i];
}
template <int M, int N, int K, class F, class T, class S, class LA, class LB, bool shared>
int wrong(bool a_rows, bool b_rows, layout_t layout) {
    T *a, *b;
    S *c, was[M * N];
    cudaMallocManaged(&a, sizeof(T) * M * K), cudaMallocManaged(&b, sizeof(T) * K * N);
    cudaMallocManaged(&c, sizeof(S) * M * N);
    for (int i = 0; i < M * K; ++i) a[i] = T(float(rand() % 9));
    for (int i = 0; i < K * N; ++i) b[i] = T(float(rand() % 9));
    for (int i = 0; i < M * N; ++i) was[i] = c[i] = S(float(rand() % 9));
    product<M, N, K, F, T, S, LA, LB, shared><<<1, 32>>>(a, b, c, a_rows ? K : M, b_rows ? N : K,
                                                         layout == mem_row_major ? N : M, layout);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1000;
    int count = 0;
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            const int at = layout == mem_row_major ? i * N + j : j * M + i;
            float sum = (float)was[at];
            for (int k = 0; k < K; ++k) sum += (float)a[a_rows ? i * K + k : k * M + i] * (float)b[b_rows ? k * N + j : j * K + k];
            count += (float)c[at] != sum;
        }
    return count;
}
template <int M, int N, int K, class F, class T, class S>
void all(const char* name) {
    printf("%s %d wrong\n", name,
           wrong<M, N, K, F, T, S, row_major, row_major, false>(true, true, mem_row_major) +
               wrong<M, N, K, F, T, S, row_major, col_major, true>(true, false, mem_row_major) +
               wrong<M, N, K, F, T, S, col_major, row_major, true>(false, true, mem_col_major) +
               wrong<M, N, K, F, T, S, col_major, col_major, false>(false, false, mem_col_major));
}
int main() {
    all<16, 16, 16, half, half, float>("f16");
    all<32, 8, 16, half, half, half>("f16 alone");
    all<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16");
    all<16, 16, 8, precision::tf32, float, float>("tf32");
    all<32, 8, 16, signed char, signed char, int>("s8");
    all<16, 16, 16, unsigned char, unsigned char, int>("u8");
    all<8, 8, 4, double, double, double>("f64");
}
)";

TEST(CliLibraries, FragmentsOfMatricesAreMultiplied) {
    write(in_folder("fragments.cu"), kFragments);
    const Ran ran = record("fragments.cu -o fragments.tsc --flags -arch=sm_80");
    EXPECT_EQ(ran.status, 0) << ran.out
                             << ran.err;  // no races either: lanes meet, though not all of them ask
    EXPECT_NE(
        ran.out.find("f16 0 wrong\nf16 alone 0 wrong\nbf16 0 wrong\ntf32 0 wrong\ns8 0 wrong\nu8 0 wrong\n"
                     "f64 0 wrong\n"),
        std::string::npos)
        << ran.out << ran.err;
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
