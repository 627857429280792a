// Matrix product in which a thread owns a column of P: eight elements, one below the other. A block of 512
// threads owns 64 x 64 elements and walks along M and N in phases, as a tiled product does, with tiles of
// 64 x 8 and 8 x 64. In the innermost loop a thread reads one element of Nds and multiplies it with eight of
// Mds, so nine loads from shared memory feed eight products where a tiled product needs sixteen.
//
//               Nds  8 x 64
//     Mds       P   64 x 64      thread t: column t % 64, rows 8 (t / 64) and the seven below
//     64 x 8
//
// Elements beyond the matrices count as zero.

constexpr int ROWS = 64, COLS = 64;  // of P, a block
constexpr int DEPTH = 8;             // columns of M and rows of N, a phase
constexpr int COLUMN = 8;            // elements of P, a thread
constexpr int THREADS = ROWS * COLS / COLUMN;

extern "C" __global__ void __launch_bounds__(THREADS)
    register_column(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ float Mds[ROWS][DEPTH];
    __shared__ float Nds[DEPTH][COLS];
    int t = threadIdx.x;
    int first_row = blockIdx.y * ROWS;
    int first_col = blockIdx.x * COLS;
    int col = t % COLS;
    int row = t / COLS * COLUMN;

    float sums[COLUMN] = {};
    for (int phase = 0; phase < (k + DEPTH - 1) / DEPTH; ++phase) {
        // A thread brings one element of each tile.
        int m_row = first_row + t / DEPTH, m_col = phase * DEPTH + t % DEPTH;
        int n_row = phase * DEPTH + t / COLS, n_col = first_col + t % COLS;
        Mds[t / DEPTH][t % DEPTH] = m_row < m && m_col < k ? M[m_row * k + m_col] : 0.0f;
        Nds[t / COLS][t % COLS] = n_row < k && n_col < n ? N[n_row * n + n_col] : 0.0f;
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float below = Nds[i][col];
#pragma unroll
            for (int r = 0; r < COLUMN; ++r) sums[r] += Mds[row + r][i] * below;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < COLUMN; ++r)
        if (first_row + row + r < m && first_col + col < n)
            P[(first_row + row + r) * n + first_col + col] = sums[r];
}
