// Matrix product in which a thread owns a patch of 8 x 8 elements of P. A block of 256 threads owns
// 128 x 128 elements. In the innermost loop a thread reads eight elements of Mds and eight of Nds into
// registers and multiplies each with each: sixteen loads from shared memory feed 64 products.

constexpr int ROWS = 128, COLS = 128;  // of P, a block
constexpr int DEPTH = 8;               // columns of M and rows of N, a phase
constexpr int PATCH = 8;               // side of the square of P that a thread owns
constexpr int THREADS = (ROWS / PATCH) * (COLS / PATCH);

extern "C" __global__ void __launch_bounds__(THREADS)
    register_tile(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ float Mds[ROWS][DEPTH];
    __shared__ float Nds[DEPTH][COLS];
    int t = threadIdx.x;
    int first_row = blockIdx.y * ROWS;
    int first_col = blockIdx.x * COLS;
    int row = t / (COLS / PATCH) * PATCH;
    int col = t % (COLS / PATCH) * PATCH;

    float sums[PATCH][PATCH] = {};
    for (int phase = 0; phase < (k + DEPTH - 1) / DEPTH; ++phase) {
        // A thread brings four elements of each tile.
        for (int e = t; e < ROWS * DEPTH; e += THREADS) {
            int m_row = first_row + e / DEPTH, m_col = phase * DEPTH + e % DEPTH;
            int n_row = phase * DEPTH + e / COLS, n_col = first_col + e % COLS;
            Mds[e / DEPTH][e % DEPTH] = m_row < m && m_col < k ? M[m_row * k + m_col] : 0.0f;
            Nds[e / COLS][e % COLS] = n_row < k && n_col < n ? N[n_row * n + n_col] : 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float left[PATCH], above[PATCH];
#pragma unroll
            for (int r = 0; r < PATCH; ++r) left[r] = Mds[row + r][i];
#pragma unroll
            for (int c = 0; c < PATCH; ++c) above[c] = Nds[i][col + c];
#pragma unroll
            for (int r = 0; r < PATCH; ++r)
#pragma unroll
                for (int c = 0; c < PATCH; ++c) sums[r][c] += left[r] * above[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < PATCH; ++r)
#pragma unroll
        for (int c = 0; c < PATCH; ++c)
            if (first_row + row + r < m && first_col + col + c < n)
                P[(first_row + row + r) * n + first_col + col + c] = sums[r][c];
}
