// The lectures' cases of what limits an SM, each by its own sum.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/words.h"
#include "core/limits/presets.h"
#include "kernels/textbook/devices.h"
#include "tests/twin/occupancy.h"

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
              "a block of 1,024 threads does not launch: it may have at most 512");
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
            const BoundCheck slow = twin::bound_check(elements, block);
            ASSERT_EQ(check.diverging_warps, slow.diverging_warps) << elements << " by " << block;
            ASSERT_EQ(check.idle_warps, slow.idle_warps) << elements << " by " << block;
        }
    for (uint32_t blocks = 1; blocks < 100; ++blocks)
        for (uint32_t sms = 1; sms < 20; ++sms) {
            const Spread s = spread({blocks, 1, 1}, sms), slow = twin::spread(blocks, sms);
            ASSERT_EQ(s.most, slow.most);
            ASSERT_EQ(s.least, slow.least);
            ASSERT_EQ(s.sms_with_most, slow.sms_with_most);
            ASSERT_EQ(s.sms_with_least, slow.sms_with_least);
        }
}

struct Held : twin::Resident {
    std::string fit() const {  // as an answer says it
        if (blocks == 0) return "";
        return fmt::format("{} {}, {}", counted(blocks, "block"), blocks == 1 ? "fits" : "fit",
                           counted(threads, "thread"));
    }
};
Held held(const SmLimits& sm, const BlockUse& use) { return {twin::resident(sm, use)}; }

// What the answer of a case must say for these values.
std::vector<std::string> wanted(const LimitPreset& preset, const DeviceSpec& device, const BlockUse& use) {
    const SmLimits& sm = device.sm;
    const Held own = held(sm, use);
    std::vector<std::string> all;
    const auto with = [&](uint32_t BlockUse::*value, const PresetBlock& block) {
        BlockUse other = use;
        other.*value = block.use.*value;
        return held(sm, other);
    };
    if (preset.id == "four-slots" || preset.id == "gt200-blocks") {
        uint32_t most = own.threads;
        for (const PresetBlock& block : preset.blocks)
            most = std::max(most, with(&BlockUse::threads, block).threads);
        std::string best;
        for (const PresetBlock& block : preset.blocks) {
            const Held one = with(&BlockUse::threads, block);
            if (one.blocks > 0) all.push_back(block.label + ": " + one.fit() + ", limited by ");
            if (one.blocks > 0 && one.threads == most) best += (best.empty() ? "" : " and ") + block.label;
        }
        all.push_back(best.empty() ? "" : "Best: " + best);
    } else if (preset.id == "vector" && own.blocks > 0) {
        const BoundCheck check = twin::bound_check(preset.vector->elements, use.threads);
        all.push_back(fmt::format("{} × {} = {} for 2,000", counted(check.blocks, "block"),
                                  counted(use.threads, "thread"), grouped(check.threads)));
        all.push_back(check.diverging_warps == 0 ? "no warp diverges" : "1 warp diverges");
        EXPECT_LE(check.diverging_warps, 1u);
        if (check.idle_warps == 1) all.emplace_back("1 warp lies wholly beyond");
        if (check.idle_warps > 1) all.push_back(counted(check.idle_warps, "warp") + " lie wholly beyond");
    } else if (preset.id == "latency") {
        uint32_t warps = 0;
        for (uint32_t hidden = 0; hidden < 200; hidden += 4 * 4) ++warps;
        const uint32_t there = own.blocks * ((use.threads + 31) / 32);
        all.push_back(fmt::format("{} warps: ", warps));
        if (own.blocks > 0)
            all.push_back(fmt::format("= {} on an SM: {}", there, there >= warps ? "enough" : "too few"));
    } else if (preset.id == "gk107-gm107") {
        const Held other = held(kernels::device_named("gm107")->sm, use);
        all.push_back(fmt::format("{} against {} threads", grouped(other.threads), grouped(own.threads)));
    } else {
        all.push_back(own.fit());
        if (preset.id == "slots" && own.blocks > 0)
            all.push_back(own.threads == sm.threads_per_sm ? "Yes. " : "No. ");
        if (preset.id == "cliff" || preset.id == "g80-registers" || preset.id == "g80-shared") {
            const auto value = preset.id == "g80-shared" ? &BlockUse::shared : &BlockUse::registers;
            for (const PresetBlock& block : preset.blocks) {
                if (block.use.*value == use.*value) continue;
                all.push_back(
                    fmt::format("ith {} ",
                                counted(block.use.*value, preset.id == "g80-shared" ? "byte" : "register")) +
                    with(value, block).fit());
            }
        }
        if (preset.grid && own.blocks > 0) {
            const Spread s = twin::spread(preset.grid->count(), device.sms);
            all.push_back(
                fmt::format("{} get {} and {} get {}", s.sms_with_most, s.most, s.sms_with_least, s.least));
        }
    }
    return all;
}

uint64_t number_in(std::string text) {
    std::erase(text, ',');
    return text.empty() ? 1 : std::stoull(text);
}

