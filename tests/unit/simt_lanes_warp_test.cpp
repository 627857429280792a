// What lanes of a warp tell one another (vote, match, redux, shfl) against twins that ask lane by lane; and
// the integer instructions on bit fields, bytes and carries.
#include <algorithm>
#include <array>
#include <vector>

#include "core/simt/lanes_memory.h"
#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;

// One warp's operands, random; the members are teams of lanes that name one another.
struct Lanes {
    std::array<uint64_t, 32> a{};
    std::array<uint32_t, 32> b{}, c{}, member{};
    uint32_t mask = ~0u, predicate = 0;
};

Lanes random_lanes(std::mt19937_64& random, int values) {
    Lanes l;
    const int teams = 1 << random() % 4;
    const bool interleaved = random() & 1;
    for (uint32_t i = 0; i < 32; ++i) {
        l.a[i] =
            values ? random() % static_cast<uint64_t>(values) + (random() & 1) * 0x1'0000'0000u : random();
        l.b[i] = static_cast<uint32_t>(random() % 3 ? random() % 40 : random());
        l.c[i] =
            static_cast<uint32_t>(random() % 3 ? (32u - (1u << random() % 6)) << 8 | 31 : random() & 0x1F1F);
    }
    for (uint32_t i = 0; i < 32; ++i)
        for (uint32_t k = 0; k < 32; ++k) {
            const uint32_t n = static_cast<uint32_t>(teams);
            const bool together = interleaved ? i % n == k % n : i / (32 / n) == k / (32 / n);
            l.member[i] |= together ? 1u << k : 0u;
        }
    if (random() & 1) l.mask = static_cast<uint32_t>(random()) | 1;
    l.predicate = static_cast<uint32_t>(random() & random());
    if (random() % 4 == 0) l.predicate = random() & 1 ? ~0u : 0u;
    return l;
}

struct Told {
    std::array<uint32_t, 32> d{};
    uint32_t predicate = 0;
    bool operator==(const Told&) const = default;
};

// d and e begin as `old`; sources a (or a predicate), b, c.
Told tell(const std::string& line, const Lanes& l, const Told& old, bool wide, bool votes, bool to_predicate,
          LaneVersion version) {
    const std::string type = wide ? "b64" : "b32";
    const std::string text =
        R"ptx(.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
.reg .b32 %D, %B, %C;
.reg .)ptx" +
        type + " %A;\n.reg .pred %P, %Q;\n" + line + "\nret;\n}\n";
    const auto module = ptx::parse(text, line);
    if (!module) throw std::runtime_error(module.error().message);
    const LaneOp op = find_lane_op(module->kernels[0].instructions[0], version);
    if (!op) throw std::runtime_error("no lane function for " + line);
    Column A{}, B{}, C{}, D{}, E{};
    for (int i = 0; i < 32; ++i) {
        const size_t n = static_cast<size_t>(i);
        if (!votes) A.set(wide ? 8 : 4, i, l.a[n]);
        B.set(4, i, line.starts_with("shfl") ? l.b[n] : l.member[n]);
        C.set(4, i, l.c[n]);
        if (!to_predicate) D.set(4, i, old.d[n]);
    }
    if (votes) A.set(4, 0, l.predicate);
    (to_predicate ? D : E).set(4, 0, old.predicate);
    (l.mask == ~0u ? op.full : op.partial)(D.bytes, E.bytes, A.bytes, B.bytes, C.bytes, l.mask);
    Told told = old;
    for (int i = 0; i < 32 && !to_predicate; ++i)
        told.d[static_cast<size_t>(i)] = static_cast<uint32_t>(D.get(4, i));
    told.predicate = static_cast<uint32_t>((to_predicate ? D : E).get(4, 0));
    return told;
}

// What one lane of the mask is told: its d, and its bit of the predicate.
struct Answer {
    uint32_t d = 0;
    bool predicate = false;
};
using AnswerOf = std::function<Answer(const Lanes&, uint32_t lane)>;

void check_warp(const std::string& line, const AnswerOf& answer, bool wide = false, bool votes = false,
                bool to_predicate = false, bool keeps_predicate = false) {
    std::mt19937_64 random(11);
    for (int n = 0; n < 400; ++n) {
        const Lanes l = random_lanes(random, n % 3 ? 1 << n % 5 : 0);
        Told old;
        for (uint32_t& d : old.d) d = static_cast<uint32_t>(random());
        old.predicate = static_cast<uint32_t>(random());
        Told want = old;
        for (uint32_t i = 0; i < 32; ++i) {
            if (!(l.mask >> i & 1)) continue;
            const Answer told = answer(l, i);
            if (!to_predicate) want.d[i] = told.d;
            if (!keeps_predicate)
                want.predicate = (want.predicate & ~(1u << i)) | uint32_t{told.predicate} << i;
        }
        for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2})
            if (supported(version)) {
                ASSERT_EQ(tell(line, l, old, wide, votes, to_predicate, version), want)
                    << line << " case " << n;
            }
    }
}

uint32_t team_of(const Lanes& l, uint32_t lane) { return l.member[lane] & l.mask; }

