// cuBLAS on the CPU: a call with its handle, and how it finds vectors, matrices and scalars.
//
//   api_blas.cpp        handles, settings, copies
//   blas_vectors.cpp    Level 1
//   blas_matrices.cpp   Levels 2 and 3, on what blas_dense.h has
//   blas_mixed.cpp      products whose types are named when it runs
//
// Everything is computed in Wide<T> (double, or complex of it), in the order of the elements, and rounded once.
//
// Source: cuBLAS Library, "Using the cuBLAS API"; the operations are those of the reference BLAS.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "kernels/cudart/include/cublas_v2.h"
#include "kernels/cudart/library.h"

struct cublasContext {
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cudaStream_t stream = nullptr;
};

// The body of a function of cuBLAS, whose handle is h.
#define BLAS(name, ...) return blas(name, h, [&](BlasCall& b) { __VA_ARGS__; })

namespace tilescope::cudart {

template <class T>
inline constexpr bool kComplex = !std::is_arithmetic_v<T>;  // cuComplex, cuDoubleComplex
template <class T>
using Wide = std::conditional_t<kComplex<T>, std::complex<double>, double>;

template <class T>
Wide<T> widen(const T& value) {
    if constexpr (kComplex<T>)
        return {static_cast<double>(value.x), static_cast<double>(value.y)};
    else
        return static_cast<double>(value);
}
template <class T>
T narrow(const Wide<T>& value) {
    if constexpr (kComplex<T>) {
        T made;
        made.x = static_cast<decltype(made.x)>(value.real());
        made.y = static_cast<decltype(made.y)>(value.imag());
        return made;
    } else {
        return static_cast<T>(value);
    }
}

// Elements of a vector, `step` apart; null where the call has failed or there are none.
template <class T>
struct Strided {
    T* first = nullptr;
    ptrdiff_t step = 1;
    T& operator[](ptrdiff_t i) const { return first[i * step]; }
};

class BlasCall : public LibraryCall {
public:
    BlasCall(Runtime& r, const char* name, cublasHandle_t handle) : LibraryCall(r, name), handle_(*handle) {}

    // False, with that status, where an argument is none that cuBLAS takes.
    bool demand(bool holds, cublasStatus_t otherwise = CUBLAS_STATUS_INVALID_VALUE) {
        if (!holds && status_ == CUBLAS_STATUS_SUCCESS) status_ = otherwise;
        return holds;
    }
    bool ok() const { return !failed() && status_ == CUBLAS_STATUS_SUCCESS; }
    cublasStatus_t status() const { return failed() ? CUBLAS_STATUS_EXECUTION_FAILED : status_; }

    // n elements; a negative increment begins at the last one.
    template <class T>
    Strided<const T> vector(int n, const T* x, int inc, const char* what) {
        return strided<const T>(n, in(x, bytes_of<T>(n, inc), what), inc);
    }
    template <class T>
    Strided<T> result_vector(int n, T* x, int inc, const char* what) {
        return strided<T>(n, out(x, bytes_of<T>(n, inc), what), inc);
    }
    // rows * cols elements of `size` bytes, with columns that begin ld elements apart.
    const std::byte* matrix(int64_t rows, int64_t cols, const void* a, int64_t ld, size_t size,
                            const char* what) {
        return in(a, matrix_bytes(rows, cols, ld, size), what);
    }
    std::byte* result_matrix(int64_t rows, int64_t cols, void* a, int64_t ld, size_t size, const char* what) {
        return out(a, matrix_bytes(rows, cols, ld, size), what);
    }
    // A scalar of the host's or the device's memory, as the pointer mode says.
    template <class T>
    T scalar(const T* at, const char* what) {
        const void* const place = scalar_place(at, sizeof(T), what);
        return place ? *static_cast<const T*>(place) : T{};
    }
    const void* scalar_place(const void* at, size_t bytes, const char* what);
    // Takes a result to where the pointer mode says.
    template <class T>
    void give(T* at, const T& value) {
        if (!ok()) return;
        if (handle_.pointers == CUBLAS_POINTER_MODE_DEVICE) {
            if (auto* const place = out(at, sizeof(T), "the result")) *reinterpret_cast<T*>(place) = value;
        } else if (demand(at != nullptr) && demand_host(at, "the result")) {
            *at = value;
        }
    }

private:
    template <class T>
    uint64_t bytes_of(int n, int inc) {
        if (n <= 0) return 0;
        return (static_cast<uint64_t>(n - 1) * static_cast<uint64_t>(std::llabs(inc)) + 1) * sizeof(T);
    }
    template <class T, class Byte>
    Strided<T> strided(int n, Byte* bytes, int inc) {
        auto* const first = reinterpret_cast<T*>(bytes);
        return {first && inc < 0 ? first + static_cast<ptrdiff_t>(1 - n) * inc : first, inc};
    }
    uint64_t matrix_bytes(int64_t rows, int64_t cols, int64_t ld, size_t size);
    bool demand_host(const void* at, const char* what);

    const cublasContext& handle_;
    cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// What every function of cuBLAS is: under the runtime's lock, with a handle, not after a fault.
template <class Body>
cublasStatus_t blas(const char* name, cublasHandle_t handle, Body body) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasStatus_t status = CUBLAS_STATUS_EXECUTION_FAILED;
    const cudaError_t error = call([&](Runtime& r) {
        BlasCall one(r, name, handle);
        body(one);
        status = one.status();
        return cudaSuccess;
    });
    return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
           : error != cudaSuccess             ? CUBLAS_STATUS_EXECUTION_FAILED
                                              : status;
}

}  // namespace tilescope::cudart
