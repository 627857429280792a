// What __half and __nv_bfloat16 have alike; read once for each, with these set:
//
//   TILESCOPE_H, TILESCOPE_H2    the type, and the pair of it (members x and y)
//   TILESCOPE_N                  how the names of its functions spell it: half, bfloat16
//   TILESCOPE_PTX                how PTX spells it
//   TILESCOPE_NATIVE             in device code, the compiler's own type of it, where it has one
//   TILESCOPE_FUSED              instead: the instruction fma does, and makes sums and products too
//   TILESCOPE_TANH               the least __CUDA_ARCH__ that has tanh.approx of it
//
// Where device code has an instruction for an operation, it is used: a product and a sum of the compiler's own type become one
// fma, as in float; those called _rn stay two. All else is done in float or double and rounded once. Where that would round twice, the wider number is first rounded to
// odd: it is made the neighbour whose last bit is 1 unless it is exact, and so the second rounding sees on which side of a tie
// the exact number lies (S. Boldo and G. Melquiond, "When double rounding is odd", 2004).
//
// Source: CUDA Math API, "Half Precision Intrinsics", "Bfloat16 Precision Intrinsics".

#define TILESCOPE_JOIN3(a, b, c) a##b##c
#define TILESCOPE_JOIN(a, b, c) TILESCOPE_JOIN3(a, b, c)
#define TILESCOPE_JOIN5(a, b, c, d, e) a##b##c##d##e
#define TILESCOPE_JOINED(a, b, c, d, e) TILESCOPE_JOIN5(a, b, c, d, e)
#define TILESCOPE_IN static __inline__ __host__ __device__
#define TILESCOPE_BITS(a) ((a).tilescope_bits)

// --- arithmetic and comparisons of one

TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(unsigned short a) {
    TILESCOPE_H made;
    made.tilescope_bits = a;
    return made;
}
TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__short_as_, TILESCOPE_N, )(short a) {
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )((unsigned short)a);
}
TILESCOPE_IN unsigned short TILESCOPE_JOIN(__, TILESCOPE_N, _as_ushort)(TILESCOPE_H a) { return TILESCOPE_BITS(a); }
TILESCOPE_IN short TILESCOPE_JOIN(__, TILESCOPE_N, _as_short)(TILESCOPE_H a) { return (short)TILESCOPE_BITS(a); }

// An instruction on the operands a, b (and c), each of which is one number or a pair.
#define TILESCOPE_ASM2(text, T, letter, H)                                                                              \
    T made;                                                                                                             \
    asm(text " %0, %1, %2;" : "=" letter(made) : letter(tilescope_as<T>(a)), letter(tilescope_as<T>(b)));               \
    return tilescope_as<H>(made)
#define TILESCOPE_ASM3(text, T, letter, H)                                                                              \
    T made;                                                                                                             \
    asm(text " %0, %1, %2, %3;"                                                                                         \
        : "=" letter(made)                                                                                              \
        : letter(tilescope_as<T>(a)), letter(tilescope_as<T>(b)), letter(tilescope_as<T>(c)));                          \
    return tilescope_as<H>(made)
#define TILESCOPE_ONE(name, count) \
    TILESCOPE_ASM##count(name "." TILESCOPE_PTX, unsigned short, "h", TILESCOPE_H)
#define TILESCOPE_TWO(name, count) TILESCOPE_ASM##count(name "." TILESCOPE_PTX "x2", unsigned int, "r", TILESCOPE_H2)

