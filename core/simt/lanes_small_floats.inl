// cvt of pairs, and of floats of 4 to 8 bits and tf32, which are in pairs (but tf32) and nothing but converted.
//
//            sign exponent fraction   largest   beyond it        NaN
//   e5m2      1      5       2        57344     infinity 0x7c    0x7f as a result
//   e4m3      1      4       3        448       there is none    0x7f
//   e3m2      1      3       2        28        there is none    there is none: the largest
//   e2m3      1      2       3        7.5       the same         the same
//   e2m1      1      2       1        6         the same         the same
//   ue8m0     0      8       0        2^127     0xff             0xff: a power of two, signs do not count
//   tf32      1      8      10        that of f32 with 13 bits of zeros
//
// All have .satfinite where they are made (ue8m0 and tf32 may), so that none of their infinities is. Of two operands the
// first one becomes the upper half.
//
// Source: PTX ISA, "Alternate Floating-Point Data Formats", "Data Movement and Conversion Instructions: cvt"; Open
// Compute Project, "OCP Microscaling Formats (MX) Specification", "OCP 8-bit Floating Point Specification".
namespace tilescope::simt::TILESCOPE_LANES {

// kHighest: so that `nearest` goes on beyond the largest number, up to an infinity that is none.
template <int Exponent, int Fraction, uint32_t Largest, uint32_t NotANumber>
struct Small {
    static constexpr int kBits = 1 + Exponent + Fraction, kFraction = Fraction;
    static constexpr int kBias = (1 << (Exponent - 1)) - 1, kLowest = 1 - kBias, kHighest = kLowest + 62;
    static constexpr uint32_t kSign = 1u << (kBits - 1);

