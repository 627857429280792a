// Float arithmetic rounded toward zero (.rz), minus (.rm) or plus infinity (.rp), in whole numbers: not every processor has
// rounding modes to set (WebAssembly has none). Rare in kernels, so lane by lane.
//
//   operands -> Exact: ±(magnitude + a rest) · 2^exponent -> cut to the digits of the type, one up where the mode asks for it
//
// Operands that are no numbers, infinities, divisors of zero and roots of negative numbers make what they make in every mode.
//
// Source: IEEE 754-2019, 4.3.2 "Directed rounding attributes", 6.3 "The sign bit".
#include <algorithm>

#include "core/simt/lanes_includes.h"

#define TILESCOPE_LANES directed
// clang-format off
#include "core/simt/lanes_column.inl"
#include "core/simt/lanes_integer.inl"
#include "core/simt/lanes_float.inl"
// clang-format on

namespace tilescope::simt::directed {

__extension__ typedef unsigned __int128 Wide;
constexpr int kWideBits = 128;

struct Exact {
    bool negative = false;
    int exponent = 0;
    Wide magnitude = 0;
    bool rest = false;  // more than the magnitude, by less than 1
};

constexpr int leading_zeros(Wide x) {
    const auto high = static_cast<uint64_t>(x >> 64);
    return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<uint64_t>(x));
}

// Moved up until `zeros` bits are left above the first 1.
Exact raised(Exact x, int zeros) {
    const int by = leading_zeros(x.magnitude) - zeros;
    return {x.negative, x.exponent - by, x.magnitude << by, x.rest};
}

template <class T>
struct Layout {
    static constexpr int kDigits = std::numeric_limits<T>::digits;  // the first one too
    static constexpr int kLowest =
        std::numeric_limits<T>::min_exponent - kDigits;  // of a subnormal's last bit
    static constexpr Slot<T> kSign = Slot<T>{1} << (sizeof(T) * 8 - 1);
    static constexpr Slot<T> kHidden = Slot<T>{1} << (kDigits - 1);  // the bit that is not stored
    static constexpr Slot<T> kInfinity = kSign - kHidden;
};

template <class T>
bool is_finite(T x) {
    if constexpr (std::is_integral_v<T>)
        return true;
    else
        return (std::bit_cast<Slot<T>>(x) & Layout<T>::kInfinity) != Layout<T>::kInfinity;
}

template <class T>
Exact exact(T x) {
    if constexpr (std::is_integral_v<T>) {
        const auto bits = static_cast<uint64_t>(x);
        const bool negative = x < 0;
        return {negative, 0, negative ? 0 - bits : bits};
    } else {
        using L = Layout<T>;
        const auto bits = std::bit_cast<Slot<T>>(x);
        const Slot<T> fraction = bits & (L::kHidden - 1);
        const int exponent = static_cast<int>((bits & ~L::kSign) >> (L::kDigits - 1));
        return {(bits & L::kSign) != 0, L::kLowest + std::max(exponent, 1) - 1,
                exponent == 0 ? fraction : fraction | L::kHidden};
    }
}

template <Round R>
constexpr bool away_from_zero(bool negative) {
    return R == (negative ? Round::Rm : Round::Rp);
}

template <class T, Round R>
T rounded(const Exact& x) {
    using L = Layout<T>;
    using S = Slot<T>;
    const S sign = x.negative ? L::kSign : S{0};
    if (x.magnitude == 0) return std::bit_cast<T>(sign);
    const bool away = away_from_zero<R>(x.negative);
    // The exponent of the last digit that stays.
    const int last = std::max(x.exponent + kWideBits - leading_zeros(x.magnitude) - L::kDigits, L::kLowest);
    const int cut = last - x.exponent;
    bool lost = x.rest;
    Wide kept = 0;
    if (cut <= 0) {
        kept = x.magnitude << -cut;
    } else if (cut < kWideBits) {
        kept = x.magnitude >> cut;
        lost = lost || kept << cut != x.magnitude;
    } else {
        lost = true;
    }
    constexpr int kBinades = static_cast<int>(L::kInfinity >> (L::kDigits - 1)) - 1;
    S bits = L::kInfinity;
    // A carry out of the digits makes the exponent greater by one, and infinity of the greatest number.
    if (last - L::kLowest < kBinades)
        bits = (static_cast<S>(last - L::kLowest) << (L::kDigits - 1)) + static_cast<S>(kept) +
               (lost && away ? 1 : 0);
    else if (!away)
        --bits;
    return std::bit_cast<T>(static_cast<S>(sign | bits));
}

