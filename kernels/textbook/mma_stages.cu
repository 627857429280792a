// The product on tensor cores with three stages of swizzled tiles in shared memory: while a warp multiplies one stage,
// cp.async brings the next two there, through no register. What the next products need is read while the present ones
// are worked out, so a lane holds two sets of it, and there is one barrier a phase.
//
//     copies      | stage 0 | stage 1 | stage 2 |           | stage 0 |
//     products                        | stage 0             | stage 1           | ...
//
// A copy of 16 bytes needs addresses that are multiples of 16; where a row of M or N does not have a multiple of eight
// halves, they are copied one by one.

typedef unsigned short half;  // 16 bits that are moved, and that tensor cores multiply

constexpr int ROWS = 128, COLS = 128, DEPTH = 32;  // of M's rows, N's columns, and both, a block and phase
constexpr int WARP_ROWS = 64, WARP_COLS = 64;      // of P, a warp
constexpr int THREADS = 128, STAGES = 3;
constexpr int CHUNK = 8;                                                              // halves in 16 bytes
constexpr int M_ROW = 2 * DEPTH, N_ROW = 2 * COLS;                                    // bytes
constexpr int M_STAGE = ROWS * M_ROW, N_STAGE = DEPTH * N_ROW;                        // bytes
constexpr int M_STEP = THREADS / (DEPTH / CHUNK), N_STEP = THREADS / (COLS / CHUNK);  // rows that all threads copy

