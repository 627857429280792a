// The lectures' cases of what limits an SM, each by its own sum.
#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "core/analysis/limit_presets.h"
#include "kernels/textbook/devices.h"

namespace tilescope::analysis {
namespace {

PresetAnswer answered(const char* id) {
    const LimitPreset* const preset = find_limit_preset(id);
    EXPECT_TRUE(preset) << id;
    if (!preset) return {};
    auto a = answer(*preset, kernels::devices());
    EXPECT_TRUE(a) << a.error().message;
    return *a;
}

double figure(const PresetAnswer& a, const std::string& key) {
    for (const Figure& f : a.figures)
        if (f.key == key) return f.value;
    ADD_FAILURE() << "no figure " << key;
    return std::nan("");
}

// blocks and threads of a case: the lecture's sum, then the hardware's
using Four = std::array<uint32_t, 4>;
Four four(const PresetAnswer& a, size_t i) {
    const BlockAnswer& b = a.blocks.at(i);
    return {b.lecture.blocks, b.lecture.threads, b.hardware.blocks, b.hardware.threads};
}

TEST(LimitPresets, EightBlockSlotsLeaveAThirdOfTheThreadsEmpty) {
    const PresetAnswer a = answered("slots");
    EXPECT_EQ(a.device.sm.threads_per_sm, 1536u);
    EXPECT_EQ(a.device.sm.blocks_per_sm, 8u);
    EXPECT_EQ(four(a, 0), (Four{8, 1024, 8, 1024}));
    EXPECT_EQ(figure(a, "blocks_that_fill_the_threads"), 12);
    EXPECT_EQ(limits_in_words(a.blocks[0].lecture), "limited by block slots");
}

TEST(LimitPresets, OfFourBlockSlots512IsBest) {
    const PresetAnswer a = answered("four-slots");
    ASSERT_EQ(a.blocks.size(), 4u);
    EXPECT_EQ(four(a, 0), (Four{4, 512, 4, 512}));
    EXPECT_EQ(four(a, 1), (Four{4, 1024, 4, 1024}));
    EXPECT_EQ(four(a, 2), (Four{3, 1536, 3, 1536}));
    EXPECT_EQ(four(a, 3), (Four{1, 1024, 1, 1024}));
    EXPECT_EQ(figure(a, "best_threads_a_block"), 512);
}

TEST(LimitPresets, TwoRegistersCostASixth) {
    const PresetAnswer a = answered("cliff");
    EXPECT_EQ(a.device.sm.registers_per_sm, 16384u);
    EXPECT_EQ(a.blocks[0].lecture.registers_per_block, 2560u);
    EXPECT_EQ(a.blocks[1].lecture.registers_per_block, 3072u);
    EXPECT_EQ(four(a, 0), (Four{6, 1536, 6, 1536}));
    EXPECT_EQ(four(a, 1), (Four{5, 1280, 5, 1280}));
    EXPECT_DOUBLE_EQ(figure(a, "threads_lost"), 1.0 / 6);
    EXPECT_EQ(limits_in_words(a.blocks[1].lecture), "limited by registers");
}

TEST(LimitPresets, TheEleventhRegisterOfAG80CostsAThird) {
    const PresetAnswer a = answered("g80-registers");
    EXPECT_EQ(figure(a, "registers_a_thread_at_most"), 10);
    EXPECT_EQ(four(a, 0), (Four{3, 768, 3, 768}));
    EXPECT_EQ(four(a, 1), (Four{2, 512, 2, 512}));
    EXPECT_DOUBLE_EQ(figure(a, "threads_lost"), 1.0 / 3);
}

TEST(LimitPresets, SharedMemoryOfAG80) {
    const PresetAnswer a = answered("g80-shared");
    EXPECT_EQ(figure(a, "shared_a_block_at_most"), 2048);
    EXPECT_EQ(a.blocks[0].lecture.blocks, 8u);
    EXPECT_EQ(a.blocks[0].hardware.blocks, 8u);
    EXPECT_EQ(a.blocks[1].lecture.blocks, 3u);
    EXPECT_EQ(a.blocks[1].hardware.blocks, 3u);
}

TEST(LimitPresets, BlocksOfAGt200) {
    const PresetAnswer a = answered("gt200-blocks");
    EXPECT_EQ(a.device.sm.threads_per_block, 512u);
    EXPECT_EQ(four(a, 0), (Four{8, 512, 8, 512}));
    EXPECT_EQ(four(a, 1), (Four{4, 1024, 4, 1024}));
    EXPECT_EQ(four(a, 2), (Four{0, 0, 0, 0}));
    EXPECT_EQ(a.blocks[2].lecture.refused,
              "a block of 1024 threads does not launch: it may have at most 512");
    EXPECT_EQ(figure(a, "best_threads_a_block"), 256);
}

TEST(LimitPresets, AGridOverTheSmsOfAGtx580) {
    const PresetAnswer a = answered("gtx580-grid");
    EXPECT_EQ(a.device.sms, 16u);
    EXPECT_EQ(a.device.sm.registers_per_sm, 32768u);
    EXPECT_EQ(figure(a, "blocks"), 60);
    EXPECT_EQ(figure(a, "sms_with_most"), 12);
    EXPECT_EQ(figure(a, "most_blocks"), 4);
    EXPECT_EQ(figure(a, "sms_with_least"), 4);
    EXPECT_EQ(figure(a, "least_blocks"), 3);
    EXPECT_EQ(figure(a, "registers_a_block"), 4800);
    EXPECT_EQ(figure(a, "registers_a_block_hardware"), 4 * 48 * 32);
    EXPECT_EQ(figure(a, "warps_a_block"), 4);
    EXPECT_EQ(figure(a, "threads_of_last_warp"), 4);
    EXPECT_EQ(a.blocks[0].lecture.blocks, 6u);
    EXPECT_EQ(a.blocks[0].hardware.blocks, 5u);
}

TEST(LimitPresets, OneWarpDivergesAtTheBound) {
    const PresetAnswer a = answered("vector");
    EXPECT_EQ(figure(a, "blocks"), 4);
    EXPECT_EQ(figure(a, "threads"), 2048);
    EXPECT_EQ(figure(a, "diverging_warps"), 1);
    EXPECT_EQ(figure(a, "idle_warps"), 1);
}

TEST(LimitPresets, ThirteenWarpsHideTwoHundredCycles) {
    EXPECT_EQ(figure(answered("latency"), "warps_that_hide"), 13);
}

TEST(LimitPresets, Gk107AgainstGm107) {
    const PresetAnswer a = answered("gk107-gm107");
    EXPECT_EQ(figure(a, "gk107_shared_per_sm"), 48);
    EXPECT_EQ(figure(a, "gm107_shared_per_sm"), 64);
    EXPECT_EQ(figure(a, "gk107_blocks_per_sm"), 16);
    EXPECT_EQ(figure(a, "gm107_blocks_per_sm"), 32);
    EXPECT_EQ(figure(a, "gk107_memory_gbs"), 80);
    EXPECT_EQ(figure(a, "gm107_memory_gbs"), 86.4);
    EXPECT_EQ(figure(a, "gk107_peak_gflops"), 812.5);
    EXPECT_EQ(figure(a, "gm107_peak_gflops"), 1305.6);
}

TEST(LimitPresets, BoundsAndSpreadsEqualCountingThemOneByOne) {
    for (uint64_t elements = 1; elements < 700; ++elements)
        for (const uint32_t block : {1u, 31u, 32u, 48u, 100u, 256u}) {
            const BoundCheck check = bound_check(elements, block);
            uint64_t diverging = 0, idle = 0;
            for (uint64_t b = 0; b < check.blocks; ++b)
                for (uint32_t warp = 0; warp * 32 < block; ++warp) {
                    uint32_t inside = 0, outside = 0;
                    for (uint32_t t = warp * 32; t < std::min(block, warp * 32 + 32); ++t)
                        b* block + t < elements ? ++inside : ++outside;
                    diverging += inside && outside;
                    idle += inside == 0;
                }
            ASSERT_EQ(check.diverging_warps, diverging) << elements << " by " << block;
            ASSERT_EQ(check.idle_warps, idle) << elements << " by " << block;
        }
    for (uint32_t blocks = 1; blocks < 100; ++blocks)
        for (uint32_t sms = 1; sms < 20; ++sms) {
            std::vector<uint32_t> each(sms);
            for (uint32_t b = 0; b < blocks; ++b) ++each[b % sms];
            const Spread s = spread({blocks, 1, 1}, sms);
            ASSERT_EQ(s.most, each.front());
            ASSERT_EQ(s.least, each.back());
            ASSERT_EQ(s.sms_with_most, std::count(each.begin(), each.end(), each.front()));
            ASSERT_EQ(s.sms_with_least, std::count(each.begin(), each.end(), each.back()));
        }
}

TEST(LimitPresets, AnUnknownDeviceIsNamed) {
    LimitPreset preset = *find_limit_preset("slots");
    preset.device = "voodoo";
    const auto a = answer(preset, kernels::devices());
    ASSERT_FALSE(a);
    EXPECT_NE(a.error().message.find("'voodoo'"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::analysis
