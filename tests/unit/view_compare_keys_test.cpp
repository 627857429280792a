// The Compare screen's list and locks by keyboard, to a state without a window: what is wished for.
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

// On the Compare screen, two recordings there.
class CompareKeys : public Keys {
protected:
    void SetUp() override {
        state.session.screen = "compare";
        state.session.pair.other.recording = state.session.recording;
    }
    void key(Key key, bool shift = false, bool control = false) {
        handle_input(state, press(key, shift, control));
    }
    const int pairs = static_cast<int>(session::compare_presets().size());
};

TEST_F(CompareKeys, TheListIsWalkedAndTaken) {
    key(Key::V);
    ASSERT_TRUE(compare::choosing(state.compare, state.session));
    EXPECT_EQ(state.compare.chosen, 0);
    key(Key::Right);
    EXPECT_EQ(state.compare.chosen, 1);
    key(Key::Down);
    EXPECT_EQ(state.compare.chosen, 3);
    key(Key::Left);
    key(Key::Up);
    EXPECT_EQ(state.compare.chosen, 0);
    for (const Key beyond : {Key::Up, Key::Left}) {
        key(beyond);
        EXPECT_EQ(state.compare.chosen, 0) << "no further";
    }
    EXPECT_EQ(state.session.cursor.step, 0u) << "the arrows do not step meanwhile";
    EXPECT_EQ(state.session.pin.kind, Pick::Kind::None);
    key(Key::Down);
    key(Key::Enter);
    EXPECT_TRUE(state.session.pair.wanted);
    EXPECT_EQ(state.session.pair.preset, 2);
    for (int i = 0; i < pairs + 4; ++i) key(Key::Right);
    EXPECT_EQ(state.compare.chosen, pairs + 1) << "behind the pairs A and B";
}

// A pair is asked for and, before it is opened, a recording comes that was to be set beside A: the pair comes
// after it.
TEST_F(CompareKeys, APairIsOpenedThoughARecordingComesBeforeIt) {
    key(Key::V);
    key(Key::Enter);
    ASSERT_TRUE(state.session.pair.wanted);
    state.session.ask(wish::SetBeside{state.session.recording});
    update(state, true);
    compare::ready(state.compare, state.session, true);
    EXPECT_EQ(state.session.pair.preset, 0);
    EXPECT_FALSE(state.session.pair.wanted);
    ASSERT_TRUE(state.session.pair.other.recording);
    EXPECT_EQ(state.session.recording->trace->meta.kernel, session::compare_presets()[0].a.kernel);
    EXPECT_EQ(state.session.pair.other.recording->trace->meta.kernel, session::compare_presets()[0].b.kernel);
}

TEST_F(CompareKeys, EscapeLeadsBackWhereThereIsAWayBack) {
    key(Key::V);
    key(Key::Escape);
    EXPECT_FALSE(compare::choosing(state.compare, state.session));
    key(Key::V);
    key(Key::V);
    EXPECT_FALSE(compare::choosing(state.compare, state.session));
    state.session.pair.other.recording = nullptr;
    state.session.message = "said";
    key(Key::Escape);
    EXPECT_TRUE(compare::choosing(state.compare, state.session));
    EXPECT_EQ(state.session.message, "") << "Escape is for the others then";
}

TEST_F(CompareKeys, TheFirstReasonIsSaidOnceThoughBothHaveOne) {
    state.session.totals.reset();
    state.session.uncounted = "A takes too much.";
    state.session.pair.other.uncounted = "B takes more.";
    compare::ready(state.compare, state.session, false);
    EXPECT_TRUE(compare::choosing(state.compare, state.session));
    key(Key::Escape);
    for (int frame = 0; frame < 3; ++frame) {
        compare::ready(state.compare, state.session, false);
        EXPECT_EQ(state.session.pair.message, "A takes too much.");
        EXPECT_FALSE(compare::choosing(state.compare, state.session)) << "Escape closed it";
    }
}

