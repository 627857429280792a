// Levels 2 and 3 of cuBLAS: products of matrices, of which one may be a vector, symmetric or triangular, and systems with
// a triangular matrix.
//
// Every operand is first widened into a matrix of its own, with its transposition, symmetry or zeros worked out; what is
// left is one product or one substitution.
#include <array>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "kernels/cudart/blas.h"

namespace tilescope::cudart {
namespace {

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

size_t size_of_type(cudaDataType type) {  // 0: none that is computed with
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
float to_odd(double value) {
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

// columns first to end of left * right
template <class W>
void multiply_columns(const Dense<W>& left, const Dense<W>& right, Dense<W>& out, int64_t first,
                      int64_t end) {
    constexpr int64_t kAtOnce = 4;
    const auto m = static_cast<size_t>(left.rows);
    for (int64_t col = first; col < end; col += kAtOnce) {
        const int64_t width = std::min(kAtOnce, end - col);
        for (int64_t l = 0; l < left.cols; ++l) {
            const W* const a = left.data.data() + static_cast<size_t>(l) * m;
            for (int64_t c = 0; c < width; ++c) {
                const W factor = right.at(l, col + c);
                W* const sums = out.data.data() + static_cast<size_t>(col + c) * m;
                for (size_t i = 0; i < m; ++i) sums[i] += a[i] * factor;
            }
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

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;

// The triangle of A that `lower` names, as a whole matrix: the other half its mirror image, or zeros.
template <class T>
Dense<Wide<T>> half_of(BlasCall& b, cublasFillMode_t uplo, int64_t n, const T* A, int64_t lda, bool mirrored,
                       bool unit = false) {
    using W = Wide<T>;
    b.demand(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
    Dense<W> all = dense<W>(b, {CUBLAS_OP_N, n, n, A, kType<T>, lda, "A"});
    if (!b.ok() || all.data.empty()) return all;
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
    for (int64_t col = 0; col < n; ++col)
        for (int64_t row = 0; row < n; ++row) {
            if (row == col && unit) all.at(row, col) = W(1.0);
            if (row != col && (row > col) != lower) all.at(row, col) = mirrored ? all.at(col, row) : W{};
        }
    return all;
}

template <class W>
Dense<W> transposed(const Dense<W>& a, bool conjugated) {
    Dense<W> made(a.cols, a.rows);
    for (int64_t col = 0; col < a.cols; ++col)
        for (int64_t row = 0; row < a.rows; ++row)
            made.at(col, row) = conjugated ? conjugate(a.at(row, col)) : a.at(row, col);
    return made;
}

// A triangular matrix as its operation makes it, and which half of that is filled.
template <class T>
struct Triangle {
    Dense<Wide<T>> matrix;
    bool lower;
    Triangle(BlasCall& b, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int64_t n,
             const T* A, int64_t lda)
        : matrix(half_of(b, uplo, n, A, lda, false, diag == CUBLAS_DIAG_UNIT)),
          lower((uplo == CUBLAS_FILL_MODE_LOWER) == (trans == CUBLAS_OP_N)) {
        b.demand(trans >= CUBLAS_OP_N && trans <= CUBLAS_OP_C);
        if (trans != CUBLAS_OP_N) matrix = transposed(matrix, trans == CUBLAS_OP_C);
    }
};

// Solves triangle * X = B in B's place.
template <class W>
void solve(const Dense<W>& triangle, bool lower, Dense<W>& x) {
    const int64_t n = triangle.rows;
    for (int64_t col = 0; col < x.cols; ++col)
        for (int64_t k = 0; k < n; ++k) {
            const int64_t row = lower ? k : n - 1 - k;
            W value = x.at(row, col);
            for (int64_t j = lower ? 0 : row + 1, end = lower ? row : n; j < end; ++j)
                value -= triangle.at(row, j) * x.at(j, col);
            x.at(row, col) = value / triangle.at(row, row);
        }
}

// A vector as a matrix of one column, and back.
template <class T>
Dense<Wide<T>> column(BlasCall& b, int n, const T* x, int inc, const char* name) {
    b.demand(n >= 0 && inc != 0);
    const auto from = b.vector(n, x, inc, name);
    if (!b.ok() || !from.first) return {0, 0};
    Dense<Wide<T>> made(n, 1);
    for (int i = 0; i < n; ++i) made.at(i, 0) = widen(from[i]);
    return made;
}
template <class T>
void put_column(BlasCall& b, const Dense<Wide<T>>& sums, int n, const Wide<T>& alpha, const Wide<T>& beta,
                T* y, int inc, const char* name) {
    b.demand(inc != 0);
    const auto to = b.result_vector(n, y, inc, name);
    if (!b.ok() || !to.first) return;
    for (int i = 0; i < n; ++i) {
        Wide<T> value = sums.data.empty() ? Wide<T>{} : alpha * sums.at(i, 0);
        if (beta != Wide<T>{}) value += beta * widen(to[i]);
        to[i] = narrow<T>(value);
    }
}

template <class T>
void gemv(BlasCall& b, cublasOperation_t trans, int m, int n, const T* alpha, const T* A, int lda, const T* x,
          int incx, const T* beta, T* y, int incy) {
    const auto a = widen(b.scalar(alpha, "alpha")), c = widen(b.scalar(beta, "beta"));
    const int rows = trans == CUBLAS_OP_N ? m : n, cols = trans == CUBLAS_OP_N ? n : m;
    const auto matrix = dense<Wide<T>>(b, {trans, rows, cols, A, kType<T>, lda, "A"});
    const auto vector = column(b, cols, x, incx, "x");
    if (b.ok() && !matrix.data.empty())
        put_column(b, product(matrix, vector), rows, a, c, y, incy, "y");
    else if (b.ok())
        put_column(b, Dense<Wide<T>>(0, 0), rows, a, c, y, incy, "y");
}

template <class T>
void symv(BlasCall& b, cublasFillMode_t uplo, int n, const T* alpha, const T* A, int lda, const T* x,
          int incx, const T* beta, T* y, int incy) {
    const auto a = widen(b.scalar(alpha, "alpha")), c = widen(b.scalar(beta, "beta"));
    const auto matrix = half_of(b, uplo, n, A, lda, true);
    const auto vector = column(b, n, x, incx, "x");
    if (b.ok() && n > 0) put_column(b, product(matrix, vector), n, a, c, y, incy, "y");
}

template <class T>
void trv(BlasCall& b, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int n,
         const T* A, int lda, T* x, int incx, bool solved) {
    const Triangle<T> triangle(b, uplo, trans, diag, n, A, lda);
    auto vector = column<T>(b, n, x, incx, "x");
    if (!b.ok() || n == 0) return;
    if (solved)
        solve(triangle.matrix, triangle.lower, vector);
    else
        vector = product(triangle.matrix, vector);
    put_column(b, vector, n, Wide<T>(1.0), Wide<T>{}, x, incx, "x");
}

template <class T>
void ger(BlasCall& b, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* A, int lda,
         bool conjugated) {
    const auto a = widen(b.scalar(alpha, "alpha"));
    const auto left = column(b, m, x, incx, "x"), right = column(b, n, y, incy, "y");
    if (!b.ok() || m == 0 || n == 0) return;
    put_result(b, product(left, transposed(right, conjugated)), m, n, a, Wide<T>(1.0),
               {A, kType<T>, lda, "A"});
}

template <class T>
void gemm_of(BlasCall& b, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha,
             const T* A, int lda, const T* B, int ldb, const T* beta, T* C, int ldc) {
    using W = std::conditional_t<std::is_same_v<T, __half>, double, Wide<T>>;
    const auto wide = [](const T& value) { return load_element<W>(&value, kType<T>); };
    const W a = wide(b.scalar(alpha, "alpha")), c = wide(b.scalar(beta, "beta"));
    gemm<W>(b, {ta, m, k, A, kType<T>, lda, "A"}, {tb, k, n, B, kType<T>, ldb, "B"}, a, c,
            {C, kType<T>, ldc});
}

// The pointers of a batch lie in device memory.
const void* nth_pointer(BlasCall& b, const void* pointers, int at, int count, const char* name) {
    const auto* const all = b.in(pointers, static_cast<uint64_t>(count) * sizeof(void*), name);
    return all ? read_as<const void*>(all + static_cast<size_t>(at) * sizeof(void*)) : nullptr;
}

template <class T>
void gemm_batch(BlasCall& b, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T* alpha,
                const T* const A[], int lda, const T* const B[], int ldb, const T* beta, T* const C[],
                int ldc, int count) {
    b.demand(count >= 0);
    for (int i = 0; i < count && b.ok(); ++i)
        gemm_of(b, ta, tb, m, n, k, alpha, static_cast<const T*>(nth_pointer(b, A, i, count, "A")), lda,
                static_cast<const T*>(nth_pointer(b, B, i, count, "B")), ldb, beta,
                static_cast<T*>(const_cast<void*>(nth_pointer(b, C, i, count, "C"))), ldc);
}

template <class T>
void gemm_strided(BlasCall& b, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                  const T* alpha, const T* A, int lda, long long sa, const T* B, int ldb, long long sb,
                  const T* beta, T* C, int ldc, long long sc, int count) {
    b.demand(count >= 0);
    for (int i = 0; i < count && b.ok(); ++i)
        gemm_of(b, ta, tb, m, n, k, alpha, A + i * sa, lda, B + i * sb, ldb, beta, C + i * sc, ldc);
}

template <class T>
void symm(BlasCall& b, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const T* alpha, const T* A,
          int lda, const T* B, int ldb, const T* beta, T* C, int ldc) {
    const auto a = widen(b.scalar(alpha, "alpha")), c = widen(b.scalar(beta, "beta"));
    const bool left = side == CUBLAS_SIDE_LEFT;
    const auto symmetric = half_of(b, uplo, left ? m : n, A, lda, true);
    const auto other = dense<Wide<T>>(b, {CUBLAS_OP_N, m, n, B, kType<T>, ldb, "B"});
    if (!b.ok() || m == 0 || n == 0) return;
    put_result(b, left ? product(symmetric, other) : product(other, symmetric), m, n, a, c,
               {C, kType<T>, ldc});
}

template <class T>
void syrk(BlasCall& b, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const T* alpha,
          const T* A, int lda, const T* beta, T* C, int ldc) {
    const auto a = widen(b.scalar(alpha, "alpha")), c = widen(b.scalar(beta, "beta"));
    b.demand(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
    const cublasOperation_t other = trans == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;
    gemm<Wide<T>>(b, {trans, n, k, A, kType<T>, lda, "A"}, {other, k, n, A, kType<T>, lda, "A"}, a, c,
                  {C, kType<T>, ldc, "C", lower, !lower});
}

template <class T>
void trmm(BlasCall& b, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
          cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda, const T* B, int ldb, T* C,
          int ldc) {
    const auto a = widen(b.scalar(alpha, "alpha"));
    const bool left = side == CUBLAS_SIDE_LEFT;
    const Triangle<T> triangle(b, uplo, trans, diag, left ? m : n, A, lda);
    const auto other = dense<Wide<T>>(b, {CUBLAS_OP_N, m, n, B, kType<T>, ldb, "B"});
    if (!b.ok() || m == 0 || n == 0) return;
    put_result(b, left ? product(triangle.matrix, other) : product(other, triangle.matrix), m, n, a,
               Wide<T>{}, {C, kType<T>, ldc});
}

template <class T>
void trsm(BlasCall& b, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
          cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda, T* B, int ldb) {
    const auto a = widen(b.scalar(alpha, "alpha"));
    const bool left = side == CUBLAS_SIDE_LEFT;
    const Triangle<T> triangle(b, uplo, trans, diag, left ? m : n, A, lda);
    auto x = dense<Wide<T>>(b, {CUBLAS_OP_N, m, n, B, kType<T>, ldb, "B"});
    if (!b.ok() || m == 0 || n == 0) return;
    for (auto& value : x.data) value *= a;
    if (left) {
        solve(triangle.matrix, triangle.lower, x);
    } else {  // the transposed system
        auto turned = transposed(x, false);
        solve(transposed(triangle.matrix, false), !triangle.lower, turned);
        x = transposed(turned, false);
    }
    put_result(b, x, m, n, Wide<T>(1.0), Wide<T>{}, {B, kType<T>, ldb, "B"});
}

template <class T>
void geam(BlasCall& b, cublasOperation_t ta, cublasOperation_t tb, int m, int n, const T* alpha, const T* A,
          int lda, const T* beta, const T* B, int ldb, T* C, int ldc) {
    using W = Wide<T>;
    const W a = widen(b.scalar(alpha, "alpha")), c = widen(b.scalar(beta, "beta"));
    b.demand(m >= 0 && n >= 0);
    if (!b.ok() || m == 0 || n == 0) return;
    Dense<W> sum(m, n);
    const auto add = [&](const W& factor, const Operand& operand) {
        if (factor == W{}) return;
        const Dense<W> matrix = dense<W>(b, operand);
        for (size_t i = 0; i < matrix.data.size(); ++i) sum.data[i] += factor * matrix.data[i];
    };
    add(a, {ta, m, n, A, kType<T>, lda, "A"});
    add(c, {tb, m, n, B, kType<T>, ldb, "B"});
    if (b.ok()) put_result(b, sum, m, n, W(1.0), W{}, {C, kType<T>, ldc});
}

template <class T>
void dgmm(BlasCall& b, cublasSideMode_t side, int m, int n, const T* A, int lda, const T* x, int incx, T* C,
          int ldc) {
    const bool left = side == CUBLAS_SIDE_LEFT;
    auto matrix = dense<Wide<T>>(b, {CUBLAS_OP_N, m, n, A, kType<T>, lda, "A"});
    const auto diagonal = b.vector(left ? m : n, x, incx, "x");
    if (!b.ok() || m == 0 || n == 0) return;
    for (int64_t col = 0; col < n; ++col)
        for (int64_t row = 0; row < m; ++row) matrix.at(row, col) *= widen(diagonal[left ? row : col]);
    put_result(b, matrix, m, n, Wide<T>(1.0), Wide<T>{}, {C, kType<T>, ldc});
}

// --- types that are named when it runs

struct MixedGemm {
    cublasOperation_t ta, tb;
    int m, n, k;
    const void *alpha, *beta;
    cudaDataType a, b, c, scale;
    int lda, ldb, ldc;
};

// The type of alpha and beta.
cudaDataType scale_type(cublasComputeType_t compute, cudaDataType c) {
    const bool complex = c == CUDA_C_32F || c == CUDA_C_64F;
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC: return complex ? CUDA_C_64F : CUDA_R_64F;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
        default: return complex ? CUDA_C_32F : CUDA_R_32F;
    }
}

bool go_together(const MixedGemm& g) {
    if (g.a != g.b || size_of_type(g.a) == 0 || size_of_type(g.c) == 0) return false;
    switch (g.a) {
        case CUDA_R_8I: return g.c == (g.scale == CUDA_R_32I ? CUDA_R_32I : CUDA_R_32F);
        case CUDA_R_16F: return g.c == CUDA_R_16F || (g.c == CUDA_R_32F && g.scale == CUDA_R_32F);
        case CUDA_R_16BF: return (g.c == CUDA_R_16BF || g.c == CUDA_R_32F) && g.scale == CUDA_R_32F;
        case CUDA_R_32F:
        case CUDA_R_64F:
        case CUDA_C_32F:
        case CUDA_C_64F: return g.c == g.a && g.scale == g.a;
        default: return false;
    }
}

template <class W>
void mixed(BlasCall& b, const MixedGemm& g, const void* A, const void* B, void* C) {
    const size_t size = size_of_type(g.scale);
    const void *const alpha = b.scalar_place(g.alpha, size, "alpha"), *const beta = b.scalar_place(
                                                                          g.beta, size, "beta");
    if (!b.ok()) return;
    gemm<W>(b, {g.ta, g.m, g.k, A, g.a, g.lda, "A"}, {g.tb, g.k, g.n, B, g.b, g.ldb, "B"},
            load_element<W>(alpha, g.scale), load_element<W>(beta, g.scale), {C, g.c, g.ldc});
}

// `of` gives A, B and C of each product of a batch.
template <class Of>
void mixed_batch(BlasCall& b, const MixedGemm& g, int count, Of of) {
    b.demand(count >= 0);
    b.demand(go_together(g), CUBLAS_STATUS_NOT_SUPPORTED);
    for (int i = 0; i < count && b.ok(); ++i) {
        const std::array<const void*, 3> each = of(i);
        if (!b.ok()) return;
        if (g.c == CUDA_C_32F || g.c == CUDA_C_64F)
            mixed<std::complex<double>>(b, g, each[0], each[1], const_cast<void*>(each[2]));
        else
            mixed<double>(b, g, each[0], each[1], const_cast<void*>(each[2]));
    }
}

const void* moved(const void* base, long long elements, cudaDataType type) {
    return static_cast<const std::byte*>(base) + elements * static_cast<long long>(size_of_type(type));
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

#define BLAS(name, ...) return blas(name, h, [&](BlasCall& b) { __VA_ARGS__; })
#define MATRIX(X, x_, T, R, Size, h)                                                                         \
    cublasStatus_t cublas##X##gemv(h, cublasOperation_t trans, int m, int n, const T* alpha, const T* A,     \
                                   int lda, const T* x, int incx, const T* beta, T* y, int incy) {           \
        BLAS("cublas" #X "gemv", gemv(b, trans, m, n, alpha, A, lda, x, incx, beta, y, incy));               \
    }                                                                                                        \
    cublasStatus_t cublas##X##symv(h, cublasFillMode_t uplo, int n, const T* alpha, const T* A, int lda,     \
                                   const T* x, int incx, const T* beta, T* y, int incy) {                    \
        BLAS("cublas" #X "symv", symv(b, uplo, n, alpha, A, lda, x, incx, beta, y, incy));                   \
    }                                                                                                        \
    cublasStatus_t cublas##X##trmv(h, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, \
                                   int n, const T* A, int lda, T* x, int incx) {                             \
        BLAS("cublas" #X "trmv", trv(b, uplo, trans, diag, n, A, lda, x, incx, false));                      \
    }                                                                                                        \
    cublasStatus_t cublas##X##trsv(h, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, \
                                   int n, const T* A, int lda, T* x, int incx) {                             \
        BLAS("cublas" #X "trsv", trv(b, uplo, trans, diag, n, A, lda, x, incx, true));                       \
    }                                                                                                        \
    cublasStatus_t cublas##X##gemm(h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,       \
                                   const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta,  \
                                   T* C, int ldc) {                                                          \
        BLAS("cublas" #X "gemm", gemm_of(b, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc));          \
    }                                                                                                        \
    cublasStatus_t cublas##X##gemmBatched(h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,       \
                                          int k, const T* alpha, const T* const A[], int lda,                \
                                          const T* const B[], int ldb, const T* beta, T* const C[], int ldc, \
                                          int count) {                                                       \
        BLAS("cublas" #X "gemmBatched",                                                                      \
             gemm_batch(b, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, count));                    \
    }                                                                                                        \
    cublasStatus_t cublas##X##gemmStridedBatched(h, cublasOperation_t ta, cublasOperation_t tb, int m,       \
                                                 int n, int k, const T* alpha, const T* A, int lda,          \
                                                 long long sa, const T* B, int ldb, long long sb,            \
                                                 const T* beta, T* C, int ldc, long long sc, int count) {    \
        BLAS("cublas" #X "gemmStridedBatched",                                                               \
             gemm_strided(b, ta, tb, m, n, k, alpha, A, lda, sa, B, ldb, sb, beta, C, ldc, sc, count));      \
    }                                                                                                        \
    cublasStatus_t cublas##X##symm(h, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,            \
                                   const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta,  \
                                   T* C, int ldc) {                                                          \
        BLAS("cublas" #X "symm", symm(b, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc));            \
    }                                                                                                        \
    cublasStatus_t cublas##X##syrk(h, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,          \
                                   const T* alpha, const T* A, int lda, const T* beta, T* C, int ldc) {      \
        BLAS("cublas" #X "syrk", syrk(b, uplo, trans, n, k, alpha, A, lda, beta, C, ldc));                   \
    }                                                                                                        \
    cublasStatus_t cublas##X##trmm(h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
                                   cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda, \
                                   const T* B, int ldb, T* C, int ldc) {                                     \
        BLAS("cublas" #X "trmm", trmm(b, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, ldc));     \
    }                                                                                                        \
    cublasStatus_t cublas##X##trsm(h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
                                   cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda, \
                                   T* B, int ldb) {                                                          \
        BLAS("cublas" #X "trsm", trsm(b, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb));             \
    }                                                                                                        \
    cublasStatus_t cublas##X##geam(h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,              \
                                   const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb,  \
                                   T* C, int ldc) {                                                          \
        BLAS("cublas" #X "geam", geam(b, ta, tb, m, n, alpha, A, lda, beta, B, ldb, C, ldc));                \
    }                                                                                                        \
    cublasStatus_t cublas##X##dgmm(h, cublasSideMode_t side, int m, int n, const T* A, int lda, const T* x,  \
                                   int incx, T* C, int ldc) {                                                \
        BLAS("cublas" #X "dgmm", dgmm(b, side, m, n, A, lda, x, incx, C, ldc));                              \
    }
TILESCOPE_BLAS_EACH(MATRIX, cublasHandle_t h)

#define OUTER(function, T, h)                                                                            \
    cublasStatus_t function(h, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, \
                            T* A, int lda) {                                                             \
        BLAS(#function,                                                                                  \
             ger(b, m, n, alpha, x, incx, y, incy, A, lda, std::string_view(#function).back() == 'c'));  \
    }
TILESCOPE_BLAS_OUTER(OUTER, cublasHandle_t h)

cublasStatus_t cublasHgemm(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                           const __half* alpha, const __half* A, int lda, const __half* B, int ldb,
                           const __half* beta, __half* C, int ldc) {
    BLAS("cublasHgemm", gemm_of(b, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc));
}
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                                         int n, int k, const __half* alpha, const __half* A, int lda,
                                         long long sa, const __half* B, int ldb, long long sb,
                                         const __half* beta, __half* C, int ldc, long long sc, int count) {
    BLAS("cublasHgemmStridedBatched",
         gemm_strided(b, ta, tb, m, n, k, alpha, A, lda, sa, B, ldb, sb, beta, C, ldc, sc, count));
}

cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* alpha, const void* A, cudaDataType a, int lda, const void* B,
                            cudaDataType type_b, int ldb, const void* beta, void* C, cudaDataType c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    const MixedGemm g{ta, tb, m, n, k, alpha, beta, a, type_b, c, scale_type(compute, c), lda, ldb, ldc};
    BLAS("cublasGemmEx", mixed_batch(b, g, 1, [&](int) { return std::array<const void*, 3>{A, B, C}; }));
}
cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                             int k, const float* alpha, const void* A, cudaDataType a, int lda, const void* B,
                             cudaDataType type_b, int ldb, const float* beta, void* C, cudaDataType c,
                             int ldc) {
    const MixedGemm g{ta,  tb,  m,  n, k, alpha, beta, a, type_b, c, scale_type(CUBLAS_COMPUTE_32F, c),
                      lda, ldb, ldc};
    BLAS("cublasSgemmEx", mixed_batch(b, g, 1, [&](int) { return std::array<const void*, 3>{A, B, C}; }));
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void* alpha, const void* const A[], cudaDataType a, int lda,
                                   const void* const B[], cudaDataType type_b, int ldb, const void* beta,
                                   void* const C[], cudaDataType c, int ldc, int count,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
    const MixedGemm g{ta, tb, m, n, k, alpha, beta, a, type_b, c, scale_type(compute, c), lda, ldb, ldc};
    BLAS("cublasGemmBatchedEx", mixed_batch(b, g, count, [&](int i) {
             return std::array<const void*, 3>{nth_pointer(b, A, i, count, "A"),
                                               nth_pointer(b, B, i, count, "B"),
                                               nth_pointer(b, C, i, count, "C")};
         }));
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                                          int n, int k, const void* alpha, const void* A, cudaDataType a,
                                          int lda, long long sa, const void* B, cudaDataType type_b, int ldb,
                                          long long sb, const void* beta, void* C, cudaDataType c, int ldc,
                                          long long sc, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
    const MixedGemm g{ta, tb, m, n, k, alpha, beta, a, type_b, c, scale_type(compute, c), lda, ldb, ldc};
    BLAS("cublasGemmStridedBatchedEx", mixed_batch(b, g, count, [&](int i) {
             return std::array<const void*, 3>{moved(A, i * sa, a), moved(B, i * sb, type_b),
                                               moved(C, i * sc, c)};
         }));
}
