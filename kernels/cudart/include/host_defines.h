// CUDA's keywords for clang; a C++ file, which has no device code, sees nothing in their place.
#pragma once

// By this, programs ask whether the toolkit's header of that name was read.
#define __HOST_DEFINES_H__

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// The runtime lets host and device share a variable's memory where it is aligned as device memory is.
#define __managed__ __attribute__((device, aligned(256)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#ifdef __CUDA_ARCH__
// clang has no word for it that all of its versions know; kernels/program/clusters.h makes the directive of it.
#define __cluster_dims__(...) __attribute__((annotate("tilescope.cluster", __VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __maxnreg__(...)
#define CUDARTAPI
