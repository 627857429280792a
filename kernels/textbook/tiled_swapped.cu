// Tiled matrix product with the mapping of its loads swapped: thread x walks down the rows of a tile
// and thread y along them, so the lanes of a warp load elements that lie a row apart. Everything after
// the loads is as in `tiled`, and so is the result.

#ifndef TILE_WIDTH
#define TILE_WIDTH 16
#endif

extern "C" __global__ void tiled_swapped(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_WIDTH + ty;
    int col = blockIdx.x * TILE_WIDTH + tx;

    float sum = 0.0f;
    for (int phase = 0; phase < (k + TILE_WIDTH - 1) / TILE_WIDTH; ++phase) {
        int m_row = blockIdx.y * TILE_WIDTH + tx;
        int m_col = phase * TILE_WIDTH + ty;
        int n_row = phase * TILE_WIDTH + tx;
        int n_col = blockIdx.x * TILE_WIDTH + ty;
        if (m_row < m && m_col < k) {
            Mds[tx][ty] = M[m_row * k + m_col];
        } else {
            Mds[tx][ty] = 0.0f;
        }
        if (n_row < k && n_col < n) {
            Nds[tx][ty] = N[n_row * n + n_col];
        } else {
            Nds[tx][ty] = 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += Mds[ty][i] * Nds[i][tx];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        P[row * n + col] = sum;
    }
}
