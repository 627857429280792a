// The mathematical functions of float in device code.
//
//   fast intrinsics (__sinf, __expf, ...)    PTX's approximations, as CUDA documents them
//   expf, exp2f, exp10f                      ex2.approx after the argument is reduced: 2 ulp
//   sinf, cosf, logf and their kin           short series in double, rounded once: 1 ulp
//   all others                               the function of double, rounded once
//
// Source: CUDA C++ Programming Guide, "Intrinsic Functions"; PTX ISA, 9.7.3 (ex2, lg2, sin, cos, rcp, rsqrt: .approx).
#pragma once

#define TILESCOPE_APPROXIMATE(name, instruction) TILESCOPE_UNARY(name, instruction, float, "f", float, "f")
TILESCOPE_APPROXIMATE(tilescope_ex2, "ex2.approx.f32")
TILESCOPE_APPROXIMATE(tilescope_lg2, "lg2.approx.f32")
TILESCOPE_APPROXIMATE(__nv_fast_sinf, "sin.approx.f32")
TILESCOPE_APPROXIMATE(__nv_fast_cosf, "cos.approx.f32")
TILESCOPE_APPROXIMATE(__nv_rsqrtf, "rsqrt.approx.f32")
TILESCOPE_BINARY(__nv_fast_fdividef, "div.approx.f32", float, "f")
TILESCOPE_DEVICE float __nv_frsqrt_rn(float x) { return (float)(1.0 / __nv_sqrt((double)x)); }
TILESCOPE_DEVICE float __nv_fast_expf(float x) { return tilescope_ex2(x * 1.44269504f); }
TILESCOPE_DEVICE float __nv_fast_exp10f(float x) { return tilescope_ex2(x * 3.32192809f); }
TILESCOPE_DEVICE float __nv_fast_log2f(float x) { return tilescope_lg2(x); }
TILESCOPE_DEVICE float __nv_fast_logf(float x) { return tilescope_lg2(x) * 0.693147181f; }
TILESCOPE_DEVICE float __nv_fast_log10f(float x) { return tilescope_lg2(x) * 0.301029996f; }
TILESCOPE_DEVICE float __nv_fast_powf(float x, float y) { return tilescope_ex2(y * tilescope_lg2(x)); }
TILESCOPE_DEVICE float __nv_fast_tanf(float x) {
    return __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x));
}
TILESCOPE_DEVICE void __nv_fast_sincosf(float x, float* sine, float* cosine) {
    *sine = __nv_fast_sinf(x);
    *cosine = __nv_fast_cosf(x);
}

// --- exponentials: 2^n, exact, times 2^f with |f| < 1. n is cut towards zero, so that it stays below 128.

TILESCOPE_DEVICE float __nv_exp2f(float x) { return tilescope_ex2(x); }
TILESCOPE_DEVICE float __nv_expf(float x) {
    const float n = __nv_truncf(x * 1.44269504f);
    float r = __nv_fmaf(-n, 0.693147182f, x);
    r = __nv_fmaf(-n, -1.90465421e-9f, r);
    const float y = tilescope_ex2(r * 1.44269504f) * tilescope_ex2(n);
    return x > 105.0f ? __builtin_inff() : x < -105.0f ? 0.0f : y;
}
TILESCOPE_DEVICE float __nv_exp10f(float x) {
    const float n = __nv_truncf(x * 3.32192809f);
    float r = __nv_fmaf(-n, 0.301029992f, x);
    r = __nv_fmaf(-n, 1.54813335e-08f, r);
    const float y = tilescope_ex2(r * 3.32192809f) * tilescope_ex2(n);
    return x > 46.0f ? __builtin_inff() : x < -46.0f ? 0.0f : y;
}

// --- logarithms: 2 artanh((m - 1) / (m + 1)) of the mantissa m in [0.707, 1.414]

