// 16-bit floating point: the types __half and __half2, conversions, and arithmetic. In device code +, -, * and fma are
// instructions; all else is done in float and rounded once, which gives the same bits (24 bits of float are enough for +, -,
// *, / and the square root of 11). tilescope_short_float.inl has what is the same for bfloat16.
//
// Source: CUDA Math API, "Half Precision Intrinsics"; IEEE 754-2019, binary16.
#pragma once

#include "cuda_runtime.h"
#include "tilescope_odd.h"

#define TILESCOPE_HALF static __inline__ __host__ __device__

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};

// Nearest, halves to even.
TILESCOPE_HALF unsigned short tilescope_half_bits(float value) {
#ifdef __CUDA_ARCH__
    return __nv_float2half_rn(value);
#else
    unsigned int f;
    __builtin_memcpy(&f, &value, 4);
    const unsigned int sign = f >> 16 & 0x8000u, size = f & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7fffu;                                // NaN, as the device makes it
    if (size >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);      // 65520 and above
    if (size < 0x33000000u) return (unsigned short)sign;                   // below half of the smallest
    const int exponent = (int)(size >> 23);
    const unsigned int mantissa = (size & 0x7fffffu) | 0x800000u;
    // 13 bits go; more of a number below 2^-14.
    const int drop = exponent < 113 ? 13 + 113 - exponent : 13;
    unsigned int kept = mantissa >> drop;
    const unsigned int rest = mantissa & ((1u << drop) - 1u), half = 1u << (drop - 1);
    if (rest > half || (rest == half && (kept & 1u))) ++kept;
    return (unsigned short)(sign | (exponent < 113 ? kept : kept + ((unsigned int)(exponent - 113) << 10)));
#endif
}
TILESCOPE_HALF float tilescope_half_value(unsigned short bits) {
#ifdef __CUDA_ARCH__
    return __nv_half2float(bits);
#else
    const unsigned int sign = (unsigned int)(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, mantissa = bits & 0x3ffu;
    unsigned int f;
    if (exponent == 0) {
        const float tiny = (float)mantissa * 5.9604644775390625e-8f;  // 2^-24
        __builtin_memcpy(&f, &tiny, 4);
        f |= sign;
    } else {
        f = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112u) << 23) | mantissa << 13;
    }
    float value;
    __builtin_memcpy(&value, &f, 4);
    return value;
#endif
}

struct __half {
    unsigned short tilescope_bits;
    __half() = default;
    __host__ __device__ __half(const __half_raw& raw) : tilescope_bits(raw.x) {}
    __host__ __device__ __half(float value) : tilescope_bits(tilescope_half_bits(value)) {}
    __host__ __device__ __half(double value) : tilescope_bits(tilescope_half_bits(tilescope_odd_float(value))) {}
    __host__ __device__ __half(int value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __half(unsigned int value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __half(short value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(unsigned short value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(long long value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __half(long value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __half(unsigned long value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ __half(unsigned long long value) : tilescope_bits(tilescope_half_bits(tilescope_odd_integer(value))) {}
    __host__ __device__ operator float() const { return tilescope_half_value(tilescope_bits); }
    __host__ __device__ operator __half_raw() const { return {tilescope_bits}; }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
    __host__ __device__ __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half2 half2;

#undef TILESCOPE_HALF

#if defined(__CUDA_ARCH__) && defined(__FLT16_MAX__)
typedef _Float16 tilescope_float16x2 __attribute__((ext_vector_type(2)));
#define TILESCOPE_NATIVE _Float16  // clang makes instructions of its arithmetic, and fma of a product and a sum
#define TILESCOPE_NATIVE2 tilescope_float16x2
#endif
#define TILESCOPE_PTX "f16"
#define TILESCOPE_TANH 750
#define TILESCOPE_H __half
#define TILESCOPE_H2 __half2
#define TILESCOPE_N half
#include "tilescope_short_float.inl"
#undef TILESCOPE_NATIVE
#undef TILESCOPE_NATIVE2
#undef TILESCOPE_PTX
#undef TILESCOPE_TANH
#undef TILESCOPE_H
#undef TILESCOPE_H2
#undef TILESCOPE_N
