// The mathematical functions of double in device code, in plain arithmetic.
//
// Error, against the exact value: 1.2 ulp for exp, exp2, exp10, log, log2, log10, log1p, sin, cos, pow, cbrt, hypot;
// 4 ulp for expm1, tan, asin, acos, atan, sinh, cosh, tanh and their inverses; 1e-13, relative, for erf, erfc, normcdf,
// tgamma and lgamma (absolute where its value is below 1) and what is made of them. sin, cos and tan reduce their
// argument exactly enough up to 2^51; beyond that they have no correct digits.
//
// The series are Taylor's, cut where the next term lies below 2^-55 at the end of the reduced range. Sums and products that need more than 53
// bits keep their rounding error beside them (T. Dekker, "A floating-point technique for extending the available precision", 1971):
// such a product is written __nv_dmul_rn, which the compiler does not merge into a sum.
#pragma once

#define TILESCOPE_INF __builtin_inf()
#define TILESCOPE_NAN __builtin_nan("")

// --- scale

// 2^k for k from -1022 to 1023.
TILESCOPE_DEVICE double tilescope_power_of_2(int k) { return __nv_longlong_as_double((long long)(k + 1023) << 52); }

TILESCOPE_DEVICE_LONG double __nv_ldexp(double x, int k) {
    // In three steps, as no power beyond 2^1023 is a number; the first two lose nothing that counts.
    k = __nv_max(-2200, __nv_min(2200, k));
    for (int step = 0; step < 2 && (k > 1000 || k < -900); ++step) {
        const int part = k > 0 ? 1000 : -900;
        x *= tilescope_power_of_2(part);
        k -= part;
    }
    return x * tilescope_power_of_2(__nv_max(-1022, __nv_min(1023, k)));
}
TILESCOPE_DEVICE double __nv_scalbn(double x, int k) { return __nv_ldexp(x, k); }

// x = m * 2^exponent with |m| in [0.5, 1); 0, infinities and NaN come back.
TILESCOPE_DEVICE_LONG double __nv_frexp(double x, int* exponent) {
    *exponent = 0;
    if (x == 0 || !__nv_isfinited(x)) return x;
    int add = 0;
    if (__nv_fabs(x) < 2.2250738585072014e-308) {
        x *= 18014398509481984.0;  // 2^54
        add = -54;
    }
    const long long bits = __nv_double_as_longlong(x);
    *exponent = (int)((bits >> 52) & 0x7ff) - 1022 + add;
    return __nv_longlong_as_double((bits & (long long)0x800fffffffffffffull) | 0x3fe0000000000000ll);
}
TILESCOPE_DEVICE_LONG int __nv_ilogb(double x) {
    if (x == 0 || x != x) return (int)0x80000000;
    if (!__nv_isfinited(x)) return 0x7fffffff;
    int exponent;
    __nv_frexp(x, &exponent);
    return exponent - 1;
}
TILESCOPE_DEVICE_LONG double __nv_logb(double x) {
    if (x == 0) return -TILESCOPE_INF;
    if (!__nv_isfinited(x)) return x * x;
    return __nv_ilogb(x);
}

// --- series

// c x^n + next x^(n - 1) + ..., a rounding a step.
TILESCOPE_DEVICE double tilescope_polynomial(double, double c) { return c; }
template <class... More>
TILESCOPE_DEVICE double tilescope_polynomial(double x, double c, double next, More... more) {
    return tilescope_polynomial(x, __nv_fma(c, x, next), more...);
}

// --- exponential

