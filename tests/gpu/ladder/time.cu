// One rung of a ladder: verified on edges and rectangles against cuBLAS, then timed beside it. fp32 without tensor
// cores on either side, or halves with fp32 sums on tensor cores. A line a width; the exit status is 1 where an
// element differs.
//
//     nvcc -O3 -std=c++20 -arch=native -DRUNG=register_tile -DSOURCE='"register_tile.cu"' time.cu -lcublas
//     nvcc -O3 -std=c++20 -gencode arch=compute_90a,code=sm_90a -DRUNG=wgmma_ring -DSOURCE='"wgmma_ring.cu"' -DBOXES time.cu -lcublas -lcuda
//
// BOXES: the kernel takes tensor maps of M and N behind n, and dynamic shared memory.
//
// Inputs are small whole numbers, so that every sum is exact in any order.
#include <algorithm>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <cublas_v2.h>
#include <cuda.h>
#include <mma.h>

namespace rung {  // a source may have a type named as one of the toolkit's
#include SOURCE
}  // namespace rung

using Source = decltype([]<class T, class... Maps>(void (*)(const T*, const T*, float*, int, int, int, Maps...)) {
    return T();
}(rung::RUNG));
using Input = std::conditional_t<sizeof(Source) == 2, __half, float>;
constexpr bool kHalves = sizeof(Input) == 2;

#ifdef BOXES
// The tensor map of a matrix of halves, for swizzled boxes of so many rows of SPAN; zeros where rows of the matrix begin
// off multiples of 16 bytes.
rung::TensorMap map_of(Input* matrix, int rows, int cols, int high) {
    rung::TensorMap map{};
    const cuuint64_t extent[] = {cuuint64_t(cols), cuuint64_t(rows)}, stride[] = {cuuint64_t(cols) * sizeof(Input)};
    const cuuint32_t box[] = {rung::SPAN, cuuint32_t(high)}, step[] = {1, 1};
    if (cols % 8 != 0) return map;
    const CUresult made = cuTensorMapEncodeTiled(
        reinterpret_cast<CUtensorMap*>(&map), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, extent, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) printf("no tensor map of %d x %d: error %d\n", rows, cols, made);
    return map;
}
#endif

// The median of eleven launches, in milliseconds.
template <class Launch>
float time_of(const Launch& launch) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times(11);
    launch();
    for (float& ms : times) {
        cudaEventRecord(begin);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

std::vector<Input> numbers(size_t count, unsigned seed) {
    std::vector<Input> values(count);
    for (Input& value : values)
        value = static_cast<Input>(static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 28) - 8.0f);
    return values;
}

int main() {
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetMathMode(cublas, kHalves ? CUBLAS_DEFAULT_MATH : CUBLAS_PEDANTIC_MATH);  // tensor cores, or none
    const int sizes[][3] = {{1, 1, 1},          {128, 128, 128},    {100, 70, 130},     {257, 130, 391},
                            {333, 77, 1000},    {31, 515, 62},      {264, 72, 136},     {1000, 520, 392},
                            {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}};
    size_t wrong = 0;
    for (const auto& [m, k, n] : sizes) {
        const std::vector<Input> a = numbers(size_t(m) * k, 1), b = numbers(size_t(k) * n, 2);
        std::vector<float> p(size_t(m) * n), q(p.size());
        Input *M, *N;
        float *P, *Q;
        cudaMalloc(&M, a.size() * sizeof(Input));
        cudaMalloc(&N, b.size() * sizeof(Input));
        cudaMalloc(&P, p.size() * 4);
        cudaMalloc(&Q, q.size() * 4);
        cudaMemcpy(M, a.data(), a.size() * sizeof(Input), cudaMemcpyHostToDevice);
        cudaMemcpy(N, b.data(), b.size() * sizeof(Input), cudaMemcpyHostToDevice);
        const float one = 1, zero = 0;
        const auto* const M_given = reinterpret_cast<const Source*>(M);
        const auto* const N_given = reinterpret_cast<const Source*>(N);
#ifdef BOXES
        const rung::TensorMap m_map = map_of(M, m, k, rung::ROWS), n_map = map_of(N, k, n, rung::DEPTH);
        constexpr int kShared = rung::STAGES * (rung::M_STAGE + rung::N_STAGE);
        cudaFuncSetAttribute(rung::RUNG, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
#endif
        const auto rung = [&] {
            using namespace ::rung;
            const dim3 grid((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS);
#ifdef BOXES
            RUNG<<<grid, THREADS, kShared>>>(M_given, N_given, P, m, k, n, m_map, n_map);
#else
            RUNG<<<grid, THREADS>>>(M_given, N_given, P, m, k, n);
#endif
        };
        const auto type = kHalves ? CUDA_R_16F : CUDA_R_32F;
        const auto library = [&] {
            cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, N, type, n, M, type, k, &zero, Q,
                         CUDA_R_32F, n, kHalves ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC,
                         CUBLAS_GEMM_DEFAULT);
        };
        // Sums, and so P, in half precision, which no rung has: what cuBLAS offers beside.
        const __half half_one = 1.0f, half_zero = 0.0f;
        const auto half_library = [&] {
            cublasHgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &half_one,
                        reinterpret_cast<const __half*>(N), n, reinterpret_cast<const __half*>(M), k,
                        &half_zero, reinterpret_cast<__half*>(Q), n);
        };
        cudaMemset(P, 0xFF, p.size() * 4);  // NaNs
        rung();
        library();
        if (const cudaError_t error = cudaDeviceSynchronize()) {
            printf("%s\n", cudaGetErrorString(error));
            return 1;
        }
        cudaMemcpy(p.data(), P, p.size() * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(q.data(), Q, q.size() * 4, cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < p.size(); ++i) wrong += p[i] != q[i];
        if (m == n && n >= (kHalves ? 1024 : 4096)) {
            const double operations = 2e-9 * m * k * n;
            const float first = time_of(rung), beside = time_of(library), again = time_of(rung);
            const float mine = std::min(first, again);
            printf("%d: %.1f TFLOP/s, cuBLAS %.1f, share %.3f, ", n, operations / mine, operations / beside,
                   beside / mine);
            if constexpr (kHalves) {
                const float halves = time_of(half_library);
                printf("cublasHgemm %.1f, share %.3f, ", operations / halves, halves / mine);
            }
            printf("%zu elements wrong\n", wrong);
        }
        for (void* array :
             {static_cast<void*>(M), static_cast<void*>(N), static_cast<void*>(P), static_cast<void*>(Q)})
            cudaFree(array);
    }
    return wrong != 0;
}
