// Questions as pictures, and what they must not show before they are answered.
#include "app/draw/widgets.h"
#include "app/lessons/asking.h"
#include "app/look/request.h"
#include "app/look/sums.h"
#include "tests/app_names.h"
#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State at_stop(size_t lesson, size_t stop) {
    State state;
    state.session.assets.timings = session::Assets::of(kNoTimes);
    go_to_stop(state.lessons, state.session, lesson, stop);
    update(state, true);
    update(state, true);
    return state;
}

size_t number_of_lesson(const char* name) {
    return static_cast<size_t>(std::ranges::find(lesson_list(), name, &Lesson::name) - lesson_list().begin());
}

std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

// The same of stops on a figure or a case: neither the sentence of the figure, nor what the case comes to.
TEST(QuestionPictures, AModelKeepsTheAnswerFromView) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson)
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!of.ask || !is_modelled(of)) continue;
            const std::string at = lesson_list()[lesson].name + " " + std::to_string(stop + 1);
            State state = at_stop(lesson, stop);
            const auto* const figure = lessons::find_figure(of.figure);
            const std::string follows =
                figure != nullptr ? figure->concludes(of.set)
                                  : limits::words(state.limits, state.session.assets.devices()).answer;
            std::vector<std::string> hidden{follows, state.lessons.standing.words};
            const lessons::RightAnswer answer = right_answer(state.lessons, state.session);
            if (of.ask->answer.ends_with("_at_most")) hidden.push_back(answer.words);
            // What a figure leaves out stands as a "?"; so does what is not typed yet.
            const auto signs = [&] {
                return std::ranges::count_if(drawn.seen().texts, [](const draw::Written& text) {
                    return text.text == "?" || text.text.ends_with(": ?");
                });
            };
            const std::string before = drawn.words(state);
            const auto left_out = signs() - (of.ask->choices.empty() ? 1 : 0);
            for (const std::string& text : hidden)
                EXPECT_EQ(before.find(without_spaces(text)), std::string::npos) << at << " shows: " << text;
            reveal(state.lessons, state.session);
            update(state, true);
            const std::string after = drawn.words(state);
            if (figure != nullptr) EXPECT_GT(left_out, signs()) << at;
            if (figure != nullptr)
                EXPECT_NE(before.find(without_spaces(std::string(figure->title))), std::string::npos) << at;
            EXPECT_NE(after.find(without_spaces(state.lessons.standing.words)), std::string::npos) << at;
            EXPECT_NE(after.find(without_spaces(follows)), std::string::npos) << at << ": " << after;
        }
}

// Of every stop that asks: what the screen says of the step once it is revealed, and not before.
TEST(QuestionPictures, KeepTheAnswerFromView) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    size_t asked = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson)
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!of.ask || of.screen != "step") continue;
            ++asked;
            State state = at_stop(lesson, stop);
            const auto hides = [&](session::Hide what) { return state.session.question.hides(what); };
            const auto request =
                look::request_view(state.session.trace(), *state.session.block, state.session.cursor.step);
            std::vector<std::string> hidden = {state.lessons.standing.words, state.lessons.standing.why};
            if (hides(session::Hide::Numbers) || hides(session::Hide::Lines) || hides(session::Hide::Lanes))
                hidden.insert(
                    hidden.end(),
                    {request.verdict, step::caption(state.session.trace(), *state.session.block,
                                                    state.session.replay.get(), state.session.cursor.step)});
            if (hides(session::Hide::Result)) hidden.push_back(look::result_text(state.session.trace()));
            if (hides(session::Hide::Numbers))
                for (const char* unit : {"sectors", "wavefronts"}) {
                    const auto fact = lessons::find_fact(unit);
                    lessons::Scene scene{*state.session.recording, *state.session.block,
                                         state.session.cursor.step};
                    if (const auto number = fact->at(scene))
                        hidden.push_back(
                            counted(*number, std::string(unit).substr(0, std::string(unit).size() - 1)));
                }
            const std::string before = drawn.words(state);
            for (const std::string& text : hidden)
                EXPECT_TRUE(text.empty() || before.find(without_spaces(text)) == std::string::npos)
                    << lesson_list()[lesson].name << " " << stop + 1 << " shows: " << text << " in "
                    << before;
            reveal(state.lessons, state.session);
            const std::string after = drawn.words(state);
            EXPECT_NE(after.find(without_spaces(state.lessons.asked->verdict)), std::string::npos);
            EXPECT_NE(after.find(without_spaces(state.lessons.standing.words)), std::string::npos);
        }
    EXPECT_GE(asked, 8u);
}

