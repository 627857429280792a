// The charts' arithmetic, the figures of the Timing screen against their rows, and the cases of Limits.
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/input/overlays.h"
#include "app/limits/model.h"
#include "app/look/time_words.h"
#include "app/timing/model.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"
#include "tests/app_names.h"

namespace tilescope::app {
namespace {

TEST(Chart, DecadesAreLabelledAndPixelsGoBackToValues) {
    const auto ticks = log_ticks(0.1, 1000);
    std::vector<std::string> said;
    for (const Tick& tick : ticks)
        if (!tick.label.empty()) said.push_back(tick.label);
    EXPECT_EQ(said, (std::vector<std::string>{"0.1", "1", "10", "100", "1,000"}));
    EXPECT_EQ(ticks.size(), 4 * 9 + 1u);
    const Axis axis{0.1, 1000, true, 20, 420};
    EXPECT_FLOAT_EQ(at(axis, 1), 120);
    EXPECT_NEAR(value_at(axis, 320), 100, 1e-3);
    double low = 3, high = 480;
    round_out(low, high);
    EXPECT_EQ(low, 2);
    EXPECT_EQ(high, 500);
}

TEST(Chart, SpreadLabelsNeverOverlapAndKeepTheirOrder) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<float> wanted(1 + random() % 12);
        for (float& y : wanted) y = static_cast<float>(random() % 300);
        const auto placed = spread(wanted, 16, 0, 400);
        for (size_t i = 0; i < wanted.size(); ++i) {
            EXPECT_GE(placed[i], 8 - 0.01f);
            EXPECT_LE(placed[i], 392 + 0.01f);
            for (size_t j = 0; j < i; ++j) {
                EXPECT_GE(std::abs(placed[i] - placed[j]), 16 - 0.01f);
                if (wanted[i] < wanted[j]) EXPECT_LT(placed[i], placed[j]);
            }
        }
    }
    EXPECT_EQ(spread({50, 150}, 16, 0, 400), (std::vector<float>{50, 150})) << "nothing moves without need";
}

TEST(Chart, PlacedLabelsAreClearOfOneAnother) {
    std::mt19937 random(11);
    std::vector<PixelBox> taken;
    for (int i = 0; i < 60; ++i) {
        const size_t before = taken.size();
        const auto box = place(static_cast<float>(random() % 300), static_cast<float>(random() % 200), 60, 14,
                               8, {0, 0, 300, 200}, taken);
        EXPECT_EQ(taken.size(), before + (box ? 1 : 0));
    }
    for (size_t i = 0; i < taken.size(); ++i)
        for (size_t j = 0; j < i; ++j) EXPECT_FALSE(taken[i].overlaps(taken[j]));
    EXPECT_LT(taken.size(), 60u) << "there is no room for all of them";
}

TEST(Chart, TheNearestPointIsTheOneASearchFinds) {
    const std::vector<Dot> dots{{0, 0}, {10, 0}, {10, 10}};
    EXPECT_EQ(nearest(dots, 9, 2, 5), 1u);
    EXPECT_EQ(nearest(dots, 5, 30, 5), std::nullopt);
}

TEST(Timing, EveryValueIsItsRowsAndSpeedUpsDivideMedians) {
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    ASSERT_FALSE(kernels::shipped_timings().empty());
    const Machine& machine = all.front();
    for (const uint32_t tile : timed_tiles(machine)) {
        for (int plot = 0; plot < 4; ++plot) {
            timing::TimingChoice chosen;
            chosen.tile = tile;
            chosen.plot = static_cast<timing::TimingChoice::Plot>(plot);
            const TimeChart chart = time_chart(machine, chosen);
            EXPECT_EQ(
                chart.lines.size(),
                static_cast<size_t>(std::ranges::count_if(timed_kernels(machine), [&](const auto& kernel) {
                    return kernels::input_of(kernel) == kernels::input_of(chosen.kernel);
                })));
            for (const TimeLine& line : chart.lines) {
                for (const TimePoint& point : line.points) {
                    const kernels::Timing* row = row_of(machine, line.kernel, point.width, tile);
                    ASSERT_NE(row, nullptr);
                    const char* rival = plot == 2 ? "untiled" : "untiled_swapped";
                    const kernels::Timing* other = row_of(machine, rival, point.width, tile);
                    const double want = plot == 0   ? row->median_ms
                                        : plot == 1 ? row->gflops
                                                    : other->median_ms / row->median_ms;
                    EXPECT_EQ(point.value, want) << line.kernel << point.width;
                    EXPECT_TRUE(holds(chart.y, point.value));
                }
            }
        }
    }
}

