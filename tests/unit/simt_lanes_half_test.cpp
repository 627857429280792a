// Half precision and the smaller floats: every operation, type and modifier against exact sums and products that are
// rounded by definition; conversions of whole pairs; how programs compare pairs.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/ptx/names.h"
#include "tests/unit/short_format.h"
#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;

using ShortTwin = std::function<Bits(Bits, Bits, Bits)>;

struct Modifiers {
    std::string words;
    bool ftz = false, sat = false, relu = false;
};

Bits flushed(const ShortFormat& format, Bits h) {
    return (h & 0x7FFF) >> format.fraction == 0 ? h & 0x8000 : h;
}
// What the other modifiers make of a result.
Bits finished(const ShortFormat& format, const Modifiers& how, Bits h) {
    const Bits one = static_cast<Bits>(format.bias) << format.fraction;
    if (how.sat) return format.is_nan(h) || (h & 0x8000) ? 0 : std::min(h, one);
    if (how.relu && !format.is_nan(h) && (h & 0x8000)) return 0;
    return h;
}

// Special values, and numbers whose exponents are near to each other or at an end of the range.
std::vector<Bits> operands_of(const ShortFormat& format, size_t count, uint64_t seed) {
    const Bits infinity = format.infinity(), one = static_cast<Bits>(format.bias) << format.fraction;
    const Bits least = Bits{1} << format.fraction;
    std::vector<Bits> all;
    for (const Bits size :
         {Bits{0}, Bits{1}, least - 1, least, least + 1, one - 1, one, one + 1, one + least, one + least / 2,
          infinity - 1, infinity - least, infinity, infinity + 1, Bits{0x7FFF}})
        all.push_back(size), all.push_back(size | 0x8000);
    std::mt19937_64 random(seed);
    while (all.size() < count) {
        const auto exponents = static_cast<Bits>(infinity >> format.fraction);
        const Bits near[] = {random() % 3, exponents - 1 - random() % 3, exponents / 2 + random() % 12 - 6,
                             random() % exponents};
        const Bits digits = random() % least & ~((Bits{1} << random() % (format.fraction + 1)) - 1);
        all.push_back((random() & 0x8000) | near[random() % 4] << format.fraction |
                      (random() % 2 ? digits : random() % least));
    }
    return all;
}

// Runs an operation on numbers, and on pairs of them. Operands of a case: a, b, c.
void check_cases(const ShortFormat& format, const std::string& op, int operands,
                 const std::vector<std::array<Bits, 3>>& cases, const ShortTwin& twin) {
    std::vector<Bits> want;
    for (const auto& [a, b, c] : cases) want.push_back(twin(a, b, c));
    const std::string names = operands == 1   ? " %D, %A;"
                              : operands == 2 ? " %D, %A, %B;"
                                              : " %D, %A, %B, %C;";
    for (const bool pair : {false, true}) {
        const std::string line = op + "." + format.name + (pair ? "x2" : "") + names,
                          type = pair ? "b32" : "b16";
        const ptx::Instruction i = instruction_of(line, type, type, type, type);
        EXPECT_EQ(i.type, *ptx::find_type(std::string(format.name) + (pair ? "x2" : "")));
        const size_t each = pair ? 2 : 1;
        for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
            if (!supported(version)) continue;
            const LaneOp lanes = find_lane_op(i, version);
            ASSERT_TRUE(lanes) << line;
            for (size_t at = 0; at < cases.size(); at += 32 * each) {
                const uint32_t mask = at / (32 * each) % 2 ? 0x5A5A'F00Fu : ~0u;
                const auto number = [&](size_t lane, size_t half, size_t k) {
                    return cases[(at + lane * each + half) % cases.size()][k];
                };
                Column A{}, B{}, C{}, D{}, E{};
                for (size_t l = 0; l < 32; ++l) {
                    const auto slot = [&](size_t k) {
                        return number(l, 0, k) | (pair ? number(l, 1, k) << 16 : 0);
                    };
                    const int lane = static_cast<int>(l);
                    A.set(4, lane, slot(0)), B.set(4, lane, slot(1)), C.set(4, lane, slot(2));
                    D.set(4, lane, 0x1234);
                }
                (mask == ~0u ? lanes.full : lanes.partial)(D.bytes, E.bytes, A.bytes, B.bytes, C.bytes, mask);
                for (size_t l = 0; l < 32; ++l)
                    for (size_t half = 0; half < each; ++half) {
                        const size_t index = (at + l * each + half) % cases.size();
                        const Bits got = D.get(4, static_cast<int>(l)) >> (16 * half) & 0xFFFF;
                        const Bits kept = half == 0 ? 0x1234u : 0u;
                        ASSERT_EQ(got, mask >> l & 1 ? want[index] : kept)
                            << std::hex << line << " version " << static_cast<int>(version) << " of "
                            << cases[index][0] << ", " << cases[index][1] << ", " << cases[index][2];
                    }
            }
        }
    }
}