// e^(high + low), |low| far below |high|.
TILESCOPE_DEVICE_LONG double tilescope_exp(double high, double low) {
    if (high != high) return high;
    if (high > 710) return TILESCOPE_INF;
    if (high < -746) return 0;
    const double n = __nv_rint(high * 1.4426950408889634);
    double r = __nv_fma(-n, 0.693147180559945286, high);  // exact: fewer than 53 bits are left
    r = __nv_fma(-n, 2.3190468138462996e-17, r) + low;    // |r| <= ln(2)/2
    double p = tilescope_polynomial(r, 1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                    1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
                                    1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5);
    p = __nv_fma(p * r, r, r) + 1.0;
    const int k = (int)n;
    return p * tilescope_power_of_2(k >> 1) * tilescope_power_of_2(k - (k >> 1));
}
TILESCOPE_DEVICE double __nv_exp(double x) { return tilescope_exp(x, 0); }
TILESCOPE_DEVICE double __nv_exp2(double x) {
    const double high = __nv_dmul_rn(x, 0.693147180559945286);
    const bool fits = __nv_fabs(x) < 1100;
    return tilescope_exp(high, fits ? __nv_fma(x, 0.693147180559945286, -high) + x * 2.3190468138462996e-17 : 0);
}
TILESCOPE_DEVICE double __nv_exp10(double x) {
    const double high = __nv_dmul_rn(x, 2.302585092994045684);
    const bool fits = __nv_fabs(x) < 400;
    return tilescope_exp(high, fits ? __nv_fma(x, 2.302585092994045684, -high) - x * 2.1707562233822494e-16 : 0);
}
TILESCOPE_DEVICE_LONG double __nv_expm1(double x) {
    if (__nv_fabs(x) > 0.35) return __nv_exp(x) - 1.0;
    double p = 0;  // (e^x - 1 - x) / x^2
    for (int k = 15; k >= 2; --k) p = (p * x + 1.0) / k;
    return __nv_fma(x * x, p, x);
}

// --- logarithm

// ln x of a positive, finite x as a sum of two.
TILESCOPE_DEVICE_LONG double tilescope_log(double x, double* low) {
    int exponent;
    double m = __nv_frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent -= 1;
    }
    // ln m = 2 artanh s with s = (m - 1) / (m + 1), |s| < 0.1716: 2s + s^3 (2/3 + 2/5 s^2 + ...)
    const double f = m - 1.0, d = m + 1.0, d_low = f - (d - 2.0);
    const double s = f / d, s_low = (__nv_fma(-s, d, f) - s * d_low) / d;
    const double q = __nv_dmul_rn(s, s), q_low = __nv_fma(s, s, -q) + 2.0 * s * s_low;
    double p = tilescope_polynomial(q, 2.0 / 23.0, 2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0,
                                    2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0);
    p = __nv_fma(p, q, 2.0 / 5.0) * q;
    const double third = 0.66666666666666663, t = third + p, t_low = (third - t) + p + 3.7007434154171883e-17;
    const double w = __nv_dmul_rn(q, t), w_low = __nv_fma(q, t, -w) + q * t_low + q_low * t;
    const double v = __nv_dmul_rn(s, w), v_low = __nv_fma(s, w, -v) + s * w_low + s_low * w;
    const double a = 2.0 * s, sum = a + v, sum_low = (a - sum) + v + (v_low + 2.0 * s_low);
    const double e = exponent, big = __nv_dmul_rn(e, 0.693147180559945286);
    const double big_low = __nv_fma(e, 0.693147180559945286, -big) + e * 2.3190468138462996e-17;
    // Two-sum: either may be the larger one.
    const double high = big + sum, back = high - big;
    const double rest = (big - (high - back)) + (sum - back) + (sum_low + big_low);
    const double out = high + rest;
    *low = (high - out) + rest;
    return out;
}
TILESCOPE_DEVICE_LONG double tilescope_log_times(double x, double factor, double factor_low) {
    if (x != x || x < 0) return TILESCOPE_NAN;
    if (x == 0) return -TILESCOPE_INF;
    if (x == TILESCOPE_INF) return x;
    double low;
    const double high = tilescope_log(x, &low), product = __nv_dmul_rn(high, factor);
    return product + (__nv_fma(high, factor, -product) + low * factor + high * factor_low);
}
TILESCOPE_DEVICE double __nv_log(double x) { return tilescope_log_times(x, 1, 0); }
TILESCOPE_DEVICE double __nv_log2(double x) { return tilescope_log_times(x, 1.4426950408889634, 2.0355273740931033e-17); }
TILESCOPE_DEVICE double __nv_log10(double x) { return tilescope_log_times(x, 0.43429448190325182, 1.0983196502167651e-17); }
TILESCOPE_DEVICE_LONG double __nv_log1p(double x) {
    const double y = 1.0 + x;
    if (!(y > 0) || y == TILESCOPE_INF) return __nv_log(y);
    // What the sum lost is put back: ln(y + c) = ln y + c / y.
    return y == 1.0 ? x : __nv_log(y) + (x - (y - 1.0)) / y;
}

// --- powers

