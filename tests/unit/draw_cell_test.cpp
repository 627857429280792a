// The pyramid of cells: nothing loud is ever lost on the way up.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "app/draw/sheet.h"

namespace tilescope::draw {
namespace {

TEST(CellPyramid, KeepsTheLoudestOfFourLikeASlowTwin) {
    std::mt19937 random(5);
    for (auto [rows, cols] : {std::pair{1u, 1u}, {1u, 7u}, {5u, 1u}, {8u, 8u}, {13u, 6u}, {31u, 33u}}) {
        CellLevel level{rows, cols, {}};
        for (uint32_t i = 0; i < rows * cols; ++i)
            level.cells.push_back(cell(static_cast<Ink>(10 + random() % 12), static_cast<uint8_t>(random())));
        while (level.rows > 1 || level.cols > 1) {
            const CellLevel above = reduced(level);
            ASSERT_EQ(above.rows, (level.rows + 1) / 2);
            ASSERT_EQ(above.cols, (level.cols + 1) / 2);
            for (uint32_t r = 0; r < above.rows; ++r)
                for (uint32_t c = 0; c < above.cols; ++c) {
                    uint16_t most = 0;
                    for (uint32_t y = 2 * r; y < std::min(2 * r + 2, level.rows); ++y)
                        for (uint32_t x = 2 * c; x < std::min(2 * c + 2, level.cols); ++x)
                            most = std::max(most, level.cells[y * level.cols + x].bits);
                    ASSERT_EQ(above.cells[r * above.cols + c].bits, most) << rows << "x" << cols;
                }
            level = above;
        }
    }
    EXPECT_GT(cell(Ink::Heat, 9).bits, cell(Ink::Heat, 8, CellPattern::Hatch).bits)
        << "strength before pattern";
    EXPECT_GT(cell(Ink::Fault, 0).bits, cell(Ink::Cell, 255).bits) << "ink before strength";
}

TEST(CellPyramid, LevelIsTheFirstWithAWholePixelACell) {
    EXPECT_EQ(level_for(30), 0u);
    EXPECT_EQ(level_for(1), 0u);
    EXPECT_EQ(level_for(0.99f), 1u);
    EXPECT_EQ(level_for(0.5f), 1u);
    EXPECT_EQ(level_for(0.03f), 6u);
}

}  // namespace
}  // namespace tilescope::draw
