// A small trainer: two layers fitted to sin(x) by gradient descent, with kernels of its own. Prints the losses and the
// bits of the weights; the time of the steps goes to standard error.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kSamples = 4096, kHidden = 256;

__constant__ float rate = 0.02f;
__device__ float loss_of_step;

// hidden[s][h] = tanh(x[s] * w[h] + b[h])
__global__ void forward(const float* x, const float* w, const float* b, float* hidden) {
    const int h = blockIdx.x * blockDim.x + threadIdx.x, s = blockIdx.y;
    if (h < kHidden) hidden[s * kHidden + h] = tanhf(x[s] * w[h] + b[h]);
}

// error[s] = sum over h of hidden[s][h] * v[h], less the target: a block a sample
__global__ void output(const float* hidden, const float* v, const float* target, float* error) {
    __shared__ float sums[kHidden];
    const int h = threadIdx.x, s = blockIdx.x;
    sums[h] = hidden[s * kHidden + h] * v[h];
    __syncthreads();
    for (int half = kHidden / 2; half > 0; half /= 2) {
        if (h < half) sums[h] += sums[h + half];
        __syncthreads();
    }
    if (h == 0) error[s] = sums[0] - target[s];
}

// The mean of the squares, by one block in a fixed order.
__global__ void mean_square(const float* error) {
    __shared__ float sums[256];
    float sum = 0;
    for (int s = threadIdx.x; s < kSamples; s += 256) sum += error[s] * error[s];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) loss_of_step = sums[0] / kSamples;
}

struct Weights {
    float *w, *b, *v;
};

// A gradient step in place: a thread a hidden unit.
__global__ void descend(const float* x, const float* hidden, const float* error, Weights weights) {
    const int h = blockIdx.x * blockDim.x + threadIdx.x;
    if (h >= kHidden) return;
    float dw = 0, db = 0, dv = 0;
    for (int s = 0; s < kSamples; ++s) {
        const float e = error[s], y = hidden[s * kHidden + h], slope = e * weights.v[h] * (1 - y * y);
        dv += e * y;
        db += slope;
        dw += slope * x[s];
    }
    weights.w[h] -= rate * dw / kSamples;
    weights.b[h] -= rate * db / kSamples;
    weights.v[h] -= rate * dv / kSamples;
}

static float* on_device(const std::vector<float>& values) {
    float* at = nullptr;
    cudaMalloc(&at, values.size() * sizeof(float));
    cudaMemcpy(at, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    return at;
}

int main(int argc, char** argv) {
    const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
    std::vector<float> x(kSamples), target(kSamples), w(kHidden), b(kHidden), v(kHidden);
    uint32_t state = 1;
    const auto random = [&] {
        return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1;
    };
    for (int s = 0; s < kSamples; ++s) x[s] = 3 * random(), target[s] = std::sin(x[s]);
    for (int h = 0; h < kHidden; ++h) w[h] = 2 * random(), b[h] = random(), v[h] = 0.1f * random();
    float *dx = on_device(x), *dt = on_device(target), *dw = on_device(w), *db = on_device(b),
          *dv = on_device(v);
    float* hidden = on_device(std::vector<float>(size_t{kSamples} * kHidden));
    float* error = on_device(std::vector<float>(kSamples));
    cudaDeviceSynchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) {
        forward<<<dim3(kHidden / 128, kSamples), 128>>>(dx, dw, db, hidden);
        output<<<kSamples, kHidden>>>(hidden, dv, dt, error);
        mean_square<<<1, 256>>>(error);
        descend<<<kHidden / 64, 64>>>(dx, hidden, error, {dw, db, dv});
        if (step % 50 != 0) continue;
        float loss = 0;
        cudaMemcpyFromSymbol(&loss, loss_of_step, sizeof loss);
        std::printf("step %d loss %a\n", step, static_cast<double>(loss));
    }
    cudaDeviceSynchronize();
    std::fprintf(stderr, "loop %.6f\n",
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cudaMemcpy(w.data(), dw, kHidden * sizeof(float), cudaMemcpyDeviceToHost);
    uint64_t hash = 1469598103934665603u;
    for (const float value : w) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    std::printf("weights %016llx, %s\n", static_cast<unsigned long long>(hash),
                cudaGetErrorString(cudaGetLastError()));
}