// What is said of a recording's time elsewhere is of its own PTX; Timing opens at the times of the same.
TEST(Timing, ARecordingIsTimedWithItsOwnCompiler) {
    const auto* const ships = kernels::find_shipped_recording("tiled-1024x1024x1024-t16-window");
    ASSERT_NE(ships, nullptr);
    for (const bool as_it_ships : {true, false}) {
        auto trace = kernels::open_shipped(*ships);
        ASSERT_TRUE(trace);
        if (!as_it_ships) trace->meta.ptx += "\n";
        State state;
        state.timing.beside = timing::State::Beside::Roofline;
        show_trace(state, std::move(*trace));
        state.session.screen = "timing";
        update(state, true);
        EXPECT_EQ(state.timing.tile, 16u);
        if (!as_it_ships) {
            EXPECT_EQ(state.timing.device, "") << "whose PTX that is nobody knows";
            continue;
        }
        const auto all = timing::machines(kernels::shipped_timings(), kernels::devices());
        const timing::Machine& machine = *timing::find_machine(all, state.timing.device);
        ASSERT_NE(machine.times, nullptr);
        EXPECT_EQ(machine.times->compiler, "clang");
        const auto said = look::rival_times(state.session.trace().meta, state.session.recording->product,
                                            kernels::shipped_timings());
        ASSERT_TRUE(said);
        const kernels::Timing *own = timing::row_of(machine, "tiled", 1024, 16),
                              *rival = timing::row_of(machine, "untiled", 1024, 16);
        ASSERT_TRUE(own != nullptr && rival != nullptr);
        EXPECT_EQ(std::llround(100 * rival->median_ms / own->median_ms),
                  std::llround(100 * said->rival_ms / said->own_ms));
        state.timing.device = "GeForce RTX 3090";  // a device that was not timed stays what it is
        state.timing.opened_on = 0;
        update(state, true);
        EXPECT_EQ(state.timing.device, "GeForce RTX 3090");
    }
}

TEST(Timing, WhatWasNotMeasuredIsABound) {
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    const Machine* g80 = nullptr;
    for (const Machine& machine : all)
        if (machine.stated_gbs == 86.4 && machine.stated_gflops < 600) g80 = &machine;
    ASSERT_NE(g80, nullptr);
    EXPECT_EQ(g80->times, nullptr);
    EXPECT_DOUBLE_EQ(bound_gflops(*g80, analysis::tile_intensity(16)),
                     std::min(g80->stated_gflops, 86.4 * 4));
    for (const TimeLine& line : time_chart(*g80, {}).lines) {
        EXPECT_TRUE(line.bound);
        EXPECT_NE(line.label.find("bound"), std::string::npos);
    }
    for (const RoofPoint& point : roofline_chart(*g80, {}, {}, 1024).points)
        EXPECT_EQ(point.kind, RoofPoint::Kind::Bound);
}

TEST(Timing, TheChainOfTrafficIsThatOfTheCounters) {
    kernels::Timings times;
    times.device = "Test GPU";
    times.roofs = {800, 8000, 1000, 10000};
    kernels::Timing row;
    row.kernel = "untiled", row.m = row.k = row.n = 256, row.tile = 16, row.median_ms = 0.1;
    row.verified = true;
    const double flop = 2.0 * 256 * 256 * 256;
    row.gflops = flop / 0.1 / 1e6;
    row.requested_gbs = (flop * 4 + 4 * 256 * 256) / 0.1 / 1e6;
    times.rows = {row};
    kernels::Counters counters;
    counters.device = times.device;
    counters.rows = {{"untiled",
                      256,
                      256,
                      256,
                      16,
                      "clang",
                      {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e6},
                       {"lts__t_sectors_op_read.sum", 1e5},
                       {"dram__bytes_read.sum", 524288}}}};
    const std::vector<kernels::Timings> sets{times};
    const auto all = machines(sets, {});
    const TrafficChain chain = traffic_chain(all[0], {counters}, "untiled", 256, 16);
    ASSERT_EQ(chain.rows.size(), 4u);
    EXPECT_NEAR(chain.rows[0].bytes, flop * 4, 1);
    EXPECT_NEAR(chain.rows[0].intensity, 0.25, 1e-9);
    EXPECT_EQ(chain.rows[1].bytes, 32e6);
    EXPECT_EQ(chain.rows[2].bytes, 32e5);
    EXPECT_EQ(chain.rows[3].bytes, 524288);
    EXPECT_DOUBLE_EQ(chain.rows[3].intensity, flop / 524288);
    EXPECT_EQ(traffic_chain(all[0], {}, "untiled", 256, 16).rows.size(), 1u) << "nobody counted";
    EXPECT_TRUE(traffic_chain(all[0], {}, "tiled", 256, 16).rows.empty()) << "nobody measured";
    EXPECT_FALSE(time_chart(all[0], {}).nothing.empty()) << "no times of T = 32";
}

