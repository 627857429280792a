// Integer arithmetic, bit fields and shifts against scalar twins.
#include <algorithm>

#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;

TEST(Lanes, IntegerArithmetic) {
    for (const int bits : {16, 32, 64})
        for (const bool s : {false, true}) {
            const std::string t = (s ? "s" : "u") + std::to_string(bits), r = "b" + std::to_string(bits),
                              wide = "b" + std::to_string(2 * bits);
            const auto v = [=](Bits x) { return s ? as_signed(x, bits) : as_unsigned(x, bits); };
            const auto one = [&](const std::string& op, const std::function<Wide(Wide, Wide)>& fn) {
                check(op + "." + t + " %D, %A, %B;", r, r, r, r,
                      [=](Bits a, Bits b, Bits) { return static_cast<Bits>(fn(v(a), v(b))); });
            };
            one("add", [](Wide a, Wide b) { return a + b; });
            one("sub", [](Wide a, Wide b) { return a - b; });
            one("mul.lo", [](Wide a, Wide b) {
                return static_cast<Wide>(static_cast<UWide>(a) * static_cast<UWide>(b));
            });
            one("mul.hi", [=](Wide a, Wide b) {
                return s ? (a * b) >> bits
                         : static_cast<Wide>((static_cast<UWide>(a) * static_cast<UWide>(b)) >> bits);
            });
            one("div", [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a / b; });
            one("rem", [](Wide a, Wide b) { return b == 0 ? Wide{-1} : a % b; });
            one("min", [](Wide a, Wide b) { return a < b ? a : b; });
            one("max", [](Wide a, Wide b) { return a > b ? a : b; });
            check("mad.lo." + t + " %D, %A, %B, %C;", r, r, r, r,
                  [](Bits a, Bits b, Bits c) { return a * b + c; });
            check("sad." + t + " %D, %A, %B, %C;", r, r, r, r, [=](Bits a, Bits b, Bits c) {
                return static_cast<Bits>((v(a) < v(b) ? v(b) - v(a) : v(a) - v(b))) + c;
            });
            check("shr." + t + " %D, %A, %B;", r, r, "b32", r, [=](Bits a, Bits n, Bits) {
                return static_cast<Bits>(
                    v(a) >> std::min<Bits>(n, s ? static_cast<Bits>(bits - 1) : static_cast<Bits>(bits)));
            });
            if (bits < 64) {
                check("mul.wide." + t + " %D, %A, %B;", wide, r, r, r,
                      [=](Bits a, Bits b, Bits) { return static_cast<Bits>(v(a) * v(b)); });
                check("mad.wide." + t + " %D, %A, %B, %C;", wide, r, r, wide,
                      [=](Bits a, Bits b, Bits c) { return static_cast<Bits>(v(a) * v(b)) + c; });
            }
            if (s) {
                check("neg." + t + " %D, %A;", r, r, r, r,
                      [=](Bits a, Bits, Bits) { return static_cast<Bits>(-v(a)); });
                check("abs." + t + " %D, %A;", r, r, r, r,
                      [=](Bits a, Bits, Bits) { return static_cast<Bits>(v(a) < 0 ? -v(a) : v(a)); });
            }
        }
    check("add.sat.s32 %D, %A, %B;", "b32", "b32", "b32", "b32", [](Bits a, Bits b, Bits) {
        return static_cast<Bits>(std::clamp<Wide>(as_signed(a, 32) + as_signed(b, 32), INT32_MIN, INT32_MAX));
    });
    check("mul24.lo.s32 %D, %A, %B;", "b32", "b32", "b32", "b32", [](Bits a, Bits b, Bits) {
        return static_cast<Bits>((as_signed(a << 8, 32) / 256) * (as_signed(b << 8, 32) / 256));
    });
    check("mul24.hi.u32 %D, %A, %B;", "b32", "b32", "b32", "b32",
          [](Bits a, Bits b, Bits) { return ((a & 0xFFFFFF) * (b & 0xFFFFFF)) >> 16; });
}

