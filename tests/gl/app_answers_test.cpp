// No question shows its answer while it is open: not in the window, in a lecture, or on paper.
#include "app/draw/sheet.h"
#include "app/draw/widgets.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/gl/giveaway.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

size_t lesson_named(const char* name) {
    return static_cast<size_t>(std::ranges::find(lesson_list(), name, &Lesson::name) - lesson_list().begin());
}

State standing_at_stop(size_t lesson, size_t stop) {
    State state;
    state.session.assets.timings = session::Assets::of(kNoTimes);
    go_to_stop(state.lessons, state.session, lesson, stop);
    update(state, true);
    update(state, true);
    return state;
}

std::string told(const State& state, const draw::Inspection& seen) {
    const LessonStop* const stop = stop_shown(state.lessons);
    const lessons::RightAnswer answer = right_answer(state.lessons, state.session);
    std::string all;
    for (const std::string& one : Giveaways(state, *stop->ask, answer).in(seen)) all += "\n  " + one;
    return all;
}

// Every stop with a question, as somebody walks through its lesson.
TEST(Answers, AreNotToldInTheWindowInALectureOrOnPaper) {
    SKIP_WITHOUT_OPENGL();
    struct Way {
        const char* name;
        Drawn drawn;
        bool lecture, paper;
    };
    Way ways[] = {{"window", Drawn(1600, 1000), false, false},
                  {"lecture", Drawn(1280, 720), true, false},
                  {"paper", Drawn(1120, 590), false, true}};
    size_t asked = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson) {
        State state = standing_at_stop(lesson, 0);
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            go_to_stop(state.lessons, state.session, lesson, stop);
            update(state, true);
            update(state, true);
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!of.ask || is_modelled(of)) continue;
            for (Way& way : ways) {
                state.session.lecture = way.lecture, state.paper = way.paper;
                way.drawn.frames(state);
                EXPECT_TRUE(state.session.question.open);
                EXPECT_EQ(told(state, way.drawn.seen()), "")
                    << lesson_list()[lesson].name << " " << stop + 1 << " in a " << way.name;
            }
            state.session.lecture = state.paper = false;
            ++asked;
        }
    }
    EXPECT_GE(asked, 70u);
}

// Clicks and the pointer tell nothing either.
TEST(Answers, AreNotToldByThePointer) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (const auto& [name, stop] :
         {std::pair("build", size_t{0}), {"reuse", 1}, {"phases", 0}, {"gate", 1}}) {
        State state = standing_at_stop(lesson_named(name), stop);
        for (float y = 90; y < 700; y += 61)
            for (float x = 20; x < 1270; x += 83) {
                platform::Input input;
                input.mouse_x = x, input.mouse_y = y;
                drawn.frames(state, input, 2);
                EXPECT_EQ(told(state, drawn.seen()), "") << name << " at " << x << ", " << y;
            }
    }
}

