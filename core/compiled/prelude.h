/* Columns of 32 lanes as vectors, and what micro-operations do to them: part of the text of every compiled kernel.

   u_NAME  of values that are the same in all lanes      v_NAME  of columns

   Both give the bits that core/simt/lanes_*.inl give. A predicate is a word, a bit a lane. Results of fp32 arithmetic
   may be any NaN; f_canonical makes it the one that they are seen as. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#define LANES(type) type __attribute__((vector_size(32 * sizeof(type)), aligned(64)))
typedef LANES(u32) V32;
typedef LANES(u64) V64;
typedef LANES(s32) S32;
typedef LANES(s64) S64;
typedef LANES(float) F32;
typedef LANES(double) F64;
#define OF_8(type) type __attribute__((vector_size(8 * sizeof(type)), aligned(1), may_alias))
#define OF_16(type) type __attribute__((vector_size(16 * sizeof(type)), aligned(1), may_alias))
#define OF_32(type) type __attribute__((vector_size(32 * sizeof(type)), aligned(1), may_alias))
#define FN static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define PART(v, n)                                                                                         \
    __builtin_shufflevector(v, v, 8 * n, 8 * n + 1, 8 * n + 2, 8 * n + 3, 8 * n + 4, 8 * n + 5, 8 * n + 6, \
                            8 * n + 7)
#define JOIN_8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define JOIN_16(a, b)                                                                                       \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
                            21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
#define JOIN(a, b, c, d) JOIN_16(JOIN_8(a, b), JOIN_8(c, d))

static const V32 kLaneBit = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                             1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                             1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                             1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

FN V32 splat32(u32 x) { return (V32){} + x; }
FN V64 splat64(u64 x) { return (V64){} + x; }
FN V32 along32(u32 x, const struct Shape* s) { return *(const V32*)s->lane32 + x; }
FN V64 along64(u64 x, const struct Shape* s) { return *(const V64*)s->lane + x; }

/* Bits of a mask as all ones or zeros in a lane, and back. */
FN S32 spread32(u32 mask) { return ((V32){} + mask & kLaneBit) != 0; }
FN S64 spread64(u32 mask) { return __builtin_convertvector(spread32(mask), S64); }
FN u32 gather_mask(S32 m) {
#if __has_builtin(__builtin_ia32_movmskps256) && defined(__AVX2__)
    typedef float M __attribute__((vector_size(32)));
    return (u32)__builtin_ia32_movmskps256((M)PART(m, 0)) |
           (u32)__builtin_ia32_movmskps256((M)PART(m, 1)) << 8 |
           (u32)__builtin_ia32_movmskps256((M)PART(m, 2)) << 16 |
           (u32)__builtin_ia32_movmskps256((M)PART(m, 3)) << 24;
#else
    u32 bits = 0;
    for (int i = 0; i < 32; ++i) bits |= (u32)(m[i] & 1) << i;
    return bits;
#endif
}
FN u32 gather_mask64(S64 m) { return gather_mask(__builtin_convertvector(m, S32)); }
FN V32 choose32(S32 m, V32 a, V32 b) { return a & (V32)m | b & ~(V32)m; }
FN V64 choose64(S64 m, V64 a, V64 b) { return a & (V64)m | b & ~(V64)m; }
FN V32 v_keep32(u32 mask, V32 a, V32 b) { return choose32(spread32(mask), a, b); }
FN V64 v_keep64(u32 mask, V64 a, V64 b) { return choose64(spread64(mask), a, b); }

