// f16 and bf16 as numbers, and cvt to and from them. Source: PTX ISA, "Data Movement and Conversion Instructions: cvt",
// "Alternate Floating-Point Data Formats". A NaN result is 0x7fff; cvt.f32.bf16 keeps the bits of one, as an H200 does.
namespace tilescope::simt::TILESCOPE_LANES {

// a or b: both are computed, so that a loop over lanes has no branch that the processor could be wrong about, and none
// that keeps the compiler from taking lanes together.
template <class S>
inline S chosen(bool first, S a, S b) {
    const S mask = S{0} - static_cast<S>(first);
    return (a & mask) | (b & ~mask);
}

struct Half16 {
    static constexpr int kFraction = 10, kLowest = -14, kHighest = 15;  // exponents of normal numbers
    static float widen(uint16_t h) {
        const uint32_t sign = uint32_t{h & 0x8000u} << 16, size = h & 0x7FFFu;
        const auto tiny = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(size)) * 0x1p-24f);
        const uint32_t normal = (size << 13) + ((size >= 0x7C00 ? 224u : 112u) << 23);
        return std::bit_cast<float>(sign | chosen(size < 0x400, tiny, normal));
    }
};
struct BrainFloat {
    static constexpr int kFraction = 7, kLowest = -126, kHighest = 127;
    static float widen(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }
};

// The nearest number of Format, of two the even one: its bits, infinity for what is beyond the largest and 0x7fff for a
// NaN. Without a branch, so that lanes go side by side. W: float or double.
template <class Format, class W>
uint16_t nearest(W x) {
    using S = Slot<W>;
    constexpr int kDigits = std::numeric_limits<W>::digits - 1, kDrop = kDigits - Format::kFraction;
    constexpr int kBias = std::numeric_limits<W>::max_exponent - 1;
    constexpr S kSign = S{1} << (sizeof(S) * 8 - 1), kOne = S{1} << kDigits;
    constexpr S kInfinity = S{Format::kHighest - Format::kLowest + 2} << Format::kFraction;
    constexpr S kSmallest = static_cast<S>(kBias + Format::kLowest) * kOne;  // that is normal in Format
    // Where its last digit is that of Format's subnormal numbers, a sum has rounded to these.
    constexpr S kSubnormals = static_cast<S>(kBias + Format::kLowest - Format::kFraction + kDigits) * kOne;
    const S bits = std::bit_cast<S>(x), size = bits & ~kSign;
    const S tie = size >> kDrop & 1;
    const S normal = (size - (kSmallest - kOne) + ((S{1} << (kDrop - 1)) - 1) + tie) >> kDrop;
    const S tiny = std::bit_cast<S>(std::bit_cast<W>(size) + std::bit_cast<W>(kSubnormals)) - kSubnormals;
    S made = chosen(size < kSmallest, tiny, normal);
    made = made > kInfinity ? kInfinity : made;
    made |= static_cast<S>((bits & kSign) >> (sizeof(S) * 8 - 16));
    const bool is_nan = size > std::bit_cast<S>(std::numeric_limits<W>::infinity());
    return static_cast<uint16_t>(chosen(is_nan, S{0x7FFF}, made));
}

// The nearest number of Format on the side that R names. Every step is exact but the rounding.
template <class Format, Round R>
uint16_t narrowed(double x) {
    if constexpr (R == Round::Rn) return nearest<Format>(x);
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
    if (exponent > Format::kHighest) return static_cast<uint16_t>(sign | (up ? kInfinity : kInfinity - 1));
    const int base = exponent < Format::kLowest ? Format::kLowest : exponent;
    // size / 2^(base - kFraction): below 2^(kFraction + 1), so that its rounding to an integer is the
    // result's fraction, and a carry out of it the next exponent.
    const double power = std::bit_cast<double>(static_cast<uint64_t>(1023 + Format::kFraction - base) << 52);
    const double scaled = size * power;
    const double whole = up ? __builtin_ceil(scaled) : __builtin_floor(scaled);
    const uint32_t size_bits =
        (static_cast<uint32_t>(base - Format::kLowest) << Format::kFraction) + static_cast<uint32_t>(whole);
    return static_cast<uint16_t>(sign | size_bits);
}

