// IEEE arithmetic, rounded to nearest even. Source: PTX ISA, "Floating-Point Instructions"; special
// values as an H200 was seen to give them (tests/data/hardware): any NaN result of fp32 arithmetic is
// 0x7fffffff. fp64 results keep the payload of the first operand that is a NaN, made quiet; a NaN made
// by the operation itself is 0xfff8000000000000.
//
// The folder is compiled with -ffp-contract=off: a product and a sum stay two roundings.
namespace tilescope::simt::TILESCOPE_LANES {

inline float canonical(float x) { return x != x ? std::bit_cast<float>(0x7FFF'FFFFu) : x; }

inline double quiet(double x) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(x) | 0x0008'0000'0000'0000u);
}
inline double canonical(double r, double a, double b, double c) {
    if (r == r) return r;
    if (a != a) return quiet(a);
    if (b != b) return quiet(b);
    if (c != c) return quiet(c);
    return std::bit_cast<double>(0xFFF8'0000'0000'0000u);
}

// .ftz: subnormals become zero of the same sign.
template <bool Ftz>
inline float flushed(float x) {
    if constexpr (!Ftz) return x;
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>((bits & 0x7F80'0000u) == 0 ? bits & 0x8000'0000u : bits);
}

// .sat: clamped to [0, 1]; a NaN becomes +0.
template <bool Sat>
inline float saturated(float x) {
    if constexpr (!Sat) return x;
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}

template <bool Ftz, bool Sat>
inline float finished(float x) {
    return saturated<Sat>(canonical(flushed<Ftz>(x)));
}

// The operations proper.
struct FAdd {
    static auto op(auto a, auto b) -> decltype(a) { return a + b; }
};
struct FSub {
    static auto op(auto a, auto b) -> decltype(a) { return a - b; }
};
struct FMul {
    static auto op(auto a, auto b) -> decltype(a) { return a * b; }
};
struct FDiv {
    static auto op(auto a, auto b) -> decltype(a) { return a / b; }
};
struct FFma {
    static float op(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    static double op(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct FSqrt {
    static float op(float a) { return __builtin_sqrtf(a); }
    static double op(double a) { return __builtin_sqrt(a); }
};
struct FRcp {
    template <class T>
    static T op(T a) {
        return T{1} / a;
    }
};

// The number that is not a NaN; of two zeros the negative one is the smaller.
struct FMin {
    template <class T>
    static T op(T a, T b) {
        using S = Slot<T>;
        const T zero = std::bit_cast<T>(static_cast<S>(std::bit_cast<S>(a) | std::bit_cast<S>(b)));
        const T lesser = a < b ? a : (a == b ? zero : b);
        return a != a ? b : (b != b ? a : lesser);
    }
};
struct FMax {
    template <class T>
    static T op(T a, T b) {
        using S = Slot<T>;
        const T zero = std::bit_cast<T>(static_cast<S>(std::bit_cast<S>(a) & std::bit_cast<S>(b)));
        const T greater = a > b ? a : (a == b ? zero : b);
        return a != a ? b : (b != b ? a : greater);
    }
};
// .NaN, of fp32 alone (PTX ISA, "min", "max"): a NaN where either operand is one.
struct FMinNan {
    static float op(float a, float b) { return a != a ? a : b != b ? b : FMin::op(a, b); }
};
struct FMaxNan {
    static float op(float a, float b) { return a != a ? a : b != b ? b : FMax::op(a, b); }
};
// .xorsign.abs: of the sizes, with the sign of the product. A NaN has none.
template <class F>
struct FXorsign {
    static float op(float a, float b) {
        const float size = F::op(__builtin_fabsf(a), __builtin_fabsf(b));
        const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x8000'0000u;
        return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | sign);
    }
};
struct FNeg {
    static auto op(auto a) -> decltype(a) { return -a; }
};
struct FAbs {
    static float op(float a) { return __builtin_fabsf(a); }
    static double op(double a) { return __builtin_fabs(a); }
};

// An operation with its modifiers, as the lane loops call it.
template <class F, bool Ftz, bool Sat>
struct F32 {
    static float apply(float a) { return finished<Ftz, Sat>(F::op(flushed<Ftz>(a))); }
    static float apply(float a, float b) {
        return finished<Ftz, Sat>(F::op(flushed<Ftz>(a), flushed<Ftz>(b)));
    }
    static float apply(float a, float b, float c) {
        return finished<Ftz, Sat>(F::op(flushed<Ftz>(a), flushed<Ftz>(b), flushed<Ftz>(c)));
    }
};
template <class F>
struct F64 {
    static double apply(double a) { return canonical(F::op(a), a, a, a); }
    static double apply(double a, double b) { return canonical(F::op(a, b), a, b, b); }
    static double apply(double a, double b, double c) { return canonical(F::op(a, b, c), a, b, c); }
};
// neg and abs of fp64 only touch the sign.
template <class F>
struct F64Sign {
    static double apply(double a) { return F::op(a); }
};
// The sign of a with the magnitude of b; on the bits alone.
struct Copysign {
    template <class S>
    static S apply(S a, S b) {
        constexpr S kSign = S{1} << (sizeof(S) * 8 - 1);
        return (a & kSign) | (b & ~kSign);
    }
};

// testp: which kind of number. Fraction: bits of the fraction.
template <class S, int Fraction, Mode M>
void testp(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*, uint32_t mask) {
    constexpr S kInfinity = (S{1} << (sizeof(S) * 8 - 1)) - (S{1} << Fraction), kSmallest = S{1} << Fraction;
    uint32_t bits = 0;
    for (int i = 0; i < kWarpSize; ++i) {
        const S size = slots<S>(a)[i] & ~(S{1} << (sizeof(S) * 8 - 1));
        const bool is = M == Mode::Finite       ? size < kInfinity
                        : M == Mode::Infinite   ? size == kInfinity
                        : M == Mode::Number     ? size <= kInfinity
                        : M == Mode::NotANumber ? size > kInfinity
                        : M == Mode::Normal     ? size >= kSmallest && size < kInfinity
                                                : size != 0 && size < kSmallest;
        bits |= is ? 1u << i : 0u;
    }
    word(d) = (word(d) & ~mask) | (bits & mask);
}

inline LaneOp find_testp(const Operation& i) {
    using enum Mode;
    return with_one_of<Finite, Infinite, Number, NotANumber, Normal, Subnormal>(i.mode, [&](auto mode) {
        constexpr Mode kMode = decltype(mode)::value;
        return i.type == Type::F64 ? same(testp<uint64_t, 52, kMode>) : same(testp<uint32_t, 23, kMode>);
    });
}

template <class G, class T, int Operands>
LaneOp float_op() {
    if constexpr (Operands == 1)
        return unary<G, T, T>();
    else if constexpr (Operands == 2)
        return binary<G, T, T>();
    else
        return ternary<G, T, T>();
}

template <class F, int Operands>
LaneOp float32_op(const Operation& i) {
    if (i.type != Type::F32) return {};
    return with_flags(i.ftz, i.sat,
                      [](auto ftz, auto sat) { return float_op<F32<F, ftz, sat>, float, Operands>(); });
}

// min and max with what they may be told: calls f with the operation.
template <class Fn>
LaneOp with_extreme(const Operation& i, Fn f) {
    const bool least = i.op == Op::Min;
    if (i.nan && i.xorsign) return least ? f(FXorsign<FMinNan>()) : f(FXorsign<FMaxNan>());
    if (i.xorsign) return least ? f(FXorsign<FMin>()) : f(FXorsign<FMax>());
    if (i.nan) return least ? f(FMinNan()) : f(FMaxNan());
    return least ? f(FMin()) : f(FMax());
}

template <class F, int Operands>
LaneOp float_op(const Operation& i) {
    if (i.type != Type::F64) return float32_op<F, Operands>(i);
    return i.ftz || i.sat ? LaneOp{} : float_op<F64<F>, double, Operands>();
}

inline LaneOp find_float(const Operation& i) {
    if (i.type != Type::F32 && i.type != Type::F64) return {};
    if (i.round != Round::None && i.round != Round::Rn) return {};  // directed: lanes_directed.cpp
    const bool named = i.round == Round::Rn;
    switch (i.op) {
        case Op::Add: return float_op<FAdd, 2>(i);
        case Op::Sub: return float_op<FSub, 2>(i);
        case Op::Mul: return float_op<FMul, 2>(i);
        case Op::Mad:
        case Op::Fma: return named ? float_op<FFma, 3>(i) : LaneOp{};
        case Op::Div: return named ? float_op<FDiv, 2>(i) : LaneOp{};
        case Op::Sqrt: return named ? float_op<FSqrt, 1>(i) : LaneOp{};
        case Op::Rcp: return named ? float_op<FRcp, 1>(i) : LaneOp{};
        case Op::Min:
            if (i.type == Type::F64) return float_op<FMin, 2>(i);
            return with_extreme(i, [&](auto f) { return float32_op<decltype(f), 2>(i); });
        case Op::Max:
            if (i.type == Type::F64) return float_op<FMax, 2>(i);
            return with_extreme(i, [&](auto f) { return float32_op<decltype(f), 2>(i); });
        case Op::Neg:
            return i.type == Type::F64 ? unary<F64Sign<FNeg>, double, double>() : float_op<FNeg, 1>(i);
        case Op::Abs:
            return i.type == Type::F64 ? unary<F64Sign<FAbs>, double, double>() : float_op<FAbs, 1>(i);
        case Op::Copysign:
            return i.type == Type::F64 ? binary<Copysign, uint64_t, uint64_t>()
                                       : binary<Copysign, uint32_t, uint32_t>();
        case Op::Testp: return find_testp(i);
        case Op::Mov:
            return i.type == Type::F64 ? unary<Identity, uint64_t, uint64_t>()
                                       : unary<Identity, uint32_t, uint32_t>();
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
