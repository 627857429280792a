// out = in transposed, straight from global memory to global memory.
// Look at: a warp loads 32 neighbours of a row (4 sectors) and stores them down a column, 32 sectors:
// eight times as many as its bytes need. transpose_tiled.cu mends that.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#define TILE 32
#define ROWS 8  // rows of threads: each thread has TILE / ROWS elements

__global__ void transpose(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS) out[x * height + y + i] = in[(y + i) * width + x];
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