TILESCOPE_IN TILESCOPE_H __hfma(TILESCOPE_H a, TILESCOPE_H b, TILESCOPE_H c) {
#if defined(TILESCOPE_NATIVE) || defined(TILESCOPE_FUSED)
    TILESCOPE_ONE("fma.rn", 3);
#else
    return TILESCOPE_H(tilescope_odd_sum((double)(float)a * (double)(float)b, (double)(float)c));
#endif
}
TILESCOPE_IN TILESCOPE_H2 __hfma2(TILESCOPE_H2 a, TILESCOPE_H2 b, TILESCOPE_H2 c) {
#if defined(TILESCOPE_NATIVE) || defined(TILESCOPE_FUSED)
    TILESCOPE_TWO("fma.rn", 3);
#else
    return TILESCOPE_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
// +, - and * of one and of pairs; those called _rn never become part of an fma.
#if defined(TILESCOPE_NATIVE)
#define TILESCOPE_SUM1(sign, name) \
    return tilescope_as<TILESCOPE_H>((TILESCOPE_NATIVE)(tilescope_as<TILESCOPE_NATIVE>(a) sign tilescope_as<TILESCOPE_NATIVE>(b)))
#define TILESCOPE_SUM2(sign, name) \
    return tilescope_as<TILESCOPE_H2>(tilescope_as<TILESCOPE_NATIVE2>(a) sign tilescope_as<TILESCOPE_NATIVE2>(b))
#define TILESCOPE_SUM1_RN(sign, name) TILESCOPE_ONE(#name ".rn", 2)
#define TILESCOPE_SUM2_RN(sign, name) TILESCOPE_TWO(#name ".rn", 2)
#elif defined(TILESCOPE_FUSED)
TILESCOPE_IN TILESCOPE_H2 tilescope_both(TILESCOPE_H a) { return TILESCOPE_H2(a, a); }
#define TILESCOPE_K(bits) TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(bits)
#define TILESCOPE_K2(bits) tilescope_both(TILESCOPE_K(bits))
#define TILESCOPE_FUSED_add(fma, k) fma(a, k(0x3f80u), b)  // a * 1 + b
#define TILESCOPE_FUSED_sub(fma, k) fma(b, k(0xbf80u), a)  // b * -1 + a
#define TILESCOPE_FUSED_mul(fma, k) fma(a, b, k(0x8000u))  // a * b + -0
#define TILESCOPE_SUM1(sign, name) return TILESCOPE_FUSED_##name(__hfma, TILESCOPE_K)
#define TILESCOPE_SUM2(sign, name) return TILESCOPE_FUSED_##name(__hfma2, TILESCOPE_K2)
#define TILESCOPE_SUM1_RN TILESCOPE_SUM1
#define TILESCOPE_SUM2_RN TILESCOPE_SUM2
#else
#define TILESCOPE_SUM1(sign, name) return TILESCOPE_H((float)a sign (float)b)
#define TILESCOPE_SUM2(sign, name) return TILESCOPE_H2(a.x sign b.x, a.y sign b.y)
#define TILESCOPE_SUM1_RN TILESCOPE_SUM1
#define TILESCOPE_SUM2_RN TILESCOPE_SUM2
#endif
#define TILESCOPE_SUM(sign, name)                                                                                   \
    TILESCOPE_IN TILESCOPE_H operator sign(TILESCOPE_H a, TILESCOPE_H b) { TILESCOPE_SUM1(sign, name); }            \
    TILESCOPE_IN TILESCOPE_H __h##name(TILESCOPE_H a, TILESCOPE_H b) { return a sign b; }                           \
    TILESCOPE_IN TILESCOPE_H __h##name##_rn(TILESCOPE_H a, TILESCOPE_H b) { TILESCOPE_SUM1_RN(sign, name); }        \
    TILESCOPE_IN TILESCOPE_H2 __h##name##2(TILESCOPE_H2 a, TILESCOPE_H2 b) { TILESCOPE_SUM2(sign, name); }          \
    TILESCOPE_IN TILESCOPE_H2 __h##name##2_rn(TILESCOPE_H2 a, TILESCOPE_H2 b) { TILESCOPE_SUM2_RN(sign, name); }
TILESCOPE_SUM(+, add)
TILESCOPE_SUM(-, sub)
TILESCOPE_SUM(*, mul)
#undef TILESCOPE_SUM
#undef TILESCOPE_SUM1
#undef TILESCOPE_SUM2
#undef TILESCOPE_SUM1_RN
#undef TILESCOPE_SUM2_RN
#undef TILESCOPE_FUSED_add
#undef TILESCOPE_FUSED_sub
#undef TILESCOPE_FUSED_mul
#undef TILESCOPE_K
#undef TILESCOPE_K2
TILESCOPE_IN TILESCOPE_H operator/(TILESCOPE_H a, TILESCOPE_H b) { return TILESCOPE_H((float)a / (float)b); }
TILESCOPE_IN TILESCOPE_H __hdiv(TILESCOPE_H a, TILESCOPE_H b) { return a / b; }
TILESCOPE_IN TILESCOPE_H& operator+=(TILESCOPE_H& a, TILESCOPE_H b) { return a = a + b; }
TILESCOPE_IN TILESCOPE_H& operator-=(TILESCOPE_H& a, TILESCOPE_H b) { return a = a - b; }
TILESCOPE_IN TILESCOPE_H& operator*=(TILESCOPE_H& a, TILESCOPE_H b) { return a = a * b; }
TILESCOPE_IN TILESCOPE_H& operator/=(TILESCOPE_H& a, TILESCOPE_H b) { return a = a / b; }
TILESCOPE_IN TILESCOPE_H operator+(TILESCOPE_H a) { return a; }
TILESCOPE_IN TILESCOPE_H operator-(TILESCOPE_H a) {
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )((unsigned short)(TILESCOPE_BITS(a) ^ 0x8000u));
}
TILESCOPE_IN TILESCOPE_H& operator++(TILESCOPE_H& a) { return a += TILESCOPE_H(1.0f); }
TILESCOPE_IN TILESCOPE_H& operator--(TILESCOPE_H& a) { return a -= TILESCOPE_H(1.0f); }
TILESCOPE_IN TILESCOPE_H operator++(TILESCOPE_H& a, int) {
    const TILESCOPE_H old = a;
    ++a;
    return old;
}
TILESCOPE_IN TILESCOPE_H operator--(TILESCOPE_H& a, int) {
    const TILESCOPE_H old = a;
    --a;
    return old;
}
#if defined(TILESCOPE_NATIVE)
#define TILESCOPE_READ tilescope_as<TILESCOPE_NATIVE>
#else
#define TILESCOPE_READ (float)
#endif
#define TILESCOPE_COMPARES(sign) \
    TILESCOPE_IN bool operator sign(TILESCOPE_H a, TILESCOPE_H b) { return TILESCOPE_READ(a) sign TILESCOPE_READ(b); }