void check_unary(const ShortFormat& format, const std::string& op, const std::function<Bits(Bits)>& twin) {
    std::vector<std::array<Bits, 3>> cases;
    for (Bits a = 0; a < 0x10000; ++a) cases.push_back({a, 0, 0});
    check_cases(format, op, 1, cases, [&](Bits a, Bits, Bits) { return twin(a); });
}
void check_several(const ShortFormat& format, const std::string& op, int operands, const ShortTwin& twin) {
    const auto some = operands_of(format, 96, 11), more = operands_of(format, 4096, 23);
    std::mt19937_64 random(5);
    std::vector<std::array<Bits, 3>> cases;
    for (const Bits a : some)
        for (const Bits b : some) cases.push_back({a, b, more[random() % more.size()]});
    for (int n = 0; n < 8192; ++n)
        cases.push_back({more[random() % more.size()], more[random() % more.size()],
                         more[random() % (n % 2 ? more.size() : 30)]});
    check_cases(format, op, operands, cases, twin);
}

// A sum of what is exact; that of two zeros has their sign where it is the same. With ftz it is zero where it would not
// be rounded to a normal number if exponents went on below.
Bits sum_of(const ShortFormat& format, bool ftz, const Fixed& x, const Fixed& y, bool minus_x, bool minus_y) {
    const Fixed sum = x + y;
    if (sum == Fixed()) return x == Fixed() && minus_x && minus_y ? 0x8000 : 0;
    const ShortFormat lower{format.name, format.fraction, format.bias + 16};
    if (ftz && lower.value(lower.rounded(sum.size())) < std::ldexp(1.0L, 1 - format.bias))
        return sum.negative() ? 0x8000 : 0;
    return format.rounded(sum);
}
Bits fused(const ShortFormat& format, bool ftz, Bits a, Bits b, Bits c) {
    const long double x = format.number(a), y = format.number(b), z = format.number(c);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return format.rounded(x * y + z);
    const Fixed product(format.digits(a) * format.digits(b), format.exponent(a) + format.exponent(b));
    return sum_of(format, ftz, product, format.exact(c), std::signbit(x) != std::signbit(y), c >> 15 & 1);
}
constexpr Bits kMinus = 0x8000;

std::vector<Modifiers> modifiers_of(const ShortFormat& format, bool fma) {
    if (std::string(format.name) == "bf16")
        return fma ? std::vector<Modifiers>{{.words = ""}, {.words = ".relu", .relu = true}}
                   : std::vector<Modifiers>{{.words = ""}};
    std::vector<Modifiers> all = {{.words = ""},
                                  {.words = ".ftz", .ftz = true},
                                  {.words = ".sat", .sat = true},
                                  {.words = ".ftz.sat", .ftz = true, .sat = true}};
    if (fma) {
        all.push_back({.words = ".relu", .relu = true});
        all.push_back({.words = ".ftz.relu", .ftz = true, .relu = true});
    }
    return all;
}

