// make_float4(x, y, z, w) and its like, on the host and on the device.
//
// Source: CUDA C++ Programming Guide, "Built-in Vector Types".
#pragma once

#include "host_defines.h"
#include "vector_types.h"

#define TILESCOPE_MAKERS(name, T, two, four)                                                  \
    static __inline__ __host__ __device__ name##1 make_##name##1(T x) { return {x}; }         \
    static __inline__ __host__ __device__ name##2 make_##name##2(T x, T y) { return {x, y}; } \
    static __inline__ __host__ __device__ name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    static __inline__ __host__ __device__ name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TILESCOPE_EACH_VECTOR(TILESCOPE_MAKERS)
TILESCOPE_MAKERS(uint, unsigned int, 8, 16)
#undef TILESCOPE_MAKERS
