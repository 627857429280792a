// P = M N where M is stored by columns, tile by tile; loaded as if it were stored by rows, and with its corner
// turned. Look at: where each thread loads the element that it keeps, neighbours ask for neighbours of a row,
// which lie a column apart: 16 sectors a request. With the corner turned neighbours load down a column, 4
// sectors, and the tile is turned on its way to shared memory, where a column costs little.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define TILE_WIDTH 16

__global__ void not_turned(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = blockIdx.y * TILE_WIDTH + ty, Col = blockIdx.x * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[(ph * TILE_WIDTH + tx) * Width + Row];
        Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Width + Col];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    P[Row * Width + Col] = Pvalue;
}

__global__ void turned(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH + 1];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = blockIdx.y * TILE_WIDTH + ty, Col = blockIdx.x * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
        // tx walks down a column of M, whose elements are neighbours; ty chooses the column.
        Mds[tx][ty] = M[(ph * TILE_WIDTH + ty) * Width + blockIdx.y * TILE_WIDTH + tx];
        Nds[ty][tx] = N[(ph * TILE_WIDTH + ty) * Width + Col];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    P[Row * Width + Col] = Pvalue;
}

int main() {
    const int Width = 64;
    const size_t bytes = Width * Width * sizeof(float);
    std::vector<float> M(Width * Width), N(Width * Width), P(Width * Width), Q(Width * Width);
    for (int i = 0; i < Width * Width; i++) {
        M[i] = i % 9 - 4;
        N[i] = i % 7 - 3;
    }
    float *d_M, *d_N, *d_P, *d_Q;
    cudaMalloc(&d_M, bytes);
    cudaMalloc(&d_N, bytes);
    cudaMalloc(&d_P, bytes);
    cudaMalloc(&d_Q, bytes);
    cudaMemcpy(d_M, M.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_N, N.data(), bytes, cudaMemcpyHostToDevice);
    dim3 block(TILE_WIDTH, TILE_WIDTH), grid(Width / TILE_WIDTH, Width / TILE_WIDTH);
    not_turned<<<grid, block>>>(d_M, d_N, d_P, Width);
    turned<<<grid, block>>>(d_M, d_N, d_Q, Width);
    cudaMemcpy(P.data(), d_P, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(Q.data(), d_Q, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int row = 0; row < Width; row++)
        for (int col = 0; col < Width; col++) {
            float sum = 0;  // of small whole numbers: exact in any order
            for (int k = 0; k < Width; k++) sum += M[k * Width + row] * N[k * Width + col];
            right = right && P[row * Width + col] == sum && Q[row * Width + col] == sum;
        }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_M);
    cudaFree(d_N);
    cudaFree(d_P);
    cudaFree(d_Q);
    return right ? 0 : 1;
}
