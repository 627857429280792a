// What requests to local and constant memory and atomics cost, against an obvious count.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/addresses.h"
#include "core/analysis/coalescing.h"
#include "tests/twin/request.h"

namespace tilescope::analysis {
namespace {

using twin::Addresses, twin::strided;

Addresses all_at(uint64_t address) { return strided(address, 0); }

TEST(LocalSectors, OneOffsetOfAllLanesIsCoalesced) {
    for (const uint64_t at : {0u, 4u, 400u}) {
        const SectorCost cost = local_sector_cost(all_at(at).data(), ~0u, 4);
        EXPECT_EQ(cost.sectors, 4u);
        EXPECT_EQ(cost.ideal_sectors, 4u);
        EXPECT_EQ(cost.lines, 1u);
    }
    EXPECT_EQ(local_sector_cost(all_at(16).data(), ~0u, 16).sectors, 16u);
    EXPECT_EQ(local_sector_cost(all_at(16).data(), ~0u, 16).ideal_sectors, 16u);
    // A byte of each word: the other three of it are moved as well.
    EXPECT_EQ(local_sector_cost(all_at(5).data(), ~0u, 1).sectors, 4u);
    EXPECT_EQ(local_sector_cost(all_at(5).data(), ~0u, 1).ideal_sectors, 1u);
    EXPECT_EQ(local_sector_cost(all_at(5).data(), 1u << 9, 1).sectors, 1u);
}

TEST(LocalSectors, OffsetsOfTheirOwnCostASectorALane) {
    const Addresses own = strided(0, 4);
    EXPECT_EQ(local_sector_cost(own.data(), ~0u, 4).sectors, 32u);
    EXPECT_EQ(local_sector_cost(own.data(), ~0u, 4).ideal_sectors, 4u);
}

// Every byte of a lane's memory by its place among the warp's words.
TEST(LocalSectors, AreThoseOfTheInterleavedWords) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        const uint32_t bytes = 1u << random() % 5, mask = static_cast<uint32_t>(random() | 1);
        Addresses address;
        for (uint64_t& a : address) a = random() % 16 * bytes;
        std::set<uint64_t> sectors, lines;
        for (uint64_t lane = 0; lane < 32; ++lane)
            for (uint64_t byte = address[lane]; (mask >> lane & 1) != 0 && byte < address[lane] + bytes;
                 ++byte) {
                const uint64_t physical = (byte / 4 * 32 + lane) * 4 + byte % 4;
                sectors.insert(physical / 32), lines.insert(physical / 128);
            }
        const SectorCost cost = local_sector_cost(address.data(), mask, bytes);
        ASSERT_EQ(cost.sectors, sectors.size());
        ASSERT_EQ(cost.lines, lines.size());
        ASSERT_LE(cost.ideal_sectors, cost.sectors);
    }
}

TEST(Addresses, AreCountedAndTheWorstIsFound) {
    EXPECT_EQ(address_cost(all_at(12).data(), ~0u), (AddressCost{1, 32}));
    EXPECT_EQ(address_cost(all_at(12).data(), 1u << 31), (AddressCost{1, 1}));
    Addresses three;
    for (uint64_t lane = 0; lane < 32; ++lane) three[lane] = lane < 17 ? 100 : lane < 25 ? 4 : 8;
    EXPECT_EQ(address_cost(three.data(), ~0u), (AddressCost{3, 17}));
    EXPECT_EQ(address_cost(three.data(), ~0u << 25), (AddressCost{1, 7}));
}

TEST(AtomicSectors, CountAsOftenAsTheirMostHitWord) {
    EXPECT_EQ(atomic_sectors(all_at(12).data(), ~0u), 32u);
    EXPECT_EQ(atomic_sectors(all_at(12).data(), 1u << 31), 1u);
    EXPECT_EQ(atomic_sectors(strided(256, 4).data(), ~0u), 4u);
    EXPECT_EQ(atomic_sectors(strided(256, 8).data(), ~0u), 8u);
    Addresses two;
    for (uint64_t lane = 0; lane < 32; ++lane) two[lane] = lane % 2 * 32;
    EXPECT_EQ(atomic_sectors(two.data(), ~0u), 32u);
}

// Turn by turn: each takes one lane of every word that still has one, and asks for the sectors of these
// words.
TEST(AtomicSectors, AreThoseOfTheTurns) {
    std::mt19937 random(11);
    for (int round = 0; round < 500; ++round) {
        const uint32_t mask = static_cast<uint32_t>(random() | 1),
                       words = 1 + static_cast<uint32_t>(random() % 40);
        Addresses address;
        for (uint64_t& a : address) a = random() % words * 4;
        uint32_t sectors = 0;
        for (uint32_t left = mask; left != 0;) {
            std::set<uint64_t> in_turn, asked;
            for (uint32_t lane = 0; lane < 32; ++lane)
                if ((left >> lane & 1) != 0 && in_turn.insert(address[lane]).second) {
                    left &= ~(1u << lane);
                    asked.insert(address[lane] / kSectorBytes);
                }
            sectors += static_cast<uint32_t>(asked.size());
        }
        ASSERT_EQ(atomic_sectors(address.data(), mask), sectors);
    }
}

}  // namespace
}  // namespace tilescope::analysis
