// Blocks with very many steps, phases and slices: their index takes a small multiple of their steps, or says
// that it takes too much.
#include <atomic>

#include <gtest/gtest.h>

#include "app/draw/sheet.h"
#include "app/look/block_index.h"
#include "app/look/timeline.h"
#include "app/session/shown.h"
#include "core/recording/phases.h"
#include "tests/allowed_memory.h"
#include "tests/opened_blocks.h"
#include "tests/unit/bombs.h"

namespace tilescope::look {
namespace {

using LongBlocks = AllowedMemoryTest;

std::shared_ptr<const BlockIndex> indexed(const trace::Trace& trace, Stop stop = {}) {
    return index_block(analysis::with_rule(trace, *analysis::phase_rule(trace)), 0, stop);
}

// 250 arrays and thousands of phases: boxes for what is touched, not for every array in every phase.
TEST_F(LongBlocks, HaveBoxesForWhatTheyTouch) {
    const trace::Trace trace =
        made_of({.name = "arrays", .steps = 9000, .forms = 501, .arrays = 250, .barrier_every = 3});
    const auto index = indexed(trace);
    ASSERT_EQ(index->why_not, "");
    EXPECT_GT(index->phases.phases, 2000u);
    EXPECT_LE(index->touched_in_phase.size(), 9000u);
    for (uint32_t step = 0; step < 30; ++step) {
        const trace::Access access = trace::decode(trace, step);
        if (access.array == trace::kNoArray) continue;
        const CellRect tile = tile_of_phase(trace, *index, access.array, index->phases.phase[step]);
        for_elements(trace, step, access, [&](uint32_t, uint64_t element) {
            const CellRect cell = draw::cell_on_sheet(trace.launch.arrays[access.array], element);
            EXPECT_TRUE(tile.contains(cell.row0, cell.col0)) << step;
        });
    }
}

// The slices that are touched have a box each, however many the array has before them.
TEST_F(LongBlocks, HaveABoxForEachSliceTheyTouch) {
    const trace::Trace trace =
        made_of({.name = "slices", .steps = 60, .irregular = true, .slices = 1u << 20});
    const auto index = indexed(trace);
    const std::vector<CellRect> slices = slices_of_phase(trace, *index, 0, 0);
    EXPECT_GE(slices.size(), 30u);
    EXPECT_LE(slices.size(), 64u);
    for (const CellRect& slice : slices) EXPECT_FALSE(slice.empty());
}

TEST_F(LongBlocks, SayThatTheyTakeMoreMemoryThanIsAllowed) {
    const trace::Trace trace = made_of({.name = "long", .steps = 60'000});
    EXPECT_EQ(indexed(trace)->steps, 60'000u);
    allow("0.002");
    const auto index = indexed(trace);
    EXPECT_EQ(index->steps, 0u);
    EXPECT_EQ(
        index->why_not,
        "showing the 60,000 steps of block(0) takes more memory than the 0.002 GB that are allowed; set "
        "TILESCOPE_MAX_MEMORY to more gigabytes");
    EXPECT_EQ(sums_so_far(trace, *index, 5), SplitSums{});
}

TEST_F(LongBlocks, AreLeftWhenTheyAreNotWantedAnyMore) {
    const trace::Trace trace = made_of({.name = "long", .steps = 6000});
    const std::atomic<bool> stop = true;
    EXPECT_EQ(indexed(trace, {&stop})->steps, 0u);
    EXPECT_FALSE(sums_before_blocks(trace, {&stop}));
    EXPECT_TRUE(sums_before_blocks(trace));
}

// As many phases as steps, and no more of them than columns are drawn.
TEST_F(LongBlocks, ShowAPhaseAColumn) {
    const trace::Trace trace = made_of({.name = "phases", .steps = 30'000});
    const auto index = indexed(trace);
    ASSERT_GT(index->spans.size(), 5000u);
    const TimelineView view = timeline_view(trace, *index, 0, index->steps, 500);
    EXPECT_LE(view.phases.size(), 500u);
    EXPECT_GT(view.phases.size(), 400u);
}

}  // namespace
}  // namespace tilescope::look
