// Kernels that handle arrays of rows and columns as one long row, and others that do not: which extents are
// found, tests say.

// Naive: stores go down a column.
extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

// A thread a row.
extern "C" __global__ void row_sums(const float* in, float* sums, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int col = 0; col < cols; ++col) sum += in[row * cols + col];
    sums[row] = sum;
}

// A thread a column.
extern "C" __global__ void column_sums(const float* in, float* sums, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float sum = 0;
    for (int row = 0; row < rows; ++row) sum += in[row * cols + col];
    sums[col] = sum;
}

// A block a row.
extern "C" __global__ void scale_rows(float* data, int cols, float factor) {
    for (int col = threadIdx.x; col < cols; col += blockDim.x) data[blockIdx.x * cols + col] *= factor;
}

// One dimension: threads stride over the grid; `step` is a number that divides the array.
extern "C" __global__ void grid_stride(const float* in, float* out, int n, int step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] * (float)step;
}

// One dimension: blocks of two dimensions whose threads are numbered through.
extern "C" __global__ void numbered(const float* in, float* out, int n, int tile) {
    int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + (float)tile;
}

// Each thread has two rows, one below the other; the width is that of the grid, and no argument.
extern "C" __global__ void two_rows(const float* in, float* out) {
    int width = gridDim.x * blockDim.x;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    out[y * width + x] = in[y * width + x];
    out[(y + 1) * width + x] = in[(y + 1) * width + x] + 1;
}

// The width is that of the grid; the first row of every pair alone is touched.
extern "C" __global__ void every_other_row(float* out) {
    int width = gridDim.x * blockDim.x;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    out[y * width + x] = 1;
}

// Three colours a pixel, side by side.
extern "C" __global__ void grey(const unsigned char* rgb, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (unsigned char)((rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3);
}

// Three dimensions under a grid of two.
extern "C" __global__ void depth_sums(const float* in, float* out, int depth, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int z = 0; z < depth; ++z) sum += in[(z * height + y) * width + x];
    out[y * width + x] = sum;
}

// A buffer of bytes that holds floats.
extern "C" __global__ void fill(unsigned char* bytes, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) ((float*)bytes)[y * width + x] = (float)x;
}

// Whatever the data says.
extern "C" __global__ void gather(const int* index, const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

// The product of a tutorial: tiles of 16, square matrices, other names and another order.
extern "C" __global__ void multiply(float* c, const float* b, const float* a, int width) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int phase = 0; phase < width / 16; ++phase) {
        as[threadIdx.y][threadIdx.x] = a[row * width + phase * 16 + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(phase * 16 + threadIdx.y) * width + col];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * width + col] = sum;
}