// A device has one bandwidth and one peak that are stated, wherever they are said: by the driver of the one
// that was measured, in assets/devices, on the screen.
TEST(Timing, ADevicesStatedFiguresAreOne) {
    size_t known = 0;
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    for (const Machine& machine : all) {
        if (machine.times == nullptr) continue;
        const analysis::DeviceSpec* device = kernels::find_driver_name(machine.times->device);
        if (device == nullptr) continue;
        ++known;
        EXPECT_DOUBLE_EQ(machine.stated_gbs, device->memory_gbs) << machine.name;
        EXPECT_DOUBLE_EQ(machine.stated_gflops, device->peak_gflops) << machine.name;
        EXPECT_DOUBLE_EQ(machine.times->roofs.stated_gbs, device->memory_gbs) << machine.name;
    }
    EXPECT_GT(known, 0u);
}

// What threads load for an operation is one number: of the point on the roofline, of the chain, of the words
// beside it, and, where the tiles are whole, of the lecture's sum.
TEST(Timing, AKernelsIntensityIsOneNumber) {
    size_t seen = 0;
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    for (const Machine& machine : all) {
        if (machine.times == nullptr) continue;
        for (const kernels::Timing& row : machine.times->rows) {
            const kernels::KernelInfo* const info = kernels::find(row.kernel);
            if (info == nullptr || row.requested_gbs <= 0 || row.m != row.n || row.k != row.n) continue;
            const kernels::BlockTile tile = kernels::block_tile(*info, {row.m, row.k, row.n, row.tile});
            if (row.m % tile.rows != 0 || row.n % tile.cols != 0) continue;
            timing::TimingChoice chosen;
            chosen.kernel = row.kernel;
            chosen.tile = row.tile;
            const TrafficChain chain = traffic_chain(machine, {}, row.kernel, row.n, row.tile);
            ASSERT_FALSE(chain.rows.empty());
            const std::string number = figure(chain.rows[0].intensity);
            EXPECT_TRUE(chain.reasons.at(0).starts_with("At " + number + " FLOP/B ")) << chain.reasons[0];
            for (const RoofPoint& point : roofline_chart(machine, {}, chosen, row.n).points) {
                const bool own = point.kind == RoofPoint::Kind::Asked && point.kernel == row.kernel;
                const bool sum = point.kind == RoofPoint::Kind::Bound && point.kernel == row.kernel;
                if (!own && !sum) continue;
                ++seen;
                EXPECT_EQ(figure(point.intensity), number) << point.exact;
                if (own) EXPECT_NE(point.exact.find(" " + number + " FLOP per byte"), std::string::npos);
            }
        }
    }
    EXPECT_GT(seen, 100u);
}

TEST(Timing, ALaunchThatIsNoProductIsCounted) {
    analysis::RecordedWork work;
    work.flops = 1024, work.loaded = 8192, work.stored = 4096, work.sector_bytes = 16384;
    work.intensity = 0.125, work.intensity_of_sectors = 0.0625;
    Machine machine;
    machine.name = "Test GPU", machine.stated_gbs = 800, machine.stated_gflops = 8000;
    const Launched launch{"vector_add", work};
    const RooflineChart chart = roofline_chart(machine, launch);
    ASSERT_EQ(chart.points.size(), 2u);
    EXPECT_EQ(chart.points[0].label, "bound, by bytes: 100");
    EXPECT_EQ(chart.points[1].label, "bound, by sectors: 50");
    const TrafficChain chain = traffic_chain(machine, launch);
    ASSERT_EQ(chain.rows.size(), 2u);
    EXPECT_EQ(chain.rows[1].beside_asked, "2 × more");
    for (const auto& [sectors, share] : {std::pair{2048u, "4 × fewer"},
                                         {8191u, "same"},
                                         {8192u, "same"},
                                         {8193u, "same"},
                                         {98304u, "12 × more"}}) {
        work.sector_bytes = sectors;
        EXPECT_EQ(traffic_chain(machine, launch).rows[1].beside_asked, share);
    }
    work.sector_bytes = 16384;
    EXPECT_TRUE(chain.reasons[0].starts_with("At 0.125 FLOP/B the stated roof is 100 GFLOP/s"));
    using Row = std::pair<std::string, std::string>;
    const auto rows = counted_rows(machine, launch);
    EXPECT_EQ(rows.front(), (Row{"floating-point operations", "1,024"}));
    EXPECT_EQ(rows.back(), (Row{"measured time", "none"}));

    work.flops = 0, work.intensity = work.intensity_of_sectors = 0;  // it only moves bytes
    EXPECT_TRUE(roofline_chart(machine, launch).points.empty());
    EXPECT_FALSE(roofline_chart(machine, launch).roofs.empty());
    EXPECT_TRUE(traffic_chain(machine, launch).reasons[0].starts_with("No floating-point operations"));
}

