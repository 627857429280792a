// How fast an SM sends stores on to L2.
//
//     stores SECTORS WARPS SMS CLOCKS   for each request to store that touches so many sectors, a word of
//     each
//                                       lane, from so many warps of each of so many SMs
//
// The median of 20 blocks that store 256 times a warp and wait for all of it, less that of those that store
// 64 times. What they store to fits L2.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kBlocks = 1024;
__device__ long long g_cycles[kBlocks];

// Lane i stores to sector i * sectors / 32 of the request.
__global__ void stores(unsigned* to, int sectors, int times) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    unsigned* at =
        to + (blockIdx.x * warps + warp) * 256 * 256 + lane * sectors / 32 * 8 + lane % (32 / sectors);
    __syncthreads();
    const long long begin = clock64();
    for (int i = 0; i < times; ++i) at[i * 256] = lane;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) g_cycles[blockIdx.x] = clock64() - begin;
}

__global__ void work(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

int main() {
    int sms = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    unsigned* to = nullptr;
    cudaMalloc(&to, sizeof *to * 256 * 256 * 8 * sms);
    work<<<sms * 4, 128>>>(1'000'000'000);  // until the clock is the highest
    const auto median = [&](int sectors, int warps, int blocks, int times) {
        std::vector<long long> all;
        while (all.size() < 20) {
            stores<<<blocks, warps * 32>>>(to, sectors, times);
            std::vector<long long> cycles(blocks);
            cudaMemcpyFromSymbol(cycles.data(), g_cycles, sizeof(long long) * blocks);
            all.insert(all.end(), cycles.begin(), cycles.end());
        }
        std::sort(all.begin(), all.end());
        return static_cast<double>(all[all.size() / 2]);
    };
    for (const int blocks : {1, 8, sms})
        for (const int warps : {1, 8})
            for (const int sectors : {1, 2, 4, 8, 16, 32}) {
                median(sectors, warps, blocks, 256);
                const double more = median(sectors, warps, blocks, 256),
                             less = median(sectors, warps, blocks, 64);
                std::printf("stores %d %d %d %.2f\n", sectors, warps, blocks, (more - less) / (192 * warps));
            }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::fprintf(stderr, "stores: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
