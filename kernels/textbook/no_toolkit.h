// Lets clang compile the kernels where there is no CUDA Toolkit: the four keywords that its own
// headers leave to the toolkit, and clang's own threadIdx, blockIdx and blockDim.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#include <__clang_cuda_builtin_vars.h>
