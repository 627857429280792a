// Lecture mode, lessons, palette and path box as pictures.
#include "app/input/overlays.h"
#include "app/lessons/asking.h"
#include "app/session/session.h"
#include "tests/app_names.h"
#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"
#include "tests/recorded.h"
#include "tests/twin/lesson_facts.h"

namespace tilescope::app {
namespace {

State recorded_for_lecture(const char* kernel, kernels::Shape shape) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.assets.recordings = session::Assets::of(kNothingShips);
    state.session.assets.timings = session::Assets::of(kNoTimes);
    return state;
}

State lecture() {
    State state = recorded_for_lecture("tiled", {64, 64, 64, 16});
    state.session.lecture = true;
    return state;
}

// The place of a lesson among all.
size_t place_of(const char* name) {
    const auto& all = lessons::lesson_list();
    return static_cast<size_t>(std::ranges::find(all, name, &lessons::Lesson::name) - all.begin());
}

State lesson(size_t number, size_t stop) {
    State state;
    state.session.assets.timings = session::Assets::of(kNoTimes);
    go_to_stop(state.lessons, state.session, number, stop);
    update(state, true);
    return state;
}

TEST(LectureMode, Light) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.session.cursor.step = 30;
    test::expect_golden(picture(std::move(state), 1280, 720), "lecture_light");
}

TEST(LectureMode, DarkAtASharedLoad) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.session.theme = Theme::Dark;
    state.session.cursor.step = 60;
    test::expect_golden(picture(std::move(state), 1920, 1080), "lecture_dark");
}

TEST(LectureMode, BlankIsBlack) {
    SKIP_WITHOUT_OPENGL();
    State state = lecture();
    state.session.blank = true;
    const platform::Image image = picture(std::move(state), 640, 360);
    for (int y = 0; y < 360; ++y)
        for (int x = 0; x < 640; ++x) ASSERT_EQ(test::pixel(image, x, y), draw::rgb(0)) << x << "," << y;
}

TEST(LectureMode, DrawsAnySizeAndNothingAtAll) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{200, 200}, std::pair{640, 360}, std::pair{900, 1400}})
        EXPECT_EQ(picture(lecture(), width, height).width, width);
    State empty;
    empty.session.lecture = true;
    EXPECT_EQ(picture(std::move(empty), 640, 360).height, 360);
    State hollow;
    hollow.session.lecture = true;
    show_hollow(hollow);
    EXPECT_EQ(picture(std::move(hollow), 640, 360).height, 360);
}

TEST(LessonsScreen, List) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    state.session.screen = "lessons";
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons");
}

TEST(LessonsScreen, ListInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    state.session.screen = "lessons";
    state.session.theme = Theme::Dark;
    state.lessons.listed = place_of("edges");
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons_dark");
}

TEST(LessonsScreen, ListInALectureInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    state.session.screen = "lessons";
    state.session.lecture = true;
    state.session.theme = Theme::Dark;
    state.lessons.listed = place_of("banks");
    test::expect_golden(picture(std::move(state), 1280, 720), "lessons_lecture_dark");
}

// What stands above the lecture's product when the program is started for the first time.
TEST(LessonsScreen, ANewcomerIsOfferedTheFirst) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    state.lessons.offered = state.session.recording->serial;
    test::expect_golden(picture(std::move(state), 1280, 720), "welcome");
}

TEST(LessonsScreen, AStopOfALesson) {
    SKIP_WITHOUT_OPENGL();
    State state = lesson(place_of("coalescing"), 2);
    update(state, true);
    test::expect_golden(picture(std::move(state), 1280, 720), "lesson_stop");
}

TEST(LessonsScreen, AStopInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = lesson(place_of("banks"), 1);
    update(state, true);
    state.session.lecture = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "lesson_stop_lecture");
}

// A sentence and the bars below it are of one compiler's times, and the bars have room in a lecture too.
TEST(LessonsScreen, TheTimesOfAStopAreThoseThatAreDrawn) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state;
    go_to_stop(state.lessons, state.session, place_of("roofs"), 7);
    update(state, true);
    reveal(state.lessons, state.session);
    state.session.lecture = true;
    const std::string words = drawn.words(state);
    for (const char* said : {"181%", "1.81\u00d7untiled", "measured", "\u2192issueslots"})
        EXPECT_NE(words.find(said), std::string::npos) << said;
    EXPECT_EQ(words.find("Pointatabar"), std::string::npos) << "the note gave way to them";
}

// What the list says of a stop is what the walk says when it stands there.
TEST(LessonsScreen, AStopIsListedWithWhatItWillSay) {
    for (size_t number = 0; number < lessons::lesson_list().size(); ++number) {
        const lessons::Lesson& of = lessons::lesson_list()[number];
        State list;
        EXPECT_FALSE(work_out_words(list.lessons, number, true));
        const auto& said = list.lessons.said[number];
        ASSERT_EQ(said.size(), of.stops.size()) << of.name;
        for (size_t stop = 0; stop < of.stops.size(); ++stop) {
            State walk = lesson(number, stop);
            const bool modelled = is_modelled(of.stops[stop]);
            ASSERT_TRUE(modelled || walk.session.recording) << of.name << " " << stop;
            EXPECT_EQ(said[stop].words, walk.lessons.standing.words);
            EXPECT_EQ(said[stop].at, walk.session.cursor);
            EXPECT_FALSE(said[stop].words.empty() || said[stop].words.find('{') != std::string::npos)
                << said[stop].words;
        }
    }
}