TILESCOPE_COMPARES(==)
TILESCOPE_COMPARES(!=)
TILESCOPE_COMPARES(<)
TILESCOPE_COMPARES(>)
TILESCOPE_COMPARES(<=)
TILESCOPE_COMPARES(>=)
#undef TILESCOPE_COMPARES
#undef TILESCOPE_READ

TILESCOPE_IN bool __hisnan(TILESCOPE_H a) { return a != a; }
TILESCOPE_IN int __hisinf(TILESCOPE_H a) {
    const float value = (float)a;
    return value == __builtin_inff() ? 1 : value == -__builtin_inff() ? -1 : 0;
}
TILESCOPE_IN TILESCOPE_H __hneg(TILESCOPE_H a) { return -a; }
TILESCOPE_IN TILESCOPE_H __habs(TILESCOPE_H a) {
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )((unsigned short)(TILESCOPE_BITS(a) & 0x7fffu));
}
// Between 0 and 1; not a number becomes 0.
TILESCOPE_IN TILESCOPE_H tilescope_saturated(TILESCOPE_H a) {
    const float value = (float)a;
    return value > 0.0f ? value < 1.0f ? a : TILESCOPE_H(1.0f) : TILESCOPE_H(0.0f);
}
// What is no number stays, and -0 becomes 0, as the instruction has it.
TILESCOPE_IN TILESCOPE_H tilescope_relu(TILESCOPE_H a) { return (float)a <= 0.0f ? TILESCOPE_H(0.0f) : a; }
TILESCOPE_IN TILESCOPE_H __hfma_sat(TILESCOPE_H a, TILESCOPE_H b, TILESCOPE_H c) {
    return tilescope_saturated(__hfma(a, b, c));
}
TILESCOPE_IN TILESCOPE_H __hfma_relu(TILESCOPE_H a, TILESCOPE_H b, TILESCOPE_H c) {
#if __CUDA_ARCH__ >= 800
    TILESCOPE_ONE("fma.rn.relu", 3);
#else
    return tilescope_relu(__hfma(a, b, c));
#endif
}
// -0 is below 0; a number beside what is none wins, or with _nan loses.
TILESCOPE_IN TILESCOPE_H __hmax(TILESCOPE_H a, TILESCOPE_H b) {
#if __CUDA_ARCH__ >= 800
    TILESCOPE_ONE("max", 2);
#else
    if (a != a) return b != b ? TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(0x7fffu) : b;
    if (b != b) return a;
    if (a == b) return TILESCOPE_BITS(a) & 0x8000u ? b : a;
    return a < b ? b : a;
#endif
}
TILESCOPE_IN TILESCOPE_H __hmin(TILESCOPE_H a, TILESCOPE_H b) {
#if __CUDA_ARCH__ >= 800
    TILESCOPE_ONE("min", 2);
#else
    if (a != a) return b != b ? TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(0x7fffu) : b;
    if (b != b) return a;
    if (a == b) return TILESCOPE_BITS(a) & 0x8000u ? a : b;
    return b < a ? b : a;
#endif
}
TILESCOPE_IN TILESCOPE_H __hmax_nan(TILESCOPE_H a, TILESCOPE_H b) {
#if __CUDA_ARCH__ >= 800
    TILESCOPE_ONE("max.NaN", 2);
#else
    return a != a || b != b ? TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(0x7fffu) : __hmax(a, b);
#endif
}
TILESCOPE_IN TILESCOPE_H __hmin_nan(TILESCOPE_H a, TILESCOPE_H b) {
#if __CUDA_ARCH__ >= 800
    TILESCOPE_ONE("min.NaN", 2);
#else
    return a != a || b != b ? TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(0x7fffu) : __hmin(a, b);
#endif
}

