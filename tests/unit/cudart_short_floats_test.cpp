// __half, __nv_bfloat16 and fp8: every conversion and fma against the nearest, the next lower or the next higher number of
// the format, found in the list of all of them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cudart/include/cuda_fp8.h"

namespace tilescope::cudart::test {
namespace {

// All finite numbers of a format, ascending, with their bits; and the value that the next larger one would have.
struct Format {
    std::vector<std::pair<long double, unsigned>> all;
    long double beyond = 0;
    unsigned infinity = 0;

    // mode: 0 nearest, halves to even; 'd' down, 'u' up, 'z' towards 0
    unsigned rounded(long double value, char mode) const {
        const auto above = std::lower_bound(all.begin(), all.end(), std::pair{value, 0u});
        if (above != all.end() && above->first == value) return above->second;
        const bool over = above == all.end(), under = above == all.begin();
        const std::pair<long double, unsigned> high = over ? std::pair{beyond, infinity} : *above;
        const std::pair<long double, unsigned> low =
            under ? std::pair{-beyond, infinity | negative()} : *std::prev(above);
        if (mode == 'd' || (mode == 'z' && value > 0)) return low.second;
        if (mode == 'u' || mode == 'z') return high.second;
        const long double to_high = high.first - value, to_low = value - low.first;
        if (to_high != to_low) return to_high < to_low ? high.second : low.second;
        return high.second % 2 == 0 ? high.second : low.second;
    }
    unsigned negative() const { return all.size() > 300 ? 0x8000u : 0x80u; }
};

template <class H>
H make(unsigned bits) {
    H made;
    const auto low = static_cast<unsigned short>(bits);
    std::memcpy(&made, &low, sizeof made);
    return made;
}
template <class H>
unsigned bits_of(const H& value) {
    unsigned short bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class H>
Format format_of(unsigned count) {
    Format made;
    for (unsigned bits = 0; bits < count; ++bits) {
        const auto value = static_cast<float>(make<H>(bits));
        // -0 stays out, so that each number is there once.
        if (std::isfinite(value) && bits != count / 2) made.all.emplace_back(value, bits);
    }
    std::sort(made.all.begin(), made.all.end());
    const size_t n = made.all.size();
    made.beyond = made.all[n - 1].first + (made.all[n - 1].first - made.all[n - 2].first);
    made.infinity = made.all[n - 1].second + 1;
    return made;
}

// Numbers around those of the format: halfway between two, and beside that.
double near_format(const Format& format, std::mt19937_64& random) {
    const size_t at = random() % (format.all.size() - 1);
    const auto low = static_cast<double>(format.all[at].first),
               high = static_cast<double>(format.all[at + 1].first);
    const double middle = low + (high - low) / 2;
    switch (random() % 4) {
        case 0: return middle;
        case 1: return std::nextafter(middle, low);
        case 2: return std::nextafter(middle, high);
        default: return low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11);
    }
}

// Zero has two names.
unsigned plain(unsigned bits, unsigned negative) { return bits == negative ? 0 : bits; }

#define EXPECT_ROUNDED(H, format, made, value, mode) \
    EXPECT_EQ(plain(bits_of<H>(made), 0x8000u), plain(format.rounded(value, mode), 0x8000u)) << value << mode

TEST(CudartShortFloats, ConversionsAreRoundedOnce) {
    const Format halves = format_of<__half>(0x10000), brains = format_of<__nv_bfloat16>(0x10000);
    EXPECT_EQ(halves.all.size(), 2 * 31 * 1024 - 1u);
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 20000; ++trial) {
        double x = near_format(halves, random);
        EXPECT_ROUNDED(__half, halves, __half(x), x, 0);
        auto f = static_cast<float>(x);
        EXPECT_ROUNDED(__half, halves, __float2half_rn(f), f, 0);
        EXPECT_ROUNDED(__half, halves, __float2half_rz(f), f, 'z');
        EXPECT_ROUNDED(__half, halves, __float2half_rd(f), f, 'd');
        EXPECT_ROUNDED(__half, halves, __float2half_ru(f), f, 'u');
        x = near_format(brains, random);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __nv_bfloat16(x), x, 0);
        f = static_cast<float>(x);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __float2bfloat16_rn(f), f, 0);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __float2bfloat16_rz(f), f, 'z');
        EXPECT_ROUNDED(__nv_bfloat16, brains, __float2bfloat16_rd(f), f, 'd');
        EXPECT_ROUNDED(__nv_bfloat16, brains, __float2bfloat16_ru(f), f, 'u');
        const auto whole = static_cast<long long>(random() >> random() % 64) * (random() % 2 ? 1 : -1);
        const auto number = static_cast<long double>(whole);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __ll2bfloat16_rn(whole), number, 0);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __ll2bfloat16_rz(whole), number, 'z');
        EXPECT_ROUNDED(__nv_bfloat16, brains, __int2bfloat16_rn(static_cast<int>(whole)),
                       static_cast<long double>(static_cast<int>(whole)), 0);
        EXPECT_ROUNDED(__half, halves, __ll2half_rd(whole), number, 'd');
        EXPECT_ROUNDED(__half, halves, __half(static_cast<int>(whole % 70000)),
                       static_cast<long double>(whole % 70000), 0);
    }
    EXPECT_EQ(__half2int_rn(__half(2.5f)), 2);
    EXPECT_EQ(__half2int_rd(__half(-2.5f)), -3);
    EXPECT_EQ(__half2uint_rz(__half(-2.5f)), 0u);
    EXPECT_EQ(__half2short_ru(make<__half>(0x7c00)), 32767);
    EXPECT_EQ(__half2int_rz(make<__half>(0x7e00)), 0);
    EXPECT_EQ(__bfloat162ll_rz(__nv_bfloat16(1e30f)), 9223372036854775807ll);
}

