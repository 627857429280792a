// C = A + B for matrices, a thread an element, blocks of 16 x 16.
// Look at: every element is loaded once, by one thread. Nothing is used twice, so a tile in shared memory
// would gain nothing. A warp is two rows of 16: 2 x 64 bytes.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void matrix_add(const float* A, const float* B, float* C, int height, int width) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height && col < width) C[row * width + col] = A[row * width + col] + B[row * width + col];
}

int main() {
    const int height = 48, width = 64;
    const size_t bytes = height * width * sizeof(float);
    std::vector<float> A(height * width), B(height * width), C(height * width);
    for (int i = 0; i < height * width; i++) {
        A[i] = i % 100;
        B[i] = i / 100;
    }
    float *d_A, *d_B, *d_C;
    cudaMalloc(&d_A, bytes);
    cudaMalloc(&d_B, bytes);
    cudaMalloc(&d_C, bytes);
    cudaMemcpy(d_A, A.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_B, B.data(), bytes, cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    matrix_add<<<grid, block>>>(d_A, d_B, d_C, height, width);
    cudaMemcpy(C.data(), d_C, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < height * width; i++) right = right && C[i] == A[i] + B[i];
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    return right ? 0 : 1;
}