TEST(LanesHalf, SumsAndProductsAreRoundedOnce) {
    for (const ShortFormat& format : kHalfFormats) {
        const Bits one = static_cast<Bits>(format.bias) << format.fraction;
        for (const bool fma : {false, true})
            for (const Modifiers& how : modifiers_of(format, fma)) {
                const auto with = [&](auto exact) -> ShortTwin {
                    return [=, &format](Bits a, Bits b, Bits c) {
                        const auto in = [&](Bits h) { return how.ftz ? flushed(format, h) : h; };
                        return finished(format, how, exact(in(a), in(b), in(c)));
                    };
                };
                const auto add = [&, one](Bits a, Bits b, Bits) { return fused(format, how.ftz, a, one, b); };
                const auto sub = [&, one](Bits a, Bits b, Bits) {
                    return fused(format, how.ftz, a, one, format.is_nan(b) ? b : b ^ kMinus);
                };
                // A product of its own has a sign even where it is zero.
                const auto mul = [&](Bits a, Bits b, Bits) {
                    return fused(format, how.ftz, a, b, (a ^ b) & kMinus);
                };
                const auto all = [&](Bits a, Bits b, Bits c) { return fused(format, how.ftz, a, b, c); };
                if (fma) {
                    check_several(format, "fma.rn" + how.words, 3, with(all));
                    continue;
                }
                check_several(format, "add" + how.words, 2, with(add));
                check_several(format, "sub.rn" + how.words, 2, with(sub));
                check_several(format, "mul" + how.words, 2, with(mul));
            }
    }
}

TEST(LanesHalf, SignsAndExtremes) {
    for (const ShortFormat& format : kHalfFormats) {
        const bool brain = std::string(format.name) == "bf16";
        const auto nan = [&](Bits h) { return format.is_nan(h); };
        // Ordered as integers: the sizes, with the negative ones turned over.
        const auto key = [](Bits h) {
            const auto size = static_cast<int64_t>(h & 0x7FFF);
            return h & kMinus ? -size - 1 : size;
        };
        for (const bool ftz : {false, true}) {
            if (ftz && brain) continue;
            const std::string flush = ftz ? ".ftz" : "";
            const auto in = [&](Bits h) { return ftz ? flushed(format, h) : h; };
            check_unary(format, "neg" + flush, [&](Bits a) { return nan(a) ? 0x7FFF : in(a) ^ kMinus; });
            check_unary(format, "abs" + flush, [&](Bits a) { return nan(a) ? 0x7FFF : in(a)&0x7FFF; });
            for (const bool least : {true, false}) {
                const std::string name = least ? "min" : "max";
                const auto pick = [&](Bits a, Bits b) {
                    if (nan(a)) return nan(b) ? Bits{0x7FFF} : b;
                    return nan(b) || (key(a) < key(b)) == least ? a : b;
                };
                const auto sized = [&](Bits a, Bits b) {
                    const Bits size = pick(a & 0x7FFF, b & 0x7FFF);
                    return nan(size) ? size : size | ((a ^ b) & kMinus);
                };
                check_several(format, name + flush, 2,
                              [&](Bits a, Bits b, Bits) { return pick(in(a), in(b)); });
                check_several(format, name + flush + ".NaN", 2, [&](Bits a, Bits b, Bits) {
                    return nan(a) || nan(b) ? 0x7FFF : pick(in(a), in(b));
                });
                check_several(format, name + flush + ".xorsign.abs", 2,
                              [&](Bits a, Bits b, Bits) { return sized(in(a), in(b)); });
                check_several(format, name + flush + ".NaN.xorsign.abs", 2, [&](Bits a, Bits b, Bits) {
                    return nan(a) || nan(b) ? 0x7FFF : sized(in(a), in(b));
                });
            }
        }
    }
}

