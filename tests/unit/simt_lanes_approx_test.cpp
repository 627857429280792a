// The approximate functions against long double, within the errors that the PTX ISA states, and its tables of
// special values; conversions to and from 16-bit floats against a search of all of them.
#include <limits>
#include <vector>

#include "tests/approx_functions.h"
#include "tests/unit/short_format.h"
#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The results of a one- or two-operand instruction, the same in every version that this processor runs.
std::vector<Bits> results_of_line(const std::string& line, int bytes, const std::vector<Bits>& a,
                                  const std::vector<Bits>& b = {}) {
    const std::string type = bytes == 8 ? "f64" : "f32";
    const ptx::Instruction i = instruction_of(line, type, type, type, type);
    std::vector<Bits> made;
    for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
        if (!supported(version)) continue;
        const LaneOp op = find_lane_op(i, version);
        if (!op) throw std::runtime_error("no lane function for " + line);
        std::vector<Bits> now;
        for (size_t at = 0; at < a.size(); at += 32) {
            Column A{}, B{}, D{}, E{};
            for (size_t l = 0; l < 32; ++l) {
                A.set(bytes, static_cast<int>(l), a[std::min(at + l, a.size() - 1)]);
                if (!b.empty()) B.set(bytes, static_cast<int>(l), b[std::min(at + l, b.size() - 1)]);
            }
            op.full(D.bytes, E.bytes, A.bytes, B.bytes, A.bytes, ~0u);
            for (size_t l = 0; l < 32 && at + l < a.size(); ++l)
                now.push_back(D.get(bytes, static_cast<int>(l)));
        }
        if (!made.empty()) EXPECT_EQ(made, now) << line;
        made = now;
    }
    return made;
}

TEST(LanesApprox, ErrorsAreWithinTheManual) {
    for (const ApproxFunction& function : approx_functions()) {
        const auto operands = function.operands();
        const std::vector<Bits> a(operands.begin(), operands.end()), b(operands.rbegin(), operands.rend());
        const auto got = results_of_line(function.line, 4, a, function.two ? b : std::vector<Bits>{});
        for (size_t i = 0; i < a.size(); ++i) {
            const long double want = function.exact(f(a[i]), f(b[i]));
            ASSERT_LE(std::abs(f(got[i]) - want), function.allowed_to_us(want))
                << function.line << " of " << f(a[i]);
        }
    }
}

TEST(LanesApprox, TwoToThePowerIsTheLibrarysOfDoublesRounded) {
    // Whole numbers in all lanes first, -0 among them.
    std::vector<Bits> a(32, bits_of(-0.0f));
    for (float x = -130.0f; x <= 130.0f; ++x) a.push_back(bits_of(x));
    while (a.size() % 32 != 0) a.push_back(bits_of(1.0f));
    uint64_t state = 5;
    for (int i = 0; i < 1 << 20; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // Of any size, and small enough for a result that is no zero, infinity or 1.
        a.push_back(
            i % 2 ? state >> 32
                  : std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(state >> 32) * 0x1p-24)));
    }
    for (float x = -150.0f; x <= 130.0f; x += 0.5f)
        for (const float near : {std::nextafter(x, -kInfinity), x, std::nextafter(x, kInfinity)})
            a.push_back(std::bit_cast<uint32_t>(near));
    for (const bool flushes : {false, true}) {
        const std::vector<Bits> got =
            results_of_line(flushes ? "ex2.approx.ftz.f32 %D, %A;" : "ex2.approx.f32 %D, %A;", 4, a);
        for (size_t i = 0; i < a.size(); ++i) {
            float want = static_cast<float>(std::exp2(double{f(a[i])}));
            if (flushes && std::fpclassify(want) == FP_SUBNORMAL) want = 0;
            ASSERT_EQ(got[i], want != want ? 0x7FFF'FFFF : bits_of(want))
                << f(a[i]) << " flushes " << flushes;
        }
    }
}

