// Windows of blocks picked on an overview, and the part of a large matrix that they load.
#include "app/input/overlays.h"
#include "core/analysis/summary.h"
#include "tests/app_names.h"
#include "tests/loads.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

TEST(BlockWindows, ADragTakesWholeBlocksEitherWay) {
    const BlockWindow window = dragged(30, 10, 69, 19, 100, 100, 10, 10);
    EXPECT_EQ(window, (BlockWindow{3, 7, 1, 2}));
    EXPECT_EQ(dragged(69, 19, 30, 10, 100, 100, 10, 10), window);
    EXPECT_EQ(dragged(-50, -50, 500, 500, 100, 100, 10, 10), (BlockWindow{0, 10, 0, 10}));
    EXPECT_EQ(window_text(window), "x 3:7, y 1:2");
}

TEST(BlockWindows, StayInsideTheGrid) {
    EXPECT_EQ(clipped({}, 4, 3), (BlockWindow{0, 4, 0, 3}));
    EXPECT_EQ(clipped({9, 12, 9, 12}, 4, 3), (BlockWindow{3, 4, 2, 3}));
    EXPECT_EQ(blocks_of({1, 3, 0, 2}, 4, 3), 4u);
    BlockWindow window{1, 3, 0, 2};
    EXPECT_EQ(moved(window, 1, 1, 4, 3), (BlockWindow{2, 4, 1, 3}));
    EXPECT_EQ(moved(window, 100, -100, 4, 3), (BlockWindow{2, 4, 0, 2}));
    EXPECT_EQ(resized(window, 1, 0, 4, 3), (BlockWindow{1, 4, 0, 2}));
    EXPECT_EQ(resized({1, 2, 0, 1}, -1, -1, 4, 3), (BlockWindow{1, 2, 0, 1})) << "a block is left";
    EXPECT_EQ(resized({3, 4, 2, 3}, 1, 1, 4, 3), (BlockWindow{3, 4, 2, 3})) << "no further than the grid";
}

// The estimate is exact for whole blocks: twin is the recording itself.
TEST(BlockWindows, WhatABlockTakesIsWhatItTook) {
    for (const char* kernel : {"tiled", "untiled"}) {
        const auto steps = block_steps(kernel, 16);
        ASSERT_TRUE(steps);
        const Recorded made = record(kernel, {32, 96, 32, 16});
        EXPECT_EQ(steps->of(96), made.index->steps) << kernel;
    }
    EXPECT_FALSE(block_steps("no_such_kernel", 16));
}

TEST(Orders, AWindowOfBlocksIsRecordedBesideTheScreens) {
    Session session;
    Order order{.kernel = "tiled", .shape = {8, 12, 16, 4}, .window = {1, 3, 0, 1}};
    order.backend = gpu::BackendChoice::Cpu;
    record(session, order);
    ASSERT_TRUE(session.ordered) << session.message;
    EXPECT_EQ(session.ordered->what, "tiled T=4  8×12×16");
    ASSERT_TRUE(session.ordered->job.get());
    EXPECT_EQ(session.ordered->job.control().total, 2u);
    EXPECT_EQ(session.ordered->job.control().done, 2u);
    update(session, true);
    EXPECT_FALSE(session.ordered);
    ASSERT_TRUE(session.recording);
    EXPECT_EQ(session.trace().blocks.size(), 2u);
    order.window = {4, 9, 0, 1};
    record(session, order);
    update(session, true);
    EXPECT_EQ(session.message, "The window holds no block of this grid; pick blocks on the overview.");
    EXPECT_EQ(session.trace().blocks.size(), 2u) << "the one that was open stays";
    order.kernel = "no_such_kernel";
    record(session, order);
    EXPECT_FALSE(session.ordered);
    EXPECT_NE(session.message, "");
}

TEST(LoadsWindows, AgreeWithTheCountsOfTheWholeMatrix) {
    kernels::RecordOptions options;
    options.window = {1, 2, 2, 4};
    const auto plan = kernels::plan("tiled", {40, 24, 32, 8});
    ASSERT_TRUE(plan);
    const auto trace = kernels::record_cpu(*plan, options);
    ASSERT_TRUE(trace);
    analysis::LoadCounter counter(*trace);
    for (uint64_t step = 0; step < trace->steps(); ++step) counter.add(step);
    counter.finish();
    for (uint8_t array = 0; array < 2; ++array) {
        const LoadsWindow window = loads_window(trace->launch.arrays[array], counter.of(array), 1u << 20);
        const std::vector<uint32_t> all = analysis::loads_per_element(*trace, array);
        const uint32_t cols = trace->launch.arrays[array].cols;
        uint32_t most = 0;
        for (uint32_t row = 0; row < trace->launch.arrays[array].rows; ++row) {
            for (uint32_t col = 0; col < cols; ++col) {
                const uint32_t loads = all[size_t{row} * cols + col];
                most = std::max(most, loads);
                const CellRect& box = window.box;
                EXPECT_EQ(box.contains(row, col)
                              ? window.loads[size_t{row - box.row0} * box.cols() + (col - box.col0)]
                              : 0u,
                          loads);
            }
        }
        EXPECT_EQ(window.most, most);
    }
    EXPECT_EQ(loads_window(trace->launch.arrays[0], counter.of(0), 1u << 20).box, (CellRect{16, 32, 0, 24}))
        << "rows of blocks 2 and 3";
    EXPECT_TRUE(loads_window(trace->launch.arrays[0], counter.of(0), 10).loads.empty())
        << "more than asked for";
}

}  // namespace
}  // namespace tilescope::app
