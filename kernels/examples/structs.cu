// The x of 256 points, from an array of structures (AoS) and from a structure of arrays (SoA).
// Look at: in the array of structures neighbouring x lie a structure apart, and a warp brings y, z and mass along
// for nobody. In the structure of arrays x is an array of its own, whose sectors come for it alone.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

struct Point {
    float x, y, z, mass;
};

__global__ void move_structures(Point* points, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    points[i].x += step;
}

__global__ void move_array(float* x, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += step;
}

int main() {
    const int n = 256;
    const float step = 0.5f;
    std::vector<Point> points(n);
    std::vector<float> x(n);
    for (int i = 0; i < n; i++) {
        points[i] = {float(i), float(i % 7), float(i % 5), 1};
        x[i] = i;
    }
    Point* d_points;
    float* d_x;
    cudaMalloc(&d_points, n * sizeof(Point));
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMemcpy(d_points, points.data(), n * sizeof(Point), cudaMemcpyHostToDevice);
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    move_structures<<<n / 64, 64>>>(d_points, step);
    move_array<<<n / 64, 64>>>(d_x, step);
    cudaMemcpy(points.data(), d_points, n * sizeof(Point), cudaMemcpyDeviceToHost);
    cudaMemcpy(x.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = cudaGetLastError() == cudaSuccess;
    for (int i = 0; i < n; i++) right = right && points[i].x == i + step && x[i] == i + step;
    printf("%s\n", right ? "right" : "wrong");
    cudaFree(d_points);
    cudaFree(d_x);
    return right ? 0 : 1;
}
