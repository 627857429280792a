// A 3 x 3 matrix copied by tiles of 2 x 2, without and with checks against its bounds.
// Look at: column 3 of row 0 is no fault for the machine, only element 3: the first of the next row. Without
// checks a thread at the right edge brings it in silence. Only what lies behind the whole array would be a
// fault, and so row 3 has room here: an array larger than the matrix.
#include <cstdio>

#include <cuda_runtime.h>

#define TILE 2
#define WIDTH 3

__global__ void unchecked(const int* in, int* out) {
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    out[row * TILE * 2 + col] = in[row * WIDTH + col];
}

__global__ void checked(const int* in, int* out) {
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    out[row * TILE * 2 + col] = row < WIDTH && col < WIDTH ? in[row * WIDTH + col] : 0;
}

int main() {
    const int side = 2 * TILE, cells = side * side;
    int in[cells], plain[cells], safe[cells];  // in: more than 3 x 3, so that nothing lies outside
    for (int i = 0; i < cells; i++) in[i] = i < WIDTH * WIDTH ? i + 1 : 0;
    int *d_in, *d_out;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof plain);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    unchecked<<<dim3(2, 2), dim3(TILE, TILE)>>>(d_in, d_out);
    cudaMemcpy(plain, d_out, sizeof plain, cudaMemcpyDeviceToHost);
    checked<<<dim3(2, 2), dim3(TILE, TILE)>>>(d_in, d_out);
    cudaMemcpy(safe, d_out, sizeof safe, cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    int wrapped = 0;
    for (int row = 0; row < side; row++)
        for (int col = 0; col < side; col++) {
            const bool inside = row < WIDTH && col < WIDTH;
            right = right && safe[row * side + col] == (inside ? in[row * WIDTH + col] : 0);
            wrapped += plain[row * side + col] != safe[row * side + col];
        }
    printf("%d cells hold another row's element without checks\n", wrapped);
    printf("%s\n", right && wrapped == 2 ? "right" : "wrong");
    cudaFree(d_in);
    cudaFree(d_out);
    return right && wrapped == 2 ? 0 : 1;
}
