// The product with warp tiles of 64 x 64, a thread with 16 x 8 of them, and three pairs of tiles in shared
// memory: while the threads multiply one pair, cp.async brings the next two there, through no register and
// without waiting. What the next products need is read from shared memory while the present ones are worked
// out, so a thread holds two sets of it, and there is one barrier a phase.
//
//     copies      | pair 0 | pair 1 | pair 2 |        | pair 3 |
//     products                      | pair 0          | pair 1          | ...
//
// A copy of 16 bytes needs addresses that are multiples of 16; where a row of N does not have a multiple of
// four elements, they are copied one by one. A copy of no bytes fills with zeros: so it is beyond the
// matrices.

constexpr int ROWS = 256, COLS = 128, DEPTH = 8;  // of P, a block; columns of M and rows of N, a phase
constexpr int PITCH = ROWS + 4;                   // of a row of Mds: copies down a column meet in fewer banks
constexpr int WARP_ROWS = 64, WARP_COLS = 64;     // of P, a warp
constexpr int DOWN = 16, ACROSS = 8;              // of P, a thread
constexpr int THREADS = 256, PAIRS = 3;

// Four bytes, or 16, into shared memory; zeros where there is nothing `inside` the matrix.
__device__ void copy(float* to, const float* from, bool inside) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(inside ? 4 : 0));
}
__device__ void copy_four(float* to, const float* from, bool inside) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(inside ? 16 : 0));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    double_buffer(const float* M, const float* N, float* P, int m, int k, int n) {
    __shared__ __align__(16) float Mds[PAIRS][DEPTH][PITCH], Nds[PAIRS][DEPTH][COLS];  // Mds transposed
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int row = warp / (COLS / WARP_COLS) * WARP_ROWS + lane / 8 * 4;
    int col = warp % (COLS / WARP_COLS) * WARP_COLS + lane % 8 * 4;
    int phases = (k + DEPTH - 1) / DEPTH;

    // Loops count from a constant to a constant, so that the compiler unrolls them.
    auto bring = [&](int phase, int pair) {
        if (phase < phases) {
            for (int o = 0; o < ROWS * DEPTH; o += THREADS) {
                int e = o + t, r = first_row + e / DEPTH, c = phase * DEPTH + e % DEPTH;
                bool inside = r < m && c < k;
                copy(&Mds[pair][e % DEPTH][e / DEPTH], inside ? &M[r * k + c] : M, inside);
            }
            if (n % 4 == 0)
                for (int o = 0; o < DEPTH * COLS; o += THREADS * 4) {
                    int e = o + t * 4, r = phase * DEPTH + e / COLS, c = first_col + e % COLS;
                    bool inside = r < k && c < n;
                    copy_four(&Nds[pair][e / COLS][e % COLS], inside ? &N[r * n + c] : N, inside);
                }
            else
                for (int o = 0; o < DEPTH * COLS; o += THREADS) {
                    int e = o + t, r = phase * DEPTH + e / COLS, c = first_col + e % COLS;
                    bool inside = r < k && c < n;
                    copy(&Nds[pair][e / COLS][e % COLS], inside ? &N[r * n + c] : N, inside);
                }
        }
        asm volatile("cp.async.commit_group;");
    };
    float left[2][DOWN], above[2][ACROSS];
    auto read = [&](int set, int pair, int i) {
        for (int r = 0; r < DOWN; r += 4)
            *(float4*)&left[set][r] = *(const float4*)&Mds[pair][i][row + r / 4 * 16];
        for (int c = 0; c < ACROSS; c += 4)
            *(float4*)&above[set][c] = *(const float4*)&Nds[pair][i][col + c / 4 * 32];
    };
    auto wait = [&] {  // for all copies but the youngest, the block's other threads' too
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
    };

    float sums[DOWN][ACROSS] = {};
    bring(0, 0);
    bring(1, 1);
    wait();
    read(0, 0, 0);
    for (int phase = 0, pair = 0; phase < phases; ++phase) {
        int next = pair + 1 == PAIRS ? 0 : pair + 1;
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            if (i == DEPTH - 1) wait();
            read((i + 1) % 2, i == DEPTH - 1 ? next : pair, (i + 1) % DEPTH);
            if (i == 0) bring(phase + 2, next + 1 == PAIRS ? 0 : next + 1);
            for (int c = 0; c < ACROSS; ++c)
                for (int s = 0; s < DOWN; ++s) {
                    // There and back, so that one register is used twice in turn.
                    int r = c % 2 ? DOWN - 1 - s : s;
                    sums[r][c] += left[i % 2][r] * above[i % 2][c];
                }
        }
        pair = next;
    }
    for (int r = 0; r < DOWN; ++r)
        for (int c = 0; c < ACROSS; ++c) {
            int p_row = first_row + row + r / 4 * 16 + r % 4, p_col = first_col + col + c / 4 * 32 + c % 4;
            if (p_row < m && p_col < n) P[p_row * n + p_col] = sums[r][c];
        }
}
