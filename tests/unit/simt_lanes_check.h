// For tests: every lane function against a slow scalar twin, on special and random values, under full and
// partial masks, in every version that this processor runs: all must give the same bits.
//
// The twins are written another way than the lane functions: integers in 128 bits, floats in wider
// formats or by their bits.
#pragma once

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/simt/lanes.h"

namespace tilescope::simt::test {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;
using Bits = uint64_t;

inline std::vector<Bits> specials(int bytes) {
    std::vector<Bits> v = {0,
                           1,
                           2,
                           3,
                           5,
                           7,
                           8,
                           15,
                           16,
                           17,
                           24,
                           31,
                           32,
                           33,
                           63,
                           64,
                           65,
                           127,
                           128,
                           255,
                           256,
                           257,
                           32767,
                           32768,
                           65535,
                           ~Bits{0},
                           ~Bits{0} - 1,
                           ~Bits{0} - 31,
                           0x7FFF'FFFF,
                           0x8000'0000,
                           0x8000'0001,
                           0xFFFF'FFFF,
                           0x0001'0000,
                           0x1234'5678};
    for (const float f : {1.0f,
                          -1.0f,
                          0.5f,
                          1.5f,
                          2.5f,
                          -2.5f,
                          -0.0f,
                          3.1415927f,
                          16777216.0f,
                          2147483648.0f,
                          -2147483904.0f,
                          4294967296.0f,
                          9.2233720e18f,
                          1.8446744e19f,
                          1e-45f,
                          -1e-40f,
                          1.17549435e-38f,
                          3.4028235e38f,
                          INFINITY,
                          -INFINITY,
                          NAN,
                          -NAN,
                          255.5f,
                          -128.5f})
        v.push_back(bytes == 8 ? std::bit_cast<Bits>(static_cast<double>(f)) : std::bit_cast<uint32_t>(f));
    if (bytes == 4) v.push_back(0x7F80'0001), v.push_back(0xFFC1'2345);
    if (bytes == 8)
        for (const Bits b :
             {0x7FFF'FFFF'FFFF'FFFFull, 0x8000'0000'0000'0000ull, 0x8000'0000'0000'0001ull,
              0x43EF'FFFF'FFFF'FFFFull, 0x1ull << 52, 0x7FF0'0000'0000'0001ull, 0x0123'4567'89AB'CDEFull})
            v.push_back(b);
    const Bits keep = bytes == 8 ? ~Bits{0} : (Bits{1} << (8 * bytes)) - 1;
    for (Bits& x : v) x &= keep;
    return v;
}

struct alignas(64) Column {
    std::byte bytes[256];
    void set(int width, int lane, Bits x) {
        if (width == 8)
            reinterpret_cast<uint64_t*>(bytes)[lane] = x;
        else
            reinterpret_cast<uint32_t*>(bytes)[lane] = static_cast<uint32_t>(x);
    }
    Bits get(int width, int lane) const {
        return width == 8 ? reinterpret_cast<const uint64_t*>(bytes)[lane]
                          : reinterpret_cast<const uint32_t*>(bytes)[lane];
    }
};

// Parses one instruction over %D (destination) and %A, %B, %C of the given register types.
inline ptx::Instruction instruction_of(const std::string& line, const std::string& d, const std::string& a,
                                       const std::string& b, const std::string& c) {
    const std::string text = R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
.reg .)ptx" + d + " %D;\n.reg ." +
                             a + " %A;\n.reg ." + b + " %B;\n.reg ." + c + " %C;\n" + line + "\nret;\n}\n";
    const auto module = ptx::parse(text, line);
    if (!module) throw std::runtime_error(module.error().message);
    return module->kernels[0].instructions[0];
}

using Twin = std::function<Bits(Bits, Bits, Bits)>;

// `line` computes %D from %A, %B, %C. widths of columns in bytes (0 for a predicate word).
inline void check(const std::string& line, const std::string& d, const std::string& a, const std::string& b,
                  const std::string& c, const Twin& twin) {
    SCOPED_TRACE(line);
    const auto bytes_of = [](const std::string& t) {
        return t == "pred" ? 0 : t.ends_with("64") ? 8 : t.ends_with("16") ? 2 : 4;
    };
    const auto slot = [](int bytes) { return bytes == 8 ? 8 : 4; };
    const ptx::Instruction i = instruction_of(line, d, a, b, c);
    const int db = bytes_of(d), ab = bytes_of(a), bb = bytes_of(b), cb = bytes_of(c);
    std::mt19937_64 random(42);
    const auto va = specials(ab ? ab : 4), vb = specials(bb ? bb : 4), vc = specials(cb ? cb : 4);
    const auto keep = [](int bytes) {
        return bytes == 8 ? ~Bits{0} : bytes == 0 ? ~Bits{0} : (Bits{1} << (8 * bytes)) - 1;
    };
    std::vector<std::array<Bits, 3>> cases;
    for (const Bits x : va)
        for (const Bits y : vb) cases.push_back({x, y, vc[random() % vc.size()]});
    for (int n = 0; n < 320; ++n)
        cases.push_back({random() & keep(ab), random() & keep(bb), random() & keep(cb)});
    while (cases.size() % 32) cases.push_back(cases[0]);
    for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
        if (!supported(version)) continue;
        const LaneOp op = find_lane_op(i, version);
        ASSERT_TRUE(op);
        for (size_t at = 0; at < cases.size(); at += 32) {
            const uint32_t mask = at % 64 ? static_cast<uint32_t>(random()) : ~0u;
            Column A{}, B{}, C{}, D{}, E{};
            for (int l = 0; l < 32; ++l) {
                const auto& k = cases[at + static_cast<size_t>(l)];
                A.set(slot(ab), l, k[0]), B.set(slot(bb), l, k[1]), C.set(slot(cb), l, k[2]);
                D.set(slot(db), l, 0x5A5A'5A5A);
            }
            (mask == ~0u ? op.full : op.partial)(D.bytes, E.bytes, A.bytes, B.bytes, C.bytes, mask);
            for (int l = 0; l < 32; ++l) {
                const auto& k = cases[at + static_cast<size_t>(l)];
                const Bits want = (mask >> l & 1) ? twin(k[0], k[1], k[2]) & keep(db) : 0x5A5A'5A5A;
                const Bits got = db ? D.get(slot(db), l) : ((D.get(4, 0) ^ (0x5A5A'5A5Au & ~mask)) >> l & 1);
                const Bits expected = db ? want : ((mask >> l & 1) ? want & 1 : 0);
                ASSERT_EQ(got, expected) << std::hex << "version " << static_cast<int>(version) << " a "
                                         << k[0] << " b " << k[1] << " c " << k[2] << " mask " << mask;
            }
        }
    }
}

inline Wide as_signed(Bits x, int bits) {
    return bits == 64   ? Wide{static_cast<int64_t>(x)}
           : bits == 32 ? Wide{static_cast<int32_t>(x)}
           : bits == 16 ? Wide{static_cast<int16_t>(x)}
                        : Wide{static_cast<int8_t>(x)};
}
inline Wide as_unsigned(Bits x, int bits) { return bits == 64 ? Wide{x} : Wide{x & ((Bits{1} << bits) - 1)}; }
inline float f(Bits x) { return std::bit_cast<float>(static_cast<uint32_t>(x)); }
inline double g(Bits x) { return std::bit_cast<double>(x); }
inline Bits bits_of(float x) { return std::isnan(x) ? 0x7FFF'FFFFu : std::bit_cast<uint32_t>(x); }
inline bool is_subnormal(Bits x) { return (x & 0x7F80'0000) == 0; }
inline Bits flush(Bits x) { return is_subnormal(x) ? x & 0x8000'0000 : x; }

}  // namespace tilescope::simt::test
