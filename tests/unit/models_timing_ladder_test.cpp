// The ladder of Timing: every figure is its row's, the sentence is made of them, a rung that was not timed is
// told and not guessed, and what is said of each step is counted in recordings.
#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "app/timing/ladder.h"
#include "core/analysis/summary.h"
#include "kernels/textbook/devices.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::timing {
namespace {

using analysis::StepKind;

using kernels::Timing;
using namespace std::string_view_literals;

constexpr uint32_t kLadderWidth = 2048, kLadderTile = 16;
const std::string_view kTop = kernels::top_of_ladder();

Timing timed(std::string_view kernel, double ms) {
    Timing row;
    row.kernel = kernel;
    row.m = row.k = row.n = kLadderWidth;
    row.tile = kernels::is_library(kernel) || kernels::tile_width(kernel) == 0 ? 0 : kLadderTile;
    row.verified = true, row.runs = 20, row.registers = 64;
    row.median_ms = ms, row.low_ms = ms * 0.99, row.high_ms = ms * 1.01;
    row.gflops = 2.0 * kLadderWidth * kLadderWidth * kLadderWidth / ms / 1e6;
    return row;
}

// 4 ms without tiles, a quarter of a millisecond at the end, which is 80 % of the library's speed.
kernels::Timings sample() {
    kernels::Timings times;
    times.device = "NVIDIA H200", times.compiler = "nvrtc";
    times.rows = {timed("untiled", 4),         timed("tiled", 2.5),        timed("register_column", 1),
                  timed("register_tile", 0.5), timed("vector_loads", 0.4), timed("warp_tile", 0.32),
                  timed(kTop, 0.25),           timed("cublas", 0.2)};
    return times;
}

class Ladder : public testing::Test {
protected:
    Ladder() { chosen_.tile = kLadderTile; }
    Timing& of(std::string_view kernel) {
        return *std::ranges::find(times_[0].rows, kernel, &Timing::kernel);
    }
    void drop(std::string_view kernel) {
        std::erase_if(times_[0].rows, [&](auto& r) { return r.kernel == kernel; });
    }
    void set(std::string_view kernel, double ms) { of(kernel) = timed(kernel, ms); }
    LadderChart chart() const {
        const std::vector<Machine> all = machines(times_, kernels::devices());
        return ladder_chart(all.front(), kernels::input_of(chosen_.kernel), chosen_.tile, kLadderWidth,
                            bounds_);
    }
    std::vector<BoundsOf> asked() const {
        const std::vector<Machine> all = machines(times_, kernels::devices());
        return bounds_of_ladder(all.front(), chosen_, kLadderWidth);
    }
    // As if it had been worked out.
    void know(std::string_view kernel, Result<analysis::Levels> levels) {
        for (const BoundsOf& of : asked())
            if (of.kernel == kernel)
                bounds_.known.emplace(of,
                                      std::make_shared<const Result<analysis::Levels>>(std::move(levels)));
    }
    static analysis::Levels bound_by(const char* resource) {
        analysis::Levels levels;
        levels.launch.blocks = levels.model.simulated = 16;
        levels.bounds.all = {{resource, 0.1, "what it is made of"}};
        return levels;
    }

