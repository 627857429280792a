// A sum of 2048 numbers, 256 a block: a warp adds up its 32 by shuffles, from register to register.
// Look at: shared memory holds one sum a warp, 8 words, and one barrier is left of the nine of
// reduction_sequential.cu.
#include <cstdio>

#include <cuda_runtime.h>

#define BLOCK 256
#define WARPS (BLOCK / 32)

__inline__ __device__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void reduce(const int* in, int* out) {
    __shared__ int sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < WARPS ? sums[lane] : 0);
        if (lane == 0) out[blockIdx.x] = sum;
    }
}

int main() {
    const int n = 2048, blocks = n / BLOCK;
    int in[n], out[blocks];
    for (int i = 0; i < n; i++) in[i] = i % 7;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    reduce<<<blocks, BLOCK>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    int expected = 0, sum = 0;
    for (int i = 0; i < n; i++) expected += in[i];
    for (int i = 0; i < blocks; i++) sum += out[i];
    bool right = cudaGetLastError() == cudaSuccess && sum == expected;
    printf("%s: %d\n", right ? "right" : "wrong", sum);
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
