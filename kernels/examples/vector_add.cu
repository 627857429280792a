// c = a + b, a thread an element.
// Look at: 32 neighbours load 32 neighbours, 128 bytes in 4 sectors; nothing is fetched that nobody uses.
// The last block has threads beyond the end: they do nothing, and are drawn so.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 1000;
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
    add<<<(n + 255) / 256, 256>>>(d_a, d_b, d_c, n);
    cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) right = right && c[i] == 3 * i;
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_a);
    cudaFree(d_b);
    cudaFree(d_c);
    return right ? 0 : 1;
}
