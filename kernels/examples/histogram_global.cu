// How often each of 16 values occurs in 4096: every thread adds to a counter in global memory.
// Look at: the 32 lanes of a warp add to 16 words, and lanes that meet at a word wait for one another.
// All blocks meet at the same 16 words, too; histogram_shared.cu counts a block's first.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define BINS 16

__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1u);
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
