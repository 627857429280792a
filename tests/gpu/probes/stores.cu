// How fast an SM sends stores on to L2.
//
//     stores APART TIMES WARPS SMS CLOCKS
//
// CLOCKS: those of an SM for one request of a warp. Its lanes store a word each, APART words from one
// another, and TIMES requests in a row store to words side by side, and so to the same sectors. WARPS warps
// of a block do so, on SMS SMs.
//
// The median of 20 blocks or more that store 512 times a warp and wait for all of it, less that of those that
// store 128 times. With all SMs, 16 warps, and lanes 16 and 32 words apart, that is more than L2 holds.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kBlocks = 1024, kPlaces = 16;
__device__ long long g_cycles[kBlocks];

template <int kTimes>
__global__ void stores(unsigned* to, int apart, int requests) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    unsigned* const at = to + ((blockIdx.x * warps + warp) * kPlaces * 32 + lane) * apart;
    __syncthreads();
    const long long begin = clock64();
    for (int i = 0; i < requests; i += kPlaces * kTimes)
#pragma unroll
        for (int place = 0; place < kPlaces; ++place)
#pragma unroll
            for (int j = 0; j < kTimes; ++j) at[place * 32 * apart + j] = lane;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) g_cycles[blockIdx.x] = clock64() - begin;
}

__global__ void work(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

template <int kTimes>
double median(unsigned* to, int apart, int warps, int blocks, int requests) {
    std::vector<long long> all;
    for (int launch = 0; launch < 2 || all.size() < 20; ++launch) {
        stores<kTimes><<<blocks, warps * 32>>>(to, apart, requests);
        std::vector<long long> cycles(blocks);
        cudaMemcpyFromSymbol(cycles.data(), g_cycles, sizeof(long long) * blocks);
        if (launch > 0) all.insert(all.end(), cycles.begin(), cycles.end());
    }
    std::sort(all.begin(), all.end());
    return static_cast<double>(all[all.size() / 2]);
}

template <int kTimes>
void measure(unsigned* to, int apart, int warps, int blocks) {
    const double more = median<kTimes>(to, apart, warps, blocks, 512),
                 less = median<kTimes>(to, apart, warps, blocks, 128);
    std::printf("stores %d %d %d %d %.2f\n", apart, kTimes, warps, blocks, (more - less) / (384 * warps));
}

int main() {
    int sms = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    unsigned* to = nullptr;
    cudaMalloc(&to, sizeof *to * sms * 16 * kPlaces * 32 * 32);
    work<<<sms * 4, 128>>>(1'000'000'000);  // until the clock is the highest
    for (const int blocks : {1, 8, sms})
        for (const int warps : {1, 2, 4, 8, 16}) {
            for (const int apart : {1, 2, 4, 8, 16, 32}) measure<1>(to, apart, warps, blocks);
            for (const int apart : {2, 4, 8, 16, 32}) measure<2>(to, apart, warps, blocks);
            for (const int apart : {4, 8, 16, 32}) measure<4>(to, apart, warps, blocks);
            for (const int apart : {8, 16, 32}) measure<8>(to, apart, warps, blocks);
        }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::fprintf(stderr, "stores: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
