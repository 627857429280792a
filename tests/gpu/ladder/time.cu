// One rung of the ladder: verified on edges and rectangles against cuBLAS, then timed beside it at 4096 and
// 8192, fp32 without tensor cores on either side. A line a width; the exit status is 1 where an element
// differs.
//
//     nvcc -O3 -std=c++20 -arch=native -DRUNG=register_tile -DSOURCE='"register_tile.cu"' time.cu -lcublas
//
// Inputs are small whole numbers, so that every sum is exact in any order.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <cublas_v2.h>

#include SOURCE

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

std::vector<float> numbers(size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float& value : values)
        value = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 28) - 8.0f;
    return values;
}

int main() {
    cublasHandle_t cublas;
    cublasCreate(&cublas);
    cublasSetMathMode(cublas, CUBLAS_PEDANTIC_MATH);  // no tensor cores
    const int sizes[][3] = {{1, 1, 1},       {128, 128, 128}, {100, 70, 130},     {257, 130, 391},
                            {333, 77, 1000}, {31, 515, 62},   {4096, 4096, 4096}, {8192, 8192, 8192}};
    size_t wrong = 0;
    for (const auto& [m, k, n] : sizes) {
        const std::vector<float> a = numbers(size_t(m) * k, 1), b = numbers(size_t(k) * n, 2);
        std::vector<float> p(size_t(m) * n), q(p.size());
        float *M, *N, *P, *Q;
        cudaMalloc(&M, a.size() * 4);
        cudaMalloc(&N, b.size() * 4);
        cudaMalloc(&P, p.size() * 4);
        cudaMalloc(&Q, q.size() * 4);
        cudaMemcpy(M, a.data(), a.size() * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(N, b.data(), b.size() * 4, cudaMemcpyHostToDevice);
        const float one = 1, zero = 0;
        const auto rung = [&] {
            RUNG<<<dim3((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS), THREADS>>>(M, N, P, m, k, n);
        };
        const auto library = [&] {
            cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, N, n, M, k, &zero, Q, n);
        };
        rung();
        library();
        if (const cudaError_t error = cudaDeviceSynchronize()) {
            printf("%s\n", cudaGetErrorString(error));
            return 1;
        }
        cudaMemcpy(p.data(), P, p.size() * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(q.data(), Q, q.size() * 4, cudaMemcpyDeviceToHost);
        for (size_t i = 0; i < p.size(); ++i) wrong += p[i] != q[i];
        if (n >= 4096) {
            const double operations = 2e-9 * m * k * n;
            const float first = time_of(rung), beside = time_of(library), again = time_of(rung);
            const float mine = std::min(first, again);
            printf("%d: %.1f TFLOP/s, cuBLAS %.1f, share %.3f, %zu elements wrong\n", n, operations / mine,
                   operations / beside, beside / mine, wrong);
        }
        for (float* array : {M, N, P, Q}) cudaFree(array);
    }
    return wrong != 0;
}
