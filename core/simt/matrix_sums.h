// Sums of products of matrices as a tensor core of sm_90 forms them, and the numbers that they are made of.
//
//   terms   the products of a row and a column, exact, and the element of C
//   e       the largest exponent among them: of a product the sum of its factors', of C its own; of a subnormal number
//           the lowest that its type has; where C is an f32, at least -133
//   cut     each term, toward zero, to a multiple of 2^(e - 25)
//   sum     of what is left, exact; cut, toward zero, to the 24 bits of an f32
//
// All products of an instruction are in one such sum, whatever its k is (but wmma of tf32: two of four). Where C and D
// are of f16, the exact sum is rounded to the nearest instead. What becomes zero has no sign. With a C of f32, an f16 is
// made of the f32. A NaN is 0x7FFFFFFF (f16: 0x7FFF).
//
// Products of 8-bit floats are two such sums of f16 factors on sm_90, of the (stored) columns 4 i and 4 i + 1, then of
// those behind them with the first sum in place of C; C is added last, and rounded. mma.m8n8k4 of f16 is no work for a
// tensor core there: its products are summed up by fma.f32, and C is added; where C and D are of f16, the first two
// are added to C, then the other two. Sums of f64 are formed product by product, each by one fused multiplication and
// addition.
//
// wgmma's sums are the same, but of 8-bit floats, which it multiplies as they are (kSumsOfBytes): terms are cut to multiples
// of 2^(e - 13), C among them, and the sum to 13 bits behind its first; where D is f16, it is rounded.
//
// Source: measured on an H200 by tests/gpu/probes/matrix_sums.py, tests/gpu/record_matrix_test.cpp and tests/gpu/tensors;
// 8-bit floats, m8n8k4 and wmma of tf32: the machine code that nvcc 13.0 makes of them for sm_90.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/element.h"
#include "core/ptx/matrix.h"

