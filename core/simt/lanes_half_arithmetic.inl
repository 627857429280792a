// Arithmetic on f16 and bf16, on pairs of them, and on pairs of f32.
//
//   f16x2, bf16x2    each half by itself; a 32-bit slot is { upper half, lower half }
//   f32x2            a column of 32 pairs is two columns of 32 numbers, one behind the other
//
// A result is rounded once. Sums, differences and products are made in float, which has more than twice the digits of
// a result and two, so that rounding twice is rounding once (Figueroa, "When is double rounding innocuous?"); an fma's
// sum is rounded to odd there, of bf16 in double, as its products have a float's digits and more than its exponents.
//
// .ftz flushes what is too small after rounding. A NaN result is 0x7fff; .relu leaves it. ex2 and tanh give what an H200
// gave for every operand (tests/data/hardware/halves.txt): the functions below are found in its answers.
//
// Source: PTX ISA, "Half Precision Floating Point Instructions"; "Floating Point Instructions: add, sub, mul, fma" of
// .f32x2.
namespace tilescope::simt::TILESCOPE_LANES {

struct HalfFma {
    // The sum as float has it, and what it lacks: then the neighbour that lies nearer to the exact one and is odd.
    template <class W>
    static W to_odd(W product, W c) {
        using S = Slot<W>;
        const W sum = product + c, added = sum - product;
        const W lost = (product - (sum - added)) + (c - added);
        const S bits = std::bit_cast<S>(sum);
        const S beyond = static_cast<S>((lost > 0) == (sum > 0));  // the exact sum is larger in size
        const S changes = static_cast<S>((lost > 0) | (lost < 0)) & ~bits & 1;
        return std::bit_cast<W>(bits + changes * (2 * beyond - 1));
    }
};

// .ftz on the bits of an operand.
template <class Format, bool Ftz>
uint16_t flushed_half(uint16_t h) {
    if constexpr (!Ftz) return h;
    return static_cast<uint16_t>((h & 0x7FFF) < (1 << Format::kFraction) ? h & 0x8000 : h);
}

// F: op(float...) or, of a fused product and sum, void.
template <class Format, class F, bool Ftz, bool Sat, bool Relu>
struct Short {
    static uint16_t finish(auto exact) {
        using W = decltype(exact);
        if constexpr (Sat) exact = exact > 0 ? (exact < 1 ? exact : W{1}) : W{0};
        if constexpr (Ftz) exact = FAbs::op(exact) < W{kNormal} ? exact * W{0} : exact;
        return bounded<Format, Relu, false>(nearest<Format>(exact));
    }
    // What rounds to a normal number if exponents had no end.
    static constexpr float kNormal =
        std::bit_cast<float>(((127u + Format::kLowest) << 23) - (1u << (22 - Format::kFraction)));
    static float number(uint16_t h) { return Format::widen(flushed_half<Format, Ftz>(h)); }
    static uint16_t apply(uint16_t a) { return finish(F::op(number(a))); }
    static uint16_t apply(uint16_t a, uint16_t b) { return finish(F::op(number(a), number(b))); }
    static uint16_t apply(uint16_t a, uint16_t b, uint16_t c) {
        using W = std::conditional_t<std::is_same_v<Format, Half16>, float, double>;
        return finish(HalfFma::to_odd<W>(W{number(a)} * W{number(b)}, W{number(c)}));
    }
};
// 2^x of x cut to 23 binary places, and cut to Format's digits; what Format has no room for is infinity.
template <class Format>
struct ShortEx2 {
    static uint16_t apply(uint16_t a) {
        const double power = std::exp2(__builtin_trunc(double{Format::widen(a)} * 0x1p23) * 0x1p-23);
        const bool beyond = power >= std::exp2(Format::kHighest + 1);
        const uint16_t made = narrowed<Format, Round::Rz>(beyond ? INFINITY : power);
        return flushed_half<Format, std::is_same_v<Format, BrainFloat>>(made);
    }
};

// The hyperbolic tangent, cut to Format's digits, with three exceptions: a small number is its own, one of 8 or more has
// 1, and where the tangent comes within 2^-17 of itself to one of Format's numbers, the GPU may be on the other side.
template <class Format>
struct ShortTanh {
    // Such operands, as f16: the GPU takes the tangent for more, or for less.
    static constexpr uint16_t kAbove[] = {0x29C6, 0x2C95, 0x2C96, 0x2E39, 0x2E9D, 0x3064, 0x323F, 0x32FF,
                                          0x355B, 0x372D, 0x3824, 0x399A, 0x3CC9, 0x3DE3, 0x3ED6, 0x4080};
    static constexpr uint16_t kBelow[] = {0x2D3F, 0x39F8, 0x3C8E, 0x3C9D, 0x3DB8, 0x3E23, 0x3EAB, 0x4429};
    static double tangent(float x) {
        if (x < 0x1.02p-8f) return x;
        if (x >= 8) return 1;
        const auto has = [x](const auto& list) {
            bool found = false;
            for (const uint16_t one : list) found |= Half16::widen(one) == x;
            return found;
        };
        return std::tanh(double{x}) * (1 + 0x1p-17 * (has(kAbove) - has(kBelow)));
    }
    static uint16_t apply(uint16_t a) {
        const uint16_t size = a & 0x7FFF;
        const float x = Format::widen(size);
        if (x != x) return 0x7FFF;
        return static_cast<uint16_t>(narrowed<Format, Round::Rz>(tangent(x)) | (a & 0x8000));
    }
};

template <class G>
struct Pairs {
    template <class... T>
    static uint32_t apply(T... x) {
        const uint32_t low = G::apply(static_cast<uint16_t>(x)...);
        const uint32_t high = G::apply(static_cast<uint16_t>(x >> 16)...);
        return high << 16 | low;
    }
};

template <class G, int Operands>
LaneOp short_op(const Operation& i) {
    return elements_of(i.type) == 2 ? float_op<Pairs<G>, uint32_t, Operands>()
                                    : float_op<G, uint16_t, Operands>();
}

template <class Format, class F, int Operands>
LaneOp short_flags(const Operation& i) {
    if constexpr (std::is_same_v<Format, BrainFloat>)
        return i.relu ? short_op<Short<Format, F, false, false, true>, Operands>(i)
                      : short_op<Short<Format, F, false, false, false>, Operands>(i);
    if (i.relu)
        return i.ftz ? short_op<Short<Format, F, true, false, true>, Operands>(i)
                     : short_op<Short<Format, F, false, false, true>, Operands>(i);
    return with_flags(i.ftz, i.sat, [&](auto ftz, auto sat) {
        return short_op<Short<Format, F, ftz, sat, false>, Operands>(i);
    });
}

template <class Format>
LaneOp short_as(const Operation& i) {
    switch (i.op) {
        case Op::Add: return short_flags<Format, FAdd, 2>(i);
        case Op::Sub: return short_flags<Format, FSub, 2>(i);
        case Op::Mul: return short_flags<Format, FMul, 2>(i);
        case Op::Fma: return short_flags<Format, void, 3>(i);
        case Op::Neg: return short_flags<Format, FNeg, 1>(i);
        case Op::Abs: return short_flags<Format, FAbs, 1>(i);
        case Op::Min:
        case Op::Max: return with_extreme(i, [&](auto f) { return short_flags<Format, decltype(f), 2>(i); });
        case Op::Ex2: return short_op<ShortEx2<Format>, 1>(i);
        case Op::Tanh: return short_op<ShortTanh<Format>, 1>(i);
        default: return {};
    }
}

template <LaneFn kFull, LaneFn kPartial>
LaneOp twice_op() {
    return {twice<kFull>, twice<kPartial>, each_warp<twice<kFull>>};
}
template <class F, int Operands>
LaneOp two_floats(const Operation& i) {
    return with_flags(i.ftz, false, [](auto ftz, auto) {
        using G = F32<F, ftz, false>;
        if constexpr (Operands == 2)
            return twice_op<full2<G, float, float, float>, partial2<G, float, float, float>>();
        else
            return twice_op<full3<G, float, float, float, float>, partial3<G, float, float, float, float>>();
    });
}

inline LaneOp find_short(const Operation& i) {
    if (i.op == Op::Set || i.op == Op::Setp) return {};
    if (i.type == Type::F16 || i.type == Type::F16X2) return short_as<Half16>(i);
    if (i.type == Type::BF16 || i.type == Type::BF16X2) return short_as<BrainFloat>(i);
    if (i.type != Type::F32X2) return {};
    if (i.round != Round::None && i.round != Round::Rn) return {};  // directed: lanes_directed.cpp
    switch (i.op) {
        case Op::Add: return two_floats<FAdd, 2>(i);
        case Op::Sub: return two_floats<FSub, 2>(i);
        case Op::Mul: return two_floats<FMul, 2>(i);
        case Op::Fma: return two_floats<FFma, 3>(i);
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
