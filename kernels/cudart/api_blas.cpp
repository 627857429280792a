// The functions of cuBLAS that compute nothing: handles, settings, copies of vectors and matrices.
#include <array>

#include <fmt/format.h>

#include "kernels/cudart/blas.h"

namespace tilescope::cudart {

const void* BlasCall::scalar_place(const void* at, size_t bytes, const char* what) {
    if (handle_.pointers == CUBLAS_POINTER_MODE_DEVICE) return in(at, bytes, what);
    return demand(at != nullptr) && demand_host(at, what) ? at : nullptr;
}

bool BlasCall::demand_host(const void* at, const char* what) {
    const Allocation* const one = runtime_.memory.find(at);
    if (!one || one->on_host()) return true;
    say(
        fmt::format("{} of {} lies in device memory; give the address of a host variable, or call "
                    "cublasSetPointerMode with CUBLAS_POINTER_MODE_DEVICE",
                    what, name()));
    failed_ = true;
    return false;
}

uint64_t BlasCall::matrix_bytes(int64_t rows, int64_t cols, int64_t ld, size_t size) {
    if (!demand(rows >= 0 && cols >= 0 && ld >= std::max<int64_t>(1, rows)) || rows == 0 || cols == 0)
        return 0;
    return (static_cast<uint64_t>(cols - 1) * static_cast<uint64_t>(ld) + static_cast<uint64_t>(rows)) * size;
}

namespace {

struct StatusRow {
    cublasStatus_t status;
    const char *name, *words;
};
constexpr std::array kStatuses = {
    StatusRow{CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    StatusRow{CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
              "the library was not initialized"},
    StatusRow{CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    StatusRow{CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
              "an unsupported value or parameter was passed to the function"},
    StatusRow{CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
              "the function requires an architectural feature absent from the device"},
    StatusRow{CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
              "an access to GPU memory space failed"},
    StatusRow{CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
              "the GPU program failed to execute"},
    StatusRow{CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    StatusRow{CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
              "the functionality requested is not supported"},
    StatusRow{CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR",
              "the functionality requested requires some license"},
};

const StatusRow* row_of(cublasStatus_t status) {
    for (const StatusRow& row : kStatuses)
        if (row.status == status) return &row;
    return nullptr;
}

cublasStatus_t copied(cudaError_t error) {
    return error == cudaSuccess             ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorInvalidValue ? CUBLAS_STATUS_INVALID_VALUE
                                            : CUBLAS_STATUS_MAPPING_ERROR;
}

// Copies of a vector are those of a matrix with one row.
cublasStatus_t copy_matrix(int64_t rows, int64_t cols, int64_t size, const void* a, int64_t lda, void* b,
                           int64_t ldb, cudaMemcpyKind kind) {
    if (rows < 0 || cols < 0 || size <= 0 || lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
    if (rows == 0 || cols == 0) return CUBLAS_STATUS_SUCCESS;
    const auto bytes = [size](int64_t elements) { return static_cast<size_t>(elements * size); };
    return copied(cudaMemcpy2D(b, bytes(ldb), a, bytes(lda), bytes(rows), static_cast<size_t>(cols), kind));
}

template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::*member, T value) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->*member = value;
    return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t get(cublasHandle_t handle, T cublasContext::*member, T* value) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!value) return CUBLAS_STATUS_INVALID_VALUE;
    *value = handle->*member;
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    return set(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
    return get(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, size_t) {
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    return set(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
    return get(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
    return set(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
    return get(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    return set(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
    return get(handle, &cublasContext::math, mode);
}
const char* cublasGetStatusName(cublasStatus_t status) {
    const StatusRow* const row = row_of(status);
    return row ? row->name : "unknown status";
}
const char* cublasGetStatusString(cublasStatus_t status) {
    const StatusRow* const row = row_of(status);
    return row ? row->words : "unknown status";
}

cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y, int incy) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y, int incy) {
    return copy_matrix(1, n, size, x, incx, y, incy, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void* A, int lda, void* B, int ldb) {
    return copy_matrix(rows, cols, size, A, lda, B, ldb, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void* A, int lda, void* B, int ldb) {
    return copy_matrix(rows, cols, size, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy,
                                    cudaStream_t) {
    return cublasSetVector(n, size, x, incx, y, incy);
}
cublasStatus_t cublasGetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy,
                                    cudaStream_t) {
    return cublasGetVector(n, size, x, incx, y, incy);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int size, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t) {
    return cublasSetMatrix(rows, cols, size, A, lda, B, ldb);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int size, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t) {
    return cublasGetMatrix(rows, cols, size, A, lda, B, ldb);
}
