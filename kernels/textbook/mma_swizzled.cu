// The product on tensor cores with swizzled tiles: the eight halves that belong to place c of row r lie at place c ^ r % 8
// of it. (A row of Mds has only four places, and two rows fill the banks: c ^ r / 2 % 4.) So the eight rows of a matrix
// have the same place in different banks, ldmatrix has no conflict, and no byte is spent on it.
//
//     row 0   0 1 2 3 4 5 6 7    where the eights of halves lie in a row of Nds: those of one column, which ldmatrix
//     row 1   1 0 3 2 5 4 7 6    reads at once, are a diagonal
//     row 2   2 3 0 1 6 7 4 5
//     ...

typedef unsigned short half;  // 16 bits that are moved, and that tensor cores multiply

constexpr int ROWS = 128, COLS = 128, DEPTH = 32;  // of M's rows, N's columns, and both, a block and phase
constexpr int WARP_ROWS = 64, WARP_COLS = 64;      // of P, a warp
constexpr int THREADS = 128;
constexpr int CHUNK = 8;  // halves in 16 bytes

// Where column c of row r lies in the row of its tile.
__device__ __forceinline__ int m_place(int r, int c) { return c ^ (r / 2 % 4 * CHUNK); }
__device__ __forceinline__ int n_place(int r, int c) { return c ^ (r % 8 * CHUNK); }

// Eight halves of a row of a matrix, with zeros beyond it: 16 bytes at once where each row begins at a multiple of that.
__device__ __forceinline__ void fill(half* to, const half* matrix, int rows, int cols, int r, int c) {
    const half* from = matrix + r * cols + c;
    if (cols % CHUNK == 0) {
        uint4 chunk = {0, 0, 0, 0};
        if (r < rows && c < cols) chunk = *(const uint4*)from;
        *(uint4*)to = chunk;
    } else {
        for (int i = 0; i < CHUNK; ++i) to[i] = r < rows && c + i < cols ? from[i] : 0;
    }
}

// Four matrices of 8 x 8 halves: lane l points at row l % 8 of matrix l / 8, and gets two halves of each.
__device__ __forceinline__ void read_left(unsigned (&to)[4], const half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)));
}
// The same, each matrix transposed: a lane gets two halves of a column.
__device__ __forceinline__ void read_above(unsigned (&to)[4], const half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)));
}
// 16 x 8 sums, plus 16 x 16 halves times 16 x 8.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    mma_swizzled(const half* M, const half* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) half Mds[ROWS][DEPTH];
    __shared__ __align__(16) half Nds[DEPTH][COLS];
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS, col = warp % (COLS / WARP_COLS) * WARP_COLS;

    float sums[WARP_ROWS / 16][WARP_COLS / 8][4] = {};
    for (int first = 0; first < k; first += DEPTH) {
        for (unsigned i = t; i < ROWS * DEPTH / CHUNK; i += THREADS) {
            int r = i / (DEPTH / CHUNK), c = i % (DEPTH / CHUNK) * CHUNK;
            fill(&Mds[r][m_place(r, c)], M, m, k, first_row + r, first + c);
        }
        for (unsigned i = t; i < DEPTH * COLS / CHUNK; i += THREADS) {
            int r = i / (COLS / CHUNK), c = i % (COLS / CHUNK) * CHUNK;
            fill(&Nds[r][n_place(r, c)], N, k, n, first + r, first_col + c);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; i += 16) {
            // A lane points at row lane % 16 of 16, and at the left or right eight halves of it.
            int r = lane % 16, c = lane / 16 * CHUNK;
            unsigned left[WARP_ROWS / 16][4], above[WARP_COLS / 16][4];
#pragma unroll
            for (int s = 0; s < WARP_ROWS / 16; ++s) read_left(left[s], &Mds[row + 16 * s + r][m_place(r, i + c)]);
#pragma unroll
            for (int s = 0; s < WARP_COLS / 16; ++s) read_above(above[s], &Nds[i + r][n_place(r, col + 16 * s + c)]);
#pragma unroll
            for (int s = 0; s < WARP_ROWS / 16; ++s)
#pragma unroll
                for (int u = 0; u < WARP_COLS / 8; ++u) multiply(sums[s][u], left[s], above[u / 2] + u % 2 * 2);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < WARP_ROWS / 16; ++r)
#pragma unroll
        for (int c = 0; c < WARP_COLS / 8; ++c)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int p_row = first_row + row + 16 * r + lane / 4 + i / 2 * 8;
                int p_col = first_col + col + 8 * c + lane % 4 * 2 + i % 2;
                if (p_row < m && p_col < n) P[p_row * n + p_col] = sums[r][c][i];
            }
}
