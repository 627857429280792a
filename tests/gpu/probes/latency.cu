// What a warp waits for, one thing at a time, and what a launch takes beside the work of its kernel.
//
//     latency WHAT CYCLES   from one fp32 multiply-add or load to the next that needs it
//     barrier CYCLES        from one barrier of a block of one warp to the next
//     trip CYCLES           of a loop that is not unrolled: a multiply-add that needs the last one
//     trip_shared CYCLES    of one that adds up products of two words of shared memory
//     blocks BLOCKS NS      of a launch of so many empty blocks, between two events
//     beside CYCLES NS      of a launch of a warp that works for so long, less that time
//
// Times are medians of 200. Twenty launches are sent before the first is waited for, as `tilescope time`
// does.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int kSteps = 2048;

__device__ long long g_cycles;
__device__ float g_value;

template <class Step>
__device__ void measure(Step step) {
    for (int i = 0; i < 64; ++i) step();
    const long long begin = clock64();
#pragma unroll 128
    for (int i = 0; i < kSteps; ++i) step();
    const long long end = clock64();
    if (threadIdx.x == 0) g_cycles = end - begin;
}

__global__ void fma_chain(float a) {
    float sum = a;
    measure([&] { asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum) : "f"(a)); });
    g_value = sum;
}

__global__ void shared_chain() {
    __shared__ unsigned next[32];
    next[threadIdx.x] = static_cast<unsigned>(__cvta_generic_to_shared(next + threadIdx.x));
    __syncthreads();
    unsigned at = next[threadIdx.x];
    measure([&] { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)); });
    g_value = static_cast<float>(at);
}

// A ring of 8-byte pointers, each to the one `stride` words behind it.
__global__ void make_ring(unsigned long long* ring, long words, long stride) {
    for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        ring[i] = reinterpret_cast<unsigned long long>(ring + (i + stride) % words);
}
template <bool past_l1>
__global__ void global_chain(const unsigned long long* ring) {
    auto at = reinterpret_cast<unsigned long long>(ring);
    measure([&] {
        if (past_l1)
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
        else
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
    });
    g_value = static_cast<float>(at);
}

__global__ void barriers() {
    measure([] { __syncthreads(); });
}

__global__ void trips(int count, float a) {
    float sum = a;
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < count; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum) : "f"(a));
    if (threadIdx.x == 0) g_cycles = (clock64() - begin) * kSteps / count;
    g_value = sum;
}

__global__ void shared_trips(int count) {
    __shared__ float m[4096], n[4096];
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) m[i] = n[i] = static_cast<float>(i);
    __syncthreads();
    float sum = 0;
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < count; ++i) sum += m[i] * n[i + threadIdx.x];
    if (threadIdx.x == 0) g_cycles = (clock64() - begin) * kSteps / count;
    g_value = sum;
}

__global__ void empty() {}
__global__ void work(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

double cycles_of_last() {
    long long cycles = 0;
    cudaMemcpyFromSymbol(&cycles, g_cycles, sizeof cycles);
    return static_cast<double>(cycles) / kSteps;
}

template <class Launch>
double median_ns(Launch launch) {
    constexpr int kBatch = 20, kTimes = 200;
    std::vector<cudaEvent_t> events(2 * kBatch);
    for (cudaEvent_t& event : events) cudaEventCreate(&event);
    std::vector<double> ns;
    while (ns.size() < kTimes) {
        for (int i = 0; i < kBatch; ++i) {
            cudaEventRecord(events[2 * i]);
            launch();
            cudaEventRecord(events[2 * i + 1]);
        }
        cudaDeviceSynchronize();
        for (int i = 0; i < kBatch; ++i) {
            float ms = 0;
            cudaEventElapsedTime(&ms, events[2 * i], events[2 * i + 1]);
            ns.push_back(static_cast<double>(ms) * 1e6);
        }
    }
    for (cudaEvent_t& event : events) cudaEventDestroy(event);
    std::sort(ns.begin(), ns.end());
    return ns[ns.size() / 2];
}

int main() {
    int sms = 0, khz = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    work<<<sms * 4, 128>>>(1'000'000'000);  // until the clock is the highest
    fma_chain<<<1, 32>>>(1.0f);
    std::printf("latency fma %.2f\n", cycles_of_last());
    shared_chain<<<1, 32>>>();
    std::printf("latency shared %.2f\n", cycles_of_last());

    constexpr long kWords = 1L << 26;  // more than L2 holds
    unsigned long long* ring = nullptr;
    cudaMalloc(&ring, kWords * sizeof *ring);
    const auto chase = [&](const char* what, auto kernel, long words, long stride, int launches) {
        make_ring<<<1024, 256>>>(ring, words, stride);
        for (int i = 0; i < launches; ++i) kernel<<<1, 32>>>(ring);
        std::printf("latency %s %.2f\n", what, cycles_of_last());
    };
    chase("l1", global_chain<false>, 512, 16, 2);
    chase("l2", global_chain<true>, 1L << 17, 16 * 7, 2);
    chase("dram", global_chain<true>, kWords, 16 * 7, 1);

    barriers<<<1, 32>>>();
    std::printf("barrier %.2f\n", cycles_of_last());
    for (int i = 0; i < 2; ++i) trips<<<1, 32>>>(4096, 1.0f);
    std::printf("trip %.2f\n", cycles_of_last());
    for (int i = 0; i < 2; ++i) shared_trips<<<1, 32>>>(2048);
    std::printf("trip_shared %.2f\n", cycles_of_last());

    for (const int blocks : {16384, 65536, 262144})
        std::printf("blocks %d %.0f\n", blocks, median_ns([&] { empty<<<blocks, 64>>>(); }));
    for (const long long cycles : {10000, 20000, 40000, 80000})
        std::printf("beside %lld %.0f\n", cycles,
                    median_ns([&] { work<<<1, 32>>>(cycles); }) - static_cast<double>(cycles) * 1e6 / khz);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::fprintf(stderr, "latency: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
