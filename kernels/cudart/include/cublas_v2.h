// cuBLAS, computed on the CPU: the calls of Levels 1 to 3 that programs check their own kernels with. Matrices are stored by
// columns, as in Fortran. What these calls do is not recorded.
//
// Sums are made in double, in the order of the elements, and rounded once to the type of the result; so they are the same at
// every run, and closer to the exact value than a GPU's. Names and the numbers of enumerators are NVIDIA's. C and C++.
//
// Source: cuBLAS Library, "Using the cuBLAS API", chapters of the Level-1, Level-2 and Level-3 functions.
#pragma once

#include "cuComplex.h"
#include "library_types.h"
#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#endif

#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 6
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION 120600
#define CUBLASAPI
#define CUBLASWINAPI
// By these, programs ask whether the library's headers were read.
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

typedef struct cublasContext* cublasHandle_t;
typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum cublasFillMode_t {
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum cublasOperation_t {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum cublasPointerMode_t {
    CUBLAS_POINTER_MODE_HOST = 0,
    CUBLAS_POINTER_MODE_DEVICE = 1
} cublasPointerMode_t;
typedef enum cublasAtomicsMode_t {
    CUBLAS_ATOMICS_NOT_ALLOWED = 0,
    CUBLAS_ATOMICS_ALLOWED = 1
} cublasAtomicsMode_t;
// Of no effect: which instructions a GPU would use.
typedef enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115
} cublasGemmAlgo_t;
typedef enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int size, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int size, const void* A, int lda, void* B, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void* x, int incx, void* y, int incy,
                                    cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int size, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int size, const void* A, int lda, void* B, int ldb,
                                    cudaStream_t stream);

// Letter, letter of cublasI?amax, type; and R, the letters and the type of its sizes (nrm2, asum).
#define TILESCOPE_BLAS_EACH(of, h)                           \
    of(S, s, float, S, float, h) of(D, d, double, D, double, h) \
    of(C, c, cuComplex, Sc, float, h) of(Z, z, cuDoubleComplex, Dz, double, h)
#define TILESCOPE_BLAS(X, x_, T, R, Size, h)                                                                     \
    cublasStatus_t cublas##X##axpy(h, int n, const T* alpha, const T* x, int incx, T* y, int incy);              \
    cublasStatus_t cublas##X##scal(h, int n, const T* alpha, T* x, int incx);                                    \
    cublasStatus_t cublas##X##copy(h, int n, const T* x, int incx, T* y, int incy);                              \
    cublasStatus_t cublas##X##swap(h, int n, T* x, int incx, T* y, int incy);                                    \
    cublasStatus_t cublas##R##nrm2(h, int n, const T* x, int incx, Size* result);                                \
    cublasStatus_t cublas##R##asum(h, int n, const T* x, int incx, Size* result);                                \
    cublasStatus_t cublasI##x_##amax(h, int n, const T* x, int incx, int* result);                               \
    cublasStatus_t cublasI##x_##amin(h, int n, const T* x, int incx, int* result);                               \
    cublasStatus_t cublas##X##gemv(h, cublasOperation_t trans, int m, int n, const T* alpha, const T* A,         \
                                   int lda, const T* x, int incx, const T* beta, T* y, int incy);                \
    cublasStatus_t cublas##X##symv(h, cublasFillMode_t uplo, int n, const T* alpha, const T* A, int lda,         \
                                   const T* x, int incx, const T* beta, T* y, int incy);                         \
    cublasStatus_t cublas##X##trmv(h, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,     \
                                   int n, const T* A, int lda, T* x, int incx);                                  \
    cublasStatus_t cublas##X##trsv(h, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,     \
                                   int n, const T* A, int lda, T* x, int incx);                                  \
    cublasStatus_t cublas##X##gemm(h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,   \
                                   const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta,      \
                                   T* C, int ldc);                                                               \
    cublasStatus_t cublas##X##gemmBatched(h, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
                                          int k, const T* alpha, const T* const A[], int lda,                    \
                                          const T* const B[], int ldb, const T* beta, T* const C[], int ldc,     \
                                          int count);                                                            \
    cublasStatus_t cublas##X##gemmStridedBatched(                                                                \
        h, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha, const T* A,  \
        int lda, long long strideA, const T* B, int ldb, long long strideB, const T* beta, T* C, int ldc,        \
        long long strideC, int count);                                                                           \
    cublasStatus_t cublas##X##symm(h, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n,                \
                                   const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta,      \
                                   T* C, int ldc);                                                               \
    cublasStatus_t cublas##X##syrk(h, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k,              \
                                   const T* alpha, const T* A, int lda, const T* beta, T* C, int ldc);           \
    cublasStatus_t cublas##X##trmm(h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,     \
                                   cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda,     \
                                   const T* B, int ldb, T* C, int ldc);                                          \
    cublasStatus_t cublas##X##trsm(h, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,     \
                                   cublasDiagType_t diag, int m, int n, const T* alpha, const T* A, int lda,     \
                                   T* B, int ldb);                                                               \
    cublasStatus_t cublas##X##geam(h, cublasOperation_t transa, cublasOperation_t transb, int m, int n,          \
                                   const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb,      \
                                   T* C, int ldc);                                                               \
    cublasStatus_t cublas##X##dgmm(h, cublasSideMode_t side, int m, int n, const T* A, int lda, const T* x,      \
                                   int incx, T* C, int ldc);
