// The product with vector loads in which a warp owns a tile of 32 x 64 elements of P, and a thread 8 x 8 of
// them: four patches of 4 x 4, 16 rows and 32 columns apart. Four loads feed 64 products as in vector_loads,
// but the lanes of a warp now read 16 bytes of Nds that lie side by side, without a bank conflict, and only
// four different ones of Mds.
//
//     a warp's tile of P:  lane l has rows 4 (l / 8) to 4 (l / 8) + 3, and 16 below,
//                          columns 4 (l % 8) to 4 (l % 8) + 3, and 32 beside

constexpr int ROWS = 128, COLS = 128;          // of P, a block
constexpr int DEPTH = 8;                       // columns of M and rows of N, a phase
constexpr int PITCH = ROWS + 4;                // of a row of Mds: stores down a column meet in fewer banks
constexpr int WARP_ROWS = 32, WARP_COLS = 64;  // of P, a warp
constexpr int PATCH = 4;                       // side of a patch; a thread owns 2 x 2 patches
constexpr int THREADS = 256;

// Four elements of a row from `col` on; zero beyond the matrix.
__device__ __forceinline__ float4 four_of(const float* matrix, int rows, int cols, int row, int col) {
    if (row < rows && col + 3 < cols && cols % 4 == 0) return *(const float4*)&matrix[row * cols + col];
    float4 found = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row < rows && col < cols) found.x = matrix[row * cols + col];
    if (row < rows && col + 1 < cols) found.y = matrix[row * cols + col + 1];
    if (row < rows && col + 2 < cols) found.z = matrix[row * cols + col + 2];
    if (row < rows && col + 3 < cols) found.w = matrix[row * cols + col + 3];
    return found;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    warp_tile(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) float Mds[DEPTH][PITCH];  // transposed
    __shared__ __align__(16) float Nds[DEPTH][COLS];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS + lane / 8 * PATCH;
    int col = warp % (COLS / WARP_COLS) * WARP_COLS + lane % 8 * PATCH;
    // What a thread brings: four elements of a row of each tile.
    int m_row = t / (DEPTH / 4), m_col = t % (DEPTH / 4) * 4;
    int n_row = t / (COLS / 4), n_col = t % (COLS / 4) * 4;

    float sums[2 * PATCH][2 * PATCH] = {};
    for (int phase = 0; phase < (k + DEPTH - 1) / DEPTH; ++phase) {
        float4 from_m = four_of(M, m, k, first_row + m_row, phase * DEPTH + m_col);
        Mds[m_col][m_row] = from_m.x;
        Mds[m_col + 1][m_row] = from_m.y;
        Mds[m_col + 2][m_row] = from_m.z;
        Mds[m_col + 3][m_row] = from_m.w;
        *(float4*)(Nds[n_row] + n_col) = four_of(N, k, n, phase * DEPTH + n_row, first_col + n_col);
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float left[2 * PATCH], above[2 * PATCH];
            *(float4*)&left[0] = *(const float4*)(Mds[i] + row);
            *(float4*)&left[PATCH] = *(const float4*)(Mds[i] + row + WARP_ROWS / 2);
            *(float4*)&above[0] = *(const float4*)(Nds[i] + col);
            *(float4*)&above[PATCH] = *(const float4*)(Nds[i] + col + WARP_COLS / 2);
#pragma unroll
            for (int r = 0; r < 2 * PATCH; ++r)
#pragma unroll
                for (int c = 0; c < 2 * PATCH; ++c) sums[r][c] += left[r] * above[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 2 * PATCH; ++r)
#pragma unroll
        for (int c = 0; c < 2 * PATCH; ++c) {
            int p_row = first_row + row + r / PATCH * (WARP_ROWS / 2) + r % PATCH;
            int p_col = first_col + col + c / PATCH * (WARP_COLS / 2) + c % PATCH;
            if (p_row < m && p_col < n) P[p_row * n + p_col] = sums[r][c];
        }
}
