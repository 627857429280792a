// A sum of 2048 numbers, 256 a block: in step s = 1, 2, 4, …, the first threads add, each at a place 2s apart.
// Look at: warps work whole or not at all, as in reduction_sequential.cu, but neighbouring lanes read words that
// lie 2s apart: up to 8 wavefronts where one would do.
#include <cstdio>

#include <cuda_runtime.h>

#define BLOCK 256

__global__ void reduce(const int* in, int* out) {
    __shared__ int sums[BLOCK];
    sums[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * threadIdx.x;
        if (index < blockDim.x) sums[index] += sums[index + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
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