TEST_F(CompareKeys, AnotherRecordingDoesNotHideWhyAPairWasNotOpened) {
    const auto recording_of = [](const char* kernel) {
        return *session::make_recording(kernels::recorded(kernel, {8, 8, 8, 4}), kernel);
    };
    show(state.session, recording_of("untiled"));
    set_beside(state.session, recording_of("tiled"));
    compare::ready(state.compare, state.session, true);
    state.session.pair.opening = state.session.jobs->start(
        [](session::Control&) -> Result<session::BothRecordings> { return Error{"one of them is gone"}; });
    show(state.session, recording_of("tiled"));
    compare::ready(state.compare, state.session, true);
    EXPECT_EQ(state.session.pair.message, "one of them is gone");
    EXPECT_TRUE(compare::choosing(state.compare, state.session));
    // It is forgotten with the next recording.
    show(state.session, recording_of("untiled"));
    compare::ready(state.compare, state.session, false);
    EXPECT_EQ(state.session.pair.message, "");
}

TEST_F(CompareKeys, WhatIsShownOpensFromAnyScreen) {
    state.session.screen = "limits";
    state.session.pair.preset = 4;
    key(Key::V);
    EXPECT_EQ(state.session.screen, "compare");
    EXPECT_TRUE(compare::choosing(state.compare, state.session));
    EXPECT_EQ(state.compare.chosen, 4) << "at the pair that is shown";
}

TEST_F(CompareKeys, AnyRecordingAsAOrAsB) {
    for (const bool b : {false, true}) {
        state.compare.choosing = true;
        state.compare.chosen = pairs + (b ? 1 : 0);
        key(Key::Enter);
        ASSERT_EQ(state.input.path.mode, PathBox::Mode::Open);
        EXPECT_EQ(state.input.path.beside, b);
        handle_input(state, typed_text(U"x.tsc"));
        key(Key::Enter);
        while (state.session.opening) update(state, true);
        update(state, true);
        EXPECT_NE(state.input.path.problem.find("x.tsc"), std::string::npos) << "it is not there";
        key(Key::Escape);
        EXPECT_TRUE(compare::choosing(state.compare, state.session)) << "the box went, the list stays";
    }
    state.compare.choosing = false;
    key(Key::B, false, true);
    EXPECT_TRUE(state.input.path.beside);
    key(Key::Down);
    key(Key::Enter);  // the first that ships
    while (state.session.opening) update(state, true);
    update(state, true);
    EXPECT_NE(state.session.pair.other.recording, state.session.recording) << state.session.message;
    key(Key::Escape);
    key(Key::O, false, true);
    EXPECT_FALSE(state.input.path.beside) << "forgotten with the box";
    state.session.recording.reset();
    key(Key::Escape);
    key(Key::B, false, true);
    EXPECT_FALSE(state.input.path.beside) << "nothing to set it beside";
}

TEST_F(CompareKeys, LocksPairsAndSides) {
    EXPECT_EQ(state.compare.lock, compare::Lock::Phase);
    key(Key::K);
    EXPECT_EQ(state.compare.lock, compare::Lock::Share);
    key(Key::K);
    EXPECT_EQ(state.compare.lock, compare::Lock::Step);
    key(Key::N);
    EXPECT_EQ(state.session.pair.preset, 0);
    key(Key::N, true);
    EXPECT_EQ(state.session.pair.preset, pairs - 1);
    EXPECT_FALSE(state.session.pair.swap);
    key(Key::Tab);
    EXPECT_TRUE(state.session.pair.swap);
    state.session.pair.swap = false;
    state.session.screen = "step";
    key(Key::Tab);
    EXPECT_FALSE(state.session.pair.swap) << "of the Compare screen alone";
    key(Key::Right);
    EXPECT_EQ(state.session.cursor.step, 1u);
}

}  // namespace
}  // namespace tilescope::app