/* Whether base + shape, of 32 bits, wraps in no lane. */
FN int fits_s(u32 base, const struct Shape* s) {
    return (s32)base + s->low >= INT32_MIN && (s32)base + s->low + s->span <= INT32_MAX;
}
FN int fits_u(u32 base, const struct Shape* s) {
    return (s64)base + s->low >= 0 && (s64)base + s->low + s->span <= UINT32_MAX;
}
/* The first lane's value in 64 bits, where only the lanes of a mask matter: 0 where they lie as far apart as in 32. */
static __attribute__((noinline)) int widen(u32 base, const struct Shape* s, u32 mask, int keeps_sign,
                                           u64* made) {
    const int first = __builtin_ctz(mask);
    for (u32 left = mask; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const u32 x = base + s->lane32[lane];
        const u64 from = (keeps_sign ? (u64)(s64)(s32)x : (u64)x) - (u64)s->lane[lane];
        if (lane != first && from != *made) return 1;
        *made = from;
    }
    return 0;
}
/* Before `bytes` bytes of each lane of a mask change. */
FN int keep_lanes(struct Context* cx, u8* p, const struct Shape* s, u32 bytes, u32 mask) {
    for (u32 left = mask; left; left &= left - 1)
        if (keep_piece(cx, p + s->lane[__builtin_ctz(left)], bytes)) return 1;
    return 0;
}
FN int inside(const struct Range* r, u64 low, u64 bytes) {
    return (s64)bytes <= r->most && low - r->base <= (u64)r->most - bytes;
}

#define BOTH_1(NAME, BITS, EXPRESSION)                                     \
    FN u##BITS u_##NAME##BITS(u##BITS a) { return (u##BITS)(EXPRESSION); } \
    FN V##BITS v_##NAME##BITS(V##BITS a) { return (V##BITS)(EXPRESSION); }
#define BOTH_2(NAME, BITS, EXPRESSION)                                                \
    FN u##BITS u_##NAME##BITS(u##BITS a, u##BITS b) { return (u##BITS)(EXPRESSION); } \
    FN V##BITS v_##NAME##BITS(V##BITS a, V##BITS b) { return (V##BITS)(EXPRESSION); }
#define BOTH_3(NAME, BITS, EXPRESSION)                                                           \
    FN u##BITS u_##NAME##BITS(u##BITS a, u##BITS b, u##BITS c) { return (u##BITS)(EXPRESSION); } \
    FN V##BITS v_##NAME##BITS(V##BITS a, V##BITS b, V##BITS c) { return (V##BITS)(EXPRESSION); }
#define INTEGERS(BITS)       \
    BOTH_1(mov, BITS, a)     \
    BOTH_1(not, BITS, ~a)    \
    BOTH_1(neg, BITS, 0 - a) \
    BOTH_2(add, BITS, a + b) \
    BOTH_2(sub, BITS, a - b) \
    BOTH_2(mul, BITS, a* b)  \
    BOTH_2(and, BITS, a& b)  \
    BOTH_2(or, BITS, a | b)  \
    BOTH_2(xor, BITS, a ^ b) \
    BOTH_3(mad, BITS, a* b + c)
INTEGERS(32)
INTEGERS(64)

/* Shift amounts from the width on count as the width. */
FN u32 u_shl32(u32 a, u32 n) { return n > 31 ? 0 : a << n; }
FN u64 u_shl64(u64 a, u32 n) { return n > 63 ? 0 : a << n; }
FN u32 u_shr_u32(u32 a, u32 n) { return n > 31 ? 0 : a >> n; }
FN u64 u_shr_u64(u64 a, u32 n) { return n > 63 ? 0 : a >> n; }
FN u32 u_shr_s32(u32 a, u32 n) { return (u32)((s32)a >> (n > 31 ? 31 : n)); }
FN u64 u_shr_s64(u64 a, u32 n) { return (u64)((s64)a >> (n > 63 ? 63 : n)); }
FN V32 v_shl32(V32 a, V32 n) { return (a << (n & 31)) & (V32)(n <= 31); }
FN V32 v_shr_u32(V32 a, V32 n) { return (a >> (n & 31)) & (V32)(n <= 31); }
FN V32 v_shr_s32(V32 a, V32 n) { return (V32)((S32)a >> (S32)choose32(n > 31, splat32(31), n)); }
FN V64 wide_u(V32 a) { return __builtin_convertvector(a, V64); }
FN V64 wide_s(V32 a) { return (V64) __builtin_convertvector((S32)a, S64); }
FN V64 v_shl64(V64 a, V32 n) { return (a << (wide_u(n) & 63)) & (V64)(wide_u(n) <= 63); }
FN V64 v_shr_u64(V64 a, V32 n) { return (a >> (wide_u(n) & 63)) & (V64)(wide_u(n) <= 63); }
FN V64 v_shr_s64(V64 a, V32 n) { return (V64)((S64)a >> (S64)wide_u(choose32(n > 63, splat32(63), n))); }

