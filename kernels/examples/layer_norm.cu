// Layer normalization of the rows of a matrix, a warp for each: (x - mean) / deviation, times a weight
// and plus a bias for each column. Look at: the row stays in registers, 4 elements a lane, and is loaded once; sums
// go from lane to lane by shuffles, without shared memory and barriers. Each weight is loaded by all 8 warps.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define COLUMNS 128
#define EACH (COLUMNS / 32)

__device__ float sum_of_warp(float x) {
    for (int far = 16; far > 0; far /= 2) x += __shfl_xor_sync(0xffffffff, x, far);
    return x;
}

__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out) {
    int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    float x[EACH], sum = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) sum += x[i] = in[row * COLUMNS + i * 32 + lane];
    float mean = sum_of_warp(sum) / COLUMNS;
#pragma unroll
    for (int i = 0; i < EACH; i++) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(sum_of_warp(squares) / COLUMNS + 1e-5f);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int column = i * 32 + lane;
        out[row * COLUMNS + column] = (x[i] - mean) * scale * weight[column] + bias[column];
    }
}

int main() {
    const int rows = 8, n = rows * COLUMNS;
    std::vector<float> in(n), weight(COLUMNS), bias(COLUMNS), out(n);
    for (int i = 0; i < n; i++) in[i] = (i * 37 % 101) / 10.f;
    for (int c = 0; c < COLUMNS; c++) weight[c] = 1 + c % 3, bias[c] = c % 5;
    float *d_in, *d_weight, *d_bias, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_weight, COLUMNS * sizeof(float));
    cudaMalloc(&d_bias, COLUMNS * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weight, weight.data(), COLUMNS * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_bias, bias.data(), COLUMNS * sizeof(float), cudaMemcpyHostToDevice);
    layer_norm<<<rows / 4, dim3(32, 4)>>>(d_in, d_weight, d_bias, d_out);
    cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int r = 0; r < rows; r++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < COLUMNS; c++) mean += in[r * COLUMNS + c] / double(COLUMNS);
        for (int c = 0; c < COLUMNS; c++) variance += pow(in[r * COLUMNS + c] - mean, 2) / COLUMNS;
        for (int c = 0; c < COLUMNS; c++) {
            double wanted = (in[r * COLUMNS + c] - mean) / sqrt(variance + 1e-5) * weight[c] + bias[c];
            right = right && fabs(out[r * COLUMNS + c] - wanted) < 1e-4;
        }
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_weight);
    cudaFree(d_bias);
    cudaFree(d_out);
    return right ? 0 : 1;
}
