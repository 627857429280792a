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

}  // namespace
}  // namespace tilescope::cli_test