// A T whose block does not launch on the device is not offered, and it is said why.
TEST(Timing, TilesThatADeviceLaunches) {
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    size_t narrow = 0;
    for (const Machine& machine : all) {
        const auto device = std::ranges::find(kernels::devices(), machine.name, &analysis::DeviceSpec::name);
        if (device == kernels::devices().end()) continue;
        EXPECT_EQ(name_of(machine), fmt::format("{} ({})", device->name, device->chip));
        for (const uint32_t tile : timed_tiles(machine))
            EXPECT_LE(tile * tile, device->sm.threads_per_block) << machine.name;
        const bool every = timed_tiles(machine).back() == 32;
        EXPECT_EQ(every, device->sm.threads_per_block >= 1024) << machine.name;
        EXPECT_EQ(left_out_tiles(machine).empty(), every) << machine.name;
        narrow += !every;
    }
    EXPECT_GE(narrow, 4u) << "compute capability 1.x";
    EXPECT_EQ(left_out_tiles(*find_machine(all, "GeForce 8800 GTX")),
              "T = 32 does not launch: 32 × 32 = 1,024 threads, a block of G80 has at most 512.");
}

// Both ratios are named, once each, and the intensity is the one that the kernel's point stands at.
TEST(Timing, IntensityAndCgmaAreNamed) {
    const auto all = machines(kernels::shipped_timings(), kernels::devices());
    const Machine& h200 = *find_machine(all, "NVIDIA H200");
    timing::TimingChoice chosen;
    const auto chart = [&](const char* kernel, uint32_t tile) {
        chosen.kernel = kernel, chosen.tile = tile;
        return roofline_chart(h200, kernels::shipped_counters(), chosen, 1024);
    };
    using Ratios = std::vector<std::string>;
    EXPECT_EQ(chart("tiled", 32).ratios,
              (Ratios{"arithmetic intensity 2T FLOP / 8 B = T/4 = 8 FLOP/B",
                      "CGMA 2T FLOP / 2 accesses = T = 32 FLOP per global access"}));
    EXPECT_EQ(chart("untiled", 16).ratios, (Ratios{"arithmetic intensity 2 FLOP / 8 B = 0.25 FLOP/B",
                                                   "CGMA 2 FLOP / 2 accesses = 1 FLOP per global access"}));
    EXPECT_TRUE(chart("cublas", 16).ratios.empty()) << "what it asks for is not known";
    size_t points = 0;
    for (const uint32_t tile : timed_tiles(h200))
        for (const std::string& kernel : timed_kernels(h200)) {
            const RooflineChart made = chart(kernel.c_str(), tile);
            for (const RoofPoint& point : made.points) {
                if (point.kernel != kernel || point.kind != RoofPoint::Kind::Asked ||
                    kernels::is_library(kernel))
                    continue;
                EXPECT_NE(made.ratios[0].find("= " + draw::figure(point.intensity) + " FLOP/B"),
                          std::string::npos)
                    << kernel << " " << made.ratios[0] << " stands at " << point.intensity;
                ++points;
            }
        }
    EXPECT_GT(points, 10u);
}