TEST(Lanes, BitsAndShifts) {
    for (const int bits : {16, 32, 64}) {
        const std::string t = "b" + std::to_string(bits);
        check("and." + t + " %D, %A, %B;", t, t, t, t, [](Bits a, Bits b, Bits) { return a & b; });
        check("or." + t + " %D, %A, %B;", t, t, t, t, [](Bits a, Bits b, Bits) { return a | b; });
        check("xor." + t + " %D, %A, %B;", t, t, t, t, [](Bits a, Bits b, Bits) { return a ^ b; });
        check("not." + t + " %D, %A;", t, t, t, t, [](Bits a, Bits, Bits) { return ~a; });
        check("cnot." + t + " %D, %A;", t, t, t, t, [](Bits a, Bits, Bits) { return Bits{a == 0}; });
        check("shl." + t + " %D, %A, %B;", t, t, "b32", t,
              [=](Bits a, Bits n, Bits) { return n >= static_cast<Bits>(bits) ? 0 : a << n; });
    }
    for (const int bits : {32, 64}) {
        const std::string t = "b" + std::to_string(bits), n = std::to_string(bits);
        const auto bit = [=](Bits a, int k) { return k < bits ? a >> k & 1 : 0; };
        check("popc." + t + " %D, %A;", "b32", t, t, t, [=](Bits a, Bits, Bits) {
            Bits c = 0;
            for (int k = 0; k < bits; ++k) c += bit(a, k);
            return c;
        });
        check("clz." + t + " %D, %A;", "b32", t, t, t, [=](Bits a, Bits, Bits) {
            Bits c = 0;
            while (c < static_cast<Bits>(bits) && !bit(a, bits - 1 - static_cast<int>(c))) ++c;
            return c;
        });
        check("brev." + t + " %D, %A;", t, t, t, t, [=](Bits a, Bits, Bits) {
            Bits r = 0;
            for (int k = 0; k < bits; ++k) r |= bit(a, k) << (bits - 1 - k);
            return r;
        });
        for (const bool s : {false, true}) {
            // As the manual's loops say it, bit by bit.
            check("bfe." + std::string(s ? "s" : "u") + n + " %D, %A, %B, %C;", t, t, "b32", "b32",
                  [=](Bits a, Bits b, Bits c) {
                      const int pos = static_cast<int>(b & 0xFF), len = static_cast<int>(c & 0xFF),
                                msb = bits - 1;
                      const Bits sign = !s || len == 0 ? 0 : bit(a, std::min(pos + len - 1, msb));
                      Bits r = 0;
                      for (int k = 0; k <= msb; ++k)
                          r |= (k < len && pos + k <= msb ? bit(a, pos + k) : sign) << k;
                      return r;
                  });
            check("bfind." + std::string(s ? "s" : "u") + n + " %D, %A;", "b32", t, t, t,
                  [=](Bits a, Bits, Bits) {
                      if (s && bit(a, bits - 1)) a = ~a;
                      for (int k = bits - 1; k >= 0; --k)
                          if (bit(a, k)) return static_cast<Bits>(k);
                      return Bits{0xFFFF'FFFF};
                  });
        }
    }
    check("prmt.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", [](Bits a, Bits b, Bits c) {
        Bits r = 0;
        for (int k = 0; k < 4; ++k) {
            const Bits sel = c >> (4 * k) & 7,
                       byte = (sel < 4 ? a >> (8 * sel) : b >> (8 * (sel - 4))) & 0xFF;
            r |= ((c >> (4 * k) & 8) ? (byte & 0x80 ? 0xFFu : 0u) : byte) << (8 * k);
        }
        return r;
    });
    const auto shf = [](bool left, bool clamp) {
        return [=](Bits a, Bits b, Bits c) {
            const Bits n = clamp ? std::min<Bits>(c, 32) : c % 32;
            return left ? (n == 0    ? b
                           : n == 32 ? a
                                     : b << n | a >> (32 - n))
                        : (n == 0    ? a
                           : n == 32 ? b
                                     : b << (32 - n) | a >> n);
        };
    };
    check("shf.l.wrap.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", shf(true, false));
    check("shf.l.clamp.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", shf(true, true));
    check("shf.r.wrap.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", shf(false, false));
    check("shf.r.clamp.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", shf(false, true));
}

}  // namespace
}  // namespace tilescope::simt
