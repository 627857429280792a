// Faults on the Step screen: the faulty kernels' cells are marked and said, sound kernels have none.
#include "app/input/overlays.h"
#include "app/look/faults.h"
#include "app/step/model.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

BlockFaults faults_of(const Recorded& made) {
    return block_faults(*made.trace, made.rule, *made.index, made.replay.get());
}

TEST(Faults, SoundKernelsHaveNone) {
    for (const char* kernel : {"tiled", "untiled", "tiled_transposed", "tiled_padded"}) {
        const BlockFaults faults = faults_of(record(kernel, {10, 7, 9, 4}, 8));
        EXPECT_FALSE(faults.any()) << kernel;
        EXPECT_FALSE(next_fault(faults, 0)) << kernel;
    }
}

TEST(Faults, AStaleEdgeIsMarkedSaidAndMakesPWrong) {
    const Recorded made = record("tiled_stale_edge", {3, 3, 3, 2}, 0);
    const BlockFaults faults = faults_of(made);
    ASSERT_FALSE(faults.steps.empty());
    const auto step = next_fault(faults, 0);
    ASSERT_TRUE(step);
    EXPECT_NE(fault_caption(*made.trace, faults, *step), "");
    EXPECT_EQ(fault_caption(*made.trace, faults, 0), "");
    size_t marked = 0;
    for (const uint8_t shared : made.index->shared)
        marked += faulty_at(*made.trace, faults, shared, *step).size();
    EXPECT_GT(marked, 0u);
    // P[y,x] of block (0,0) is right but for a stale product in phase 1: all four are wrong.
    ASSERT_FALSE(faults.wrong.empty());
    for (const WrongElement& wrong : faults.wrong) {
        EXPECT_NE(number_of(wrong.stored), wrong.expected);
        EXPECT_LT(wrong.element % 3, 2u);
        EXPECT_LT(wrong.element / 3, 2u);
    }
}

TEST(Faults, NextAndPreviousWalkThroughAllOfThem) {
    const BlockFaults faults = faults_of(record("tiled_stale_edge", {10, 7, 9, 4}, 0));
    std::vector<uint32_t> forwards, backwards;
    if (!faults.steps.empty() && faults.steps[0] == 0) forwards.push_back(0);
    for (auto at = next_fault(faults, 0); at; at = next_fault(faults, *at)) forwards.push_back(*at);
    EXPECT_EQ(forwards, faults.steps);
    for (auto at = previous_fault(faults, UINT32_MAX); at; at = previous_fault(faults, *at))
        backwards.insert(backwards.begin(), *at);
    EXPECT_EQ(backwards, faults.steps);
}

TEST(Faults, KeysGoToThem) {
    const Recorded made = record("tiled_stale_edge", {3, 3, 3, 2}, 0);
    app::State state = state_of(made);
    ASSERT_TRUE(app::perform(state, "next_fault")) << "not looked for yet: nothing happens";
    EXPECT_EQ(state.session.cursor.step, 0u);
    state.session.faults = std::make_shared<const BlockFaults>(faults_of(made));
    app::perform(state, "next_fault");
    EXPECT_EQ(state.session.cursor.step, *next_fault(*state.session.faults, 0));
    for (int i = 0; i < 1000; ++i) app::perform(state, "next_fault");
    EXPECT_EQ(state.session.cursor.step, state.session.faults->steps.back());
    EXPECT_NE(state.session.message, "");
}

}  // namespace
}  // namespace tilescope::app