    static float widen(uint32_t bits) {
        const uint32_t sign = (bits & kSign) << (32 - kBits), size = bits & (kSign - 1);
        if (NotANumber > Largest && size > Largest)
            return std::bit_cast<float>(Exponent == 5 && size == 0x7C ? sign | 0x7F80'0000u : 0x7FFF'FFFFu);
        const float tiny = static_cast<float>(size) * std::bit_cast<float>((127u + kLowest - Fraction) << 23);
        const uint32_t normal = (size << (23 - Fraction)) + ((127u - kBias) << 23);
        const bool is_tiny = size < (1u << Fraction);
        return std::bit_cast<float>(sign | (is_tiny ? std::bit_cast<uint32_t>(tiny) : normal));
    }
    template <bool Relu>
    static uint32_t narrow(float x) {
        if (x != x) return NotANumber;
        const uint32_t bits = nearest<Small>(x), size = bits & 0x7FFF;
        const uint32_t sign = bits & 0x8000 ? kSign : 0;
        if (Relu && sign) return 0;
        return sign | (size > Largest ? Largest : size);
    }
};
using E5M2 = Small<5, 2, 0x7B, 0x7F>;
using E4M3 = Small<4, 3, 0x7E, 0x7F>;
using E3M2 = Small<3, 2, 0x1F, 0x1F>;
using E2M3 = Small<2, 3, 0x1F, 0x1F>;
using E2M1 = Small<2, 1, 0x07, 0x07>;

// Calls f with the format of a pair.
template <class Fn>
LaneOp with_small(Type type, Fn f) {
    switch (type) {
        case Type::E5M2X2: return f(E5M2());
        case Type::E4M3X2: return f(E4M3());
        case Type::E3M2X2: return f(E3M2());
        case Type::E2M3X2: return f(E2M3());
        case Type::E2M1X2: return f(E2M1());
        default: return {};
    }
}

// A slot of 8 or 16 bits that holds two numbers of Format.
template <class Format>
constexpr int kApart = Format::kBits == 4 ? 4 : 8;

template <class Format, bool Relu>
struct ToSmall {
    static uint32_t apply(float a, float b) {
        return Format::template narrow<Relu>(a) << kApart<Format> | Format::template narrow<Relu>(b);
    }
    static uint32_t apply(uint32_t halves) {
        return apply(Half16::widen(static_cast<uint16_t>(halves >> 16)),
                     Half16::widen(static_cast<uint16_t>(halves)));
    }
};
template <class Format, bool Relu>
struct FromSmall {
    static uint32_t half(uint32_t bits) {
        const uint16_t h = nearest<Half16>(Format::widen(bits & (2 * Format::kSign - 1)));
        return bounded<Half16, Relu, false>(h);
    }
    static uint32_t apply(uint32_t bits) { return half(bits >> kApart<Format>) << 16 | half(bits); }
};

template <class Format, Round R, bool Relu, bool Finite>
struct Joined {
    static uint32_t apply(float a, float b) {
        using G = ToBounded<Format, R, Relu, Finite>;
        return uint32_t{G::apply(a)} << 16 | G::apply(b);
    }
};

template <bool Up, bool Finite>
struct ToPower {
    static uint32_t one(float x) {
        const uint32_t size = std::bit_cast<uint32_t>(x) & 0x7FFF'FFFF, fraction = size & 0x7F'FFFF;
        if (size > 0x7F80'0000) return 0xFF;
        uint32_t power = size >> 23;
        // 2^-127 is the least, and of subnormal numbers the middle one.
        if (Up && fraction != 0 && size > 0x40'0000) ++power;
        return Finite && power == 0xFF ? 0xFE : power;
    }
    static uint32_t apply(float a, float b) { return one(a) << 8 | one(b); }
    static uint32_t apply(uint32_t pair) {
        return one(BrainFloat::widen(static_cast<uint16_t>(pair >> 16))) << 8 |
               one(BrainFloat::widen(static_cast<uint16_t>(pair)));
    }
};
struct FromPower {
    static uint32_t one(uint32_t power) { return power == 0xFF ? 0x7FFF : power == 0 ? 0x40 : power << 7; }
    static uint32_t apply(uint32_t powers) { return one(powers >> 8 & 0xFF) << 16 | one(powers & 0xFF); }
};

// .rna lets the digits of a NaN be; with .satfinite the number before it comes out, as of an infinity (an H200 does so).
template <Round R, bool Relu, bool Finite>
struct ToTensor {
    static uint32_t apply(float x) {
        const uint32_t bits = std::bit_cast<uint32_t>(x), sign = bits & 0x8000'0000u;
        uint32_t size = bits & 0x7FFF'FFFFu;
        if (R != Round::Rna && size > 0x7F80'0000u) return 0x7FFF'E000u;
        const uint32_t half = R == Round::Rna ? 0x1000 : R == Round::Rn ? 0xFFF + (size >> 13 & 1) : 0;
        size = (size < 0x7F80'0000u ? size + half : size) & ~0x1FFFu;
        if (Finite && size >= 0x7F80'0000u) size -= 0x2000;
        return Relu && sign ? 0 : sign | size;
    }
};

template <template <Round, bool, bool> class G, Round... kRounds, class Fn>
LaneOp with_bounds(const Operation& i, Fn f) {
    return with_one_of<kRounds...>(i.round, [&](auto known) {
        return with_flags(i.relu, i.satfinite, [&](auto relu, auto finite) {
            return f(G<decltype(known)::value, relu, finite>());
        });
    });
}
template <Round R, bool Relu, bool Finite>
using JoinedHalf = Joined<Half16, R, Relu, Finite>;
template <Round R, bool Relu, bool Finite>
using JoinedBrain = Joined<BrainFloat, R, Relu, Finite>;

inline LaneOp find_small(const Operation& i) {
    if (i.op != Op::Cvt) return {};
    const auto join = [](auto g) { return binary<decltype(g), uint32_t, float>(); };
    if (i.type == Type::TF32)
        return with_bounds<ToTensor, Round::Rn, Round::Rz, Round::Rna>(
            i, [](auto g) { return unary<decltype(g), uint32_t, float>(); });
    if (i.type == Type::F16X2 && i.type2 == Type::F32)
        return with_bounds<JoinedHalf, Round::Rn, Round::Rz>(i, join);
    if (i.type == Type::BF16X2 && i.type2 == Type::F32)
        return with_bounds<JoinedBrain, Round::Rn, Round::Rz>(i, join);
    if (i.type == Type::UE8M0X2)
        return with_flags(i.round == Round::Rp, i.satfinite, [&](auto up, auto finite) {
            using G = ToPower<up, finite>;
            return i.type2 == Type::F32 ? binary<G, uint32_t, float>() : unary<G, uint32_t, uint32_t>();
        });
    if (i.type2 == Type::UE8M0X2) return unary<FromPower, uint32_t, uint32_t>();
    if (i.type == Type::F16X2)
        return with_small(i.type2, [&](auto format) {
            using F = decltype(format);
            return i.relu ? unary<FromSmall<F, true>, uint32_t, uint32_t>()
                          : unary<FromSmall<F, false>, uint32_t, uint32_t>();
        });
    return with_small(i.type, [&](auto format) {
        using F = decltype(format);
        return with_flags(i.relu, i.type2 == Type::F32, [](auto relu, auto joins) {
            using G = ToSmall<F, relu>;
            if constexpr (joins)
                return binary<G, uint32_t, float>();
            else
                return unary<G, uint32_t, uint32_t>();
        });
    });
}

}  // namespace tilescope::simt::TILESCOPE_LANES
