// c = a + b for 2,000 elements in blocks of 512: 4 blocks, 2,048 threads, 48 too many.
// Look at: of 64 warps one lies across the end of the vector, with 16 lanes on either side, and is split by
// the check. The one behind it lies outside as a whole: it leaves together, and nothing diverges.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 2000;
    const size_t bytes = n * sizeof(float);
    float a[n], b[n], c[n];
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    float *d_a, *d_b, *d_c;
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMalloc(&d_c, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);
    add<<<(n + 511) / 512, 512>>>(d_a, d_b, d_c, n);
    cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) right = right && c[i] == 3 * i;
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    return right ? 0 : 1;
}