#define ORDERED(BITS)                                                                                      \
    FN u##BITS u_min_u##BITS(u##BITS a, u##BITS b) { return a < b ? a : b; }                               \
    FN u##BITS u_max_u##BITS(u##BITS a, u##BITS b) { return a < b ? b : a; }                               \
    FN u##BITS u_min_s##BITS(u##BITS a, u##BITS b) { return (s##BITS)a < (s##BITS)b ? a : b; }             \
    FN u##BITS u_max_s##BITS(u##BITS a, u##BITS b) { return (s##BITS)a < (s##BITS)b ? b : a; }             \
    FN V##BITS v_min_u##BITS(V##BITS a, V##BITS b) { return choose##BITS(a < b, a, b); }                   \
    FN V##BITS v_max_u##BITS(V##BITS a, V##BITS b) { return choose##BITS(a < b, b, a); }                   \
    FN V##BITS v_min_s##BITS(V##BITS a, V##BITS b) { return choose##BITS((S##BITS)a < (S##BITS)b, a, b); } \
    FN V##BITS v_max_s##BITS(V##BITS a, V##BITS b) { return choose##BITS((S##BITS)a < (S##BITS)b, b, a); } \
    FN u##BITS u_abs##BITS(u##BITS a) { return (s##BITS)a < 0 ? 0 - a : a; }                               \
    FN V##BITS v_abs##BITS(V##BITS a) { return choose##BITS((S##BITS)a < 0, 0 - a, a); }                   \
    FN u##BITS u_select##BITS(u##BITS a, u##BITS b, u32 p) { return p ? a : b; }                           \
    FN V##BITS v_select##BITS(V##BITS a, V##BITS b, u32 p) { return v_keep##BITS(p, a, b); }
ORDERED(32)
ORDERED(64)

/* Products of twice the width, and their upper half. */
FN u64 u_wide_u32(u32 a, u32 b) { return (u64)a * b; }
FN u64 u_wide_s32(u32 a, u32 b) { return (u64)((s64)(s32)a * (s32)b); }
FN V64 v_wide_u32(V32 a, V32 b) { return wide_u(a) * wide_u(b); }
FN V64 v_wide_s32(V32 a, V32 b) { return wide_s(a) * wide_s(b); }
FN u64 u_madwide_u32(u32 a, u32 b, u64 c) { return u_wide_u32(a, b) + c; }
FN u64 u_madwide_s32(u32 a, u32 b, u64 c) { return u_wide_s32(a, b) + c; }
FN V64 v_madwide_u32(V32 a, V32 b, V64 c) { return v_wide_u32(a, b) + c; }
FN V64 v_madwide_s32(V32 a, V32 b, V64 c) { return v_wide_s32(a, b) + c; }
FN u32 u_high_u32(u32 a, u32 b) { return (u32)(u_wide_u32(a, b) >> 32); }
FN u32 u_high_s32(u32 a, u32 b) { return (u32)(u_wide_s32(a, b) >> 32); }
FN V32 v_high_u32(V32 a, V32 b) { return __builtin_convertvector(v_wide_u32(a, b) >> 32, V32); }
FN V32 v_high_s32(V32 a, V32 b) { return __builtin_convertvector(v_wide_s32(a, b) >> 32, V32); }

/* Conversions of integers, in steps. */
BOTH_1(low8_, 32, a & 0xFF)
BOTH_1(low16_, 32, a & 0xFFFF)
FN u32 u_sign8_32(u32 a) { return (u32)((s32)(a << 24) >> 24); }
FN u32 u_sign16_32(u32 a) { return (u32)((s32)(a << 16) >> 16); }
FN V32 v_sign8_32(V32 a) { return (V32)((S32)(a << 24) >> 24); }
FN V32 v_sign16_32(V32 a) { return (V32)((S32)(a << 16) >> 16); }
FN u64 u_zext(u32 a) { return a; }
FN u64 u_sext(u32 a) { return (u64)(s64)(s32)a; }
FN u32 u_cut(u64 a) { return (u32)a; }
FN V64 v_zext(V32 a) { return wide_u(a); }
FN V64 v_sext(V32 a) { return wide_s(a); }
FN V32 v_cut(V64 a) { return __builtin_convertvector(a, V32); }

