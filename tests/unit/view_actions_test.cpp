// Keys do what the table says, to a state without a window.
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "tests/clocked.h"
#include "tests/opened_blocks.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

TEST_F(Keys, StepForwardsAndBack) {
    handle_input(state, press(Key::Right));
    handle_input(state, press(Key::PageDown));
    EXPECT_EQ(state.session.cursor.step, 2u);
    handle_input(state, press(Key::Left));
    handle_input(state, press(Key::PageUp));
    handle_input(state, press(Key::Left));
    EXPECT_EQ(state.session.cursor.step, 0u) << "stops at the first step";
}

TEST_F(Keys, JumpByPhaseBarrierAndBlock) {
    handle_input(state, press(Key::Right, true));
    EXPECT_EQ(state.session.cursor.step, made.index->spans[1].first);
    handle_input(state, press(Key::Left, true));
    EXPECT_EQ(state.session.cursor.step, 0u);
    handle_input(state, type(U']'));
    EXPECT_EQ(look::kind_of(*made.trace, state.session.cursor.step), analysis::StepKind::Barrier);
    const uint32_t first = state.session.cursor.step;
    handle_input(state, press(Key::Right, false, true));
    EXPECT_GT(state.session.cursor.step, first);
    handle_input(state, type(U'['));
    EXPECT_EQ(state.session.cursor.step, first);
    handle_input(state, press(Key::End));
    EXPECT_EQ(state.session.cursor.step, made.index->steps - 1);
    handle_input(state, press(Key::Home));
    EXPECT_EQ(state.session.cursor.step, 0u);
    handle_input(state, type(U'.'));
    EXPECT_EQ(state.session.cursor.block, 1u);
    handle_input(state, type(U','));
    EXPECT_EQ(state.session.cursor.block, 0u);
}

TEST_F(Keys, PlayAndPause) {
    handle_input(state, press(Key::Space));
    ASSERT_TRUE(state.session.playback.playing);
    for (int frame = 0; frame < 60; ++frame) advance(state.session, 1.0 / 60);
    EXPECT_NEAR(state.session.cursor.step, 8, 1) << "eight steps a second";
    handle_input(state, press(Key::Right));
    EXPECT_FALSE(state.session.playback.playing) << "a step by hand stays";
    handle_input(state, press(Key::End));
    handle_input(state, press(Key::Space));
    EXPECT_EQ(state.session.cursor.step, 0u) << "playing at the end begins again";
    state.session.playback.steps_per_second = kFastest;
    for (int frame = 0; frame < 7; ++frame) advance(state.session, 0.1);
    EXPECT_EQ(state.session.cursor.step, made.index->steps - 1) << "rests at the end of the block";
    EXPECT_EQ(state.session.cursor.block, 0u);
    EXPECT_TRUE(state.session.playback.playing);
}

TEST_F(Keys, PlayGoesOnThroughAllBlocks) {
    const auto& blocks = made.trace->blocks;
    ASSERT_GT(blocks.size(), 2u);
    state.session.playback.steps_per_second = kFastest;
    handle_input(state, press(Key::Space));
    std::vector<uint32_t> ends;  // blocks whose last step was seen, in order
    double rested = 0;
    for (int frame = 0; frame < 10'000 && state.session.playback.playing; ++frame) {
        const playback::Cursor before = state.session.cursor;
        advance(state.session, 0.05);
        update(state, true);
        const playback::Cursor& now = state.session.cursor;
        if (now.block != before.block) {
            EXPECT_EQ(now, (playback::Cursor{before.block + 1, 0}))
                << "in the order in which they were recorded";
            EXPECT_EQ(before.step + 1, blocks[before.block].count) << "not before its last step";
            EXPECT_GT(rested, kRest - 0.1) << "which is seen for a moment";
            rested = 0;
        } else if (now == before) {
            rested += 0.05;
        }
        if (now.step + 1 == blocks[now.block].count && (ends.empty() || ends.back() != now.block))
            ends.push_back(now.block);
    }
    EXPECT_EQ(ends.size(), blocks.size());
    EXPECT_FALSE(state.session.playback.playing);
    EXPECT_EQ(state.session.cursor.block + 1, blocks.size());
    EXPECT_EQ(state.session.cursor.step + 1, blocks.back().count);
}

TEST_F(Keys, TheTitleCountsTheStepsOfTheBlock) {
    handle_input(state, press(Key::Right));
    EXPECT_NE(
        window_title(state).find(fmt::format(" - step 2 of {} of block(0,0) - ", grouped(made.index->steps))),
        std::string::npos)
        << window_title(state);
}

