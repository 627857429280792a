// 16 products of small matrices, 8 by 8, one a block: the blocks of a grid are the batch.
// Look at: both matrices fit into shared memory as a whole, so that there is one phase, and each element is
// loaded once and used 8 times. Blocks of 64 threads are small: an SM must hold many of them.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define WIDTH 8

__global__ void batched(const float* M, const float* N, float* P) {
    __shared__ float Mds[WIDTH][WIDTH];
    __shared__ float Nds[WIDTH][WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int element = blockIdx.x * WIDTH * WIDTH + ty * WIDTH + tx;
    Mds[ty][tx] = M[element];
    Nds[ty][tx] = N[element];
    __syncthreads();
    float Pvalue = 0;
    for (int k = 0; k < WIDTH; ++k) Pvalue += Mds[ty][k] * Nds[k][tx];
    P[element] = Pvalue;
}

int main() {
    const int batch = 16, n = batch * WIDTH * WIDTH;
    std::vector<float> M(n), N(n), P(n);
    for (int i = 0; i < n; i++) {
        M[i] = i % 9 - 4;
        N[i] = i % 7 - 3;
    }
    float *d_M, *d_N, *d_P;
    cudaMalloc(&d_M, n * sizeof(float));
    cudaMalloc(&d_N, n * sizeof(float));
    cudaMalloc(&d_P, n * sizeof(float));
    cudaMemcpy(d_M, M.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_N, N.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    batched<<<batch, dim3(WIDTH, WIDTH)>>>(d_M, d_N, d_P);
    cudaMemcpy(P.data(), d_P, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int one = 0; one < batch; one++)
        for (int row = 0; row < WIDTH; row++)
            for (int col = 0; col < WIDTH; col++) {
                const float *A = &M[one * WIDTH * WIDTH], *B = &N[one * WIDTH * WIDTH];
                float sum = 0;  // of small whole numbers: exact in any order
                for (int k = 0; k < WIDTH; k++) sum += A[row * WIDTH + k] * B[k * WIDTH + col];
                right = right && P[one * WIDTH * WIDTH + row * WIDTH + col] == sum;
            }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_M);
    cudaFree(d_N);
    cudaFree(d_P);
    return right ? 0 : 1;
}