TILESCOPE_DEVICE_LONG double __nv_pow(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    const double size = __nv_fabs(x);
    const bool whole = __nv_trunc(y) == y, odd = whole && __nv_fabs(y) < 9007199254740992.0 && ((long long)y & 1);
    const double sign = odd && __nv_signbitd(x) ? -1.0 : 1.0;
    if (size == 1 && (__nv_isinfd(y) || whole)) return sign;
    if (size == 0 || size == TILESCOPE_INF || __nv_isinfd(y))
        return ((size > 1) == (y > 0)) ? sign * TILESCOPE_INF : sign * 0.0;
    if (x < 0 && !whole) return TILESCOPE_NAN;
    double low;
    const double high = tilescope_log(size, &low), product = __nv_dmul_rn(y, high);
    if (__nv_fabs(product) > 800) return sign * tilescope_exp(product, 0);
    return sign * tilescope_exp(product, __nv_fma(y, high, -product) + y * low);
}
TILESCOPE_DEVICE double __nv_powi(double x, int n) { return __nv_pow(x, n); }
TILESCOPE_DEVICE_LONG double __nv_cbrt(double x) {
    if (x == 0 || !__nv_isfinited(x)) return x;
    const double a = __nv_fabs(x);
    double y = __nv_exp(__nv_log(a) / 3.0);
    y -= (y - a / (y * y)) / 3.0;  // one step of Newton's
    return __nv_copysign(y, x);
}
TILESCOPE_DEVICE double __nv_rcbrt(double x) { return 1.0 / __nv_cbrt(x); }
TILESCOPE_DEVICE double __nv_rsqrt(double x) { return 1.0 / __nv_sqrt(x); }
TILESCOPE_DEVICE_LONG double __nv_norm4d(double a, double b, double c, double d) {
    a = __nv_fabs(a), b = __nv_fabs(b), c = __nv_fabs(c), d = __nv_fabs(d);
    const double most = __nv_fmax(__nv_fmax(a, b), __nv_fmax(c, d));
    if (a == TILESCOPE_INF || b == TILESCOPE_INF || c == TILESCOPE_INF || d == TILESCOPE_INF) return TILESCOPE_INF;
    if (!(most > 0)) return a + b + c + d;
    // A power of two as scale rounds nothing.
    const int k = __nv_ilogb(most);
    const double s = __nv_ldexp(1.0, -k / 2), t = __nv_ldexp(1.0, -k + k / 2);
    a = a * s * t, b = b * s * t, c = c * s * t, d = d * s * t;
    return __nv_ldexp(__nv_sqrt(a * a + b * b + c * c + d * d), k);
}
TILESCOPE_DEVICE double __nv_norm3d(double a, double b, double c) { return __nv_norm4d(a, b, c, 0); }
TILESCOPE_DEVICE double __nv_hypot(double a, double b) { return __nv_norm4d(a, b, 0, 0); }
TILESCOPE_DEVICE double __nv_rhypot(double a, double b) { return 1.0 / __nv_hypot(a, b); }
TILESCOPE_DEVICE double __nv_rnorm3d(double a, double b, double c) { return 1.0 / __nv_norm3d(a, b, c); }
TILESCOPE_DEVICE double __nv_rnorm4d(double a, double b, double c, double d) { return 1.0 / __nv_norm4d(a, b, c, d); }
TILESCOPE_DEVICE_LONG double __nv_norm(int n, const double* values) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum = __nv_hypot(sum, values[i]);
    return sum;
}
TILESCOPE_DEVICE double __nv_rnorm(int n, const double* values) { return 1.0 / __nv_norm(n, values); }

// --- remainders, exact

