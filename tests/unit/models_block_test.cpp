// What is looked up about a block: sums so far, hits, phases, tiles; against slow twins.
#include <random>

#include "app/look/sums.h"
#include "app/look/timeline.h"
#include "app/step/model.h"
#include "tests/launch_examples.h"
#include "tests/unit/trace_requests.h"
#include "tests/unit/view_recordings.h"
#include "tests/vector_kernel.h"

namespace tilescope::app {
namespace {

TEST(BlockSums, EqualTheSumsOfTheSteps) {
    for (const char* kernel : {"tiled", "untiled_swapped", "tiled_transposed"}) {
        const Recorded made = record(kernel, {50, 40, 30, 16}, 1);
        std::mt19937 random(3);
        for (int i = 0; i < 40; ++i) {
            const uint32_t step =
                i == 0 ? made.index->steps - 1 : static_cast<uint32_t>(random() % made.index->steps);
            EXPECT_EQ(sums_so_far(*made.trace, *made.index, step).total(),
                      analysis::sums_of_steps(*made.trace, made.index->first, made.index->first + step + 1))
                << kernel << " step " << step;
        }
    }
}

// A thread that only loads is not one that takes part in nothing.
TEST(BlockIndex, KnowsTheLanesThatLoadOrStoreAnything) {
    const Recorded sums = replayed(kernels::recorded(kernels::warp_sums()));
    EXPECT_EQ(sums.index->lanes_of_warp, (std::vector<uint32_t>{~0u, ~0u, 0}));
    EXPECT_TRUE(look::output_of(*sums.index, 32) && !look::output_of(*sums.index, 33));
    const Recorded add = replayed(kernels::recorded(kernels::vector_add()), 1);
    EXPECT_EQ(add.index->lanes_of_warp, (std::vector<uint32_t>{~0u, 0xF}));
}

TEST(BlockSums, EndAtTheSumsOfTheRecordingForOneBlock) {
    const Recorded made = record("tiled", {16, 48, 16, 16});
    const auto summary = analysis::summarize(*made.trace);
    ASSERT_TRUE(summary);
    const SplitSums all = sums_so_far(*made.trace, *made.index, made.index->steps - 1);
    EXPECT_EQ(all[StepKind::GlobalLoad], (*summary)[StepKind::GlobalLoad]);
    EXPECT_EQ(all[StepKind::GlobalStore], (*summary)[StepKind::GlobalStore]);
    EXPECT_EQ(all[StepKind::SharedLoad], (*summary)[StepKind::SharedLoad]);
    EXPECT_EQ(all[StepKind::SharedStore], (*summary)[StepKind::SharedStore]);
    EXPECT_EQ(all.barriers, 2u * 3 * 8) << "two a phase, three phases, eight warps";
    const SumsTable table = sums_table("all", all, *summary);
    ASSERT_EQ(table.rows.size(), 4u);
    EXPECT_EQ(table.rows[0].requests, "48");
    EXPECT_EQ(table.rows[0].cost, "192");
    EXPECT_FALSE(table.rows[0].wasteful);
}

TEST(Words, NumbersStayShortAndExactWhereTheyCan) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1048576), "1,048,576");
    EXPECT_EQ(short_count(999'999), "999,999");
    EXPECT_EQ(short_count(8'388'608), "8.39 M");
    EXPECT_EQ(counted(1, "sector"), "1 sector");
    EXPECT_EQ(counted(0, "sector"), "0 sectors");
    EXPECT_EQ(bytes_text(512), "512 bytes");
    EXPECT_EQ(bytes_text(16384), "16.4 kB");
    EXPECT_EQ(short_value(value_of(-9.f)), "−9");
    EXPECT_EQ(short_value(value_of(2.5f)), "2.5");
    EXPECT_EQ(range_words("row", 0, 2), "rows 0 and 1");
    EXPECT_EQ(range_words("row", 3, 4), "row 3");
}

TEST(Source, CountsRequestsOfTheBlockUpToTheStep) {
    const Recorded made = record("tiled", {32, 32, 32, 16}, 2);
    for (const uint32_t step : {0u, 17u, 300u, made.index->steps - 1}) {
        const SourceView source = source_view(*made.trace, *made.index, step);
        uint64_t all = 0;
        std::vector<uint64_t> by_line(source.lines.size() + 1, 0);
        for (uint32_t at = 0; at <= step; ++at)
            ++by_line[made.trace->sites[made.trace->form_of(made.index->first + at).site].line];
        for (size_t i = 0; i < source.lines.size(); ++i) {
            EXPECT_EQ(source.lines[i].hits, by_line[i + 1]) << "line " << i + 1;
            all += source.lines[i].hits;
        }
        EXPECT_EQ(all, step + 1);
        ASSERT_GE(source.current, 0);
        const ptx::Site& site = made.trace->sites[made.trace->form_of(made.index->first + step).site];
        EXPECT_EQ(static_cast<uint32_t>(source.current) + 1, site.line);
    }
    const SourceView first = source_view(*made.trace, *made.index, 0);
    EXPECT_NE(first.lines[static_cast<size_t>(first.current)].text.find("M[row * k + m_col]"),
              std::string_view::npos);
    EXPECT_TRUE(first.ptx.starts_with("ld.global")) << first.ptx;
}

TEST(Source, IsThePtxWhereTheRecordingHasNone) {
    const Recorded made = replayed(vector_recording());
    const SourceView view = source_view(*made.trace, *made.index, 0);
    EXPECT_EQ(view.name, "vectors.ptx");
    EXPECT_EQ(view.ptx_place, "") << "it is shown already";
    ASSERT_GE(view.current, 0);
    const SourceLine& line = view.lines[static_cast<size_t>(view.current)];
    EXPECT_NE(line.text.find("ld.global.v4.f32"), std::string_view::npos) << line.text;
    EXPECT_TRUE(line.has_site);
    EXPECT_EQ(line.hits, 1u);
    EXPECT_EQ(shown_line(*made.trace, made.trace->sites[0]), made.trace->sites[0].ptx_line);
    const Recorded tiled = record("tiled", {4, 4, 4, 2});
    EXPECT_EQ(shown_line(*tiled.trace, tiled.trace->sites[0]), tiled.trace->sites[0].line);
}

TEST(Phases, SpansFollowOneAnotherAndCoverTheBlock) {
    const Recorded made = record("tiled", {64, 64, 64, 16});
    const auto& spans = made.index->spans;
    ASSERT_EQ(spans.size(), 5u);
    for (size_t i = 0; i < spans.size(); ++i) {
        EXPECT_EQ(spans[i].first, i == 0 ? 0 : spans[i - 1].end);
        EXPECT_EQ(spans[i].phase, i < 4 ? i : analysis::kAfter);
    }
    EXPECT_EQ(spans.back().end, made.index->steps);
}

// Every column of every warp's row shows the kind of the warp's latest step there.
TEST(Timeline, ShowsEveryWarpsLatestStep) {
    const Recorded made = record("tiled", {32, 32, 32, 16});
    for (const auto& [first, end, columns] :
         {std::array<uint32_t, 3>{0, made.index->steps, 2000},
          std::array<uint32_t, 3>{0, made.index->steps, 40}, std::array<uint32_t, 3>{100, 220, 500}}) {
        const TimelineView view = timeline_view(*made.trace, *made.index, first, end, columns);
        ASSERT_EQ(view.warps.size(), 8u);
        for (uint32_t warp = 0; warp < 8; ++warp) {
            uint32_t before = first;
            for (const TimelineMark& mark : view.warps[warp]) {
                EXPECT_GE(mark.first, before);
                EXPECT_LT(mark.first, mark.end);
                EXPECT_LE(mark.end, end);
                before = mark.end;
                uint32_t latest = mark.first;
                while (latest > 0 && made.trace->warp_of(made.index->first + latest) != warp) --latest;
                EXPECT_EQ(mark.kind, kind_of(*made.trace, made.index->first + latest))
                    << "warp " << warp << " step " << mark.first;
            }
        }
    }
}

TEST(Timeline, HasABarrierWhereTheLastWarpArrives) {
    const Recorded made = record("tiled", {32, 32, 32, 16});
    const TimelineView view = timeline_view(*made.trace, *made.index, 0, made.index->steps, 800);
    ASSERT_EQ(view.barriers.size(), 4u);
    for (const uint32_t step : view.barriers) {
        EXPECT_EQ(kind_of(*made.trace, made.index->first + step), StepKind::Barrier);
        EXPECT_NE(kind_of(*made.trace, made.index->first + step + 1), StepKind::Barrier)
            << "the block goes on";
    }
    EXPECT_EQ(step_at(view, 0), 0u);
    EXPECT_EQ(step_at(view, 1), made.index->steps - 1);
    EXPECT_EQ(step_at(view, -3), 0u);
    EXPECT_EQ(step_at(view, 0.5), made.index->steps / 2);
}

TEST(Block, AnEmptyOneIsShownAsNothing) {
    trace::Trace empty;
    empty.launch.arrays = {test_array("M", Space::Global, ArrayRole::Input, 4, 4, 0x10000)};
    const auto index = index_block(empty, {}, 0);
    EXPECT_EQ(index->steps, 0u);
    EXPECT_EQ(sums_so_far(empty, *index, 5).total(), analysis::Sums{});
    EXPECT_TRUE(timeline_view(empty, *index, 0, 10, 100).phases.empty());
}

}  // namespace
}  // namespace tilescope::app