void expect_whole_frame(const Drawn& drawn, const State& state) {
    for (const std::string& flaw : flaws(drawn.seen(), 1280, 720)) ADD_FAILURE() << flaw;
    expect_whole(drawn.seen(), state);
}

// All of what a stop says has room above the screen, in the large type of a lecture too, whichever screen it
// stands on, and nothing there is cut or lies on another; and it is said of its own step alone.
TEST(LessonsScreen, AStopIsWrittenWhole) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (size_t number = 0; number < lessons::lesson_list().size(); ++number)
        for (size_t stop = 0; stop < lessons::lesson_list()[number].stops.size(); ++stop) {
            State state = lesson(number, stop);
            state.session.lecture = true;
            SCOPED_TRACE(fmt::format("{}, stop {}", lessons::lesson_list()[number].name, stop + 1));
            if (state.session.question.open) {  // and says nothing before
                const std::string asking = drawn.words(state);
                expect_whole_frame(drawn, state);
                EXPECT_TRUE(says(asking, state.lessons.standing.asks)) << state.lessons.standing.asks;
                EXPECT_FALSE(says(asking, state.lessons.standing.words)) << state.lessons.standing.words;
                reveal(state.lessons, state.session);
            }
            const std::string text = drawn.words(state);
            expect_whole_frame(drawn, state);
            EXPECT_TRUE(says(text, state.lessons.standing.words)) << state.lessons.standing.words;
            for (const draw::Written& one : drawn.seen().texts)
                EXPECT_FALSE(one.cut && state.lessons.standing.words.find(one.text) != std::string::npos)
                    << "cut: " << one.text;
            EXPECT_FALSE(says(text, "about step")) << text;
        }
    State state = lesson(place_of("coalescing"), 2);
    state.session.cursor.step = 7;
    EXPECT_TRUE(says(drawn.words(state), "3 of 4 about step 1"));
    state.session.cursor.block = 1;
    EXPECT_TRUE(says(drawn.words(state), "3 of 4 about step 1 of another block"));
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    EXPECT_TRUE(says(drawn.words(state), "3 of 4 about another recording"));
}

// Marks are drawn where a lesson counts them, in the shape that it names.
TEST(LessonsScreen, MarksLookAsTheyAreCalled) {
    SKIP_WITHOUT_OPENGL();
    for (const size_t stop : {size_t{1}, size_t{4}}) {
        State state = lesson(place_of("stale"), stop);  // stale values, and zero fills in their place
        update(state, true);
        lessons::reveal(state.lessons, state.session);  // where it asks first
        const uint32_t block = state.session.cursor.block;
        const twin::Recording f(state.session.recording->trace);
        const twin::LessonFacts facts =
            twin::facts_at(f, block, state.session.cursor.step, *twin::run_again(f.trace, block));
        EXPECT_GT(stop == 1 ? facts.stale.size() : facts.zeros.size(), 40u);
        Drawn drawn(1280, 720);
        const test::Picture picture = drawn.picture(state);
        const draw::Palette& colours = draw::palette(state.session.theme);
        for (const auto& [array, view] : state.step.places) {
            if (array == step::kOfThreads) continue;
            const Array& of = state.session.trace().launch.arrays[array];
            if (of.space != Space::Shared) continue;
            for (uint64_t cell = 0; cell < of.elements(); ++cell) {
                const ImVec2 at = draw::corner_of(view, static_cast<double>(cell / of.cols),
                                                  static_cast<double>(cell % of.cols));
                const float pitch = view.pitch;
                const auto pixel = [&, at](float right, float down) {
                    return test::pixel(picture, static_cast<int>(at.x + pitch * right),
                                       static_cast<int>(at.y + pitch * down));
                };
                const bool notch = pixel(0.91f, 0.055f) == colours[Ink::TextQuiet];
                EXPECT_EQ(notch, facts.stale.contains({array, cell})) << of.name << " " << cell;
                // Beside the value, whose digits are in the middle.
                const bool stroke = pixel(0.14f, 0.86f) != pixel(0.14f, 0.7f);
                EXPECT_EQ(stroke, facts.zeros.contains({array, cell})) << of.name << " " << cell;
            }
        }
    }
}

// The window works out the stops of one recording a frame.
TEST(LessonsScreen, StopsComeARecordingAtATime) {
    State state;
    const size_t banks = place_of("banks");
    EXPECT_TRUE(work_out_words(state.lessons, banks, false));
    EXPECT_EQ(state.lessons.said[banks].size(), 1u);
    while (work_out_words(state.lessons, banks, false)) {
    }
    EXPECT_EQ(state.lessons.said[banks].size(), lessons::lesson_list()[banks].stops.size());
}

TEST(CommandPalette, FoundByAFewLetters) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    state.input.palette.open = true;
    input::set_text(state.input.palette.query, "phase");
    state.input.palette.chosen = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "command_palette");
}

TEST(PathBox, SaysWhatIsWrong) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_for_lecture("tiled", {4, 4, 4, 2});
    open_path_box(state.input, state.session, PathBox::Mode::Save);
    input::set_text(state.input.path.path, "/no/such/folder/kept.tsc");
    take_path(state.input, state.session);
    update(state, true);
    EXPECT_EQ(state.input.path.problem, "There is no folder '/no/such/folder'.");
    test::expect_golden(picture(std::move(state), 1280, 720), "path_box");
}

}  // namespace
}  // namespace tilescope::app