// x - n y with n cut towards zero; its lowest bits of n in *quotient.
TILESCOPE_DEVICE_LONG double tilescope_remainder(double x, double y, unsigned* quotient) {
    *quotient = 0;
    double r = __nv_fabs(x);
    const double d = __nv_fabs(y);
    if (!(d > 0) || !(r < TILESCOPE_INF) || d != d) return TILESCOPE_NAN;
    if (d == TILESCOPE_INF) return x;
    while (r >= d) {
        // The largest d 2^k not above r, taken off once or twice: no difference rounds.
        int k = __nv_ilogb(r) - __nv_ilogb(d);
        double part = __nv_ldexp(d, k);
        if (part > r) part = __nv_ldexp(d, --k);
        r -= part;
        if (k < 32) *quotient += 1u << k;
    }
    return __nv_copysign(r, x);
}
TILESCOPE_DEVICE double __nv_fmod(double x, double y) {
    unsigned quotient;
    return tilescope_remainder(x, y, &quotient);
}
TILESCOPE_DEVICE_LONG double __nv_remquo(double x, double y, int* bits) {
    unsigned quotient;
    double r = tilescope_remainder(x, y, &quotient);
    const double a = __nv_fabs(r), d = __nv_fabs(y), rest = d - a;
    if (a > rest || (a == rest && (quotient & 1))) {
        r = __nv_copysign(rest, r) * -1.0;
        ++quotient;
    }
    *bits = (__nv_signbitd(x) != __nv_signbitd(y)) ? -(int)(quotient & 7) : (int)(quotient & 7);
    return r == 0 ? __nv_copysign(0.0, x) : r;
}
TILESCOPE_DEVICE double __nv_remainder(double x, double y) {
    int bits;
    return __nv_remquo(x, y, &bits);
}
TILESCOPE_DEVICE_LONG double __nv_nextafter(double x, double y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0) return __nv_copysign(4.9406564584124654e-324, y);
    const long long bits = __nv_double_as_longlong(x);
    return __nv_longlong_as_double((y > x) == (x > 0) ? bits + 1 : bits - 1);
}

// --- circle

TILESCOPE_DEVICE double tilescope_sin_series(double r, double low) {  // |r| <= pi / 4
    const double q = r * r;
    double p = tilescope_polynomial(q, 1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0,
                                    -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0,
                                    -1.0 / 6.0);
    return r + (p * q * r + low * (1.0 - 0.5 * q));
}
TILESCOPE_DEVICE double tilescope_cos_series(double r, double low) {
    const double q = r * r;
    double p = tilescope_polynomial(q, 1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0,
                                    -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0);
    const double half = 0.5 * q, head = 1.0 - half;
    return head + (((1.0 - head) - half) + (p * q * q - r * low));
}
// r + *low = x - n pi / 2; returns n's last two bits. The first product leaves no more than 53 bits: exact.
TILESCOPE_DEVICE int tilescope_quarter(double x, double* r, double* low) {
    const double n = __nv_rint(x * 0.63661977236758134);
    const double a = __nv_fma(-n, 1.57079632679489656, x);
    const double b = __nv_dmul_rn(n, 6.123233995736766e-17), b_low = __nv_fma(n, 6.123233995736766e-17, -b);
    *r = a - b;
    *low = (a - *r) - b - b_low + n * 1.4973849048591833e-33;
    return (int)(long long)n & 3;
}
TILESCOPE_DEVICE_LONG void tilescope_sincos(double x, int quarters, double* sine, double* cosine) {
    double r, low;
    const int quarter = (tilescope_quarter(x, &r, &low) + quarters) & 3;
    const double s = tilescope_sin_series(r, low), c = tilescope_cos_series(r, low);
    const double a = quarter & 1 ? c : s, b = quarter & 1 ? s : c;
    *sine = quarter & 2 ? -a : a;
    *cosine = (quarter + 1) & 2 ? -b : b;
}
TILESCOPE_DEVICE void __nv_sincos(double x, double* sine, double* cosine) {
    tilescope_sincos(x, 0, sine, cosine);
    if (__nv_isinfd(x)) *sine = *cosine = TILESCOPE_NAN;
    if (x == 0) *sine = x;
}
#define TILESCOPE_ONE_OF(name, T, both, which) \
    TILESCOPE_DEVICE T name(T x) {             \
        T sine, cosine;                        \
        both(x, &sine, &cosine);               \
        return which;                          \
    }
