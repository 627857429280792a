// What the programs of this folder share: small random inputs, arrays on the device, a product as a plain loop on the host,
// and the verdict.
//
// Inputs are multiples of 1/8 in [-1, 1], which every type of floats here holds exactly. Sums of up to 2^18 products of
// them are exact in float, in any order: a product differs from the expected one by the rounding of its own type alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

namespace check {

// Ends the program where a call of CUDA failed; `what` is the call.
inline void must(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("%s failed: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

// The same for a library that only says whether.
inline void must(bool done, const char* what) {
    if (done) return;
    std::printf("%s failed\n", what);
    std::exit(1);
}

// `n` multiples of `step` in [-1, 1]; the same for the same seed.
inline std::vector<float> random_multiples(size_t n, uint32_t seed, float step = 0.125f) {
    std::vector<float> all(n);
    uint32_t state = seed * 2654435761u + 1;
    const uint32_t values = static_cast<uint32_t>(2 / step) + 1;
    for (float& x : all) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>((state >> 8) % values) * step - 1;
    }
    return all;
}

template <class T>
std::vector<T> as(const std::vector<float>& all) {
    std::vector<T> other(all.size());
    for (size_t i = 0; i < all.size(); ++i) other[i] = static_cast<T>(all[i]);
    return other;
}

// An array on the device with these contents; zeros where there is only a length. It lives as long as the program.
template <class T>
T* on_device(const std::vector<T>& all) {
    T* data = nullptr;
    must(cudaMalloc(&data, all.size() * sizeof(T)), "cudaMalloc");
    must(cudaMemcpy(data, all.data(), all.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return data;
}

template <class T>
T* zeros_on_device(size_t n) {
    T* data = nullptr;
    must(cudaMalloc(&data, n * sizeof(T)), "cudaMalloc");
    must(cudaMemset(data, 0, n * sizeof(T)), "cudaMemset");
    return data;
}

// What lies in an array of the device once all launches have ended.
template <class T>
std::vector<float> from_device(const T* data, size_t n) {
    must(cudaGetLastError(), "the launch");
    must(cudaDeviceSynchronize(), "the kernel");
    std::vector<T> all(n);
    must(cudaMemcpy(all.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<float> floats(n);
    for (size_t i = 0; i < n; ++i) floats[i] = static_cast<float>(all[i]);
    return floats;
}

// A is m x k by rows, B is n x k by rows (k x n by columns); the product is m x n by rows.
inline std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, size_t m,
                                  size_t n, size_t k) {
    std::vector<float> c(m * n);
    for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
            float sum = 0;
            for (size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
            c[i * n + j] = sum;
        }
    return c;
}

// The matrix of `rows` x `columns` with rows and columns exchanged.
inline std::vector<float> transposed(const std::vector<float>& a, size_t rows, size_t columns) {
    std::vector<float> b(a.size());
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) b[j * rows + i] = a[i * columns + j];
    return b;
}

// softmax(Q K^T / sqrt(d)) V for each of `heads`, row-major n x d; where `causal`, of the rows up to a row alone.
inline std::vector<float> attention(const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v, int heads, int n, int d, bool causal) {
    std::vector<float> o(q.size());
    std::vector<double> p(n);
    for (int h = 0; h < heads; ++h)
        for (int i = 0; i < n; ++i) {
            const size_t head = size_t(h) * n * d, row = head + size_t(i) * d;
            const int last = causal ? i + 1 : n;
            double largest = -1e30, sum = 0;
            for (int j = 0; j < last; ++j) {
                double s = 0;
                for (int l = 0; l < d; ++l) s += double(q[row + l]) * k[head + size_t(j) * d + l];
                p[j] = s / std::sqrt(double(d));
                largest = std::fmax(largest, p[j]);
            }
            for (int j = 0; j < last; ++j) sum += p[j] = std::exp(p[j] - largest);
            for (int l = 0; l < d; ++l) {
                double s = 0;
                for (int j = 0; j < last; ++j) s += p[j] * v[head + size_t(j) * d + l];
                o[row + l] = static_cast<float>(s / sum);
            }
        }
    return o;
}

// A hash of the bits of all numbers (FNV-1a), by which two runs are compared.
inline uint32_t hash_of(const std::vector<float>& all) {
    uint32_t hash = 2166136261u;
    for (const float x : all) {
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof(bits));
        for (int i = 0; i < 4; ++i) hash = (hash ^ (bits >> 8 * i & 255)) * 16777619u;
    }
    return hash;
}

// Prints "NAME right" with the largest error, or "NAME wrong" with the first element that is, and gives the exit status.
// `epsilon` is the distance from 1 to the next number of the output's type; an error counts in units of it at the largest
// expected result, and up to `most` of them are right.
inline int verdict(const char* program, const std::vector<float>& got, const std::vector<float>& expected,
                   double epsilon, double most) {
    const char* const slash = std::strrchr(program, '/');
    const char* const name = slash ? slash + 1 : program;
    double largest = 0;
    for (const float x : expected) largest = std::fmax(largest, std::fabs(x));
    const double unit = epsilon * (largest > 0 ? largest : 1);
    double error = 0;
    size_t wrong = expected.size();
    for (size_t i = expected.size(); i-- > 0;) {
        const double off = std::fabs(static_cast<double>(got[i]) - expected[i]) / unit;
        if (!(off <= most)) wrong = i;
        error = std::isnan(error) || off <= error ? error : off;
    }
    std::printf("%s %s: largest error %.3f units of its type at %g, %zu elements, hash %08x\n", name,
                wrong == expected.size() ? "right" : "wrong", error, largest, expected.size(), hash_of(got));
    if (wrong == expected.size()) return 0;
    std::printf("element %zu is %g, expected %g\n", wrong, got[wrong], expected[wrong]);
    return 1;
}

constexpr double kBf16 = 1.0 / 128, kHalf = 1.0 / 1024, kFloat = 1.0 / (1 << 23);

// The number on the command line in this place, from 1, or the usual one.
inline int number(int argc, char** argv, int place, int usual) {
    return place < argc ? std::atoi(argv[place]) : usual;
}

}  // namespace check