// A picture for paper: nothing that only a window can do, no sign for what is hidden where nothing can be
// opened, and in its place room, which a page has above the question's line.
TEST(QuestionPictures, OnPaperThereIsRoomAndNothingToPress) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1120, 640);
    size_t rooms = 0, asked = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson)
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            State state = at_stop(lesson, stop);
            state.paper = true;
            drawn.frames(state);
            const std::string at = lesson_list()[lesson].name + " " + std::to_string(stop + 1);
            bool room = false;
            for (const draw::Written& text : drawn.seen().texts) {
                for (const char* only : {"steps/s", "clocks/s", "question above", "Space", "Choose"})
                    EXPECT_EQ(text.text.find(only), std::string::npos) << at << ": " << text.text;
                EXPECT_FALSE(text.text == "?" && !is_modelled(lesson_list()[lesson].stops[stop]))
                    << at << " has a sign where nothing opens";
                room = room || text.text == draw::kRoomToWork;
            }
            EXPECT_LE(room, state.session.question.open) << at;
            rooms += room;
            asked += state.session.question.open;
        }
    EXPECT_GE(asked, 40u);
    EXPECT_GE(rooms * 2, asked);
}

// Nothing of a question is drawn on another one.
TEST(QuestionPictures, LeaveNoTextOnAnother) {
    SKIP_WITHOUT_OPENGL();
    for (const bool lecture : {false, true}) {
        Drawn drawn(1280, 720);
        State state = at_stop(number_of_lesson("edges"), 1);
        state.session.lecture = lecture;
        drawn.frames(state);
        for (const draw::Written& text : drawn.seen().texts)
            EXPECT_FALSE(text.cut && text.text == state.lessons.standing.asks);
    }
}

TEST(QuestionPictures, ANumberIsAskedFor) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("coalescing"), 0);
    state.session.question.typed = "4";
    test::expect_golden(picture(std::move(state), 1280, 720), "question_number");
}

TEST(QuestionPictures, LanesInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("edges"), 1);
    state.session.theme = Theme::Dark;
    state.session.question.lanes = 0b101;
    test::expect_golden(picture(std::move(state), 1280, 720), "question_lanes_dark");
}

TEST(QuestionPictures, ElementsRevealedInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("reuse"), 0);
    state.session.lecture = true;
    state.session.question.cells = {0, 1};
    reveal(state.lessons, state.session);
    test::expect_golden(picture(std::move(state), 1280, 720), "question_revealed_lecture");
}

TEST(QuestionPictures, AFigureIsAskedAboutInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("roofs"), 2);
    state.session.theme = Theme::Dark;
    state.session.question.typed = "345.6";
    test::expect_golden(picture(std::move(state), 1280, 720), "question_figure_dark");
}

TEST(QuestionPictures, AFigureIsDrawnWithoutWhatIsAsked) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(at_stop(number_of_lesson("blocks"), 0), 1280, 720), "question_figure");
}

TEST(QuestionPictures, ACaseIsAskedAbout) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("limits"), 2);
    test::expect_golden(picture(std::move(state), 1280, 720), "question_case");
}

TEST(QuestionPictures, ACaseRevealedInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = at_stop(number_of_lesson("limits"), 3);
    state.session.lecture = true;
    state.session.question.typed = "5";
    reveal(state.lessons, state.session);
    test::expect_golden(picture(std::move(state), 1280, 720), "question_case_revealed_lecture");
}

}  // namespace
}  // namespace tilescope::app
