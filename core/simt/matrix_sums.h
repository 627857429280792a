// Sums of products of matrices as a tensor core forms them, and the numbers that they are made of.
//
// A product of two factors is exact. Products of a row and a column and the element of C are summed up in double
// precision and rounded once, to the nearest number of D's type; a NaN is 0x7FFFFFFF (f16: 0x7FFF). Sums of f64 are
// formed product by product, each by one fused multiplication and addition.
#pragma once

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

// sums += a b: m x k by k x n elements, each row after row.
inline void sum_of_products(const ptx::MatrixForm& form, const double* a, const double* b, double* sums) {
    const size_t m = form.m, n = form.n, k = form.columns(ptx::MatrixRole::A);
    const bool fused = form.type(ptx::MatrixRole::A) == ptx::MatrixType::F64;
    for (size_t row = 0; row < m; ++row)
        for (size_t i = 0; i < k; ++i) {
            const double x = a[row * k + i];
            double* const sum = sums + row * n;
            const double* const y = b + i * n;
            if (fused)
                for (size_t column = 0; column < n; ++column)
                    sum[column] = std::fma(x, y[column], sum[column]);
            else
                for (size_t column = 0; column < n; ++column) sum[column] += x * y[column];
        }
}

}  // namespace tilescope::simt
