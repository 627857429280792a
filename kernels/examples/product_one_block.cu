// P = M N in a single block, the first kernel of every course: a thread an element, no tiles.
// Look at: the block's number is not used, so matrices end where a block does, at 1,024 threads. Each of the
// 16 threads of a row loads that row of M again, and the two loads of a trip feed two operations: a
// multiplication and an addition.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void product(const float* M, const float* N, float* P, int Width) {
    int row = threadIdx.y;
    int col = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < Width; ++k) sum += M[row * Width + k] * N[k * Width + col];
    P[row * Width + col] = sum;
}

int main() {
    const int Width = 16;
    float M[Width * Width], N[Width * Width], P[Width * Width];
    for (int i = 0; i < Width * Width; i++) {
        M[i] = i % 9 - 4;
        N[i] = i % 7 - 3;
    }
    float *d_M, *d_N, *d_P;
    cudaMalloc(&d_M, sizeof M);
    cudaMalloc(&d_N, sizeof N);
    cudaMalloc(&d_P, sizeof P);
    cudaMemcpy(d_M, M, sizeof M, cudaMemcpyHostToDevice);
    cudaMemcpy(d_N, N, sizeof N, cudaMemcpyHostToDevice);
    product<<<1, dim3(Width, Width)>>>(d_M, d_N, d_P, Width);
    cudaMemcpy(P, d_P, sizeof P, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int row = 0; row < Width; row++)
        for (int col = 0; col < Width; col++) {
            float sum = 0;  // of small whole numbers: exact in any order
            for (int k = 0; k < Width; k++) sum += M[row * Width + k] * N[k * Width + col];
            right = right && P[row * Width + col] == sum;
        }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_M);
    cudaFree(d_N);
    cudaFree(d_P);
    return right ? 0 : 1;
}