TILESCOPE_ONE_OF(__nv_sin, double, __nv_sincos, sine)
TILESCOPE_ONE_OF(__nv_cos, double, __nv_sincos, cosine)
TILESCOPE_ONE_OF(__nv_tan, double, __nv_sincos, sine / cosine)
TILESCOPE_DEVICE_LONG void __nv_sincospi(double x, double* sine, double* cosine) {
    // Two turns fewer change nothing, and what is left is exact.
    const double n = __nv_rint(2.0 * x), r = x - 0.5 * n;
    const int quarter = (int)(long long)(n - 4.0 * __nv_floor(0.25 * n));
    tilescope_sincos(r * 3.14159265358979312, quarter, sine, cosine);
    if (!__nv_isfinited(x)) *sine = *cosine = TILESCOPE_NAN;
}
TILESCOPE_ONE_OF(__nv_sinpi, double, __nv_sincospi, sine)
TILESCOPE_ONE_OF(__nv_cospi, double, __nv_sincospi, cosine)
// atan a = atan c + atan((a - c) / (1 + a c)) with c the nearest quarter.
TILESCOPE_DEVICE_LONG double __nv_atan(double x) {
    const double size = __nv_fabs(x), a = size > 1 ? 1.0 / size : size;
    const double quarters = __nv_rint(4.0 * a), c = 0.25 * quarters;
    const double t = (a - c) / (1.0 + a * c), q = t * t;
    double p = 0;  // |t| <= 1/8
    for (int k = 17; k >= 3; k -= 2) p = (1.0 / k - p) * q;
    const double known = quarters == 0   ? 0.0
                         : quarters == 1 ? 0.24497866312686414
                         : quarters == 2 ? 0.4636476090008061
                         : quarters == 3 ? 0.6435011087932844
                                         : 0.7853981633974483;
    const double low = quarters == 0   ? 0.0
                       : quarters == 1 ? 1.0698755618734451e-17
                       : quarters == 2 ? 2.2698777452961687e-17
                       : quarters == 3 ? 1.5834785051444286e-17
                                       : 3.061616997868383e-17;
    const double rest = (low - t * p) + t;
    if (x != x) return x;
    if (size <= 1) return __nv_copysign(known + rest, x);
    return __nv_copysign((1.57079632679489656 - known) - (rest - 6.123233995736766e-17), x);
}
TILESCOPE_DEVICE_LONG double __nv_atan2(double y, double x) {
    if (x != x || y != y) return x + y;
    const double a = __nv_fabs(y), b = __nv_fabs(x);
    double angle = (a == 0 && b == 0) ? 0 : (__nv_isinfd(a) && __nv_isinfd(b)) ? 0.78539816339744828 : __nv_atan(a / b);
    if (__nv_signbitd(x)) angle = 3.14159265358979312 - (angle - 1.2246467991473532e-16);
    return __nv_copysign(angle, y);
}
TILESCOPE_DEVICE double __nv_asin(double x) { return __nv_atan2(x, __nv_sqrt((1.0 - x) * (1.0 + x))); }
TILESCOPE_DEVICE double __nv_acos(double x) { return 2.0 * __nv_atan2(__nv_sqrt(1.0 - x), __nv_sqrt(1.0 + x)); }

// --- hyperbola

TILESCOPE_DEVICE_LONG double __nv_sinh(double x) {
    const double a = __nv_fabs(x);
    if (a > 30) return __nv_copysign(0.5 * __nv_exp(0.5 * a) * __nv_exp(0.5 * a), x);
    const double e = __nv_expm1(a);
    return __nv_copysign(0.5 * (e + e / (e + 1.0)), x);
}
TILESCOPE_DEVICE_LONG double __nv_cosh(double x) {
    const double e = __nv_exp(0.5 * __nv_fabs(x));
    return 0.5 * e * e + 0.5 / (e * e);
}
TILESCOPE_DEVICE_LONG double __nv_tanh(double x) {
    const double a = __nv_fabs(x);
    if (a > 22) return __nv_copysign(1.0, x);
    const double e = __nv_expm1(2.0 * a);
    return x != x ? x : __nv_copysign(e / (e + 2.0), x);
}
TILESCOPE_DEVICE_LONG double __nv_asinh(double x) {
    const double a = __nv_fabs(x);
    if (a > 1e8) return __nv_copysign(__nv_log(a) + 0.693147180559945286, x);
    return __nv_copysign(__nv_log1p(a + a * a / (1.0 + __nv_sqrt(1.0 + a * a))), x);
}
TILESCOPE_DEVICE double __nv_acosh(double x) {
    const double t = x - 1.0;
    return x > 1e8 ? __nv_log(x) + 0.693147180559945286 : __nv_log1p(t + __nv_sqrt(2.0 * t + t * t));
}
TILESCOPE_DEVICE double __nv_atanh(double x) {
    const double a = __nv_fabs(x);
    return __nv_copysign(0.5 * __nv_log1p(2.0 * a / (1.0 - a)), x);
}

// --- errors and gamma

