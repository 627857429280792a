// cvt to and from f16 and bf16. Source: PTX ISA, "Data Movement and Conversion Instructions: cvt",
// "Alternate Floating-Point Data Formats". A NaN result is 0x7fff. Arithmetic on them is not known here.
namespace tilescope::simt::TILESCOPE_LANES {

struct Half16 {
    static constexpr int kFraction = 10, kLowest = -14, kHighest = 15;  // exponents of normal numbers
    static float widen(uint16_t h) {
        const uint32_t sign = uint32_t{h & 0x8000u} << 16, size = h & 0x7FFFu;
        if (size >= 0x7C00) return std::bit_cast<float>(sign | 0x7F80'0000u | (size & 0x3FF) << 13);
        if (size < 0x400)
            return __builtin_copysignf(static_cast<float>(size) * 0x1p-24f, std::bit_cast<float>(sign));
        return std::bit_cast<float>(sign | ((size << 13) + (112u << 23)));
    }
};
struct BrainFloat {
    static constexpr int kFraction = 7, kLowest = -126, kHighest = 127;
    static float widen(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }
};

// The nearest number of Format on the side that R names. Every step is exact but the rounding.
template <class Format, Round R>
uint16_t narrowed(double x) {
    constexpr uint32_t kInfinity = static_cast<uint32_t>(Format::kHighest - Format::kLowest + 2)
                                   << Format::kFraction;
    if (x != x) return 0x7FFF;
    const uint64_t bits = std::bit_cast<uint64_t>(x);
    const bool minus = bits >> 63;
    const uint32_t sign = minus ? 0x8000 : 0;
    const double size = __builtin_fabs(x);
    if (size > std::numeric_limits<double>::max()) return static_cast<uint16_t>(sign | kInfinity);
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    const bool up = R == (minus ? Round::Rm : Round::Rp);
    if (exponent > Format::kHighest)
        return static_cast<uint16_t>(sign | (R == Round::Rn || up ? kInfinity : kInfinity - 1));
    const int base = exponent < Format::kLowest ? Format::kLowest : exponent;
    // size / 2^(base - kFraction): below 2^(kFraction + 1), so that its rounding to an integer is the
    // result's fraction, and a carry out of it the next exponent.
    const double power = std::bit_cast<double>(static_cast<uint64_t>(1023 + Format::kFraction - base) << 52);
    const double scaled = size * power;
    const double whole = R == Round::Rn ? __builtin_rint(scaled)
                         : up           ? __builtin_ceil(scaled)
                                        : __builtin_floor(scaled);
    const uint32_t size_bits =
        (static_cast<uint32_t>(base - Format::kLowest) << Format::kFraction) + static_cast<uint32_t>(whole);
    return static_cast<uint16_t>(sign | size_bits);
}

// Integers go through double: exact up to 2^53, and beyond the largest f16 above it.
template <class Format, Round R, bool Ftz, bool Sat>
struct ToHalf {
    template <class A>
    static uint16_t apply(A a) {
        double x;
        if constexpr (std::is_same_v<A, float>)
            x = double{flushed<Ftz>(a)};
        else
            x = static_cast<double>(a);
        if constexpr (Sat) x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
        return narrowed<Format, R>(x);
    }
};
template <class Format, class F>
struct FromHalf {
    static auto apply(uint16_t h) { return F::apply(Format::widen(h)); }
};
template <class Format, Round R>
struct IntegralHalf {
    static uint16_t apply(uint16_t h) {
        return narrowed<Format, Round::Rn>(double{integral(Format::widen(h), R)});
    }
};

template <class Format, Round R, class A>
LaneOp to_half_from(const Operation& i) {
    return with_flags(i.ftz, i.sat, [](auto ftz, auto sat) -> LaneOp {
        if constexpr (ftz && !std::is_same_v<A, float>) return {};
        return unary<ToHalf<Format, R, ftz, sat>, uint16_t, A>();
    });
}
template <class Format, Round R>
LaneOp to_half(const Operation& i) {
    if (i.type2 == Type::F32) return to_half_from<Format, R, float>(i);
    if (i.type2 == Type::F64) return to_half_from<Format, R, double>(i);
    if constexpr (std::is_same_v<Format, Half16>)
        return with_any_integer(i.type2,
                                [&](auto zero) { return to_half_from<Format, R, decltype(zero)>(i); });
    return {};
}

template <class Format>
LaneOp from_half(const Operation& i) {
    if (i.type == Type::F32) {
        if (i.round != Round::None) return {};
        return i.sat ? unary<FromHalf<Format, Same32<false, true>>, float, uint16_t>()
                     : unary<FromHalf<Format, Same32<false, false>>, float, uint16_t>();
    }
    if (i.sat && is_float(i.type)) return {};
    if (i.type == Type::F64)
        return i.round == Round::None ? unary<FromHalf<Format, Widen<false>>, double, uint16_t>() : LaneOp{};
    return with_any_integer(i.type, [&](auto zero) -> LaneOp {
        using D = decltype(zero);
        return with_integral(i.round, [](auto known) {
            return unary<FromHalf<Format, FloatToInt<D, float, decltype(known)::value, false>>, D,
                         uint16_t>();
        });
    });
}

template <class Format>
LaneOp half_to_half(const Operation& i) {
    if (i.sat || i.ftz) return {};
    if (i.round == Round::None) return unary<Identity, uint16_t, uint16_t>();
    return with_integral(i.round, [](auto known) {
        return unary<IntegralHalf<Format, decltype(known)::value>, uint16_t, uint16_t>();
    });
}

template <class Format>
LaneOp half_as(const Operation& i) {
    if (i.type == i.type2) return half_to_half<Format>(i);
    if (!is_half(i.type)) return from_half<Format>(i);
    return with_one_of<Round::Rn, Round::Rz, Round::Rm, Round::Rp>(
        i.round, [&](auto known) { return to_half<Format, decltype(known)::value>(i); });
}

inline LaneOp find_half(const Operation& i) {
    if (i.op != Op::Cvt || (!is_half(i.type) && !is_half(i.type2))) return {};
    if (is_half(i.type) && is_half(i.type2) && i.type != i.type2) return {};
    const bool brain = i.type == Type::BF16 || i.type2 == Type::BF16;
    return brain ? half_as<BrainFloat>(i) : half_as<Half16>(i);
}

}  // namespace tilescope::simt::TILESCOPE_LANES