/* fp32: any NaN is 0x7fffffff where it is seen. */
#if __has_builtin(__builtin_elementwise_trunc)
FN F32 truncated(F32 a) { return __builtin_elementwise_trunc(a); }
FN F32 floored(F32 a) { return __builtin_elementwise_floor(a); }
#elif __has_builtin(__builtin_ia32_roundps256) && defined(__AVX2__)
FN F32 truncated(F32 a) {
    return JOIN(__builtin_ia32_roundps256(PART(a, 0), 3), __builtin_ia32_roundps256(PART(a, 1), 3),
                __builtin_ia32_roundps256(PART(a, 2), 3), __builtin_ia32_roundps256(PART(a, 3), 3));
}
FN F32 floored(F32 a) {
    return JOIN(__builtin_ia32_roundps256(PART(a, 0), 1), __builtin_ia32_roundps256(PART(a, 1), 1),
                __builtin_ia32_roundps256(PART(a, 2), 1), __builtin_ia32_roundps256(PART(a, 3), 1));
}
#else
FN F32 truncated(F32 a) {
    for (int i = 0; i < 32; ++i) a[i] = __builtin_truncf(a[i]);
    return a;
}
FN F32 floored(F32 a) {
    for (int i = 0; i < 32; ++i) a[i] = __builtin_floorf(a[i]);
    return a;
}
#endif
union Word {
    u32 bits;
    float number;
};
FN float as_f(u32 a) { return ((union Word){.bits = a}).number; }
FN u32 of_f(float a) { return a != a ? 0x7FFFFFFFu : ((union Word){.number = a}).bits; }
FN V32 f_canonical(V32 a) { return choose32((F32)a != (F32)a, splat32(0x7FFFFFFFu), a); }
#if __has_builtin(__builtin_elementwise_fma)
FN F32 fused(F32 a, F32 b, F32 c) { return __builtin_elementwise_fma(a, b, c); }
#elif __has_builtin(__builtin_ia32_vfmaddps256) && defined(__FMA__)
typedef float F8 __attribute__((vector_size(32)));
FN F32 fused(F32 a, F32 b, F32 c) {
    const F8 r0 = __builtin_ia32_vfmaddps256(PART(a, 0), PART(b, 0), PART(c, 0));
    const F8 r1 = __builtin_ia32_vfmaddps256(PART(a, 1), PART(b, 1), PART(c, 1));
    const F8 r2 = __builtin_ia32_vfmaddps256(PART(a, 2), PART(b, 2), PART(c, 2));
    const F8 r3 = __builtin_ia32_vfmaddps256(PART(a, 3), PART(b, 3), PART(c, 3));
    return JOIN(r0, r1, r2, r3);
}
#else
FN F32 fused(F32 a, F32 b, F32 c) {
    for (int i = 0; i < 32; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return a;
}
#endif
#define FLOAT_2(NAME, EXPRESSION)             \
    FN u32 u_##NAME(u32 x, u32 y) {           \
        const float a = as_f(x), b = as_f(y); \
        return of_f(EXPRESSION);              \
    }                                         \
    FN V32 v_##NAME(V32 x, V32 y) {           \
        const F32 a = (F32)x, b = (F32)y;     \
        return (V32)(EXPRESSION);             \
    }
