// P = M N with thread coarsening: each thread computes 4 elements of P, a tile width apart, in one row.
// Look at: a tile of M is loaded once and serves 4 tiles of N. A quarter of the blocks does the same products
// with 640 load requests; matrix_multiply.cu, of the same size, makes 1024.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define TILE_WIDTH 16
#define COARSE_FACTOR 4

__global__ void coarsened(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = blockIdx.y * TILE_WIDTH + ty;
    int ColStart = blockIdx.x * TILE_WIDTH * COARSE_FACTOR + tx;
    float Pvalue[COARSE_FACTOR] = {};
    for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[Row * Width + ph * TILE_WIDTH + tx];
#pragma unroll
        for (int c = 0; c < COARSE_FACTOR; ++c) {
            Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Width + ColStart + c * TILE_WIDTH];
            __syncthreads();
            for (int k = 0; k < TILE_WIDTH; ++k) Pvalue[c] += Mds[ty][k] * Nds[k][tx];
            __syncthreads();
        }
    }
#pragma unroll
    for (int c = 0; c < COARSE_FACTOR; ++c) P[Row * Width + ColStart + c * TILE_WIDTH] = Pvalue[c];
}

int main() {
    const int Width = 64;
    const size_t bytes = Width * Width * sizeof(float);
    std::vector<float> M(Width * Width), N(Width * Width), P(Width * Width);
    for (int i = 0; i < Width * Width; i++) {
        M[i] = i % 9 - 4;
        N[i] = i % 7 - 3;
    }
    float *d_M, *d_N, *d_P;
    cudaMalloc(&d_M, bytes);
    cudaMalloc(&d_N, bytes);
    cudaMalloc(&d_P, bytes);
    cudaMemcpy(d_M, M.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_N, N.data(), bytes, cudaMemcpyHostToDevice);
    dim3 block(TILE_WIDTH, TILE_WIDTH), grid(Width / TILE_WIDTH / COARSE_FACTOR, Width / TILE_WIDTH);
    coarsened<<<grid, block>>>(d_M, d_N, d_P, Width);
    cudaMemcpy(P.data(), d_P, bytes, cudaMemcpyDeviceToHost);
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
