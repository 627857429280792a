// Tiled matrix product with a fault: nothing is stored where a tile reaches beyond the matrices. The
// cells there keep what an earlier phase left in them, and it is multiplied with once more.

#ifndef TILE_WIDTH
#define TILE_WIDTH 16
#endif

extern "C" __global__ void tiled_stale_edge(const float* M, const float* N, float* P, int m, int k, int n) {
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
        }
        if (n_row < k && col < n) {
            Nds[ty][tx] = N[n_row * n + col];
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
