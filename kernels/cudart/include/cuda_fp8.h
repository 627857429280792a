// 8-bit floating point: e4m3 (largest 448, no infinity) and e5m2 (as IEEE 754 would have it), and their conversions.
//
// Source: P. Micikevicius and others, "FP8 Formats for Deep Learning", 2022, table 1; CUDA Math API, "FP8 Intrinsics".
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#define TILESCOPE_FP8 static __inline__ __host__ __device__

// exact: the number, or what tilescope_odd.h makes of it. Nearest, halves to even; numbers beyond the largest one become it
// (SATFINITE), or infinity, or not a number where there is none.
TILESCOPE_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(float exact, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t as) {
    const int kept = as == __NV_E4M3 ? 3 : 2, bias = as == __NV_E4M3 ? 7 : 15;
    const unsigned int largest = as == __NV_E4M3 ? 0x7eu : 0x7bu, beyond = as == __NV_E4M3 ? 0x7fu : 0x7cu;
    unsigned int f;
    __builtin_memcpy(&f, &exact, 4);
    const unsigned int sign = f >> 24 & 0x80u, size = f & 0x7fffffffu;
    if (size > 0x7f800000u) return 0x7f;
    const int exponent = (int)(size >> 23) - 127 + bias;  // in the eight bits
    unsigned int bits;
    if (exponent >= 40) {
        bits = beyond;
    } else {
        const unsigned int mantissa = (size & 0x7fffffu) | (size >> 23 ? 0x800000u : 0u);
        const int drop = 23 - kept + (exponent < 1 ? 1 - exponent : 0);
        bits = 0;
        if (drop < 26) {
            bits = mantissa >> drop;
            const unsigned int rest = mantissa & ((1u << drop) - 1u), middle = 1u << (drop - 1);
            if (rest > middle || (rest == middle && (bits & 1u))) ++bits;
            if (exponent >= 1) bits += (unsigned int)(exponent - 1) << kept;
        }
    }
    if (bits > largest) bits = saturation == __NV_SATFINITE ? largest : beyond;
    return (__nv_fp8_storage_t)(sign | bits);
}
TILESCOPE_FP8 float tilescope_fp8_value(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) {
    if (as == __NV_E5M2) return (float)__ushort_as_half((unsigned short)(x << 8));
    const unsigned int sign = (unsigned int)(x & 0x80u) << 24, size = x & 0x7fu;
    unsigned int f;
    if (size == 0x7fu) {
        f = 0x7fffffffu;
    } else if (size < 8) {
        const float tiny = (float)size * 0x1p-9f;
        __builtin_memcpy(&f, &tiny, 4);
        f |= sign;
    } else {
        f = sign | ((size << 20) + (120u << 23));
    }
    float value;
    __builtin_memcpy(&value, &f, 4);
    return value;
}
TILESCOPE_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                        __nv_fp8_interpretation_t as) {
    return __nv_cvt_float_to_fp8(tilescope_odd_float(x), saturation, as);
}
TILESCOPE_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                         __nv_fp8_interpretation_t as) {
    return __nv_cvt_float_to_fp8((float)__half(x), saturation, as);
}
TILESCOPE_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                             __nv_fp8_interpretation_t as) {
    return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturation, as);
}
TILESCOPE_FP8 __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t as) {
    return __half(tilescope_fp8_value(x, as));
}
TILESCOPE_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturation,
                                                            __nv_fp8_interpretation_t as) {
    return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_fp8(x.y, saturation, as) << 8 |
                                  __nv_cvt_float_to_fp8(x.x, saturation, as));
}
TILESCOPE_FP8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t as) {
    const __half_raw low = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x & 0xff), as),
                     high = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), as);
    const __half2_raw made = {low.x, high.x};
    return made;
}

#define TILESCOPE_FP8_TYPE(name, as)                                                                            \
    struct __nv_fp8_##name {                                                                                    \
        __nv_fp8_storage_t __x;                                                                                 \
        __nv_fp8_##name() = default;                                                                            \
        __host__ __device__ explicit __nv_fp8_##name(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, as)) {} \
        __host__ __device__ explicit __nv_fp8_##name(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, as)) {} \
        __host__ __device__ explicit __nv_fp8_##name(int x)                                                     \
            : __x(__nv_cvt_float_to_fp8(tilescope_odd_integer(x), __NV_SATFINITE, as)) {}                       \
        __host__ __device__ explicit __nv_fp8_##name(__half x) : __nv_fp8_##name((float)x) {}                   \
        __host__ __device__ explicit __nv_fp8_##name(__nv_bfloat16 x) : __nv_fp8_##name((float)x) {}            \
        __host__ __device__ explicit operator float() const { return tilescope_fp8_value(__x, as); }            \
        __host__ __device__ explicit operator double() const { return tilescope_fp8_value(__x, as); }           \
        __host__ __device__ explicit operator __half() const { return __half(tilescope_fp8_value(__x, as)); }   \
        __host__ __device__ explicit operator __nv_bfloat16() const {                                           \
            return __nv_bfloat16(tilescope_fp8_value(__x, as));                                                 \
        }                                                                                                       \
    };                                                                                                          \
    struct __attribute__((aligned(2))) __nv_fp8x2_##name {                                                      \
        __nv_fp8x2_storage_t __x;                                                                               \
        __nv_fp8x2_##name() = default;                                                                          \
        __host__ __device__ explicit __nv_fp8x2_##name(float2 x)                                                \
            : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, as)) {}                                           \
        __host__ __device__ explicit operator float2() const {                                                  \
            return make_float2(tilescope_fp8_value((__nv_fp8_storage_t)(__x & 0xff), as),                       \
                               tilescope_fp8_value((__nv_fp8_storage_t)(__x >> 8), as));                        \
        }                                                                                                       \
    };                                                                                                          \
    struct __attribute__((aligned(4))) __nv_fp8x4_##name {                                                      \
        __nv_fp8x4_storage_t __x;                                                                               \
        __nv_fp8x4_##name() = default;                                                                          \
        __host__ __device__ explicit __nv_fp8x4_##name(float4 x)                                                \
            : __x((unsigned int)__nv_cvt_float2_to_fp8x2(make_float2(x.z, x.w), __NV_SATFINITE, as) << 16 |     \
                  __nv_cvt_float2_to_fp8x2(make_float2(x.x, x.y), __NV_SATFINITE, as)) {}                       \
        __host__ __device__ explicit operator float4() const {                                                  \
            return make_float4(tilescope_fp8_value((__nv_fp8_storage_t)(__x & 0xff), as),                       \
                               tilescope_fp8_value((__nv_fp8_storage_t)(__x >> 8 & 0xff), as),                  \
                               tilescope_fp8_value((__nv_fp8_storage_t)(__x >> 16 & 0xff), as),                 \
                               tilescope_fp8_value((__nv_fp8_storage_t)(__x >> 24), as));                       \
        }                                                                                                       \
    };
TILESCOPE_FP8_TYPE(e4m3, __NV_E4M3)
TILESCOPE_FP8_TYPE(e5m2, __NV_E5M2)
#undef TILESCOPE_FP8_TYPE
#undef TILESCOPE_FP8
