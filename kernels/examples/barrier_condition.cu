// Every thread hands its value to a neighbour by way of shared memory; the barrier between stands in both
// branches of a condition on the thread's number.
// Look at: these are two barriers, and the threads of a warp wait at different ones, for each other. CUDA
// leaves open what happens then; here it is said in one sentence, with both lines.
#include <cstdio>

#include <cuda_runtime.h>

#define THREADS 64

__global__ void pass_on(const int* in, int* out) {
    __shared__ int held[THREADS];
    int t = threadIdx.x;
    held[t] = in[t];
    if (t % 2 == 0) {
        __syncthreads();  // the cure: one barrier in front of the condition
        out[t] = held[t + 1];
    } else {
        __syncthreads();
        out[t] = held[t - 1];
    }
}

int main() {
    int in[THREADS], out[THREADS] = {};
    for (int i = 0; i < THREADS; i++) in[i] = i * i;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    pass_on<<<1, THREADS>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < THREADS; i++) right = right && out[i] == in[i % 2 == 0 ? i + 1 : i - 1];
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
