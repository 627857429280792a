// Tiled matrix product that keeps the N tile transposed in shared memory. The arithmetic is that of
// `tiled`, and the loads from global memory are too; but a step of the inner loop now reads down a
// column of Nds, where the rows lie T words apart: the lanes of a warp meet in the same banks.

#ifndef TILE_WIDTH
#define TILE_WIDTH 16
#endif

extern "C" __global__ void tiled_transposed(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_WIDTH + ty;
    int col = blockIdx.x * TILE_WIDTH + tx;

    float sum = 0.0f;
    for (int phase = 0; phase < (k + TILE_WIDTH - 1) / TILE_WIDTH; ++phase) {
        int m_col = phase * TILE_WIDTH + tx;
        int n_row = phase * TILE_WIDTH + ty;
        if (row < m && m_col < k) {
            Mds[ty][tx] = M[row * k + m_col];
        } else {
            Mds[ty][tx] = 0.0f;
        }
        if (n_row < k && col < n) {
            Nds[tx][ty] = N[n_row * n + col];
        } else {
            Nds[tx][ty] = 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += Mds[ty][i] * Nds[tx][i];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        P[row * n + col] = sum;
    }
}