TILESCOPE_DEVICE double tilescope_logf(float x) {  // of a positive, finite x
    const bool tiny = x < 1.17549435e-38f;
    const unsigned bits = __nv_float_as_uint(tiny ? x * 16777216.0f : x);
    const unsigned up = bits + (0x3f800000u - 0x3f3504f3u);  // a mantissa above sqrt(2) counts to the next power
    const int exponent = (int)(up >> 23) - 127 - (tiny ? 24 : 0);
    const double m = __nv_uint_as_float((up & 0x007fffffu) + 0x3f3504f3u);
    const double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p = tilescope_polynomial(q, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0);
    return __nv_fma((double)exponent, 0.693147180559945286, p * s);
}
TILESCOPE_DEVICE float tilescope_logf_times(float x, double factor) {
    const float y = (float)(tilescope_logf(x) * factor);
    return x > 0 && x < __builtin_inff() ? y : x == 0 ? -__builtin_inff() : x > 0 ? x : __builtin_nanf("");
}
TILESCOPE_DEVICE float __nv_logf(float x) { return tilescope_logf_times(x, 1.0); }
TILESCOPE_DEVICE float __nv_log2f(float x) { return tilescope_logf_times(x, 1.4426950408889634); }
TILESCOPE_DEVICE float __nv_log10f(float x) { return tilescope_logf_times(x, 0.43429448190325182); }

// --- circle: reduced in double, which leaves 24 correct bits up to 2^51

TILESCOPE_DEVICE void tilescope_sincosf(double r, int quarter, float* sine, float* cosine) {  // |r| <= pi / 4
    const double q = r * r;
    double s = tilescope_polynomial(q, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0);
    s = __nv_fma(s * q, r, r);
    double c = tilescope_polynomial(q, -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0);
    const double a = quarter & 1 ? c : s, b = quarter & 1 ? s : c;
    *sine = (float)(quarter & 2 ? -a : a);
    *cosine = (float)((quarter + 1) & 2 ? -b : b);
}
TILESCOPE_DEVICE void __nv_sincosf(float x, float* sine, float* cosine) {
    const double n = __nv_rint((double)x * 0.63661977236758134);
    double r = __nv_fma(-n, 1.57079632679489656, (double)x);
    r = __nv_fma(-n, 6.123233995736766e-17, r);
    tilescope_sincosf(r, (int)(long long)n & 3, sine, cosine);
    if (!__nv_finitef(x)) *sine = *cosine = __builtin_nanf("");
}
TILESCOPE_ONE_OF(__nv_sinf, float, __nv_sincosf, x == 0 ? x : sine)
TILESCOPE_ONE_OF(__nv_cosf, float, __nv_sincosf, cosine)
TILESCOPE_DEVICE float __nv_tanf(float x) {
    double s, c;
    __nv_sincos((double)x, &s, &c);
    return (float)(s / c);
}
TILESCOPE_DEVICE void __nv_sincospif(float x, float* sine, float* cosine) {
    const float n = __nv_rintf(2.0f * x), r = x - 0.5f * n;
    tilescope_sincosf((double)r * 3.14159265358979312, (int)(long long)n & 3, sine, cosine);
    if (!__nv_finitef(x)) *sine = *cosine = __builtin_nanf("");
}
TILESCOPE_ONE_OF(__nv_sinpif, float, __nv_sincospif, sine)
TILESCOPE_ONE_OF(__nv_cospif, float, __nv_sincospif, cosine)

// --- the rest, through double

#define TILESCOPE_THROUGH_1(name) \
    TILESCOPE_DEVICE float name##f(float x) { return (float)name((double)x); }
#define TILESCOPE_THROUGH_2(name) \
    TILESCOPE_DEVICE float name##f(float x, float y) { return (float)name((double)x, (double)y); }
