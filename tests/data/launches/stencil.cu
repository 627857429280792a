// A point and its six neighbours in three dimensions; the border is copied. One thread a point, in blocks of
// three dimensions.
extern "C" __global__ void stencil(const float* in, float* out, int depth, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= width || y >= height || z >= depth) {
        return;
    }
    int slice = height * width;
    int i = z * slice + y * width + x;
    if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1) {
        out[i] = in[i];
    } else {
        out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width] + in[i - slice] + in[i + slice];
    }
}
