// How playback moves.
#include <random>

#include <gtest/gtest.h>

#include "core/playback/cursor.h"
#include "tests/unit/tiled_by_hand.h"

namespace tilescope::playback {
namespace {

using by_hand::Tiled;

class CursorTest : public ::testing::Test {
protected:
    trace::Trace trace = by_hand::record({{16, 8, 0, 0}, {16, 8, 1, 0}, {16, 8, 0, 1}});
    std::vector<analysis::PhaseMap> phases = [this] {
        std::vector<analysis::PhaseMap> maps;
        for (uint32_t b = 0; b < 3; ++b) maps.push_back(phases_of_block(trace, by_hand::rule(), b));
        return maps;
    }();
    Cursor go(Cursor c, Move move) const { return moved(trace, phases[c.block], c, move); }
    uint32_t last(uint32_t block) const { return static_cast<uint32_t>(trace.blocks[block].count - 1); }
    uint32_t site(Cursor c) const { return trace.form_of(trace.blocks[c.block].first + c.step).site; }
};

TEST_F(CursorTest, NextThenPreviousReturns) {
    for (uint32_t block = 0; block < 3; ++block)
        for (uint32_t step = 0; step < last(block); ++step)
            EXPECT_EQ(go(go({block, step}, Move::NextStep), Move::PreviousStep), (Cursor{block, step}));
    // Jumps return to where a jump can stand.
    const std::pair<Move, Move> jumps[] = {{Move::NextBarrier, Move::PreviousBarrier},
                                           {Move::NextPhase, Move::PreviousPhase},
                                           {Move::NextBlock, Move::PreviousBlock}};
    for (const auto& [next, previous] : jumps) {
        Cursor c = go({}, next);
        int jumped = 0;
        for (Cursor further = go(c, next); further != c; c = further, further = go(c, next), ++jumped)
            EXPECT_EQ(go(further, previous), c);
        EXPECT_GT(jumped, 0);
    }
}

TEST_F(CursorTest, StaysInsideForAnyMoves) {
    std::mt19937 random(9);
    Cursor c;
    for (int i = 0; i < 20000; ++i) {
        c = go(c, static_cast<Move>(random() % 10));
        ASSERT_LT(c.block, trace.blocks.size());
        ASSERT_LE(c.step, last(c.block));
    }
}

TEST_F(CursorTest, ClampsAtBothEnds) {
    for (const Move back :
         {Move::PreviousStep, Move::PreviousBarrier, Move::PreviousPhase, Move::PreviousBlock, Move::First})
        EXPECT_EQ(go({0, 0}, back), (Cursor{0, 0}));
    for (const Move on : {Move::NextStep, Move::NextBarrier, Move::NextPhase, Move::NextBlock, Move::Last})
        EXPECT_EQ(go({2, last(2)}, on), (Cursor{2, last(2)}));
}

// Where the last warp arrives, so that the block goes on.
TEST_F(CursorTest, BarriersAreThoseOfTheBlock) {
    Cursor c;
    std::vector<uint32_t> sites;
    for (Cursor next = go(c, Move::NextBarrier); next != c; c = next, next = go(c, Move::NextBarrier)) {
        for (uint32_t s = next.step + 1; s <= last(0); ++s)
            if (site({0, s}) == 4 || site({0, s}) == 7)
                EXPECT_GT(phases[0].interval[s], phases[0].interval[next.step]) << "no warp comes later";
        sites.push_back(site(next));
    }
    EXPECT_EQ(sites, (std::vector<uint32_t>{4, 7, 4, 7}));  // two phases
}

TEST_F(CursorTest, PhasesAreTheirFirstSteps) {
    const Cursor second = go({}, Move::NextPhase);
    EXPECT_EQ(phases[0].phase[second.step], 1u);
    EXPECT_EQ(phases[0].phase[second.step - 1], 0u);
    EXPECT_EQ(site(second), 0u);
    const Cursor after = go(second, Move::NextPhase);
    EXPECT_EQ(phases[0].phase[after.step], analysis::kAfter);
    EXPECT_EQ(go(after, Move::NextPhase), after);
    EXPECT_EQ(go({0, second.step + 3}, Move::PreviousPhase), second);
    EXPECT_EQ(go(second, Move::PreviousPhase), (Cursor{0, 0}));
    EXPECT_EQ(go({0, 5}, Move::PreviousPhase), (Cursor{0, 0}));
}

TEST_F(CursorTest, BlocksStartAtTheirFirstStep) {
    EXPECT_EQ(go({0, 7}, Move::NextBlock), (Cursor{1, 0}));
    EXPECT_EQ(go({2, 7}, Move::PreviousBlock), (Cursor{1, 0}));
    EXPECT_EQ(go({1, 7}, Move::First), (Cursor{1, 0}));
    EXPECT_EQ(go({1, 7}, Move::Last), (Cursor{1, last(1)}));
}

TEST_F(CursorTest, AnEmptyBlockAndABlockThatIsNotThereStandStill) {
    trace.blocks.push_back({1, 1, 0, trace.steps(), 0});
    const analysis::PhaseMap none;
    for (int move = 0; move < 10; ++move) {
        const Cursor nowhere{9, 3};
        EXPECT_EQ(moved(trace, none, nowhere, static_cast<Move>(move)), nowhere);
        EXPECT_EQ(moved(trace, none, {3, 0}, static_cast<Move>(move)).step, 0u);
    }
}

}  // namespace
}  // namespace tilescope::playback
