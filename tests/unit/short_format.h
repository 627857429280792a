// For tests: short floats by their definition, and sums and products of them without any rounding.
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>

namespace tilescope::simt::test {

// A multiple of 2^-320 below 2^319, in two's complement: every product of two bfloat16 and a third one on top.
class Fixed {
public:
    Fixed() = default;
    Fixed(int64_t digits, int exponent) {
        const uint64_t size = digits < 0 ? 0 - static_cast<uint64_t>(digits) : static_cast<uint64_t>(digits);
        for (int bit = 0; bit < 64; ++bit)
            if (size >> bit & 1) {
                const int at = bit + exponent + kBelow;
                limbs_[static_cast<size_t>(at / 32)] |= 1u << at % 32;
            }
        if (digits < 0) *this = -*this;
    }
    friend Fixed operator+(const Fixed& a, const Fixed& b) {
        Fixed sum;
        uint64_t carry = 0;
        for (size_t i = 0; i < kLimbs; ++i) {
            carry += uint64_t{a.limbs_[i]} + b.limbs_[i];
            sum.limbs_[i] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
        return sum;
    }
    Fixed operator-() const {
        Fixed flipped;
        for (size_t i = 0; i < kLimbs; ++i) flipped.limbs_[i] = ~limbs_[i];
        Fixed one;
        one.limbs_[0] = 1;
        return flipped + one;
    }
    bool negative() const { return limbs_[kLimbs - 1] >> 31; }
    Fixed size() const { return negative() ? -*this : *this; }
    // Of sizes.
    friend std::strong_ordering operator<=>(const Fixed& a, const Fixed& b) {
        for (size_t i = kLimbs; i-- > 0;)
            if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
        return std::strong_ordering::equal;
    }
    friend bool operator==(const Fixed&, const Fixed&) = default;

private:
    static constexpr int kBelow = 320;
    static constexpr size_t kLimbs = 20;
    std::array<uint32_t, kLimbs> limbs_{};
};

// A float of at most 16 bits: sign, exponent, fraction.
struct ShortFormat {
    using Bits = uint64_t;
    const char* name;
    int fraction, bias, bits = 16;

    Bits sign() const { return Bits{1} << (bits - 1); }
    Bits infinity() const { return sign() - (Bits{1} << fraction); }
    bool is_nan(Bits h) const { return (h & (sign() - 1)) > infinity(); }
    bool is_infinite(Bits h) const { return (h & (sign() - 1)) == infinity(); }
    int64_t digits(Bits h) const {
        const Bits size = h & (sign() - 1), low = size & ((Bits{1} << fraction) - 1);
        const auto all = static_cast<int64_t>(size >> fraction ? low | Bits{1} << fraction : low);
        return h & sign() ? -all : all;
    }
    int exponent(Bits h) const {  // of the last digit
        const auto stored = static_cast<int>((h & (sign() - 1)) >> fraction);
        return (stored == 0 ? 1 : stored) - bias - fraction;
    }
    Fixed exact(Bits h) const { return {digits(h), exponent(h)}; }
    // Taken for a number, whatever it stands for.
    long double value(Bits h) const {
        const long double size = std::ldexp(static_cast<long double>(digits(h)), exponent(h));
        return h & sign() && size == 0 ? -0.0L : size;
    }
    long double number(Bits h) const {
        if (is_nan(h)) return NAN;
        if (is_infinite(h)) return h & sign() ? -INFINITY : INFINITY;
        return value(h);
    }
    // By search: the largest number that is not above the size, then its neighbour where the mode asks for it.
    template <class Number, class ValueOf>
    Bits search(const Number& size, bool minus, char mode, Bits beyond, ValueOf value_of) const {
        Bits low = 0, high = beyond;  // as a number: the first that is too large
        while (high - low > 1) {
            const Bits mid = (low + high) / 2;
            (value_of(mid) <= size ? low : high) = mid;
        }
        const Number below = value_of(low), above = value_of(low + 1), twice = size + size,
                     both = below + above;
        bool up = false;
        if (mode == 'n') up = twice > both || (twice == both && (low & 1));
        if (mode == 'p') up = !minus && size > below;
        if (mode == 'm') up = minus && size > below;
        return (minus ? sign() : 0) | (low + up);
    }
    Bits rounded(const Fixed& x, char mode = 'n') const {
        return search(x.size(), x.negative(), mode, infinity(), [&](Bits h) { return exact(h); });
    }
    Bits rounded(long double x, char mode = 'n') const {
        if (std::isnan(x)) return 0x7FFF;
        if (std::isinf(x)) return (std::signbit(x) ? sign() : 0) | infinity();
        return search(std::abs(x), std::signbit(x), mode, infinity(), [&](Bits h) { return value(h); });
    }
};
inline constexpr ShortFormat kHalfFormats[] = {{"f16", 10, 15}, {"bf16", 7, 127}};

}  // namespace tilescope::simt::test
