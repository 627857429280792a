// Half of the threads load from a, the others from b: by turns of threads, and by turns of warps.
// Look at: where neighbours differ, every warp makes two requests of 16 lanes each; where warps differ, one
// of 32 lanes. Both kernels move the same elements.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void by_thread(const float* a, const float* b, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 2 == 0)
        out[i] = a[i] + 1;
    else
        out[i] = b[i] * 2;
}

__global__ void by_warp(const float* a, const float* b, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x / 32 % 2 == 0)
        out[i] = a[i] + 1;
    else
        out[i] = b[i] * 2;
}

int main() {
    const int n = 512;
    float a[n], b[n], thread[n], warp[n];
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = -i;
    }
    float *d_a, *d_b, *d_out;
    cudaMalloc(&d_a, sizeof a);
    cudaMalloc(&d_b, sizeof b);
    cudaMalloc(&d_out, sizeof thread);
    cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, sizeof b, cudaMemcpyHostToDevice);
    by_thread<<<n / 128, 128>>>(d_a, d_b, d_out);
    cudaMemcpy(thread, d_out, sizeof thread, cudaMemcpyDeviceToHost);
    by_warp<<<n / 128, 128>>>(d_a, d_b, d_out);
    cudaMemcpy(warp, d_out, sizeof warp, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) {
        right = right && thread[i] == (i % 2 == 0 ? a[i] + 1 : b[i] * 2);
        right = right && warp[i] == (i / 32 % 2 == 0 ? a[i] + 1 : b[i] * 2);
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_out);
    return right ? 0 : 1;
}
