// The first minute: what an empty home begins with, panel by panel, and how it is left; and the offer of it, by a
// clicker's key, until it was walked to its end, and only beside the recording that the program opened for them.
#include "app/app.h"
#include "app/lessons/panels.h"
#include "tests/app_names.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

class Welcome : public testing::Test {
protected:
    State state;
    void SetUp() override {
        show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
        state.lessons.offered = state.session.recording->serial;
    }
    void page_down() { handle_input(state, press(Key::PageDown), true); }
};

TEST_F(Welcome, PageDownWalksThroughTheFirstLessonOnce) {
    page_down();
    ASSERT_TRUE(state.session.walking);
    EXPECT_EQ(state.lessons.lesson, 0u);
    EXPECT_EQ(state.lessons.stop, 0u);
    const size_t stops = (*state.lessons.lessons)[0].stops.size();
    for (size_t stop = 0; stop < stops; ++stop) {
        EXPECT_FALSE(state.lessons.walked);
        EXPECT_EQ(state.lessons.stop, stop);
        if (state.session.question.open) page_down();  // what it asks first
        page_down();
    }
    EXPECT_TRUE(state.lessons.walked) << "its end";
    // No newcomer any more: beside the same recording the key steps.
    state.session.walking = false;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    state.lessons.offered = state.session.recording->serial;
    page_down();
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.cursor.step, 1u);
}

TEST_F(Welcome, ALessonThatIsLeftIsOfferedAgain) {
    page_down();
    handle_input(state, press(Key::Escape), true);
    EXPECT_FALSE(state.session.walking);
    EXPECT_FALSE(state.lessons.walked);
}

TEST_F(Welcome, OtherKeysAndOtherRecordingsAreAsEver) {
    handle_input(state, press(Key::Right), true);
    EXPECT_EQ(state.session.cursor.step, 1u);
    handle_input(state, press(Key::PageUp), true);
    EXPECT_EQ(state.session.cursor.step, 0u);
    show_trace(state, kernels::recorded("untiled", {4, 4, 4, 2}));
    page_down();
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.cursor.step, 1u);
}

// As the program begins in an empty home.
class FirstMinute : public Welcome {
protected:
    void SetUp() override {
        Welcome::SetUp();
        lessons::go_to_stop(state.lessons, state.session, 0, 0);
        update(state, true);
    }
    const lessons::Lesson& lesson() const { return (*state.lessons.lessons)[0]; }
    // Walks until a stop stands on that screen, and tells how often the key was pressed.
    size_t walk_to(std::string_view screen) {
        size_t keys = 0;
        for (; keys < lesson().stops.size() && state.session.screen != screen; ++keys) page_down();
        return keys;
    }
    void expect_start() {
        EXPECT_FALSE(state.session.walking);
        EXPECT_FALSE(state.session.unfolds());
        EXPECT_EQ(state.session.screen, session::kStepScreen);
        EXPECT_EQ(analysis::size_name(*state.session.recording), "4\u00d74\u00d74");
        EXPECT_EQ(state.session.cursor, playback::Cursor{});
        EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::None);
        page_down();
        EXPECT_TRUE(state.session.walking) << "it is offered";
        EXPECT_EQ(state.lessons.stop, 0u);
    }
};

// Three matrices, then more and more, then a race that plays, then the first question; and all panels at the end.
TEST_F(FirstMinute, UnfoldsTheScreen) {
    EXPECT_EQ(lesson().name, "first");
    EXPECT_EQ(state.session.panels, static_cast<uint8_t>(session::Panel::Matrices));
    uint8_t before = state.session.panels;
    size_t added = 0;
    for (page_down(); state.session.screen == session::kStepScreen; page_down(), ++added) {
        ASSERT_LT(added, 6u);
        EXPECT_FALSE(state.session.question.open);
        EXPECT_EQ(state.session.panels & before, before) << "what was explained stays";
        EXPECT_NE(state.session.panels, before) << "and something comes";
        before = state.session.panels;
    }
    EXPECT_GE(added, 3u);
    EXPECT_LE(added, 5u);
    EXPECT_EQ(before | static_cast<uint8_t>(session::Panel::Sums), session::kAllPanels);
    ASSERT_EQ(state.session.screen, session::kRaceScreen);
    EXPECT_FALSE(state.session.question.open);
    ASSERT_FALSE(race::ready(state.race, state.session, true));
    ASSERT_TRUE(state.race.race) << state.race.why_not;
    EXPECT_EQ(state.race.race->b.name, "untiled");
    EXPECT_TRUE(state.race.playing) << "by itself";
    EXPECT_EQ(state.race.at, 0);
    page_down();
    EXPECT_TRUE(state.session.question.open);
    page_down();
    EXPECT_FALSE(state.session.question.open) << "shown";
    EXPECT_FALSE(state.lessons.walked);
    page_down();
    EXPECT_TRUE(lessons::at_end(state.lessons, state.session));
    EXPECT_TRUE(state.lessons.walked);
    EXPECT_FALSE(state.session.unfolds());
    state.session.screen = session::kStepScreen;
    update(state, true);
    EXPECT_FALSE(state.session.unfolds());
}

