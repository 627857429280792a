// Questions read, judged and walked through with keys, a clicker and "ask me". The questions of lessons are
// held to their recordings in view_lesson_walk_test.cpp.
#include <bit>

#include "app/lessons/asking.h"
#include "app/session/playing.h"
#include "core/base/contents.h"
#include "tests/app_names.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using Asks = lessons::Question;

std::string error_of(const std::string& ask) {
    const auto read = lesson_from_json(
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","say":"x","ask":)" + ask + "}]}",
        "it");
    return read ? "" : read.error().message;
}

TEST(Questions, AreRead) {
    EXPECT_EQ(error_of(R"({"kind":"number","question":"q","answer":"sectors","why":"{lanes}"})"), "");
    EXPECT_EQ(error_of(R"({"kind":"value","question":"{thread}","answer":"sum","why":"w"})"), "");
    EXPECT_EQ(error_of(R"({"kind":"bank","question":"q","why":"w"})"), "");
    EXPECT_EQ(error_of(R"({"kind":"elements","question":"q","why":"w"})"), "");
    EXPECT_EQ(error_of(R"({"kind":"lanes","question":"q","answer":"idle","why":"w"})"), "");
    EXPECT_EQ(error_of(R"({"kind":"choice","question":"q","why":"w","choices":)"
                       R"([{"say":"a","when":"wrong = 0"},{"say":"b","when":"wrong > 0"}]})"),
              "");
}

