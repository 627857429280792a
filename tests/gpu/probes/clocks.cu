// Whether the clocks of the SMs (%clock64) have a common zero, and run equally fast.
//
//   clocks N        N SMs answered
//   sm I LOW HIGH   by how many clocks SM I is ahead of SM 0 at one moment of %globaltimer: the least and the
//                   most of all moments asked for
//   blocks NS CLOCKS   of a grid that fills the device: how far the first blocks of the SMs begin apart, by
//                   %globaltimer and by %clock64
//
// A block on each SM waits for the moments one after the other, and reads its clock when one has come. The
// timer ticks every 32 ns or more, which with the time of a turn of the loop is what LOW and HIGH differ by.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kMoments = 64, kBytes = 200 << 10;  // shared memory: so much that an SM holds one block

__device__ unsigned sm_of() {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}
__device__ unsigned long long now() {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

__global__ void read_clocks(unsigned long long first, unsigned long long* from, long long* clocks) {
    if (blockIdx.x == 0) atomicExch(from, now() + first);
    unsigned long long start = 0;
    while ((start = atomicAdd(from, 0ull)) == 0) {
    }
    const unsigned sm = sm_of();
    for (int moment = 0; moment < kMoments; ++moment) {
        const unsigned long long at = start + moment * 20000ull;
        while (now() < at) {
        }
        clocks[sm * kMoments + moment] = clock64();
    }
}

struct Began {
    unsigned sm;
    unsigned long long timer;
    long long clock;
};
__global__ void begin(Began* began, int cycles) {
    const long long from = clock64();
    if (threadIdx.x == 0) began[blockIdx.x] = {sm_of(), now(), from};
    while (clock64() < from + cycles) {
    }
}

int main() {
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    const int sms = device.multiProcessorCount;
    unsigned long long* from;
    long long* clocks;
    cudaMallocManaged(&from, sizeof *from);
    cudaMallocManaged(&clocks, sizeof(long long) * sms * kMoments);
    if (cudaFuncSetAttribute(read_clocks, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes) != cudaSuccess)
        return 1;
    for (int turn = 0; turn < 2; ++turn) {
        *from = 0;
        std::fill(clocks, clocks + sms * kMoments, -1);
        read_clocks<<<sms, 1, kBytes>>>(200000, from, clocks);
        if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    if (std::find(clocks, clocks + sms * kMoments, -1) != clocks + sms * kMoments)
        return 1;  // an SM is missing
    printf("clocks %d\n", sms);
    for (int sm = 0; sm < sms; ++sm) {
        long long low = INT64_MAX, high = INT64_MIN;
        for (int moment = 0; moment < kMoments; ++moment) {
            const long long ahead = clocks[sm * kMoments + moment] - clocks[moment];
            low = std::min(low, ahead), high = std::max(high, ahead);
        }
        printf("sm %d %lld %lld\n", sm, low, high);
    }
    const int blocks = sms * 8;
    Began* began;
    cudaMallocManaged(&began, sizeof(Began) * blocks);
    for (int turn = 0; turn < 2; ++turn) {
        begin<<<blocks, 256>>>(began, 20000);
        if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    std::vector<unsigned long long> timer(sms, UINT64_MAX);
    std::vector<long long> clock(sms, INT64_MAX);
    for (int at = 0; at < blocks; ++at) {
        timer[began[at].sm] = std::min(timer[began[at].sm], began[at].timer);
        clock[began[at].sm] = std::min(clock[began[at].sm], began[at].clock);
    }
    const auto [first, last] = std::minmax_element(timer.begin(), timer.end());
    const auto [low, high] = std::minmax_element(clock.begin(), clock.end());
    printf("blocks %llu %lld\n", *last - *first, *high - *low);
}
