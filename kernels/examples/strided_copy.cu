// Two copies of 1024 numbers: the first begins an element further on, the second takes one element in eight.
// Look at: moved by one element a warp needs a sector more than its 128 bytes fill, since they no longer begin
// where a sector does. With the stride each lane needs a sector of its own, of which it uses one element.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void copy_with_offset(float* out, const float* in, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + offset];
}

__global__ void copy_with_stride(float* out, const float* in, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}

int main() {
    const int n = 1024, offset = 1, stride = 8;
    std::vector<float> in(n * stride), moved(n), spread(n);
    for (int i = 0; i < n * stride; i++) in[i] = i % 100;
    float *d_in, *d_moved, *d_spread;
    cudaMalloc(&d_in, n * stride * sizeof(float));
    cudaMalloc(&d_moved, n * sizeof(float));
    cudaMalloc(&d_spread, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * stride * sizeof(float), cudaMemcpyHostToDevice);
    copy_with_offset<<<n / 256, 256>>>(d_moved, d_in, offset);
    copy_with_stride<<<n / 256, 256>>>(d_spread, d_in, stride);
    cudaMemcpy(moved.data(), d_moved, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(spread.data(), d_spread, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) right = right && moved[i] == in[i + offset] && spread[i] == in[i * stride];
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_moved);
    cudaFree(d_spread);
    return right ? 0 : 1;
}