TEST(Questions, DamageIsSaidInOneSentence) {
    const std::pair<const char*, const char*> bad[] = {
        {R"([])", "'ask'"},
        {R"({})", "'kind'"},
        {R"({"kind":"guess","question":"q","why":"w"})", "'kind'"},
        {R"({"kind":"number","answer":"sectors","why":"w"})", "'question'"},
        {R"({"kind":"number","question":"q","why":"w"})", "'answer'"},
        {R"({"kind":"number","question":"q","answer":"sektors","why":"w"})", "'sektors' is no fact"},
        {R"({"kind":"value","question":"q","answer":"sectors","why":"w"})", "of kind 'value'"},
        {R"({"kind":"lanes","question":"q","answer":"all","why":"w"})", "of kind 'lanes'"},
        {R"({"kind":"bank","question":"q","answer":"bank","why":"w"})", "'answer' of its question"},
        {R"({"kind":"choice","question":"q","why":"w"})", "'choices'"},
        {R"({"kind":"choice","question":"q","why":"w","choices":[{"say":"a","when":"wrong = 0"}]})",
         "'choices'"},
        {R"({"kind":"choice","question":"q","why":"w","choices":[1,2]})", "'say'"},
        {R"({"kind":"choice","question":"q","why":"w","choices":[{"say":"a","when":"rong = 0"},{"say":"b","when":"wrong > 0"}]})",
         "'rong'"},
        {R"({"kind":"choice","question":"q","why":"w","choices":[{"say":"{b}","when":"wrong = 0"},{"say":"b","when":"wrong > 0"}]})",
         "'b'"},
        {R"({"kind":"number","question":"{q}","answer":"sectors","why":"w"})", "'q'"},
        {R"({"kind":"number","question":"q","answer":"sectors","why":"{w"})", "brace"},
        {R"({"kind":"number","question":"q","answer":"sectors","why":"w","hint":1})",
         "'hint' of its question"}};
    for (const auto& [ask, names] : bad) {
        const std::string said = error_of(ask);
        EXPECT_NE(said.find("'it'"), std::string::npos) << ask;
        EXPECT_NE(said.find(names), std::string::npos) << said;
        EXPECT_EQ(said.back(), '.') << said;
        EXPECT_EQ(std::ranges::count(said, '\n'), 0) << said;
    }
}

void press_key(State& state, platform::Key key, bool shift = false) {
    platform::Input input;
    input.presses.push_back({.key = key, .shift = shift});
    handle_input(state, input, true);
}
// As a keyboard sends it: the key, then the character.
void type_text(State& state, const std::string& text) {
    platform::Input input;
    for (const char c : text) {
        if (c >= '0' && c <= '9')
            input.presses.push_back(
                {.key = static_cast<platform::Key>(static_cast<int>(platform::Key::Digit0) + c - '0')});
        input.presses.push_back({.character = static_cast<uint32_t>(c)});
    }
    handle_input(state, input, true);
}

// One lesson on a recording of its own: a question of each kind that the first steps hold.
std::vector<Lesson> own_lesson() {
    const std::string product = R"("kernel":"tiled_transposed","m":64,"k":64,"n":64,"tile":32)";
    const std::string text =
        R"({"name":"q","title":"Q","teaches":"t","stops":[)"
        R"({)" +
        product +
        R"(,"kind":"global load","array":"M","say":"It says this afterwards.",)"
        R"("ask":{"kind":"number","question":"How many sectors?","answer":"sectors","why":"Because."}},)"
        R"({"kind":"shared load","array":"Nds","where":["wavefronts > 1"],"say":"s",)"
        R"("ask":{"kind":"bank","question":"Which bank?","why":"w"}},)"
        R"({"kind":"global store","array":"P","say":"s",)"
        R"("ask":{"kind":"choice","question":"Right?","why":"w","choices":)"
        R"([{"say":"wrong","when":"wrong > 0"},{"say":"right","when":"wrong = 0"}]}},)"
        R"({"kernel":"tiled","m":3,"k":3,"n":3,"tile":2,"block":[1,0],"kind":"global load","array":"N",)"
        R"("where":["idle > 0"],"say":"s","ask":{"kind":"lanes","question":"Which lanes?","answer":"active","why":"w"}},)"
        R"({"kernel":"untiled","m":4,"k":4,"n":4,"tile":2,"kind":"global load","array":"M","say":"s",)"
        R"("ask":{"kind":"elements","question":"Which elements?","why":"w"}},)"
        R"({"kind":"global load","array":"M","say":"s",)"
        R"("ask":{"kind":"value","question":"Which value?","answer":"first","why":"w"}}]})";
    auto lesson = lesson_from_json(text, "q");
    EXPECT_TRUE(lesson) << lesson.error().message;
    return {std::move(*lesson)};
}

struct Walk {
    std::vector<Lesson> lessons = own_lesson();
    State state;
    explicit Walk(size_t stop) {
        state.lessons.lessons = &lessons;
        go_to_stop(state.lessons, state.session, 0, stop);
        update(state, true);
        update(state, true);
    }
    session::Question& asked() { return state.session.question; }
    bool open() const { return state.session.question.open; }
    std::string verdict() const { return state.lessons.asked ? state.lessons.asked->verdict : "none"; }
};

TEST(Questions, TakeANumberByKeys) {
    Walk walk(0);
    ASSERT_TRUE(walk.open());
    EXPECT_TRUE(walk.asked().hides(session::Hide::Lines));
    press_key(walk.state, platform::Key::Enter);  // nothing was predicted yet
    EXPECT_TRUE(walk.open());
    type_text(walk.state, "47");
    EXPECT_EQ(walk.state.session.screen, "step") << "digits are not screens while a number is asked for";
    press_key(walk.state, platform::Key::Backspace);
    EXPECT_EQ(walk.asked().typed, "4");
    press_key(walk.state, platform::Key::Enter);
    EXPECT_FALSE(walk.open());
    EXPECT_EQ(walk.verdict(), "Right: 4 sectors.");
    EXPECT_EQ(walk.state.lessons.standing.words, "It says this afterwards.");
    EXPECT_EQ(tally_words(walk.state.lessons.tally), "1 of 1 right");
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.state.lessons.stop, 1u);
    EXPECT_TRUE(walk.open());
}

