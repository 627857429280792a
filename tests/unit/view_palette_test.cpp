// The command palette on notations and places: found by what people type, in the reader's notation.
#include "tests/launch_examples.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

std::vector<std::string> ids(const State& state, const char* query) {
    std::vector<std::string> all;
    for (const Command& command : find_commands(state.session, offers(), query)) all.push_back(command.id);
    return all;
}

// What the palette puts first for a query.
Command first(const State& state, const char* query) {
    const auto found = find_commands(state.session, offers(), query);
    return found.empty() ? Command{} : found.front();
}

TEST_F(Keys, NotationsAreFoundByWhatTheyAreAbout) {
    const auto all = ids(state, "notation");
    ASSERT_GE(all.size(), 3u);
    for (const char* id : {"notation:order", "notation:names", "notation:phases"})
        EXPECT_NE(std::find(all.begin(), all.begin() + 3, id), all.begin() + 3) << id;
    EXPECT_EQ(first(state, "thread").id, "notation:order");
    EXPECT_EQ(first(state, "x first").id, "notation:order");
    EXPECT_EQ(first(state, "names").id, "notation:names");
    EXPECT_EQ(first(state, "matrices").id, "notation:names");
    EXPECT_EQ(first(state, "phases counted").id, "notation:phases");
    const auto of_phases = ids(state, "phase");
    EXPECT_NE(std::find(of_phases.begin(), of_phases.end(), "notation:phases"), of_phases.end());
}

TEST_F(Keys, NotationsChangeWhatIsWritten) {
    const auto take = [&](const char* id) {
        run_command(state.input, state.session, offers(), id);
        update(state, true);
    };
    const auto name = [&] {
        return name_in(state.session.recording->notation, made.trace->launch.arrays[0]);
    };
    EXPECT_EQ(name(), "M");
    take("notation:names");
    EXPECT_EQ(name(), "A");
    take("notation:names");
    EXPECT_EQ(name(), "Md");
    take("notation:names");
    EXPECT_EQ(name(), "M");
    take("notation:order");
    EXPECT_TRUE(state.session.block->notation.x_first);
    take("notation:phases");
    EXPECT_TRUE(state.session.block->notation.phases_from_1);
    EXPECT_EQ(state.session.recent_commands.front(), "notation:phases");
}

// As they are written: from 1 the first phase is phase 1.
TEST_F(Keys, PhasesAreTypedAsTheyAreWritten) {
    EXPECT_EQ(first(state, "phase 0").title, "Go to phase 0 of this block");
    EXPECT_NE(first(state, "phase 4").id, "phase:4");
    perform(state, "notation:phases");
    update(state, true);
    EXPECT_EQ(first(state, "phase 1").title, "Go to phase 1 of this block");
    EXPECT_EQ(first(state, "phase 1").id, "phase:0");
    EXPECT_EQ(first(state, "phase 4").id, "phase:3");
    for (const char* beyond : {"phase 0", "phase 5"})
        EXPECT_FALSE(first(state, beyond).id.starts_with("phase:")) << beyond;
    run_command(state.input, state.session, offers(), first(state, "phase 3").id);
    EXPECT_EQ(state.session.block->phase_at(state.session.cursor.step), 2u);
}

TEST(Palette, BlocksOfAGridWithDepth) {
    State state;
    show_trace(state, kernels::recorded(kernels::stencil()));
    EXPECT_EQ(first(state, "block 1,2,1").title, "Go to block (1,2,1)");
    EXPECT_EQ(first(state, "go to block 1,2").title, "Go to block (1,2,0)");
    for (const char* beyond : {"block 1,2,3", "block 3,0,0", "block 1,2,1,0", "block 1", "block 1,x"})
        EXPECT_FALSE(first(state, beyond).id.starts_with("block:")) << beyond;
    run_command(state.input, state.session, offers(), first(state, "block 1,2,1").id);
    const trace::Block& block = state.session.trace().blocks[state.session.cursor.block];
    EXPECT_EQ(std::tuple(block.x, block.y, block.z), std::tuple(1u, 2u, 1u));
}

TEST_F(Keys, BlocksOfAFlatGridHaveTwoNumbers) {
    EXPECT_EQ(first(state, "block 2,1").title, "Go to block (2,1)");
    EXPECT_FALSE(first(state, "block 2,1,1").id.starts_with("block:"));
}

}  // namespace
}  // namespace tilescope::app
