// Wavefronts of a request to shared memory: closed forms, and a slow twin. analysis_hardware_test.cpp
// holds the same model against a GPU's counters.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "core/analysis/banks.h"
#include "tests/twin/request.h"

namespace tilescope::analysis {
namespace {

using twin::Addresses, twin::strided;

TEST(Banks, AStrideOfSWordsIsGcdWays) {
    for (uint64_t s = 1; s <= 128; ++s) {
        const auto ways = static_cast<uint32_t>(std::gcd(s, uint64_t{32}));
        const BankCost cost = bank_cost(strided(64, 4 * s).data(), ~0u, 4);
        EXPECT_EQ(cost, (BankCost{ways, 1})) << s;
        EXPECT_EQ(cost.conflicts(), ways - 1) << s;
        const auto words = words_per_bank(strided(64, 4 * s).data(), ~0u, 4);
        for (const uint8_t count : words) EXPECT_TRUE(count == 0 || count == ways) << s;
        EXPECT_EQ(std::accumulate(words.begin(), words.end(), 0), 32) << s;
    }
}

TEST(Banks, ABroadcastIsFree) {
    EXPECT_EQ(bank_cost(strided(40, 0).data(), ~0u, 4), (BankCost{1, 1}));
    EXPECT_EQ(bank_cost(strided(40, 0).data(), ~0u, 8, false), (BankCost{1, 1}));
}

TEST(Banks, BytesOfOneWordShareIt) {
    EXPECT_EQ(bank_cost(strided(0, 1).data(), ~0u, 1), (BankCost{1, 1}));
    EXPECT_EQ(bank_cost(strided(0, 2).data(), ~0u, 2), (BankCost{1, 1}));
}

TEST(Banks, NeighboursOfWideAccesses) {
    for (const bool store : {false, true}) {
        EXPECT_EQ(bank_cost(strided(0, 8).data(), ~0u, 8, store), (BankCost{2, 2}));
        EXPECT_EQ(bank_cost(strided(0, 16).data(), ~0u, 16, store), (BankCost{4, 4}));
    }
}

TEST(Banks, WideLoadsOfEqualPairsAreServedInDoubledGroups) {
    Addresses pairs{};
    for (uint64_t lane = 0; lane < 32; ++lane) pairs[lane] = lane / 2 * 8;
    EXPECT_EQ(bank_cost(pairs.data(), ~0u, 8, false), (BankCost{1, 1}));
    EXPECT_EQ(bank_cost(pairs.data(), ~0u, 8, true), (BankCost{2, 2}));
}

TEST(Banks, APaddedRowHasNoConflict) {
    EXPECT_EQ(bank_cost(strided(0, 32 * 4).data(), ~0u, 4).wavefronts, 32u);  // a column of 32 x 32
    EXPECT_EQ(bank_cost(strided(0, 33 * 4).data(), ~0u, 4).wavefronts, 1u);   // a column of 32 x 33
}

TEST(Banks, NobodyActiveAndUnknownWidthsCostNothing) {
    EXPECT_EQ(bank_cost(strided(0, 4).data(), 0, 4), BankCost{});
    EXPECT_EQ(bank_cost(strided(0, 4).data(), ~0u, 0), BankCost{});
    EXPECT_EQ(bank_cost(strided(0, 4).data(), ~0u, 33), BankCost{});
}

TEST(Banks, AgreesWithCountingEveryByte) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 3000; ++round) {
        Addresses a{};
        const uint32_t bytes = 1u << random() % 5;
        const uint64_t range = uint64_t{1} << (2 + random() % 9);
        for (uint64_t& x : a) x = random() % range * bytes;
        if (round % 3 == 0)
            for (int lane = 1; lane < 32; lane += 2) a[lane] = a[lane - 1];
        const auto mask = static_cast<uint32_t>(random());
        const bool store = random() % 2;

        const twin::SharedCost cost = twin::shared_cost(a, mask, bytes, !store);
        ASSERT_EQ(bank_cost(a.data(), mask, bytes, store),
                  (BankCost{static_cast<uint32_t>(cost.wavefronts), static_cast<uint32_t>(cost.least)}))
            << "round " << round;
        const LaneGroups groups(a.data(), mask, bytes, store);
        std::vector<uint64_t> stacks;
        for (const uint32_t lanes : groups.masks()) {
            const auto words = words_per_bank(a.data(), lanes, bytes);
            stacks.push_back(*std::max_element(words.begin(), words.end()));
        }
        ASSERT_EQ(stacks, cost.stacks) << "round " << round;
        ASSERT_EQ(words_per_bank(a.data(), mask, bytes), twin::words_of_banks(a, mask, bytes))
            << "round " << round;
    }
}

}  // namespace
}  // namespace tilescope::analysis