TEST(Questions, SayHowFarOffAPredictionIs) {
    Walk walk(0);
    type_text(walk.state, "1032");
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.verdict(), "You said 1,032; it is 4 sectors.");
    EXPECT_EQ(tally_words(walk.state.lessons.tally), "0 of 1 right");
}

// A clicker has Page Down alone: it reveals, goes on, and comes to the end.
TEST(Questions, AClickerGetsThroughAll) {
    Walk walk(0);
    for (size_t stop = 0; stop < walk.lessons[0].stops.size(); ++stop) {
        EXPECT_EQ(walk.state.lessons.stop, stop);
        EXPECT_TRUE(walk.open()) << stop;
        press_key(walk.state, platform::Key::PageDown);
        EXPECT_FALSE(walk.open());
        EXPECT_EQ(walk.verdict().substr(0, 6), "It is ");
        press_key(walk.state, platform::Key::PageDown);
        update(walk.state, true);
    }
    EXPECT_EQ(walk.state.lessons.stop, walk.lessons[0].stops.size());
    EXPECT_EQ(tally_words(walk.state.lessons.tally), "6 shown");
    EXPECT_FALSE(walk.open());
}

TEST(Questions, AreNotAskedTwiceInAWalk) {
    Walk walk(0);
    type_text(walk.state, "4");
    press_key(walk.state, platform::Key::Enter);
    press_key(walk.state, platform::Key::PageDown);
    press_key(walk.state, platform::Key::PageUp);
    update(walk.state, true);
    EXPECT_FALSE(walk.open());
    EXPECT_EQ(walk.verdict(), "Right: 4 sectors.");
    EXPECT_EQ(walk.state.lessons.tally.answered, 1u);
    walk.state.session.walking = false;
    update(walk.state, true);
    go_to_stop(walk.state.lessons, walk.state.session, 0, 0);
    update(walk.state, true);
    EXPECT_TRUE(walk.open()) << "another walk asks again";
}

TEST(Questions, TakeABankByItsNumberOrByArrows) {
    Walk walk(1);
    type_text(walk.state, "31");
    EXPECT_EQ(walk.asked().bank, 31u);
    press_key(walk.state, platform::Key::Left);
    press_key(walk.state, platform::Key::Space);
    EXPECT_EQ(walk.asked().bank, 30u);
    type_text(walk.state, "0");
    EXPECT_EQ(walk.asked().bank, 0u);
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.verdict(), "Right: bank 0.");
}

TEST(Questions, TakeAChoiceByItsLetter) {
    Walk walk(2);
    press_key(walk.state, platform::Key::B);
    EXPECT_FALSE(walk.state.session.blank);
    EXPECT_EQ(walk.asked().choice, 1u);
    press_key(walk.state, platform::Key::A);
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.verdict(),
              "You said A; it is B, right. For A the number of wrong elements of the output would have to be "
              "more than 0; it is 0.");
}

TEST(Questions, TakeLanesByArrows) {
    Walk walk(3);
    ASSERT_TRUE(walk.asked().hides(session::Hide::Lanes));
    const uint32_t step = walk.state.session.cursor.step;
    press_key(walk.state, platform::Key::Right);  // comes to lane 0
    press_key(walk.state, platform::Key::Space);
    for (int i = 0; i < 2; ++i) press_key(walk.state, platform::Key::Right);
    press_key(walk.state, platform::Key::Space);
    EXPECT_EQ(walk.asked().lanes, 0b101u);
    EXPECT_EQ(walk.state.session.cursor.step, step);
    EXPECT_FALSE(walk.state.session.playback.playing);
    press_key(walk.state, platform::Key::Enter);  // block (1,0) of 3 x 3, T = 2: lanes of column 0 alone
    EXPECT_EQ(walk.verdict(), "Right: 2 lanes.");
}

