// Kernels without a fault: what one thread stores and another reads is ordered by __syncwarp, or by fences and
// atomics; in-place algorithms keep elements; and stores of one value are harmless. Made for
// tests/host/cli_order_test.cpp.
#include <cstdio>

#include <cooperative_groups.h>

__device__ unsigned ticket = 0, blocks_done = 0;
__device__ int flags[8], lock = 0, state[8], next_part = 0, ready[8], relay[8], go = 0, left_to_come = 6;
__device__ unsigned arrived = 0, in_round = 0, rounds = 0;

// --- by __syncwarp
__global__ void reverse_in_warp(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, lane = t % 32;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[t - lane + 31 - lane];
}
__global__ void sum_of_warp(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncwarp();
    }
    if (t == 31) out[0] = s[0];
}
__global__ void sum_by_registers(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int v = in[t];
    s[t] = v;
    s[t + 32] = 0;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        v += s[t + d];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
    if (t == 0) out[0] = v;
}
__global__ void halves(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = in[t];
        __syncwarp(0x0000ffff);
        out[t] = s[15 - t];
    } else {
        s[t] = -in[t];
        __syncwarp(0xffff0000);
        out[t] = s[47 - t];
    }
}
__global__ void one_gives_to_all(const int* in, int* out) {
    __shared__ int s[2];
    int t = threadIdx.x, warp = t / 32;
    if (t % 32 == 0) s[warp] = in[warp];
    __syncwarp();
    if (t % 32 != 0) out[t] = s[warp];
}
__global__ void tiles_of_eight(const int* in, int* out) {
    namespace cg = cooperative_groups;
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, at = tile.thread_rank();
    s[t] = in[t];
    tile.sync();
    for (int d = 4; d > 0; d /= 2) {
        int other = s[t - at + (at ^ d)];
        tile.sync();
        s[t] += other;
        tile.sync();
    }
    out[t] = s[t - at];
}
// Each half waits for itself, then all for all: lanes of one half have passed fewer waits than the others.
__global__ void a_half_and_all(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 16) {
        __syncwarp(0x0000ffff);
        int v = s[15 - t];
        __syncwarp(0x0000ffff);
        s[t] = v;
    }
    __syncwarp();
    out[t] = s[31 - t];
}
__global__ void mask_by_lane(const int* in, int* out, unsigned even) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp(t % 2 == 0 ? even : ~even);
    for (int d = 16; d > 1; d /= 2) {
        int v = s[t ^ d];
        __syncwarp(even << t % 2);
        s[t] += v;
        __syncwarp(even << t % 2);
    }
    out[t] = s[t ^ 2];
}

// --- by fences and atomics
__global__ void last_block_sums(const int* in, volatile int* part, int* out) {
    __shared__ int s[32];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    for (int d = 16; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += part[i];
        *out = sum;
        ticket = 0;
    }
}
// Every thread fences what it stored itself; one of them counts behind the barrier.
__global__ void all_fence(const int* in, int* part, int* out) {
    __shared__ unsigned before;
    int t = threadIdx.x;
    part[blockIdx.x * 32 + t] = 2 * in[blockIdx.x * 32 + t];
    __threadfence();
    __syncthreads();
    if (t == 0) before = atomicAdd(&blocks_done, 1);
    __syncthreads();
    if (before != gridDim.x - 1) return;
    int sum = 0;
    for (int i = t; i < 32 * gridDim.x; i += 32) sum += part[i];
    out[t] = sum;
}
__global__ void domino_scan(const int* in, int* scan, int* out) {
    __shared__ int s[32];
    __shared__ int before, number;
    int t = threadIdx.x;
    if (t == 0) number = atomicAdd(&next_part, 1);
    __syncthreads();
    s[t] = in[number * 32 + t];
    for (int d = 1; d < 32; d *= 2) {
        __syncthreads();
        int other = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += other;
    }
    __syncthreads();
    if (t == 0) {
        while (number > 0 && atomicAdd(&flags[number], 0) == 0) {
        }
        before = number > 0 ? scan[number] : 0;
        scan[number + 1] = before + s[31];
        __threadfence();
        atomicAdd(&flags[number + 1], 1);
    }
    __syncthreads();
    out[number * 32 + t] = before + s[t];
}
__global__ void look_back(const int* in, volatile int* sums, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    sums[b] = in[b];
    __threadfence();
    ((volatile int*)state)[b] = 1;
    int sum = 0;
    for (int i = b - 1; i >= 0; i--) {
        while (((volatile int*)state)[i] == 0) {
        }
        __threadfence();
        sum += sums[i];
    }
    out[b] = sum;
}
__global__ void locked(int* out) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence();
    out[0] = out[0] + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