// --- pairs

TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(make_, TILESCOPE_N, 2)(TILESCOPE_H a, TILESCOPE_H b) { return TILESCOPE_H2(a, b); }
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__halves2, TILESCOPE_N, 2)(TILESCOPE_H a, TILESCOPE_H b) {
    return TILESCOPE_H2(a, b);
}
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOINED(__, TILESCOPE_N, 2, TILESCOPE_N, 2)(TILESCOPE_H a) { return TILESCOPE_H2(a, a); }
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__float2, TILESCOPE_N, 2_rn)(float a) {
    return TILESCOPE_H2(TILESCOPE_H(a), TILESCOPE_H(a));
}
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__floats2, TILESCOPE_N, 2_rn)(float a, float b) {
    return TILESCOPE_H2(TILESCOPE_H(a), TILESCOPE_H(b));
}
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__float22, TILESCOPE_N, 2_rn)(float2 a) {
    return TILESCOPE_H2(TILESCOPE_H(a.x), TILESCOPE_H(a.y));
}
TILESCOPE_IN float2 TILESCOPE_JOIN(__, TILESCOPE_N, 22float2)(TILESCOPE_H2 a) {
    return make_float2((float)a.x, (float)a.y);
}
TILESCOPE_IN float __low2float(TILESCOPE_H2 a) { return (float)a.x; }
TILESCOPE_IN float __high2float(TILESCOPE_H2 a) { return (float)a.y; }
TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__low2, TILESCOPE_N, )(TILESCOPE_H2 a) { return a.x; }
TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__high2, TILESCOPE_N, )(TILESCOPE_H2 a) { return a.y; }
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__low2, TILESCOPE_N, 2)(TILESCOPE_H2 a) { return TILESCOPE_H2(a.x, a.x); }
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__high2, TILESCOPE_N, 2)(TILESCOPE_H2 a) { return TILESCOPE_H2(a.y, a.y); }
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__lows2, TILESCOPE_N, 2)(TILESCOPE_H2 a, TILESCOPE_H2 b) {
    return TILESCOPE_H2(a.x, b.x);
}
TILESCOPE_IN TILESCOPE_H2 TILESCOPE_JOIN(__highs2, TILESCOPE_N, 2)(TILESCOPE_H2 a, TILESCOPE_H2 b) {
    return TILESCOPE_H2(a.y, b.y);
}
TILESCOPE_IN TILESCOPE_H2 __lowhigh2highlow(TILESCOPE_H2 a) { return TILESCOPE_H2(a.y, a.x); }

#define TILESCOPE_OF_TWO(name) \
    TILESCOPE_IN TILESCOPE_H __h##name##_sat(TILESCOPE_H a, TILESCOPE_H b) { return tilescope_saturated(__h##name##_rn(a, b)); }
TILESCOPE_OF_TWO(add)
TILESCOPE_OF_TWO(sub)
TILESCOPE_OF_TWO(mul)
#undef TILESCOPE_OF_TWO
#if __CUDA_ARCH__ >= 800
#define TILESCOPE_PAIRWISE_OR(name, of, text) \
    TILESCOPE_IN TILESCOPE_H2 name(TILESCOPE_H2 a, TILESCOPE_H2 b) { TILESCOPE_TWO(text, 2); }
#else
#define TILESCOPE_PAIRWISE_OR(name, of, text) TILESCOPE_PAIRWISE(name, of)
#endif
#define TILESCOPE_PAIRWISE(name, of)                                                \
    TILESCOPE_IN TILESCOPE_H2 name(TILESCOPE_H2 a, TILESCOPE_H2 b) {                \
        return TILESCOPE_H2(of(a.x, b.x), of(a.y, b.y));                            \
    }
