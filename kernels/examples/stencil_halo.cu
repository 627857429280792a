// Each element becomes the sum of the seven around it. A block brings its elements to shared memory, and a
// halo of three on either side. Look at: the first three threads load the halo, too; then shared memory
// serves seven reads for each element.
#include <cstdio>

#include <cuda_runtime.h>

#define RADIUS 3
#define BLOCK 128

__global__ void stencil(const int* in, int* out, int n) {
    __shared__ int window[BLOCK + 2 * RADIUS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int at = threadIdx.x + RADIUS;
    window[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        window[at - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        window[at + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++) sum += window[at + offset];
    if (i < n) out[i] = sum;
}

int main() {
    const int n = 1000;
    int in[n], out[n];
    for (int i = 0; i < n; i++) in[i] = i % 10;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = i - RADIUS; j <= i + RADIUS; j++) sum += j >= 0 && j < n ? in[j] : 0;
        right = right && out[i] == sum;
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
