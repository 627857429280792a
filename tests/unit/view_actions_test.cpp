// Keys do what the table says, to a state without a window.
#include <set>

#include "app/actions.h"
#include "app/view/block_clock.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using platform::Key;

platform::Input press(Key key, bool shift = false, bool control = false) {
    platform::Input input;
    input.presses.push_back({key, shift, control, false, false});
    return input;
}

platform::Input type(char32_t character) {
    platform::Input input;
    input.characters.push_back(character);
    return input;
}

class Keys : public testing::Test {
protected:
    view::Recording made = view::record("tiled", {64, 64, 64, 16});
    State state = view::state_of(made);
};

TEST_F(Keys, StepForwardsAndBack) {
    handle_input(state, press(Key::Right));
    handle_input(state, press(Key::PageDown));
    EXPECT_EQ(state.cursor.step, 2u);
    handle_input(state, press(Key::Left));
    handle_input(state, press(Key::PageUp));
    handle_input(state, press(Key::Left));
    EXPECT_EQ(state.cursor.step, 0u) << "stops at the first step";
}

TEST_F(Keys, JumpByPhaseBarrierAndBlock) {
    handle_input(state, press(Key::Right, true));
    EXPECT_EQ(state.cursor.step, made.index->spans[1].first);
    handle_input(state, press(Key::Left, true));
    EXPECT_EQ(state.cursor.step, 0u);
    handle_input(state, type(U']'));
    EXPECT_EQ(view::kind_of(*made.trace, state.cursor.step), view::StepKind::Barrier);
    const uint32_t first = state.cursor.step;
    handle_input(state, press(Key::Right, false, true));
    EXPECT_GT(state.cursor.step, first);
    handle_input(state, type(U'['));
    EXPECT_EQ(state.cursor.step, first);
    handle_input(state, press(Key::End));
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    handle_input(state, press(Key::Home));
    EXPECT_EQ(state.cursor.step, 0u);
    handle_input(state, type(U'.'));
    EXPECT_EQ(state.cursor.block, 1u);
    handle_input(state, type(U','));
    EXPECT_EQ(state.cursor.block, 0u);
}

TEST_F(Keys, PlayAndPause) {
    handle_input(state, press(Key::Space));
    ASSERT_TRUE(state.playback.playing);
    for (int frame = 0; frame < 60; ++frame) advance(state, 1.0 / 60);
    EXPECT_NEAR(state.cursor.step, 8, 1) << "eight steps a second";
    handle_input(state, press(Key::Right));
    EXPECT_FALSE(state.playback.playing) << "a step by hand stays";
    handle_input(state, press(Key::End));
    handle_input(state, press(Key::Space));
    EXPECT_EQ(state.cursor.step, 0u) << "playing at the end begins again";
    state.playback.steps_per_second = kFastest;
    for (int frame = 0; frame < 60; ++frame) advance(state, 0.1);
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    EXPECT_FALSE(state.playback.playing);
}

// The same block as if a GPU had recorded it.
class ClockKeys : public Keys {
protected:
    ClockKeys() {
        made.trace = std::make_shared<const trace::Trace>(trace::with_clocks(*made.trace));
        made.index = view::index_block(*made.trace, made.rule, 0);
        made.replay = nullptr;
        state = view::state_of(made);
    }
    uint32_t clock() const { return made.trace->time[state.cursor.step]; }
};

TEST_F(ClockKeys, PlayGoesByClocks) {
    ASSERT_TRUE(by_clock(state));
    state.playback.clocks_per_second = 1000;
    handle_input(state, press(Key::Space));
    for (int frame = 1; frame <= 120; ++frame) {
        advance(state, 1.0 / 60);
        const double now = frame * 1000.0 / 60;
        EXPECT_NEAR(clock_now(state), now, 1e-6);
        // The latest step that has been made by now: all steps until then have, the next has not.
        EXPECT_LE(clock(), now + 1e-6);
        EXPECT_GT(made.trace->time[state.cursor.step + 1], now - 1e-6);
    }
    handle_input(state, press(Key::Space));
    EXPECT_FALSE(state.playback.playing);
    EXPECT_EQ(clock_now(state), clock()) << "pausing, the playhead stands at a step";
    const uint32_t step = state.cursor.step;
    handle_input(state, press(Key::Right));
    EXPECT_EQ(state.cursor.step, step + 1) << "a step is a step";
    handle_input(state, press(Key::Space));
    state.playback.clocks_per_second = kFastestClock;
    for (int frame = 0; frame < 60; ++frame) advance(state, 0.1);
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    EXPECT_FALSE(state.playback.playing);
}

