// Products of NVIDIA's cuBLAS, opened at run time by name: the far end of what this course begins. Of fp32 by SGEMM, of
// halves with fp32 sums by GemmEx, on tensor cores.
//
// Default math: SGEMM is fp32 throughout. No factor is rounded to TF32 unless the program asks for it, which this one
// does not; uses_plain_fp32 proves it for a shape, with factors that TF32 would round.
//
// Source: cuBLAS Library documentation, cublasMath_t, cublasSetMathMode(), cublas<t>gemm(), cublasGemmEx().
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "kernels/gpu/timing.h"

namespace tilescope::gpu {

class Cublas {
public:
    // Null where no libcublas can be opened; an Error where one can and does not work.
    static Result<std::unique_ptr<Cublas>> open(Device& device);
    ~Cublas();
    Cublas(const Cublas&) = delete;
    Cublas& operator=(const Cublas&) = delete;

    const std::string& version() const { return version_; }  // "13.1.0"

    // P = M N by row, begun on the default stream and not waited for.
    Result<void> multiply(const Operands& operands);

    // Whether fp32 products of this shape keep all of fp32's 24 bits. Overwrites P.
    Result<bool> uses_plain_fp32(Device& device, const Operands& operands);

private:
    struct Api;
    Cublas(std::unique_ptr<Api> api, void* handle, std::string version);
    std::unique_ptr<Api> api_;
    void* handle_ = nullptr;
    std::string version_;
};

}  // namespace tilescope::gpu
