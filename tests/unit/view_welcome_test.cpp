// Who starts the program for the first time is offered the first lesson: by a clicker's key, until it was
// walked to its end, and only beside the recording that the program opened for them.
#include "app/app.h"
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

}  // namespace
}  // namespace tilescope::app
