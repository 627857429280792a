// How many loads that hit L1 an SM takes a clock, by how much of a line they ask for: a block an SM, its
// warps load again and again from lines of their own that L1 holds.
//
//   mixed 0    every lane of a warp its own word, a line a load
//   mixed 1    all lanes the same word
//   mixed 2    one of each in turn, as the untiled product has it where T = 32
//
// Prints warps, what is mixed, how many lines a warp goes round, and loads a clock of the SM.
//
// The question: by NVRTC `untiled` with T = 32 no launch gets beyond 0.77 loads a clock while an SM is
// active, with no other unit near its limit (assets/levels/h200.json). If mixed 2 stays there with every line
// in L1, that is a limit of loads, and a bound; if it comes near 1, it is what misses do to the loads behind
// them.
//
//   nvcc -arch=native -o loads tests/gpu/probes/loads.cu && ./loads
#include <cstdio>

constexpr int kTimes = 256, kUnrolled = 8;

__global__ void loads(const float* data, int mixed, int lines, float* out, long long* cycles) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* const own = data + warp * lines * 32;
    float sum = 0;
    for (int line = 0; line < lines; ++line) sum += own[line * 32 + lane];  // fills L1
    __syncthreads();
    const float* at[kUnrolled];
#pragma unroll
    for (int j = 0; j < kUnrolled; ++j) {
        const bool same = mixed == 1 || (mixed == 2 && j % 2 == 1);
        at[j] = own + j % lines * 32 + (same ? 0 : lane);
    }
    const long long from = clock64();
    for (int i = 0; i < kTimes; ++i) {
        float x[kUnrolled];
#pragma unroll
        for (int j = 0; j < kUnrolled; ++j)
            asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x[j]) : "l"(at[j]));
#pragma unroll
        for (int j = 0; j < kUnrolled; ++j) sum += x[j];
    }
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - from;
    if (sum != 0) *out = sum;
}

int main() {
    float *data, *out;
    long long* cycles_d;
    cudaMalloc(&data, 32 * 32 * 32 * 4);
    cudaMemset(data, 0, 32 * 32 * 32 * 4);
    cudaMalloc(&out, 4);
    cudaMalloc(&cycles_d, 8);
    for (int warps : {8, 16, 32})
        for (int mixed : {0, 1, 2})
            for (int lines : {1, 8}) {
                loads<<<1, 32 * warps>>>(data, mixed, lines, out, cycles_d);
                long long cycles = 0;
                cudaMemcpy(&cycles, cycles_d, 8, cudaMemcpyDeviceToHost);
                printf("loads %d %d %d %.3f\n", warps, mixed, lines,
                       static_cast<double>(warps) * kTimes * kUnrolled / static_cast<double>(cycles));
            }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "loads: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