TEST_F(Keys, PShowsThePhaseTableAndTheSolidAndJTheOlderRules) {
    using step::JudgedAs, step::Middle;
    for (const Middle text : {Middle::Elements, Middle::Values, Middle::Cube, Middle::Matrices}) {
        handle_input(state, press(Key::P));
        EXPECT_EQ(state.step.middle, text);
    }
    for (const JudgedAs as : {JudgedAs::G80, JudgedAs::Gt200, JudgedAs::Today}) {
        handle_input(state, press(Key::J));
        EXPECT_EQ(state.step.judged_by, as);
    }
}

// The same block as if a GPU had recorded it.
class ClockKeys : public Keys {
protected:
    ClockKeys() {
        made.trace = std::make_shared<const trace::Trace>(trace::with_clocks(*made.trace));
        made.index = look::index_block(made, 0);
        made.replay = nullptr;
        state = state_of(made);
    }
    uint32_t clock() const { return made.trace->time[state.session.cursor.step]; }
};

TEST_F(ClockKeys, PlayGoesByClocks) {
    ASSERT_TRUE(by_clock(state.session));
    state.session.playback.clocks_per_second = 1000;
    handle_input(state, press(Key::Space));
    for (int frame = 1; frame <= 120; ++frame) {
        advance(state.session, 1.0 / 60);
        const double now = frame * 1000.0 / 60;
        EXPECT_NEAR(clock_now(state.session), now, 1e-6);
        // The latest step that has been made by now: all steps until then have, the next has not.
        EXPECT_LE(clock(), now + 1e-6);
        EXPECT_GT(made.trace->time[state.session.cursor.step + 1], now - 1e-6);
    }
    handle_input(state, press(Key::Space));
    EXPECT_FALSE(state.session.playback.playing);
    EXPECT_EQ(clock_now(state.session), clock()) << "pausing, the playhead stands at a step";
    const uint32_t step = state.session.cursor.step;
    handle_input(state, press(Key::Right));
    EXPECT_EQ(state.session.cursor.step, step + 1) << "a step is a step";
    handle_input(state, press(Key::Space));
    state.session.playback.clocks_per_second = kFastestClock;
    for (int frame = 0; frame < 7; ++frame) advance(state.session, 0.1);
    EXPECT_EQ(state.session.cursor.step, made.index->steps - 1);
    state.session.cursor.block = static_cast<uint32_t>(made.trace->blocks.size()) - 1;
    update(state, true);
    for (int frame = 0; frame < 60; ++frame) advance(state.session, 0.1);
    EXPECT_FALSE(state.session.playback.playing) << "at the end of the last block";
}

TEST_F(ClockKeys, CChangesBetweenClocksAndSteps) {
    handle_input(state, press(Key::C));
    EXPECT_FALSE(by_clock(state.session));
    handle_input(state, press(Key::Space));
    for (int frame = 0; frame < 60; ++frame) advance(state.session, 1.0 / 60);
    EXPECT_NEAR(state.session.cursor.step, 8, 1) << "eight steps a second";
    EXPECT_EQ(steps_per_second(state.session), 8);
    handle_input(state, press(Key::C));
    EXPECT_TRUE(by_clock(state.session));
    const double clocks = look::last_clock(*made.trace, *made.index) + 1.0;
    state.session.playback.clocks_per_second = 512;
    EXPECT_NEAR(steps_per_second(state.session), made.index->steps * 512 / clocks, 1e-9);
}

TEST_F(ClockKeys, SpeedIsOfClocks) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.session.playback.clocks_per_second, kFastestClock);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.session.playback.clocks_per_second, kSlowestClock);
    EXPECT_EQ(state.session.playback.steps_per_second, 8) << "that of steps is another";
    EXPECT_EQ(fitting_clocks_per_second(20 * 512), 512);
    EXPECT_EQ(fitting_clocks_per_second(0), 1);
    EXPECT_EQ(fitting_clocks_per_second(UINT32_MAX), kFastestClock);
}

TEST_F(Keys, ThereAreNoClocksOfACpu) {
    handle_input(state, press(Key::C));
    EXPECT_TRUE(state.session.by_clock) << "what a person wants of other recordings stays";
    EXPECT_FALSE(by_clock(state.session));
    EXPECT_NE(state.session.message.find("on the CPU"), std::string::npos) << state.session.message;
}

TEST_F(Keys, SpeedHasEnds) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.session.playback.steps_per_second, kFastest);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.session.playback.steps_per_second, kSlowest);
}