TEST(Limits, TheCliffOfTheLectureLosesASixth) {
    limits::LimitsChoice state;
    take_preset(state, "cliff", 0);
    const auto sm = limits_device(state, kernels::devices()).sm;
    EXPECT_EQ(sum_column(sm, state.use, analysis::Sum::Lecture).threads, "1,536 of 1,536");
    take_preset(state, "cliff", 1);
    const SumColumn fewer = sum_column(sm, state.use, analysis::Sum::Lecture);
    EXPECT_EQ(fewer.blocks, "5");
    EXPECT_EQ(fewer.threads, "1,280 of 1,536");
    EXPECT_TRUE(fewer.bars[2].limits);
}

TEST(Limits, EveryCaseHasBothSums) {
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) {
        limits::LimitsChoice state;
        take_preset(state, preset.id);
        const auto device = limits_device(state, kernels::devices());
        EXPECT_EQ(device.id, preset.device);
        for (const auto sum : {analysis::Sum::Lecture, analysis::Sum::Hardware})
            EXPECT_EQ(sum_column(device.sm, state.use, sum).bars.size(), 4u);
    }
}

// Whatever was shown before: nothing of it stays.
TEST(Limits, ACaseSetsAllOfItsValues) {
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) {
        ASSERT_FALSE(preset.blocks.empty()) << preset.id;
        for (size_t block = 0; block < preset.blocks.size(); ++block) {
            limits::LimitsChoice before{
                .preset = "", .device = "h200", .use = {.threads = 96, .registers = 77}};
            before.use.shared = 4096;
            before.parameter = preset.parameter == analysis::Parameter::Shared ? analysis::Parameter::Threads
                                                                               : analysis::Parameter::Shared;
            take_preset(before, preset.id, block);
            EXPECT_EQ(before.preset, preset.id);
            EXPECT_EQ(before.device, preset.device);
            EXPECT_EQ(before.use, preset.blocks[block].use) << preset.id;
            EXPECT_EQ(before.parameter, preset.parameter) << preset.id;
        }
    }
}

// Question and answer are of the values that are shown.
TEST(Limits, TheAnswerFollowsTheValues) {
    const auto& devices = kernels::devices();
    limits::LimitsChoice state;
    take_preset(state, "vector");
    const CaseWords before = words(state, devices);
    change_parameter(state, limits_device(state, devices).sm, analysis::Parameter::Threads, 1);
    const CaseWords after = words(state, devices);
    EXPECT_NE(before.question.find("blocks of 512:"), std::string::npos) << before.question;
    EXPECT_NE(after.question.find("blocks of 544:"), std::string::npos) << after.question;
    EXPECT_NE(after.answer.find("× 544 threads"), std::string::npos) << after.answer;
    take_preset(state, "cliff");
    for (int registers = 10; registers < 20; ++registers) {
        const std::string says = fmt::format("256 threads × {} registers", registers);
        EXPECT_NE(words(state, devices).answer.find(says), std::string::npos) << says;
        change_parameter(state, limits_device(state, devices).sm, analysis::Parameter::Registers, 1);
    }
    take_device(state, "g80");
    EXPECT_EQ(words(state, devices).question, "How many blocks does an SM of GeForce 8800 GTX (G80) hold?");
    EXPECT_TRUE(words(state, devices).device.starts_with("GeForce 8800 GTX (G80), compute capability 1.0;"));
}

TEST(Limits, ParametersStayWithinTheDevice) {
    limits::LimitsChoice state;
    const auto sm = limits_device(state, kernels::devices()).sm;
    change_parameter(state, sm, analysis::Parameter::Threads, -100);
    EXPECT_EQ(state.use.threads, sm.warp_size);
    change_parameter(state, sm, analysis::Parameter::Threads, 1000);
    EXPECT_EQ(state.use.threads, sm.threads_per_block);
    state.use.threads = 100;
    change_parameter(state, sm, analysis::Parameter::Threads, -1);
    EXPECT_EQ(state.use.threads, 96u);
    change_parameter(state, sm, analysis::Parameter::Shared, 1);
    EXPECT_EQ(state.use.shared, 512u);
}

TEST(Limits, KeysAreTheScreensOwn) {
    app::State state;
    state.session.screen = "limits";
    EXPECT_TRUE(screen_of(state).press(state, state.session, {platform::Key::Plus}));
    EXPECT_EQ(state.limits.use.registers, 11u);
    EXPECT_FALSE(screen_of(state).press(state, state.session, {platform::Key::T}));
    state.session.screen = "step";
    EXPECT_FALSE(screen_of(state).press(state, state.session, {platform::Key::Plus}));
    EXPECT_EQ(state.limits.use.registers, 11u);
}

}  // namespace
}  // namespace tilescope::app
