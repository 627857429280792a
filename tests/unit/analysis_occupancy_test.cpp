// Occupancy: closed forms, an obvious twin that adds blocks one by one, and the course's cases elsewhere
// (analysis_limit_presets_test.cpp).
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "core/limits/occupancy.h"
#include "tests/unit/analysis_sm.h"

namespace tilescope::analysis {
namespace {

// Adds a block after the other until something runs out, a warp at a time in its part of the SM.
uint32_t blocks_one_by_one(const SmLimits& sm, const BlockUse& use) {
    const uint32_t warps = (use.threads + sm.warp_size - 1) / sm.warp_size;
    uint32_t warp_registers = use.registers * sm.warp_size;
    while (warp_registers % sm.register_granularity) ++warp_registers;
    uint32_t shared = use.shared + sm.shared_reserved;
    while (shared % sm.shared_granularity) ++shared;
    std::vector<uint32_t> free_registers(sm.warp_granularity, sm.registers_per_sm / sm.warp_granularity);
    uint32_t warps_left = sm.warps_per_sm(), shared_left = sm.shared_per_sm, blocks = 0;
    for (; blocks < sm.blocks_per_sm; ++blocks) {
        if (warps > warps_left || shared > shared_left) return blocks;
        for (uint32_t w = 0; w < warps; ++w) {
            auto part = std::max_element(free_registers.begin(), free_registers.end());
            if (*part < warp_registers) return blocks;
            *part -= warp_registers;
        }
        warps_left -= warps;
        shared_left -= shared;
    }
    return blocks;
}

TEST(Occupancy, EqualsAddingBlocksOneByOne) {
    std::mt19937 engine(1);
    const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
    const SmLimits sms[] = {sm_2_0(), sm_8_6(), sm_9_0()};
    for (int i = 0; i < 20000; ++i) {
        const SmLimits& sm = sms[i % 3];
        BlockUse use;
        use.threads = 1 + random() % sm.threads_per_block;
        use.registers = random() % 3 ? random() % 64 : 0;
        use.shared = random() % 3 ? random() % (sm.shared_per_block_optin + 1) : 0;
        const Occupancy o = occupancy(sm, use, Sum::Hardware);
        if (o.fit[static_cast<size_t>(Limit::Registers)] == 0) continue;  // more than one block may have
        ASSERT_EQ(o.blocks, blocks_one_by_one(sm, use))
            << sm.capability() << ": " << use.threads << " threads, " << use.registers << " registers, "
            << use.shared << " bytes";
    }
}

TEST(Occupancy, TheLecturesSumIsFourDivisions) {
    const SmLimits sm = sm_8_6();
    const BlockUse use{.threads = 100, .registers = 33, .shared = 5000};
    const Occupancy o = occupancy(sm, use, Sum::Lecture);
    EXPECT_EQ(o.fit, (std::array<uint32_t, kLimits>{1536 / 100, 16, 65536 / 3300, 102400 / 5000}));
    EXPECT_EQ(o.blocks, 15u);
    EXPECT_EQ(o.threads, 1500u);
    EXPECT_EQ(limits_in_words(o), "limited by thread slots");
}

TEST(Occupancy, TheHardwareRoundsUp) {
    // 100 threads are 4 warps; 33 x 32 = 1,056 registers become 1,280; 5,000 + 1,024 bytes 6,144.
    const Occupancy o = occupancy(sm_8_6(), {.threads = 100, .registers = 33, .shared = 5000}, Sum::Hardware);
    EXPECT_EQ(o.warps_per_block, 4u);
    EXPECT_EQ(o.registers_per_block, 4u * 1280);
    EXPECT_EQ(o.shared_per_block, 6144u);
    EXPECT_EQ(o.fit, (std::array<uint32_t, kLimits>{12, 16, 16384 / 1280 * 4 / 4, 102400 / 6144}));
    EXPECT_EQ(o.blocks, 12u);
    EXPECT_EQ(o.warps, 48u);
    EXPECT_DOUBLE_EQ(o.share, 1.0);
    EXPECT_EQ(limits_in_words(o), "limited by thread slots and registers");
}

TEST(Occupancy, RegistersOfABlockOnTheFirstGpus) {
    // G80: five warps are handed out as six: 6 x 32 x 11 = 2,112, rounded up to 2,304.
    const Occupancy o = occupancy(sm_1_0(), {.threads = 160, .registers = 11}, Sum::Hardware);
    EXPECT_EQ(o.registers_per_block, 2304u);
    EXPECT_EQ(o.fit[static_cast<size_t>(Limit::Registers)], 3u);
    EXPECT_EQ(occupancy(sm_1_0(), {.threads = 160, .registers = 11}, Sum::Lecture)
                  .fit[static_cast<size_t>(Limit::Registers)],
              4u);
}

TEST(Occupancy, WhatDoesNotLaunchSaysWhy) {
    for (const Sum sum : {Sum::Lecture, Sum::Hardware}) {
        const auto refused = [&](const BlockUse& use) {
            const Occupancy o = occupancy(sm_8_6(), use, sum);
            EXPECT_EQ(o.blocks, 0u);
            EXPECT_EQ(o.share, 0);
            return o.refused;
        };
        EXPECT_NE(refused({.threads = 0}).find("at least one thread"), std::string::npos);
        EXPECT_NE(refused({.threads = 1025}).find("at most 1,024"), std::string::npos);
        EXPECT_NE(refused({.threads = 32, .registers = 256}).find("at most 255"), std::string::npos);
        EXPECT_NE(refused({.threads = 32, .shared = 99 * 1024 + 1}).find("at most 101,376"),
                  std::string::npos);
        EXPECT_NE(refused({.threads = 1024, .registers = 65}).find("registers do not fit"),
                  std::string::npos);
    }
}

TEST(Occupancy, ACarveoutSetsASizeOfSharedMemoryAside) {
    BlockUse use{.threads = 32, .shared = 7 * 1024};  // 8 KiB with what is reserved
    const auto fit = [&](int percent) {
        use.carveout = percent;
        return occupancy(sm_8_6(), use, Sum::Hardware).fit[static_cast<size_t>(Limit::Shared)];
    };
    EXPECT_EQ(fit(-1), 12u);  // 100 KiB
    EXPECT_EQ(fit(100), 12u);
    EXPECT_EQ(fit(50), 8u);  // 50 KiB become 64
    EXPECT_EQ(fit(0), 1u);   // what the block needs
}

TEST(Occupancy, CurvesPassThroughThePointAndShowTheCliff) {
    const SmLimits sm = sm_2_0();
    const BlockUse use{.threads = 256, .registers = 20, .shared = 2048};
    for (const Sum sum : {Sum::Lecture, Sum::Hardware}) {
        const auto threads = occupancy_curve(sm, use, Parameter::Threads, sum);
        ASSERT_EQ(threads.size(), 32u);
        EXPECT_EQ(threads[7].value, 256u);
        EXPECT_EQ(threads[7].blocks, occupancy(sm, use, sum).blocks);
        const auto registers = occupancy_curve(sm, use, Parameter::Registers, sum);
        ASSERT_EQ(registers.size(), 63u);
        EXPECT_EQ(registers[19].blocks, occupancy(sm, use, sum).blocks);
        for (size_t i = 1; i < registers.size(); ++i) EXPECT_LE(registers[i].blocks, registers[i - 1].blocks);
        const auto shared = occupancy_curve(sm, use, Parameter::Shared, sum);
        ASSERT_EQ(shared.size(), 97u);
        EXPECT_EQ(shared[4].value, 2048u);
        EXPECT_EQ(shared[4].blocks, occupancy(sm, use, sum).blocks);
        // 32,768 / 256 = 128 registers for a column of six blocks of 256 threads: 21 fit, 22 do not.
        const auto falls = cliffs(registers);
        ASSERT_FALSE(falls.empty());
        EXPECT_EQ(falls[0].before.threads, 1536u);
        EXPECT_EQ(falls[0].after.threads, 1280u);
        EXPECT_EQ(falls[0].before.value, sum == Sum::Lecture ? 21u : 20u);
    }
}

}  // namespace
}  // namespace tilescope::analysis