// Lane 0 waits and counts for its warp.
__global__ void warps_look_back(const int* in, int* sums, int* out) {
    int lane = threadIdx.x, b = blockIdx.x;
    sums[b * 32 + lane] = in[b * 32 + lane];
    __syncwarp();
    if (lane == 0) {
        __threadfence();
        atomicExch(&ready[b], 1);
        while (b > 0 && atomicAdd(&ready[b - 1], 0) == 0) {
        }
    }
    __syncwarp();
    out[b * 32 + lane] = b > 0 ? sums[b * 32 - 1 - lane] : 0;
}

// The last block reads what all before it stored, and has waited for its neighbour alone.
__global__ void hand_over(const int* in, int* part, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    part[b] = in[b];
    while (b > 0 && atomicAdd(&relay[b - 1], 0) == 0) {
    }
    __threadfence();
    atomicExch(&relay[b], 1);
    if (b != gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i <= b; i++) sum += part[i];
    *out = sum;
}
// Blocks count on one word and are let go by another.
__global__ void count_and_go(const int* in, int* part, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    part[b] = in[b];
    __threadfence();
    if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
        __threadfence();
        *(volatile int*)&go = 1;
    } else {
        while (*(volatile int*)&go == 0) {
        }
    }
    __threadfence();
    out[b] = part[(b + 1) % gridDim.x];
}
// The same again and again: the count begins anew.
__global__ void rounds_of_blocks(const int* in, int* part, int* out) {
    int b = blockIdx.x, sum = 0;
    if (threadIdx.x != 0) return;
    for (unsigned round = 0; round < 3; round++) {
        part[8 * round + b] = in[b] + sum;
        __threadfence();
        if (atomicInc(&in_round, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            atomicAdd(&rounds, 1);
        } else {
            while (atomicAdd(&rounds, 0) <= round) {
            }
        }
        __threadfence();
        sum += part[8 * round + (b + 1) % gridDim.x];
    }
    out[b] = sum;
}
__global__ void count_down(const int* in, int* part, int* out) {
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicSub(&left_to_come, 1) != 1) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

// --- in place
__global__ void greatest(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d && s[t] < s[t + d]) s[t] = s[t + d];
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}
__global__ void bitonic_sort(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                int was = s[t];
                s[t] = s[other];
                s[other] = was;
            }
            __syncthreads();
        }
    out[t] = s[t];
}
__global__ void odd_even_sort(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int i = 0; i < 64; i++) {
        int a = 2 * t + i % 2;
        if (a + 1 < 64 && s[a] > s[a + 1]) {
            int was = s[a];
            s[a] = s[a + 1];
            s[a + 1] = was;
        }
        __syncthreads();
    }
    out[t] = s[t];
}
__global__ void shortest_paths(const int* in, int* out) {
    __shared__ int d[8][8];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    d[y][x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        int through = d[y][k] + d[k][x];
        __syncthreads();
        if (through < d[y][x]) d[y][x] = through;
        __syncthreads();
    }
    out[threadIdx.x] = d[y][x];
}
__global__ void heat(const int* in, int* out) {
    __shared__ int s[66];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    if (t == 0) s[0] = 0, s[65] = 100;
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        int v = (s[t] + 2 * s[t + 1] + s[t + 2]) / 4;
        __syncthreads();
        if (t % 8 != 0) s[t + 1] = v;
        __syncthreads();
    }
    out[t] = s[t + 1];
}
// A window of four rows over the input: each phase brings one, the others stay.
__global__ void rolling_window(const int* in, int* out) {
    __shared__ int rows[4][64];
    int t = threadIdx.x;
    for (int r = 0; r < 3; r++) rows[r][t] = in[r * 64 + t];
    for (int r = 3; r < 8; r++) {
        rows[r % 4][t] = in[r * 64 + t];
        __syncthreads();
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += rows[i][63 - t];
        out[(r - 3) * 64 + t] = sum;
        __syncthreads();
    }
}
// Weights are loaded once and tiles again and again, into one array.
__global__ void weights_and_tiles(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    if (t >= 32) s[t] = in[t];
    for (int tile = 0; tile < 4; tile++) {
        if (t < 32) s[t] = in[64 + tile * 32 + t];
        __syncthreads();
        if (t < 32)
            for (int i = 0; i < 32; i++) sum += s[i] * s[32 + (i + t) % 32];
        __syncthreads();
    }
    if (t < 32) out[t] = sum;
}

