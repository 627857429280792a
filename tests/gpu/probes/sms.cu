// Which SMs share a way to L2, for how long they share what they ask for, and which SM gets which block.
//
//   sms merge   two SMs, the first and each other one, load the same sectors together
//   sms lag     two SMs of a GPC load the same sectors, one of them later; first from DRAM, then from L2
//   sms place   the SM of each block of a few grids, in the order of their numbers
//
// `merge` and `lag` print a line a launch; make.sh adds the sectors that L2 was asked for, as Nsight Compute
// counted them: 1 times those of one SM where the two were merged, 2 times where they were not.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kLoads = 300, kShared = 200 << 10;  // bytes: so much that an SM holds one block

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

struct Meeting {
    unsigned here;
    unsigned long long when;
};

// SMs a and b begin together, b later by `lag` cycles, and load kLoads sectors a lane, one each 4,096 cycles.
__global__ void together(const float* data, unsigned a, unsigned b, int lag, Meeting* meeting, float* out) {
    const unsigned sm = sm_of();
    if (sm != a && sm != b) return;
    __shared__ long long from;
    if (threadIdx.x == 0) {
        atomicAdd(&meeting->here, 1);
        while (atomicAdd(&meeting->here, 0) < 2) {
        }
        atomicCAS(&meeting->when, 0ull, now() + 20000);
        const unsigned long long when = atomicAdd(&meeting->when, 0ull);
        while (now() < when) {
        }
        from = clock64() + 8192 + (sm == b ? lag : 0);
    }
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < kLoads; ++i) {
        while (clock64() < from + i * 4096ll) {
        }
        float x;
        asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(data + (i * blockDim.x + threadIdx.x) * 8));
        sum += x;
    }
    if (sum != 0) *out = sum;
}

__global__ void place(int cycles, unsigned vary, unsigned* sm) {
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    const long long from = clock64();
    if (threadIdx.x == 0) sm[block] = sm_of();
    if (vary) cycles += (block * 2654435761u >> 16) % vary;
    while (clock64() - from < cycles) {
    }
}

int main(int count, char** words) {
    const char* const what = count > 1 ? words[1] : "";
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    if (!strcmp(what, "place")) {
        unsigned* sm_d;
        cudaMalloc(&sm_d, 1 << 20);
        struct Grid {
            unsigned blocks, threads, vary;
        };
        for (Grid g :
             {Grid{16384, 64, 0}, {16384, 64, 8000}, {4096, 256, 0}, {4096, 256, 8000}, {1024, 1024, 0}}) {
            place<<<g.blocks, g.threads>>>(40000, g.vary, sm_d);
            std::vector<unsigned> sm(g.blocks);
            cudaMemcpy(sm.data(), sm_d, 4 * g.blocks, cudaMemcpyDeviceToHost);
            printf("place %u blocks of %u threads, 40000 to %u cycles:", g.blocks, g.threads, 40000 + g.vary);
            for (unsigned i = 0; i < 400; ++i) printf(" %u", sm[i]);
            printf("\n");
        }
        return cudaGetLastError() != cudaSuccess;
    }
    constexpr int kLanes = 32, kMost = 1200, kStep = 40;
    constexpr size_t kFloats = size_t{kLoads} * kLanes * 8;
    float *data, *out;
    Meeting* meeting;
    cudaMalloc(&data, (2 * kMost / kStep + 1) * kFloats * 4);
    cudaMalloc(&out, 4);
    cudaMalloc(&meeting, sizeof *meeting);
    cudaFuncSetAttribute(together, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
    const auto launch = [&](size_t part, unsigned b, int lag) {
        cudaMemset(meeting, 0, sizeof *meeting);
        printf("%s 0 %u %d\n", what, b, lag);
        together<<<device.multiProcessorCount, kLanes, kShared>>>(data + part * kFloats, 0, b, lag, meeting,
                                                                  out);
    };
    if (!strcmp(what, "merge"))
        for (int b = 1; b < device.multiProcessorCount; ++b) launch(0, static_cast<unsigned>(b), 0);
    if (!strcmp(what, "lag"))
        for (unsigned b : {1u, 1u, 16u})  // what is loaded first comes from DRAM
            for (int lag = -kMost; lag <= kMost; lag += kStep)
                launch(static_cast<size_t>((lag + kMost) / kStep), b, lag);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "sms: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
