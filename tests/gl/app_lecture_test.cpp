// Lecture mode, lessons, palette and path box as pictures.
#include "app/actions.h"
#include "app/frame.h"
#include "app/lesson_words.h"
#include "app/requests.h"
#include "app/session.h"
#include "app/view/text_field.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

const std::vector<kernels::ShippedRecording> kNothingShips;
const std::vector<kernels::Timings> kNoTimes;  // the pictures do not change with what ships

State recorded(const char* kernel, kernels::Shape shape) {
    auto session =
        make_session(std::make_shared<const trace::Trace>(kernels::recorded(kernel, shape)), "test");
    EXPECT_TRUE(session);
    State state;
    show_session(state, std::move(*session));
    ready_block(state, true);
    state.recordings = &kNothingShips;
    state.timings = &kNoTimes;
    return state;
}

platform::Image picture(State state, int width, int height) {
    auto headless = platform::Headless::create(width, height);
    EXPECT_TRUE(headless);
    auto frame = Frame::create();
    EXPECT_TRUE(frame);
    for (int i = 0; i < 3; ++i) (*frame)->build(state, {}, {width, height, 1}, true);
    (*frame)->render();
    return (*headless)->read();
}

State lecture() {
    State state = recorded("tiled", {64, 64, 64, 16});
    state.teach.lecture = true;
    return state;
}

State lesson(size_t number, size_t stop) {
    State state;
    state.recordings = &kNothingShips;
    state.timings = &kNoTimes;
    go_to_stop(state, number, stop);
    do_requests(state);
    return state;
}

TEST(LectureMode, Light) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.cursor.step = 30;
    test::expect_golden(picture(std::move(state), 1280, 720), "lecture_light");
}

TEST(LectureMode, DarkAtASharedLoad) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.theme = Theme::Dark;
    state.cursor.step = 60;
    test::expect_golden(picture(std::move(state), 1920, 1080), "lecture_dark");
}

TEST(LectureMode, BlankIsBlack) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.teach.blank = true;
    const platform::Image image = picture(std::move(state), 640, 360);
    for (int y = 0; y < 360; ++y) {
        for (int x = 0; x < 640; ++x) ASSERT_EQ(test::pixel(image, x, y), draw::rgb(0)) << x << "," << y;
    }
}

TEST(LectureMode, DrawsAnySizeAndNothingAtAll) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{200, 200}, std::pair{640, 360}, std::pair{900, 1400}}) {
        EXPECT_EQ(picture(lecture(), width, height).width, width);
    }
    State empty;
    empty.teach.lecture = true;
    EXPECT_EQ(picture(std::move(empty), 640, 360).height, 360);
    State hollow;
    hollow.teach.lecture = true;
    hollow.session.emplace();
    hollow.session->trace = std::make_shared<const trace::Trace>();
    EXPECT_EQ(picture(std::move(hollow), 640, 360).height, 360);
}

TEST(LessonsScreen, List) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    state.screen = Screen::Lessons;
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons");
}

TEST(LessonsScreen, ListInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    state.screen = Screen::Lessons;
    state.theme = Theme::Dark;
    state.teach.lesson.listed = 3;
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons_dark");
}

TEST(LessonsScreen, ListInALectureInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    state.screen = Screen::Lessons;
    state.teach.lecture = true;
    state.theme = Theme::Dark;
    state.teach.lesson.listed = 4;
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons_lecture_dark");
}

TEST(LessonsScreen, AStopOfALesson) {
    SKIP_WITHOUT_OPENGL();
    State state = lesson(1, 2);
    ready_block(state, true);
    test::expect_golden(picture(std::move(state), 1280, 720), "lesson_stop");
}

TEST(LessonsScreen, AStopInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = lesson(4, 1);
    ready_block(state, true);
    state.teach.lecture = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "lesson_stop_lecture");
}

// What the list says of a stop is what the walk says when it stands there.
TEST(LessonsScreen, AStopIsListedWithWhatItWillSay) {
    for (size_t number = 0; number < view::lessons().size(); ++number) {
        const view::Lesson& of = view::lessons()[number];
        State list;
        EXPECT_FALSE(work_out_words(list, number, true));
        const std::vector<std::string>& said = list.teach.lesson.said[number];
        ASSERT_EQ(said.size(), of.stops.size()) << of.name;
        for (size_t stop = 0; stop < of.stops.size(); ++stop) {
            State walk = lesson(number, stop);
            ASSERT_TRUE(walk.session) << of.name << " " << stop;
            EXPECT_EQ(said[stop],
                      view::said(*walk.session, *walk.block, walk.cursor.step, of.stops[stop].say));
            EXPECT_EQ(said[stop].find('{'), std::string::npos) << said[stop];
        }
    }
}

// The window works out the stops of one recording a frame.
TEST(LessonsScreen, StopsComeARecordingAtATime) {
    State state;
    EXPECT_TRUE(work_out_words(state, 4, false));
    EXPECT_EQ(state.teach.lesson.said[4].size(), 1u);
    while (work_out_words(state, 4, false)) {
    }
    EXPECT_EQ(state.teach.lesson.said[4].size(), view::lessons()[4].stops.size());
}

TEST(CommandPalette, FoundByAFewLetters) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    state.teach.commands.open = true;
    view::set_text(state.teach.commands.query, "phase");
    state.teach.commands.chosen = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "command_palette");
}

TEST(PathBox, SaysWhatIsWrong) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    open_path_box(state, PathBox::Mode::Save);
    view::set_text(state.teach.path.path, "/no/such/folder/kept.tsc");
    take_path(state);
    do_requests(state);
    EXPECT_EQ(state.teach.path.problem, "There is no folder '/no/such/folder'.");
    test::expect_golden(picture(std::move(state), 1280, 720), "path_box");
}

}  // namespace
}  // namespace tilescope::app