TEST_F(Keys, PinAWarpAndClearIt) {
    handle_input(state, press(Key::Down));
    EXPECT_EQ(state.session.pin.kind, Pick::Kind::Warp);
    EXPECT_EQ(state.session.pin.warp, 0u) << "first the one at the cursor";
    for (int i = 0; i < 20; ++i) handle_input(state, press(Key::Down));
    EXPECT_EQ(state.session.pin.warp, 7u);
    handle_input(state, press(Key::Up));
    EXPECT_EQ(state.session.pin.warp, 6u);
    handle_input(state, press(Key::Escape));
    EXPECT_EQ(state.session.pin.kind, Pick::Kind::None);
}

TEST_F(Keys, TheListOfLessonsHasTwoEnds) {
    perform(state, "screen_lessons");
    update(state, true);
    const uint32_t step = state.session.cursor.step;
    handle_input(state, press(Key::End));
    const size_t last = state.lessons.listed;
    EXPECT_GE(last, state.lessons.lessons->size()) << "figures and programs stand below the lessons";
    handle_input(state, press(Key::Down));
    EXPECT_EQ(state.lessons.listed, last);
    handle_input(state, press(Key::Home));
    EXPECT_EQ(state.lessons.listed, 0u);
    EXPECT_EQ(state.session.cursor.step, step) << "the recording stands where it was";
}

TEST_F(Keys, LookAround) {
    handle_input(state, press(Key::W));
    EXPECT_FALSE(state.step.view.fit);
    EXPECT_GT(state.step.view.pitch, 16);
    const double before = state.step.view.col;
    handle_input(state, press(Key::D));
    EXPECT_GT(state.step.view.col, before);
    handle_input(state, press(Key::F));
    EXPECT_TRUE(state.step.view.fit);
    handle_input(state, press(Key::T));
    EXPECT_EQ(state.session.theme, Theme::Dark);
    handle_input(state, press(Key::Question, true));
    EXPECT_TRUE(state.input.show_keys);
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(state.input.show_keys);
}

TEST(Actions, HaveDifferentNamesAndKeys) {
    std::set<std::string> names;
    std::set<std::tuple<int, bool, bool, uint32_t>> chords;
    for (const Offer& action : offers()) {
        EXPECT_TRUE(names.insert(action.name).second) << action.name;
        for (const Chord& chord : {action.chord, action.other}) {
            if (chord.key == Key::None && chord.character == 0) continue;
            EXPECT_TRUE(
                chords.insert({static_cast<int>(chord.key), chord.shift, chord.control, chord.character})
                    .second)
                << action.name;
        }
        EXPECT_NE(action.help, "");
    }
    State state;
    EXPECT_FALSE(perform(state, "no such action"));
}

// Every key that the design names, by the name of what it does.
TEST(Actions, EveryKeyOfTheDesignIsThere) {
    const std::tuple<Key, bool, const char*> keys[] = {{Key::Space, false, "play"},
                                                       {Key::Right, false, "next_step"},
                                                       {Key::Left, false, "previous_step"},
                                                       {Key::Right, true, "next_phase"},
                                                       {Key::Left, true, "previous_phase"},
                                                       {Key::Home, false, "first"},
                                                       {Key::End, false, "last"},
                                                       {Key::Up, false, "previous_warp"},
                                                       {Key::Down, false, "next_warp"},
                                                       {Key::W, false, "zoom_in"},
                                                       {Key::S, false, "zoom_out"},
                                                       {Key::A, false, "pan_left"},
                                                       {Key::D, false, "pan_right"},
                                                       {Key::F, false, "focus"},
                                                       {Key::Plus, false, "faster"},
                                                       {Key::Minus, false, "slower"},
                                                       {Key::Digit1, false, "screen_step"},
                                                       {Key::Digit2, false, "screen_compare"},
                                                       {Key::Digit3, false, "screen_race"},
                                                       {Key::Digit4, false, "screen_timing"},
                                                       {Key::Digit5, false, "screen_levels"},
                                                       {Key::Digit6, false, "screen_limits"},
                                                       {Key::Digit7, false, "screen_lessons"},
                                                       {Key::Digit8, false, "screen_program"},
                                                       {Key::L, false, "lecture"},
                                                       {Key::T, false, "theme"},
                                                       {Key::Question, false, "keys"},
                                                       {Key::PageDown, false, "forth"},
                                                       {Key::PageUp, false, "back"},
                                                       {Key::B, false, "blank"}};
    for (const auto& [pressed, shift, name] : keys) {
        const Offer* found = nullptr;
        for (const Offer& action : offers()) {
            for (const Chord& chord : {action.chord, action.other})
                if (chord.key == pressed && chord.shift == shift && !chord.control) found = &action;
        }
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->name, name);
    }
}

