// The race of two recordings: the clock of work by closed forms, and all that a moment shows against a slow twin
// that walks the trace from its first step.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "app/race/model.h"
#include "app/session/shown.h"
#include "core/base/words.h"
#include "tests/launches.h"
#include "tests/random_kernel.h"
#include "tests/recorded.h"
#include "tests/twin/race.h"
#include "tests/vector_kernel.h"

namespace tilescope::race {
namespace {

struct Runner {
    std::shared_ptr<const session::Recording> recording;
    look::Tally tally;
    std::shared_ptr<const session::Totals> totals;
    Run run() const { return {*recording, tally}; }
    const trace::Trace& trace() const { return *recording->trace; }
};

Runner runner(trace::Trace trace) {
    Runner one;
    auto made = session::make_recording(std::move(trace), "test");
    EXPECT_TRUE(made);
    one.recording = *made;
    one.tally = *look::tally_of(*one.recording);
    one.totals = *session::totals_of(*one.recording);
    return one;
}
Runner runner(const char* kernel, kernels::Shape shape) { return runner(kernels::recorded(kernel, shape)); }

Race race(const Runner& a, const Runner& b) {
    auto made = race_of(a.run(), *a.totals, b.run(), *b.totals);
    EXPECT_TRUE(made);
    return std::move(*made);
}

void hold(const Runner& of, const Side& side, std::array<Counts, 3>& counts, uint32_t moment,
          uint64_t steps) {
    const trace::Trace& trace = of.trace();
    ASSERT_EQ(side.steps[moment], steps) << side.kernel << " at moment " << moment;
    const twin::Walked walked = twin::walk(trace, steps);
    EXPECT_EQ(side.bytes[moment], walked.bytes);
    for (size_t i = 0; i < side.inputs.size(); ++i) {
        const Map& map = side.inputs[i];
        const std::vector<uint32_t>& bins = counts[i].at(map, moment);
        std::vector<uint64_t> loads(bins.size());
        uint64_t all = 0;
        for (const auto& [element, count] : walked.loads)
            if (element.first == map.array) {
                const uint64_t row = element.second / map.width, col = element.second % map.width;
                loads[row / map.side * map.bin_cols + col / map.side] += count;
                all += count;
            }
        EXPECT_TRUE(std::ranges::equal(bins, loads)) << side.kernel << " at moment " << moment;
        EXPECT_EQ(map.sum[moment], all);
    }
    if (!side.inputs.empty()) {
        const uint8_t array = side.inputs[0].array;
        uint64_t so_far = 0, elements = 0;
        for (const auto& [element, count] : walked.loads) so_far += element.first == array ? count : 0;
        for (const auto& [element, count] : twin::walk(trace, trace.steps()).loads)
            elements += element.first == array;
        const double each = elements == 0 ? 0 : static_cast<double>(so_far) / static_cast<double>(elements);
        EXPECT_DOUBLE_EQ(side.loads_each(moment), each);
    }
    for (const Map& map : side.outputs) {
        const std::vector<uint32_t>& bins = counts[2].at(map, moment);
        std::vector<uint64_t> stored(bins.size());
        uint64_t all = 0;
        for (const auto& [array, element] : walked.stored)
            if (array == map.array) {
                const uint64_t row = element / map.width, col = element % map.width;
                ++stored[row / map.side * map.bin_cols + col / map.side];
                ++all;
            }
        EXPECT_TRUE(std::ranges::equal(bins, stored)) << side.kernel << " at moment " << moment;
        EXPECT_EQ(map.sum[moment], all);
    }
}

struct Lot {
    std::mt19937 random;
    uint32_t below(uint32_t end) { return static_cast<uint32_t>(random() % end); }
};

// Moments by lot, to and fro, and both ends.
void hold_at_random(const Runner& a, const Runner& b, const Race& made, Lot& lot) {
    std::array<std::array<Counts, 3>, 2> counts;
    for (int i = 0; i < 8; ++i) {
        const uint32_t moment = i == 0 ? 0 : i == 1 ? kMoments : lot.below(kMoments + 1);
        for (const bool is_a : {true, false}) {
            const Runner& of = is_a ? a : b;
            const uint64_t all = of.trace().steps();
            const uint64_t steps = made.clock == Clock::Steps
                                       ? (moment * all + kMoments - 1) / kMoments
                                       : twin::steps_of_product(of.trace(), moment, kMoments);
            hold(of, is_a ? made.a : made.b, counts[is_a ? 0 : 1], moment, steps);
        }
    }
}

trace::Trace random_trace(uint64_t seed) {
    const test::RandomKernel kernel(seed);
    const auto list = [](const char* name, ArrayRole role, uint32_t elements) {
        Array array = test_array(name, Space::Global, role, 1, elements, 0, name);
        array.rank = 1;
        return array;
    };
    kernels::Plan plan;
    plan.kernel = "random";
    plan.launch = test_launch({list("in", ArrayRole::Input, test::RandomKernel::kInputs),
                               list("out", ArrayRole::Output, kernel.blocks() * kernel.threads()),
                               list("counters", ArrayRole::InOut, test::RandomKernel::kCounters)},
                              {kernel.blocks(), 1, 1}, {kernel.threads(), 1, 1});
    plan.ptx_name = "random.ptx";
    plan.ptx = kernel.emit();
    return kernels::recorded(plan);
}

TEST(Race, ATwinThatWalksTheTraceCountsTheSame) {
    constexpr const char* kKernels[] = {"untiled",         "tiled",        "untiled_swapped",
                                        "tiled_swapped",   "tiled_padded", "tiled_transposed",
                                        "tiled_no_barrier"};
    constexpr uint32_t kTiles[] = {2, 4, 8, 16};
    Lot lot{std::mt19937(35)};
    for (int i = 0; i < 10; ++i) {
        const uint32_t T = kTiles[lot.below(4)], most = std::min(3 * T, 20u);
        const kernels::Shape shape{1 + lot.below(most), 1 + lot.below(most), 1 + lot.below(most), T};
        const char *one = kKernels[lot.below(7)], *other = kKernels[lot.below(7)];
        SCOPED_TRACE(
            fmt::format("{} and {}, {} x {} x {}, T = {}", one, other, shape.m, shape.k, shape.n, T));
        const Runner a = runner(one, shape), b = runner(other, shape);
        const Race made = race(a, b);
        EXPECT_EQ(made.clock, Clock::Work);
        hold_at_random(a, b, made, lot);
    }
}

TEST(Race, WhatIsNoProductGoesByItsSteps) {
    Lot lot{std::mt19937(36)};
    const Runner vectors = runner(vector_recording()), some = runner(random_trace(3)),
                 other = runner(random_trace(8));
    for (const auto& [a, b] : {std::pair{&vectors, &some}, {&some, &other}}) {
        const Race made = race(*a, *b);
        EXPECT_EQ(made.clock, Clock::Steps);
        EXPECT_FALSE(made.same_work);
        EXPECT_TRUE(clock_text(made).starts_with("They compute different things"));
        hold_at_random(*a, *b, made, lot);
    }
    // A product beside what is none, and beside one of another size.
    const Runner product = runner("tiled", {8, 8, 8, 4}), larger = runner("tiled", {16, 16, 16, 4});
    for (const Runner* b : {&vectors, &larger}) {
        const Race made = race(product, *b);
        EXPECT_EQ(made.clock, Clock::Steps);
        hold_at_random(product, *b, made, lot);
    }
}

// Without tiles 2 m n k elements are loaded, with tiles 2 m n k / T; at each share of the work that is a whole
// number of blocks both have loaded that share.
TEST(Race, TilesBringASixteenthOfTheBytes) {
    constexpr uint64_t n = 64, T = 16, all = 2 * n * n * n * sizeof(float);
    const Runner a = runner("untiled", {n, n, n, T}), b = runner("tiled", {n, n, n, T});
    const Race made = race(a, b);
    EXPECT_EQ(made.a.bytes.front() + made.b.bytes.front(), 0u);
    EXPECT_EQ(made.a.bytes.back(), all);
    EXPECT_EQ(made.b.bytes.back(), all / T);
    EXPECT_DOUBLE_EQ(made.a.loads_each(kMoments), n);
    EXPECT_DOUBLE_EQ(made.b.loads_each(kMoments), n / T);
    EXPECT_EQ(made.most(), n);
    for (const uint32_t part : {1u, 2u, 3u}) {
        const uint32_t moment = kMoments * part / 4;
        EXPECT_EQ(made.a.bytes[moment], all * part / 4);
        EXPECT_EQ(made.b.bytes[moment], all * part / 4 / T);
        EXPECT_DOUBLE_EQ(pipe_width(made, made.a, moment), 1);
        EXPECT_DOUBLE_EQ(pipe_width(made, made.b, moment), 1.0 / T);
    }
    // A moment within a block: 3/10 of 16 blocks are 4 of them and 4/5 of the next.
    const uint64_t reads = 2 * n * n * n, a_block = reads / 16;
    const uint64_t done = reads * 3 / 10;
    EXPECT_GE(made.a.bytes[kMoments * 3 / 10], done * sizeof(float));
    EXPECT_LT(made.a.bytes[kMoments * 3 / 10], done * sizeof(float) + 32 * sizeof(float));
    EXPECT_NEAR(made.a.of_block[kMoments * 3 / 10], static_cast<double>(done % a_block) / a_block, 0.001);
    for (uint32_t moment = 1; moment <= kMoments; ++moment) {
        EXPECT_LE(made.a.bytes[moment - 1], made.a.bytes[moment]);
        EXPECT_LE(made.b.steps[moment - 1], made.b.steps[moment]);
    }
}

// What the block at work loads in its phase: a column of M and a row of N without tiles, T x T of both with them.
TEST(Race, FramesAreOfThePhase) {
    const Runner a = runner("untiled", {32, 32, 32, 8}), b = runner("tiled", {32, 32, 32, 8});
    const Race made = race(a, b);
    const uint32_t moment = kMoments * 5 / 16 + 13;  // of block 5: rows 8 to 15, columns 8 to 15
    const auto extents = [&](const Map& map) {
        return std::pair{map.at_work[moment].rows(), map.at_work[moment].cols()};
    };
    EXPECT_EQ(extents(made.a.inputs[0]), (std::pair{8u, 1u}));
    EXPECT_EQ(extents(made.a.inputs[1]), (std::pair{1u, 8u}));
    for (const Map& map : made.b.inputs) EXPECT_EQ(extents(map), (std::pair{8u, 8u}));
    for (const Side* side : {&made.a, &made.b})
        EXPECT_EQ(side->outputs[0].at_work[moment], (CellRect{8, 16, 8, 16}));
}

TEST(Race, SentencesSayWhatIsSo) {
    const Runner a = runner("untiled", {16, 16, 16, 4}), b = runner("tiled", {16, 16, 16, 4});
    const Race made = race(a, b);
    EXPECT_EQ(sentence(made, 0, nullptr), "Untiled and tiled compute the same product at the same pace.");
    EXPECT_EQ(sentence(made, kMoments / 2, nullptr),
              "At half of the product, untiled has loaded 4 × the bytes of tiled.");
    EXPECT_EQ(sentence(made, kMoments / 4, nullptr),
              "At 25 % of the product, untiled has loaded 4 × the bytes of tiled.");
    EXPECT_EQ(sentence(made, kMoments, nullptr), "Tiled loads 4 × fewer bytes than untiled.");
    const Race self = race(b, b);
    EXPECT_EQ(sentence(self, kMoments / 2, nullptr),
              "At half of the product, both have loaded as many bytes.");
    EXPECT_EQ(sentence(self, kMoments, nullptr), "For the whole product both have loaded as many bytes.");
    // With times.
    kernels::Timing quick, late;
    quick.median_ms = 1, late.median_ms = 3;
    const look::Run run_a = a.run(), run_b = b.run();
    look::Speed speed{run_b, run_a, quick, late, "GPU X"};
    speed.requests = {4, 1};
    speed.times = 3, speed.a_is_fast = false;
    const std::string loads = "Tiled loads 4 × fewer bytes, ";
    EXPECT_EQ(sentence(made, kMoments, &speed), loads + "but is only 3 × as fast (GPU X).");
    speed.l2_slow = 0.125, speed.l2_fast = 0.75;
    EXPECT_EQ(sentence(made, kMoments, &speed),
              loads + "but is only 3 × as fast (GPU X), as L1 serves at least 88 % of untiled's sectors.");
    speed.a_is_fast = true;
    EXPECT_EQ(sentence(made, kMoments, &speed), loads + "yet untiled is 3 × as fast (GPU X).");
    speed.told_apart = false;
    EXPECT_EQ(sentence(made, kMoments, &speed), loads + "and both are as fast (GPU X).");
}

// Of a window of blocks the clock is of these blocks, and the words say how many they are.
TEST(Race, AWindowOfBlocks) {
    const auto window = [](const char* kernel) {
        const auto plan = kernels::plan(kernel, {256, 64, 256, 16});
        EXPECT_TRUE(plan);
        kernels::RecordOptions options;
        options.timestamp = false;
        options.window = {3, 5, 7, 9};
        auto trace = kernels::record_cpu(*plan, options);
        EXPECT_TRUE(trace);
        return std::move(*trace);
    };
    const Runner a = runner(window("untiled")), b = runner(window("tiled"));
    const Race made = race(a, b);
    EXPECT_EQ(made.clock, Clock::Work);
    EXPECT_EQ(clock_text(made),
              "Both have done as many multiply-adds; each recording goes block by block. Recorded of each: 4 "
              "of 256 blocks.");
    EXPECT_EQ(made.a.inputs[0].side, 2u) << "256 rows in 128 bins";
    EXPECT_EQ(made.a.bytes[kMoments / 2], 16 * made.b.bytes[kMoments / 2]);
    EXPECT_DOUBLE_EQ(made.a.loads_each(kMoments), 32) << "of the elements that two columns of blocks load";
    Lot lot{std::mt19937(37)};
    hold_at_random(a, b, made, lot);
}

// Bins at the edges are of fewer elements.
TEST(Race, BinsAddUpToTheArray) {
    for (const auto& [m, k] : {std::pair{1u, 1u}, {129u, 300u}, {5u, 128u}, {257u, 129u}}) {
        const auto plan = kernels::plan("untiled", {m, k, 4, 4});
        const Runner one = runner(kernels::recorded(*plan));
        const Race made = race(one, one);
        for (const Map* map : {&made.a.inputs[0], &made.a.inputs[1], &made.a.outputs[0]}) {
            uint64_t all = 0;
            for (const uint32_t elements : map->elements_of) all += elements;
            EXPECT_EQ(all, map->elements);
        }
    }
}

TEST(Race, EndsWhereItIsStopped) {
    const Runner a = runner("untiled", {32, 32, 32, 8});
    const std::atomic<bool> stop{true};
    EXPECT_FALSE(race_of(a.run(), *a.totals, a.run(), *a.totals, {&stop}));
}

}  // namespace
}  // namespace tilescope::race