TEST(LanesApprox, SpecialValuesAreTheManuals) {
    constexpr float kSub = 1e-40f;
    const Bits nan = 0x7FFF'FFFF;
    const struct {
        const char* line;
        // Of -Inf, -subnormal, -0, +0, +subnormal, +Inf and NaN, with .ftz.
        std::array<float, 6> want;
    } rows[] = {
        {"ex2.approx.ftz.f32 %D, %A;", {0.0f, 1.0f, 1.0f, 1.0f, 1.0f, kInfinity}},
        {"lg2.approx.ftz.f32 %D, %A;", {NAN, -kInfinity, -kInfinity, -kInfinity, -kInfinity, kInfinity}},
        {"rcp.approx.ftz.f32 %D, %A;", {-0.0f, -kInfinity, -kInfinity, kInfinity, kInfinity, 0.0f}},
        {"rsqrt.approx.ftz.f32 %D, %A;", {NAN, -kInfinity, -kInfinity, kInfinity, kInfinity, 0.0f}},
        {"sqrt.approx.ftz.f32 %D, %A;", {NAN, -0.0f, -0.0f, 0.0f, 0.0f, kInfinity}},
        {"sin.approx.ftz.f32 %D, %A;", {NAN, -0.0f, -0.0f, 0.0f, 0.0f, NAN}},
        {"cos.approx.ftz.f32 %D, %A;", {NAN, 1.0f, 1.0f, 1.0f, 1.0f, NAN}},
        {"tanh.approx.f32 %D, %A;", {-1.0f, -kSub, -0.0f, 0.0f, kSub, 1.0f}},
        {"ex2.approx.f32 %D, %A;", {0.0f, 1.0f, 1.0f, 1.0f, 1.0f, kInfinity}},
        {"sin.approx.f32 %D, %A;", {NAN, -kSub, -0.0f, 0.0f, kSub, NAN}},
    };
    for (const auto& row : rows) {
        const auto got = results_of_line(row.line, 4,
                                         {bits_of(-kInfinity), bits_of(-kSub), bits_of(-0.0f), bits_of(0.0f),
                                          bits_of(kSub), bits_of(kInfinity), bits_of(NAN)});
        for (size_t i = 0; i < row.want.size(); ++i)
            EXPECT_EQ(got[i], bits_of(row.want[i])) << row.line << " case " << i;
        EXPECT_EQ(got[6], nan) << row.line;
    }
    // A result below the normal numbers: kept, or flushed.
    EXPECT_EQ(results_of_line("ex2.approx.f32 %D, %A;", 4, {bits_of(-130.0f)})[0], bits_of(0x1p-130f));
    EXPECT_EQ(results_of_line("ex2.approx.ftz.f32 %D, %A;", 4, {bits_of(-130.0f)})[0], 0u);
    EXPECT_EQ(results_of_line("lg2.approx.f32 %D, %A;", 4, {bits_of(-1.0f)})[0], nan);
    // div.approx: a divisor above 2^126 counts as infinite, and an infinity over it as no number.
    const auto quotient =
        results_of_line("div.approx.f32 %D, %A, %B;", 4,
                        {bits_of(1e38f), bits_of(-1e38f), bits_of(kInfinity), bits_of(1e38f)},
                        {bits_of(2e38f), bits_of(2e38f), bits_of(2e38f), bits_of(0x1p126f)});
    EXPECT_EQ(quotient[0], 0u);
    EXPECT_EQ(quotient[1], 0x8000'0000u);
    EXPECT_EQ(quotient[2], nan);
    EXPECT_NEAR(f(quotient[3]), 1.1754942, 1e-5);
    EXPECT_EQ(results_of_line("div.full.f32 %D, %A, %B;", 4, {bits_of(1e38f)}, {bits_of(2e38f)})[0],
              bits_of(0.5f));
}

TEST(LanesApprox, DoublesAreGrossOrSupportSubnormals) {
    const auto bits = [](double x) { return std::bit_cast<Bits>(x); };
    std::mt19937_64 random(3);
    std::vector<Bits> a;
    for (int n = 0; n < 2000; ++n)
        a.push_back((random() & 0x000F'FFFF'FFFF'FFFF) | (200 + random() % 1600) << 52);
    const auto rcp = results_of_line("rcp.approx.ftz.f64 %D, %A;", 8, a);
    const auto rsqrt = results_of_line("rsqrt.approx.ftz.f64 %D, %A;", 8, a);
    const auto fine = results_of_line("rsqrt.approx.f64 %D, %A;", 8, a);
    for (size_t i = 0; i < a.size(); ++i) {
        const double x = g(a[i] & 0xFFFF'FFFF'0000'0000);
        ASSERT_EQ(rcp[i] & 0xFFFF'FFFF, 0u);
        ASSERT_EQ(rsqrt[i] & 0xFFFF'FFFF, 0u);
        ASSERT_LE(std::abs(g(rcp[i]) * x - 1), 0x1p-20);
        ASSERT_LE(std::abs(g(rsqrt[i]) * std::sqrt(x) - 1), 0x1p-20);
        ASSERT_LE(std::abs(g(fine[i]) * std::sqrt(g(a[i])) - 1), 0x1p-50);
    }
    const auto special = results_of_line("rcp.approx.ftz.f64 %D, %A;", 8,
                                         {bits(-INFINITY), bits(-1e-310), bits(-0.0), bits(0.0), bits(NAN)});
    EXPECT_EQ(special, (std::vector<Bits>{bits(-0.0), bits(-INFINITY), bits(-INFINITY), bits(INFINITY),
                                          0x7FFF'FFFF'0000'0000}));
    const auto roots =
        results_of_line("rsqrt.approx.f64 %D, %A;", 8, {bits(0x1p-1074), bits(-0.0), bits(INFINITY)});
    EXPECT_EQ(roots, (std::vector<Bits>{bits(0x1p537), bits(-INFINITY), bits(0.0)}));
}

TEST(LanesApprox, SixteenBitFloats) {
    for (const ShortFormat& format : kHalfFormats) {
        const std::string name = format.name;
        for (const char mode : {'n', 'z', 'm', 'p'}) {
            const std::string cvt = std::string("cvt.r") + mode;
            check(cvt + "." + name + ".f32 %D, %A;", "b16", "f32", "b32", "b32",
                  [=](Bits a, Bits, Bits) { return format.rounded(f(a), mode); });
            check(cvt + "." + name + ".f64 %D, %A;", "b16", "f64", "b32", "b32",
                  [=](Bits a, Bits, Bits) { return format.rounded(g(a), mode); });
        }
        if (name == "f16")
            check("cvt.rn.sat.f16.f32 %D, %A;", "b16", "f32", "b32", "b32", [=](Bits a, Bits, Bits) {
                return format.rounded(f(a) > 0 ? std::min(f(a), 1.0f) : 0.0f, 'n');
            });
        const auto wide = [=](Bits a) { return format.number(a); };
        check("cvt.f32." + name + " %D, %A;", "f32", "b16", "b32", "b32", [=](Bits a, Bits, Bits) -> Bits {
            return name == "bf16" ? a << 16 : bits_of(static_cast<float>(wide(a)));
        });
        check("cvt.rzi.s32." + name + " %D, %A;", "b32", "b16", "b32", "b32",
              [=](Bits a, Bits, Bits) -> Bits {
                  const long double x = wide(a);
                  if (std::isnan(x)) return 0;
                  return static_cast<uint32_t>(
                      static_cast<int32_t>(std::clamp(x, -2147483648.0L, 2147483647.0L)));
              });
        check("cvt.rni." + name + "." + name + " %D, %A;", "b16", "b16", "b32", "b32",
              [=](Bits a, Bits, Bits) { return format.rounded(std::nearbyint(wide(a)), 'n'); });
    }
    for (const ShortFormat& format : kHalfFormats) {
        const std::string to = std::string(".") + format.name;
        check("cvt.rn" + to + ".s32 %D, %A;", "b16", "b32", "b32", "b32", [=](Bits a, Bits, Bits) {
            return format.rounded(static_cast<long double>(as_signed(a, 32)), 'n');
        });
        for (const char mode : {'n', 'z', 'p'}) {
            const std::string cvt = std::string("cvt.r") + mode + to;
            check(cvt + ".u64 %D, %A;", "b16", "b64", "b32", "b32", [=](Bits a, Bits, Bits) {
                return format.rounded(static_cast<long double>(as_unsigned(a, 64)), mode);
            });
            check(cvt + ".s64 %D, %A;", "b16", "b64", "b32", "b32", [=](Bits a, Bits, Bits) {
                return format.rounded(static_cast<long double>(as_signed(a, 64)), mode);
            });
            for (const ShortFormat& from : kHalfFormats)
                if (&from != &format)
                    check(cvt + "." + from.name + " %D, %A;", "b16", "b16", "b32", "b32",
                          [=](Bits a, Bits, Bits) { return format.rounded(from.number(a), mode); });
        }
    }
}

TEST(LanesApprox, SaturatedConversions) {
    const auto clamped = [](double x) { return x > 0 ? std::min(x, 1.0) : 0.0; };
    const auto as_float = [](double x) { return bits_of(static_cast<float>(x)); };
    check("cvt.rn.sat.f32.s32 %D, %A;", "f32", "b32", "b32", "b32",
          [=](Bits a, Bits, Bits) { return as_float(clamped(static_cast<double>(as_signed(a, 32)))); });
    check("cvt.sat.f32.f32 %D, %A;", "f32", "f32", "b32", "b32",
          [=](Bits a, Bits, Bits) { return as_float(clamped(f(a))); });
    check("cvt.sat.f64.f32 %D, %A;", "f64", "f32", "b32", "b32",
          [=](Bits a, Bits, Bits) { return std::bit_cast<Bits>(clamped(f(a))); });
    check("cvt.sat.f64.f64 %D, %A;", "f64", "f64", "b32", "b32",
          [=](Bits a, Bits, Bits) { return std::bit_cast<Bits>(clamped(g(a))); });
    check("cvt.rz.sat.f32.f64 %D, %A;", "f32", "f64", "b32", "b32", [=](Bits a, Bits, Bits) {
        const double x = clamped(g(a));
        const float near = static_cast<float>(x);
        return bits_of(static_cast<double>(near) > x ? std::nextafter(near, 0.0f) : near);
    });
    check("cvt.rni.sat.f32.f32 %D, %A;", "f32", "f32", "b32", "b32",
          [=](Bits a, Bits, Bits) { return as_float(clamped(std::nearbyint(f(a)))); });
}

TEST(LanesApprox, SignsClassesAndNans) {
    check("copysign.f32 %D, %A, %B;", "f32", "f32", "f32", "b32",
          [](Bits a, Bits b, Bits) { return (a & 0x8000'0000) | (b & 0x7FFF'FFFF); });
    check("copysign.f64 %D, %A, %B;", "f64", "f64", "f64", "b32",
          [](Bits a, Bits b, Bits) { return std::signbit(g(a)) ? b | 1ull << 63 : b & ~(1ull << 63); });
    const struct {
        const char* name;
        std::function<bool(int)> is;
    } classes[] = {{"finite", [](int c) { return c != FP_INFINITE && c != FP_NAN; }},
                   {"infinite", [](int c) { return c == FP_INFINITE; }},
                   {"number", [](int c) { return c != FP_NAN; }},
                   {"notanumber", [](int c) { return c == FP_NAN; }},
                   {"normal", [](int c) { return c == FP_NORMAL; }},
                   {"subnormal", [](int c) { return c == FP_SUBNORMAL; }}};
    for (const auto& one : classes) {
        check(std::string("testp.") + one.name + ".f32 %D, %A;", "pred", "f32", "b32", "b32",
              [&](Bits a, Bits, Bits) -> Bits { return one.is(std::fpclassify(f(a))); });
        check(std::string("testp.") + one.name + ".f64 %D, %A;", "pred", "f64", "b32", "b32",
              [&](Bits a, Bits, Bits) -> Bits { return one.is(std::fpclassify(g(a))); });
    }
    const auto either = [](Bits a, Bits b) { return std::isnan(f(a)) || std::isnan(f(b)); };
    check("min.NaN.f32 %D, %A, %B;", "f32", "f32", "f32", "b32", [=](Bits a, Bits b, Bits) {
        if (either(a, b)) return Bits{0x7FFF'FFFF};
        return f(a) == f(b) ? a | b : bits_of(std::min(f(a), f(b)));
    });
    check("max.NaN.f32 %D, %A, %B;", "f32", "f32", "f32", "b32", [=](Bits a, Bits b, Bits) {
        if (either(a, b)) return Bits{0x7FFF'FFFF};
        return f(a) == f(b) ? a & b : bits_of(std::max(f(a), f(b)));
    });
}

}  // namespace
}  // namespace tilescope::simt
