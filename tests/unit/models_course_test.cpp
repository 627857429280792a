// What the lectures state about ratios, roofs and limits, as the Timing and Limits screens show it. (The
// phase tables are in view_provenance_test.cpp, thread for thread.)
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "app/limits/model.h"
#include "app/timing/ladder.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/devices.h"
#include "tests/names.h"

namespace tilescope::app {
namespace {

Machine machine_of(const char* part) {
    for (const Machine& one : machines(kernels::shipped_timings(), kernels::devices()))
        if (one.name.find(part) != std::string::npos) return one;
    ADD_FAILURE() << "no device " << part;
    return {};
}

// The lecture's bound as the roofline draws it.
RoofPoint bound(const Machine& machine, const char* kernel, uint32_t tile) {
    timing::TimingChoice chosen;
    chosen.tile = tile;
    for (const RoofPoint& point : roofline_chart(machine, {}, chosen, 1024).points)
        if (point.kind == RoofPoint::Kind::Bound && point.kernel == kernel) return point;
    ADD_FAILURE() << "no bound of " << kernel;
    return {};
}

std::string said(const Machine& machine, const char* kernel, uint32_t tile) {
    timing::TimingChoice chosen;
    chosen.kernel = kernel;
    chosen.tile = tile;
    return headline(machine, chosen, 1024);
}

void near(double got, double wanted) { EXPECT_NEAR(got, wanted, wanted * 1e-12); }

TEST(CourseRoofs, TheUntiledLoopAsksFourBytesAnOperation) {
    near(bound(machine_of("8800 GTX"), "untiled", 16).intensity, 0.25);
    for (const uint32_t t : {8u, 16u, 32u})
        near(bound(machine_of("RTX 3090"), "tiled", t).intensity, t / 4.0);
}

TEST(CourseRoofs, ADeviceOf200) {
    const Machine one = machine_of("200 GB/s and 1,500 GFLOP/s");
    near(bound(one, "untiled", 16).gflops, 50);
    EXPECT_EQ(one.stated_gflops, 1500);
    EXPECT_NE(measured_words(one).find("bound"), std::string::npos);
}

TEST(CourseRoofs, AG80) {
    const Machine g80 = machine_of("8800 GTX");
    EXPECT_EQ(g80.stated_gbs, 86.4);
    EXPECT_EQ(g80.stated_gflops, 367);
    near(bound(g80, "untiled", 16).gflops, 21.6);
    near(bound(g80, "tiled", 16).gflops, 345.6);
}

// Operands a second times the operations that each of them serves.
TEST(CourseRoofs, HowTheBoundsComeAbout) {
    const auto reasons = [](const char* device, uint32_t tile) {
        return traffic_chain(machine_of(device), {}, "tiled", 1024, tile).reasons;
    };
    using Said = std::vector<std::string>;
    EXPECT_EQ(
        reasons("8800 GTX", 16),
        (Said{"86.4 GB/s / 4 B = 21.6 G operands/s: so many elements come from memory.",
              "untiled, CGMA 1: 21.6 × 1 = 21.6 GFLOP/s, 5.89 % of the peak.",
              "T = 16, CGMA 16: 21.6 × 16 = 345.6 GFLOP/s, 94.2 % of the peak.",
              "The roofs meet at 4.248 FLOP/B: below it memory bounds a kernel, above it arithmetic."}));
    EXPECT_EQ(reasons("8800 GTX", 32).at(2),
              "T = 32, CGMA 32: 21.6 × 32 = 691.2 GFLOP/s, more than the peak of 367.");
    const Said open = reasons("150 GB/s", 16);  // its peak is not said
    ASSERT_EQ(open.size(), 3u);
    EXPECT_EQ(open[2], "T = 16, CGMA 16: 37.5 × 16 = 600 GFLOP/s.");
}

// By the counters that ship: tiles divide what is asked for, the caches have done most of that before.
TEST(CourseRoofs, WhyTilesAreNotTTimesAsFast) {
    const auto timings = kernels::shipped_timings();
    const auto all = machines(timings, kernels::devices());
    const auto counters = kernels::shipped_counters();
    const auto said = [&](const char* kernel, uint32_t width) {
        return traffic_chain(*find_machine(all, "NVIDIA H200"), counters, kernel, width, 32).reasons.at(1);
    };
    EXPECT_EQ(
        said("tiled", 1024),
        "Why 2.00 × untiled and not T = 32 ×: untiled asks for 8.59 GB, but its caches leave 231 MB to be "
        "read from L2 and 8.39 MB from DRAM; with tiles 201 MB and 8.39 MB are left.");
    EXPECT_FALSE(said("untiled", 1024).starts_with("Why")) << "only of the tiled kernel";
}

// The loads go down by T; the time by what L1 had not caught already.
TEST(CourseRoofs, WhatTilesSaveIsTheHeadline) {
    const auto timings = kernels::shipped_timings();
    const auto all = machines(timings, kernels::devices());
    const auto counters = kernels::shipped_counters();
    const auto said = [&](const char* machine, const char* kernel, uint32_t width) {
        const auto saved = traffic_chain(*find_machine(all, machine), counters, kernel, width, 32).savings;
        return saved ? saved->sentence : "";
    };
    const char* const nvrtc = "NVIDIA H200, PTX by nvrtc";
    EXPECT_EQ(said(nvrtc, "tiled", 1024),
              "Tiles make 32 × fewer loads, but are only 1.47 × as fast: L1 had caught 98.9 % of them");
    EXPECT_EQ(said(nvrtc, "tiled", 4096),
              "Tiles make 32 × fewer loads, but are only 1.42 × as fast: L1 had caught all of them");
    EXPECT_TRUE(said("NVIDIA H200", "double_buffer", 4096).starts_with("double buffer makes "));
    EXPECT_EQ(said("NVIDIA H200", "untiled", 4096), "") << "it is what the others are compared with";
    EXPECT_EQ(said("NVIDIA H200", "untiled_swapped", 4096), "") << "it saves nothing";
    EXPECT_EQ(said("NVIDIA H200", "tiled_stale_edge", 4096), "") << "a wrong result saves nothing";
    EXPECT_EQ(said("NVIDIA H200", "cublas", 4096), "") << "what it loads is not known";
    EXPECT_EQ(said("GeForce RTX 3090", "tiled", 4096), "") << "nothing was measured there";
}

TEST(CourseRoofs, EachKernelHasAShapeOfItsOwn) {
    for (const ElementType input : {ElementType::F32, ElementType::F16}) {
        std::set<draw::PointShape> shapes{shape_of(kernels::library_of(input))};
        size_t kernels = 0;
        for (const kernels::KernelInfo& kernel : kernels::catalogue())
            if (kernel.input == input) shapes.insert(shape_of(kernel.name)), ++kernels;
        EXPECT_EQ(shapes.size(), kernels + 1);
    }
}

// From faint to strong: each rung stands out more than the one below it.
TEST(CourseRoofs, ALadderIsOneRamp) {
    for (const draw::Theme theme : {draw::Theme::Light, draw::Theme::Dark})
        for (const bool lecture : {false, true}) {
            const draw::Palette& p = draw::palette(theme, lecture);
            for (const ElementType input : {ElementType::F32, ElementType::F16}) {
                float before = 1.5f;
                for (const Rung& rung : rungs(input)) {
                    const float now = draw::contrast(color_of(p, rung.kernel), p[draw::Ink::Panel]);
                    EXPECT_GT(now, before * 1.05f) << rung.kernel;
                    before = now;
                }
            }
            EXPECT_EQ(color_of(p, "tiled_stale_edge"), p[draw::Ink::Fault]);
            EXPECT_EQ(color_of(p, kLibrary), p[draw::Ink::TextQuiet]);
        }
}

TEST(CourseRoofs, ADeviceOf150WhosePeakIsNotSaid) {
    const Machine one = machine_of("150 GB/s");
    near(bound(one, "tiled", 16).gflops, 600);
    EXPECT_EQ(bound(one, "tiled", 16).exact.find('%'), std::string::npos) << "a share of nothing known";
    EXPECT_NE(said(one, "tiled", 16).find("not known"), std::string::npos) << said(one, "tiled", 16);
    const RooflineChart chart = roofline_chart(one, {}, {}, 1024);
    ASSERT_EQ(chart.roofs.size(), 1u);
    EXPECT_EQ(chart.roofs[0].gflops, 0) << "no flat part";
    for (const RoofPoint& point : chart.points) {
        EXPECT_LE(point.gflops, chart.y.high);
        EXPECT_GE(point.gflops, chart.y.low);
        EXPECT_LE(point.intensity, chart.x.high);
    }
    EXPECT_TRUE(std::isfinite(chart.x.high) && std::isfinite(chart.y.high) && chart.y.low > 0);
}

TEST(CourseRoofs, ADeviceOf1000) {
    const Machine one = machine_of("1,000 GB/s");
    const RoofPoint point = bound(one, "untiled", 16);
    near(point.gflops, 250);
    EXPECT_NEAR(point.gflops / one.stated_gflops, 0.02, 0.001);
    EXPECT_NE(point.exact.find("2.08 % of the stated peak"), std::string::npos) << point.exact;
}

TEST(CourseRoofs, AnRtx3090) {
    const Machine rtx = machine_of("RTX 3090");
    near(bound(rtx, "untiled", 32).gflops, 234.05);
    near(bound(rtx, "tiled", 32).gflops, 7489.6);
    EXPECT_NEAR(bound(rtx, "untiled", 32).gflops / rtx.stated_gflops, 0.0065, 0.0001);
    EXPECT_NEAR(bound(rtx, "tiled", 32).gflops / rtx.stated_gflops, 0.21, 0.001);
    EXPECT_NE(said(rtx, "tiled", 32).find("bound"), std::string::npos);
}

// The measured table: GFLOP/s at T = 32, and what coalescing and tiling are worth.
TEST(CourseRoofs, TheTimesOfAnH200) {
    const Machine h200 = machine_of("H200, PTX by nvrtc");
    ASSERT_NE(h200.times, nullptr);
    timing::TimingChoice chosen;
    chosen.plot = timing::TimingChoice::Plot::Gflops;
    const auto value = [&](const char* kernel, uint32_t tile, uint32_t width) {
        chosen.tile = tile;
        for (const TimeLine& line : time_chart(h200, chosen).lines)
            for (const TimePoint& point : line.points)
                if (line.kernel == kernel && point.width == width) return point.value;
        ADD_FAILURE() << kernel << width;
        return std::nan("");
    };
    constexpr double kTable[][5] = {
        {1024, 486, 6209, 7772, 9098}, {4096, 498, 6060, 8124, 8837}, {8192, 501, 6050, 8121, 8883}};
    for (const auto& row : kTable) {
        const auto width = static_cast<uint32_t>(row[0]);
        const double got[] = {value("untiled_swapped", 32, width), value("untiled", 32, width),
                              value("tiled", 16, width), value("tiled", 32, width)};
        for (int i = 0; i < 4; ++i) EXPECT_NEAR(got[i], row[i + 1], row[i + 1] * 0.055);
        chosen.plot = timing::TimingChoice::Plot::OverSwapped;
        EXPECT_NEAR(value("untiled", 32, width), 12, 0.6);
        chosen.plot = timing::TimingChoice::Plot::OverUntiled;
        EXPECT_NEAR(value("tiled", 32, width), 1.47, 0.08);
        chosen.plot = timing::TimingChoice::Plot::Gflops;
    }
}

// A case of the Limits screen: its device as changed, and one of its blocks by both sums.
struct Shown {
    limits::LimitsChoice state;
    analysis::DeviceSpec device;
    SumColumn lecture, hardware;
    std::string answer;
};
Shown shown(const char* preset, size_t block = 0) {
    Shown s;
    take_preset(s.state, preset, block);
    EXPECT_EQ(s.state.preset, preset);
    s.device = limits_device(s.state, kernels::devices());
    s.lecture = sum_column(s.device.sm, s.state.use, analysis::Sum::Lecture);
    s.hardware = sum_column(s.device.sm, s.state.use, analysis::Sum::Hardware);
    s.answer = words(s.state, kernels::devices()).answer;
    return s;
}
bool says(const Shown& s, const std::string& part) { return s.answer.find(part) != std::string::npos; }

TEST(CourseLimits, EightBlockSlots) {
    const Shown s = shown("slots");
    EXPECT_EQ(s.lecture.blocks, "8");
    EXPECT_EQ(s.lecture.threads, "1,024 of 1,536");
    EXPECT_EQ(s.lecture.words, "limited by block slots");
    EXPECT_TRUE(says(s, "No. The SM has 8 block slots"));
    EXPECT_TRUE(says(s, "Its 1,536 thread slots would take 12 blocks"));
}

TEST(CourseLimits, FourBlockSlots) {
    constexpr const char* kThreads[] = {"512 of 1,536", "1,024 of 1,536", "1,536 of 1,536", "1,024 of 1,536"};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(shown("four-slots", i).lecture.threads, kThreads[i]);
    EXPECT_EQ(shown("four-slots", 2).lecture.blocks, "3");
    EXPECT_TRUE(says(shown("four-slots"), "Best: 512 threads."));
}

TEST(CourseLimits, TheCliff) {
    const Shown ten = shown("cliff", 0), twelve = shown("cliff", 1);
    EXPECT_EQ(ten.lecture.bars[2].used, "15,360 of 16,384") << "6 blocks of 2,560";
    EXPECT_EQ(twelve.lecture.bars[2].used, "15,360 of 16,384") << "5 blocks of 3,072";
    EXPECT_EQ(ten.lecture.blocks, "6");
    EXPECT_EQ(twelve.lecture.blocks, "5");
    EXPECT_EQ(ten.lecture.threads, "1,536 of 1,536");
    EXPECT_EQ(twelve.lecture.threads, "1,280 of 1,536");
    EXPECT_TRUE(says(ten, "With 12 registers 5 blocks fit, 1,280 threads, 16.7 % fewer"));
    EXPECT_TRUE(says(twelve,
                     "6 blocks × 256 threads × 12 registers = 18,432, more than the SM's 16,384: 5 blocks "
                     "fit, 1,280 threads"));
    EXPECT_EQ(change_words(ten.state, kernels::devices()), "1,536 thread slots in place of 1,024");
    EXPECT_EQ(change_words(shown("slots").state, kernels::devices()), "");
}

TEST(CourseLimits, RegistersAndSharedMemoryOfAG80) {
    EXPECT_TRUE(says(shown("g80-registers"), "768 thread slots share 8,192 registers: at most 10 a thread"));
    EXPECT_TRUE(says(shown("g80-registers"), "the chip's 16 SMs have 131,072."));
    EXPECT_EQ(shown("g80-registers", 0).lecture.threads, "768 of 768");
    EXPECT_EQ(shown("g80-registers", 1).lecture.threads, "512 of 768");
    EXPECT_TRUE(says(shown("g80-registers"), "33.3 %"));
    EXPECT_TRUE(says(shown("g80-shared"), "8 block slots share 16,384 bytes: at most 2,048 a block"));
    EXPECT_EQ(shown("g80-shared", 0).lecture.blocks, "8");
    EXPECT_EQ(shown("g80-shared", 1).lecture.blocks, "3");
}

TEST(CourseLimits, BlocksOfAGt200) {
    EXPECT_EQ(shown("gt200-blocks", 0).lecture.threads, "512 of 1,024");
    EXPECT_EQ(shown("gt200-blocks", 1).lecture.threads, "1,024 of 1,024");
    EXPECT_TRUE(shown("gt200-blocks", 2).lecture.refused);
    EXPECT_TRUE(shown("gt200-blocks", 2).hardware.refused);
    EXPECT_NE(shown("gt200-blocks", 2).lecture.words.find("does not launch"), std::string::npos);
}

TEST(CourseLimits, AGridOverTheSmsOfAGtx580) {
    const Shown s = shown("gtx580-grid");
    for (const char* part : {"60 blocks on 16 SMs: 12 get 4 and 4 get 3", "100 × 48 = 4,800 registers",
                             "4 warps, the last with 4 threads", "by the hardware's sum 5 blocks"})
        EXPECT_TRUE(says(s, part)) << part;
    EXPECT_EQ(s.lecture.blocks, "6");
    EXPECT_EQ(s.hardware.blocks, "5") << "what rounding up costs";
}

TEST(CourseLimits, AVectorALatencyAndTwoChips) {
    EXPECT_TRUE(says(shown("vector"), "4 blocks × 512 threads = 2,048 for 2,000 elements: 1 warp diverges"));
    EXPECT_TRUE(says(shown("latency"), "13 warps"));
    EXPECT_TRUE(says(shown("latency"), "4 instructions × 4 cycles = 16 cycles, and 200 / 16 = 12.5"));
    const Shown two = shown("gk107-gm107");
    for (const char* part : {"5 against 2 SMs", "64 against 48 KiB", "32 against 16 block slots",
                             "86.4 against 80 GB/s", "1,305.6 against 812.5 GFLOP/s"})
        EXPECT_TRUE(says(two, part)) << two.answer;
}

}  // namespace
}  // namespace tilescope::app
