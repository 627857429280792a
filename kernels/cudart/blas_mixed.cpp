// cuBLAS's products of matrices whose types are named when it runs.
#include <array>

#include "kernels/cudart/blas_dense.h"

namespace tilescope::cudart {
namespace {

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