// A sum of zeros of two signs, or of opposite numbers, is +0, toward minus infinity -0.
template <Round R>
Exact sum(Exact a, Exact b) {
    if (b.magnitude == 0) std::swap(a, b);
    if (a.magnitude == 0) {
        if (b.magnitude == 0 && a.negative != b.negative) b.negative = R == Round::Rm;
        return b;
    }
    // Of at most 106 bits each; one stays free for the carry.
    a = raised(a, 1), b = raised(b, 1);
    if (a.exponent < b.exponent) std::swap(a, b);
    const int by = std::min(a.exponent - b.exponent, kWideBits - 1);
    const Wide low = b.magnitude >> by;
    const bool rest = low << by != b.magnitude;
    if (a.negative == b.negative) return {a.negative, a.exponent, a.magnitude + low, rest};
    // Where bits were cut off, a is more than twice b.
    if (a.magnitude >= low) {
        const Wide difference = a.magnitude - low - (rest ? 1 : 0);
        return {difference == 0 ? R == Round::Rm : a.negative, a.exponent, difference, rest};
    }
    return {b.negative, a.exponent, low - a.magnitude, false};
}

Exact product(const Exact& a, const Exact& b) {
    return {a.negative != b.negative, a.exponent + b.exponent, a.magnitude * b.magnitude};
}

Exact quotient(Exact a, const Exact& b) {
    const bool negative = a.negative != b.negative;
    if (a.magnitude == 0) return {negative};
    a = raised(a, 0);  // at least 75 digits come of it
    return {negative, a.exponent - b.exponent, a.magnitude / b.magnitude, a.magnitude % b.magnitude != 0};
}

Exact root(Exact a) {
    if (a.magnitude == 0) return a;
    a = raised(a, 1);
    if (a.exponent % 2 != 0) a.magnitude <<= 1, --a.exponent;
    Wide found = 0;  // bit by bit, from the highest that its square has room for
    for (Wide bit = Wide{1} << 63; bit != 0; bit >>= 1)
        if ((found | bit) * (found | bit) <= a.magnitude) found |= bit;
    return {false, a.exponent / 2, found, found * found != a.magnitude};
}

// An operation on finite numbers; F: what it is to nearest.
template <class F, Round R>
Exact apply(const Exact& a, const Exact& b, const Exact& c) {
    if constexpr (std::is_same_v<F, FAdd>) return sum<R>(a, b);
    if constexpr (std::is_same_v<F, FSub>) return sum<R>(a, {!b.negative, b.exponent, b.magnitude});
    if constexpr (std::is_same_v<F, FMul>) return product(a, b);
    if constexpr (std::is_same_v<F, FFma>) return sum<R>(product(a, b), c);
    if constexpr (std::is_same_v<F, FDiv>) return quotient(a, b);
    if constexpr (std::is_same_v<F, FRcp>) return quotient({false, 0, 1}, a);
    if constexpr (std::is_same_v<F, FSqrt>) return root(a);
}

template <class F, class T, int Operands, Round R>
T operate(T a, T b, T c) {
    const bool divides = std::is_same_v<F, FDiv> || std::is_same_v<F, FRcp>;
    const T divisor = std::is_same_v<F, FDiv> ? b : a;
    if (is_finite(a) && is_finite(b) && is_finite(c) && !(divides && divisor == 0) &&
        !(std::is_same_v<F, FSqrt> && a < 0))
        return rounded<T, R>(apply<F, R>(exact(a), exact(b), exact(c)));
    if constexpr (Operands == 1) return F::op(a);
    if constexpr (Operands == 2) return F::op(a, b);
    if constexpr (Operands == 3) return F::op(a, b, c);
}

