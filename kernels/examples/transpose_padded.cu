// out = in transposed, by way of a tile whose rows have one word more than they hold.
// Look at: the column of the tile lies in 32 different banks now, one wavefront a request; loads and stores
// of global memory are as in transpose_tiled.cu.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define TILE 32
#define ROWS 8  // rows of threads: each thread has TILE / ROWS elements

__global__ void transpose(const float* in, float* out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main() {
    const int width = 64, height = 96;
    const size_t bytes = width * height * sizeof(float);
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) in[i] = i;
    float *d_in, *d_out;
    cudaMalloc(&d_in, bytes);
    cudaMalloc(&d_out, bytes);
    cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice);
    transpose<<<dim3(width / TILE, height / TILE), dim3(TILE, ROWS)>>>(d_in, d_out, width, height);
    cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) right = right && out[x * height + y] == in[y * width + x];
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
