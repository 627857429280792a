// A tiled product without barriers, "because a block is only one warp": once with 16 threads a block, which
// is so, and once with 64, which are two warps.
// Look at: one warp goes through its program in step, and nothing is read before it is there; no GPU since
// Volta promises even that, and __syncwarp() asks for it. Two warps read each other's elements and do not
// wait: what is found is a race, whatever the result of this run.
#include <cstdio>

#include <cuda_runtime.h>

template <int TILE>
__device__ void multiply(const float* M, const float* N, float* P, int Width) {
    __shared__ float Mds[TILE][TILE];
    __shared__ float Nds[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int phase = 0; phase < Width / TILE; ++phase) {
        Mds[threadIdx.y][threadIdx.x] = M[row * Width + phase * TILE + threadIdx.x];
        Nds[threadIdx.y][threadIdx.x] = N[(phase * TILE + threadIdx.y) * Width + col];
        for (int k = 0; k < TILE; ++k) sum += Mds[threadIdx.y][k] * Nds[k][threadIdx.x];
    }
    P[row * Width + col] = sum;
}

__global__ void one_warp(const float* M, const float* N, float* P, int Width) { multiply<4>(M, N, P, Width); }
__global__ void two_warps(const float* M, const float* N, float* P, int Width) {
    multiply<8>(M, N, P, Width);
}

int wrong_elements(const float* M, const float* N, const float* P, int Width) {
    int wrong = 0;
    for (int row = 0; row < Width; row++)
        for (int col = 0; col < Width; col++) {
            float sum = 0;  // of small whole numbers: exact in any order
            for (int k = 0; k < Width; k++) sum += M[row * Width + k] * N[k * Width + col];
            wrong += P[row * Width + col] != sum;
        }
    return wrong;
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
    one_warp<<<dim3(4, 4), dim3(4, 4)>>>(d_M, d_N, d_P, Width);
    cudaMemcpy(P, d_P, sizeof P, cudaMemcpyDeviceToHost);
    int one = wrong_elements(M, N, P, Width);
    two_warps<<<dim3(2, 2), dim3(8, 8)>>>(d_M, d_N, d_P, Width);
    cudaMemcpy(P, d_P, sizeof P, cudaMemcpyDeviceToHost);
    int two = wrong_elements(M, N, P, Width);
    printf("one warp a block: %d elements wrong; two warps: %d, this time\n", one, two);
    bool right = cudaGetLastError() == cudaSuccess && one == 0;
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_M);
    cudaFree(d_N);
    cudaFree(d_P);
    return right ? 0 : 1;
}