// Source of the bounds: PTX ISA, "Half Precision Floating Point Instructions: tanh, ex2". An H200 is beyond 2^-8 by
// 2^-13 of it at one operand; subnormal numbers have fewer digits than the bound.
TEST(LanesHalf, FunctionsLieWithinTheManual) {
    for (const ShortFormat& format : kHalfFormats) {
        const bool brain = std::string(format.name) == "bf16";
        const long double least = std::ldexp(1.0L, 1 - format.bias);
        const auto within = [&](const std::string& op, const auto& bound) {
            const std::string line = op + "." + format.name + " %D, %A;";
            const LaneOp lanes =
                find_lane_op(instruction_of(line, "b16", "b16", "b16", "b16"), best_version());
            ASSERT_TRUE(lanes) << line;
            for (Bits all = 0; all < 0x10000; all += 32) {
                Column A{}, D{};
                for (int l = 0; l < 32; ++l) A.set(4, l, all + static_cast<Bits>(l));
                lanes.full(D.bytes, D.bytes, A.bytes, A.bytes, A.bytes, ~0u);
                for (int l = 0; l < 32; ++l) {
                    const Bits a = all + static_cast<Bits>(l), made = D.get(4, l);
                    const auto [exact, error] = bound(format.number(a));
                    if (std::isnan(exact) || !std::isfinite(format.number(format.rounded(exact)))) {
                        ASSERT_EQ(made, format.rounded(exact)) << line << std::hex << a;
                    } else {
                        ASSERT_LE(std::abs(format.number(made) - exact), error) << line << std::hex << a;
                    }
                }
            }
        };
        using Bound = std::pair<long double, long double>;
        within(brain ? "ex2.approx.ftz" : "ex2.approx", [&](long double x) -> Bound {
            const long double exact = std::exp2(x);
            const long double step = brain ? least : std::ldexp(least, -format.fraction);
            return {exact, std::max(exact * std::exp2(brain ? -7.0L : -9.9L), exact < least ? step : 0)};
        });
        within("tanh.approx", [&](long double x) -> Bound {
            const bool beyond = brain && std::abs(x) == 0.74609375L;
            return {std::tanh(x), std::exp2(brain ? -8.0L : -10.987L) * (beyond ? 1 + 0x1p-13L : 1)};
        });
    }
}

template <class Number>
bool holds(const std::string& how, Number a, Number b) {
    const bool unordered = a != a || b != b;
    if (how == "num" || how == "nan") return unordered == (how == "nan");
    const std::string order = how.substr(0, 2);
    if (unordered) return how.size() == 3;
    return order == "eq"   ? a == b
           : order == "ne" ? a != b
           : order == "lt" ? a < b
           : order == "le" ? a <= b
           : order == "gt" ? a > b
                           : a >= b;
}
constexpr const char* kComparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

