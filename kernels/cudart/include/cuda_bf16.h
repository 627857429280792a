// bfloat16, the upper half of a float: the types __nv_bfloat16 and __nv_bfloat162, conversions, and arithmetic that is
// done in float and rounded once.
//
// Source: CUDA Math API, "Bfloat16 Precision Intrinsics".
#pragma once

#include "cuda_runtime.h"

#define TILESCOPE_BFLOAT static __inline__ __host__ __device__

struct __nv_bfloat16_raw {
    unsigned short x;
};
// Nearest, halves to even.
TILESCOPE_BFLOAT unsigned short tilescope_bfloat_bits(float value) {
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
    __host__ __device__ __nv_bfloat16(double value) : tilescope_bits(tilescope_bfloat_bits((float)value)) {}
    __host__ __device__ __nv_bfloat16(int value) : tilescope_bits(tilescope_bfloat_bits((float)value)) {}
    __host__ __device__ operator float() const {
        const unsigned int f = (unsigned int)tilescope_bits << 16;
        float value;
        __builtin_memcpy(&value, &f, 4);
        return value;
    }
    __host__ __device__ __nv_bfloat16& operator+=(const __nv_bfloat16& b) { return *this = (float)*this + (float)b; }
    __host__ __device__ __nv_bfloat16& operator-=(const __nv_bfloat16& b) { return *this = (float)*this - (float)b; }
    __host__ __device__ __nv_bfloat16& operator*=(const __nv_bfloat16& b) { return *this = (float)*this * (float)b; }
    __host__ __device__ __nv_bfloat16& operator/=(const __nv_bfloat16& b) { return *this = (float)*this / (float)b; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

TILESCOPE_BFLOAT __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) { return a += b; }
TILESCOPE_BFLOAT __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) { return a -= b; }
TILESCOPE_BFLOAT __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) { return a *= b; }
TILESCOPE_BFLOAT __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return a /= b; }
TILESCOPE_BFLOAT bool operator<(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
TILESCOPE_BFLOAT bool operator>(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b; }
TILESCOPE_BFLOAT bool operator==(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
TILESCOPE_BFLOAT bool operator!=(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a != (float)b; }
TILESCOPE_BFLOAT __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
TILESCOPE_BFLOAT __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
TILESCOPE_BFLOAT __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
TILESCOPE_BFLOAT float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
TILESCOPE_BFLOAT unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.tilescope_bits; }
TILESCOPE_BFLOAT __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16_raw{a}; }
TILESCOPE_BFLOAT __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
TILESCOPE_BFLOAT __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
TILESCOPE_BFLOAT float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
TILESCOPE_BFLOAT __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x + b.x, a.y + b.y}; }
TILESCOPE_BFLOAT __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x * b.x, a.y * b.y}; }
TILESCOPE_BFLOAT __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return a + b; }
TILESCOPE_BFLOAT __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return a * b; }
