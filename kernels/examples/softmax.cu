// The softmax of each row of a matrix of 8 by 128, a block a row: e^(x - largest) over the row's sum of these.
// Look at: a row is loaded once; the largest of it and the sum are reductions in shared memory, in which half of
// the threads that are left work in each step, and one word then tells all threads the result.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define COLUMNS 128

__global__ void softmax(const float* in, float* out) {
    __shared__ float row[COLUMNS];
    int column = threadIdx.x;
    float x = in[blockIdx.x * COLUMNS + column];
    row[column] = x;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (column < s) row[column] = fmaxf(row[column], row[column + s]);
        __syncthreads();
    }
    float power = expf(x - row[0]);
    __syncthreads();  // all have read the largest
    row[column] = power;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (column < s) row[column] += row[column + s];
        __syncthreads();
    }
    out[blockIdx.x * COLUMNS + column] = power / row[0];
}

int main() {
    const int rows = 8, n = rows * COLUMNS;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++) in[i] = (i * 37 % 101) / 10.f;
    float *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    softmax<<<rows, COLUMNS>>>(d_in, d_out);
    cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < COLUMNS; c++) sum += exp(double(in[r * COLUMNS + c]));
        for (int c = 0; c < COLUMNS; c++) {
            double wanted = exp(double(in[r * COLUMNS + c])) / sum;
            right = right && fabs(out[r * COLUMNS + c] - wanted) < 1e-5 * wanted;
        }
    }
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
