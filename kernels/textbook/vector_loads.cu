// The product with 8 x 8 elements a thread, loading four floats at a time. The tile of M is kept transposed,
// so that the eight elements that a thread needs of a column of M lie side by side and two loads of 16 bytes
// bring them; so do two for the row of N. Four loads feed 64 products where sixteen did.
//
// A load of 16 bytes needs an address that is a multiple of 16. Where a row of M or N does not have a
// multiple of four elements, or where the matrix ends, its elements are loaded one by one.

constexpr int ROWS = 128, COLS = 128;  // of P, a block
constexpr int DEPTH = 8;               // columns of M and rows of N, a phase
constexpr int PATCH = 8;               // side of the square of P that a thread owns
constexpr int THREADS = (ROWS / PATCH) * (COLS / PATCH);

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
    vector_loads(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) float Mds[DEPTH][ROWS];  // transposed
    __shared__ __align__(16) float Nds[DEPTH][COLS];
    int t = threadIdx.x;
    int first_row = blockIdx.y * ROWS;
    int first_col = blockIdx.x * COLS;
    int row = t / (COLS / PATCH) * PATCH;
    int col = t % (COLS / PATCH) * PATCH;
    // What a thread brings: four elements of a row of each tile.
    int m_row = t / (DEPTH / 4), m_col = t % (DEPTH / 4) * 4;
    int n_row = t / (COLS / 4), n_col = t % (COLS / 4) * 4;

    float sums[PATCH][PATCH] = {};
    for (int phase = 0; phase < (k + DEPTH - 1) / DEPTH; ++phase) {
        float4 from_m = four_of(M, m, k, first_row + m_row, phase * DEPTH + m_col);
        Mds[m_col][m_row] = from_m.x;
        Mds[m_col + 1][m_row] = from_m.y;
        Mds[m_col + 2][m_row] = from_m.z;
        Mds[m_col + 3][m_row] = from_m.w;
        *(float4*)(Nds[n_row] + n_col) = four_of(N, k, n, phase * DEPTH + n_row, first_col + n_col);
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float left[PATCH], above[PATCH];
#pragma unroll
            for (int r = 0; r < PATCH; r += 4) *(float4*)&left[r] = *(const float4*)(Mds[i] + row + r);
#pragma unroll
            for (int c = 0; c < PATCH; c += 4) *(float4*)&above[c] = *(const float4*)(Nds[i] + col + c);
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