TEST(LanesWarp, Votes) {
    const auto yes = [](const Lanes& l, uint32_t i) { return l.predicate & team_of(l, i); };
    check_warp(
        "vote.sync.ballot.b32 %D, %P, %B;",
        [=](const Lanes& l, uint32_t i) {
            return Answer{yes(l, i), false};
        },
        false, true, false, true);
    check_warp(
        "vote.sync.all.pred %Q, %P, %B;",
        [=](const Lanes& l, uint32_t i) {
            return Answer{0, yes(l, i) == team_of(l, i)};
        },
        false, true, true);
    check_warp(
        "vote.sync.any.pred %Q, %P, %B;",
        [=](const Lanes& l, uint32_t i) {
            return Answer{0, yes(l, i) != 0};
        },
        false, true, true);
    check_warp(
        "vote.sync.uni.pred %Q, %P, %B;",
        [=](const Lanes& l, uint32_t i) {
            return Answer{0, yes(l, i) == 0 || yes(l, i) == team_of(l, i)};
        },
        false, true, true);
}

TEST(LanesWarp, Matches) {
    for (const bool wide : {false, true}) {
        const auto equals = [wide](const Lanes& l, uint32_t i) {
            uint32_t same = 0;
            for (uint32_t k = 0; k < 32; ++k) {
                const bool equal =
                    wide ? l.a[i] == l.a[k] : static_cast<uint32_t>(l.a[i]) == static_cast<uint32_t>(l.a[k]);
                if (equal && (team_of(l, i) >> k & 1)) same |= 1u << k;
            }
            return same;
        };
        const std::string type = wide ? "b64" : "b32";
        check_warp(
            "match.any.sync." + type + " %D, %A, %B;",
            [=](const Lanes& l, uint32_t i) {
                return Answer{equals(l, i), false};
            },
            wide, false, false, true);
        check_warp(
            "match.all.sync." + type + " %D|%P, %A, %B;",
            [=](const Lanes& l, uint32_t i) {
                const bool all = equals(l, i) == team_of(l, i);
                return Answer{all ? team_of(l, i) : 0, all};
            },
            wide);
    }
}

TEST(LanesWarp, Reductions) {
    const auto over = [](const Lanes& l, uint32_t i, const std::function<int64_t(int64_t, int64_t)>& fn,
                         bool s) {
        bool first = true;
        int64_t r = 0;
        for (uint32_t k = 0; k < 32; ++k) {
            if (!(team_of(l, i) >> k & 1)) continue;
            const int64_t x =
                s ? int64_t{static_cast<int32_t>(l.a[k])} : int64_t{static_cast<uint32_t>(l.a[k])};
            r = first ? x : fn(r, x);
            first = false;
        }
        return Answer{static_cast<uint32_t>(r), false};
    };
    const struct {
        const char* name;
        bool s;
        std::function<int64_t(int64_t, int64_t)> fn;
    } rows[] = {{"add.u32", false, [](int64_t a, int64_t b) { return a + b; }},
                {"add.s32", true, [](int64_t a, int64_t b) { return a + b; }},
                {"min.u32", false, [](int64_t a, int64_t b) { return std::min(a, b); }},
                {"min.s32", true, [](int64_t a, int64_t b) { return std::min(a, b); }},
                {"max.u32", false, [](int64_t a, int64_t b) { return std::max(a, b); }},
                {"max.s32", true, [](int64_t a, int64_t b) { return std::max(a, b); }},
                {"and.b32", false, [](int64_t a, int64_t b) { return a & b; }},
                {"or.b32", false, [](int64_t a, int64_t b) { return a | b; }},
                {"xor.b32", false, [](int64_t a, int64_t b) { return a ^ b; }}};
    for (const auto& row : rows)
        check_warp(
            std::string("redux.sync.") + row.name + " %D, %A, %B;",
            [&](const Lanes& l, uint32_t i) { return over(l, i, row.fn, row.s); }, false, false, false, true);
}

// The manual's own steps, for one lane.
TEST(LanesWarp, ShufflesWithAnyClampAndSegments) {
    for (const std::string mode : {"up", "down", "bfly", "idx"})
        check_warp("shfl.sync." + mode + ".b32 %D|%P, %A, %B, %C, -1;", [&](const Lanes& l, uint32_t i) {
            const int lane = static_cast<int>(i), b = static_cast<int>(l.b[i] % 32),
                      clamp = static_cast<int>(l.c[i] % 32), segment = static_cast<int>(l.c[i] / 256 % 32);
            const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
            const int from = mode == "up"     ? lane - b
                             : mode == "down" ? lane + b
                             : mode == "bfly" ? lane ^ b
                                              : least | (b & ~segment);
            const bool inside = mode == "up" ? from >= most : from <= most;
            return Answer{static_cast<uint32_t>(l.a[static_cast<size_t>(inside ? from : lane)]), inside};
        });
}

