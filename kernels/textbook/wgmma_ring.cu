// The product on tensor cores as compute capability 9.0 has it. One thread asks TMA for boxes of M and N, which come to a
// ring of stages in shared memory by themselves; the four warps of a warpgroup multiply them where they lie (wgmma).
//
//     warp 4        wait for empty[s]     expect the bytes at full[s]     ask for the boxes of stage s     next stage
//     warps 0 - 3   wait for full[s]      multiply stage s                arrive at empty[s - 1]           next stage
//
// Both kinds of barriers are mbarriers: each has phases, and a wait names its phase by the parity of the phase's number.
// While stage s is multiplied, those behind it are filled; what is multiplied is waited for a phase later, so that tensor
// cores never stand still between two stages.
//
// TMA needs rows of M and N that begin at multiples of 16 bytes. Where a row does not have a multiple of eight halves,
// the lanes of warp 4 copy one by one, to the same places.

typedef unsigned short half;  // 16 bits that are moved, and that tensor cores multiply
struct __align__(64) TensorMap {
    char opaque[128];  // a CUtensorMap: address, extents and strides of a matrix, box and swizzle
};

constexpr int ROWS = 128, COLS = 128, DEPTH = 64;  // of M's rows, N's columns, and both, a block and phase
constexpr int STAGES = 3;
constexpr int CONSUMERS = 128, THREADS = CONSUMERS + 32;
constexpr int SPAN = 64;                                           // halves in 128 bytes, the swizzle's span
constexpr int ROW = 2 * SPAN, EIGHT = 8 * ROW;                     // bytes: a row of a box, eight rows
constexpr int M_STAGE = ROWS * ROW;                                // bytes: a box of ROWS rows, each DEPTH long
constexpr int N_BOX = DEPTH * ROW, N_STAGE = COLS / SPAN * N_BOX;  // bytes: boxes of DEPTH rows, each SPAN long
constexpr int HIGH = 64, WIDE = COLS, DEEP = 16;                   // of one wgmma: rows and columns of P, and depth

typedef float Sums[HIGH * WIDE / CONSUMERS];  // what a thread holds of 64 x 128 sums

