// Whether the blocks of an SM begin their phases together: a textbook kernel, made to note when it does.
//
//     sed 's/for (int phase .*/&\n        note(phase);/' warp_tile.cu > noted.cu
//     nvcc -DKERNEL=warp_tile -DSOURCE='"noted.cu"' -DROWS_OF_P=128 -DCOLS_OF_P=128 \
//          -DTHREADS_X=256 -DTHREADS_Y=1 steps.cu
//
// A line a width: steps KERNEL WIDTH BLOCKS WARPS APART
//
//   BLOCKS, WARPS   that an SM holds at once: the busiest, where the launch does not fill them
//   APART           how far from the begin of a phase of one of its blocks another one begins its own, as a
//                   share of a phase, on average: 0 where all begin together, 0.25 where they do so anywhere
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

constexpr int kMostPhases = 1024;
struct Seen {
    long long begin[kMostPhases];
    int phases;
    unsigned sm;
};
__device__ Seen* g_seen;

__device__ __forceinline__ void note(int phase) {
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    Seen& mine = g_seen[blockIdx.y * gridDim.x + blockIdx.x];
    mine.begin[phase] = clock64();
    mine.phases = phase + 1;
    if (phase == 0) asm volatile("mov.u32 %0, %%smid;" : "=r"(mine.sm));
}

#include SOURCE

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

// How far two blocks are apart, over every fifth phase of one of them.
void compare(const Seen& one, const Seen& other, double& apart, long& pairs) {
    for (int p = 8, q = 0; p < one.phases - 1; p += 5) {
        while (q + 1 < other.phases && other.begin[q + 1] <= one.begin[p]) ++q;
        if (q + 1 >= other.phases || other.begin[q] > one.begin[p]) continue;
        const double share =
            double(one.begin[p] - other.begin[q]) / double(other.begin[q + 1] - other.begin[q]);
        apart += std::min(share, 1 - share), ++pairs;
    }
}

int main() {
    for (const int width : {256, 384, 512, 1024, 2048, 4096}) {
        const dim3 grid((width + COLS_OF_P - 1) / COLS_OF_P, (width + ROWS_OF_P - 1) / ROWS_OF_P);
        const dim3 block(THREADS_X, THREADS_Y);
        const size_t blocks = size_t{grid.x} * grid.y, bytes = sizeof(float) * width * width;
        if (blocks * sizeof(Seen) > size_t{8} << 30) continue;
        float *M, *N, *P;
        Seen* seen_d;
        cudaMalloc(&M, bytes), cudaMalloc(&N, bytes), cudaMalloc(&P, bytes);
        cudaMemset(M, 0, bytes), cudaMemset(N, 0, bytes);
        cudaMalloc(&seen_d, blocks * sizeof(Seen));
        cudaMemcpyToSymbol(g_seen, &seen_d, sizeof seen_d);
        for (int i = 0; i < 2; ++i) KERNEL<<<grid, block>>>(M, N, P, width, width, width);
        int held = 0;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&held, KERNEL, THREADS_X * THREADS_Y, 0);
        std::vector<Seen> seen(blocks);
        cudaMemcpy(seen.data(), seen_d, blocks * sizeof(Seen), cudaMemcpyDeviceToHost);
        std::map<unsigned, std::vector<const Seen*>> of_sm;
        for (const Seen& one : seen) of_sm[one.sm].push_back(&one);
        size_t most = 0;
        for (const auto& [sm, list] : of_sm) most = std::max(most, list.size());
        held = std::min(held, static_cast<int>(most));
        double apart = 0;
        long pairs = 0;
        for (const auto& [sm, list] : of_sm)
            for (const Seen* one : list)
                for (const Seen* other : list)
                    if (one != other) compare(*one, *other, apart, pairs);
        // Where an SM has no two at once there is nothing to compare.
        if (pairs > 0)
            printf("steps %s %d %d %d %.3f\n", TEXT(KERNEL), width, held, held * THREADS_X * THREADS_Y / 32,
                   apart / double(pairs));
        cudaFree(M), cudaFree(N), cudaFree(P), cudaFree(seen_d);
    }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "steps: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
