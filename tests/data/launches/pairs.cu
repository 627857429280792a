// Loads two floats at once and keeps them apart in shared memory. The module holds another kernel too, and the
// names in the PTX are mangled.
struct __attribute__((aligned(8))) Pair {
    float first, second;
};

__global__ void other(float* out) { out[threadIdx.x] = 0.0f; }

__global__ void pairs(const Pair* in, float* out) {
    __shared__ float firsts[32];
    __shared__ float seconds[32];
    int t = threadIdx.x;
    Pair pair = in[blockIdx.x * 32 + t];
    firsts[t] = pair.first;
    seconds[t] = pair.second;
    __syncthreads();
    out[blockIdx.x * 32 + t] = firsts[31 - t] + seconds[t ^ 1];
}
