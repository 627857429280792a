// Lets clang compile the kernels where there is no CUDA Toolkit: the keywords that its own headers leave to
// the toolkit, the vector types that they use, and clang's own threadIdx, blockIdx and blockDim.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#include <__clang_cuda_builtin_vars.h>

// The address that shared memory's own instructions take.
__device__ __forceinline__ unsigned long __cvta_generic_to_shared(const void* at) {
    return (unsigned long)(const __attribute__((address_space(3))) void*)at;
}
__device__ __forceinline__ void __syncwarp() { asm volatile("bar.warp.sync -1;" ::: "memory"); }

// As vectors of clang's, so that a load of one stays one instruction.
using float2 = float __attribute__((ext_vector_type(2)));
using float4 = float __attribute__((ext_vector_type(4)));
using uint4 = unsigned __attribute__((ext_vector_type(4)));
