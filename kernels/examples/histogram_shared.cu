// How often each of 16 values occurs in 4096: a block counts in shared memory, then adds its counts to all.
// Look at: global memory takes 16 additions a block, where histogram_global.cu has one for each number; lanes
// that meet at a word of shared memory still take turns.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define BINS 16

__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned counts[BINS];
    if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[data[i]], 1u);
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

int main() {
    const int n = 4096;
    std::vector<unsigned char> data(n);
    unsigned expected[BINS] = {}, bins[BINS];
    for (int i = 0; i < n; i++) {
        data[i] = i * i % 37 % BINS;
        expected[data[i]]++;
    }
    unsigned char* d_data;
    unsigned* d_bins;
    cudaMalloc(&d_data, n);
    cudaMalloc(&d_bins, sizeof bins);
    cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, sizeof bins);
    histogram<<<n / 256, 256>>>(d_data, d_bins, n);
    cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < BINS; i++) right = right && bins[i] == expected[i];
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_data);
    cudaFree(d_bins);
    return right ? 0 : 1;
}