TEST(CudartShortFloats, ArithmeticIsRoundedOnce) {
    const Format halves = format_of<__half>(0x10000), brains = format_of<__nv_bfloat16>(0x10000);
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 20000; ++trial) {
        const auto half = [&] {
            return make<__half>(static_cast<unsigned>(random() % 0x7c00 | random() % 2 << 15));
        };
        const __half a = half(), b = half(), c = half();
        const long double x = static_cast<float>(a), y = static_cast<float>(b), z = static_cast<float>(c);
        // 64 bits hold the sum but where it overflows.
        EXPECT_ROUNDED(__half, halves, __hfma(a, b, c), x * y + z, 0);
        EXPECT_ROUNDED(__half, halves, a + b, x + y, 0);
        EXPECT_ROUNDED(__half, halves, a * b, x * y, 0);
        const auto brain = [&] {
            return make<__nv_bfloat16>(static_cast<unsigned>(0x3800 + random() % 0x1000) |
                                       (random() % 2 ? 0x8000u : 0));
        };
        const __nv_bfloat16 p = brain(), q = brain(), r = brain();
        const long double u = static_cast<float>(p), v = static_cast<float>(q), w = static_cast<float>(r);
        EXPECT_ROUNDED(__nv_bfloat16, brains, __hfma(p, q, r), u * v + w, 0);
        EXPECT_ROUNDED(__nv_bfloat16, brains, p + q, u + v, 0);
        EXPECT_ROUNDED(__nv_bfloat16, brains, p - q, u - v, 0);
    }
}

TEST(CudartShortFloats, ComparisonsAndExtremesKnowWhatIsNoNumber) {
    const __half one(1.0f), two(2.0f), none = make<__half>(0x7e00), zero(0.0f),
                                       minus_zero = make<__half>(0x8000);
    EXPECT_EQ(bits_of(__hmax(zero, minus_zero)), 0u);
    EXPECT_EQ(bits_of(__hmax(minus_zero, zero)), 0u);
    EXPECT_EQ(bits_of(__hmin(zero, minus_zero)), 0x8000u);
    EXPECT_EQ(__hmax(none, two), two);
    EXPECT_TRUE(__hisnan(__hmax_nan(none, two)));
    EXPECT_TRUE(__hequ(none, one) && !__heq(none, one) && __hneu(none, one) && !__hne(none, one));
    EXPECT_TRUE(__hltu(none, one) && __hgeu(none, one) && !__hlt(none, one) && !__hge(none, one));
    const __half2 a(one, none), b(two, two);
    EXPECT_EQ(__hlt2_mask(a, b), 0xffffu);
    EXPECT_EQ(__hltu2_mask(a, b), 0xffffffffu);
    EXPECT_FALSE(__hblt2(a, b));
    EXPECT_EQ(__half22float2(__hlt2(a, b)).x, 1.0f);
    EXPECT_EQ(__half22float2(__hlt2(a, b)).y, 0.0f);
    EXPECT_EQ(__half22float2(__hmax2(a, b)).y, 2.0f);
    EXPECT_EQ(__low2float(__hfma2_sat(__half2(two, one), b, b)), 1.0f);
    EXPECT_EQ(__high2float(__hfma2_relu(__half2(two, -two), b, __half2(one, one))), 0.0f);
    EXPECT_EQ(__half_as_ushort(__hfma_relu(__half(-0.0f), one, __half(-0.0f))), 0u);
    // (1 + 2i)(3 + 4i) = -5 + 10i
    const __half2 complex = __hcmadd(__half2(one, two), __half2(__half(3), __half(4)), __half2(one, one));
    EXPECT_EQ(__low2float(complex), -4.0f);
    EXPECT_EQ(__high2float(complex), 11.0f);
    const __nv_bfloat162 pair = __hmin2(__floats2bfloat162_rn(1, -3), __float2bfloat162_rn(-2));
    EXPECT_EQ(__bfloat1622float2(pair).x, -2.0f);
    EXPECT_EQ(__bfloat1622float2(pair).y, -3.0f);
}

TEST(CudartShortFloats, EightBits) {
    const Format e4m3 = format_of<__nv_fp8_e4m3>(0x100), e5m2 = format_of<__nv_fp8_e5m2>(0x100);
    EXPECT_EQ(e4m3.all.back().first, 448);
    EXPECT_EQ(e5m2.all.back().first, 57344);
    EXPECT_EQ(e4m3.all.size(), 253u) << "all but two that are no numbers, and -0";
    std::mt19937_64 random(5);
    for (int trial = 0; trial < 20000; ++trial) {
        for (const Format* format : {&e4m3, &e5m2}) {
            const double x = near_format(*format, random);
            const unsigned made = format == &e4m3 ? bits_of(__nv_fp8_e4m3(x)) : bits_of(__nv_fp8_e5m2(x));
            EXPECT_EQ(plain(made, 0x80), plain(format->rounded(x, 0), 0x80)) << x;
        }
    }
    EXPECT_EQ(bits_of(__nv_fp8_e4m3(1e9f)), 0x7eu);
    EXPECT_EQ(bits_of(__nv_fp8_e5m2(-1e9f)), 0xfbu);
    EXPECT_EQ(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2), 0x7c);
    EXPECT_EQ(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3), 0x7f);
}

}  // namespace
}  // namespace tilescope::cudart::test
