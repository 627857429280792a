// Tiled matrix product with a fault: the barrier that closes a phase is left out. A warp that is ahead
// overwrites the tiles of this phase while a slower one still multiplies with them, and whether the
// sums come out right depends on the order in which the warps run.

#ifndef TILE_WIDTH
#define TILE_WIDTH 16
#endif

extern "C" __global__ void tiled_no_barrier(const float* M, const float* N, float* P, int m, int k, int n) {
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
            Nds[ty][tx] = N[n_row * n + col];
        } else {
            Nds[ty][tx] = 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += Mds[ty][i] * Nds[i][tx];
        }
    }
    if (row < m && col < n) {
        P[row * n + col] = sum;
    }
}
