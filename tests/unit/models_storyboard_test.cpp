// A block's phases as a page: its figures, counted again in the recording.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/look/storyboard.h"
#include "tests/launch_examples.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

look::Story story(const Recorded& made, uint32_t most) {
    const auto block = look::cube_of_block(*made.trace, *made.index, made.replay.get());
    const auto told = look::story_of(made, *made.index, block ? &*block : nullptr, most);
    EXPECT_TRUE(told) << told.error().message;
    return told ? *told : look::Story{};
}

// 64 x 64 x 64 with T = 16: closed forms.
TEST(Storyboard, OfTheTiledProductIsTheLectures) {
    const Recorded made = record("tiled", {64, 64, 64, 16});
    const look::Story told = story(made, 5);
    ASSERT_EQ(told.phases.size(), 4u);
    EXPECT_EQ(told.all, 4u);
    EXPECT_EQ(told.left_out, 0u);
    EXPECT_EQ(told.threads, 256u);
    EXPECT_EQ(told.title, "P = M · N in 4 phases: block(0,0) of 64 × 64 × 64, T = 16");
    for (uint32_t phase = 0; phase < 4; ++phase) {
        const look::StoryPhase& one = told.phases[phase];
        EXPECT_EQ(one.phase, phase);
        EXPECT_EQ(one.slab, (look::CubeBox{{0, 16, 0, 16}, phase * 16, phase * 16 + 16}));
        EXPECT_EQ(one.elements, (std::array<uint64_t, 2>{256, 256}));
        EXPECT_EQ(one.lane_loads, 512u);
        EXPECT_EQ(one.filled, 512u);
        EXPECT_EQ(one.products, 4096u);
        EXPECT_EQ(one.bytes, (phase + 1) * 2048u);
        EXPECT_EQ(one.bytes_each_twice, (phase + 1) * 4096u * 8u);
        EXPECT_EQ(one.tile[0], (std::vector<look::CellRect>{{0, 16, phase * 16, phase * 16 + 16}}));
        EXPECT_EQ(one.before[1].empty(), phase == 0);
        if (phase > 0) EXPECT_EQ(one.before[1], (std::vector<look::CellRect>{{0, phase * 16, 0, 16}}));
        ASSERT_EQ(one.waits.size(), 8u);
        for (uint32_t warp = 0; warp < 8; ++warp) EXPECT_EQ(one.waits[warp].warp, warp);
        EXPECT_FLOAT_EQ(std::ranges::max(one.waits, {}, &look::StoryWait::arrives).arrives, 1);
    }
}

// Of products on tensor cores none is told by itself: a phase's are those of its tiles, and all together the block's.
TEST(Storyboard, OnTensorCoresCountsWholeTiles) {
    struct Case {
        const char* kernel;
        kernels::Shape shape;
        uint32_t depth;  // of k, a phase
        uint64_t waits;  // at mbarriers, all phases
    };
    // In each of the ring's 4 phases its producer waits once, and each warp of the warpgroup.
    for (const Case& c :
         {Case{"mma_tile", {64, 64, 64, 0}, 32, 0}, Case{"wgmma_ring", {128, 256, 128, 0}, 64, 20}}) {
        SCOPED_TRACE(c.kernel);
        const Recorded made = record(c.kernel, c.shape);
        const look::Story told = story(made, 1000);
        EXPECT_FALSE(told.by_thread);
        const auto [m, k, n, tile] = c.shape;
        ASSERT_EQ(told.phases.size(), k / c.depth);
        uint64_t products = 0, waits = 0;
        for (const look::StoryPhase& one : told.phases) {
            EXPECT_EQ(one.products, uint64_t{m} * n * c.depth);
            products += one.products, waits += one.mbarrier_waits;
            EXPECT_EQ(one.bytes_each_twice, products * 2 * 2);
        }
        EXPECT_EQ(products, uint64_t{m} * n * k);
        EXPECT_EQ(waits, c.waits);
    }
}

// Any kernel: bytes, loads and stores by a count of the steps, one by one.
TEST(Storyboard, CountsWhatTheBlockDoes) {
    for (const char* kernel : {"untiled", "tiled_transposed", "register_column", "warp_tile"}) {
        SCOPED_TRACE(kernel);
        const bool tile = std::string(kernel) == "untiled" || std::string(kernel) == "tiled_transposed";
        const Recorded made =
            record(kernel, tile ? kernels::Shape{12, 9, 10, 4} : kernels::Shape{40, 20, 36, 0});
        const look::Story told = story(made, 1000);
        uint64_t bytes = 0;
        ASSERT_EQ(told.phases.size(), made.index->phases.phases);
        for (const look::StoryPhase& one : told.phases) {
            uint64_t loads = 0, filled = 0;
            uint32_t last = 0;
            for (uint32_t step = 0; step < made.index->steps; ++step) {
                const uint32_t phase = std::min(made.index->phases.phase[step], told.all - 1);
                if (made.index->phases.phase[step] == one.phase) last = step;
                if (phase != one.phase) continue;
                const trace::Access access = trace::decode(*made.trace, made.index->first + step);
                const ptx::Site& site = made.trace->sites[access.site];
                const uint64_t elements =
                    uint64_t{static_cast<uint32_t>(std::popcount(access.mask))} * site.bytes / 4;
                if (look::kind_of(*made.trace, made.index->first + step) == StepKind::GlobalLoad)
                    loads += elements;
                if (look::kind_of(*made.trace, made.index->first + step) == StepKind::SharedStore)
                    filled += elements;
            }
            bytes += loads * 4;
            EXPECT_EQ(one.lane_loads, loads);
            EXPECT_EQ(one.filled, filled);
            EXPECT_EQ(one.bytes, bytes);
            EXPECT_EQ(one.last_step, last);
        }
    }
}

TEST(Storyboard, LeavesPhasesOutBeforeTheLast) {
    const Recorded made = record("tiled", {8, 40, 8, 4});
    const look::Story told = story(made, 4);
    ASSERT_EQ(told.phases.size(), 4u);
    EXPECT_EQ(told.all, 10u);
    EXPECT_EQ(told.left_out, 6u);
    std::vector<uint32_t> shown;
    for (const look::StoryPhase& one : told.phases) shown.push_back(one.phase);
    EXPECT_EQ(shown, (std::vector<uint32_t>{0, 1, 2, 9}));
}

TEST(Storyboard, OfNoProductIsRefused) {
    const Recorded made = replayed(kernels::recorded(kernels::vector_add()));
    const auto told = look::story_of(made, *made.index, nullptr, 5);
    ASSERT_FALSE(told);
    EXPECT_NE(told.error().message.find("no product of two matrices"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::app