FLOAT_2(fadd, a + b)
FLOAT_2(fsub, a - b)
FLOAT_2(fmul, a* b)
FLOAT_2(fdiv, a / b)
FN u32 u_ffma(u32 a, u32 b, u32 c) { return of_f(__builtin_fmaf(as_f(a), as_f(b), as_f(c))); }
FN V32 v_ffma(V32 a, V32 b, V32 c) { return (V32)fused((F32)a, (F32)b, (F32)c); }
FN u32 u_frcp(u32 a) { return of_f(1.0f / as_f(a)); }
FN V32 v_frcp(V32 a) { return (V32)(1.0f / (F32)a); }
FN u32 u_fneg(u32 a) { return of_f(as_f(a ^ 0x80000000u)); }
FN V32 v_fneg(V32 a) { return a ^ 0x80000000u; }
FN u32 u_fabs(u32 a) { return of_f(as_f(a & 0x7FFFFFFFu)); }
FN V32 v_fabs(V32 a) { return a & 0x7FFFFFFFu; }
/* The number that is not a NaN; of two zeros the negative one is the smaller. */
FN V32 v_fmin(V32 a, V32 b) {
    const F32 x = (F32)a, y = (F32)b;
    const V32 lesser = choose32(x < y, a, choose32(x == y, a | b, b));
    return choose32(x != x, b, choose32(y != y, a, lesser));
}
FN V32 v_fmax(V32 a, V32 b) {
    const F32 x = (F32)a, y = (F32)b;
    const V32 greater = choose32(x > y, a, choose32(x == y, a & b, b));
    return choose32(x != x, b, choose32(y != y, a, greater));
}
FN u32 u_fmin(u32 a, u32 b) { return f_canonical(v_fmin(splat32(a), splat32(b)))[0]; }
FN u32 u_fmax(u32 a, u32 b) { return f_canonical(v_fmax(splat32(a), splat32(b)))[0]; }
FN u32 u_f_of_s32(u32 a) { return of_f((float)(s32)a); }
FN u32 u_f_of_u32(u32 a) { return of_f((float)a); }
FN V32 v_f_of_s32(V32 a) { return (V32) __builtin_convertvector((S32)a, F32); }
FN V32 v_f_of_u32(V32 a) { return (V32) __builtin_convertvector(a, F32); }
/* To the integer nearest to zero; beyond the range its end, of a NaN 0. */
FN V32 v_s32_of_f(V32 a) {
    const F32 x = (F32)a;
    const S32 inside = (x >= -0x1p31f) & (x < 0x1p31f);
    const V32 r = (V32) __builtin_convertvector((F32)(a & (V32)inside), S32);
    const V32 beyond =
        choose32(x >= 0x1p31f, splat32(0x7FFFFFFF), choose32(x < 0, splat32(0x80000000), splat32(0)));
    return choose32(inside, r, beyond);
}
FN u32 u_s32_of_f(u32 a) { return v_s32_of_f(splat32(a))[0]; }

FN V32 v_ftrunc(V32 a) { return (V32)truncated((F32)a); }
FN u32 u_ftrunc(u32 a) { return of_f(__builtin_truncf(as_f(a))); }
FN V32 v_ffloor(V32 a) { return (V32)floored((F32)a); }
FN u32 u_ffloor(u32 a) { return of_f(__builtin_floorf(as_f(a))); }

/* fp64 keeps the payload of a NaN: only where no result is one. */
#define DOUBLE_2(NAME, EXPRESSION)        \
    FN V64 v_##NAME(V64 x, V64 y) {       \
        const F64 a = (F64)x, b = (F64)y; \
        return (V64)(EXPRESSION);         \
    }
DOUBLE_2(dadd, a + b)
DOUBLE_2(dsub, a - b)
DOUBLE_2(dmul, a* b)
DOUBLE_2(ddiv, a / b)
#if __has_builtin(__builtin_elementwise_fma)
FN V64 v_dfma(V64 a, V64 b, V64 c) { return (V64)__builtin_elementwise_fma((F64)a, (F64)b, (F64)c); }
#else
FN V64 v_dfma(V64 a, V64 b, V64 c) {
    F64 x = (F64)a;
    for (int i = 0; i < 32; ++i) x[i] = __builtin_fma(x[i], ((F64)b)[i], ((F64)c)[i]);
    return (V64)x;
}
#endif
FN u32 has_nan(V64 a) { return gather_mask64((F64)a != (F64)a); }
BOTH_1(dneg, 64, a ^ 0x8000000000000000u)
BOTH_1(dabs, 64, a & 0x7FFFFFFFFFFFFFFFu)

