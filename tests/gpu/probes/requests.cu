// What requests to global memory really cost L1: one warp, one pattern of addresses a pair of launches.
//
// A launch loads the same addresses once, the other nine times, so that the difference is eight requests that
// hit. Patterns, a line each: bytes a lane, active mask, 32 indexes in units of the access. Two lanes in two
// lines tell which lines share a bank of tags; rows and random patterns tell whether that is all there is.
// make.sh adds what Nsight Compute counted.
#include <cstdint>
#include <cstdio>

template <int kWords>
__global__ void request(const float* data, const int* index, unsigned mask, int times, float* out) {
    const int lane = threadIdx.x;
    const float* address = data + static_cast<size_t>(index[lane]) * kWords;
    float sum = 0;
    __syncwarp();
    if (mask >> lane & 1) {
        for (int i = 0; i < times; ++i) {
            float x = 0, y = 0, z = 0, w = 0;
            if (kWords == 1) asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(address));
            if (kWords == 2)
                asm volatile("ld.global.ca.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(address));
            if (kWords == 4) {
                asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                             : "l"(address));
            }
            sum += x + y + z + w;
            __syncwarp(mask);
        }
    }
    if (sum != 0) out[lane] = sum;
}

static uint32_t random_bits() {  // xorshift64
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 11);
}

struct Probe {
    float *data = nullptr, *out = nullptr;
    int* index_d = nullptr;

    void ask(int words, unsigned mask, const int (&index)[32]) const {
        printf("pattern %d %u", 4 * words, mask);
        for (int i : index) printf(" %d", i);
        printf("\n");
        cudaMemcpy(index_d, index, sizeof index, cudaMemcpyHostToDevice);
        for (int times : {1, 9}) {
            if (words == 1) request<1><<<1, 32>>>(data, index_d, mask, times, out);
            if (words == 2) request<2><<<1, 32>>>(data, index_d, mask, times, out);
            if (words == 4) request<4><<<1, 32>>>(data, index_d, mask, times, out);
        }
    }
    void pair(int lines, int word) const {
        const int index[32] = {0, lines * 32 + word};
        ask(1, 3, index);
    }
};

int main() {
    constexpr size_t kBytes = size_t{128} << 20;
    Probe probe;
    cudaMalloc(&probe.data, kBytes);
    cudaMemset(probe.data, 0, kBytes);
    cudaMalloc(&probe.out, 128);
    cudaMalloc(&probe.index_d, 128);
    for (int line = 1; line <= 32; ++line) probe.pair(line, 0);
    for (int bit = 6; bit < 20; ++bit) probe.pair(1 << bit, 0);
    for (int i = 0; i < 40; ++i) probe.pair(random_bits() % (1 << 20), 0);
    for (int line : {1, 2, 3, 41, 1024})
        for (int word : {1, 8, 16}) probe.pair(line, word);
    int index[32];
    for (int words : {1, 2, 4}) {
        for (int width : {1, 8, 16, 32}) {
            for (int pitch : {64, 777, 1000, 1024, 1040, 1056, 1111, 1333, 1336, 2048}) {
                for (int base : {0, 5, 8}) {
                    if (words > 1 && base == 5) continue;
                    for (int l = 0; l < 32; ++l) index[l] = base + l / width * pitch + l % width;
                    probe.ask(words, ~0u, index);
                }
            }
        }
        for (int range : {64, 256, 1024, 8192, 65536, 1 << 20}) {
            for (int i = 0; i < (words > 1 ? 4 : 12); ++i) {
                for (int& at : index) at = random_bits() % range;
                probe.ask(words, i % 3 == 2 ? random_bits() | 1 : ~0u, index);
            }
        }
    }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "requests: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
