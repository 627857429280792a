// Corner turning: P = M N where N is stored by columns, column after column.
// Look at: neighbouring threads load neighbours of a column of N, 4 sectors a request, and store them into
// the tile down a column. Loaded as M is, by rows of N, each lane would ask for a sector of its own. With the
// column more in Nds such a store takes 2 wavefronts in place of 8.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define TILE_WIDTH 16

__global__ void corner_turning(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = blockIdx.y * TILE_WIDTH + ty;
    int Col = blockIdx.x * TILE_WIDTH + tx;
    float Pvalue = 0;
    for (int ph = 0; ph < Width / TILE_WIDTH; ++ph) {
        Mds[ty][tx] = M[Row * Width + ph * TILE_WIDTH + tx];
        // tx walks down a column of N, whose elements are neighbours; ty chooses the column.
        Nds[tx][ty] = N[(blockIdx.x * TILE_WIDTH + ty) * Width + ph * TILE_WIDTH + tx];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    P[Row * Width + Col] = Pvalue;
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
    dim3 block(TILE_WIDTH, TILE_WIDTH), grid(Width / TILE_WIDTH, Width / TILE_WIDTH);
    corner_turning<<<grid, block>>>(d_M, d_N, d_P, Width);
    cudaMemcpy(P.data(), d_P, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int row = 0; row < Width; row++)
        for (int col = 0; col < Width; col++) {
            float sum = 0;  // of small whole numbers: exact in any order
            for (int k = 0; k < Width; k++) sum += M[row * Width + k] * N[col * Width + k];
            right = right && P[row * Width + col] == sum;
        }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_M);
    cudaFree(d_N);
    cudaFree(d_P);
    return right ? 0 : 1;
}
