// Complex numbers as CUDA has them in C: pairs of float or double, on the host and on the device.
//
// Source: the names that programs use: cuComplex is cuFloatComplex; real part first, as in C's complex numbers.
#pragma once

#include <math.h>

#include "cuda_runtime.h"

#define TILESCOPE_COMPLEX(C, T, f, pair, root)                                                           \
    typedef pair C;                                                                                      \
    static __inline__ __host__ __device__ C make_##C(T r, T i) { return make_##pair(r, i); }             \
    static __inline__ __host__ __device__ T cuCreal##f(C a) { return a.x; }                              \
    static __inline__ __host__ __device__ T cuCimag##f(C a) { return a.y; }                              \
    static __inline__ __host__ __device__ C cuConj##f(C a) { return make_##pair(a.x, -a.y); }            \
    static __inline__ __host__ __device__ C cuCadd##f(C a, C b) { return make_##pair(a.x + b.x, a.y + b.y); } \
    static __inline__ __host__ __device__ C cuCsub##f(C a, C b) { return make_##pair(a.x - b.x, a.y - b.y); } \
    static __inline__ __host__ __device__ C cuCmul##f(C a, C b) {                                        \
        return make_##pair(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                \
    }                                                                                                    \
    static __inline__ __host__ __device__ C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); } \
    /* scaled by the sum of the divisor's sizes, so that its square does not overflow */                 \
    static __inline__ __host__ __device__ C cuCdiv##f(C a, C b) {                                        \
        const T s = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y));                               \
        const T ax = a.x * s, ay = a.y * s, bx = b.x * s, by = b.y * s, size = 1 / (bx * bx + by * by);  \
        return make_##pair((ax * bx + ay * by) * size, (ay * bx - ax * by) * size);                      \
    }                                                                                                    \
    static __inline__ __host__ __device__ T cuCabs##f(C a) { return root(a.x, a.y); }
TILESCOPE_COMPLEX(cuFloatComplex, float, f, float2, hypotf)
TILESCOPE_COMPLEX(cuDoubleComplex, double, , double2, hypot)
#undef TILESCOPE_COMPLEX

typedef cuFloatComplex cuComplex;
static __inline__ __host__ __device__ cuComplex make_cuComplex(float r, float i) { return make_float2(r, i); }
static __inline__ __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
    return make_double2(a.x, a.y);
}
static __inline__ __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return make_float2((float)a.x, (float)a.y);
}
