// A copy of 4096 numbers, a float and then a float4 for each thread.
// Look at: both move as many bytes by as many sectors, but with a float4 a warp moves 512 bytes by one request
// and not 128: a quarter of the instructions.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void copy_floats(float* out, const float* in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void copy_vectors(float4* out, const float4* in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

int main() {
    const int n = 4096;
    std::vector<float> in(n), once(n), again(n);
    for (int i = 0; i < n; i++) in[i] = i % 100;
    float *d_in, *d_once, *d_again;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_once, n * sizeof(float));
    cudaMalloc(&d_again, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    copy_floats<<<n / 256, 256>>>(d_once, d_in);
    copy_vectors<<<n / 4 / 256, 256>>>((float4*)d_again, (const float4*)d_in);
    cudaMemcpy(once.data(), d_once, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(again.data(), d_again, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess && once == in && again == in;
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_once);
    cudaFree(d_again);
    return right ? 0 : 1;
}
