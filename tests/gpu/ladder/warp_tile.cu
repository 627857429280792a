// The product with vector loads in which a warp owns a tile of 64 x 64 elements of P, and a thread 16 x 8 of
// them: four patches of 4 x 4 below each other, 16 rows apart, and two beside each other, 32 columns apart.
// The lanes of a warp then read 16 bytes of Nds that lie side by side, without a bank conflict, and few
// different ones of Mds. Six loads feed 128 products where four fed 64, so that shared memory is asked for
// three quarters as much; a thread's registers hold twice as many sums.
//
//     a warp's tile of P:  lane l has rows 4 (l / 8) to 4 (l / 8) + 3, and 16, 32 and 48 below,
//                          columns 4 (l % 8) to 4 (l % 8) + 3, and 32 beside

constexpr int ROWS = 256, COLS = 128;  // of P, a block
constexpr int DEPTH = 8;               // columns of M and rows of N, a phase
constexpr int PITCH =
    ROWS + 4;  // of a row of Mds; more than ROWS, so that stores down a column conflict less
constexpr int WARP_ROWS = 64, WARP_COLS = 64;  // of P, a warp
constexpr int DOWN = 16, ACROSS = 8;           // of P, a thread
constexpr int THREADS = 256;

// Four elements of a row from `col` on; zero beyond the matrix.
__device__ float4 four_of(const float* matrix, int rows, int cols, int row, int col) {
    if (row < rows && col + 3 < cols && cols % 4 == 0) return *(const float4*)&matrix[row * cols + col];
    float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row < rows && col < cols) four.x = matrix[row * cols + col];
    if (row < rows && col + 1 < cols) four.y = matrix[row * cols + col + 1];
    if (row < rows && col + 2 < cols) four.z = matrix[row * cols + col + 2];
    if (row < rows && col + 3 < cols) four.w = matrix[row * cols + col + 3];
    return four;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    warp_tile(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) float Mds[DEPTH][PITCH];  // transposed
    __shared__ __align__(16) float Nds[DEPTH][COLS];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS + lane / 8 * 4;
    int col = warp % (COLS / WARP_COLS) * WARP_COLS + lane % 8 * 4;

    float sums[DOWN][ACROSS] = {};
    for (int phase = 0; phase < (k + DEPTH - 1) / DEPTH; ++phase) {
        for (int e = t * 4; e < ROWS * DEPTH; e += THREADS * 4) {
            float4 four = four_of(M, m, k, first_row + e / DEPTH, phase * DEPTH + e % DEPTH);
            Mds[e % DEPTH][e / DEPTH] = four.x;
            Mds[e % DEPTH + 1][e / DEPTH] = four.y;
            Mds[e % DEPTH + 2][e / DEPTH] = four.z;
            Mds[e % DEPTH + 3][e / DEPTH] = four.w;
        }
        for (int e = t * 4; e < DEPTH * COLS; e += THREADS * 4)
            *(float4*)&Nds[e / COLS][e % COLS] =
                four_of(N, k, n, phase * DEPTH + e / COLS, first_col + e % COLS);
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float left[DOWN], above[ACROSS];
            for (int r = 0; r < DOWN; r += 4) *(float4*)&left[r] = *(const float4*)&Mds[i][row + r / 4 * 16];
            for (int c = 0; c < ACROSS; c += 4)
                *(float4*)&above[c] = *(const float4*)&Nds[i][col + c / 4 * 32];
            for (int r = 0; r < DOWN; ++r)
                for (int c = 0; c < ACROSS; ++c) sums[r][c] += left[r] * above[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < DOWN; ++r)
        for (int c = 0; c < ACROSS; ++c) {
            int p_row = first_row + row + r / 4 * 16 + r % 4, p_col = first_col + col + c / 4 * 32 + c % 4;
            if (p_row < m && p_col < n) P[p_row * n + p_col] = sums[r][c];
        }
}