    std::vector<kernels::Timings> times_{sample()};
    TimingChoice chosen_;
    Bounds bounds_;
};

const LadderRow& row(const LadderChart& chart, std::string_view kernel) {
    return *std::ranges::find(chart.rows, kernel, &LadderRow::kernel);
}

TEST_F(Ladder, EveryFigureIsItsRows) {
    const LadderChart shown = chart();
    ASSERT_EQ(shown.rows.size(), rungs(ElementType::F32).size() + 1);
    EXPECT_EQ(shown.rows.front().kernel, kLibrary);
    EXPECT_EQ(shown.rows.back().kernel, "untiled");
    EXPECT_TRUE(shown.rows.back().step.empty()) << "nothing leads to the ground";
    for (const LadderRow& one : shown.rows) {
        const Timing& timing = of(one.kernel);
        EXPECT_EQ(one.gflops, timing.gflops);
        EXPECT_EQ(one.rate, draw::figure(timing.gflops));
        EXPECT_EQ(one.share, fmt::format("{:.0f} %", 100 * 0.2 / timing.median_ms)) << one.kernel;
        EXPECT_TRUE(one.measured.starts_with("Measured: the median of 20 runs, ")) << one.measured;
        EXPECT_NE(one.measured.find(one.kernel == kLibrary ? "of cuBLAS, on NVIDIA H200"
                                                           : "of the PTX by nvrtc, on NVIDIA H200"),
                  std::string::npos)
            << one.measured;
    }
    EXPECT_EQ(row(shown, "tiled").name, "tiled, T = 16");
    EXPECT_EQ(row(shown, "warp_tile").name, "warp tile") << "it has no T";
    EXPECT_EQ(shown.note, "GFLOP/s are measured, bounds modelled. Point at a figure for its source.");
}

TEST_F(Ladder, TheSentenceIsMadeOfTheFigures) {
    EXPECT_EQ(
        chart().sentence,
        "double buffer reaches 80 % of cuBLAS at width 2,048, 16.0 times untiled. Each rung is faster than "
        "the one below it, register column by most: 2.50 times.");
    set("vector_loads", 0.55);  // longer than the rung below it
    EXPECT_EQ(
        chart().sentence,
        "double buffer reaches 80 % of cuBLAS at width 2,048, 16.0 times untiled. vector loads is no faster "
        "than the rung below; register column gains most: 2.50 times.");
    set(kTop, 0.318);  // its runs do not tell it from the rung below
    EXPECT_NE(chart().sentence.find(" vector loads and double buffer are no faster than the rung below;"),
              std::string::npos)
        << chart().sentence;
    set(kTop, 0.4);  // another is the fastest
    EXPECT_TRUE(chart().sentence.starts_with("warp tile reaches 62 % of cuBLAS")) << chart().sentence;
}

TEST_F(Ladder, TheSentenceSaysHowTheBoundWentWhereBothAreKnown) {
    know("untiled", bound_by("data_pipe"));
    EXPECT_EQ(chart().sentence.find("bound by"), std::string::npos);
    know(kTop, bound_by("fp32"));
    EXPECT_TRUE(
        chart().sentence.ends_with(" untiled is bound by the L1 data pipe, double buffer by the fp32 units."))
        << chart().sentence;
    bounds_.known.clear();
    know("untiled", bound_by("fp32"));
    know(kTop, bound_by("fp32"));
    EXPECT_TRUE(chart().sentence.ends_with(" untiled and double buffer are both bound by the fp32 units."))
        << chart().sentence;
}

TEST_F(Ladder, WhatWasNotTimedIsAbsentAndTold) {
    for (const std::string_view kernel : {"register_column"sv, "vector_loads"sv, kTop}) drop(kernel);
    const LadderChart shown = chart();
    EXPECT_EQ(shown.rows.size(), rungs(ElementType::F32).size() + 1) << "its row stands there";
    EXPECT_EQ(row(shown, "vector_loads").gflops, 0);
    EXPECT_EQ(row(shown, "vector_loads").rate + row(shown, "vector_loads").share, "");
    EXPECT_EQ(row(shown, "vector_loads").bound, "");
    EXPECT_FALSE(row(shown, "vector_loads").step.empty());
    EXPECT_TRUE(
        shown.note.starts_with("Not timed at this width: register column, vector loads and double buffer. "))
        << shown.note;
    EXPECT_TRUE(shown.sentence.starts_with("warp tile reaches 62 % of cuBLAS")) << shown.sentence;
    drop("cublas");
    const LadderChart alone = chart();
    EXPECT_EQ(alone.rows.size(), rungs(ElementType::F32).size());
    EXPECT_EQ(row(alone, "tiled").share, "");
    EXPECT_TRUE(alone.sentence.starts_with(
        fmt::format("warp tile reaches {} GFLOP/s at width 2,048", draw::figure(of("warp_tile").gflops))))
        << alone.sentence;
    EXPECT_NE(alone.note.find("double buffer and cuBLAS. "), std::string::npos) << alone.note;
    for (const Rung& rung : rungs(ElementType::F32)) drop(rung.kernel);
    times_[0].rows.push_back(timed("cublas", 1));
    EXPECT_TRUE(chart().sentence.starts_with("None of these kernels was timed at width 2,048"));
    EXPECT_TRUE(asked().empty());
}

TEST_F(Ladder, TwoRungsHaveNoStepsToCompare) {
    for (const Rung& rung : rungs(ElementType::F32).subspan(2)) drop(rung.kernel);
    EXPECT_EQ(chart().sentence, "tiled reaches 8 % of cuBLAS at width 2,048, 1.60 times untiled.");
}

TEST_F(Ladder, BoundsFillInAsTheyAreWorkedOut) {
    chosen_.kernel = "warp_tile";
    ASSERT_EQ(asked().size(), rungs(ElementType::F32).size());
    EXPECT_EQ(asked()[0].kernel, "warp_tile") << "the chosen one first";
    EXPECT_EQ(asked()[1].kernel, "untiled");
    EXPECT_EQ(row(chart(), "tiled").bound, "to be worked out");
    EXPECT_FALSE(row(chart(), "tiled").known);
    know("tiled", bound_by("data_pipe"));
    EXPECT_EQ(row(chart(), "tiled").bound, "L1 data pipe");
    EXPECT_TRUE(row(chart(), "tiled").known);
    EXPECT_TRUE(row(chart(), "tiled").bound_rests_on.starts_with("Modelled. Bound by the L1 data pipe: "));
    know("vector_loads", Error{"it is too large"});
    EXPECT_EQ(row(chart(), "vector_loads").bound, "not known");
    EXPECT_EQ(row(chart(), "vector_loads").bound_rests_on, "it is too large.");
    EXPECT_EQ(row(chart(), kLibrary).bound, "");
    session::Jobs jobs;
    bounds_.ask(asked()[1], jobs, false);
    EXPECT_EQ(row(chart(), "untiled").bound, "being worked out");
    bounds_.working.stop();
}

// One ladder at a time: that of what the chosen kernel multiplies.
TEST_F(Ladder, HalvesHaveOneOfTheirOwn) {
    const std::vector<Timing> halves = {timed("wmma_tile", 0.2),     timed("mma_tile", 0.1),
                                        timed("mma_swizzled", 0.08), timed("mma_stages", 0.05),
                                        timed("wgmma_ring", 0.045),  timed("cublas_half", 0.036)};
    times_[0].rows.insert(times_[0].rows.end(), halves.begin(), halves.end());
    const std::string before = chart().sentence;
    EXPECT_EQ(chart().rows.size(), rungs(ElementType::F32).size() + 1);
    chosen_.kernel = "mma_swizzled";
    const LadderChart shown = chart();
    ASSERT_EQ(shown.rows.size(), halves.size());
    for (size_t i = 0; i < halves.size(); ++i)
        EXPECT_EQ(shown.rows[i].kernel, halves[halves.size() - 1 - i].kernel);
    EXPECT_EQ(row(shown, "wmma_tile").share, "18 %") << "of cuBLAS's product of halves";
    EXPECT_EQ(shown.sentence,
              "wgmma ring reaches 80 % of cuBLAS at width 2,048, 4.44 times wmma tile. Each rung is faster "
              "than the one "
              "below it, mma tile by most: 2.00 times.");
    EXPECT_EQ(asked().size(), rungs(ElementType::F16).size());
    EXPECT_EQ(asked()[0].kernel, "mma_swizzled") << "the chosen one first";
    know("wmma_tile", bound_by("lsu"));
    know("wgmma_ring", bound_by("tensor"));
    EXPECT_TRUE(chart().sentence.ends_with(
        " wmma tile is bound by the load/store units, wgmma ring by the tensor cores."))
        << chart().sentence;
    drop("wgmma_ring");
    EXPECT_TRUE(chart().sentence.starts_with("mma stages reaches 72 % of cuBLAS")) << chart().sentence;
    EXPECT_NE(chart().note.find("Not timed at this width: wgmma ring. "), std::string::npos) << chart().note;
    drop("cublas_half");
    EXPECT_NE(chart().note.find("Not timed at this width: wgmma ring and cuBLAS (halves). "),
              std::string::npos)
        << chart().note;
    chosen_.kernel = "tiled";
    EXPECT_EQ(chart().sentence, before);
    const std::vector<Machine> all = machines(times_, kernels::devices());
    EXPECT_EQ(timed_inputs(all.front()), (std::vector{ElementType::F32, ElementType::F16}));
    EXPECT_GT(all.front().peak(ElementType::F16), all.front().peak(ElementType::F32));
    // Lines of the other type are not drawn beside these.
    for (const std::string kernel : {"tiled", "mma_tile"}) {
        chosen_.kernel = kernel;
        const TimeChart times = time_chart(all.front(), chosen_);
        EXPECT_FALSE(times.lines.empty());
        for (const TimeLine& line : times.lines)
            EXPECT_EQ(kernels::input_of(line.kernel), kernels::input_of(kernel)) << line.kernel;
    }
}

// What each step is said to do, in recordings of whole blocks.
TEST(LadderSteps, OfHalvesAreCountedInRecordings) {
    constexpr uint64_t kM = 128, kK = 64, kN = 128, kProducts = kM * kK * kN;
    std::map<std::string_view, uint64_t> read, conflicts;
    for (const Rung& rung : rungs(ElementType::F16)) {
        SCOPED_TRACE(rung.kernel);
        const trace::Trace trace = kernels::recorded(std::string(rung.kernel), {kM, kK, kN, 0});
        const auto sums = analysis::summarize(trace);
        ASSERT_TRUE(sums);
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            const trace::Form& form = trace.form_of(step);
            if (trace.sites[form.site].kind != ptx::SiteKind::Load || form.space != Space::Shared ||
                trace.launch.arrays[form.array].type != ElementType::F16)
                continue;
            const trace::Access access = trace::decode(trace, step);
            read[rung.kernel] += std::popcount(access.mask) * trace.sites[access.site].bytes;
        }
        conflicts[rung.kernel] = (*sums)[StepKind::SharedLoad].bank_conflicts();
        if (rung.kernel == "mma_stages")
            EXPECT_EQ(sums->barriers_per_block, sums->phases + 1) << "one before the first phase";
        else if (rung.kernel == "wgmma_ring")
            EXPECT_EQ(sums->barriers_per_block, 1u) << "behind which its mbarriers are ready";
        else
            EXPECT_EQ(sums->barriers_per_block, 2 * sums->phases + (rung.kernel == "wmma_tile" ? 1 : 0));
    }
    const auto said = [](size_t at) { return rungs(ElementType::F16)[at].removes; };
    EXPECT_EQ(read["wmma_tile"], kProducts / 8);
    EXPECT_EQ(read["mma_tile"], kProducts / 16);
    EXPECT_NE(said(1).find("a byte read from shared memory feeds 16 products, not 8"), std::string::npos);
    EXPECT_GT(conflicts["mma_tile"], 0u);
    EXPECT_EQ(conflicts["mma_swizzled"], 0u);
    EXPECT_EQ(conflicts["mma_stages"], 0u);
    EXPECT_EQ(read["mma_swizzled"], read["mma_tile"]);
}

