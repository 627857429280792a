// Four warps with unequal work come to one barrier: warp w sums w + 1 rows before it, and all read what the
// others found behind it.
// Look at: a warp that has less to do arrives earlier and is held; the gate opens when the last one is there.
#include <cstdio>

#include <cuda_runtime.h>

#define WARPS 4
#define THREADS (WARPS * 32)

__global__ void gate(const int* in, int* out) {
    __shared__ int found[THREADS];
    int t = threadIdx.x, warp = t / 32;
    int sum = 0;
    for (int row = 0; row <= warp; ++row) sum += in[row * THREADS + t];
    found[t] = sum;
    __syncthreads();
    out[t] = found[THREADS - 1 - t];  // of a thread of another warp
}

int main() {
    int in[WARPS * THREADS], out[THREADS];
    for (int i = 0; i < WARPS * THREADS; i++) in[i] = i % 50;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    gate<<<1, THREADS>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int t = 0; t < THREADS; t++) {
        const int from = THREADS - 1 - t;
        int sum = 0;
        for (int row = 0; row <= from / 32; row++) sum += in[row * THREADS + from];
        right = right && out[t] == sum;
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
