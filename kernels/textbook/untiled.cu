// Untiled matrix product: one thread computes one element of P, and reads a whole row of M and a
// whole column of N from global memory to do so. Thread x walks the columns, so the lanes of a warp
// read neighbours of N.

extern "C" __global__ void untiled(const float* M, const float* N, float* P, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) {
            sum += M[row * k + i] * N[i * n + col];
        }
        P[row * n + col] = sum;
    }
}
