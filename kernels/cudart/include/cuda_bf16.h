// bfloat16, the upper half of a float: the types __nv_bfloat16 and __nv_bfloat162, conversions, and arithmetic. In device
// code from sm_80 on +, -, * and fma are the instruction fma.rn.bf16 (PTX has add, sub and mul of it for sm_90 alone); all
// else is done in float and rounded once. tilescope_short_float.inl has what is the same for __half.
//
// Source: CUDA Math API, "Bfloat16 Precision Intrinsics".
#pragma once

#include "cuda_runtime.h"
#include "tilescope_odd.h"

#define TILESCOPE_BFLOAT static __inline__ __host__ __device__

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __nv_bfloat162_raw {
    unsigned short x, y;
};
// Nearest, halves to even.
TILESCOPE_BFLOAT unsigned short tilescope_bfloat_bits(float value) {
#if __CUDA_ARCH__ >= 800
    unsigned short made;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(made) : "f"(value));
    return made;
#endif
    unsigned int f;
    __builtin_memcpy(&f, &value, 4);
    if ((f & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (unsigned short)((f + 0x7fffu + (f >> 16 & 1u)) >> 16);
}
struct __nv_bfloat16 {
    unsigned short tilescope_bits;
    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw& raw) : tilescope_bits(raw.x) {}
    __host__ __device__ __nv_bfloat16(float value) : tilescope_bits(tilescope_bfloat_bits(value)) {}
    __host__ __device__ __nv_bfloat16(double value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_float(value))) {}
    __host__ __device__ __nv_bfloat16(short value) : tilescope_bits(tilescope_bfloat_bits((float)value)) {}
    __host__ __device__ __nv_bfloat16(unsigned short value) : tilescope_bits(tilescope_bfloat_bits((float)value)) {}
    __host__ __device__ __nv_bfloat16(int value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __nv_bfloat16(unsigned int value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __nv_bfloat16(long value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __nv_bfloat16(unsigned long value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __nv_bfloat16(long long value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __nv_bfloat16(unsigned long long value) : tilescope_bits(tilescope_bfloat_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ operator __nv_bfloat16_raw() const { return {tilescope_bits}; }
    __host__ __device__ operator float() const {
        const unsigned int f = (unsigned int)tilescope_bits << 16;
        float value;
        __builtin_memcpy(&value, &f, 4);
        return value;
    }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
    __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw& raw)
        : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
};
typedef __nv_bfloat162 nv_bfloat162;
#undef TILESCOPE_BFLOAT

#if __CUDA_ARCH__ >= 800
#define TILESCOPE_FUSED
#endif
#define TILESCOPE_PTX "bf16"
#define TILESCOPE_TANH 900
#define TILESCOPE_H __nv_bfloat16
#define TILESCOPE_H2 __nv_bfloat162
#define TILESCOPE_N bfloat16
#include "tilescope_short_float.inl"
#undef TILESCOPE_FUSED
#undef TILESCOPE_PTX
#undef TILESCOPE_TANH
#undef TILESCOPE_H
#undef TILESCOPE_H2
#undef TILESCOPE_N