TILESCOPE_PAIRWISE(__hadd2_sat, __hadd_sat)
TILESCOPE_PAIRWISE(__hsub2_sat, __hsub_sat)
TILESCOPE_PAIRWISE(__hmul2_sat, __hmul_sat)
TILESCOPE_PAIRWISE(__h2div, __hdiv)
TILESCOPE_PAIRWISE_OR(__hmax2, __hmax, "max")
TILESCOPE_PAIRWISE_OR(__hmin2, __hmin, "min")
TILESCOPE_PAIRWISE_OR(__hmax2_nan, __hmax_nan, "max.NaN")
TILESCOPE_PAIRWISE_OR(__hmin2_nan, __hmin_nan, "min.NaN")
#undef TILESCOPE_PAIRWISE
#undef TILESCOPE_PAIRWISE_OR
#define TILESCOPE_PAIRWISE(name, of) \
    TILESCOPE_IN TILESCOPE_H2 name(TILESCOPE_H2 a) { return TILESCOPE_H2(of(a.x), of(a.y)); }
TILESCOPE_PAIRWISE(__hneg2, __hneg)
TILESCOPE_PAIRWISE(__habs2, __habs)
#undef TILESCOPE_PAIRWISE
#define TILESCOPE_PAIRWISE(name, of)                                                  \
    TILESCOPE_IN TILESCOPE_H2 name(TILESCOPE_H2 a, TILESCOPE_H2 b, TILESCOPE_H2 c) {  \
        return TILESCOPE_H2(of(a.x, b.x, c.x), of(a.y, b.y, c.y));                    \
    }
TILESCOPE_PAIRWISE(__hfma2_sat, __hfma_sat)
#if __CUDA_ARCH__ >= 800
TILESCOPE_IN TILESCOPE_H2 __hfma2_relu(TILESCOPE_H2 a, TILESCOPE_H2 b, TILESCOPE_H2 c) { TILESCOPE_TWO("fma.rn.relu", 3); }
#else
TILESCOPE_PAIRWISE(__hfma2_relu, __hfma_relu)
#endif
#undef TILESCOPE_PAIRWISE
// The product of two complex numbers, and a third one on top.
TILESCOPE_IN TILESCOPE_H2 __hcmadd(TILESCOPE_H2 a, TILESCOPE_H2 b, TILESCOPE_H2 c) {
    return TILESCOPE_H2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
TILESCOPE_IN TILESCOPE_H2 __hisnan2(TILESCOPE_H2 a) {
    return TILESCOPE_H2(TILESCOPE_H(__hisnan(a.x) ? 1.0f : 0.0f), TILESCOPE_H(__hisnan(a.y) ? 1.0f : 0.0f));
}

// Of one: a bool. Of pairs: 1 or 0 for each; with b, whether it holds of both; with _mask, all bits of each. With u it holds
// too where one of the two is no number.
#define TILESCOPE_COMPARISON(name, holds)                                                                             \
    TILESCOPE_IN bool __h##name(TILESCOPE_H a, TILESCOPE_H b) { return holds; }                                        \
    TILESCOPE_IN bool __hb##name##2(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
    TILESCOPE_IN TILESCOPE_H2 __h##name##2(TILESCOPE_H2 a, TILESCOPE_H2 b) {                                           \
        return TILESCOPE_H2(TILESCOPE_H(__h##name(a.x, b.x) ? 1.0f : 0.0f),                                            \
                            TILESCOPE_H(__h##name(a.y, b.y) ? 1.0f : 0.0f));                                           \
    }                                                                                                                  \
    TILESCOPE_IN unsigned int __h##name##2_mask(TILESCOPE_H2 a, TILESCOPE_H2 b) {                                      \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                        \
    }
#define TILESCOPE_UNORDERED (a != a || b != b)
TILESCOPE_COMPARISON(eq, a == b)
TILESCOPE_COMPARISON(ne, a != b && !TILESCOPE_UNORDERED)
TILESCOPE_COMPARISON(lt, a < b)
TILESCOPE_COMPARISON(le, a <= b)
TILESCOPE_COMPARISON(gt, a > b)
TILESCOPE_COMPARISON(ge, a >= b)
TILESCOPE_COMPARISON(equ, a == b || TILESCOPE_UNORDERED)
TILESCOPE_COMPARISON(neu, a != b)
TILESCOPE_COMPARISON(ltu, !(a >= b))
TILESCOPE_COMPARISON(leu, !(a > b))
TILESCOPE_COMPARISON(gtu, !(a <= b))
TILESCOPE_COMPARISON(geu, !(a < b))
#undef TILESCOPE_UNORDERED
#undef TILESCOPE_COMPARISON

TILESCOPE_IN TILESCOPE_H2 operator+(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hadd2(a, b); }
TILESCOPE_IN TILESCOPE_H2 operator-(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hsub2(a, b); }
TILESCOPE_IN TILESCOPE_H2 operator*(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hmul2(a, b); }
TILESCOPE_IN TILESCOPE_H2 operator/(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __h2div(a, b); }
TILESCOPE_IN TILESCOPE_H2 operator-(TILESCOPE_H2 a) { return __hneg2(a); }
TILESCOPE_IN TILESCOPE_H2& operator+=(TILESCOPE_H2& a, TILESCOPE_H2 b) { return a = __hadd2(a, b); }
TILESCOPE_IN TILESCOPE_H2& operator-=(TILESCOPE_H2& a, TILESCOPE_H2 b) { return a = __hsub2(a, b); }
TILESCOPE_IN TILESCOPE_H2& operator*=(TILESCOPE_H2& a, TILESCOPE_H2 b) { return a = __hmul2(a, b); }
TILESCOPE_IN TILESCOPE_H2& operator/=(TILESCOPE_H2& a, TILESCOPE_H2 b) { return a = __h2div(a, b); }
TILESCOPE_IN bool operator==(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hbeq2(a, b); }
TILESCOPE_IN bool operator!=(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hbneu2(a, b); }
TILESCOPE_IN bool operator<(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hblt2(a, b); }
TILESCOPE_IN bool operator>(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hbgt2(a, b); }
TILESCOPE_IN bool operator<=(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hble2(a, b); }
TILESCOPE_IN bool operator>=(TILESCOPE_H2 a, TILESCOPE_H2 b) { return __hbge2(a, b); }

// --- conversions; rn to the nearest, rz towards 0, rd down, ru up

TILESCOPE_IN float TILESCOPE_JOIN(__, TILESCOPE_N, 2float)(TILESCOPE_H a) { return (float)a; }
TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__float2, TILESCOPE_N, )(float a) { return TILESCOPE_H(a); }
TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__double2, TILESCOPE_N, )(double a) { return TILESCOPE_H(a); }

