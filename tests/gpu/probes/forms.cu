// What small forms of PTX do on a real GPU, where the PTX ISA leaves it open or Tilescope relies on it; a line each:
//
//   elected       the lane that elect.sync chooses, by member mask, of lanes that have not exited
//   clusters      the special registers of clusters in a launch without any: the same two blocks, each its own cluster
//   half          atom.add.noftz of f16 and bf16, and .v2.f16 min and max: what is left, bit for bit
//   vector        red.v2.f32 of subnormal numbers: flushed or kept
//   arrivals      whether warps that only arrive complete a barrier, and whether the next pass counts anew
//
// Builds alone (sm_90 or newer): nvcc -arch=native -o forms forms.cu && ./forms
#include <cstdint>
#include <cstdio>

__global__ void elected(const uint32_t* masks, int* out) {
    const int lane = threadIdx.x;
    const uint32_t mask = masks[blockIdx.x], stay = masks[blockIdx.x + gridDim.x];
    out[blockIdx.x * 32 + lane] = -1;
    if (!(stay >> lane & 1)) return;
    if (!(mask >> lane & 1)) return;
    int chosen, is;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.s32 %1, 1, 0, p; }"
                 : "=r"(chosen), "=r"(is)
                 : "r"(mask));
    out[blockIdx.x * 32 + lane] = chosen + 100 * is;
}

__global__ void clusters(uint32_t* out) {
    if (threadIdx.x != 0) return;
    uint32_t* mine = out + blockIdx.x * 8;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(mine[0]));
    asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(mine[1]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(mine[2]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(mine[3]));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(mine[4]));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(mine[5]));
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(mine[6]));
}

// Two words a case: memory before, and the operand; the low half counts for scalars.
__global__ void halves(const uint32_t* cases, uint32_t* out) {
    const uint32_t before = cases[2 * threadIdx.x], operand = cases[2 * threadIdx.x + 1];
    uint32_t* left = out + 4 * threadIdx.x;
    const uint16_t half = static_cast<uint16_t>(operand);
    for (int i = 0; i < 4; ++i) left[i] = before;
    asm volatile("{ .reg .b16 d; atom.global.add.noftz.f16 d, [%0], %1; }" ::"l"(left), "h"(half) : "memory");
    asm volatile("{ .reg .b16 d; atom.global.add.noftz.bf16 d, [%0], %1; }" ::"l"(left + 1), "h"(half)
                 : "memory");
    const uint16_t high = static_cast<uint16_t>(operand >> 16);
    asm volatile("red.global.v2.f16.min.noftz [%0], {%1, %2};" ::"l"(left + 2), "h"(half), "h"(high)
                 : "memory");
    asm volatile("red.global.v2.f16.max.noftz [%0], {%1, %2};" ::"l"(left + 3), "h"(half), "h"(high)
                 : "memory");
}

__global__ void vectors(float* out) {
    asm volatile("red.global.v2.f32.add [%0], {%1, %2};" ::"l"(out), "f"(1e-40f), "f"(1.0f) : "memory");
}

// Warp 0 arrives twice at a barrier of 64 threads where nobody waits; then warps 1 and 2 pass it by themselves. A hang
// would mean that arrivals alone do not complete it; `passed` says who came behind.
__global__ void arrivals(int* passed) {
    const int warp = threadIdx.x / 32;
    if (warp == 0) asm volatile("bar.arrive 1, 64;\n\tbar.arrive 1, 64;");
    __syncthreads();
    if (warp != 0) asm volatile("bar.sync 1, 64;");
    if (threadIdx.x % 32 == 0) passed[warp] = 1 + (warp == 0);
}

int main() {
    const uint32_t kMasks[] = {~0u, 0xFFFFFFF0u, 0x80000000u, 0x0000FF00u, ~0u, ~0u};
    const uint32_t kStay[] = {~0u, ~0u, ~0u, ~0u, 0xFFFF0000u, 0x80000001u};
    constexpr int kElections = 6;
    uint32_t* masks;
    int* chosen;
    cudaMallocManaged(&masks, sizeof kMasks + sizeof kStay);
    cudaMallocManaged(&chosen, kElections * 32 * sizeof(int));
    for (int i = 0; i < kElections; ++i) masks[i] = kMasks[i], masks[i + kElections] = kStay[i];
    elected<<<kElections, 32>>>(masks, chosen);
    cudaDeviceSynchronize();
    for (int i = 0; i < kElections; ++i) {
        int lane = -1, says = -1;
        for (int l = 0; l < 32; ++l) {
            if (chosen[i * 32 + l] < 0) continue;
            says = chosen[i * 32 + l] % 100;
            if (chosen[i * 32 + l] >= 100) lane = l;
        }
        std::printf("elected mask %08x of %08x: lane %d, told %d\n", kMasks[i], kStay[i], lane, says);
    }

    uint32_t* words;
    cudaMallocManaged(&words, 4096);
    clusters<<<2, 32>>>(words);
    cudaDeviceSynchronize();
    for (int b = 0; b < 2; ++b)
        std::printf("clusters block %d: id %u of %u, block %u of %u, rank %u of %u, explicit %u\n", b,
                    words[8 * b], words[8 * b + 1], words[8 * b + 2], words[8 * b + 3], words[8 * b + 4],
                    words[8 * b + 5], words[8 * b + 6]);

    // Ties, subnormal numbers, infinities, NaNs, zeros of both signs.
    const uint32_t kHalves[][2] = {
        {0x68016801u, 0x3C003C00u}, {0x68006800u, 0x3C003C00u}, {0x00010001u, 0x00010001u},
        {0x7BFF7BFFu, 0x7BFF7BFFu}, {0x7C007C00u, 0xFC00FC00u}, {0x7E007E00u, 0x3C003C00u},
        {0x3C003C00u, 0x7E017E01u}, {0x7E017E01u, 0x7E027E02u}, {0x80000000u, 0x00008000u},
        {0x43804380u, 0x3F803F80u}, {0x00808001u, 0x80800001u}, {0x7C017C01u, 0x00000000u}};
    constexpr int kCases = sizeof kHalves / sizeof kHalves[0];
    uint32_t *cases, *left;
    cudaMallocManaged(&cases, sizeof kHalves);
    cudaMallocManaged(&left, kCases * 16);
    for (int i = 0; i < kCases; ++i) cases[2 * i] = kHalves[i][0], cases[2 * i + 1] = kHalves[i][1];
    halves<<<1, kCases>>>(cases, left);
    cudaDeviceSynchronize();
    for (int i = 0; i < kCases; ++i)
        std::printf("half %08x %08x: add.f16 %04x, add.bf16 %04x, min.v2.f16 %08x, max.v2.f16 %08x\n",
                    kHalves[i][0], kHalves[i][1], left[4 * i] & 0xFFFF, left[4 * i + 1] & 0xFFFF,
                    left[4 * i + 2], left[4 * i + 3]);

    float* sums;
    cudaMallocManaged(&sums, 8);
    sums[0] = sums[1] = 1e-40f;
    vectors<<<1, 1>>>(sums);
    cudaDeviceSynchronize();
    std::printf("vector 1e-40 + {1e-40, 1}: %g %g\n", sums[0], sums[1]);

    int* passed;
    cudaMallocManaged(&passed, 3 * sizeof(int));
    arrivals<<<1, 96>>>(passed);
    const cudaError_t failed = cudaDeviceSynchronize();
    std::printf("arrivals: %d %d %d, %s\n", passed[0], passed[1], passed[2], cudaGetErrorString(failed));
    return failed != cudaSuccess;
}
