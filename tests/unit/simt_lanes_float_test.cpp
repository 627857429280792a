// Float arithmetic, conversions and comparisons against scalar twins.
#include <algorithm>
#include <cfenv>

#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;

// fp32 sums and products are exact in long double (64-bit significand) or correctly rounded twice over:
// p = 64 >= 2 * 24 + 2 makes double rounding innocuous (Figueroa, "When is double rounding innocuous?").
TEST(Lanes, FloatArithmetic) {
    const auto r = [](long double x) { return bits_of(static_cast<float>(x)); };
    const auto two = [&](const std::string& op,
                         const std::function<long double(long double, long double)>& fn) {
        check(op + ".f32 %D, %A, %B;", "f32", "f32", "f32", "f32",
              [=](Bits a, Bits b, Bits) { return r(fn(f(a), f(b))); });
    };
    two("add.rn", [](long double a, long double b) { return a + b; });
    two("sub.rn", [](long double a, long double b) { return a - b; });
    two("mul.rn", [](long double a, long double b) { return a * b; });
    two("div.rn", [](long double a, long double b) { return a / b; });
    check("sqrt.rn.f32 %D, %A;", "f32", "f32", "f32", "f32",
          [=](Bits a, Bits, Bits) { return r(std::sqrt(static_cast<long double>(f(a)))); });
    check("rcp.rn.f32 %D, %A;", "f32", "f32", "f32", "f32",
          [=](Bits a, Bits, Bits) { return r(1.0L / f(a)); });
    check("neg.f32 %D, %A;", "f32", "f32", "f32", "f32",
          [=](Bits a, Bits, Bits) { return std::isnan(f(a)) ? 0x7FFF'FFFF : a ^ 0x8000'0000; });
    check("abs.f32 %D, %A;", "f32", "f32", "f32", "f32",
          [=](Bits a, Bits, Bits) { return std::isnan(f(a)) ? 0x7FFF'FFFF : a & 0x7FFF'FFFF; });
    check("fma.rn.f32 %D, %A, %B, %C;", "f32", "f32", "f32", "f32",
          [](Bits a, Bits b, Bits c) { return bits_of(std::fma(f(a), f(b), f(c))); });
    check("add.ftz.f32 %D, %A, %B;", "f32", "f32", "f32", "f32", [=](Bits a, Bits b, Bits) {
        return flush(r(static_cast<long double>(f(flush(a))) + f(flush(b))));
    });
    check("mul.sat.f32 %D, %A, %B;", "f32", "f32", "f32", "f32", [=](Bits a, Bits b, Bits) {
        const float p = f(r(static_cast<long double>(f(a)) * f(b)));
        return bits_of(std::isnan(p) || p <= 0 ? 0.0f : p >= 1 ? 1.0f : p);
    });
    // Ordered as integers: the bits of floats, with the negative ones turned over.
    const auto key = [](Bits x) {
        const int64_t v = static_cast<int64_t>(x & 0x7FFF'FFFF);
        return x >> 31 ? -v - 1 : v;
    };
    const auto nan = [](Bits x) { return (x & 0x7FFF'FFFF) > 0x7F80'0000; };
    const auto pick = [=](bool least) {
        return [=](Bits a, Bits b, Bits) {
            return nan(a) ? (nan(b) ? 0x7FFF'FFFF : b) : nan(b) ? a : (key(a) < key(b)) == least ? a : b;
        };
    };
    check("min.f32 %D, %A, %B;", "f32", "f32", "f32", "f32", pick(true));
    check("max.f32 %D, %A, %B;", "f32", "f32", "f32", "f32", pick(false));
    // fp64: NaNs keep the payload of the first NaN, made quiet.
    const auto d2 = [](const std::string& op, const std::function<double(double, double)>& fn) {
        check(op + ".f64 %D, %A, %B;", "f64", "f64", "f64", "f64", [=](Bits a, Bits b, Bits) {
            const double x = fn(g(a), g(b));
            if (!std::isnan(x)) return std::bit_cast<Bits>(x);
            const Bits quiet = 1ull << 51;
            return std::isnan(g(a)) ? a | quiet : std::isnan(g(b)) ? b | quiet : 0xFFF8'0000'0000'0000;
        });
    };
    d2("add.rn", [](double a, double b) { return a + b; });
    d2("mul.rn", [](double a, double b) { return a * b; });
    d2("div.rn", [](double a, double b) { return a / b; });
}

// The processor's own rounding modes are the twin: every operand passes through a volatile, so that no compiler moves an
// operation past the change of mode.
template <class T, class Fn>
T in_mode(int mode, Fn fn, T a, T b, T c) {
    volatile T x = a, y = b, z = c;
    std::fesetround(mode);
    volatile T r = fn(T{x}, T{y}, T{z});
    std::fesetround(FE_TONEAREST);
    return r;
}

constexpr std::pair<const char*, int> kModes[] = {
    {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

// Any two random numbers lie far apart, where a sum is the greater one: these have exponents close to each other and to both
// ends of the range, and digits that are few, so that results are exact, tied and cancelled too.
template <class T>
T near_number(std::mt19937_64& random) {
    using Limits = std::numeric_limits<T>;
    const int lows[] = {-4, Limits::min_exponent - Limits::digits - 2, Limits::min_exponent / 2,
                        Limits::max_exponent - 4};
    const T digits = static_cast<T>(static_cast<int64_t>(random()) >> random() % 64);
    int ignored = 0;
    const T one = std::frexp(digits, &ignored);
    return std::ldexp(one, lows[random() % 4] + static_cast<int>(random() % 8));
}

template <class T>
void check_directed(const std::string& type) {
    const std::string name = "." + type;
    using S = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const auto number = [](Bits x) { return std::bit_cast<T>(static_cast<S>(x)); };
    const auto bits = [](T r, T a, T b, T c) {
        if (r == r) return Bits{std::bit_cast<S>(r)};
        if (sizeof(T) == 4) return Bits{0x7FFF'FFFF};
        for (const T x : {a, b, c})
            if (x != x) return Bits{std::bit_cast<S>(x)} | Bits{1} << 51;
        return Bits{0xFFF8'0000'0000'0000};
    };
    const auto operation = [&](const std::string& line, int operands, int mode, auto fn) {
        const Twin twin = [=](Bits a, Bits b, Bits c) {
            const T x = number(a), y = operands > 1 ? number(b) : x, z = operands > 2 ? number(c) : x;
            return bits(in_mode(mode, fn, x, y, z), x, y, z);
        };
        check(line, type, type, type, type, twin);
        std::mt19937_64 random(7);
        const LaneOp op = find_lane_op(instruction_of(line, type, type, type, type), LaneVersion::Portable);
        for (int round = 0; round < 500; ++round) {
            Column d, a, b, c;
            for (int lane = 0; lane < 32; ++lane)
                for (Column* column : {&a, &b, &c})
                    column->set(sizeof(T), lane, std::bit_cast<S>(near_number<T>(random)));
            op.full(d.bytes, nullptr, a.bytes, b.bytes, c.bytes, ~0u);
            for (int lane = 0; lane < 32; ++lane) {
                const auto at = [&](const Column& column) { return column.get(sizeof(T), lane); };
                ASSERT_EQ(at(d), twin(at(a), at(b), at(c)))
                    << line << std::hex << " of " << at(a) << ", " << at(b) << ", " << at(c);
            }
        }
    };
    for (const auto& [r, mode] : kModes) {
        operation("add" + (r + name) + " %D, %A, %B;", 2, mode, [](T a, T b, T) { return a + b; });
        operation("sub" + (r + name) + " %D, %A, %B;", 2, mode, [](T a, T b, T) { return a - b; });
        operation("mul" + (r + name) + " %D, %A, %B;", 2, mode, [](T a, T b, T) { return a * b; });
        operation("div" + (r + name) + " %D, %A, %B;", 2, mode, [](T a, T b, T) { return a / b; });
        operation("fma" + (r + name) + " %D, %A, %B, %C;", 3, mode,
                  [](T a, T b, T c) { return std::fma(a, b, c); });
        operation("sqrt" + (r + name) + " %D, %A;", 1, mode, [](T a, T, T) { return std::sqrt(a); });
        operation("rcp" + (r + name) + " %D, %A;", 1, mode, [](T a, T, T) { return 1 / a; });
    }
}

TEST(Lanes, DirectedRounding) {
    check_directed<float>("f32");
    check_directed<double>("f64");
    for (const auto& [r, mode] : kModes) {
        check("mul" + (r + std::string(".ftz.sat.f32 %D, %A, %B;")), "f32", "f32", "f32", "f32",
              [=](Bits a, Bits b, Bits) {
                  const float x = f(flush(bits_of(in_mode(
                      mode, [](float one, float other, float) { return one * other; }, f(flush(a)),
                      f(flush(b)), 0.0f))));
                  return bits_of(std::isnan(x) || x <= 0 ? 0.0f : x >= 1 ? 1.0f : x);
              });
        const auto convert = [&](const std::string& to, const std::string& from, auto fn) {
            check("cvt" + (r + ("." + to)) + "." + from + " %D, %A;", to, from, "b32", "b32",
                  [=](Bits a, Bits, Bits) {
                      std::fesetround(mode);
                      volatile Bits x = a;
                      volatile Bits result = fn(Bits{x});
                      std::fesetround(FE_TONEAREST);
                      return Bits{result};
                  });
        };
        convert("f32", "f64", [](Bits a) {
            volatile float x = static_cast<float>(g(a));
            return std::isnan(x) ? Bits{0x7FFF'FFFF} : bits_of(x);
        });
        convert("f32", "s32", [](Bits a) {
            volatile float x = static_cast<float>(static_cast<int32_t>(a));
            return bits_of(x);
        });
        convert("f32", "u64", [](Bits a) {
            volatile float x = static_cast<float>(a);
            return bits_of(x);
        });
        convert("f64", "s64", [](Bits a) {
            volatile double x = static_cast<double>(static_cast<int64_t>(a));
            return std::bit_cast<Bits>(double{x});
        });
    }
}

TEST(Lanes, Conversions) {
    struct Int {
        const char* name;
        int bits;
        bool s;
    };
    const Int ints[] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                        {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};
    const auto reg = [](int bits) { return "b" + std::to_string(std::max(bits, 16)); };
    const auto value = [](const Int& t, Bits x) {
        return t.s ? as_signed(x, t.bits) : as_unsigned(x, t.bits);
    };
    const auto lowest = [](const Int& t) { return t.s ? -(Wide{1} << (t.bits - 1)) : Wide{0}; };
    const auto highest = [](const Int& t) { return (Wide{1} << (t.s ? t.bits - 1 : t.bits)) - 1; };
    for (const Int& from : ints) {
        for (const Int& to : ints) {
            const Bits keep = to.bits == 64 ? ~Bits{0} : (Bits{1} << to.bits) - 1;
            const std::string names = std::string(to.name) + "." + from.name + " %D, %A;";
            check("cvt." + names, reg(to.bits), reg(from.bits), "b32", "b32",
                  [=](Bits a, Bits, Bits) { return static_cast<Bits>(value(from, a)) & keep; });
            check("cvt.sat." + names, reg(to.bits), reg(from.bits), "b32", "b32", [=](Bits a, Bits, Bits) {
                return static_cast<Bits>(std::clamp(value(from, a), lowest(to), highest(to))) & keep;
            });
        }
        // 64-bit integers are exact in long double.
        check(std::string("cvt.rn.f32.") + from.name + " %D, %A;", "f32", reg(from.bits), "b32", "b32",
              [=](Bits a, Bits, Bits) {
                  return bits_of(static_cast<float>(static_cast<long double>(value(from, a))));
              });
        check(std::string("cvt.rn.f64.") + from.name + " %D, %A;", "f64", reg(from.bits), "b32", "b32",
              [=](Bits a, Bits, Bits) {
                  return std::bit_cast<Bits>(static_cast<double>(static_cast<long double>(value(from, a))));
              });
        const struct {
            const char* name;
            long double (*fn)(long double);
        } rounds[] = {{"rni", std::nearbyint}, {"rzi", std::trunc}, {"rmi", std::floor}, {"rpi", std::ceil}};
        for (const auto& round : rounds)
            for (const bool from64 : {false, true}) {
                const Bits keep = from.bits == 64 ? ~Bits{0} : (Bits{1} << from.bits) - 1;
                check(std::string("cvt.") + round.name + "." + from.name + (from64 ? ".f64" : ".f32") +
                          " %D, %A;",
                      reg(from.bits), from64 ? "f64" : "f32", "b32", "b32", [=](Bits a, Bits, Bits) {
                          const long double x =
                              from64 ? static_cast<long double>(g(a)) : static_cast<long double>(f(a));
                          if (std::isnan(x))
                              return from64 || from.bits == 64 ? Bits{1} << (from.bits - 1) : Bits{0};
                          const long double y = round.fn(x);
                          if (y <= static_cast<long double>(lowest(from)))
                              return static_cast<Bits>(lowest(from)) & keep;
                          if (y >= static_cast<long double>(highest(from)))
                              return static_cast<Bits>(highest(from)) & keep;
                          return static_cast<Bits>(static_cast<Wide>(y)) & keep;
                      });
            }
    }
    check("cvt.rn.f32.f64 %D, %A;", "f32", "f64", "b32", "b32",
          [](Bits a, Bits, Bits) { return bits_of(static_cast<float>(g(a))); });
    check("cvt.rz.f32.f64 %D, %A;", "f32", "f64", "b32", "b32", [](Bits a, Bits, Bits) {
        float x = static_cast<float>(g(a));
        if (std::abs(static_cast<double>(x)) > std::abs(g(a))) x = std::nextafter(x, 0.0f);
        return bits_of(x);
    });
    check("cvt.rpi.f32.f32 %D, %A;", "f32", "f32", "b32", "b32",
          [](Bits a, Bits, Bits) { return bits_of(std::ceil(f(a))); });
}

TEST(Lanes, Comparisons) {
    const struct {
        const char* name;
        int less, equal, greater, unordered;
    } compares[] = {{"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
                    {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
                    {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
                    {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
    const auto outcome = [](const auto& c, auto a, auto b) {
        return static_cast<Bits>(a < b ? c.less : a == b ? c.equal : a > b ? c.greater : c.unordered);
    };
    int n = 0;
    for (const auto& c : compares) {
        const std::string name = c.name;
        check("setp." + name + ".f32 %D, %A, %B;", "pred", "f32", "f32", "b32",
              [=](Bits a, Bits b, Bits) { return outcome(c, f(a), f(b)); });
        check("setp." + name + ".f64 %D, %A, %B;", "pred", "f64", "f64", "b32",
              [=](Bits a, Bits b, Bits) { return outcome(c, g(a), g(b)); });
        check("setp." + name + ".ftz.f32 %D, %A, %B;", "pred", "f32", "f32", "b32",
              [=](Bits a, Bits b, Bits) { return outcome(c, f(flush(a)), f(flush(b))); });
        check("set." + name + ".u32.f32 %D, %A, %B;", "b32", "f32", "f32", "b32",
              [=](Bits a, Bits b, Bits) { return outcome(c, f(a), f(b)) ? 0xFFFF'FFFFu : 0u; });
        check("set." + name + ".f32.f32 %D, %A, %B;", "f32", "f32", "f32", "b32",
              [=](Bits a, Bits b, Bits) { return outcome(c, f(a), f(b)) ? 0x3F80'0000u : 0u; });
        if (++n > 6) continue;  // integers know the first six
        for (const int bits : {16, 32, 64}) {
            const std::string r = "b" + std::to_string(bits);
            check("setp." + name + ".s" + std::to_string(bits) + " %D, %A, %B;", "pred", r, r, "b32",
                  [=](Bits a, Bits b, Bits) { return outcome(c, as_signed(a, bits), as_signed(b, bits)); });
            check(
                "setp." + name + ".u" + std::to_string(bits) + " %D, %A, %B;", "pred", r, r, "b32",
                [=](Bits a, Bits b, Bits) { return outcome(c, as_unsigned(a, bits), as_unsigned(b, bits)); });
        }
    }
    check("slct.u32.s32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32",
          [](Bits a, Bits b, Bits c) { return as_signed(c, 32) >= 0 ? a : b; });
    check("slct.b64.f32 %D, %A, %B, %C;", "b64", "b64", "b64", "f32",
          [](Bits a, Bits b, Bits c) { return f(c) >= 0 ? a : b; });
}

}  // namespace
}  // namespace tilescope::simt
