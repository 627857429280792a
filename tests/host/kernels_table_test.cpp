// The lecture's tables, from recordings of the kernels.
#include <gtest/gtest.h>

#include "core/analysis/phases.h"
#include "core/playback/phase_table.h"
#include "tests/host/kernels_walk.h"

namespace tilescope::kernels {
namespace {

using Lines = std::vector<std::string>;

playback::PhaseTable table_of(const std::string& kernel, const Shape& shape, uint32_t block = 0) {
    const trace::Trace trace = recorded(kernel, shape);
    auto replayer = Replayer::of(trace);
    EXPECT_TRUE(replayer) << replayer.error().message;
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(rule) << rule.error().message;
    playback::BlockReplay replay(trace, block);
    const auto replayed = replayer->replay(trace, block, replay);
    EXPECT_TRUE(replayed) << replayed.error().message;
    replay.finish();
    return phase_table(trace, replay, phases_of_block(trace, *rule, block));
}

std::string cell(const char* array, uint32_t row, uint32_t col) {
    return std::string(array) + "[" + std::to_string(row) + "," + std::to_string(col) + "]";
}

TEST(Table, TiledFourByFourIsTheLectures) {
    const playback::PhaseTable table = table_of("tiled", {4, 4, 4, 2});
    ASSERT_EQ(table.phases, 2u);
    ASSERT_EQ(table.rows.size(), 4u);
    for (uint32_t y = 0; y < 2; ++y)
        for (uint32_t x = 0; x < 2; ++x) {
            const auto& row = table.rows[y * 2 + x];
            EXPECT_EQ(row.x, x);
            EXPECT_EQ(row.y, y);
            for (uint32_t p = 0; p < 2; ++p) {
                EXPECT_EQ(row.phase[p].loads, (Lines{cell("M", y, 2 * p + x) + " -> " + cell("Mds", y, x),
                                                     cell("N", 2 * p + y, x) + " -> " + cell("Nds", y, x)}));
                EXPECT_EQ(row.phase[p].multiplies, cell("P", y, x) + " += " + cell("Mds", y, 0) + "*" +
                                                       cell("Nds", 0, x) + " + " + cell("Mds", y, 1) + "*" +
                                                       cell("Nds", 1, x));
            }
        }
}

TEST(Table, UntiledFourByFourIsTheLectures) {
    const playback::PhaseTable table = table_of("untiled", {4, 4, 4, 2});
    ASSERT_EQ(table.phases, 4u);
    ASSERT_EQ(table.rows.size(), 4u);
    for (const auto& row : table.rows)
        for (uint32_t p = 0; p < 4; ++p) {
            EXPECT_EQ(row.phase[p].loads, (Lines{cell("M", row.y, p), cell("N", p, row.x)}));
            EXPECT_EQ(row.phase[p].multiplies,
                      cell("P", row.y, row.x) + " += " + cell("M", row.y, p) + "*" + cell("N", p, row.x));
        }
}

TEST(Table, ThreeByThreeWithTilesOfTwoFillsWithZeroInTheFirstPhaseAlready) {
    const playback::PhaseTable table = table_of("tiled", {3, 3, 3, 2}, 3);  // block 1,1
    EXPECT_EQ(table.block_x, 1u);
    EXPECT_EQ(table.block_y, 1u);
    ASSERT_EQ(table.phases, 2u);
    EXPECT_EQ(table.rows[0].phase[0].loads, (Lines{"M[2,0] -> Mds[0,0]", "N[0,2] -> Nds[0,0]"}));
    EXPECT_EQ(table.rows[1].phase[0].loads, (Lines{"M[2,1] -> Mds[0,1]", "0 -> Nds[0,1]"}));
    EXPECT_EQ(table.rows[2].phase[0].loads, (Lines{"0 -> Mds[1,0]", "N[1,2] -> Nds[1,0]"}));
    EXPECT_EQ(table.rows[3].phase[1].loads, (Lines{"0 -> Mds[1,1]", "0 -> Nds[1,1]"}));
    EXPECT_EQ(table.rows[0].phase[1].multiplies, "P[2,2] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]");
    EXPECT_EQ(table.rows[3].phase[0].multiplies, "(no element) += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]");
}

TEST(Table, APaddedTransposedTileIsNamedByItsCells) {
    const playback::PhaseTable table = table_of("tiled_padded", {4, 4, 4, 2});
    EXPECT_EQ(table.rows[1].phase[0].loads, (Lines{"M[0,1] -> Mds[0,1]", "N[0,1] -> Nds[1,0]"}));
    EXPECT_EQ(table.rows[1].phase[0].multiplies, "P[0,1] += Mds[0,0]*Nds[1,0] + Mds[0,1]*Nds[1,1]");
}

}  // namespace
}  // namespace tilescope::kernels
