// Device functions below clang's own CUDA headers: __clang_cuda_device_functions.h and __clang_cuda_math.h
// forward what CUDA C++ offers (__popc, __fadd_rz, sinf) to functions called __nv_*, which the toolkit has in
// its library libdevice. Here they are written anew, so that nothing of the toolkit is needed.
//
//   here                          integers, conversions, rounding modes, simple arithmetic
//   tilescope_math_double.h       exp, log, sin, ... of double
//   tilescope_math_float.h        the same of float
//   tilescope_simd.h              two halves or four bytes of a word at a time
//
// What is declared and not defined (Bessel functions) is missing: a kernel that calls it is refused by name.
//
// Source: CUDA C++ Programming Guide, "Mathematical Functions"; CUDA Math API, "Type Casting Intrinsics",
// "Integer Intrinsics"; PTX ISA, 9.7.1 to 9.7.3 (arithmetic), 9.7.9 (cvt, prmt).
#pragma once

// Not debugged: an access inside belongs to the line that calls it.
#define TILESCOPE_DEVICE static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define TILESCOPE_DEVICE_LONG static __inline__ __attribute__((device, nodebug, unused))

// --- one PTX instruction each, in every rounding mode: rd down, rn nearest, ru up, rz to zero

#define TILESCOPE_UNARY(name, instruction, Out, out, In, in) \
    TILESCOPE_DEVICE Out name(In a) {                        \
        Out r;                                               \
        __asm__(instruction " %0, %1;" : "=" out(r) : in(a)); \
        return r;                                            \
    }
#define TILESCOPE_BINARY(name, instruction, T, c)                        \
    TILESCOPE_DEVICE T name(T a, T b) {                                  \
        T r;                                                             \
        __asm__(instruction " %0, %1, %2;" : "=" c(r) : c(a), c(b));     \
        return r;                                                        \
    }
#define TILESCOPE_TERNARY(name, instruction, T, c)                                  \
    TILESCOPE_DEVICE T name(T a, T b, T d) {                                        \
        T r;                                                                        \
        __asm__(instruction " %0, %1, %2, %3;" : "=" c(r) : c(a), c(b), c(d));      \
        return r;                                                                   \
    }