template <class F, class T, int Operands, Round R, bool Ftz, bool Sat>
void arithmetic(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte* c,
                uint32_t mask) {
    for (int i = 0; i < kWarpSize; ++i) {
        if (!(mask >> i & 1)) continue;
        T x = from_slot<T>(slots<T>(a)[i]), y = x, z = x;
        if constexpr (Operands > 1) y = from_slot<T>(slots<T>(b)[i]);
        if constexpr (Operands > 2) z = from_slot<T>(slots<T>(c)[i]);
        T result;
        if constexpr (sizeof(T) == 4)
            result = finished<Ftz, Sat>(
                operate<F, T, Operands, R>(flushed<Ftz>(x), flushed<Ftz>(y), flushed<Ftz>(z)));
        else
            result = canonical(operate<F, T, Operands, R>(x, y, z), x, y, z);
        slots<T>(d)[i] = to_slot<T>(result);
    }
}

template <class D, class A, Round R, bool Ftz = false, bool Sat = false>
void convert(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*,
             uint32_t mask) {
    for (int i = 0; i < kWarpSize; ++i) {
        if (!(mask >> i & 1)) continue;
        const A x = from_slot<A>(slots<A>(a)[i]);
        D result = is_finite(x) ? rounded<D, R>(exact(x)) : static_cast<D>(x);
        if constexpr (sizeof(D) == 4) result = finished<Ftz, Sat>(result);
        slots<D>(d)[i] = to_slot<D>(result);
    }
}

template <class F, int Operands, Round R>
LaneOp arithmetic_op(const Operation& i) {
    if (i.type == Type::F32X2)
        return i.ftz ? same<twice<arithmetic<F, float, Operands, R, true, false>>>()
                     : same<twice<arithmetic<F, float, Operands, R, false, false>>>();
    if (i.type == Type::F64)
        return i.ftz || i.sat ? LaneOp{} : same(arithmetic<F, double, Operands, R, false, false>);
    return with_flags(i.ftz, i.sat,
                      [](auto ftz, auto sat) { return same(arithmetic<F, float, Operands, R, ftz, sat>); });
}

template <class D, Round R>
LaneOp convert_op(const Operation& i) {
    const bool narrows = sizeof(D) == 4 && i.type2 == Type::F64;
    if ((i.ftz || i.sat) && !narrows) return {};
    if (i.type2 != Type::F64)
        return with_any_integer(i.type2, [](auto zero) { return same(convert<D, decltype(zero), R>); });
    if constexpr (sizeof(D) == 4)
        return with_flags(i.ftz, i.sat,
                          [](auto ftz, auto sat) { return same(convert<D, double, R, ftz, sat>); });
    return {};
}

template <Round R>
LaneOp find_for(const Operation& i) {
    switch (i.op) {
        case Op::Add: return arithmetic_op<FAdd, 2, R>(i);
        case Op::Sub: return arithmetic_op<FSub, 2, R>(i);
        case Op::Mul: return arithmetic_op<FMul, 2, R>(i);
        case Op::Div: return arithmetic_op<FDiv, 2, R>(i);
        case Op::Mad:
        case Op::Fma: return arithmetic_op<FFma, 3, R>(i);
        case Op::Sqrt: return arithmetic_op<FSqrt, 1, R>(i);
        case Op::Rcp: return arithmetic_op<FRcp, 1, R>(i);
        case Op::Cvt: return i.type == Type::F64 ? convert_op<double, R>(i) : convert_op<float, R>(i);
        default: return {};
    }
}

LaneOp find(const Operation& i) {
    if (i.type != Type::F32 && i.type != Type::F64 && i.type != Type::F32X2) return {};
    return with_one_of<Round::Rz, Round::Rm, Round::Rp>(
        i.round, [&](auto known) { return find_for<decltype(known)::value>(i); });
}

}  // namespace tilescope::simt::directed