namespace tilescope::simt {

// Of the lower 16 bits: an f16.
inline float half_number(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, size = bits & 0x7FFFu;
    if (size >= 0x7C00) return std::bit_cast<float>(sign | 0x7F80'0000u | (size & 0x3FF) << 13);
    // 2^-112 brings exponents to where f16 has them, subnormal numbers too.
    const float scaled = std::bit_cast<float>(size << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// Of the lowest 8 bits.
inline float e4m3_number(uint32_t bits) {
    const uint32_t sign = (bits & 0x80u) << 24, size = bits & 0x7Fu;
    if (size == 0x7F) return std::bit_cast<float>(sign | 0x7FC0'0000u);
    const float scaled = std::bit_cast<float>(size << 20) * 0x1p120f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// fn(bits of an element, number): of the floats of 32 bits and fewer; number() takes a word whose lowest bits are the
// element's, and gives a double that holds it exactly.
template <class Fn>
void with_float(ptx::MatrixType type, Fn fn) {
    using ptx::MatrixType;
    switch (type) {
        case MatrixType::F16: return fn(16, [](uint32_t w) { return double{half_number(w)}; });
        case MatrixType::BF16:
            return fn(16, [](uint32_t w) { return double{std::bit_cast<float>(w << 16)}; });
        case MatrixType::TF32:  // 10 bits of its fraction count
            return fn(32, [](uint32_t w) { return double{std::bit_cast<float>(w & 0xFFFF'E000u)}; });
        case MatrixType::E4M3: return fn(8, [](uint32_t w) { return double{e4m3_number(w)}; });
        case MatrixType::E5M2: return fn(8, [](uint32_t w) { return double{half_number((w & 0xFF) << 8)}; });
        default: return fn(32, [](uint32_t w) { return double{std::bit_cast<float>(w)}; });
    }
}

// The same of integers; bits, and sums, as words.
template <class Fn>
void with_integer(ptx::MatrixType type, Fn fn) {
    using ptx::MatrixType;
    switch (type) {
        case MatrixType::S8: return fn(8, [](uint32_t w) { return int32_t{static_cast<int8_t>(w)}; });
        case MatrixType::U8: return fn(8, [](uint32_t w) { return static_cast<int32_t>(w & 0xFF); });
        case MatrixType::S4: return fn(4, [](uint32_t w) { return static_cast<int32_t>(w << 28) >> 28; });
        case MatrixType::U4: return fn(4, [](uint32_t w) { return static_cast<int32_t>(w & 0xF); });
        default: return fn(32, [](uint32_t w) { return static_cast<int32_t>(w); });
    }
}

inline uint32_t float_bits(double sum) {
    return sum != sum ? 0x7FFF'FFFFu : std::bit_cast<uint32_t>(static_cast<float>(sum));
}

// The nearest f16, of two that are as near the even one.
inline uint32_t half_bits(double sum) {
    if (sum != sum) return 0x7FFF;
    const uint32_t sign = std::signbit(sum) ? 0x8000 : 0;
    const double size = std::fabs(sum);
    constexpr double kInfinite = 65520;  // half way to what would be the next number
    if (size >= kInfinite) return sign | 0x7C00;
    const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
    const auto whole = static_cast<uint32_t>(std::rint(std::ldexp(size, 10 - exponent)));
    return sign | ((static_cast<uint32_t>(exponent + 14) << 10) + whole);
}

// As an f16; what rounds to zero is +0.
inline double rounded_to_half(double sum) { return half_number(half_bits(sum)) + 0.0; }

inline constexpr int kNoExponent = -2048;   // of zero: below all others
inline constexpr int kLowestOfSum = -133;   // e, where C is an f32
inline double power_of_two(int exponent) {  // of a normal number, else 0
    return exponent > 1023 ? 0 : std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}
// Of a number that is normal in double precision.
inline int exponent_of(double x) {
    return x == 0 ? kNoExponent : static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7FF) - 1023;
}

// Whose terms and sums are cut where.
struct SumRule {
    int kept = 25;      // terms to multiples of 2^(e - kept)
    int fraction = 23;  // a sum to so many bits behind its first
};
inline constexpr SumRule kSumsOfBytes{13, 13};  // of wgmma and 8-bit floats

// Factors with the exponents that they count with. What is not finite counts as 0.
struct Factors {
    static constexpr size_t kMost = 16 * 32;  // as wmma's 32 x 16 and mma's 16 x 32
    std::array<double, kMost> number;
    std::array<int32_t, kMost> exponent;
    const double* given;
    bool finite = true;

    // Of subnormal numbers; mma makes f16 of 8-bit floats before they are multiplied.
    static constexpr int lowest_of(ptx::MatrixType type) {
        return type == ptx::MatrixType::BF16 || type == ptx::MatrixType::TF32 ? -126 : -14;
    }

    Factors(ptx::MatrixType type, const double* x, size_t count) : Factors(lowest_of(type), x, count) {}
    Factors(int lowest, const double* x, size_t count) : given(x) {
        for (size_t i = 0; i < count; ++i) {
            finite = finite && std::isfinite(x[i]);
            number[i] = std::isfinite(x[i]) ? x[i] : 0;
            exponent[i] = number[i] == 0 ? kNoExponent : std::max(exponent_of(number[i]), lowest);
        }
    }
};

// `units` of 2^(largest - kept), cut to the bits of an f32 that the rule leaves.
inline double cut_to_float(int64_t units, int largest, SumRule rule) {
    if (units == 0) return 0;
    const auto size = static_cast<uint64_t>(units < 0 ? -units : units);
    const int unit = largest - rule.kept, top = unit + static_cast<int>(std::bit_width(size)) - 1;
    const int lost = std::max(top, -126) - rule.fraction - unit;  // bits
    if (lost >= 64) return 0;
    const uint64_t left = lost > 0 ? size >> lost << lost : size;
    if (left == 0) return 0;
    const double made = static_cast<float>(static_cast<double>(left) * power_of_two(unit));
    return units < 0 ? -made : made;
}

// Rows of B that one sum takes: of each `step` the first `width`, from `first` on.
struct SummedRows {
    size_t first = 0, width = 1, step = 1;
};

// sums += a b as the head says; m x k by k x n, row after row. Of f16 they are rounded.
inline void tensor_sums(const ptx::MatrixForm& form, const Factors& a, const Factors& b, SummedRows rows,
                        bool halves, double* sums, SumRule rule = {}) {
    constexpr size_t kColumns = 8;  // at once; n is a multiple of them
    const size_t n = form.n, k = form.k;
    const auto each_row_of_b = [&](auto fn) {
        for (size_t from = rows.first; from < k; from += rows.step)
            for (size_t i = from; i < from + rows.width; ++i) fn(i);
    };
    for (size_t at = 0; at < form.m * n; at += kColumns) {
        const size_t row = at / n, first = at % n;
        double* const c = sums + at;
        std::array<int32_t, kColumns> largest;
        std::array<double, kColumns> scale, units, plain;
        bool finite = a.finite && b.finite;
        for (size_t j = 0; j < kColumns; ++j) {
            finite = finite && std::isfinite(c[j]);
            plain[j] = c[j];
            const int of_c = c[j] == 0 ? kNoExponent : std::max(exponent_of(c[j]), halves ? -14 : -126);
            largest[j] = std::max(of_c, halves ? kNoExponent : kLowestOfSum);
        }
        // What is infinite, or no number, comes out of any sum.
        if (!finite)
            each_row_of_b([&](size_t i) {
                for (size_t j = 0; j < kColumns; ++j)
                    plain[j] += a.given[row * k + i] * b.given[i * n + first + j];
            });
        each_row_of_b([&](size_t i) {
            const int32_t e = a.exponent[row * k + i];
            const int32_t* const others = b.exponent.data() + i * n + first;
            for (size_t j = 0; j < kColumns; ++j) largest[j] = std::max(largest[j], e + others[j]);
        });
        for (size_t j = 0; j < kColumns; ++j) {
            scale[j] = power_of_two(rule.kept - largest[j]);
            units[j] = std::isfinite(c[j]) ? std::trunc(c[j] * scale[j]) : 0;
        }
        each_row_of_b([&](size_t i) {
            const double x = a.number[row * k + i];
            const double* const y = b.number.data() + i * n + first;
            // A product is exact, and less than four times 2^largest.
            for (size_t j = 0; j < kColumns; ++j) units[j] += static_cast<int32_t>(x * y[j] * scale[j]);
        });
        for (size_t j = 0; j < kColumns; ++j)
            c[j] = !std::isfinite(plain[j]) ? plain[j]
                   : halves                 ? rounded_to_half(units[j] * power_of_two(largest[j] - rule.kept))
                                            : cut_to_float(static_cast<int64_t>(units[j]), largest[j], rule);
    }
}

// sums += a b: m x k by k x n elements, each row after row. They are numbers of D's type, but for an f16 whose C is of
// f32, which is still to be rounded.
inline void sum_of_products(const ptx::MatrixForm& form, const double* a, const double* b, double* sums) {
    using ptx::MatrixRole, ptx::MatrixType;
    const size_t m = form.m, n = form.n, k = form.columns(MatrixRole::A);
    const MatrixType type = form.type(MatrixRole::A);
    const auto each_product = [&](auto fn) {  // of a row of A with rows of B, in the order of k
        for (size_t row = 0; row < m; ++row)
            for (size_t i = 0; i < k; ++i)
                for (size_t column = 0; column < n; ++column)
                    fn(row * n + column, a[row * k + i], b[i * n + column]);
    };
    if (type == MatrixType::F64)
        return each_product([&](size_t at, double x, double y) { sums[at] = std::fma(x, y, sums[at]); });
    const bool halves =
        form.type(MatrixRole::C) == MatrixType::F16 && form.type(MatrixRole::D) == MatrixType::F16;
    if (form.products() > 1) {
        for (size_t at = 0; at < m * n; ++at) {
            const size_t row = at / n, column = at % n;
            const auto x = [&](size_t i) { return static_cast<float>(a[row * k + i]); };
            const auto y = [&](size_t i) { return static_cast<float>(b[i * n + column]); };
            const auto two = [&](size_t i, float first) { return std::fma(x(i + 1), y(i + 1), first); };
            const auto sum = static_cast<float>(sums[at]);
            if (halves)
                sums[at] = sum + two(0, x(0) * y(0)) + two(2, x(2) * y(2));
            else
                sums[at] = sum + two(2, std::fma(x(2), y(2), two(0, std::fma(x(0), y(0), 0.0f))));
        }
        return;
    }
    const Factors x(type, a, m * k), y(form.type(MatrixRole::B), b, k * n);
    if (type == MatrixType::E4M3 || type == MatrixType::E5M2) {
        std::array<double, size_t{16} * 8> others{};
        for (const size_t first : {0, 2}) tensor_sums(form, x, y, {first, 2, 4}, halves, others.data());
        for (size_t i = 0; i < m * n; ++i)
            sums[i] = halves ? sums[i] + others[i] : static_cast<float>(sums[i] + others[i]);
    } else if (type == MatrixType::TF32 && form.wmma) {
        for (const size_t first : {0, 4}) tensor_sums(form, x, y, {first, 4, 8}, halves, sums);
    } else {
        tensor_sums(form, x, y, {}, halves, sums);
    }
}

}  // namespace tilescope::simt
