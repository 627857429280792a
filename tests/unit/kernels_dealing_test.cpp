// Blocks dealt to SMs: closed forms, and a slow twin that looks at every SM at every time.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/limits/dealing.h"

namespace tilescope::analysis {
namespace {

// Time after time: what has ended leaves, then block after block goes to the SM with the most free slots.
std::vector<BlockRun> dealt_slowly(uint32_t sms, uint32_t slots, const std::vector<uint64_t>& lasts) {
    std::vector<BlockRun> made;
    std::vector<std::vector<uint64_t>> until(sms, std::vector<uint64_t>(slots, 0));  // 0: free
    for (uint64_t now = 0; made.size() < lasts.size(); ++now) {
        for (auto& sm : until)
            for (uint64_t& end : sm)
                if (end <= now) end = 0;
        while (made.size() < lasts.size()) {
            int64_t best = 0, on = -1;
            for (uint32_t sm = 0; sm < sms; ++sm)
                if (const auto free = std::ranges::count(until[sm], 0u); free > best) best = free, on = sm;
            if (on < 0) break;
            auto& sm = until[static_cast<size_t>(on)];
            const auto slot = std::ranges::find(sm, 0u);
            *slot = now + lasts[made.size()];
            made.push_back({static_cast<uint32_t>(on), static_cast<uint32_t>(slot - sm.begin()), now, *slot});
        }
    }
    return made;
}

TEST(Dealing, IsWhatASlowTwinDeals) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        const uint32_t sms = 1 + random() % 12, slots = 1 + random() % 6, blocks = random() % 120;
        const bool equal = random() % 4 == 0;
        std::vector<uint64_t> lasts;
        for (uint32_t block = 0; block < blocks; ++block) lasts.push_back(equal ? 5 : 1 + random() % 17);
        ASSERT_EQ(deal(blocks, sms, slots, [&](uint64_t block) { return lasts[block]; }),
                  dealt_slowly(sms, slots, lasts))
            << blocks << " blocks, " << sms << " SMs of " << slots << " slots";
    }
}

// 1,024 blocks on 132 SMs of 8 slots: all begin at once, 100 SMs get 8 and 32 get 7.
TEST(Dealing, OneWaveThatIsNotFull) {
    const auto runs = deal(1024, 132, 8, [](uint64_t) { return 3; });
    std::vector<uint32_t> of_sm(132, 0);
    for (uint64_t block = 0; block < runs.size(); ++block) {
        EXPECT_EQ(runs[block],
                  (BlockRun{static_cast<uint32_t>(block % 132), static_cast<uint32_t>(block / 132), 0, 3}));
        ++of_sm[runs[block].sm];
    }
    EXPECT_EQ(std::ranges::count(of_sm, 8u), 100);
    EXPECT_EQ(std::ranges::count(of_sm, 7u), 32);
}

// Of equal blocks a wave begins when the one before has ended; the last one is what is left.
TEST(Dealing, WavesOfEqualBlocks) {
    const auto runs = deal(1024, 132, 2, [](uint64_t) { return 10; });
    for (uint64_t block = 0; block < runs.size(); ++block) {
        EXPECT_EQ(runs[block].begin, block / 264 * 10);
        EXPECT_EQ(runs[block].sm, block % 264 % 132);
    }
    EXPECT_EQ(std::ranges::count(runs, 30u, &BlockRun::begin), 1024 - 3 * 264);
}

TEST(Dealing, FewBlocksHaveAnSmEach) {
    const auto runs = deal(16, 132, 32, [](uint64_t) { return 0; });
    for (uint32_t block = 0; block < 16; ++block) EXPECT_EQ(runs[block], (BlockRun{block, 0, 0, 1}));
    EXPECT_TRUE(deal(0, 132, 8, [](uint64_t) { return 1; }).empty());
    EXPECT_EQ(deal(3, 0, 0, [](uint64_t) { return 1; }).back(), (BlockRun{0, 0, 2, 3}));
}

}  // namespace
}  // namespace tilescope::analysis
