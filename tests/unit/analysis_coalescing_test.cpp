// Sectors of a request: closed forms, and a slow twin that counts every byte.
#include <random>

#include <gtest/gtest.h>

#include "core/analysis/coalescing.h"
#include "tests/twin/request.h"

namespace tilescope::analysis {
namespace {

using twin::Addresses, twin::strided;

SectorCost slow_cost(const Addresses& address, uint32_t mask, uint32_t bytes) {
    const twin::GlobalCost cost = twin::global_cost(address, mask, bytes);
    return {static_cast<uint32_t>(cost.sectors), static_cast<uint32_t>(cost.least),
            static_cast<uint32_t>(cost.lines)};
}

TEST(Coalescing, NeighboursNeedFourSectorsOfOneLine) {
    EXPECT_EQ(sector_cost(strided(0x1000, 4).data(), ~0u, 4), (SectorCost{4, 4, 1}));
}

TEST(Coalescing, NeighboursOffByOneElementNeedAFifthSector) {
    EXPECT_EQ(sector_cost(strided(0x1004, 4).data(), ~0u, 4), (SectorCost{5, 4, 2}));
}

TEST(Coalescing, ARowApartNeedsASectorALane) {
    EXPECT_EQ(sector_cost(strided(0x1000, 1024).data(), ~0u, 4), (SectorCost{32, 4, 32}));
}

TEST(Coalescing, OneElementForAllLanesIsOneSector) {
    EXPECT_EQ(sector_cost(strided(0x1000, 0).data(), ~0u, 4), (SectorCost{1, 1, 1}));
}

TEST(Coalescing, WiderAccessesOfNeighbours) {
    EXPECT_EQ(sector_cost(strided(0x1000, 8).data(), ~0u, 8), (SectorCost{8, 8, 2}));
    EXPECT_EQ(sector_cost(strided(0x1000, 16).data(), ~0u, 16), (SectorCost{16, 16, 4}));
}

TEST(Coalescing, EveryStrideByTheClosedForm) {
    // Lanes a stride of s words apart from an aligned start: the sectors are those of ceil(31 s / 8) + 1 up
    // to 8 words apart, one a lane from there on.
    for (uint64_t s = 1; s <= 64; ++s) {
        const uint32_t expected = s >= 8 ? 32 : static_cast<uint32_t>((31 * s) / 8 + 1);
        EXPECT_EQ(sector_cost(strided(0x2000, 4 * s).data(), ~0u, 4).sectors, expected) << s;
    }
}

TEST(Coalescing, NobodyActiveCostsNothing) {
    EXPECT_EQ(sector_cost(strided(0, 4).data(), 0, 4), SectorCost{});
}

TEST(Coalescing, AgreesWithMarkingEveryByte) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 3000; ++round) {
        Addresses a{};
        const uint64_t range = uint64_t{1} << (5 + random() % 10);
        const uint32_t bytes = 1u << random() % 5;
        const uint64_t grain = random() % 4 ? bytes : 1;
        for (uint64_t& x : a) x = 0x7000'0000'0000u + random() % range * grain;
        const auto mask = static_cast<uint32_t>(random() | 1);
        ASSERT_EQ(sector_cost(a.data(), mask, bytes), slow_cost(a, mask, bytes)) << "round " << round;
    }
}

}  // namespace
}  // namespace tilescope::analysis