TEST_F(Keys, LectureModeBlanksAndComesBack) {
    handle_input(state, press(Key::L));
    ASSERT_TRUE(state.session.lecture);
    handle_input(state, type(U'.'));
    EXPECT_TRUE(state.session.blank) << "as clickers send it";
    EXPECT_EQ(state.session.cursor.block, 0u);
    handle_input(state, press(Key::PageDown));
    EXPECT_FALSE(state.session.blank);
    EXPECT_EQ(state.session.cursor.step, 0u) << "the first key only brings the picture back";
    handle_input(state, press(Key::PageDown));
    EXPECT_EQ(state.session.cursor.step, 1u);
    handle_input(state, press(Key::B));
    EXPECT_TRUE(state.session.blank);
    handle_input(state, press(Key::B));
    EXPECT_FALSE(state.session.blank);
    handle_input(state, press(Key::L));
    handle_input(state, type(U'.'));
    EXPECT_EQ(state.session.cursor.block, 1u) << "outside lectures: the next block";
}

// A slow frame brings several keys at once: they do what they would one by one.
TEST_F(Keys, OfOneFrameGoInOrder) {
    platform::Input input;
    input.presses = {{Key::B}, {Key::PageDown}, {Key::PageDown}, {Key::B}, {Key::End}, {Key::Right, true}};
    handle_input(state, input);
    EXPECT_FALSE(state.session.blank) << "End brought the picture back";
    EXPECT_EQ(state.session.cursor.step, made.index->spans[1].first);

    // With most keys comes a character: that of the key that blanked or woke the screen does nothing else.
    input = typed_text(U"b]");
    input.presses.insert(input.presses.begin(), {Key::B});
    input.presses.insert(input.presses.begin() + 2, {Key::K});
    state.session.cursor.step = 0;
    platform::Input first = input;
    first.presses.resize(2);
    handle_input(state, first);
    EXPECT_TRUE(state.session.blank);
    state.session.blank = false;
    handle_input(state, input);
    EXPECT_FALSE(state.session.blank);
    EXPECT_EQ(state.session.cursor.step, 0u);

    input.presses = {{Key::Digit7}, {Key::Enter}};
    handle_input(state, input);
    EXPECT_TRUE(state.session.walking) << "Enter came to the screen that the 7 before it asked for";
}

// Its fields are worked with the same keys.
TEST_F(Keys, TheFormHasTheKeysOfItsFields) {
    state.input.form.open = true;
    for (const Key key : {Key::Right, Key::Down, Key::Space, Key::Enter, Key::Tab, Key::End})
        handle_input(state, press(key));
    EXPECT_EQ(state.session.cursor.step, 0u);
    EXPECT_FALSE(state.session.playback.playing);
    EXPECT_EQ(state.session.pin.kind, Pick::Kind::None);
    ASSERT_EQ(state.input.form.keys.size(), 6u) << "kept for it, in order";
    EXPECT_EQ(state.input.form.keys[1].key, Key::Down);
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(state.input.form.open);
    handle_input(state, press(Key::Right));
    EXPECT_EQ(state.session.cursor.step, 1u);
}

TEST_F(Keys, TypeGrowsAndShrinksWithinBounds) {
    handle_input(state, press(Key::Plus, false, true));
    EXPECT_FLOAT_EQ(state.session.text_scale, 1.1f);
    for (int i = 0; i < 30; ++i) handle_input(state, press(Key::Plus, true, true));
    EXPECT_FLOAT_EQ(state.session.text_scale, kMostText);
    for (int i = 0; i < 30; ++i) handle_input(state, press(Key::Minus, false, true));
    EXPECT_FLOAT_EQ(state.session.text_scale, kLeastText);
    handle_input(state, press(Key::Digit0, false, true));
    EXPECT_FLOAT_EQ(state.session.text_scale, 1);
    EXPECT_DOUBLE_EQ(state.session.playback.steps_per_second, 8) << "with Control it is not the speed";
}

TEST(Actions, NeedNoRecording) {
    State empty, hollow;
    show_hollow(hollow);
    for (State* state : {&empty, &hollow}) {
        for (const Offer& action : offers()) EXPECT_TRUE(perform(*state, action.name));
        advance(state->session, 1);
        go_to(state->session, 12);
        EXPECT_EQ(state->session.cursor, playback::Cursor{});
    }
}

}  // namespace
}  // namespace tilescope::app
