// The product with warp tiles of 64 x 64, a thread with 16 x 8 of them, and three pairs of tiles in shared
// memory: while the threads multiply one pair, cp.async brings the next two there, through no register and
// without waiting. What the next products need is read from shared memory while the present ones are worked
// out, so a thread holds two sets of it, and there is one barrier a phase.
//
//     copies      | pair 0 | pair 1 | pair 2 |        | pair 3 |
//     products                      | pair 0          | pair 1          | ...
//
// A copy of 16 bytes needs addresses that are multiples of 16; where a row of N does not have a multiple of
// four elements, they are copied one by one.

constexpr int ROWS = 256, COLS = 128;          // of P, a block
constexpr int DEPTH = 8;                       // columns of M and rows of N, a phase
constexpr int PITCH = ROWS + 4;                // of a row of Mds: copies down a column meet in fewer banks
constexpr int WARP_ROWS = 64, WARP_COLS = 64;  // of P, a warp
constexpr int DOWN = 16, ACROSS = 8;           // of P, a thread
constexpr int THREADS = 256, PAIRS = 3;

// Copies elements of a row to shared memory without waiting for them; zeros beyond the matrix.
template <int COUNT>
__device__ __forceinline__ void copy(float* to, const float* matrix, int rows, int cols, int row, int col) {
    bool inside = row < rows && col < cols;
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(inside ? &matrix[row * cols + col] : matrix), "n"(4 * COUNT), "r"(inside ? 4 * COUNT : 0));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    double_buffer(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) float Mds[PAIRS][DEPTH][PITCH];  // transposed
    __shared__ __align__(16) float Nds[PAIRS][DEPTH][COLS];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS + lane / 8 * 4;
    int col = warp % (COLS / WARP_COLS) * WARP_COLS + lane % 8 * 4;
    int phases = (k + DEPTH - 1) / DEPTH;

    // Loops count from a constant to a constant, so that compilers unroll them. What is read ahead behind the
    // last phase is beyond the matrices.
    auto bring = [&](int phase, int pair) {
        if (phase <= phases) {
            for (int first = 0; first < ROWS * DEPTH; first += THREADS) {
                int r = (first + t) / DEPTH, c = (first + t) % DEPTH;
                copy<1>(&Mds[pair][c][r], M, m, k, first_row + r, phase * DEPTH + c);
            }
            if (n % 4 == 0) {  // one copy a thread
                int r = 4 * t / COLS, c = 4 * t % COLS;
                copy<4>(&Nds[pair][r][c], N, k, n, phase * DEPTH + r, first_col + c);
            } else {
                for (int first = 0; first < DEPTH * COLS; first += THREADS) {
                    int r = (first + t) / COLS, c = (first + t) % COLS;
                    copy<1>(&Nds[pair][r][c], N, k, n, phase * DEPTH + r, first_col + c);
                }
            }
        }
        asm volatile("cp.async.commit_group;");
    };
    auto wait = [] {  // for all copies but the youngest, the block's other threads' too
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
    };
    float left[2][DOWN], above[2][ACROSS];
    auto read = [&](int set, int pair, int i) {
#pragma unroll
        for (int r = 0; r < DOWN; r += 4)
            *(float4*)&left[set][r] = *(const float4*)(Mds[pair][i] + row + r / 4 * 16);
#pragma unroll
        for (int c = 0; c < ACROSS; c += 4)
            *(float4*)&above[set][c] = *(const float4*)(Nds[pair][i] + col + c / 4 * 32);
    };

    float sums[DOWN][ACROSS] = {};
    bring(0, 0);
    bring(1, 1);
    wait();
    read(0, 0, 0);
    for (int phase = 0, pair = 0; phase < phases; ++phase) {
        int next = (pair + 1) % PAIRS;
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            if (i == DEPTH - 1) wait();
            read((i + 1) % 2, i == DEPTH - 1 ? next : pair, (i + 1) % DEPTH);
            if (i == 0) bring(phase + 2, (pair + 2) % PAIRS);
#pragma unroll
            for (int c = 0; c < ACROSS; ++c)
#pragma unroll
                for (int s = 0; s < DOWN; ++s) {
                    int r = c % 2 ? DOWN - 1 - s : s;  // there and back: one register is used twice in turn
                    sums[r][c] += left[i % 2][r] * above[i % 2][c];
                }
        }
        pair = next;
    }
#pragma unroll
    for (int r = 0; r < DOWN; ++r)
#pragma unroll
        for (int c = 0; c < ACROSS; ++c) {
            int p_row = first_row + row + r / 4 * 16 + r % 4, p_col = first_col + col + c / 4 * 32 + c % 4;
            if (p_row < m && p_col < n) P[p_row * n + p_col] = sums[r][c];
        }
}