TEST(LadderSteps, AreCountedInRecordings) {
    const auto said = [](std::string_view kernel) {
        return std::ranges::find_if(rungs(ElementType::F32),
                                    [&](const Rung& rung) { return rung.kernel == kernel; })
            ->removes;
    };
    constexpr uint64_t kM = 256, kK = 32, kN = 128;
    for (const Rung& rung : rungs(ElementType::F32)) {
        SCOPED_TRACE(rung.kernel);
        const uint32_t tile = kernels::tile_width(rung.kernel);
        const trace::Trace trace = kernels::recorded(std::string(rung.kernel), {kM, kK, kN, tile});
        const auto sums = analysis::summarize(trace);
        ASSERT_TRUE(sums);
        uint64_t loads = 0;
        for (const analysis::Reuse& reuse : sums->reuse) loads += reuse.loads;
        const uint64_t products = kM * kK * kN, reads = (*sums)[StepKind::SharedLoad].lanes;
        const auto feed = [&](uint64_t read, uint64_t fed) {
            EXPECT_EQ(reads * fed, products * read);
            EXPECT_NE(
                said(rung.kernel).find(fmt::format("{} reads of shared memory feed {} products", read, fed)),
                std::string::npos);
        };
        if (rung.kernel == "untiled") EXPECT_EQ(loads, 2 * products);
        if (rung.kernel == "tiled") {
            EXPECT_EQ(loads * tile, 2 * products);
            EXPECT_EQ(reads, 2 * products) << "16 reads for 8 products";
        }
        if (rung.kernel == "register_column") feed(9, 8);
        if (rung.kernel == "register_tile") feed(16, 64);
        if (rung.kernel == "vector_loads") {
            feed(4, 64);
            EXPECT_GT((*sums)[StepKind::SharedLoad].wavefronts,
                      (*sums)[StepKind::SharedLoad].ideal_wavefronts);
        }
        if (rung.kernel == "warp_tile")
            EXPECT_EQ((*sums)[StepKind::SharedLoad].wavefronts,
                      (*sums)[StepKind::SharedLoad].ideal_wavefronts);
        if (rung.kernel == kTop) {
            EXPECT_EQ(sums->barriers_per_block, sums->phases + 1) << "one before the first phase";
            EXPECT_TRUE(std::ranges::all_of(trace.sites, [](const ptx::Site& site) {
                return site.kind != ptx::SiteKind::Load || site.space != Space::Global || site.copy;
            })) << "no register has what is loaded";
        } else if (kernels::find(rung.kernel)->tiled) {
            EXPECT_EQ(sums->barriers_per_block, 2 * sums->phases);
        }
    }
}

}  // namespace
}  // namespace tilescope::timing