/* Comparisons: a word of bits. ST, VT: the numbers that x and y are, alone and by lanes. */
#define gather_32(m) gather_mask(m)
#define gather_64(m) gather_mask64(m)
#define COMPARE(NAME, ST, VT, BITS, AS, EXPRESSION) \
    FN u32 u_##NAME(u##BITS x, u##BITS y) {         \
        const ST a = AS(x), b = AS(y);              \
        return EXPRESSION ? ~0u : 0u;               \
    }                                               \
    FN u32 v_##NAME(V##BITS x, V##BITS y) {         \
        const VT a = (VT)x, b = (VT)y;              \
        return gather_##BITS(EXPRESSION);           \
    }
#define COMPARES(T, ST, VT, BITS, AS)           \
    COMPARE(eq_##T, ST, VT, BITS, AS, (a == b)) \
    COMPARE(lt_##T, ST, VT, BITS, AS, (a < b))  \
    COMPARE(le_##T, ST, VT, BITS, AS, (a <= b)) \
    COMPARE(gt_##T, ST, VT, BITS, AS, (a > b))  \
    COMPARE(ge_##T, ST, VT, BITS, AS, (a >= b))
FN double as_d(u64 a) {
    const union {
        u64 bits;
        double number;
    } x = {.bits = a};
    return x.number;
}
COMPARES(u32, u32, V32, 32, (u32))
COMPARES(s32, s32, S32, 32, (s32))
COMPARES(u64, u64, V64, 64, (u64))
COMPARES(s64, s64, S64, 64, (s64))
COMPARES(f32, float, F32, 32, as_f)
COMPARES(f64, double, F64, 64, as_d)
#define NOT_EQUAL(T, X, P) \
    FN u32 P##_ne_##T(X x, X y) { return ~P##_eq_##T(x, y); }
#define FOR_BOTH(WHAT, T, BITS) WHAT(T, u##BITS, u) WHAT(T, V##BITS, v)
FOR_BOTH(NOT_EQUAL, u32, 32)
FOR_BOTH(NOT_EQUAL, s32, 32)
FOR_BOTH(NOT_EQUAL, u64, 64)
FOR_BOTH(NOT_EQUAL, s64, 64)
/* Of floats, ne is ordered, neu is not. */
#define UNORDERED(T, X, P)                                                       \
    FN u32 P##_ne_##T(X x, X y) { return P##_lt_##T(x, y) | P##_lt_##T(y, x); }  \
    FN u32 P##_neu_##T(X x, X y) { return ~P##_eq_##T(x, y); }                   \
    FN u32 P##_equ_##T(X x, X y) { return ~P##_ne_##T(x, y); }                   \
    FN u32 P##_ltu_##T(X x, X y) { return ~P##_ge_##T(x, y); }                   \
    FN u32 P##_leu_##T(X x, X y) { return ~P##_gt_##T(x, y); }                   \
    FN u32 P##_gtu_##T(X x, X y) { return ~P##_le_##T(x, y); }                   \
    FN u32 P##_geu_##T(X x, X y) { return ~P##_lt_##T(x, y); }                   \
    FN u32 P##_num_##T(X x, X y) { return P##_eq_##T(x, x) & P##_eq_##T(y, y); } \
    FN u32 P##_nan_##T(X x, X y) { return ~P##_num_##T(x, y); }
FOR_BOTH(UNORDERED, f32, 32)
FOR_BOTH(UNORDERED, f64, 64)

/* Memory: pieces of 8, 16 or 32 elements that lie side by side, or one element for 8 lanes. */
#define ELEMENTS(T)                                                                                        \
    typedef T T##_any __attribute__((aligned(1), may_alias));                                              \
    typedef OF_8(T) T##_8;                                                                                 \
    typedef OF_16(T) T##_16;                                                                               \
    typedef OF_32(T) T##_32;                                                                               \
    typedef T T##_of8 __attribute__((vector_size(8 * sizeof(T))));                                         \
    typedef T T##_of16 __attribute__((vector_size(16 * sizeof(T))));                                       \
    FN LANES(T) T##_get32(const u8* p) { return *(const T##_32*)p; }                                       \
    FN T##_of16 T##_get16(const u8* p) { return *(const T##_16*)p; }                                       \
    FN T##_of8 T##_get8(const u8* p) { return *(const T##_8*)p; }                                          \
    FN T##_of16 T##_one16(const u8* p) { return (T##_of16){} + *(const T##_any*)p; }                       \
    FN T##_of8 T##_one8(const u8* p) { return (T##_of8){} + *(const T##_any*)p; }                          \
    FN T T##_get1(const u8* p) { return *(const T##_any*)p; }                                              \
    FN void T##_put32(u8* p, LANES(T) v) { *(T##_32*)p = v; }                                              \
    FN void T##_put8(u8* p, T##_of8 v) { *(T##_8*)p = v; }                                                 \
    FN void T##_put1(u8* p, T v) { *(T##_any*)p = v; }                                                     \
    static __attribute__((noinline)) void T##_scatter(u8* p, const struct Shape* s, const T##_any* v) {    \
        for (int i = 0; i < 32; ++i) *(T##_any*)(p + s->lane[i]) = v[i];                                   \
    }                                                                                                      \
    static __attribute__((noinline)) void T##_scatter_some(u8* p, const struct Shape* s, const T##_any* v, \
                                                           u32 mask) {                                     \
        for (; mask; mask &= mask - 1) {                                                                   \
            const int i = __builtin_ctz(mask);                                                             \
            *(T##_any*)(p + s->lane[i]) = v[i];                                                            \
        }                                                                                                  \
    }                                                                                                      \
    FN LANES(T) T##_each(const u8* p, const struct Shape* s) {                                             \
        LANES(T) v;                                                                                        \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < 32; ++i) v[i] =                             \
            *(const T##_any*)(p + s->lane[i]);                                                             \
        return v;                                                                                          \
    }
ELEMENTS(u8)
ELEMENTS(u16)
ELEMENTS(u32)
ELEMENTS(u64)

/* Four neighbours of 4 bytes for each lane. */
struct Four {
    V32 x[4];
};
typedef u32 u32_of4 __attribute__((vector_size(16)));
typedef u32 u32_4 __attribute__((vector_size(16), aligned(1), may_alias));
FN struct Four u32_four(const u8* p, const struct Shape* s) {
    union {
        u32 word[4][32];
        struct Four all;
        u32_4 row[4][8];
    } r;
    for (int g = 0; g < 8; ++g) {
        const u32_of4 a = *(const u32_4*)(p + s->lane[4 * g]), b = *(const u32_4*)(p + s->lane[4 * g + 1]),
                      c = *(const u32_4*)(p + s->lane[4 * g + 2]),
                      d = *(const u32_4*)(p + s->lane[4 * g + 3]);
        const u32_of4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                      cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        const u32_of4 ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
                      cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        r.row[0][g] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        r.row[1][g] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        r.row[2][g] = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
        r.row[3][g] = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
    }
    return r.all;
}

FN V32 u32_gather(const u8* p, const struct Shape* s) {
#if __has_builtin(__builtin_ia32_gatherd_d256) && defined(__AVX2__)
    typedef int I __attribute__((vector_size(32)));
    const I all = (I){} - 1;
    const S32 at = *(const S32*)s->lane32;
    const I r0 = __builtin_ia32_gatherd_d256((I){}, (const int*)p, PART(at, 0), all, 1);
    const I r1 = __builtin_ia32_gatherd_d256((I){}, (const int*)p, PART(at, 1), all, 1);
    const I r2 = __builtin_ia32_gatherd_d256((I){}, (const int*)p, PART(at, 2), all, 1);
    const I r3 = __builtin_ia32_gatherd_d256((I){}, (const int*)p, PART(at, 3), all, 1);
    return (V32)JOIN(r0, r1, r2, r3);
#else
    return u32_each(p, s);
#endif
}