#define TILESCOPE_ROUNDED(form, name, operation, type, ...)            \
    form(name##_rd, operation ".rm." type, __VA_ARGS__)                \
    form(name##_rn, operation ".rn." type, __VA_ARGS__)                \
    form(name##_ru, operation ".rp." type, __VA_ARGS__)                \
    form(name##_rz, operation ".rz." type, __VA_ARGS__)

TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_fadd, "add", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_fsub, "sub", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_fmul, "mul", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_fdiv, "div", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_dadd, "add", "f64", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_dsub, "sub", "f64", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_dmul, "mul", "f64", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_BINARY, __nv_ddiv, "div", "f64", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_TERNARY, __nv_fmaf, "fma", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_TERNARY, __nv_fmaf_ieee, "fma", "f32", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_TERNARY, __nv_fma, "fma", "f64", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_frcp, "rcp", "f32", float, "f", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_fsqrt, "sqrt", "f32", float, "f", float, "f")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_drcp, "rcp", "f64", double, "d", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_dsqrt, "sqrt", "f64", double, "d", double, "d")

// --- conversions: to whole numbers with cvt's integer rounding, which also keeps to the target's range

#define TILESCOPE_TO_WHOLE(name, type, Out, out, In, in)                \
    TILESCOPE_UNARY(name##_rd, "cvt.rmi." type, Out, out, In, in)       \
    TILESCOPE_UNARY(name##_rn, "cvt.rni." type, Out, out, In, in)       \
    TILESCOPE_UNARY(name##_ru, "cvt.rpi." type, Out, out, In, in)       \
    TILESCOPE_UNARY(name##_rz, "cvt.rzi." type, Out, out, In, in)

TILESCOPE_TO_WHOLE(__nv_float2int, "s32.f32", int, "r", float, "f")
TILESCOPE_TO_WHOLE(__nv_float2uint, "u32.f32", unsigned int, "r", float, "f")
TILESCOPE_TO_WHOLE(__nv_float2ll, "s64.f32", long long, "l", float, "f")
TILESCOPE_TO_WHOLE(__nv_float2ull, "u64.f32", unsigned long long, "l", float, "f")
TILESCOPE_TO_WHOLE(__nv_double2int, "s32.f64", int, "r", double, "d")
TILESCOPE_TO_WHOLE(__nv_double2uint, "u32.f64", unsigned int, "r", double, "d")
TILESCOPE_TO_WHOLE(__nv_double2ll, "s64.f64", long long, "l", double, "d")
TILESCOPE_TO_WHOLE(__nv_double2ull, "u64.f64", unsigned long long, "l", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_double2float, "cvt", "f32.f64", float, "f", double, "d")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_int2float, "cvt", "f32.s32", float, "f", int, "r")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_uint2float, "cvt", "f32.u32", float, "f", unsigned int, "r")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_ll2float, "cvt", "f32.s64", float, "f", long long, "l")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_ull2float, "cvt", "f32.u64", float, "f", unsigned long long, "l")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_ll2double, "cvt", "f64.s64", double, "d", long long, "l")
TILESCOPE_ROUNDED(TILESCOPE_UNARY, __nv_ull2double, "cvt", "f64.u64", double, "d", unsigned long long, "l")
TILESCOPE_DEVICE double __nv_int2double_rn(int a) { return a; }
TILESCOPE_DEVICE double __nv_uint2double_rn(unsigned int a) { return a; }
TILESCOPE_UNARY(__nv_float2half_rn, "cvt.rn.f16.f32", unsigned short, "h", float, "f")
TILESCOPE_UNARY(__nv_half2float, "cvt.f32.f16", float, "f", unsigned short, "h")

#define TILESCOPE_BITS(name, From, To)      \
    TILESCOPE_DEVICE To name(From a) {      \
        To r;                               \
        __builtin_memcpy(&r, &a, sizeof r); \
        return r;                           \
    }
TILESCOPE_BITS(__nv_float_as_int, float, int)
TILESCOPE_BITS(__nv_float_as_uint, float, unsigned int)
TILESCOPE_BITS(__nv_int_as_float, int, float)
TILESCOPE_BITS(__nv_uint_as_float, unsigned int, float)
TILESCOPE_BITS(__nv_double_as_longlong, double, long long)
TILESCOPE_BITS(__nv_longlong_as_double, long long, double)
TILESCOPE_DEVICE int __nv_double2hiint(double a) { return (int)(__nv_double_as_longlong(a) >> 32); }
TILESCOPE_DEVICE int __nv_double2loint(double a) { return (int)__nv_double_as_longlong(a); }
TILESCOPE_DEVICE double __nv_hiloint2double(int high, int low) {
    return __nv_longlong_as_double((long long)(((unsigned long long)(unsigned)high << 32) | (unsigned)low));
}

// --- integers

TILESCOPE_DEVICE int __nv_abs(int a) { return a < 0 ? -a : a; }
TILESCOPE_DEVICE long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
TILESCOPE_DEVICE int __nv_min(int a, int b) { return a < b ? a : b; }
TILESCOPE_DEVICE int __nv_max(int a, int b) { return a > b ? a : b; }
TILESCOPE_DEVICE unsigned int __nv_umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
TILESCOPE_DEVICE unsigned int __nv_umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
TILESCOPE_DEVICE long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
TILESCOPE_DEVICE long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
TILESCOPE_DEVICE unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
TILESCOPE_DEVICE unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}
TILESCOPE_DEVICE int __nv_popc(unsigned int a) { return __builtin_popcount(a); }
TILESCOPE_DEVICE int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
TILESCOPE_DEVICE int __nv_clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
TILESCOPE_DEVICE int __nv_clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
// From 1; 0 for none.
TILESCOPE_DEVICE int __nv_ffs(int a) { return a == 0 ? 0 : 32 - __nv_clz(a & -a); }
TILESCOPE_DEVICE int __nv_ffsll(long long a) { return a == 0 ? 0 : 64 - __nv_clzll(a & -a); }
TILESCOPE_DEVICE unsigned int __nv_brev(unsigned int a) { return __builtin_bitreverse32(a); }
TILESCOPE_DEVICE unsigned long long __nv_brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
TILESCOPE_DEVICE unsigned int __nv_byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
    // Only three bits of each choice count here; prmt's fourth would spread the sign.
    unsigned int r;
    __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector & 0x7777u));
    return r;
}
TILESCOPE_DEVICE int __nv_mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
TILESCOPE_DEVICE unsigned int __nv_umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
TILESCOPE_BINARY(__nv_mul64hi, "mul.hi.s64", long long, "l")
TILESCOPE_BINARY(__nv_umul64hi, "mul.hi.u64", unsigned long long, "l")
// 24 bits of each, the lower 32 of the product.
TILESCOPE_DEVICE int __nv_mul24(int a, int b) {
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
TILESCOPE_DEVICE unsigned int __nv_umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
TILESCOPE_DEVICE unsigned int __nv_sad(int a, int b, unsigned int c) {
    return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
TILESCOPE_DEVICE unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a > b ? a - b : b - a);
}
TILESCOPE_DEVICE int __nv_hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
TILESCOPE_DEVICE int __nv_rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
TILESCOPE_DEVICE unsigned int __nv_uhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b) >> 1);
}
TILESCOPE_DEVICE unsigned int __nv_urhadd(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}

// --- what both types of numbers have, and is exact or correctly rounded