// A whole number as a double: exact, or with what has no room in its last digit set, so that it is rounded once.
inline double whole(auto a) {
    if constexpr (sizeof(a) < 8) {
        return static_cast<double>(a);
    } else {
        const bool minus = a < 0;
        uint64_t size = minus ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
        if (size >> 53) size = (size & ~uint64_t{0xFFF}) | (size & 0xFFF ? 0x800 : 0);
        return minus ? -static_cast<double>(size) : static_cast<double>(size);
    }
}

template <class Format, Round R, bool Ftz, bool Sat>
struct ToHalf {
    template <class A>
    static uint16_t apply(A a) {
        if constexpr (std::is_same_v<A, float> && R == Round::Rn) {
            return nearest<Format>(saturated<Sat>(flushed<Ftz>(a)));
        } else {
            double x;
            if constexpr (std::is_same_v<A, float>)
                x = double{flushed<Ftz>(a)};
            else if constexpr (std::is_integral_v<A>)
                x = whole(a);
            else
                x = a;
            if constexpr (Sat) x = x > 0 ? (x < 1 ? x : 1.0) : 0.0;
            return narrowed<Format, R>(x);
        }
    }
};
// The bits of a number as .relu and .satfinite leave them: no negative number, nothing beyond the largest.
template <class Format, bool Relu, bool Finite>
uint16_t bounded(uint16_t h) {
    constexpr uint32_t kInfinity = static_cast<uint32_t>(Format::kHighest - Format::kLowest + 2)
                                   << Format::kFraction;
    uint32_t bits = h;
    if constexpr (Finite) bits = (bits & 0x7FFF) == kInfinity ? bits - 1 : bits;
    if constexpr (Relu) bits = bits & 0x8000 ? 0 : bits;
    return static_cast<uint16_t>(bits);
}
template <class Format, Round R, bool Relu, bool Finite>
struct ToBounded {
    static uint16_t apply(float a) {
        return bounded<Format, Relu, Finite>(ToHalf<Format, R, false, false>::apply(a));
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
    if (i.relu || i.satfinite)
        return with_flags(i.relu, i.satfinite, [](auto relu, auto finite) {
            return unary<ToBounded<Format, R, relu, finite>, uint16_t, float>();
        });
    if (i.type2 == Type::F16) return unary<ToHalf<Format, R, false, false>, uint16_t, Half16>();
    if (i.type2 == Type::BF16) return unary<ToHalf<Format, R, false, false>, uint16_t, BrainFloat>();
    if (i.type2 == Type::F32) return to_half_from<Format, R, float>(i);
    if (i.type2 == Type::F64) return to_half_from<Format, R, double>(i);
    return with_any_integer(i.type2, [&](auto zero) { return to_half_from<Format, R, decltype(zero)>(i); });
}

template <class Format>
LaneOp from_half(const Operation& i) {
    if (i.type == Type::F32) {
        if (i.round != Round::None) return {};
        return with_flags(i.ftz, i.sat, [](auto ftz, auto sat) {
            if constexpr (std::is_same_v<Format, BrainFloat> && !ftz && !sat)
                return unary<Identity, float, BrainFloat>();
            return unary<FromHalf<Format, Same32<ftz, sat>>, float, uint16_t>();
        });
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
    if (i.round == Round::None && is_half(i.type2)) return to_half<Format, Round::Rn>(i);
    return with_one_of<Round::Rn, Round::Rz, Round::Rm, Round::Rp>(
        i.round, [&](auto known) { return to_half<Format, decltype(known)::value>(i); });
}

inline LaneOp find_half(const Operation& i) {
    if (i.op != Op::Cvt || (!is_half(i.type) && !is_half(i.type2))) return {};
    const bool brain = is_half(i.type) ? i.type == Type::BF16 : i.type2 == Type::BF16;
    return brain ? half_as<BrainFloat>(i) : half_as<Half16>(i);
}

}  // namespace tilescope::simt::TILESCOPE_LANES