// At three words a second, as subtitles are read, and with what stands beside the sentences.
TEST_F(FirstMinute, IsShort) {
    const auto words_in = [](std::string_view text) { return std::ranges::count(text, ' ') + 1; };
    int64_t words = 0;
    for (const char* keys : lessons::kUnfoldingKeys) words += words_in(keys);
    for (; state.session.screen == session::kStepScreen; page_down())
        words += words_in(state.lessons.standing.words);
    EXPECT_LE(words, 90);
    words += words_in(state.lessons.standing.words);
    EXPECT_LE(static_cast<double>(words) / 3 + race::kSeconds, 60);
}

TEST_F(FirstMinute, EscapeLeadsToTheStartFromEachStop) {
    const size_t stops = lesson().stops.size();
    for (size_t stop = 0; stop < stops; ++stop) {
        SCOPED_TRACE(stop + 1);
        lessons::go_to_stop(state.lessons, state.session, 0, stop);
        update(state, true);
        handle_input(state, press(Key::Escape), true);
        expect_start();
        update(state, true);
    }
}

TEST_F(FirstMinute, AnotherScreenOrRecordingLeavesIt) {
    handle_input(state, press(Key::Digit5), true);
    update(state, true);
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.screen, "levels");
    EXPECT_FALSE(state.session.unfolds());

    lessons::go_to_stop(state.lessons, state.session, 0, 1);
    update(state, true);
    ASSERT_TRUE(state.session.unfolds());
    show_trace(state, kernels::recorded("untiled", {8, 8, 8, 4}));
    EXPECT_FALSE(state.session.walking);
    EXPECT_FALSE(state.session.unfolds());
    EXPECT_EQ(state.session.trace().meta.kernel, "untiled") << "what was opened stays";

    lessons::go_to_stop(state.lessons, state.session, 0, 0);
    update(state, true);
    walk_to(session::kRaceScreen);
    handle_input(state, press(Key::Digit2), true);
    update(state, true);
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.screen, "compare");
}

// Of another lesson that unfolds the screen, too, what it stands on stays: the start is the first one's.
TEST_F(FirstMinute, AnotherLessonThatUnfoldsIsLeftWhereItStands) {
    std::vector<lessons::Lesson> more = lessons::lesson_list();
    more.push_back(more[0]);
    for (lessons::LessonStop& stop : more.back().stops) stop.shape = {8, 8, 8, 4};
    state.lessons.lessons = &more;
    lessons::go_to_stop(state.lessons, state.session, more.size() - 1, 0);
    update(state, true);
    ASSERT_TRUE(state.session.unfolds());
    handle_input(state, press(Key::Escape), true);
    update(state, true);
    EXPECT_FALSE(state.session.walking);
    EXPECT_FALSE(state.session.unfolds());
    EXPECT_EQ(analysis::size_name(*state.session.recording), "8\u00d78\u00d78");
}

// Another lesson is walked on any screen, as ever.
TEST_F(FirstMinute, OtherLessonsStayOnOtherScreens) {
    lessons::go_to_stop(state.lessons, state.session, 2, 0);
    update(state, true);
    EXPECT_FALSE(state.session.unfolds());
    handle_input(state, press(Key::Digit5), true);
    update(state, true);
    EXPECT_TRUE(state.session.walking);
}

}  // namespace
}  // namespace tilescope::app