#define TILESCOPE_SIMPLE(f, T, U, magnitude, sign)                                                \
    TILESCOPE_DEVICE T __nv_fabs##f(T a) { return __builtin_fabs##f(a); }                         \
    TILESCOPE_DEVICE T __nv_floor##f(T a) { return __builtin_floor##f(a); }                       \
    TILESCOPE_DEVICE T __nv_ceil##f(T a) { return __builtin_ceil##f(a); }                         \
    TILESCOPE_DEVICE T __nv_trunc##f(T a) { return __builtin_trunc##f(a); }                       \
    TILESCOPE_DEVICE T __nv_rint##f(T a) { return __builtin_rint##f(a); }                         \
    TILESCOPE_DEVICE T __nv_nearbyint##f(T a) { return __builtin_rint##f(a); }                    \
    TILESCOPE_DEVICE T __nv_fma##f(T a, T b, T c) { return __builtin_fma##f(a, b, c); }           \
    TILESCOPE_DEVICE T __nv_fmin##f(T a, T b) { return __builtin_fmin##f(a, b); }                 \
    TILESCOPE_DEVICE T __nv_fmax##f(T a, T b) { return __builtin_fmax##f(a, b); }                 \
    TILESCOPE_DEVICE T __nv_copysign##f(T a, T b) {                                               \
        U x, y;                                                                                   \
        __builtin_memcpy(&x, &a, sizeof x);                                                       \
        __builtin_memcpy(&y, &b, sizeof y);                                                       \
        x = (x & (magnitude)) | (y & (sign));                                                     \
        __builtin_memcpy(&a, &x, sizeof x);                                                       \
        return a;                                                                                 \
    }                                                                                             \
    /* Halves away from zero; the difference is exact, so 0.49999997 stays 0. */                  \
    TILESCOPE_DEVICE T __nv_round##f(T a) {                                                       \
        const T whole = __nv_trunc##f(a);                                                         \
        return __nv_fabs##f(a - whole) >= (T)0.5 ? whole + __nv_copysign##f((T)1, a)              \
                                                 : __nv_copysign##f(whole, a);                    \
    }                                                                                             \
    TILESCOPE_DEVICE long long __nv_llrint##f(T a) { return (long long)__nv_rint##f(a); }         \
    TILESCOPE_DEVICE long long __nv_llround##f(T a) { return (long long)__nv_round##f(a); }       \
    TILESCOPE_DEVICE T __nv_fdim##f(T a, T b) { return a <= b ? (T)0 : a - b; }                   \
    TILESCOPE_DEVICE T __nv_modf##f(T a, T* whole) {                                              \
        *whole = __nv_trunc##f(a);                                                                \
        return __nv_copysign##f(a == *whole ? (T)0 : a - *whole, a);                              \
    }
TILESCOPE_SIMPLE(f, float, unsigned int, 0x7fffffffu, 0x80000000u)
TILESCOPE_SIMPLE(, double, unsigned long long, 0x7fffffffffffffffull, 0x8000000000000000ull)
TILESCOPE_DEVICE float __nv_sqrtf(float a) {
#ifdef __CUDA_ARCH__
    return __nvvm_sqrt_rn_f(a);
#else
    return a;
#endif
}
TILESCOPE_DEVICE double __nv_sqrt(double a) {
#ifdef __CUDA_ARCH__
    return __nvvm_sqrt_rn_d(a);
#else
    return a;
#endif
}
TILESCOPE_DEVICE float __nv_saturatef(float a) { return __nv_fminf(__nv_fmaxf(a, 0.0f), 1.0f); }
TILESCOPE_DEVICE int __nv_signbitf(float a) { return (int)(__nv_float_as_uint(a) >> 31); }
TILESCOPE_DEVICE int __nv_signbitd(double a) { return (int)((unsigned)__nv_double2hiint(a) >> 31); }
TILESCOPE_DEVICE int __nv_isnanf(float a) { return a != a; }
TILESCOPE_DEVICE int __nv_isnand(double a) { return a != a; }
TILESCOPE_DEVICE int __nv_isinff(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
TILESCOPE_DEVICE int __nv_isinfd(double a) { return __builtin_fabs(a) == __builtin_inf(); }
TILESCOPE_DEVICE int __nv_finitef(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
TILESCOPE_DEVICE int __nv_isfinited(double a) { return __builtin_fabs(a) < __builtin_inf(); }

#include "tilescope_math_double.h"
#include "tilescope_math_float.h"
#include "tilescope_simd.h"

// --- declared by clang's headers, and missing

extern "C" {
#define TILESCOPE_MISSING __attribute__((device))
TILESCOPE_MISSING double __nv_j0(double);
TILESCOPE_MISSING float __nv_j0f(float);
TILESCOPE_MISSING double __nv_j1(double);
TILESCOPE_MISSING float __nv_j1f(float);
TILESCOPE_MISSING double __nv_jn(int, double);
TILESCOPE_MISSING float __nv_jnf(int, float);
TILESCOPE_MISSING double __nv_y0(double);
TILESCOPE_MISSING float __nv_y0f(float);
TILESCOPE_MISSING double __nv_y1(double);
TILESCOPE_MISSING float __nv_y1f(float);
TILESCOPE_MISSING double __nv_yn(int, double);
TILESCOPE_MISSING float __nv_ynf(int, float);
TILESCOPE_MISSING double __nv_cyl_bessel_i0(double);
TILESCOPE_MISSING float __nv_cyl_bessel_i0f(float);
TILESCOPE_MISSING double __nv_cyl_bessel_i1(double);
TILESCOPE_MISSING float __nv_cyl_bessel_i1f(float);
#undef TILESCOPE_MISSING
}