// e^(x^2) erfc x for x >= 1.5: the continued fraction 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))) / sqrt(pi).
TILESCOPE_DEVICE_LONG double tilescope_erfc_tail(double x) {
    double f = x;
    for (int k = 120; k >= 1; --k) f = x + 0.5 * k / f;
    return 0.56418958354775629 / f;
}
// x times the sum of 2^n x^(2n) / (1 3 5 ... (2n + 1)), all positive: nothing cancels.
TILESCOPE_DEVICE_LONG double tilescope_erf_series(double x) {
    double term = x, sum = x;
    for (int k = 1; k < 60; ++k) {
        term *= 2.0 * x * x / (2 * k + 1);
        sum += term;
    }
    return 1.1283791670955126 * __nv_exp(-x * x) * sum;
}
TILESCOPE_DEVICE_LONG double __nv_erf(double x) {
    const double a = __nv_fabs(x);
    if (x != x) return x;
    return __nv_copysign(a < 1.5 ? tilescope_erf_series(a) : a > 6 ? 1.0 : 1.0 - __nv_exp(-a * a) * tilescope_erfc_tail(a), x);
}
TILESCOPE_DEVICE_LONG double __nv_erfcx(double x) {
    return x < 1.5 ? __nv_exp(x * x) * (1.0 - (x < 0 ? -1.0 : 1.0) * tilescope_erf_series(__nv_fabs(x))) : tilescope_erfc_tail(x);
}
TILESCOPE_DEVICE_LONG double __nv_erfc(double x) {
    if (x != x) return x;
    if (x < 1.5) return x < -6 ? 2.0 : 1.0 - __nv_erf(x);
    const double square = __nv_dmul_rn(x, x);
    return x > 27 ? 0 : tilescope_exp(-square, -__nv_fma(x, x, -square)) * tilescope_erfc_tail(x);
}
TILESCOPE_DEVICE double __nv_normcdf(double x) { return 0.5 * __nv_erfc(-x * 0.70710678118654752); }
// Newton's method on erfc: x of erfc x = y.
TILESCOPE_DEVICE_LONG double __nv_erfcinv(double y) {
    if (!(y >= 0 && y <= 2)) return TILESCOPE_NAN;
    if (y == 0 || y == 2) return y == 0 ? TILESCOPE_INF : -TILESCOPE_INF;
    const double small = y < 1 ? y : 2.0 - y, t = __nv_sqrt(-2.0 * __nv_log(0.5 * small));
    double x = 0.70710678118654752 * (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t)));
    for (int step = 0; step < 4; ++step) {
        const double off = (__nv_erfc(x) - small) / (1.1283791670955126 * __nv_exp(-x * x));
        x += off / (1.0 - x * off);  // Halley's, which knows the curvature
    }
    return y < 1 ? x : -x;
}
TILESCOPE_DEVICE double __nv_erfinv(double y) { return -__nv_erfcinv(1.0 + y); }
TILESCOPE_DEVICE double __nv_normcdfinv(double y) { return -1.4142135623730951 * __nv_erfcinv(2.0 * y); }

// ln Gamma x for x > 0: Stirling's series from 15 on, reached by x Gamma(x) = Gamma(x + 1).
TILESCOPE_DEVICE_LONG double tilescope_lgamma(double x) {
    double product = 1;
    while (x < 15) product *= x, x += 1.0;
    const double r = 1.0 / x, q = r * r;
    double p = tilescope_polynomial(q, -691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0,
                                    -1.0 / 360.0, 1.0 / 12.0);
    return (x - 0.5) * __nv_log(x) - x + 0.91893853320467274 + p * r - __nv_log(product);
}
TILESCOPE_DEVICE_LONG double __nv_lgamma(double x) {
    if (x != x) return x;
    if (__nv_isinfd(x) || (x <= 0 && x == __nv_floor(x))) return TILESCOPE_INF;
    if (x > 0) return tilescope_lgamma(x);
    return 1.1447298858494002 - __nv_log(__nv_fabs(__nv_sinpi(x))) - tilescope_lgamma(1.0 - x);
}
TILESCOPE_DEVICE_LONG double __nv_tgamma(double x) {
    if (x == 0) return __nv_copysign(TILESCOPE_INF, x);
    if (x < 0) return x == __nv_floor(x) ? TILESCOPE_NAN : 3.14159265358979312 / (__nv_sinpi(x) * __nv_exp(tilescope_lgamma(1.0 - x)));
    if (x < 20) {
        double product = 1;
        while (x >= 2) x -= 1.0, product *= x;
        return product * __nv_exp(tilescope_lgamma(x));
    }
    return x > 172 ? TILESCOPE_INF : __nv_exp(tilescope_lgamma(x));
}