// The number `to` one place on in its direction, `by` being 1 or -1; of 0 the smallest number above or below it.
TILESCOPE_IN TILESCOPE_H tilescope_next(TILESCOPE_H to, bool up) {
    const unsigned int bits = TILESCOPE_BITS(to), size = bits & 0x7fffu;
    const bool negative = (bits & 0x8000u) != 0;
    const unsigned int next = size == 0 ? (up ? 1u : 0x8001u) : negative == up ? bits - 1 : bits + 1;
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )((unsigned short)next);
}
// exact: the number, rounded to odd.
TILESCOPE_IN TILESCOPE_H tilescope_directed(TILESCOPE_H nearest, float exact, int mode) {
    const float value = (float)nearest;
    const bool down = mode < 0 || (mode == 0 && exact > 0.0f), up = mode > 0 || (mode == 0 && exact < 0.0f);
    if (down && value > exact) return tilescope_next(nearest, false);
    if (up && value < exact) return tilescope_next(nearest, true);
    return nearest;
}
#define TILESCOPE_FROM(from, T, odd)                                                                     \
    TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__##from##2, TILESCOPE_N, _rn)(T a) { return TILESCOPE_H(odd(a)); } \
    TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__##from##2, TILESCOPE_N, _rz)(T a) {                        \
        return tilescope_directed(TILESCOPE_H(odd(a)), odd(a), 0);                                       \
    }                                                                                                    \
    TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__##from##2, TILESCOPE_N, _rd)(T a) {                        \
        return tilescope_directed(TILESCOPE_H(odd(a)), odd(a), -1);                                      \
    }                                                                                                    \
    TILESCOPE_IN TILESCOPE_H TILESCOPE_JOIN(__##from##2, TILESCOPE_N, _ru)(T a) {                        \
        return tilescope_directed(TILESCOPE_H(odd(a)), odd(a), 1);                                       \
    }
