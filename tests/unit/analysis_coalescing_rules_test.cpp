// Coalescing by compute capability: the three patterns of figure F-1 of the CUDA C Programming Guide 4.2 by
// exact table, and twins that follow the rules' words byte by byte on random requests.
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/coalescing.h"
#include "core/analysis/coalescing_rules.h"
#include "tests/twin/request.h"

namespace tilescope::analysis {
namespace {

using twin::Addresses;
using Sizes = std::vector<std::pair<uint64_t, uint32_t>>;  // address, bytes

Addresses sequence(uint64_t first, uint64_t stride = 4) {
    Addresses a{};
    for (uint64_t lane = 0; lane < 32; ++lane) a[lane] = first + lane * stride;
    return a;
}

Sizes sizes(CoalescingRule rule, const Addresses& a, uint32_t mask = ~0u, uint32_t bytes = 4,
            bool store = false) {
    Sizes out;
    for (const Transaction& t : coalesce(rule, a.data(), mask, bytes, store).transactions)
        out.emplace_back(t.address, t.bytes);
    return out;
}

Sizes repeated(std::initializer_list<std::pair<uint64_t, int>> rows) {
    Sizes out;
    for (const auto& [address, count] : rows) out.insert(out.end(), count, {address, 32u});
    return out;
}

constexpr auto kStrict = CoalescingRule::HalfWarpStrict;
constexpr auto kSegments = CoalescingRule::HalfWarpSegments;
constexpr auto kLines = CoalescingRule::Lines;
constexpr auto kL2 = CoalescingRule::CachedInL2;
constexpr auto kSectors = CoalescingRule::Sectors;

TEST(CoalescingRules, EveryCapabilityHasItsRule) {
    EXPECT_EQ(coalescing_rule(1, 0), kStrict);
    EXPECT_EQ(coalescing_rule(1, 1), kStrict);
    EXPECT_EQ(coalescing_rule(1, 2), kSegments);
    EXPECT_EQ(coalescing_rule(1, 3), kSegments);
    EXPECT_EQ(coalescing_rule(2, 1), kLines);
    EXPECT_EQ(coalescing_rule(3, 7), kL2);
    for (const uint32_t major : {5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u})
        EXPECT_EQ(coalescing_rule(major, 0), kSectors);
}

TEST(CoalescingRules, AlignedAndInSequence) {
    const Addresses a = sequence(128);
    EXPECT_EQ(sizes(kStrict, a), (Sizes{{128, 64}, {192, 64}}));
    EXPECT_EQ(sizes(kSegments, a), (Sizes{{128, 64}, {192, 64}}));
    EXPECT_EQ(sizes(kLines, a), (Sizes{{128, 128}}));
    EXPECT_EQ(sizes(kSectors, a), (Sizes{{128, 32}, {160, 32}, {192, 32}, {224, 32}}));
}

TEST(CoalescingRules, AlignedAndOutOfSequence) {
    Addresses a = sequence(128);
    std::swap(a[3], a[4]);
    std::swap(a[20], a[21]);
    EXPECT_EQ(sizes(kStrict, a), repeated({{128, 8}, {160, 8}, {192, 8}, {224, 8}}));
    EXPECT_EQ(sizes(kSegments, a), (Sizes{{128, 64}, {192, 64}}));
    EXPECT_EQ(sizes(kLines, a), (Sizes{{128, 128}}));
}

TEST(CoalescingRules, MisalignedAndInSequence) {
    const Addresses a = sequence(132);
    EXPECT_EQ(sizes(kStrict, a), repeated({{128, 7}, {160, 8}, {192, 8}, {224, 8}, {256, 1}}));
    EXPECT_EQ(sizes(kSegments, a), (Sizes{{128, 128}, {192, 64}, {256, 32}}));
    EXPECT_EQ(sizes(kLines, a), (Sizes{{128, 128}, {256, 128}}));
    EXPECT_EQ(sizes(kL2, a), (Sizes{{128, 32}, {160, 32}, {192, 32}, {224, 32}, {256, 32}}));
}

TEST(CoalescingRules, MissingThreadsDoNotBreakOrder) {
    EXPECT_EQ(sizes(kStrict, sequence(128), 0x8001FFF0), (Sizes{{128, 64}, {192, 64}}));
    EXPECT_EQ(sizes(kStrict, sequence(128), 0x0000FFF0), (Sizes{{128, 64}}));
    EXPECT_EQ(sizes(kStrict, sequence(128), 0), Sizes{});
}

TEST(CoalescingRules, WiderWords) {
    EXPECT_EQ(sizes(kStrict, sequence(256, 8), ~0u, 8), (Sizes{{256, 128}, {384, 128}}));
    EXPECT_EQ(sizes(kStrict, sequence(512, 16), ~0u, 16),
              (Sizes{{512, 128}, {640, 128}, {768, 128}, {896, 128}}));
    EXPECT_EQ(sizes(kStrict, sequence(128, 2), ~0u, 2).size(), 32u);  // 2-byte words never coalesce
    EXPECT_EQ(sizes(kSegments, sequence(128, 2), ~0u, 2), (Sizes{{128, 32}, {160, 32}}));
    EXPECT_EQ(sizes(kLines, sequence(512, 16), ~0u, 16),
              (Sizes{{512, 128}, {640, 128}, {768, 128}, {896, 128}}));
}

TEST(CoalescingRules, AColumnAndABroadcast) {
    const Addresses column = sequence(0, 4096), one = sequence(64, 0);
    for (const auto& [rule, bytes] :
         {std::pair{kStrict, 32u}, {kSegments, 32u}, {kLines, 128u}, {kSectors, 32u}}) {
        const Coalesced all = coalesce(rule, column.data(), ~0u, 4, false);
        EXPECT_EQ(all.transactions.size(), 32u);
        EXPECT_EQ(all.moved, 32u * bytes);
        EXPECT_EQ(all.needed, 128u);
    }
    EXPECT_EQ(sizes(kStrict, one).size(), 32u);
    EXPECT_EQ(sizes(kSegments, one), (Sizes{{64, 32}, {64, 32}}));
    EXPECT_EQ(sizes(kLines, one), (Sizes{{0, 128}}));
    EXPECT_EQ(sizes(kLines, one, ~0u, 4, true), (Sizes{{64, 32}}));
    EXPECT_EQ(coalesce(kLines, one.data(), ~0u, 4, false).needed, 4u);
}

TEST(CoalescingRules, InWords) {
    EXPECT_EQ(
        in_words(coalesce(kSegments, sequence(132).data(), ~0u, 4, false)),
        "1 transaction of 128 bytes and 1 transaction of 64 bytes and 1 transaction of 32 bytes: 224 bytes "
        "moved for 128 needed");
}

// ---- twins ----------------------------------------------------------------------------------------------

// By the words of the guide: which of the words of one segment does each thread access?
Sizes strict_twin(const Addresses& a, uint32_t mask, uint32_t bytes) {
    Sizes out;
    for (uint32_t half = 0; half < 2; ++half) {
        const uint64_t span = 16ull * bytes;
        bool coalesced = false;
        uint64_t at = 0;
        for (uint32_t lane = 16 * half; lane < 16 * half + 16 && bytes >= 4; ++lane) {
            if (!(mask >> lane & 1) || a[lane] < (lane % 16) * uint64_t{bytes}) continue;
            at = a[lane] - (lane % 16) * uint64_t{bytes};
            coalesced = at % std::min<uint64_t>(span, 128) == 0;
            for (uint32_t other = 16 * half; other < 16 * half + 16; ++other)
                if (mask >> other & 1) coalesced &= a[other] == at + (other % 16) * uint64_t{bytes};
            break;
        }
        for (uint32_t lane = 16 * half; lane < 16 * half + 16; ++lane)
            if (!coalesced && mask >> lane & 1) out.emplace_back(a[lane] & ~uint64_t{31}, 32);
        for (uint64_t part = 0; coalesced && part < span; part += 128)
            out.emplace_back(at + part, static_cast<uint32_t>(std::min<uint64_t>(span, 128)));
    }
    return out;
}

Sizes segments_twin(const Addresses& a, uint32_t mask, uint32_t bytes) {
    Sizes out;
    for (uint32_t half = 0; half < 2; ++half) {
        std::set<uint32_t> active;
        for (uint32_t lane = 16 * half; lane < 16 * half + 16; ++lane)
            if (mask >> lane & 1) active.insert(lane);
        while (!active.empty()) {
            uint64_t size = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
            uint64_t first = a[*active.begin()] - a[*active.begin()] % size;
            std::set<uint64_t> used;
            std::set<uint32_t> rest;
            for (const uint32_t lane : active) {
                if (a[lane] - a[lane] % size != first) {
                    rest.insert(lane);
                    continue;
                }
                for (uint64_t byte = 0; byte < bytes; ++byte) used.insert(a[lane] + byte);
            }
            while (size > 32) {
                const bool lower = *used.begin() < first + size / 2,
                           upper = *used.rbegin() >= first + size / 2;
                if (lower && upper) break;
                size /= 2;
                if (upper) first += size;
            }
            out.emplace_back(first, static_cast<uint32_t>(size));
            active = rest;
        }
    }
    return out;
}

TEST(CoalescingRules, EqualTheirTwinsOnRandomRequests) {
    std::mt19937 engine(7);
    const auto random = [&](uint32_t below) { return static_cast<uint32_t>(engine() % below); };
    int coalesced = 0;
    for (int i = 0; i < 5000; ++i) {
        const uint32_t bytes = 1u << random(5);
        Addresses a{};
        const uint64_t start = 4096 + uint64_t{random(64)} * (random(2) ? bytes : 128);
        const uint64_t stride = uint64_t{bytes} * (random(3) ? 1 : random(5));
        for (uint32_t lane = 0; lane < 32; ++lane)
            a[lane] = random(200) ? start + lane * stride : start + uint64_t{bytes} * random(64);
        const uint32_t mask = random(2) ? ~0u : static_cast<uint32_t>(engine());
        const Sizes strict = sizes(kStrict, a, mask, bytes);
        coalesced += strict.size() <= 4;
        ASSERT_EQ(strict, strict_twin(a, mask, bytes)) << "request " << i;
        ASSERT_EQ(sizes(kSegments, a, mask, bytes), segments_twin(a, mask, bytes)) << "request " << i;
        const SectorCost cost = sector_cost(a.data(), mask, bytes);
        ASSERT_EQ(sizes(kSectors, a, mask, bytes).size(), cost.sectors);
        if (bytes <= 4) ASSERT_EQ(sizes(kLines, a, mask, bytes).size(), cost.lines);
        for (const CoalescingRule rule : {kStrict, kSegments, kLines, kL2, kSectors}) {
            uint32_t served = 0;
            for (const Transaction& t : coalesce(rule, a.data(), mask, bytes, false).transactions) {
                served |= t.lanes;
                for (uint32_t rest = t.lanes; rest; rest &= rest - 1) {
                    const uint64_t at = a[std::countr_zero(rest)];
                    ASSERT_GE(at, t.address);
                    ASSERT_LE(at + bytes, t.address + t.bytes);
                }
            }
            ASSERT_EQ(served, mask);
        }
    }
    EXPECT_GT(coalesced, 100);
}

}  // namespace
}  // namespace tilescope::analysis
