// Levels 2 and 3 of cuBLAS: products of matrices, of which one may be a vector, symmetric or triangular, and systems with
// a triangular matrix.
//
// Every operand is first widened into a matrix of its own, with its transposition, symmetry or zeros worked out; what is
// left is one product or one substitution.
#include "kernels/cudart/blas_dense.h"

namespace tilescope::cudart {
namespace {

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

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

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
