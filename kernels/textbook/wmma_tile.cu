// The product on tensor cores as CUDA C++ has them: a warp owns 32 x 32 elements of P as four fragments of 16 x 16,
// which it loads, multiplies and stores as a whole. M and N are halves, sums are fp32. Which lane holds which element
// of a fragment is left open, so P goes through shared memory, where each element has its row and column again.
#include <mma.h>

using namespace nvcuda;

constexpr int ROWS = 64, COLS = 64, DEPTH = 32;  // of M's rows, N's columns, and both, a block and phase
constexpr int PART = 32;                         // rows and columns of P, a warp
constexpr int THREADS = 128;

using Left = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using Above = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
constexpr wmma::layout_t BY_ROWS = wmma::mem_row_major;

extern "C" __global__ void __launch_bounds__(THREADS)
    wmma_tile(const half* M, const half* N, float* P, int m, int k, int n) {
    __shared__ __align__(32) half Mds[ROWS][DEPTH];  // a fragment begins at a multiple of 32 bytes
    __shared__ __align__(32) half Nds[DEPTH][COLS];
    __shared__ __align__(32) float Pds[ROWS][COLS];
    unsigned t = threadIdx.x, warp = t / 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / PART) * PART, col = warp % (COLS / PART) * PART;

    Sums sums[2][2];
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int c = 0; c < 2; ++c) wmma::fill_fragment(sums[r][c], 0.0f);
    for (int first = 0; first < k; first += DEPTH) {
        for (unsigned i = t; i < ROWS * DEPTH; i += THREADS) {
            int r = i / DEPTH, c = i % DEPTH;
            bool inside = first_row + r < m && first + c < k;
            Mds[r][c] = inside ? M[(first_row + r) * k + first + c] : half{};
        }
        for (unsigned i = t; i < DEPTH * COLS; i += THREADS) {
            int r = i / COLS, c = i % COLS;
            bool inside = first + r < k && first_col + c < n;
            Nds[r][c] = inside ? N[(first + r) * n + first_col + c] : half{};
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; i += 16) {
            Left left[2];
            Above above[2];
#pragma unroll
            for (int s = 0; s < 2; ++s) {
                wmma::load_matrix_sync(left[s], &Mds[row + 16 * s][i], DEPTH);
                wmma::load_matrix_sync(above[s], &Nds[i][col + 16 * s], COLS);
            }
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int c = 0; c < 2; ++c) wmma::mma_sync(sums[r][c], left[r], above[c], sums[r][c]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            float* to = &Pds[row + 16 * r][col + 16 * c];
            wmma::store_matrix_sync(to, sums[r][c], COLS, BY_ROWS);
        }
    __syncthreads();
    for (unsigned i = t; i < ROWS * COLS; i += THREADS) {
        int r = first_row + i / COLS, c = first_col + i % COLS;
        if (r < m && c < n) P[r * n + c] = Pds[i / COLS][i % COLS];
    }
}