// Copies eight halves to shared memory without waiting for them, or puts zeros there.
__device__ __forceinline__ void copy(unsigned to, const half* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0));
}
// The first of eight halves, one by one, and zeros behind them.
__device__ __forceinline__ void copy_halves(unsigned to, const half* from, int count) {
    for (int i = 0; i < CHUNK; ++i)
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(to + 2 * i), "h"(i < count ? from[i] : (half)0));
}
// Four matrices of 8 x 8 halves: lane l points at row l % 8 of matrix l / 8, and gets two halves of each.
__device__ __forceinline__ void read_left(unsigned (&to)[4], unsigned row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row));
}
// The same, each matrix transposed: a lane gets two halves of a column.
__device__ __forceinline__ void read_above(unsigned (&to)[4], unsigned row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row));
}
// 16 x 8 sums, plus 16 x 16 halves times 16 x 8.
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    mma_stages(const half* M, const half* N, float* P, int m, int k, int n) {
    __shared__ __align__(128) half Mds[STAGES][ROWS][DEPTH];
    __shared__ __align__(128) half Nds[STAGES][DEPTH][COLS];
    unsigned m_shared = (unsigned)__cvta_generic_to_shared(Mds), n_shared = (unsigned)__cvta_generic_to_shared(Nds);
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS, col = warp % (COLS / WARP_COLS) * WARP_COLS;
    int phases = (k + DEPTH - 1) / DEPTH;

    // What the thread copies: a chunk of every M_STEP-th row of M and every N_STEP-th of N. Chunk c of row r lies at
    // place c ^ r % 8 of the row, or c ^ r / 2 % 4 of four, so that eight rows have their chunk c in different banks.
    unsigned m_row = t / (DEPTH / CHUNK), m_col = t % (DEPTH / CHUNK) * CHUNK;
    unsigned n_row = t / (COLS / CHUNK), n_col = t % (COLS / CHUNK) * CHUNK;
    unsigned m_to = m_shared + m_row * M_ROW + (m_col / CHUNK ^ m_row / 2 % 4) * 16;
    unsigned n_to = n_shared + n_row * N_ROW + (n_col / CHUNK ^ n_row % 8) * 16;
    const half* m_next = M + (long long)(first_row + m_row) * k + m_col;
    const half* n_next = N + (long long)n_row * n + first_col + n_col;
    bool aligned = k % CHUNK == 0 && n % CHUNK == 0;  // each row begins at a multiple of 16 bytes
    auto bring = [&](int phase, unsigned stage) {
        int m_left = k - phase * DEPTH - m_col, n_left = n - first_col - n_col;
        int m_high = m - first_row - m_row, n_high = k - phase * DEPTH - n_row;
        if (phase <= phases && aligned) {
#pragma unroll
            for (int i = 0; i < ROWS; i += M_STEP)
                copy(m_to + stage * M_STAGE + i * M_ROW, m_next + (long long)i * k, i < m_high && m_left > 0);
#pragma unroll
            for (int i = 0; i < DEPTH; i += N_STEP)
                copy(n_to + stage * N_STAGE + i * N_ROW, n_next + (long long)i * n, i < n_high && n_left > 0);
        } else if (phase <= phases) {
#pragma unroll 1
            for (int i = 0; i < ROWS; i += M_STEP)
                copy_halves(m_to + stage * M_STAGE + i * M_ROW, m_next + (long long)i * k, i < m_high ? m_left : 0);
#pragma unroll 1
            for (int i = 0; i < DEPTH; i += N_STEP)
                copy_halves(n_to + stage * N_STAGE + i * N_ROW, n_next + (long long)i * n, i < n_high ? n_left : 0);
        }
        m_next += DEPTH, n_next += (long long)DEPTH * n;
        asm volatile("cp.async.commit_group;");
    };
    auto wait = [] {  // for all copies but the youngest, the block's other threads' too
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
    };

    // A lane points at row lane % 16 of 16, and at the left or right chunk of it.
    unsigned m_from = m_shared + (row + lane % 16) * M_ROW + (lane / 16 ^ lane / 2 % 4) * 16;
    unsigned n_from = n_shared + lane % 16 * N_ROW + 2 * col + (lane / 16 ^ lane % 8) * 16;
    unsigned left[2][WARP_ROWS / 16][4], above[2][WARP_COLS / 16][4];
    auto read = [&](int set, unsigned stage, int i) {  // of columns 16 i and on of Mds, rows of Nds
#pragma unroll
        for (int r = 0; r < WARP_ROWS / 16; ++r)
            read_left(left[set][r], (m_from ^ i << 5) + stage * M_STAGE + 16 * r * M_ROW);
#pragma unroll
        for (int c = 0; c < WARP_COLS / 16; ++c)
            read_above(above[set][c], (n_from ^ c << 5) + stage * N_STAGE + 16 * i * N_ROW);
    };

    float sums[WARP_ROWS / 16][WARP_COLS / 8][4] = {};
    for (int s = 0; s < STAGES - 1; ++s) bring(s, s);
    wait();
    read(0, 0, 0);
    unsigned stage = 0, free = STAGES - 1;
    for (int phase = 0; phase < phases; ++phase) {
        unsigned next = (stage + 1) % STAGES;
#pragma unroll
        for (int i = 0; i < DEPTH / 16; ++i) {
            if (i == DEPTH / 16 - 1) wait();
            read((i + 1) % 2, i == DEPTH / 16 - 1 ? next : stage, (i + 1) % (DEPTH / 16));
            if (i == 0) bring(phase + STAGES - 1, free);
#pragma unroll
            for (int r = 0; r < WARP_ROWS / 16; ++r)
#pragma unroll
                for (int s = 0; s < WARP_COLS / 8; ++s) {
                    int c = r % 2 ? WARP_COLS / 8 - 1 - s : s;  // there and back: one register is used twice in turn
                    multiply(sums[r][c], left[i % 2][r], above[i % 2][c / 2] + c % 2 * 2);
                }
        }
        free = stage, stage = next;
    }
#pragma unroll
    for (int r = 0; r < WARP_ROWS / 16; ++r)
#pragma unroll
        for (int c = 0; c < WARP_COLS / 8; ++c)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                int p_row = first_row + row + 16 * r + lane / 4 + 8 * i, p_col = first_col + col + 8 * c + lane % 4 * 2;
                float* to = P + (long long)p_row * n + p_col;
                const float* sum = sums[r][c] + 2 * i;
                if (p_row < m && p_col + 1 < n && n % 2 == 0) {
                    *(float2*)to = {sum[0], sum[1]};
                } else if (p_row < m) {
                    if (p_col < n) to[0] = sum[0];
                    if (p_col + 1 < n) to[1] = sum[1];
                }
            }
}
