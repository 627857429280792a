// The same tiled product in OpenCL C, for Oclgrind: kernels/textbook/tiled.cu word for word where the languages allow.
#define TILE_WIDTH 16

__kernel void tiled(__global const float* M, __global const float* N, __global float* P, int m, int k, int n) {
    __local float Mds[TILE_WIDTH][TILE_WIDTH];
    __local float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = get_local_id(0);
    int ty = get_local_id(1);
    int row = get_group_id(1) * TILE_WIDTH + ty;
    int col = get_group_id(0) * TILE_WIDTH + tx;

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
        barrier(CLK_LOCAL_MEM_FENCE);

        for (int i = 0; i < TILE_WIDTH; ++i) {
            sum += Mds[ty][i] * Nds[i][tx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n) {
        P[row * n + col] = sum;
    }
}
