// A sum of matrices under the name and the parameters of the untiled product: what a recording is, its
// accesses say.
extern "C" __global__ void untiled(const float* M, const float* N, float* P, int m, int k, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        P[row * n + col] = M[row * k + col] + N[row * n + col];
    }
}