TEST_F(ClockKeys, CChangesBetweenClocksAndSteps) {
    handle_input(state, press(Key::C));
    EXPECT_FALSE(by_clock(state));
    handle_input(state, press(Key::Space));
    for (int frame = 0; frame < 60; ++frame) advance(state, 1.0 / 60);
    EXPECT_NEAR(state.cursor.step, 8, 1) << "eight steps a second";
    EXPECT_EQ(steps_per_second(state), 8);
    handle_input(state, press(Key::C));
    EXPECT_TRUE(by_clock(state));
    const double clocks = view::last_clock(*made.trace, *made.index) + 1.0;
    state.playback.clocks_per_second = 512;
    EXPECT_NEAR(steps_per_second(state), made.index->steps * 512 / clocks, 1e-9);
}

TEST_F(ClockKeys, SpeedIsOfClocks) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.playback.clocks_per_second, kFastestClock);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.playback.clocks_per_second, kSlowestClock);
    EXPECT_EQ(state.playback.steps_per_second, 8) << "that of steps is another";
    EXPECT_EQ(fitting_clocks_per_second(20 * 512), 512);
    EXPECT_EQ(fitting_clocks_per_second(0), 1);
    EXPECT_EQ(fitting_clocks_per_second(UINT32_MAX), kFastestClock);
}

TEST_F(Keys, ThereAreNoClocksOfACpu) {
    handle_input(state, press(Key::C));
    EXPECT_TRUE(state.by_clock) << "what a person wants of other recordings stays";
    EXPECT_FALSE(by_clock(state));
    EXPECT_NE(state.message.find("on the CPU"), std::string::npos) << state.message;
}

TEST_F(Keys, SpeedHasEnds) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.playback.steps_per_second, kFastest);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.playback.steps_per_second, kSlowest);
}

TEST_F(Keys, PinAWarpAndClearIt) {
    handle_input(state, press(Key::Down));
    EXPECT_EQ(state.pin.kind, Pick::Kind::Warp);
    EXPECT_EQ(state.pin.warp, 0u) << "first the one at the cursor";
    for (int i = 0; i < 20; ++i) handle_input(state, press(Key::Down));
    EXPECT_EQ(state.pin.warp, 7u);
    handle_input(state, press(Key::Up));
    EXPECT_EQ(state.pin.warp, 6u);
    handle_input(state, press(Key::Escape));
    EXPECT_EQ(state.pin.kind, Pick::Kind::None);
}

TEST_F(Keys, LookAround) {
    handle_input(state, press(Key::W));
    EXPECT_FALSE(state.view.fit);
    EXPECT_GT(state.view.pitch, 16);
    const double before = state.view.col;
    handle_input(state, press(Key::D));
    EXPECT_GT(state.view.col, before);
    handle_input(state, press(Key::F));
    EXPECT_TRUE(state.view.fit);
    handle_input(state, press(Key::T));
    EXPECT_EQ(state.theme, Theme::Dark);
    handle_input(state, press(Key::Question, true));
    EXPECT_TRUE(state.show_keys);
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(state.show_keys);
}

TEST(Actions, HaveDifferentNamesAndKeys) {
    std::set<std::string> names;
    std::set<std::tuple<int, bool, bool, uint32_t>> chords;
    for (const Action& action : actions()) {
        EXPECT_TRUE(names.insert(action.name).second) << action.name;
        for (const Chord& chord : {action.chord, action.other}) {
            if (chord.key == Key::None && chord.character == 0) continue;
            EXPECT_TRUE(
                chords.insert({static_cast<int>(chord.key), chord.shift, chord.control, chord.character})
                    .second)
                << action.name;
        }
        EXPECT_NE(std::string(action.help), "");
    }
    State state;
    EXPECT_FALSE(perform(state, "no such action"));
}

// Without a recording, and with an empty one, every action leaves a state that can be drawn.
TEST(Actions, NeedNoRecording) {
    State empty, hollow;
    hollow.session.emplace();
    hollow.session->trace = std::make_shared<const trace::Trace>();
    for (State* state : {&empty, &hollow}) {
        for (const Action& action : actions()) EXPECT_TRUE(perform(*state, action.name));
        advance(*state, 1);
        go_to(*state, 12);
        EXPECT_EQ(state->cursor, playback::Cursor{});
    }
}

}  // namespace
}  // namespace tilescope::app