TEST(LanesHalf, Comparisons) {
    for (const ShortFormat& format : kHalfFormats) {
        const std::string name = format.name;
        const auto all = operands_of(format, 64, 3);
        const Bits one = static_cast<Bits>(format.bias) << format.fraction;
        for (const std::string how : kComparisons)
            for (const bool ftz : {false, true}) {
                if (ftz && name == "bf16") continue;
                const auto is = [&](Bits a, Bits b) {
                    const auto in = [&](Bits h) { return format.number(ftz ? flushed(format, h) : h); };
                    return holds(how, in(a), in(b));
                };
                const std::string compare = how + (ftz ? ".ftz." : ".");
                const struct {
                    std::string line, result;
                    Bits yes;
                } forms[] = {{"setp." + compare + name, "pred", 1},
                             {"set." + compare + "u16." + name, "b16", 0xFFFF},
                             {"set." + compare + "s32." + name, "b32", 0xFFFF'FFFF},
                             {"set." + compare + name + "." + name, "b16", one}};
                for (const auto& form : forms)
                    check(form.line + " %D, %A, %B;", form.result, "b16", "b16", "b32",
                          [&](Bits a, Bits b, Bits) { return is(a, b) ? form.yes : 0; });
                const auto both = [&](Bits yes) {
                    return [=](Bits a, Bits b, Bits) {
                        return (is(a & 0xFFFF, b & 0xFFFF) ? yes : 0) |
                               (is(a >> 16, b >> 16) ? yes << 16 : 0);
                    };
                };
                check("set." + compare + "u32." + name + "x2 %D, %A, %B;", "b32", "b32", "b32", "b32",
                      both(0xFFFF));
                check("set." + compare + name + "x2." + name + "x2 %D, %A, %B;", "b32", "b32", "b32", "b32",
                      both(one));
            }
    }
    check("set.lt.f16.f32 %D, %A, %B;", "b16", "f32", "f32", "b32",
          [](Bits a, Bits b, Bits) { return f(a) < f(b) ? 0x3C00 : 0; });
    check("set.ge.bf16.s32 %D, %A, %B;", "b16", "b32", "b32", "b32",
          [](Bits a, Bits b, Bits) { return as_signed(a, 32) >= as_signed(b, 32) ? 0x3F80 : 0; });
}

// Pairs of f32: two lanes of the f32 operation.
TEST(LanesHalf, PairsOfFloats) {
    const auto float_of = [](Bits pair, int half) { return static_cast<uint32_t>(pair >> 32 * half); };
    for (const std::string round : {".rn", ".rz", ".rm", ".rp"})
        for (const std::string flush : {"", ".ftz"})
            for (const std::string op : {"add", "sub", "mul", "fma"}) {
                const std::string line = op + round + flush,
                                  names = op == "fma" ? " %D, %A, %B, %C;" : " %D, %A, %B;";
                const LaneOp one = find_lane_op(
                    instruction_of(line + ".f32" + names, "f32", "f32", "f32", "f32"), LaneVersion::Portable);
                ASSERT_TRUE(one) << line;
                check(line + ".f32x2" + names, "b64", "b64", "b64", "b64", [&](Bits a, Bits b, Bits c) {
                    Column A{}, B{}, C{}, D{}, E{};
                    for (int half = 0; half < 2; ++half) {
                        A.set(4, half, float_of(a, half)), B.set(4, half, float_of(b, half));
                        C.set(4, half, float_of(c, half));
                    }
                    one.full(D.bytes, E.bytes, A.bytes, B.bytes, C.bytes, ~0u);
                    return D.get(4, 0) | D.get(4, 1) << 32;
                });
            }
    check("add.f32x2 %D, %A, %B;", "b64", "b64", "b64", "b64",
          [](Bits a, Bits b, Bits) { return bits_of(f(a) + f(b)) | bits_of(f(a >> 32) + f(b >> 32)) << 32; });
}

// .xorsign.abs of f32.
TEST(LanesHalf, ExtremesOfSizes) {
    const auto nan = [](Bits x) { return (x & 0x7FFF'FFFF) > 0x7F80'0000; };
    for (const bool least : {true, false})
        for (const bool strict : {false, true})
            check((least ? std::string("min") : "max") + (strict ? ".NaN" : "") +
                      ".xorsign.abs.f32 %D, %A, %B;",
                  "f32", "f32", "f32", "f32", [=](Bits a, Bits b, Bits) -> Bits {
                      const Bits x = a & 0x7FFF'FFFF, y = b & 0x7FFF'FFFF;
                      if ((nan(a) && nan(b)) || (strict && (nan(a) || nan(b)))) return 0x7FFF'FFFF;
                      const Bits size = nan(a) ? y : nan(b) ? x : least ? std::min(x, y) : std::max(x, y);
                      return size | ((a ^ b) & 0x8000'0000);
                  });
}

// --- conversions

Bits bounded(const ShortFormat& format, bool relu, bool finite, Bits h) {
    if (format.is_nan(h)) return h;
    if (finite && format.is_infinite(h)) --h;
    return relu && (h & format.sign()) ? 0 : h;
}

TEST(LanesHalf, PairsAreMadeOfTwoFloats) {
    for (const ShortFormat& format : kHalfFormats)
        for (const char mode : {'n', 'z'})
            for (const bool relu : {false, true})
                for (const bool finite : {false, true}) {
                    const std::string cvt = std::string("cvt.r") + mode + (relu ? ".relu" : "") +
                                            (finite ? ".satfinite" : "") + "." + format.name;
                    const auto half = [&](Bits x) {
                        return bounded(format, relu, finite, format.rounded(f(x), mode));
                    };
                    check(cvt + ".f32 %D, %A;", "b16", "f32", "b32", "b32",
                          [&](Bits a, Bits, Bits) { return half(a); });
                    check(cvt + "x2.f32 %D, %A, %B;", "b32", "f32", "f32", "b32",
                          [&](Bits a, Bits b, Bits) { return half(a) << 16 | half(b); });
                }
}

TEST(LanesHalf, TensorFloats) {
    // As f32 by its digits: one of 11 that is next to it.
    const auto rounded = [](Bits x, const std::string& mode) -> Bits {
        const Bits size = x & 0x7FFF'FFFF, low = size & ~Bits{0x1FFF}, rest = size & 0x1FFF;
        if (size > 0x7F80'0000) return mode == "rna" ? x & ~Bits{0x1FFF} : 0x7FFF'E000;
        const bool up = mode == "rz"    ? false
                        : mode == "rna" ? rest >= 0x1000
                                        : rest > 0x1000 || (rest == 0x1000 && (low & 0x2000));
        return (x & 0x8000'0000) | (low + (up ? 0x2000 : 0));
    };
    for (const std::string mode : {"rn", "rz", "rna"})
        for (const std::string more : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
            const bool relu = more.starts_with(".relu"), finite = more.ends_with("satfinite");
            if (mode == "rna" && relu) continue;
            check("cvt." + mode + more + ".tf32.f32 %D, %A;", "b32", "f32", "b32", "b32",
                  [&](Bits a, Bits, Bits) -> Bits {
                      Bits made = rounded(a, mode);
                      if (mode != "rna" && (a & 0x7FFF'FFFF) > 0x7F80'0000) return made;
                      if (finite && (made & 0x7FFF'FFFF) >= 0x7F80'0000) made -= 0x2000;
                      return relu && (made & 0x8000'0000) ? 0 : made;
                  });
        }
}

// The smaller floats by their tables: largest number, and what stands for a NaN (0 where nothing does).
struct SmallFloat {
    ShortFormat format;
    Bits largest, nan;
    long double number(Bits h) const {
        const Bits size = h & (format.sign() - 1);
        if (size <= largest) return format.value(h);
        const bool infinite = std::string(format.name) == "e5m2x2" && size == 0x7C;
        return !infinite ? NAN : h & format.sign() ? -INFINITY : INFINITY;
    }
    Bits rounded(long double x, bool relu) const {
        if (std::isnan(x)) return nan ? nan : largest;
        if (relu && std::signbit(x)) return 0;
        const Bits sign = std::signbit(x) ? format.sign() : 0;
        if (std::abs(x) >= format.value(largest)) return sign | largest;
        return format.search(std::abs(x), std::signbit(x), 'n', largest,
                             [&](Bits h) { return format.value(h); });
    }
    Bits join(Bits high, Bits low) const { return high << (format.bits == 4 ? 4 : 8) | low; }
};
constexpr SmallFloat kSmallFloats[] = {{{"e5m2x2", 2, 15, 8}, 0x7B, 0x7F},
                                       {{"e4m3x2", 3, 7, 8}, 0x7E, 0x7F},
                                       {{"e3m2x2", 2, 3, 6}, 0x1F, 0},
                                       {{"e2m3x2", 3, 1, 6}, 0x1F, 0}};

TEST(LanesHalf, SmallFloats) {
    const ShortFormat& half = kHalfFormats[0];
    for (const SmallFloat& small : kSmallFloats)
        for (const bool relu : {false, true}) {
            const std::string name = small.format.name, more = relu ? ".relu" : "";
            check("cvt.rn.satfinite" + more + "." + name + ".f32 %D, %A, %B;", "b16", "f32", "f32", "b32",
                  [&](Bits a, Bits b, Bits) {
                      return small.join(small.rounded(f(a), relu), small.rounded(f(b), relu));
                  });
            if (small.format.bits == 8)
                check("cvt.rn.satfinite" + more + "." + name + ".f16x2 %D, %A;", "b16", "b32", "b32", "b32",
                      [&](Bits a, Bits, Bits) {
                          const auto one = [&](Bits h) {
                              return small.rounded(half.number(h & 0xFFFF), relu);
                          };
                          return small.join(one(a >> 16), one(a));
                      });
            const std::string line = "cvt.rn" + more + ".f16x2." + name + " %D, %A;";
            const LaneOp op = find_lane_op(instruction_of(line, "b32", "b16", "b16", "b16"), best_version());
            ASSERT_TRUE(op) << line;
            for (Bits all = 0; all < 0x10000; all += 32) {
                Column A{}, D{};
                for (int l = 0; l < 32; ++l) A.set(4, l, all + static_cast<Bits>(l));
                op.full(D.bytes, D.bytes, A.bytes, A.bytes, A.bytes, ~0u);
                for (int l = 0; l < 32; ++l) {
                    const Bits pair = all + static_cast<Bits>(l), keep = 2 * small.format.sign() - 1;
                    const auto one = [&](Bits h) {
                        return bounded(half, relu, false, half.rounded(small.number(h & keep)));
                    };
                    ASSERT_EQ(D.get(4, l), one(pair >> 8) << 16 | one(pair)) << line << std::hex << pair;
                }
            }
        }
}

// Their registers are of 8 bits.
TEST(LanesHalf, FloatsOfFourBits) {
    constexpr SmallFloat kSmall{{"e2m1x2", 1, 1, 4}, 7, 0};
    const ShortFormat& half = kHalfFormats[0];
    for (const bool relu : {false, true}) {
        ptx::Operation does{.op = ptx::Op::Cvt, .type = ptx::Type::F16X2, .type2 = ptx::Type::E2M1X2};
        does.round = ptx::Round::Rn, does.relu = relu;
        const LaneOp widened = find_lane_op(does, best_version());
        std::swap(does.type, does.type2);
        does.type2 = ptx::Type::F32, does.satfinite = true;
        const LaneOp narrowed = find_lane_op(does, best_version());
        ASSERT_TRUE(widened && narrowed);
        const auto floats = specials(4);
        std::mt19937_64 random(9);
        for (Bits all = 0; all < 0x100; all += 32) {
            Column A{}, B{}, D{};
            for (int l = 0; l < 32; ++l) A.set(4, l, all + static_cast<Bits>(l));
            widened.full(D.bytes, D.bytes, A.bytes, A.bytes, A.bytes, ~0u);
            for (int l = 0; l < 32; ++l) {
                const Bits pair = all + static_cast<Bits>(l);
                const auto one = [&](Bits h) {
                    return bounded(half, relu, false, half.rounded(kSmall.number(h & 0xF)));
                };
                ASSERT_EQ(D.get(4, l), one(pair >> 4) << 16 | one(pair)) << std::hex << pair;
            }
            for (int l = 0; l < 32; ++l) {
                const auto any = [&]() -> Bits {
                    const float near = static_cast<float>(static_cast<int64_t>(random() % 129) - 64) / 8.0f;
                    return random() % 3 ? std::bit_cast<uint32_t>(near) : floats[random() % floats.size()];
                };
                A.set(4, l, any()), B.set(4, l, any());
            }
            narrowed.full(D.bytes, D.bytes, A.bytes, B.bytes, A.bytes, ~0u);
            for (int l = 0; l < 32; ++l)
                ASSERT_EQ(D.get(4, l), kSmall.join(kSmall.rounded(f(A.get(4, l)), relu),
                                                   kSmall.rounded(f(B.get(4, l)), relu)))
                    << f(A.get(4, l)) << ", " << f(B.get(4, l));
        }
    }
}

TEST(LanesHalf, PowersOfTwo) {
    for (const bool up : {false, true})
        for (const bool finite : {false, true}) {
            const std::string cvt =
                std::string("cvt.r") + (up ? "p" : "z") + (finite ? ".satfinite" : "") + ".ue8m0x2.";
            // The exponent of the power of two on the side that is asked for, by search.
            const auto power = [&](long double x) -> Bits {
                if (std::isnan(x)) return 0xFF;
                const long double size = std::abs(x);
                Bits at = 0;
                if (up)
                    while (at < 0xFF && std::ldexp(1.0L, static_cast<int>(at) - 127) < size) ++at;
                else
                    while (at < 0xFF && std::ldexp(1.0L, static_cast<int>(at) - 126) <= size) ++at;
                return finite && at == 0xFF ? 0xFE : at;
            };
            check(cvt + "f32 %D, %A, %B;", "b16", "f32", "f32", "b32",
                  [&](Bits a, Bits b, Bits) { return power(f(a)) << 8 | power(f(b)); });
            check(cvt + "bf16x2 %D, %A;", "b16", "b32", "b32", "b32", [&](Bits a, Bits, Bits) {
                return power(kHalfFormats[1].number(a >> 16)) << 8 |
                       power(kHalfFormats[1].number(a & 0xFFFF));
            });
        }
    check("cvt.rn.bf16x2.ue8m0x2 %D, %A;", "b32", "b16", "b32", "b32", [](Bits a, Bits, Bits) {
        const auto one = [](Bits power) -> Bits {
            return power == 0xFF ? 0x7FFF
                                 : kHalfFormats[1].rounded(std::ldexp(1.0L, static_cast<int>(power) - 127));
        };
        return one(a >> 8) << 16 | one(a & 0xFF);
    });
}

}  // namespace
}  // namespace tilescope::simt