TEST(LanesWarp, FieldsAndBytes) {
    const auto bit = [](Bits x, Wide at) -> Bits {
        return at >= 0 && at < 32 ? x >> static_cast<int>(at) & 1 : 0;
    };
    for (const bool clamp : {true, false}) {
        const auto width = [=](Bits b) -> int {
            return static_cast<int>(clamp ? std::min<Bits>(b, 32) : b % 32);
        };
        const std::string mode = clamp ? "clamp" : "wrap";
        for (const bool s : {true, false})
            check("szext." + mode + (s ? ".s32" : ".u32") + " %D, %A, %B;", "b32", "b32", "b32", "b32",
                  [=](Bits a, Bits b, Bits) {
                      Bits r = 0;
                      const int n = width(b);
                      for (int k = 0; k < 32; ++k)
                          r |= (k < n ? bit(a, k) : s && n > 0 ? bit(a, n - 1) : 0) << k;
                      return r;
                  });
        check("bmsk." + mode + ".b32 %D, %A, %B;", "b32", "b32", "b32", "b32", [=](Bits a, Bits b, Bits) {
            Bits r = 0;
            const Bits from = clamp ? a : a % 32;
            for (Bits k = 0; k < 32; ++k) r |= Bits{k >= from && k - from < static_cast<Bits>(width(b))} << k;
            return r;
        });
    }
    check("fns.b32 %D, %A, %B, %C;", "b32", "b32", "b32", "b32", [=](Bits a, Bits base, Bits c) -> Bits {
        const Wide n = as_signed(c, 32);
        std::vector<Bits> set;  // from base on, in the direction of n
        if (base < 32)
            for (Wide at = static_cast<Wide>(base); at >= 0 && at < 32; at += n < 0 ? -1 : 1)
                if (bit(a, at)) set.push_back(static_cast<Bits>(at));
        if (n == 0) return !set.empty() && set[0] == base ? base : ~Bits{0};
        const Wide wanted = (n < 0 ? -n : n) - 1;
        return wanted < static_cast<Wide>(set.size()) ? set[static_cast<size_t>(wanted)] : ~Bits{0};
    });
    for (const bool sa : {false, true})
        for (const bool sb : {false, true}) {
            const std::string types =
                std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32") + " %D, %A, %B, %C;";
            const auto part = [](Bits x, int bits, int at, bool s) {
                const Bits shifted = (x >> (bits * at)) & ((Bits{1} << bits) - 1);
                return s ? as_signed(shifted, bits) : as_unsigned(shifted, bits);
            };
            check("dp4a" + types, "b32", "b32", "b32", "b32", [=](Bits a, Bits b, Bits c) {
                Wide sum = static_cast<Wide>(c);
                for (int k = 0; k < 4; ++k) sum += part(a, 8, k, sa) * part(b, 8, k, sb);
                return static_cast<Bits>(sum) & 0xFFFF'FFFF;
            });
            for (const bool high : {false, true})
                check((high ? "dp2a.hi" : "dp2a.lo") + types, "b32", "b32", "b32", "b32",
                      [=](Bits a, Bits b, Bits c) {
                          Wide sum = static_cast<Wide>(c);
                          for (int k = 0; k < 2; ++k)
                              sum += part(a, 16, k, sa) * part(b, 8, k + 2 * high, sb);
                          return static_cast<Bits>(sum) & 0xFFFF'FFFF;
                      });
        }
}

// Addresses around an array, some outside, and some that wrap round the end of the 64 bits.
TEST(LanesMemory, AddressesAreFoundOrLieOutside) {
    std::mt19937_64 random(5);
    std::array<std::byte, 4096> array{};
    const uint64_t base = 0x7000, most = 1000;
    for (int n = 0; n < 300; ++n) {
        const uint32_t mask = n % 2 ? ~0u : static_cast<uint32_t>(random());
        const uint64_t offset = n % 3 ? uint64_t{0} - 8 : 24, stride = n % 5 ? 0 : 16;
        alignas(64) std::array<uint64_t, 32> column{}, address{};
        std::array<std::byte*, 32> host{};
        for (uint64_t& at : column) {
            at = base + random() % (n % 4 ? 900 : 1100) - offset;
            if (n % 7 == 0 && random() % 30 == 0) at = random();
        }
        for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
            if (!supported(version)) continue;
            const MemoryLanes& lanes = memory_lanes(version);
            lanes.displace(address.data(), column.data(), offset);
            const uint64_t bits = lanes.bits(address.data(), mask);
            const uint32_t outside =
                lanes.locate(host.data(), address.data(), base, most, array.data(), stride, mask);
            uint64_t want_bits = 0;
            for (uint32_t l = 0; l < 32; ++l) {
                const uint64_t at = column[l] + offset;
                ASSERT_EQ(address[l], at);
                const bool active = mask >> l & 1, inside = at >= base && at <= base + most;
                if (active) want_bits |= at;
                ASSERT_EQ(outside >> l & 1, active && !inside) << "case " << n << " lane " << l;
                if (inside)
                    ASSERT_EQ(host[l] - array.data(), static_cast<std::ptrdiff_t>(at - base + stride * l));
            }
            ASSERT_EQ(bits, want_bits);
        }
    }
}

}  // namespace
}  // namespace tilescope::simt
