// The tiled product with its closing barrier a brace too early, inside the loop over the tile's elements.
// Look at: the result is right, as every thread makes every trip. But a block waits TILE + 1 times a phase in
// place of twice.
#include <cassert>
#include <cstdio>

#include <cuda_runtime.h>

#define TILE 8

__global__ void product(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE][TILE];
    __shared__ float Nds[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int phase = 0; phase < Width / TILE; ++phase) {
        Mds[threadIdx.y][threadIdx.x] = M[row * Width + phase * TILE + threadIdx.x];
        Nds[threadIdx.y][threadIdx.x] = N[(phase * TILE + threadIdx.y) * Width + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += Mds[threadIdx.y][k] * Nds[k][threadIdx.x];
            __syncthreads();  // belongs behind this loop
        }
    }
    P[row * Width + col] = sum;
}

int main() {
    const int Width = 16;
    assert(Width % TILE == 0);  // what the kernel takes for granted, said where it is launched
    assert(TILE * TILE <= 1024);
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
    product<<<dim3(Width / TILE, Width / TILE), dim3(TILE, TILE)>>>(d_M, d_N, d_P, Width);
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
