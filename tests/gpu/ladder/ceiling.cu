// What mma.sync gives where nothing else is done: 8 warps an SM with 16 sums each in turn, no memory. The ceiling of
// every kernel that multiplies by mma.sync; wgmma's is higher.
#include <cstdio>

#include <cuda_runtime.h>

constexpr int THREADS = 256, SUMS = 16, TRIPS = 20000;

__global__ void __launch_bounds__(THREADS) multiply(float* out) {
    float sums[SUMS][4] = {};
    const unsigned a = threadIdx.x, b = blockIdx.x;
    for (int trip = 0; trip < TRIPS; ++trip)
#pragma unroll
        for (float(&sum)[4] : sums)
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, "
                "%5}, "
                "{%0, %1, %2, %3};"
                : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                : "r"(a), "r"(b));
    float all = 0;
    for (const float(&sum)[4] : sums) all += sum[0] + sum[1] + sum[2] + sum[3];
    out[blockIdx.x * THREADS + threadIdx.x] = all;
}

int main() {
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    const int blocks = device.multiProcessorCount;
    float *out, best = 1e9f;
    cudaMalloc(&out, sizeof(float) * blocks * THREADS);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = 0; i < 5; ++i) {
        cudaEventRecord(begin);
        multiply<<<blocks, THREADS>>>(out);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms;
        cudaEventElapsedTime(&ms, begin, end);
        best = ms < best ? ms : best;
    }
    if (const cudaError_t error = cudaGetLastError()) return printf("%s\n", cudaGetErrorString(error)), 1;
    const double operations = 2.0 * 16 * 8 * 16 * SUMS * TRIPS * blocks * THREADS / 32;
    printf("mma.sync without memory: %.1f TFLOP/s\n", operations / best * 1e-9);
}