// What is planted is found, each kind of it: what the screen draws where a bit of what is hidden is missing, and
// words, forms and marks that nobody draws yet.
TEST(Answers, GiveawaysThatArePlantedAreFound) {
    SKIP_WITHOUT_OPENGL();
    using session::Hide;
    Drawn drawn(1600, 1000);
    const auto drawn_without = [&](const char* lesson, size_t stop, uint16_t hide) {
        State state = standing_at_stop(lesson_named(lesson), stop - 1);
        state.session.question.hidden = static_cast<uint16_t>(state.session.question.hidden & ~hide);
        drawn.frames(state);
        return told(state, drawn.seen());
    };
    const auto planted = [&](const char* lesson, size_t stop, const std::string& text) {
        State state = standing_at_stop(lesson_named(lesson), stop - 1);
        drawn.frames(state);
        draw::Inspection seen = drawn.seen();
        seen.texts.push_back({text, {900, 333.25f}, {950, 345}});
        return told(state, seen);
    };
    const auto says = [](const std::string& all, const char* what) {
        EXPECT_NE(all.find(what), std::string::npos) << what << " in:" << all;
    };
    const auto kElements = static_cast<uint16_t>(Hide::Elements);
    says(planted("build", 1, "phase 0 (1st of 16)"), "says 16");                      // 1
    says(drawn_without("build", 2, kElements), "a mark lies on exactly the cells");   // 2: tile and overview
    says(drawn_without("reuse", 2, Hide::Loads | Hide::Numbers), "inputs loaded 4");  // 3
    says(planted("warps", 1, "16 \u00d7 16, 8 warps"), "says 8");                     // 4
    says(drawn_without("phases", 4, kElements), "a mark lies on exactly the cells");  // 5

    says(planted("coalescing", 1, "2 sectors where 1 would do"), "says 2");  // 6: a verdict
    says(planted("wide", 3, "thirty-two sectors"), "says 32");               // 7: a word
    says(planted("divergence", 4, "2,048"), "says 2048");                    // 8: with its groups
    says(planted("helps", 3, "each 64\u00d7"), "says 64");                   // 9: times
    says(planted("helps", 3, "the 64th of them"), "says 64");                // 10: an ordinal
    says(planted("race", 4, "Result wrong in 4,087 elements, all of it wrong."),
         "says 'wrong'");                                                  // 11: a banner
    says(planted("gate", 2, "With it, it opens."), "says 'it opens'");     // 12
    says(planted("banks", 2, "bank 0 holds 32 words"), "says 'bank 0'");   // 13
    says(planted("reuse", 1, "M[0,0] is loaded twice"), "says 'M[0,0]'");  // 14: an element by name

    // A count beside a line, right of its code.
    State state = standing_at_stop(lesson_named("build"), 0);
    drawn.frames(state);
    draw::Inspection seen = drawn.seen();
    const auto code = std::ranges::find_if(
        seen.texts, [](const draw::Written& text) { return text.text == "?" && text.min.x < 500; });
    ASSERT_NE(code, seen.texts.end()) << "counts beside lines stand as question marks";
    seen.texts.push_back({"16", {code->min.x, code->min.y}, code->max});
    says(told(state, seen), "'16' says 16");  // 15

    // Numbers set bold on exactly the asked cells, each by itself.
    state = standing_at_stop(lesson_named("reuse"), 0);
    drawn.frames(state);
    seen = drawn.seen();
    const draw::Sheet sheet(state.session.trace().launch.arrays[state.session.question.array]);
    for (const uint64_t cell : right_answer(state.lessons, state.session).all)
        seen.marks.emplace_back(state.session.question.array,
                                draw::fill_mark(sheet.cell(cell), draw::rgb(0xABCDEF)));
    says(told(state, seen), "marks lie on exactly");  // 16
}

// After the answer all is back.
TEST(Answers, BringBackWhatWasHidden) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    for (const auto& [lesson, stop, text] : {std::tuple("build", size_t{0}, "(1stof16)"),
                                             {"reuse", 1, "inputsloaded4"},
                                             {"warps", 0, "8warps"}}) {
        State state = standing_at_stop(lesson_named(lesson), stop);
        EXPECT_EQ(drawn.words(state).find(text), std::string::npos) << lesson;
        reveal(state.lessons, state.session);
        EXPECT_NE(drawn.words(state).find(text), std::string::npos) << lesson;
    }
}

// What a later stop asks of the whole recording stays hidden at the stops before it, answered or not.
TEST(Answers, WaitForTheStopThatAsksForThem) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = standing_at_stop(lesson_named("race"), 0);
    for (size_t stop = 0; stop < 3; ++stop) {
        reveal(state.lessons, state.session);
        const std::string words = drawn.words(state);
        EXPECT_EQ(words.find("esultwrong"), std::string::npos) << stop;
        EXPECT_EQ(words.find("wrongelement"), std::string::npos) << stop;
        go_to_stop(state.lessons, state.session, state.lessons.lesson, stop + 1);
        update(state, true);
    }
    reveal(state.lessons, state.session);
    EXPECT_NE(drawn.words(state).find("esultwrong"), std::string::npos);
    state.session.walking = false;
    update(state, true);
    EXPECT_EQ(state.session.question.later, 0u);
}

}  // namespace
}  // namespace tilescope::app