TILESCOPE_FROM(float, float, )
TILESCOPE_FROM(short, short, (float))
TILESCOPE_FROM(ushort, unsigned short, (float))
TILESCOPE_FROM(int, int, tilescope_odd_integer)
TILESCOPE_FROM(uint, unsigned int, tilescope_odd_integer)
TILESCOPE_FROM(ll, long long, tilescope_odd_integer)
TILESCOPE_FROM(ull, unsigned long long, tilescope_odd_integer)
#undef TILESCOPE_FROM

#define TILESCOPE_TO(to, T, least, most)                                                                             \
    TILESCOPE_IN T TILESCOPE_JOIN(__, TILESCOPE_N, 2##to##_rz)(TILESCOPE_H a) {                                       \
        return tilescope_to_integer<T>(__builtin_truncf((float)a), least, most);                                      \
    }
#define TILESCOPE_TO_ALL(to, T, least, most)                                                                         \
    TILESCOPE_TO(to, T, least, most)                                                                                  \
    TILESCOPE_IN T TILESCOPE_JOIN(__, TILESCOPE_N, 2##to##_rn)(TILESCOPE_H a) {                                       \
        return tilescope_to_integer<T>(__builtin_rintf((float)a), least, most);                                       \
    }                                                                                                                 \
    TILESCOPE_IN T TILESCOPE_JOIN(__, TILESCOPE_N, 2##to##_rd)(TILESCOPE_H a) {                                       \
        return tilescope_to_integer<T>(__builtin_floorf((float)a), least, most);                                      \
    }                                                                                                                 \
    TILESCOPE_IN T TILESCOPE_JOIN(__, TILESCOPE_N, 2##to##_ru)(TILESCOPE_H a) {                                       \
        return tilescope_to_integer<T>(__builtin_ceilf((float)a), least, most);                                       \
    }
TILESCOPE_TO(char, signed char, -128, 127)
TILESCOPE_TO(uchar, unsigned char, 0, 255)
TILESCOPE_TO_ALL(short, short, -32768, 32767)
TILESCOPE_TO_ALL(ushort, unsigned short, 0, 65535)
TILESCOPE_TO_ALL(int, int, -2147483647 - 1, 2147483647)
TILESCOPE_TO_ALL(uint, unsigned int, 0u, 4294967295u)
TILESCOPE_TO_ALL(ll, long long, -9223372036854775807ll - 1, 9223372036854775807ll)
TILESCOPE_TO_ALL(ull, unsigned long long, 0ull, 18446744073709551615ull)
#undef TILESCOPE_TO_ALL
#undef TILESCOPE_TO

// --- device code alone

#ifdef __CUDA__
#define TILESCOPE_ON static __inline__ __device__
#define TILESCOPE_MATH(name, of_float)                                                       \
    TILESCOPE_ON TILESCOPE_H h##name(TILESCOPE_H a) { return TILESCOPE_H(of_float((float)a)); } \
    TILESCOPE_ON TILESCOPE_H2 h2##name(TILESCOPE_H2 a) { return TILESCOPE_H2(h##name(a.x), h##name(a.y)); }
TILESCOPE_MATH(sqrt, sqrtf)
TILESCOPE_MATH(rsqrt, rsqrtf)
TILESCOPE_MATH(rcp, 1.0f /)
TILESCOPE_MATH(exp, expf)
TILESCOPE_MATH(exp2, exp2f)
TILESCOPE_MATH(exp10, exp10f)
TILESCOPE_MATH(log, logf)
TILESCOPE_MATH(log2, log2f)
TILESCOPE_MATH(log10, log10f)
TILESCOPE_MATH(sin, sinf)
TILESCOPE_MATH(cos, cosf)
TILESCOPE_MATH(tanh, tanhf)
TILESCOPE_MATH(floor, floorf)
TILESCOPE_MATH(ceil, ceilf)
TILESCOPE_MATH(rint, rintf)
TILESCOPE_MATH(trunc, truncf)
#if __CUDA_ARCH__ < TILESCOPE_TANH
TILESCOPE_MATH(tanh_approx, tanhf)
#else
TILESCOPE_ON TILESCOPE_H htanh_approx(TILESCOPE_H a) {
    unsigned short made;
    asm("tanh.approx." TILESCOPE_PTX " %0, %1;" : "=h"(made) : "h"(TILESCOPE_BITS(a)));
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(made);
}
TILESCOPE_ON TILESCOPE_H2 h2tanh_approx(TILESCOPE_H2 a) {
    unsigned int made;
    asm("tanh.approx." TILESCOPE_PTX "x2 %0, %1;" : "=r"(made) : "r"(tilescope_as<unsigned int>(a)));
    return tilescope_as<TILESCOPE_H2>(made);
}
#endif
#undef TILESCOPE_MATH

