// 16-bit floating point: the types __half and __half2, conversions, and arithmetic, each operation of which is done in
// float and rounded once, which gives the same bits (24 bits of float are enough for +, -, *, / and the square
// root of 11).
//
// Source: CUDA Math API, "Half Precision Intrinsics"; IEEE 754-2019, binary16.
#pragma once

#include "cuda_runtime.h"

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
    __host__ __device__ __half(double value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(int value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(unsigned int value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(short value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(unsigned short value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(long long value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ __half(unsigned long long value) : tilescope_bits(tilescope_half_bits((float)value)) {}
    __host__ __device__ operator float() const { return tilescope_half_value(tilescope_bits); }
    __host__ __device__ operator __half_raw() const { return {tilescope_bits}; }
    __host__ __device__ __half& operator+=(const __half& b) { return *this = __half((float)*this + (float)b); }
    __host__ __device__ __half& operator-=(const __half& b) { return *this = __half((float)*this - (float)b); }
    __host__ __device__ __half& operator*=(const __half& b) { return *this = __half((float)*this * (float)b); }
    __host__ __device__ __half& operator/=(const __half& b) { return *this = __half((float)*this / (float)b); }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
    __host__ __device__ __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
};
typedef __half2 half2;

TILESCOPE_HALF __half operator+(__half a, __half b) { return a += b; }
TILESCOPE_HALF __half operator-(__half a, __half b) { return a -= b; }
TILESCOPE_HALF __half operator*(__half a, __half b) { return a *= b; }
TILESCOPE_HALF __half operator/(__half a, __half b) { return a /= b; }
TILESCOPE_HALF __half operator-(__half a) { return __half_raw{(unsigned short)(a.tilescope_bits ^ 0x8000u)}; }
TILESCOPE_HALF bool operator==(__half a, __half b) { return (float)a == (float)b; }
TILESCOPE_HALF bool operator!=(__half a, __half b) { return (float)a != (float)b; }
TILESCOPE_HALF bool operator<(__half a, __half b) { return (float)a < (float)b; }
TILESCOPE_HALF bool operator>(__half a, __half b) { return (float)a > (float)b; }
TILESCOPE_HALF bool operator<=(__half a, __half b) { return (float)a <= (float)b; }
TILESCOPE_HALF bool operator>=(__half a, __half b) { return (float)a >= (float)b; }

TILESCOPE_HALF __half __float2half(float a) { return __half(a); }
TILESCOPE_HALF __half __float2half_rn(float a) { return __half(a); }
TILESCOPE_HALF __half __double2half(double a) { return __half(a); }
TILESCOPE_HALF float __half2float(__half a) { return (float)a; }
TILESCOPE_HALF __half __int2half_rn(int a) { return __half(a); }
TILESCOPE_HALF __half __uint2half_rn(unsigned int a) { return __half(a); }
TILESCOPE_HALF int __half2int_rz(__half a) { return (int)(float)a; }
TILESCOPE_HALF int __half2int_rn(__half a) { return (int)__builtin_rintf((float)a); }
TILESCOPE_HALF unsigned short __half_as_ushort(__half a) { return a.tilescope_bits; }
TILESCOPE_HALF __half __ushort_as_half(unsigned short a) { return __half_raw{a}; }
TILESCOPE_HALF short __half_as_short(__half a) { return (short)a.tilescope_bits; }
TILESCOPE_HALF __half __short_as_half(short a) { return __half_raw{(unsigned short)a}; }

TILESCOPE_HALF __half __hadd(__half a, __half b) { return a + b; }
TILESCOPE_HALF __half __hsub(__half a, __half b) { return a - b; }
TILESCOPE_HALF __half __hmul(__half a, __half b) { return a * b; }
TILESCOPE_HALF __half __hdiv(__half a, __half b) { return a / b; }
TILESCOPE_HALF __half __hneg(__half a) { return -a; }
TILESCOPE_HALF __half __habs(__half a) { return __half_raw{(unsigned short)(a.tilescope_bits & 0x7fffu)}; }
// The product is exact in double, and so nearly is the sum.
TILESCOPE_HALF __half __hfma(__half a, __half b, __half c) {
    return __half((float)((double)(float)a * (double)(float)b + (double)(float)c));
}
TILESCOPE_HALF bool __heq(__half a, __half b) { return a == b; }
TILESCOPE_HALF bool __hne(__half a, __half b) { return a != b; }
TILESCOPE_HALF bool __hlt(__half a, __half b) { return a < b; }
TILESCOPE_HALF bool __hle(__half a, __half b) { return a <= b; }
TILESCOPE_HALF bool __hgt(__half a, __half b) { return a > b; }
TILESCOPE_HALF bool __hge(__half a, __half b) { return a >= b; }
TILESCOPE_HALF bool __hisnan(__half a) { return a != a; }
TILESCOPE_HALF int __hisinf(__half a) {
    return (a.tilescope_bits & 0x7fffu) != 0x7c00u ? 0 : a.tilescope_bits & 0x8000u ? -1 : 1;
}
TILESCOPE_HALF __half __hmax(__half a, __half b) { return a != a ? b : b != b ? a : a < b ? b : a; }
TILESCOPE_HALF __half __hmin(__half a, __half b) { return a != a ? b : b != b ? a : b < a ? b : a; }

TILESCOPE_HALF __half2 make_half2(__half a, __half b) { return __half2(a, b); }
TILESCOPE_HALF __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
TILESCOPE_HALF __half2 __half2half2(__half a) { return __half2(a, a); }
TILESCOPE_HALF __half2 __float2half2_rn(float a) { return __half2(a, a); }
TILESCOPE_HALF __half2 __floats2half2_rn(float a, float b) { return __half2(a, b); }
TILESCOPE_HALF __half2 __float22half2_rn(float2 a) { return __half2(a.x, a.y); }
TILESCOPE_HALF float2 __half22float2(__half2 a) { return make_float2((float)a.x, (float)a.y); }
TILESCOPE_HALF float __low2float(__half2 a) { return (float)a.x; }
TILESCOPE_HALF float __high2float(__half2 a) { return (float)a.y; }
TILESCOPE_HALF __half __low2half(__half2 a) { return a.x; }
TILESCOPE_HALF __half __high2half(__half2 a) { return a.y; }
TILESCOPE_HALF __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
TILESCOPE_HALF __half2 __hadd2(__half2 a, __half2 b) { return __half2(a.x + b.x, a.y + b.y); }
TILESCOPE_HALF __half2 __hsub2(__half2 a, __half2 b) { return __half2(a.x - b.x, a.y - b.y); }
TILESCOPE_HALF __half2 __hmul2(__half2 a, __half2 b) { return __half2(a.x * b.x, a.y * b.y); }
TILESCOPE_HALF __half2 __h2div(__half2 a, __half2 b) { return __half2(a.x / b.x, a.y / b.y); }
TILESCOPE_HALF __half2 __hneg2(__half2 a) { return __half2(-a.x, -a.y); }
TILESCOPE_HALF __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
TILESCOPE_HALF __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
TILESCOPE_HALF __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
TILESCOPE_HALF __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
TILESCOPE_HALF __half2 operator/(__half2 a, __half2 b) { return __h2div(a, b); }

#ifdef __CUDA__
#define TILESCOPE_HALF_MATH(name, of_float)                                                \
    static __inline__ __device__ __half h##name(__half a) { return __half(of_float((float)a)); } \
    static __inline__ __device__ __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
TILESCOPE_HALF_MATH(sqrt, sqrtf)
TILESCOPE_HALF_MATH(rsqrt, rsqrtf)
TILESCOPE_HALF_MATH(exp, expf)
TILESCOPE_HALF_MATH(exp2, exp2f)
TILESCOPE_HALF_MATH(log, logf)
TILESCOPE_HALF_MATH(log2, log2f)
TILESCOPE_HALF_MATH(sin, sinf)
TILESCOPE_HALF_MATH(cos, cosf)
TILESCOPE_HALF_MATH(floor, floorf)
TILESCOPE_HALF_MATH(ceil, ceilf)
TILESCOPE_HALF_MATH(rint, rintf)
TILESCOPE_HALF_MATH(trunc, truncf)
#undef TILESCOPE_HALF_MATH

template <class T>
static __inline__ __device__ T tilescope_shuffled_half(T value, unsigned int bits) {
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
#define TILESCOPE_HALF_SHUFFLE(name, By)                                                                  \
    static __inline__ __device__ __half name(unsigned int mask, __half value, By by, int width = 32) {    \
        return __half_raw{(unsigned short)name(mask, (unsigned int)value.tilescope_bits, by, width)};     \
    }                                                                                                     \
    static __inline__ __device__ __half2 name(unsigned int mask, __half2 value, By by, int width = 32) {  \
        unsigned int bits;                                                                                \
        __builtin_memcpy(&bits, &value, 4);                                                               \
        return tilescope_shuffled_half(value, name(mask, bits, by, width));                               \
    }
TILESCOPE_HALF_SHUFFLE(__shfl_sync, int)
TILESCOPE_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
TILESCOPE_HALF_SHUFFLE(__shfl_down_sync, unsigned int)
TILESCOPE_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef TILESCOPE_HALF_SHUFFLE

static __inline__ __device__ __half __ldg(const __half* p) {
    return __half_raw{__ldg((const unsigned short*)p)};
}
static __inline__ __device__ __half2 __ldg(const __half2* p) {
    return tilescope_shuffled_half(__half2(), __ldg((const unsigned int*)p));
}
static __inline__ __device__ __half atomicAdd(__half* p, __half value) {
    unsigned short old = *(volatile unsigned short*)p, seen;
    while ((seen = atomicCAS((unsigned short*)p, old, (__half(__half_raw{old}) + value).tilescope_bits)) != old) old = seen;
    return __half_raw{old};
}
static __inline__ __device__ __half2 atomicAdd(__half2* p, __half2 value) {
    return __half2(atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y));
}
#endif  // __CUDA__
