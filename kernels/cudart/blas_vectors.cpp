// Level 1 of cuBLAS: vectors.
#include <cmath>

#include "kernels/cudart/blas.h"

namespace tilescope::cudart {
namespace {

template <class T>
double size_of_number(const T& value) {  // as i?amax and asum have it
    if constexpr (kComplex<T>)
        return std::abs(static_cast<double>(value.x)) + std::abs(static_cast<double>(value.y));
    else
        return std::abs(static_cast<double>(value));
}

template <class T>
void axpy(BlasCall& b, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
    const auto a = widen(b.scalar(alpha, "alpha"));
    const auto from = b.vector(n, x, incx, "x");
    const auto to = b.result_vector(n, y, incy, "y");
    if (!b.ok()) return;
    for (ptrdiff_t i = 0; i < n; ++i) to[i] = narrow<T>(a * widen(from[i]) + widen(to[i]));
}

template <class T, class Scale>
void scal(BlasCall& b, int n, const Scale* alpha, T* x, int incx) {
    const Wide<T> a = widen(b.scalar(alpha, "alpha"));
    const auto to = b.result_vector(n, x, incx, "x");
    if (!b.ok()) return;
    for (ptrdiff_t i = 0; i < n; ++i) to[i] = narrow<T>(a * widen(to[i]));
}

template <class T>
void copy_vector(BlasCall& b, int n, const T* x, int incx, T* y, int incy) {
    const auto from = b.vector(n, x, incx, "x");
    const auto to = b.result_vector(n, y, incy, "y");
    if (!b.ok()) return;
    for (ptrdiff_t i = 0; i < n; ++i) to[i] = from[i];
}

template <class T>
void swap_vectors(BlasCall& b, int n, T* x, int incx, T* y, int incy) {
    const auto one = b.result_vector(n, x, incx, "x"), other = b.result_vector(n, y, incy, "y");
    if (!b.ok()) return;
    for (ptrdiff_t i = 0; i < n; ++i) std::swap(one[i], other[i]);
}

template <class T, class Size>
void nrm2(BlasCall& b, int n, const T* x, int incx, Size* result) {
    const auto from = b.vector(n, x, incx, "x");
    if (!b.ok()) return;
    // Scaled by the largest part, so that no square of a double overflows or vanishes.
    double largest = 0, sum = 0;
    for (ptrdiff_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(widen(from[i])));
    for (ptrdiff_t i = 0; i < n && largest > 0 && std::isfinite(largest); ++i)
        sum += std::norm(widen(from[i]) / largest);
    b.give(result, static_cast<Size>(std::isfinite(largest) ? largest * std::sqrt(sum) : largest));
}

template <class T, class Size>
void asum(BlasCall& b, int n, const T* x, int incx, Size* result) {
    const auto from = b.vector(n, x, incx, "x");
    if (!b.ok()) return;
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; ++i) sum += size_of_number(from[i]);
    b.give(result, static_cast<Size>(sum));
}

// Counted from 1; the first of equal ones; 0 for an empty vector.
template <class T>
void extreme(BlasCall& b, int n, const T* x, int incx, int* result, bool largest) {
    const auto from = b.vector(n, x, incx, "x");
    if (!b.ok()) return;
    int found = n > 0 && incx > 0 ? 1 : 0;
    for (int i = 1; i < n && found; ++i) {
        const double now = size_of_number(from[i]), best = size_of_number(from[found - 1]);
        if (largest ? now > best : now < best) found = i + 1;
    }
    b.give(result, found);
}

template <class T>
void dot(BlasCall& b, int n, const T* x, int incx, const T* y, int incy, T* result, bool conjugate) {
    const auto one = b.vector(n, x, incx, "x"), other = b.vector(n, y, incy, "y");
    if (!b.ok()) return;
    Wide<T> sum{};
    for (ptrdiff_t i = 0; i < n; ++i) {
        Wide<T> factor = widen(one[i]);
        if constexpr (kComplex<T>)
            if (conjugate) factor = std::conj(factor);
        sum += factor * widen(other[i]);
    }
    static_cast<void>(conjugate);
    b.give(result, narrow<T>(sum));
}

template <class T>
void rot(BlasCall& b, int n, T* x, int incx, T* y, int incy, const T* c, const T* s) {
    const double cosine = b.scalar(c, "c"), sine = b.scalar(s, "s");
    const auto one = b.result_vector(n, x, incx, "x"), other = b.result_vector(n, y, incy, "y");
    if (!b.ok()) return;
    for (ptrdiff_t i = 0; i < n; ++i) {
        const double u = one[i], v = other[i];
        one[i] = static_cast<T>(cosine * u + sine * v);
        other[i] = static_cast<T>(cosine * v - sine * u);
    }
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

#define EACH(X, x_, T, R, Size, h)                                                                   \
    cublasStatus_t cublas##X##axpy(h, int n, const T* alpha, const T* x, int incx, T* y, int incy) { \
        BLAS("cublas" #X "axpy", axpy(b, n, alpha, x, incx, y, incy));                               \
    }                                                                                                \
    cublasStatus_t cublas##X##scal(h, int n, const T* alpha, T* x, int incx) {                       \
        BLAS("cublas" #X "scal", scal(b, n, alpha, x, incx));                                        \
    }                                                                                                \
    cublasStatus_t cublas##X##copy(h, int n, const T* x, int incx, T* y, int incy) {                 \
        BLAS("cublas" #X "copy", copy_vector(b, n, x, incx, y, incy));                               \
    }                                                                                                \
    cublasStatus_t cublas##X##swap(h, int n, T* x, int incx, T* y, int incy) {                       \
        BLAS("cublas" #X "swap", swap_vectors(b, n, x, incx, y, incy));                              \
    }                                                                                                \
    cublasStatus_t cublas##R##nrm2(h, int n, const T* x, int incx, Size* result) {                   \
        BLAS("cublas" #R "nrm2", nrm2(b, n, x, incx, result));                                       \
    }                                                                                                \
    cublasStatus_t cublas##R##asum(h, int n, const T* x, int incx, Size* result) {                   \
        BLAS("cublas" #R "asum", asum(b, n, x, incx, result));                                       \
    }                                                                                                \
    cublasStatus_t cublasI##x_##amax(h, int n, const T* x, int incx, int* result) {                  \
        BLAS("cublasI" #x_ "amax", extreme(b, n, x, incx, result, true));                            \
    }                                                                                                \
    cublasStatus_t cublasI##x_##amin(h, int n, const T* x, int incx, int* result) {                  \
        BLAS("cublasI" #x_ "amin", extreme(b, n, x, incx, result, false));                           \
    }
TILESCOPE_BLAS_EACH(EACH, cublasHandle_t h)

#define PAIR(function, T, h)                                                                             \
    cublasStatus_t function(h, int n, const T* x, int incx, const T* y, int incy, T* result) {           \
        BLAS(#function, dot(b, n, x, incx, y, incy, result, std::string_view(#function).back() == 'c')); \
    }
TILESCOPE_BLAS_PAIRS(PAIR, cublasHandle_t h)

cublasStatus_t cublasCsscal(cublasHandle_t h, int n, const float* alpha, cuComplex* x, int incx) {
    BLAS("cublasCsscal", scal(b, n, alpha, x, incx));
}
cublasStatus_t cublasZdscal(cublasHandle_t h, int n, const double* alpha, cuDoubleComplex* x, int incx) {
    BLAS("cublasZdscal", scal(b, n, alpha, x, incx));
}
cublasStatus_t cublasSrot(cublasHandle_t h, int n, float* x, int incx, float* y, int incy, const float* c,
                          const float* s) {
    BLAS("cublasSrot", rot(b, n, x, incx, y, incy, c, s));
}
cublasStatus_t cublasDrot(cublasHandle_t h, int n, double* x, int incx, double* y, int incy, const double* c,
                          const double* s) {
    BLAS("cublasDrot", rot(b, n, x, incx, y, incy, c, s));
}
