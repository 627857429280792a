// tilescope record FILE.cu of programs for compute capability 9.0: barriers in memory, boxes of tensors, copies in bulk.
#include <string>

#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

// As the CUDA C++ Programming Guide shows TMA: boxes of a tensor that no argument of the kernel points to, by a map in
// global memory, into dynamic shared memory that must begin at a multiple of 128; sums of them, in bulk, to `out`.
constexpr const char* kBoxes = R"(#include <cstdio>
#include <cstdint>
#include <utility>
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace deep { extern __shared__ __align__(128) uint8_t tiles[]; }
__global__ void boxes(const CUtensorMap* map, const int* more, int* out) {
    __shared__ barrier full[2];
    int(*tile)[64] = reinterpret_cast<int(*)[64]>(deep::tiles);
    const int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], blockDim.x);
        init(&full[1], blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    int sum = 0;
    for (int trip = 0; trip < 3; ++trip) {
        barrier::arrival_token token;
        if (t == 0) {
            cde::cp_async_bulk_tensor_2d_global_to_shared(tile[0], map, 8 * trip, 8 * (int)blockIdx.x, full[0]);
            token = cuda::device::barrier_arrive_tx(full[0], 1, 256);
        } else {
            token = full[0].arrive();
        }
        full[0].wait(std::move(token));
        sum += tile[0][t];
        __syncthreads();
    }
    barrier::arrival_token token;
    if (t == 0) {
        cuda::device::memcpy_async_tx(tile[1], more, cuda::aligned_size_t<16>(256), full[1]);
        token = cuda::device::barrier_arrive_tx(full[1], 1, 256);
    } else {
        token = full[1].arrive();
    }
    full[1].wait(std::move(token));
    tile[1][t] += sum;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        cde::cp_async_bulk_shared_to_global(out + 64 * blockIdx.x, tile[1], 256);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}
int main() {
    int host[16][32], more[64], *from, *d_more, *out, got[128];
    for (int i = 0; i < 512; ++i) host[i / 32][i % 32] = i * i;
    for (int i = 0; i < 64; ++i) more[i] = 100000 * i;
    cudaMalloc(&from, sizeof host);
    cudaMalloc(&d_more, sizeof more);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(d_more, more, sizeof more, cudaMemcpyHostToDevice);
    CUtensorMap map, *d_map;
    const cuuint64_t extent[] = {32, 16}, stride[] = {128};
    const cuuint32_t box[] = {8, 8}, step[] = {1, 1};
    if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, from, extent, stride, box, step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        return 2;
    cudaMalloc(&d_map, sizeof map);
    cudaMemcpy(d_map, &map, sizeof map, cudaMemcpyHostToDevice);
    boxes<<<2, 64, 512>>>(d_map, d_more, out);
    if (cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost)) return 3;
    for (int i = 0; i < 128; ++i) {
        int sum = more[i % 64];
        for (int trip = 0; trip < 3; ++trip) sum += host[i / 64 * 8 + i % 64 / 8][8 * trip + i % 8];
        if (got[i] != sum) return 4;
    }
    puts("right");
}
)";

TEST(CliHopper, RecordsBoxesThatABarrierCounts) {
    write(in_folder("boxes.cu"), kBoxes);
    const Ran ran = record("boxes.cu -o boxes.tsc --flags -arch=sm_90a");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("right"), std::string::npos) << ran.out;
    const Ran report = tilescope({"report", "boxes.tsc"});
    for (const char* said : {"2 of 2 blocks recorded", "mbarrier waits", "faults: none found", " tiles "})
        EXPECT_NE(report.out.find(said), std::string::npos) << said << report.out;
}

// Blocks of a cluster count in each other's shared memory, and read what another has left in its own; the launch says the
// one's cluster, the other is compiled for it.
constexpr const char* kClusters = R"(
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void counts(const int* values, int n, int* out) {
    extern __shared__ int own[];
    const cg::cluster_group blocks = cg::this_cluster();
    const int bins = blockDim.x;
    own[threadIdx.x] = 0;
    blocks.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += gridDim.x * blockDim.x)
        atomicAdd(blocks.map_shared_rank(own, values[i] / bins) + values[i] % bins, 1);
    blocks.sync();
    atomicAdd(out + blocks.thread_rank(), own[threadIdx.x]);
}
__global__ void __cluster_dims__(2, 1, 1) swapped(int* out) {
    __shared__ int mine;
    const cg::cluster_group blocks = cg::this_cluster();
    if (threadIdx.x == 0) mine = 100 + blockIdx.x;
    blocks.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = *blocks.map_shared_rank(&mine, blocks.block_rank() ^ 1);
    blocks.sync();
}
int main() {
    constexpr int n = 1000, bins = 64;
    int host[n], expected[bins] = {}, got[bins];
    for (int i = 0; i < n; ++i) ++expected[host[i] = i * i % bins];
    int *values, *out;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof got);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 4, config.blockDim = bins / 2, config.dynamicSmemBytes = bins / 2 * sizeof(int);
    config.attrs = &cluster, config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, counts, (const int*)values, n, out)) return 1;
    if (cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost)) return 2;
    for (int i = 0; i < bins; ++i)
        if (got[i] != expected[i]) return 3;
    swapped<<<4, 32>>>(out);
    if (cudaMemcpy(got, out, 4 * sizeof(int), cudaMemcpyDeviceToHost)) return 4;
    for (int i = 0; i < 4; ++i)
        if (got[i] != 100 + (i ^ 1)) return 5;
    puts("right");
}
)";

TEST(CliHopper, RecordsBlocksOfAClusterTogether) {
    write(in_folder("clusters.cu"), kClusters);
    const Ran ran = record("clusters.cu -o clusters --every --flags -arch=sm_90");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("right"), std::string::npos) << ran.out;
    for (const char* file : {"clusters/counts.1.tsc", "clusters/swapped.2.tsc"}) {
        const Ran report = tilescope({"report", file});
        for (const char* said : {"clusters of 2 × 1 blocks", "4 of 4 blocks recorded", "faults: none found",
                                 "were not looked for"})
            EXPECT_NE(report.out.find(said), std::string::npos) << said << report.out;
    }
}

}  // namespace
}  // namespace tilescope::cli_test