TILESCOPE_THROUGH_1(__nv_acos)
TILESCOPE_THROUGH_1(__nv_acosh)
TILESCOPE_THROUGH_1(__nv_asin)
TILESCOPE_THROUGH_1(__nv_asinh)
TILESCOPE_THROUGH_1(__nv_atan)
TILESCOPE_THROUGH_1(__nv_atanh)
TILESCOPE_THROUGH_1(__nv_cbrt)
TILESCOPE_THROUGH_1(__nv_cosh)
TILESCOPE_THROUGH_1(__nv_erf)
TILESCOPE_THROUGH_1(__nv_erfc)
TILESCOPE_THROUGH_1(__nv_erfcinv)
TILESCOPE_THROUGH_1(__nv_erfcx)
TILESCOPE_THROUGH_1(__nv_erfinv)
TILESCOPE_THROUGH_1(__nv_expm1)
TILESCOPE_THROUGH_1(__nv_lgamma)
TILESCOPE_THROUGH_1(__nv_log1p)
TILESCOPE_THROUGH_1(__nv_logb)
TILESCOPE_THROUGH_1(__nv_normcdf)
TILESCOPE_THROUGH_1(__nv_normcdfinv)
TILESCOPE_THROUGH_1(__nv_rcbrt)
TILESCOPE_THROUGH_1(__nv_sinh)
TILESCOPE_THROUGH_1(__nv_tanh)
TILESCOPE_THROUGH_1(__nv_tgamma)
TILESCOPE_THROUGH_2(__nv_atan2)
TILESCOPE_THROUGH_2(__nv_fmod)
TILESCOPE_THROUGH_2(__nv_pow)
TILESCOPE_THROUGH_2(__nv_remainder)
TILESCOPE_DEVICE float __nv_powif(float x, int n) { return (float)__nv_pow((double)x, n); }
// Squares of float fit double: nothing overflows.
TILESCOPE_DEVICE double tilescope_squares(float a, float b, float c, float d) {
    return (double)a * a + (double)b * b + (double)c * c + (double)d * d;
}
TILESCOPE_DEVICE float __nv_hypotf(float a, float b) { return (float)__nv_sqrt(tilescope_squares(a, b, 0, 0)); }
TILESCOPE_DEVICE float __nv_norm3df(float a, float b, float c) {
    return (float)__nv_sqrt(tilescope_squares(a, b, c, 0));
}
TILESCOPE_DEVICE float __nv_norm4df(float a, float b, float c, float d) {
    return (float)__nv_sqrt(tilescope_squares(a, b, c, d));
}
TILESCOPE_DEVICE float __nv_rhypotf(float a, float b) {
    return (float)(1.0 / __nv_sqrt(tilescope_squares(a, b, 0, 0)));
}
TILESCOPE_DEVICE float __nv_rnorm3df(float a, float b, float c) {
    return (float)(1.0 / __nv_sqrt(tilescope_squares(a, b, c, 0)));
}
TILESCOPE_DEVICE float __nv_rnorm4df(float a, float b, float c, float d) {
    return (float)(1.0 / __nv_sqrt(tilescope_squares(a, b, c, d)));
}
TILESCOPE_DEVICE float __nv_normf(int n, const float* values) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (double)values[i] * values[i];
    return (float)__nv_sqrt(sum);
}
TILESCOPE_DEVICE float __nv_rnormf(int n, const float* values) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (double)values[i] * values[i];
    return (float)(1.0 / __nv_sqrt(sum));
}
TILESCOPE_DEVICE float __nv_ldexpf(float x, int k) { return (float)__nv_ldexp((double)x, k); }
TILESCOPE_DEVICE float __nv_scalbnf(float x, int k) { return __nv_ldexpf(x, k); }
TILESCOPE_DEVICE float __nv_frexpf(float x, int* exponent) { return (float)__nv_frexp((double)x, exponent); }
TILESCOPE_DEVICE int __nv_ilogbf(float x) { return __nv_ilogb((double)x); }
TILESCOPE_DEVICE float __nv_remquof(float x, float y, int* bits) {
    return (float)__nv_remquo((double)x, (double)y, bits);
}
TILESCOPE_DEVICE float __nv_nextafterf(float x, float y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return __nv_copysignf(1.40129846e-45f, y);
    const int bits = __nv_float_as_int(x);
    return __nv_int_as_float((y > x) == (x > 0) ? bits + 1 : bits - 1);
}
