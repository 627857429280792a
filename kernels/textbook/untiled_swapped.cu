// Untiled matrix product with the mapping swapped: thread x walks the rows. The arithmetic and the
// result are those of `untiled`; the lanes of a warp now read elements of M that lie a row apart.

extern "C" __global__ void untiled_swapped(const float* M, const float* N, float* P, int m, int k, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) {
            sum += M[row * k + i] * N[i * n + col];
        }
        P[row * n + col] = sum;
    }
}
