// The models behind the figures of the lessons, against closed forms; and that a stop stands on one.
#include <bit>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/lessons/figures/figure.h"
#include "app/lessons/state.h"
#include "app/session/session.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"
#include "tests/recorded.h"

namespace tilescope::lessons {
namespace {

std::string at_first(std::string_view name, const std::vector<std::pair<std::string_view, int>>& set,
                     std::string (*text)(const Figure&, std::span<const int>)) {
    const Figure& figure = *find_figure(name);
    std::vector<int> all = first_set(figure);
    for (const auto& [parameter, value] : set)
        for (size_t at = 0; at < all.size(); ++at)
            if (figure.parameters[at].name == parameter) all[at] = value;
    return text(figure, all);
}

TEST(Figures, WarpsFillALatencyOrLeaveWhatTheyLack) {
    std::mt19937 random(1);
    for (int round = 0; round < 400; ++round) {
        const uint32_t warps = 1 + random() % 32, issue = 1 + random() % 8, every = 1 + random() % 16;
        const uint32_t latency = 20 + static_cast<uint32_t>(random()) % 400;
        const IssueTrace trace = issue_trace(warps, issue, latency, every, 50);
        EXPECT_EQ(trace.slots.size(), 50u);
        const uint32_t issued = every * warps;
        EXPECT_EQ(trace.idle, trace.window > issued ? trace.window - issued : 0)
            << warps << " warps, " << issue << " cycles, latency " << latency << ", every " << every;
        EXPECT_DOUBLE_EQ(used_share(warps, issue, latency, every),
                         static_cast<double>(trace.window - trace.idle) / trace.window);
    }
    // The lecture's: 4 cycles an instruction, a load every fourth, 200 cycles.
    EXPECT_EQ(issue_trace(12, 4, 200, 4, 0).idle, 2u);
    EXPECT_EQ(issue_trace(13, 4, 200, 4, 0).idle, 0u);
    const Figure& latency = *find_figure("latency");
    EXPECT_EQ(number_at(modelled(latency, first_set(latency)), "needed_warps"), 13.);
}

TEST(Figures, SixtyBlocksOnSixteenSms) {
    for (uint32_t order = 0; order < 10; ++order) {
        const Dealt dealt = deal(60, 16, 8, order);
        EXPECT_EQ(std::ranges::count(dealt.of_sm, 4u), 12);
        EXPECT_EQ(std::ranges::count(dealt.of_sm, 3u), 4);
        ASSERT_EQ(dealt.waves.size(), 1u);
        std::vector<bool> seen(60, false);
        for (const auto& sm : dealt.waves[0])
            for (const uint32_t block : sm) {
                EXPECT_FALSE(seen[block]) << "a block runs once";
                seen[block] = true;
            }
        EXPECT_EQ(std::ranges::count(seen, true), 60);
    }
    // More blocks than slots: waves, and none of them fuller than an SM's slots.
    const Dealt small = deal(60, 2, 8, 0);
    EXPECT_EQ(small.waves.size(), 4u);
    for (const auto& wave : small.waves)
        for (const auto& sm : wave) EXPECT_LE(sm.size(), 8u);
}

TEST(Figures, ABranchOnTheThreadSplitsAWarpAndOneOnTheWarpDoesNot) {
    const Split thread = split(Branch::Thread, 128, 2), warp = split(Branch::Warp, 128, 1);
    EXPECT_EQ(thread.divergent, 1u);
    EXPECT_EQ(thread.passes, 5u);
    EXPECT_EQ(thread.masks[0], ~7u);
    EXPECT_EQ(warp.divergent, 0u);
    EXPECT_EQ(warp.idle, 0u);
    // A vector of 2,000 in blocks of 512: of the last block 464 threads have an element.
    const Split vector = split(Branch::Vector, 512, 2000 - 3 * 512);
    EXPECT_EQ(vector.divergent, 1u);
    EXPECT_EQ(vector.idle, 32u);
    uint32_t inside = 0;
    for (const uint32_t mask : vector.masks) inside += static_cast<uint32_t>(std::popcount(mask));
    EXPECT_EQ(inside, 464u);
}

TEST(Figures, BurstsBringWhatLiesBetween) {
    for (uint32_t burst : {32u, 64u, 128u})
        for (uint32_t stride = 1; stride <= 32; ++stride) {
            const Bursts made = bursts_of(stride, burst);
            std::set<uint32_t> touched;  // by their first byte
            for (uint32_t lane = 0; lane < 32; ++lane) touched.insert(lane * stride * 4 / burst);
            EXPECT_EQ(made.bursts, touched.size());
            EXPECT_EQ(made.brought, touched.size() * burst);
            EXPECT_EQ(std::ranges::count(made.taken, true), 32);
            EXPECT_EQ(made.used, 128u);
        }
}

TEST(Figures, AnSmInFixedPartsOrAsBlocksNeedIt) {
    for (uint32_t threads = 32; threads <= 1024; threads += 32)
        for (uint32_t slots = 512; slots <= 2048; slots += 256)
            for (uint32_t parts = 1; parts <= 32; ++parts) {
                const Partition made = partition(threads, slots, parts);
                uint32_t blocks = 0, left = slots;  // block by block, as long as one fits
                while (blocks < parts && left >= threads) ++blocks, left -= threads;
                EXPECT_EQ(made.blocks, blocks) << threads << " of " << slots << ", " << parts;
                uint32_t fixed = 0;
                for (uint32_t part = 0; part < parts; ++part) fixed += slots / parts >= threads;
                EXPECT_EQ(made.fixed_blocks, fixed);
                EXPECT_LE(made.fixed_blocks, made.blocks) << "what fits parts fits without them";
            }
}

// Peaks are stated by cores and clock; the clocks of GPUs lie between half a GHz and three.
TEST(Figures, ADevicesClockFollowsFromItsPeak) {
    for (const analysis::DeviceSpec& device : kernels::devices()) {
        EXPECT_GT(peak_ghz(device), 0.5) << device.name;
        EXPECT_LT(peak_ghz(device), 3.0) << device.name;
    }
    const auto named = [](const char* name) { return *kernels::device_named(name); };
    EXPECT_NEAR(peak_ghz(named("h200")), 1.98, 1e-3);
    EXPECT_NEAR(peak_ghz(named("gtx-580")), 1.544, 1e-3);
    EXPECT_NEAR(peak_ghz(named("rtx-3090")), 1.695, 1e-3);
    // Little's law by hand: 4,814.3 GB/s over 132 SMs at 1.98 GHz are 18.42 bytes a cycle and SM.
    const BytesInFlight made = in_flight(named("h200"), 500);
    EXPECT_NEAR(made.bytes_a_cycle, 18.42, 0.005);
    EXPECT_NEAR(static_cast<double>(made.bytes), 9210, 2);
    EXPECT_EQ(made.loads, 72u);  // of 128 bytes
}

TEST(Figures, SayWhatTheCourseWorksOut) {
    const auto concluded = [](const Figure& figure, std::span<const int> set) {
        return figure.concludes(set);
    };
    EXPECT_NE(at_first("latency", {{"warps", 13}}, concluded).find("every slot is used"), std::string::npos);
    EXPECT_NE(at_first("blocks", {}, concluded).find("12 SMs run 4 blocks, 4 run 3."), std::string::npos);
    EXPECT_NE(at_first("partition", {{"threads", 256}}, concluded).find("none runs"), std::string::npos);
    EXPECT_NE(at_first("partition", {{"threads", 256}}, concluded).find("1,536 of 1,536"), std::string::npos);
    EXPECT_NE(at_first("partition", {}, concluded).find("each leaves 64 slots"), std::string::npos);
    const Figure& memory = *find_figure("memory");
    std::vector<int> g80 = first_set(memory);
    g80[1] = *setting_of(memory.parameters[1], "GeForce 8800 GTX");
    EXPECT_EQ(number_at(modelled(memory, g80), "registers_of_chip"), 131072.)
        << "128 K, as the lectures multiply out";
    EXPECT_NE(at_first("gate", {{"missing", 1}}, concluded).find("never comes"), std::string::npos);
    EXPECT_NE(at_first("tiles_help", {}, concluded).find("product by 16"), std::string::npos);
    const Figure& helps = *find_figure("tiles_help");
    EXPECT_EQ(number_at(modelled(helps, first_set(helps)), "addition_factor"), 1.);
}

session::Session with(trace::Trace trace) {
    session::Session session;
    auto made = session::make_recording(std::move(trace), "test.tsc");
    EXPECT_TRUE(made);
    session::show(session, *made);
    session::update(session, true);
    return session;
}

// Of a recording from a GPU each block has the SM that it ran on, and no other sentence is said of one that
// has none.
TEST(Figures, ShowTheBlocksOfARecordingOnTheirSms) {
    const Figure& blocks = *find_figure("blocks");
    std::vector<int> set = first_set(blocks);
    session::Session session = with(kernels::recorded("tiled", {4, 4, 4, 2}));
    set.back() = 1;
    EXPECT_EQ(blocks.concludes_of(set, session), "") << "recorded on the CPU";
    trace::Trace gpu = kernels::recorded("tiled", {4, 4, 4, 2});
    gpu.meta.backend = trace::Backend::Gpu;
    gpu.meta.device = "NVIDIA H200";
    const uint32_t sms[] = {7, 130, 7, 2};
    ASSERT_EQ(gpu.blocks.size(), 4u);
    for (size_t at = 0; at < 4; ++at) gpu.blocks[at].sm = sms[at];
    session = with(gpu);
    const std::string says = blocks.concludes_of(set, session);
    EXPECT_NE(says.find("3 of the 132 SMs"), std::string::npos) << says;
    EXPECT_NE(says.find("at most 2 on each"), std::string::npos) << says;
    EXPECT_NE(says.find("block 1 on SM 130"), std::string::npos) << says;
    set.back() = 0;
    EXPECT_EQ(blocks.concludes_of(set, session), "") << "set to the model";
}

// The schedule has no model: of a recording without clocks it says what to open, else it counts.
TEST(Figures, ShowTheWarpsOfAnSm) {
    const Figure& schedule = *find_figure("schedule");
    std::vector<int> set = first_set(schedule);
    session::Session session = with(kernels::recorded("tiled", {8, 8, 8, 8}));
    EXPECT_EQ(schedule.concludes_of(set, session), "") << "recorded on the CPU";
    EXPECT_NE(schedule.concludes(set).find("Open one that ships"), std::string::npos);
    const auto* const shipped = kernels::find_shipped_recording("tiled-64x64x64-t16");
    ASSERT_NE(shipped, nullptr) << "the sentence names it";
    auto trace = kernels::open_shipped(*shipped);
    ASSERT_TRUE(trace);
    const uint32_t own = trace->blocks[0].sm;
    session = with(std::move(*trace));
    const std::string says = schedule.concludes_of(set, session);
    EXPECT_NE(
        says.find(fmt::format("SM {} ran 1 recorded block with 8 warps in 16,354 clocks (8.26 µs).", own)),
        std::string::npos)
        << says;
    EXPECT_NE(says.find("22 % lies between a global load"), std::string::npos) << says;
    EXPECT_NE(says.find("no warp makes a step for 2,913 clocks"), std::string::npos) << says;
    EXPECT_NE(says.find("kernel with recording in it"), std::string::npos) << says;
    // 16 blocks on 16 SMs: each of the next 15 is another, then the first comes again.
    std::set<std::string> others;
    for (set[0] = 0; set[0] < 16; ++set[0]) others.insert(schedule.concludes_of(set, session).substr(0, 6));
    EXPECT_EQ(others.size(), 16u);
    EXPECT_EQ(schedule.concludes_of(set, session), says);
}

// 4 x 4, T = 2: an element of P takes 4 multiply-adds; every thread loads 2 elements in each of 2 phases.
TEST(Figures, CountTheOpenProduct) {
    const Figure& helps = *find_figure("tiles_help");
    session::Session session = with(kernels::recorded("tiled", {4, 4, 4, 2}));
    EXPECT_NE(
        helps.concludes_of(first_set(helps), session).find("8 operations / 4 loads = CGMA 2, 0.5 FLOP/B."),
        std::string::npos)
        << helps.concludes_of(first_set(helps), session);
    session = with(kernels::recorded("untiled", {4, 4, 4, 2}));
    EXPECT_NE(helps.concludes_of(first_set(helps), session).find("= CGMA 1, 0.25"), std::string::npos);
    EXPECT_EQ(helps.concludes_of(first_set(helps), session::Session{}), "");
}

// In every figure that asks for a device, its name is enough.
TEST(Figures, TakeADeviceByItsNameAlone) {
    size_t asked = 0;
    for (const Figure& figure : figures())
        for (const FigureParameter& parameter : figure.parameters)
            for (const char* name : {"H200", "A100", "Tesla K80", "GeForce 8800 GTX"}) {
                if (parameter.name != "device" || parameter.words.size() < kernels::devices().size())
                    continue;
                ++asked;
                const auto set = setting_of(parameter, name);
                ASSERT_TRUE(set) << figure.name << ": " << name;
                const std::string& word = parameter.words[static_cast<size_t>(*set - parameter.least)];
                EXPECT_EQ(word.substr(0, word.find(" (")), name) << figure.name;
                EXPECT_FALSE(setting_of(parameter, "GeForce")) << "no device is called so";
            }
    EXPECT_GE(asked, 8u);
}

// Whatever is set, a figure has its numbers and ends in a sentence of its own.
TEST(Figures, AnySettingHasItsSentence) {
    std::mt19937 random(2);
    for (const Figure& figure : figures())
        for (int round = 0; round < 60; ++round) {
            std::vector<int> set;
            for (const FigureParameter& parameter : figure.parameters) {
                const int steps = (parameter.most - parameter.least) / parameter.step + 1;
                set.push_back(parameter.least + parameter.step * static_cast<int>(random() % steps));
                EXPECT_EQ(setting_of(parameter, value_words(parameter, set.back())), set.back());
            }
            const std::string says = figure.concludes(set);
            ASSERT_FALSE(says.empty()) << figure.name;
            EXPECT_EQ(says.back(), '.') << says;
            EXPECT_EQ(says.find('{'), std::string::npos) << says;
            EXPECT_EQ(says.find(" 1 warps"), std::string::npos) << says;
            EXPECT_EQ(figure.numbers(set).empty(), figure.recorded_alone);
        }
}

TEST(Figures, AStopStandsOnOne) {
    const auto lesson = [](const std::string& stop) {
        return lesson_from_json(R"({"name": "n", "title": "t", "teaches": "s", "stops": [)" + stop + "]}",
                                "n");
    };
    const auto good = lesson(
        R"({"figure": "latency", "set": {"warps": 13}, "screen": "lessons", "say": "{warps} of {needed_warps} warps"})");
    ASSERT_TRUE(good) << good.error().message;
    const LessonStop& stop = good->stops[0];
    EXPECT_EQ(said(modelled(stop), stop.say), "13 of 13 warps");
    EXPECT_FALSE(lesson(R"({"figure": "nothing", "say": "s"})"));
    EXPECT_FALSE(lesson(R"({"figure": "latency", "set": {"warps": 99}, "say": "s"})"));
    EXPECT_FALSE(lesson(R"({"figure": "latency", "set": {"cats": 1}, "say": "s"})"));
    EXPECT_FALSE(lesson(R"({"figure": "bursts", "set": {"burst": 33}, "say": "s"})"));
    EXPECT_TRUE(lesson(R"({"figure": "gate", "set": {"missing": "does not come"}, "say": "s"})"));
    EXPECT_FALSE(lesson(R"({"figure": "latency", "say": "{sectors}"})"));
    // Nested so deeply that whoever follows it call by call runs out of stack.
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
    EXPECT_FALSE(lesson(R"({"figure": "latency", "set": {"warps": )" + deep + R"(}, "say": "s"})"));
    EXPECT_FALSE(lesson(R"({"recording": "tiled", "where": [)" + deep + R"(], "say": "s"})"));
}

// Only what PTX has: sums of halves of f16 and of 8-bit floats alone.
TEST(Figures, FragmentsAreOfFormsThatThereAre) {
    const Figure& figure = *find_figure("fragments");
    const FigureParameter& shapes = figure.parameters[0];
    ASSERT_EQ(shapes.words.size(), static_cast<size_t>(shapes.most) + 1);
    EXPECT_EQ(value_words(shapes, shapes.first), "mma.m16n8k16.f16");
    EXPECT_EQ(std::set(shapes.words.begin(), shapes.words.end()).size(), shapes.words.size());
    const session::Session session;
    for (int shape = shapes.least; shape <= shapes.most; ++shape) {
        const std::string name = value_words(shapes, shape);
        const bool halves = name.ends_with(".f16") || name.ends_with(".e4m3");
        EXPECT_EQ(!figure.idle(1, std::vector{shape, 0, 0}, session), halves) << name;
        const auto registers = [&](int sums) {
            return number_at(modelled(figure, std::vector{shape, sums, 5}), "d_registers").value_or(0);
        };
        EXPECT_EQ(registers(1), halves ? registers(0) / 2 : registers(0)) << name;
    }
}

}  // namespace
}  // namespace tilescope::lessons
