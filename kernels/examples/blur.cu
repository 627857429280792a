// Each pixel becomes the mean of the 3 x 3 around it; pixels outside the picture do not count.
// Look at: a thread loads nine bytes and adds each once, a load for every addition. Neighbours load the same
// pixels again, up to nine times: what a tile in shared memory would save.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__host__ __device__ unsigned char mean_at(const unsigned char* in, int row, int col, int height, int width) {
    int sum = 0, pixels = 0;
    for (int y = row - 1; y <= row + 1; y++)
        for (int x = col - 1; x <= col + 1; x++)
            if (y >= 0 && y < height && x >= 0 && x < width) {
                sum += in[y * width + x];
                pixels++;
            }
    return sum / pixels;
}

__global__ void blur(const unsigned char* in, unsigned char* out, int height, int width) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < height && col < width) out[row * width + col] = mean_at(in, row, col, height, width);
}

int main() {
    const int height = 48, width = 64;
    std::vector<unsigned char> in(height * width), out(height * width);
    for (int i = 0; i < height * width; i++) in[i] = i * 7 % 256;
    unsigned char *d_in, *d_out;
    cudaMalloc(&d_in, in.size());
    cudaMalloc(&d_out, out.size());
    cudaMemcpy(d_in, in.data(), in.size(), cudaMemcpyHostToDevice);
    blur<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(d_in, d_out, height, width);
    cudaMemcpy(out.data(), d_out, out.size(), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int row = 0; row < height; row++)
        for (int col = 0; col < width; col++)
            right = right && out[row * width + col] == mean_at(in.data(), row, col, height, width);
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right ? 0 : 1;
}