TILESCOPE_ON TILESCOPE_H2 TILESCOPE_JOIN(tilescope_, TILESCOPE_N, 2_of)(unsigned int bits) {
    TILESCOPE_H2 made;
    __builtin_memcpy(&made, &bits, 4);
    return made;
}
#define TILESCOPE_SHUFFLE(name, By)                                                                          \
    TILESCOPE_ON TILESCOPE_H name(unsigned int mask, TILESCOPE_H value, By by, int width = 32) {             \
        return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(                                                  \
            (unsigned short)name(mask, (unsigned int)TILESCOPE_BITS(value), by, width));                     \
    }                                                                                                        \
    TILESCOPE_ON TILESCOPE_H2 name(unsigned int mask, TILESCOPE_H2 value, By by, int width = 32) {           \
        unsigned int bits;                                                                                   \
        __builtin_memcpy(&bits, &value, 4);                                                                  \
        return TILESCOPE_JOIN(tilescope_, TILESCOPE_N, 2_of)(name(mask, bits, by, width));                   \
    }
TILESCOPE_SHUFFLE(__shfl_sync, int)
TILESCOPE_SHUFFLE(__shfl_up_sync, unsigned int)
TILESCOPE_SHUFFLE(__shfl_down_sync, unsigned int)
TILESCOPE_SHUFFLE(__shfl_xor_sync, int)
#undef TILESCOPE_SHUFFLE

TILESCOPE_ON TILESCOPE_H __ldg(const TILESCOPE_H* p) {
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(__ldg((const unsigned short*)p));
}
TILESCOPE_ON TILESCOPE_H2 __ldg(const TILESCOPE_H2* p) {
    return TILESCOPE_JOIN(tilescope_, TILESCOPE_N, 2_of)(__ldg((const unsigned int*)p));
}
// How caches are to be used makes no difference to values.
#define TILESCOPE_CACHED(name)                                       \
    TILESCOPE_ON TILESCOPE_H name(const TILESCOPE_H* p) { return *p; } \
    TILESCOPE_ON TILESCOPE_H2 name(const TILESCOPE_H2* p) { return *p; }
TILESCOPE_CACHED(__ldca)
TILESCOPE_CACHED(__ldcg)
TILESCOPE_CACHED(__ldcs)
TILESCOPE_CACHED(__ldlu)
TILESCOPE_CACHED(__ldcv)
#undef TILESCOPE_CACHED
#define TILESCOPE_CACHED(name)                                                    \
    TILESCOPE_ON void name(TILESCOPE_H* p, TILESCOPE_H value) { *p = value; }     \
    TILESCOPE_ON void name(TILESCOPE_H2* p, TILESCOPE_H2 value) { *p = value; }
TILESCOPE_CACHED(__stwb)
TILESCOPE_CACHED(__stcg)
TILESCOPE_CACHED(__stcs)
TILESCOPE_CACHED(__stwt)
#undef TILESCOPE_CACHED

TILESCOPE_ON TILESCOPE_H atomicAdd(TILESCOPE_H* p, TILESCOPE_H value) {
    unsigned short old = *(volatile unsigned short*)p, seen;
    while ((seen = atomicCAS((unsigned short*)p, old,
                             TILESCOPE_BITS(TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(old) + value))) != old)
        old = seen;
    return TILESCOPE_JOIN(__ushort_as_, TILESCOPE_N, )(old);
}
TILESCOPE_ON TILESCOPE_H2 atomicAdd(TILESCOPE_H2* p, TILESCOPE_H2 value) {
    return TILESCOPE_H2(atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y));
}
#undef TILESCOPE_ON
#endif  // __CUDA__

#undef TILESCOPE_ASM2
#undef TILESCOPE_ASM3
#undef TILESCOPE_ONE
#undef TILESCOPE_TWO
#undef TILESCOPE_BITS
#undef TILESCOPE_IN
#undef TILESCOPE_JOIN
#undef TILESCOPE_JOIN3
#undef TILESCOPE_JOINED
#undef TILESCOPE_JOIN5