TEST(Questions, TakeElementsByArrows) {
    Walk walk(4);
    press_key(walk.state, platform::Key::Down);  // comes to M[0,0]
    press_key(walk.state, platform::Key::Space);
    press_key(walk.state, platform::Key::Right);
    press_key(walk.state, platform::Key::Space);
    EXPECT_EQ(walk.asked().cells, (std::set<uint64_t>{0, 1}));
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.verdict(),
              "1 of 2 found, and 1 other; it is 2 elements: M[0,0] and M[1,0]. Those are the right ones "
              "with row and column exchanged.");
    EXPECT_FALSE(walk.asked().cells.empty()) << "what was predicted stays in sight";
}

TEST(Questions, TakeAValueAsScreensWriteIt) {
    Walk walk(5);
    const Array& M = walk.state.session.trace().launch.arrays[0];
    type_text(walk.state, value_text(initial_value(M, 0)));
    press_key(walk.state, platform::Key::Enter);
    EXPECT_EQ(walk.verdict(), "Right: " + short_value(initial_value(M, 0)) + ".");
}

TEST(Questions, EscAndAnotherRecordingEndThem) {
    Walk walk(0);
    press_key(walk.state, platform::Key::Escape);
    EXPECT_FALSE(walk.open());
    EXPECT_FALSE(walk.state.session.walking);
    EXPECT_FALSE(walk.state.lessons.asked);
}

// --- "ask me"

State opened(const char* kernel, kernels::Shape shape) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    update(state, true);
    return state;
}

TEST(AskMe, AsksWhatTheStepHolds) {
    for (const char* kernel : {"untiled", "tiled", "tiled_transposed", "tiled_no_barrier"}) {
        State state = opened(kernel, {64, 64, 64, 16});
        std::set<Asks::Kind> kinds;
        std::set<std::string> texts;
        for (int i = 0; i < 12; ++i) {
            press_key(state, platform::Key::Q);
            ASSERT_TRUE(state.session.question.open) << kernel << " " << i << state.session.message;
            const Asks& question = *state.lessons.quizzed.ask;
            kinds.insert(question.kind);
            texts.insert(question.text);
            EXPECT_EQ(state.lessons.standing.asks.find('{'), std::string::npos)
                << state.lessons.standing.asks;
            EXPECT_EQ(state.lessons.standing.why.find('{'), std::string::npos) << state.lessons.standing.why;
            Scene scene{*state.session.recording, *state.session.block, state.session.cursor.step};
            EXPECT_TRUE(answer_of(question, scene).known) << state.lessons.standing.asks;
            EXPECT_TRUE(state.session.question.hides_any());
            press_key(state, platform::Key::PageDown);
            EXPECT_FALSE(state.session.question.open);
        }
        EXPECT_GE(kinds.size(), 3u) << kernel;
        EXPECT_GE(texts.size(), 4u) << kernel;
        EXPECT_EQ(state.lessons.tally.answered, 12u);
    }
}

TEST(AskMe, GoesOnByTheClickerAndEndsWithEsc) {
    State state = opened("tiled", {4, 4, 4, 2});
    press_key(state, platform::Key::Q);
    const std::string first = state.lessons.standing.asks;
    press_key(state, platform::Key::PageDown);
    press_key(state, platform::Key::PageDown);
    EXPECT_TRUE(state.session.question.open);
    EXPECT_NE(state.lessons.standing.asks, first);
    press_key(state, platform::Key::Escape);
    EXPECT_FALSE(state.session.question.open);
    const playback::Cursor before = state.session.cursor;
    press_key(state, platform::Key::PageDown);
    EXPECT_EQ(state.session.cursor.step, before.step + 1) << "steps again";
}

TEST(AskMe, SaysWhereThereIsNothingToAsk) {
    State state;
    press_key(state, platform::Key::Q);
    EXPECT_FALSE(state.session.question.open);
    EXPECT_NE(state.session.message, "");
}

}  // namespace
}  // namespace tilescope::app
