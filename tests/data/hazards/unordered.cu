// The kernels of ordered.cu with what orders them left out, each with one fault. Made for
// tests/host/cli_order_test.cpp.
#include <cstdio>

__device__ unsigned ticket = 0, blocks_done = 0, first_ticket = 0;
__device__ int lock = 0, flags[8], flag = 0, shared_flag = 0, ready[8], relay[8], locks[2];

__global__ void reverse_without(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = s[31 - t];
}
// __syncwarp holds a warp, and there are two.
__global__ void reverse_two_warps(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[63 - t];
}
__global__ void one_syncwarp_of_two(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int v = in[t];
    s[t] = v;
    s[t + 32] = 0;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        v += s[t + d];
        s[t] = v;
        __syncwarp();
    }
    if (t == 0) out[0] = v;
}
// The masks leave out the lane that is read from.
__global__ void halves_of_each_other(const int* in, int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = s[31 - t];
}
__global__ void tiles_too_small(const int* in, int* out, unsigned first) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp(first << (t & ~3));
    out[t] = s[t ^ 4];
}
// Whom the mask names is in memory.
__global__ void mask_of_memory(const int* in, int* out, const unsigned* masks) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp(masks[0]);
    out[t] = s[31 - t];
}
// Its lanes exchange values, and the two that matter do not.
__global__ void lane_0_publishes_for_16(const int* in, int* sums, int* out) {
    int lane = threadIdx.x, b = blockIdx.x;
    sums[b * 32 + lane] = in[b * 32 + lane];
    __syncwarp(lane < 16 ? 0x0000ffff : 0xffff0000);
    if (lane == 0) {
        __threadfence();
        atomicExch(&ready[b], 1);
        while (b > 0 && atomicAdd(&ready[b - 1], 0) == 0) {
        }
        out[b] = b > 0 ? sums[b * 32 - 1] : 0;
    }
}
__global__ void ticket_without_fence(const int* in, volatile int* part, int* out) {
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    if (atomicInc(&ticket, gridDim.x) != gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}
// Only the last block may read what all have stored, and this is the first.
__global__ void first_block_sums(const int* in, int* part, int* out) {
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicInc(&first_ticket, gridDim.x) != 0) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}
__global__ void fence_behind_the_ticket(const int* in, int* part, int* out) {
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    unsigned before = atomicAdd(&blocks_done, 1);
    __threadfence();
    if (before != gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}
__global__ void locked_without_fence(int* out) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    out[0] = out[0] + 1;
    atomicExch(&lock, 0);
}
// Every second block takes the other lock.
__global__ void two_locks(int* out) {
    if (threadIdx.x != 0) return;
    int* lock = &locks[blockIdx.x % 2];
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    out[0] = out[0] + 1;
    __threadfence();
    atomicExch(lock, 0);
}
// A block that waits for its neighbour and then lets the next one go has no fence between: it hands on what it
// stored itself, and not what it waited for.
__global__ void hand_over_own_alone(const int* in, int* part, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x != 0) return;
    part[b] = in[b];
    __threadfence();
    while (b > 0 && atomicAdd(&relay[b - 1], 0) == 0) {
    }
    atomicExch(&relay[b], 1);
    if (b != gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i <= b; i++) sum += part[i];
    *out = sum;
}
__global__ void plain_flag(const int* in, int* part, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        part[0] = in[0];
        __threadfence();
        flag = 1;
    } else if (flag == 1) {
        out[blockIdx.x] = part[0];
    }
}
__global__ void one_value_and_another(const int* in, int* out) {
    __shared__ int s;
    s = 0;
    if (threadIdx.x == 40) s = in[0] + 1;
    __syncthreads();
    out[threadIdx.x] = s;
}
// They store what they read, which is one value in this run.
__global__ void one_value_by_luck(const int* in, int* out) {
    __shared__ int s;
    s = in[threadIdx.x / 64];
    __syncthreads();
    out[threadIdx.x] = s;
}
// The element that they load is changed meanwhile.
__global__ void one_value_that_changes(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    s[0] = s[0] + 1;
    out[0] = s[1];
}
__global__ void one_element_of_what_it_stores(int* out) {
    out[1] = out[0];
    out[0] = threadIdx.x;
}
__global__ void number_of_the_block(int* out) {
    *out = blockIdx.x;
}
__global__ void one_value_and_a_reader(const int* in, int* out) {
    __shared__ int s;
    if (in[threadIdx.x] > 3) s = 1;
    out[threadIdx.x] = s;
}
// The last tile is smaller, and what the one before left behind it is added once more.
__global__ void left_over(const int* in, int* out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i += 64) {
        if (i + t < n) s[t] = in[i + t];
        __syncthreads();
        for (int k = 0; k < 64; k++) sum += s[k];
        __syncthreads();
    }
    out[t] = sum;
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
    reverse_without<<<1, 32>>>(in, out);
    reverse_two_warps<<<1, 64>>>(in, out);
    one_syncwarp_of_two<<<1, 32>>>(in, out);
    halves_of_each_other<<<1, 32>>>(in, out);
    tiles_too_small<<<1, 32>>>(in, out, 15);
    cudaMemset(part, 0xff, 4);
    mask_of_memory<<<1, 32>>>(in, out, (const unsigned*)part);
    lane_0_publishes_for_16<<<6, 32>>>(in, part, out);
    ticket_without_fence<<<6, 32>>>(in, part, out);
    first_block_sums<<<6, 32>>>(in, part, out);
    fence_behind_the_ticket<<<6, 32>>>(in, part, out);
    locked_without_fence<<<6, 32>>>(out);
    two_locks<<<6, 32>>>(out);
    hand_over_own_alone<<<6, 32>>>(in, part, out);
    plain_flag<<<2, 32>>>(in, part, out);
    one_value_and_another<<<1, 64>>>(in, out);
    one_value_by_luck<<<1, 64>>>(in, out);
    one_value_that_changes<<<1, 64>>>(in, out);
    one_element_of_what_it_stores<<<1, 64>>>(out);
    number_of_the_block<<<4, 1>>>(out);
    one_value_and_a_reader<<<1, 64>>>(in, out);
    left_over<<<1, 64>>>(in, out, 150);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %s\n", h[0], cudaGetErrorString(cudaGetLastError()));
}