TILESCOPE_BLAS_EACH(TILESCOPE_BLAS, cublasHandle_t handle)
#undef TILESCOPE_BLAS

#define TILESCOPE_BLAS_PAIRS(of, h)                                                                          \
    of(cublasSdot, float, h) of(cublasDdot, double, h) of(cublasCdotu, cuComplex, h)                         \
    of(cublasCdotc, cuComplex, h) of(cublasZdotu, cuDoubleComplex, h) of(cublasZdotc, cuDoubleComplex, h)
#define TILESCOPE_BLAS(name, T, h) \
    cublasStatus_t name(h, int n, const T* x, int incx, const T* y, int incy, T* result);
TILESCOPE_BLAS_PAIRS(TILESCOPE_BLAS, cublasHandle_t handle)
#undef TILESCOPE_BLAS
#define TILESCOPE_BLAS_OUTER(of, h)                                                                      \
    of(cublasSger, float, h) of(cublasDger, double, h) of(cublasCgeru, cuComplex, h)                     \
    of(cublasCgerc, cuComplex, h) of(cublasZgeru, cuDoubleComplex, h) of(cublasZgerc, cuDoubleComplex, h)
#define TILESCOPE_BLAS(name, T, h)                                                                         \
    cublasStatus_t name(h, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* A, \
                        int lda);
TILESCOPE_BLAS_OUTER(TILESCOPE_BLAS, cublasHandle_t handle)
#undef TILESCOPE_BLAS

cublasStatus_t cublasCsscal(cublasHandle_t handle, int n, const float* alpha, cuComplex* x, int incx);
cublasStatus_t cublasZdscal(cublasHandle_t handle, int n, const double* alpha, cuDoubleComplex* x, int incx);
cublasStatus_t cublasSrot(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy, const float* c,
                          const float* s);
cublasStatus_t cublasDrot(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy,
                          const double* c, const double* s);

// Matrices of the types that are named: floats of 16 to 64 bits into the same or a wider one, bytes into int or float.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                            int n, int k, const void* alpha, const void* A, cudaDataType Atype, int lda,
                            const void* B, cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                   int m, int n, int k, const void* alpha, const void* const A[],
                                   cudaDataType Atype, int lda, const void* const B[], cudaDataType Btype,
                                   int ldb, const void* beta, void* const C[], cudaDataType Ctype, int ldc,
                                   int count, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                          const void* A, cudaDataType Atype, int lda, long long strideA,
                                          const void* B, cudaDataType Btype, int ldb, long long strideB,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          long long strideC, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algo);
cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                             int n, int k, const float* alpha, const void* A, cudaDataType Atype, int lda,
                             const void* B, cudaDataType Btype, int ldb, const float* beta, void* C,
                             cudaDataType Ctype, int ldc);
#ifdef __cplusplus
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                           int n, int k, const __half* alpha, const __half* A, int lda, const __half* B,
                           int ldb, const __half* beta, __half* C, int ldc);
cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k, const __half* alpha,
                                         const __half* A, int lda, long long strideA, const __half* B, int ldb,
                                         long long strideB, const __half* beta, __half* C, int ldc,
                                         long long strideC, int count);
}  // extern "C"

// As it was before CUDA 11: computes in that type.
static inline cublasComputeType_t tilescope_compute_type(cudaDataType type) {
    return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
           : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
           : type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F
                                                      : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                          const void* A, cudaDataType Atype, int lda, const void* B,
                                          cudaDataType Btype, int ldb, const void* beta, void* C,
                                          cudaDataType Ctype, int ldc, cudaDataType compute,
                                          cublasGemmAlgo_t algo) {
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                        tilescope_compute_type(compute), algo);
}
static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType Atype, int lda, long long strideA, const void* B,
    cudaDataType Btype, int ldb, long long strideB, const void* beta, void* C, cudaDataType Ctype, int ldc,
    long long strideC, int count, cudaDataType compute, cublasGemmAlgo_t algo) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb,
                                      strideB, beta, C, Ctype, ldc, strideC, count,
                                      tilescope_compute_type(compute), algo);
}
#endif

#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetVersion_v2 cublasGetVersion
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasGetPointerMode_v2 cublasGetPointerMode
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasCgemm_v2 cublasCgemm
#define cublasZgemm_v2 cublasZgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
#define cublasSnrm2_v2 cublasSnrm2
#define cublasDnrm2_v2 cublasDnrm2
#define cublasSscal_v2 cublasSscal
#define cublasDscal_v2 cublasDscal
#define cublasSasum_v2 cublasSasum
#define cublasDasum_v2 cublasDasum
#define cublasIsamax_v2 cublasIsamax
#define cublasIdamax_v2 cublasIdamax
