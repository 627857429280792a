// How many loads a clock L1 answers where some of them miss, and how long a launch that does nothing takes.
//
//     rates         a line a case, "rate MISSES WARPS LOADS": of 8 loads of a warp, how many hit in L2 alone;
//                   the warps of an SM; and the loads that an SM answered per clock
//     rates empty   launches an empty kernel, for Nsight Compute to time
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <vector>

struct Ran {
    long long begin, end;
    unsigned sm;
};

__device__ float load(const float* p) {
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(p));
    return value;
}

constexpr int kNear = 4096, kFar = 1 << 22;  // words that L1 holds, and that it does not

template <int misses>
__global__ void __launch_bounds__(256, 8) rate(const float* data, float* out, Ran* ran, int trips) {
    const int lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < kNear; i += 32) sum += load(data + i);
    __syncthreads();
    const long long begin = clock64();
    unsigned far = (blockIdx.x * 8 + threadIdx.x / 32) * 7919u * 64;
    int at = 0;
    for (int trip = 0; trip < trips; ++trip) {
        float value[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (i < misses) {
                value[i] = load(data + kNear + (far & (kFar - 32)));
                far += 32 * 97;
            } else {
                value[i] = load(data + lane + at + i * 32);
            }
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) sum += value[i];
        at = (at + 32) & 255;
    }
    __syncthreads();
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) ran[blockIdx.x] = {begin, clock64(), sm};
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void empty() {}

template <int misses>
void run(const float* data, float* out, Ran* ran, int sms) {
    constexpr int trips = 2000, threads = 256;
    for (const int blocks : {1, 2, 4, 8}) {
        for (int i = 0; i < 2; ++i) rate<misses><<<sms * blocks, threads>>>(data, out, ran, trips);
        cudaDeviceSynchronize();
        std::vector<Ran> of(sms, {LLONG_MAX, 0, 0});
        for (int b = 0; b < sms * blocks; ++b) {
            Ran& sm = of[ran[b].sm];
            sm = {std::min(sm.begin, ran[b].begin), std::max(sm.end, ran[b].end), sm.sm + 1};
        }
        double cycles = 0, loads = 0;
        for (const Ran& sm : of)
            cycles += sm.sm ? sm.end - sm.begin : 0, loads += sm.sm * trips * 8. * threads / 32;
        std::printf("rate %d %d %.3f\n", misses, blocks * threads / 32, loads / cycles);
    }
}

int main(int count, char** words) {
    if (count > 1 && !std::strcmp(words[1], "empty")) {
        for (int i = 0; i < 20; ++i) empty<<<1, 1>>>();
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    int sms;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    float *data, *out;
    Ran* ran;
    cudaMalloc(&data, sizeof(float) * (kNear + kFar)), cudaMemset(data, 0, sizeof(float) * (kNear + kFar));
    cudaMalloc(&out, sizeof(float) * sms * 8 * 256), cudaMallocManaged(&ran, sizeof(Ran) * sms * 8);
    run<0>(data, out, ran, sms);
    run<1>(data, out, ran, sms);
    run<2>(data, out, ran, sms);
    run<4>(data, out, ran, sms);
    return cudaDeviceSynchronize() != cudaSuccess;
}
