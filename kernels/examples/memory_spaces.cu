// A number from each kind of memory: constant, global and shared, an array of the thread's own, registers.
// Look at: all lanes read one word of the constant array, and it costs one trip. Thread t writes and reads
// its own queue, which no other can name: it is local memory, and lies in the same chips as global memory.
// The sum is in a register: no load, and nothing to see.
#include <cstdio>

#include <cuda_runtime.h>

#define THREADS 64
#define STEPS 4

__constant__ int weight[STEPS];  // constant: the whole grid, read only, as long as the program runs

__global__ void spaces(const int* in, int* out) {  // in, out: global, the whole grid, until they are freed
    __shared__ int tile[THREADS];                  // shared: this block, until it ends
    int queue[STEPS];                              // local: this thread; picked at run time, so no registers
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    tile[t] = in[i];
    __syncthreads();
    for (int step = 0; step < STEPS; ++step) queue[(t + step) % STEPS] = tile[(t + step) % THREADS];
    int sum = 0;  // register: this thread
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) sum += weight[step] * queue[(t + step) % STEPS];
    out[i] = sum;
}

int main() {
    const int n = 2 * THREADS;
    const int by[STEPS] = {1, 10, 100, 1000};
    int in[n], out[n];
    for (int i = 0; i < n; i++) in[i] = i % 10;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpyToSymbol(weight, by, sizeof by);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    spaces<<<n / THREADS, THREADS>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int step = 0; step < STEPS; step++)
            sum += by[step] * in[i / THREADS * THREADS + (i % THREADS + step) % THREADS];
        right = right && out[i] == sum;
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
