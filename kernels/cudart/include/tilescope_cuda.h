// What every .cu file begins with (clang's -include): the keywords and functions of CUDA C++ without the
// toolkit. It stands on the headers that clang brings for CUDA, in the order in which clang's own wrapper
// for the toolkit uses them, with ours in the toolkit's place.
//
//   clang: __clang_cuda_builtin_vars.h        threadIdx, blockIdx, blockDim, gridDim
//          __clang_cuda_device_functions.h    __popc, __fadd_rz, ... in terms of __nv_*   tilescope_libdevice.h
//          __clang_cuda_math.h, _cmath.h      sinf, std::sin, ... in terms of __nv_*
//          __clang_cuda_intrinsics.h          shuffles, votes, __ldg, __funnelshift
//   ours:  the runtime's interface, vectors, atomics, barriers, min and max
#pragma once

#ifndef __CUDA__
#error "This header is for .cu files."
#endif

// What nvcc defines, by which programs know it (NVCC 12, "Predefined Macros"). Lambdas of both sides and constexpr
// functions in device code need no flag here; no lambda is wrapped for them, as nvcc's are.
#define CUDA_VERSION 12060
#define __NVCC__ 1
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#define __CUDACC__ 1
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __nv_is_extended_device_lambda_closure_type(T) false
#define __nv_is_extended_host_device_lambda_closure_type(T) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(T) false
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 6
#define __CUDACC_VER_BUILD__ 0

#include <__clang_cuda_math_forward_declares.h>
// After the line above, as clang asks.
#include <cmath>
#include <cstdlib>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "cuda_runtime_api.h"
// What <<<grid, block>>> leaves out.
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void* stream = 0);
#include "host_defines.h"
#include "vector_functions.h"

// clang's headers show more of themselves to the host's pass where this is defined there.
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif
#include <__clang_cuda_builtin_vars.h>
#pragma pop_macro("__CUDA_ARCH__")

#include "tilescope_libdevice.h"

#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif
// Accesses inside belong to the line that calls.
#pragma push_macro("__forceinline__")
#undef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline, nodebug))
// These say nothing to the compiler of what other threads do to memory; ours do (tilescope_device.h).
#define __syncthreads_and tilescope_clang__syncthreads_and
#define __syncthreads_or tilescope_clang__syncthreads_or
#define __syncthreads_count tilescope_clang__syncthreads_count
#define __threadfence tilescope_clang__threadfence
#define __threadfence_block tilescope_clang__threadfence_block
#define __threadfence_system tilescope_clang__threadfence_system
#include <__clang_cuda_device_functions.h>
// Ours are of both sides.
#define min tilescope_clang_min
#define max tilescope_clang_max
#include <__clang_cuda_math.h>
#undef min
#undef max
#undef __syncthreads_and
#undef __syncthreads_or
#undef __syncthreads_count
#undef __threadfence
#undef __threadfence_block
#undef __threadfence_system
#include "tilescope_device.h"

extern "C" {
// What the compiler makes of printf and assert (CUDA C++ Programming Guide, "Formatted Output", "Assertion").
__device__ int vprintf(const char* format, const char* arguments);
__device__ int printf(const char* format, ...);
__device__ void free(void* pointer) __attribute((nothrow));
__device__ void* malloc(size_t bytes) __attribute((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t charSize);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
    __assertfail(message, file, line, function, sizeof(char));
}
}  // extern "C"
namespace std {
__device__ static inline void free(void* pointer) { ::free(pointer); }
__device__ static inline void* malloc(size_t bytes) { return ::malloc(bytes); }
}  // namespace std

// Once more: clang's wrapper of it gives device code its new and delete where the keywords are known.
#include <new>
// NVIDIA's runtime header brings it, too.
#include <assert.h>

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

#include "tilescope_overloads.h"
#include <__clang_cuda_cmath.h>
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
#define __syncwarp tilescope_clang_syncwarp
#define inline inline __attribute__((nodebug))
#include <__clang_cuda_intrinsics.h>
#undef inline
#undef __syncwarp
#include <__clang_cuda_complex_builtins.h>
#pragma pop_macro("__forceinline__")
#pragma pop_macro("__CUDA_ARCH__")

#include "tilescope_atomics.h"
#include "cuda_runtime.h"
