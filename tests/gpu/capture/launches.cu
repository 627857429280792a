// Nothing but launches of an empty kernel: what listing costs each of them.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void empty(int*) {}

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 200000;
    for (int i = 0; i < 1000; ++i) empty<<<1, 32>>>(nullptr);
    cudaDeviceSynchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) empty<<<1, 32>>>(nullptr);
    cudaDeviceSynchronize();
    std::fprintf(stderr, "loop %.6f\n",
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::printf("out %s\n", cudaGetErrorString(cudaGetLastError()));
}