__device__ __forceinline__ void begin(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and has the phase wait for so many bytes more.
__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Until the phase with this parity has ended. Of a barrier in its first phase, one with parity 1 has ended before.
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    unsigned done;
    do
        asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared.b64 done, [%1], %2; "
                     "selp.u32 %0, 1, 0, done; }"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!done);
}
// A box of a matrix, from column x of row y on; its bytes are told to the barrier as they land.
__device__ __forceinline__ void copy_box(unsigned to, unsigned long long map, int x, int y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}
// Where TMA puts a half of a box: chunks of 16 bytes change places in their row, chunk c of row r to c ^ r % 8.
__device__ __forceinline__ unsigned place(int row, int col) {
    return row * ROW + ((col / 8 ^ row % 8) * 16) + col % 8 * 2;
}
__device__ __forceinline__ void put(unsigned to, half value) {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(to), "h"(value) : "memory");
}
// A matrix descriptor: address, bytes from one span of columns to the next, bytes from one eight of rows to the next, all
// divided by 16, and the swizzle of 128 bytes.
__device__ __forceinline__ unsigned long long matrix_at(unsigned address, int spans, int eights) {
    return address / 16 | (unsigned long long)(spans / 16) << 16 | (unsigned long long)(eights / 16) << 32 | 1ull << 62;
}
#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)
// 64 x 128 sums, plus 64 x 16 halves times 16 x 128, worked out while the thread goes on. Behind the descriptors: sums are
// added to, neither side is negated, columns of M lie side by side (0), and columns of N do, where rows might (1).
__device__ __forceinline__ void multiply(Sums& sum, unsigned long long left, unsigned long long above) {
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, add, 1, 1, 0, 1; }"
                 : SIXTEEN(sum, 0), SIXTEEN(sum, 16), SIXTEEN(sum, 32), SIXTEEN(sum, 48)
                 : "l"(left), "l"(above), "r"(1));
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    wgmma_ring(const half* M, const half* N, float* P, int m, int k, int n, const TensorMap m_map,
               const TensorMap n_map) {
    // Mds[STAGES][ROWS][DEPTH], and behind it Nds[STAGES][COLS / SPAN][DEPTH][SPAN]; swizzles repeat every 1,024 bytes.
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    unsigned m_shared = (unsigned)__cvta_generic_to_shared(stages), n_shared = m_shared + STAGES * M_STAGE;
    unsigned fulls = (unsigned)__cvta_generic_to_shared(full), empties = (unsigned)__cvta_generic_to_shared(empty);
    unsigned t = threadIdx.x, warp = t / 32, lane = t % 32;
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    int phases = (k + DEPTH - 1) / DEPTH;

    if (t == 0) {
        for (int s = 0; s < STAGES; ++s) {
            begin(fulls + 8 * s, 1);                 // warp 4
            begin(empties + 8 * s, CONSUMERS / 32);  // a lane of each of the others
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // TMA sees them so, too
    }
    __syncthreads();

    unsigned stage = 0, parity = 0;  // of full[stage]; empty[stage] is a phase behind
    auto next = [&] {
        stage = (stage + 1) % STAGES;
        if (stage == 0) parity ^= 1;
    };

    if (warp == CONSUMERS / 32) {
        bool aligned = k % 8 == 0 && n % 8 == 0;  // each row begins at a multiple of 16 bytes
        // TMA reads the maps where they lie among the kernel's parameters, which PTX calls NAME_param_0 and so on.
        unsigned long long of_m, of_n;
        asm("{ .reg .b64 at; mov.b64 at, wgmma_ring_param_6; cvta.param.u64 %0, at; }" : "=l"(of_m));
        asm("{ .reg .b64 at; mov.b64 at, wgmma_ring_param_7; cvta.param.u64 %0, at; }" : "=l"(of_n));
        for (int phase = 0; phase < phases; ++phase, next()) {
            unsigned to_full = fulls + 8 * stage;
            int depth = phase * DEPTH;
            unsigned m_to = m_shared + stage * M_STAGE, n_to = n_shared + stage * N_STAGE;
            wait(empties + 8 * stage, parity ^ 1);
            if (aligned && lane == 0) {
                expect(to_full, M_STAGE + N_STAGE);
                copy_box(m_to, of_m, depth, first_row, to_full);
                for (int i = 0; i < COLS / SPAN; ++i)
                    copy_box(n_to + i * N_BOX, of_n, first_col + i * SPAN, depth, to_full);
            } else if (!aligned) {
                for (int i = lane; i < ROWS * DEPTH; i += 32) {
                    int row = i / DEPTH, col = i % DEPTH;
                    bool inside = first_row + row < m && depth + col < k;
                    put(m_to + place(row, col), inside ? M[(long long)(first_row + row) * k + depth + col] : (half)0);
                }
                for (int i = lane; i < DEPTH * COLS; i += 32) {
                    int row = i / COLS, col = i % COLS;
                    bool inside = depth + row < k && first_col + col < n;
                    put(n_to + col / SPAN * N_BOX + place(row, col % SPAN),
                        inside ? N[(long long)(depth + row) * n + first_col + col] : (half)0);
                }
                asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma sees what was stored
                __syncwarp();
                if (lane == 0) arrive(to_full);
            }
        }
        return;
    }

    Sums sums[ROWS / HIGH] = {};
    unsigned before = 0;
    for (int phase = 0; phase < phases; ++phase, next()) {
        wait(fulls + 8 * stage, parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int i = 0; i < DEPTH / DEEP; ++i)
#pragma unroll
            for (int r = 0; r < ROWS / HIGH; ++r)
                multiply(sums[r], matrix_at(m_shared + stage * M_STAGE + r * HIGH * ROW + i * DEEP * 2, 0, EIGHT),
                         matrix_at(n_shared + stage * N_STAGE + i * DEEP * ROW, N_BOX, EIGHT));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // for all groups but the youngest
        if (phase > 0 && lane == 0) arrive(empties + 8 * before);
        before = stage;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int r = 0; r < ROWS / HIGH; ++r)
#pragma unroll
        for (int c = 0; c < WIDE / 8; ++c)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                int p_row = first_row + r * HIGH + 16 * warp + lane / 4 + 8 * i, p_col = first_col + 8 * c + lane % 4 * 2;
                float* to = P + (long long)p_row * n + p_col;
                const float* sum = sums[r] + 4 * c + 2 * i;
                if (p_row < m && p_col + 1 < n && n % 2 == 0) {
                    *(float2*)to = {sum[0], sum[1]};
                } else if (p_row < m) {
                    if (p_col < n) to[0] = sum[0];
                    if (p_col + 1 < n) to[1] = sum[1];
                }
            }
}