// --- one value: a remark
__global__ void found_by_any(const int* in, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 7 == 3) *out = 1;
}
__global__ void told_by_all(const int* in, int* out, int n) {
    __shared__ int last;
    last = n - 1;
    __syncthreads();
    out[threadIdx.x] = in[last - threadIdx.x];
}
__global__ void cleared_by_all(const int* in, int* out) {
    __shared__ int count;
    count = 0;
    __syncthreads();
    if (in[threadIdx.x] % 2) atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}
__global__ void argument_by_any(const int* in, int* out, int n, int* many) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] % 7 == 3) *out = n > 3 ? n / 2 : n + 1;
    many[blockIdx.x] = blockIdx.x + n;
}

// What all of them load from one element is one value while nobody stores to it.
__global__ void total_by_all(const int* in, int* out) {
    __shared__ int sum[64];
    sum[threadIdx.x] = in[threadIdx.x];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    __syncthreads();
    out[blockIdx.x] = sum[0] * 2 + 1;
}
__global__ void first_by_all(const int* in, int* out) {
    *out = in[3];
}
__global__ void pointer_by_all(const int* in, int* out, int way) {
    __shared__ int a[64], b[64];
    __shared__ int* one;
    a[threadIdx.x] = b[threadIdx.x] = in[threadIdx.x];
    if (way == 1)
        one = a;
    else
        one = b;
    __syncthreads();
    out[threadIdx.x] = one[63 - threadIdx.x];
}

int main() {
    const int n = 1024;
    int h[n], *in, *out, *part;
    for (int i = 0; i < n; i++) h[i] = i * 37 % 101;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMalloc(&part, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof h);
    cudaMemset(part, 0, sizeof h);
    reverse_in_warp<<<1, 64>>>(in, out);
    sum_of_warp<<<1, 32>>>(in, out);
    sum_by_registers<<<1, 32>>>(in, out);
    halves<<<1, 32>>>(in, out);
    a_half_and_all<<<1, 32>>>(in, out);
    mask_by_lane<<<1, 64>>>(in, out, 0x55555555);
    one_gives_to_all<<<1, 64>>>(in, out);
    tiles_of_eight<<<1, 64>>>(in, out);
    last_block_sums<<<6, 32>>>(in, part, out);
    all_fence<<<6, 32>>>(in, part, out);
    domino_scan<<<6, 32>>>(in, part, out);
    look_back<<<6, 32>>>(in, part, out);
    locked<<<6, 32>>>(out);
    warps_look_back<<<6, 32>>>(in, part, out);
    hand_over<<<6, 32>>>(in, part, out);
    count_and_go<<<6, 32>>>(in, part, out);
    rounds_of_blocks<<<6, 32>>>(in, part, out);
    count_down<<<6, 32>>>(in, part, out);
    greatest<<<1, 64>>>(in, out);
    bitonic_sort<<<1, 64>>>(in, out);
    odd_even_sort<<<1, 64>>>(in, out);
    shortest_paths<<<1, 64>>>(in, out);
    heat<<<1, 64>>>(in, out);
    rolling_window<<<1, 64>>>(in, out);
    weights_and_tiles<<<1, 64>>>(in, out);
    found_by_any<<<4, 64>>>(in, out);
    told_by_all<<<1, 64>>>(in, out, 64);
    cleared_by_all<<<1, 64>>>(in, out);
    argument_by_any<<<4, 64>>>(in, out, 9, part);
    total_by_all<<<1, 64>>>(in, out);
    first_by_all<<<4, 64>>>(in, out);
    pointer_by_all<<<1, 64>>>(in, out, 1);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %s\n", h[0], cudaGetErrorString(cudaGetLastError()));
}