// Every product that is written is one, and what is more than the SM has is more.
void expect_right_products(const std::string& answer) {
    static const std::regex product(
        "([0-9,]+) blocks? x ([0-9,]+) (?:threads?|bytes?|warps?)(?: x ([0-9,]+) registers?)? = "
        "([0-9,]+[0-9]|[0-9])"
        "(?:, more than the SM's ([0-9,]+[0-9]))?");
    for (std::sregex_iterator at(answer.begin(), answer.end(), product), end; at != end; ++at) {
        const std::smatch& m = *at;
        const uint64_t is = number_in(m[4]);
        EXPECT_EQ(number_in(m[1]) * number_in(m[2]) * number_in(m[3]), is) << answer;
        if (m[5].matched) EXPECT_GT(is, number_in(m[5])) << answer;
    }
}

TEST(LimitPresets, AnswersEqualPuttingBlocksOnAnSmOneByOne) {
    std::mt19937 random(7);
    const auto any = [&](uint32_t least, uint32_t most) {
        return std::uniform_int_distribution<uint32_t>(least, most)(random);
    };
    size_t refused = 0, said = 0;
    for (const LimitPreset& preset : limit_presets()) {
        const DeviceSpec device = answered(preset.id.c_str()).device;
        for (int round = 0; round < 400; ++round) {
            BlockUse use = preset.blocks[static_cast<size_t>(round) % preset.blocks.size()].use;
            if (round >= static_cast<int>(preset.blocks.size())) {
                // As the keys change them, one at a time or all.
                if (round % 4 != 1) use.threads = any(1, device.sm.threads_per_block / 32) * 32;
                if (round % 4 != 2) use.registers = any(0, device.sm.registers_per_thread);
                if (round % 4 != 3) use.shared = any(0, device.sm.shared_per_block_optin / 512) * 512;
            }
            const std::string answer = answer_in_words(&preset, device, use, kernels::devices());
            const std::string of = fmt::format("{}: {} threads, {} registers, {} bytes: {}", preset.id,
                                               use.threads, use.registers, use.shared, answer);
            for (const std::string& part : wanted(preset, device, use))
                EXPECT_NE(answer.find(part), std::string::npos) << of << "\n  wants: " << part;
            expect_right_products(answer);
            EXPECT_TRUE(answer.ends_with(".") && answer.find("..") == std::string::npos) << of;
            EXPECT_LT(answer.size(), 480u) << of;
            const bool none = held(device.sm, use).blocks == 0;
            refused += none, said += !none;
            const std::string alone = answer_in_words(nullptr, device, use, kernels::devices());
            EXPECT_NE(alone.find(held(device.sm, use).fit()), std::string::npos) << alone;
            expect_right_products(alone);
        }
    }
    EXPECT_GT(refused, 100u);
    EXPECT_GT(said, 1000u);
}

// The questions of the lectures, word for word.
TEST(LimitPresets, AnswersAndTheirReasons) {
    const auto said = [](const char* id, size_t block) { return answered(id).blocks.at(block).answer; };
    EXPECT_EQ(
        said("slots", 0),
        "No. The SM has 8 block slots: 8 blocks fit, 1,024 threads. Its 1,536 thread slots would take 12 "
        "blocks.");
    EXPECT_EQ(
        said("cliff", 0),
        "7 blocks × 256 threads × 10 registers = 17,920, more than the SM's 16,384; 6 blocks × 256 threads "
        "= 1,536, all thread slots of the SM: 6 blocks fit, 1,536 threads. With 12 registers 5 blocks fit, "
        "1,280 threads, 16.7 % fewer.");
    EXPECT_EQ(
        said("cliff", 1),
        "6 blocks × 256 threads × 12 registers = 18,432, more than the SM's 16,384: 5 blocks fit, 1,280 "
        "threads. With 10 registers 6 blocks fit, 1,536 threads; with 12 registers 16.7 % of them are "
        "lost.");
    EXPECT_EQ(
        said("gt200-blocks", 0),
        "Best: 16 × 16. 8 × 8: 8 blocks fit, 512 threads, limited by block slots; 16 × 16: 4 blocks fit, "
        "1,024 threads, limited by thread slots; 32 × 32 does not launch: 1,024 threads are more than the "
        "512 that a block may have.");
    for (const size_t block : {1u, 2u})
        EXPECT_EQ(said("gt200-blocks", block), said("gt200-blocks", 0)) << "one question, one answer";
    EXPECT_EQ(
        said("latency", 0),
        "13 warps: between two accesses a warp issues 4 instructions × 4 cycles = 16 cycles, and 200 / 16 "
        "= 12.5. 3 blocks × 8 warps = 24 on an SM: enough.");
    EXPECT_NE(said("gtx580-grid", 0).find("6 blocks fit, 600 threads; by the hardware's sum 5 blocks"),
              std::string::npos);
    const LimitPreset& vector = *find_limit_preset("vector");
    EXPECT_EQ(question_of(vector, {.threads = 1024}),
              "A vector of 2,000 in blocks of 1,024: how many warps diverge at the bound?");
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
