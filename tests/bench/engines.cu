// What tests/bench/engines.cpp runs by both engines.
#include <cuda_runtime.h>

#define KERNEL extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define J (blockIdx.y * blockDim.y + threadIdx.y)

template <class T>
__device__ void tiled(const T* a, const T* b, T* c, int n) {
    __shared__ T as[16][16], bs[16][16];
    const int x = threadIdx.x, y = threadIdx.y;
    T sum = 0;
    for (int t = 0; t < n / 16; ++t) {
        as[y][x] = a[J * n + t * 16 + x];
        bs[y][x] = b[(t * 16 + y) * n + I];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    c[J * n + I] = sum;
}
KERNEL tiled_float(const float* a, const float* b, float* c, int n) { tiled(a, b, c, n); }
KERNEL tiled_integer(const int* a, const int* b, int* c, int n) { tiled(a, b, c, n); }

KERNEL naive(const float* a, const float* b, float* c, int n) {
    const int row = J, column = I;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

KERNEL stencil(const float* in, float*, float* out, int n) {
    const int x = I, y = J;
    if (x == 0 || x >= n - 1 || y == 0 || y >= n - 1) return;
    out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                             in[(y + 1) * n + x]);
}

KERNEL gaussian(const float* in, float*, float* out, int n) {
    const int i = I;
    if (i < n * n) out[i] = 0.39894228f * expf(-0.5f * in[i] * in[i]);
}

KERNEL row_sums(const float* in, float*, float* out, int n) {
    const int i = I;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += in[i * n + k];
    out[i] = sum;
}

KERNEL reduction(const float* in, float*, float* out, int) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = in[I];
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

KERNEL shuffles(const float* in, float*, float* out, int n) {
    float v = 0;
    for (int i = I; i < n * n; i += blockDim.x * gridDim.x) v += in[i];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0) out[I / 32] = v;
}

KERNEL histogram(const unsigned* in, const unsigned*, unsigned* out, int n) {
    __shared__ unsigned h[256];
    h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = I; i < n * n; i += blockDim.x * gridDim.x) atomicAdd(&h[in[i] % 256], 1u);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}

KERNEL mandelbrot(const float*, const float*, unsigned* out, int n) {
    const int x = I, y = J;
    if (x >= n || y >= n) return;
    const float cr = -2 + 3.f * x / n, ci = -1.5f + 3.f * y / n;
    float zr = 0, zi = 0;
    unsigned k = 0;
    while (k < 256 && zr * zr + zi * zi < 4) {
        const float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci, zr = t, ++k;
    }
    out[y * n + x] = k;
}
