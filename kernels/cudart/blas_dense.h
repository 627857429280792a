// What Level 3 is made of: operands widened into matrices of their own, their product, and where a result goes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/cudart/blas.h"

namespace tilescope::cudart {

// A matrix by columns, of double or complex<double>.
template <class W>
struct Dense {
    int64_t rows = 0, cols = 0;
    std::vector<W> data;
    Dense(int64_t r, int64_t c) : rows(r), cols(c), data(static_cast<size_t>(r * c)) {}
    W& at(int64_t row, int64_t col) { return data[static_cast<size_t>(col * rows + row)]; }
    const W& at(int64_t row, int64_t col) const { return data[static_cast<size_t>(col * rows + row)]; }
};

template <class W>
W conjugate(const W& value) {
    if constexpr (std::is_same_v<W, double>)
        return value;
    else
        return std::conj(value);
}

inline size_t size_of_type(cudaDataType type) {  // 0: none that is computed with
    switch (type) {
        case CUDA_R_8I: return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF: return 2;
        case CUDA_R_32F:
        case CUDA_R_32I: return 4;
        case CUDA_R_64F:
        case CUDA_C_32F: return 8;
        case CUDA_C_64F: return 16;
        default: return 0;
    }
}

template <class T>
T read_as(const void* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class W>
W load_element(const void* at, cudaDataType type) {
    if constexpr (!std::is_same_v<W, double>) {
        if (type == CUDA_C_32F) return widen(read_as<cuComplex>(at));
        if (type == CUDA_C_64F) return widen(read_as<cuDoubleComplex>(at));
    }
    switch (type) {
        case CUDA_R_8I: return W(read_as<int8_t>(at));
        case CUDA_R_16F: return W(static_cast<float>(read_as<__half>(at)));
        case CUDA_R_16BF: return W(static_cast<float>(read_as<__nv_bfloat16>(at)));
        case CUDA_R_32I: return W(read_as<int32_t>(at));
        case CUDA_R_64F: return W(read_as<double>(at));
        default: return W(static_cast<double>(read_as<float>(at)));
    }
}

template <class T>
void write_as(void* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

// A double that lies between two floats, to the nearest 16-bit number: by way of the float that is odd where it is not
// exact, so that nothing is rounded twice.
inline float to_odd(double value) {
    auto near = static_cast<float>(value);
    if (!std::isfinite(near) || static_cast<double>(near) == value) return near;
    if ((read_as<uint32_t>(&near) & 1) == 0)
        near = std::nextafter(near, static_cast<double>(near) < value ? INFINITY : -INFINITY);
    return near;
}

template <class W>
void store_element(void* at, cudaDataType type, const W& value) {
    if constexpr (!std::is_same_v<W, double>) {
        if (type == CUDA_C_32F)
            write_as(at, narrow<cuComplex>(value));
        else
            write_as(at, narrow<cuDoubleComplex>(value));
    } else {
        switch (type) {
            case CUDA_R_16F: return write_as(at, __half(to_odd(value)));
            case CUDA_R_16BF: return write_as(at, __nv_bfloat16(to_odd(value)));
            case CUDA_R_32I:
                return write_as(at, static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(value))));
            case CUDA_R_64F: return write_as(at, value);
            default: return write_as(at, static_cast<float>(value));
        }
    }
}

// An operand in memory: op(A) has these rows and columns.
struct Operand {
    cublasOperation_t op;
    int64_t rows, cols;
    const void* data;
    cudaDataType type;
    int64_t ld;
    const char* name;
    bool turned() const { return op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
};

template <class W>
Dense<W> dense(BlasCall& b, const Operand& a) {
    b.demand(a.op >= CUBLAS_OP_N && a.op <= CUBLAS_OP_C);
    const size_t size = size_of_type(a.type);
    const auto* const from = a.turned() ? b.matrix(a.cols, a.rows, a.data, a.ld, size, a.name)
                                        : b.matrix(a.rows, a.cols, a.data, a.ld, size, a.name);
    if (!b.ok() || !from) return {0, 0};
    Dense<W> made(a.rows, a.cols);
    for (int64_t col = 0; col < a.cols; ++col)
        for (int64_t row = 0; row < a.rows; ++row) {
            const int64_t element = a.turned() ? col + row * a.ld : row + col * a.ld;
            const W value = load_element<W>(from + static_cast<size_t>(element) * size, a.type);
            made.at(row, col) = a.op == CUBLAS_OP_C ? conjugate(value) : value;
        }
    return made;
}

// Columns of a product, a tile at a time. The rows of a tile lie beside each other in a strip of the left matrix that
// stays in the L1 cache while it meets all columns; every sum is in registers meanwhile, and made in the order of the
// elements.
//
//                     right (deep, Cols)
//     strip (kTileRows, deep)   ->   out (kTileRows, Cols)
constexpr int64_t kTileRows = 4;

template <int64_t Cols, class W>
inline void multiply_tile(const W* strip, int64_t deep, const W* right, int64_t right_ld, W* out,
                          int64_t out_ld, int64_t rows) {
    W sums[Cols][kTileRows]{};
    for (int64_t c = 0; c < Cols; ++c) std::copy_n(out + c * out_ld, rows, sums[c]);
    for (int64_t l = 0; l < deep; ++l)
#pragma GCC unroll 4
        for (int64_t c = 0; c < Cols; ++c)
#pragma GCC unroll 4
            for (int64_t r = 0; r < kTileRows; ++r)
                sums[c][r] += strip[l * kTileRows + r] * right[c * right_ld + l];
    for (int64_t c = 0; c < Cols; ++c) std::copy_n(sums[c], rows, out + c * out_ld);
}

// columns first to end of left * right
template <class W>
void multiply_columns(const Dense<W>& left, const Dense<W>& right, Dense<W>& out, int64_t first,
                      int64_t end) {
    constexpr int64_t kCols = 4, kDeep = 256;
    std::vector<W> strip(static_cast<size_t>(kTileRows * kDeep));
    for (int64_t from = 0; from < left.cols; from += kDeep) {
        const int64_t deep = std::min(kDeep, left.cols - from);
        for (int64_t row = 0; row < left.rows; row += kTileRows) {
            const int64_t rows = std::min(kTileRows, left.rows - row);
            for (int64_t l = 0; l < deep; ++l)
                std::copy_n(&left.at(row, from + l), rows, strip.data() + l * kTileRows);
            int64_t col = first;
            for (; col + kCols <= end; col += kCols)
                multiply_tile<kCols>(strip.data(), deep, &right.at(from, col), right.rows, &out.at(row, col),
                                     out.rows, rows);
            for (; col < end; ++col)
                multiply_tile<1>(strip.data(), deep, &right.at(from, col), right.rows, &out.at(row, col),
                                 out.rows, rows);
        }
    }
}

template <class W>
Dense<W> product(const Dense<W>& left, const Dense<W>& right) {
    Dense<W> out(left.rows, right.cols);
    const double work =
        static_cast<double>(left.rows) * static_cast<double>(left.cols) * static_cast<double>(right.cols);
    const int64_t workers =
        work < 1e7 ? 1 : std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, right.cols);
    std::vector<std::thread> threads;
    for (int64_t w = 1; w < workers; ++w)
        threads.emplace_back([&, w] {
            multiply_columns(left, right, out, right.cols * w / workers, right.cols * (w + 1) / workers);
        });
    multiply_columns(left, right, out, 0, right.cols / workers);
    for (std::thread& thread : threads) thread.join();
    return out;
}

// Where a result goes: all of it, or one of its triangles.
struct Target {
    void* data;
    cudaDataType type;
    int64_t ld;
    const char* name = "C";
    bool lower = true, upper = true;
};

// C = alpha * sums + beta * C; where beta is 0, C's contents do not matter.
template <class W>
void put_result(BlasCall& b, const Dense<W>& sums, int64_t rows, int64_t cols, const W& alpha, const W& beta,
                const Target& to) {
    const size_t size = size_of_type(to.type);
    std::byte* const c = b.result_matrix(rows, cols, to.data, to.ld, size, to.name);
    if (!b.ok() || !c) return;
    for (int64_t col = 0; col < cols; ++col)
        for (int64_t row = 0; row < rows; ++row) {
            if ((row > col && !to.lower) || (row < col && !to.upper)) continue;
            std::byte* const at = c + static_cast<size_t>(col * to.ld + row) * size;
            W value = sums.data.empty() ? W{} : alpha * sums.at(row, col);
            if (beta != W{}) value += beta * load_element<W>(at, to.type);
            store_element(at, to.type, value);
        }
}

template <class W>
void gemm(BlasCall& b, const Operand& left, const Operand& right, const W& alpha, const W& beta,
          const Target& to) {
    b.demand(left.rows >= 0 && right.cols >= 0 && left.cols >= 0);
    if (!b.ok()) return;
    Dense<W> sums(0, 0);
    if (alpha != W{} && left.cols > 0) {
        const Dense<W> l = dense<W>(b, left), r = dense<W>(b, right);
        if (!b.ok()) return;
        if (left.rows > 0 && right.cols > 0) sums = product(l, r);
    }
    put_result(b, sums, left.rows, right.cols, alpha, beta, to);
}

// The pointers of a batch lie in device memory.
inline const void* nth_pointer(BlasCall& b, const void* pointers, int at, int count, const char* name) {
    const auto* const all = b.in(pointers, static_cast<uint64_t>(count) * sizeof(void*), name);
    return all ? read_as<const void*>(all + static_cast<size_t>(at) * sizeof(void*)) : nullptr;
}

}  // namespace tilescope::cudart
