// Every stop of every lesson on a figure or on a case of the Limits screen, walked to as the window does:
// what it says and asks are the numbers of what it stands on, worked out again (tests/twin/lesson_models.h); the
// right prediction is judged so, a wrong one not; and no number is typed in.
#include <functional>

#include <gtest/gtest.h>

#include "app/app.h"
#include "tests/twin/lesson_models.h"
#include "tests/unit/keys.h"
#include "tests/unit/view_lesson_said.h"

namespace tilescope::app {
namespace {

using lessons::Lesson, lessons::lesson_list, lessons::LessonStop, lessons::read_condition, lessons::Standing;

// A number as it is said: with two decimals at most.
std::string as_said(double number) {
    std::ostringstream text;
    text.precision(2);
    text << std::fixed << number;
    std::string digits = text.str();
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    const size_t point = std::min(digits.find('.'), digits.size());
    return with_commas(std::stoull(digits.substr(0, point))) + digits.substr(point);
}

// The words of a figure's parameters, and of a case.
std::string word_again(const LessonStop& stop, const std::string& name) {
    if (const lessons::Figure* const figure = lessons::find_figure(stop.figure)) {
        for (size_t at = 0; at < figure->parameters.size(); ++at)
            if (figure->parameters[at].name == name && !figure->parameters[at].words.empty())
                return value_words(figure->parameters[at], stop.set[at]);
        return "";
    }
    const analysis::LimitPreset& preset = *analysis::find_limit_preset(stop.limits);
    if (name == "device") return name_of(device_called(preset.device));
    if (name == "block") return preset.blocks[stop.which].label;
    if (name != "limit") return "";
    const twin::Resident r = twin::resident(analysis::changed(device_called(preset.device).sm, preset.change),
                                            preset.blocks[stop.which].use);
    std::string words;
    for (const auto& [is, what] : {std::pair{r.out_of_threads, "thread slots"},
                                   {r.out_of_blocks, "block slots"},
                                   {r.out_of_registers, "registers"},
                                   {r.out_of_shared, "shared memory"}})
        if (is) words += (words.empty() ? "limited by " : " and ") + std::string(what);
    return words;
}

// What is right at the question of a stop on a figure or a case; none where it has no such thing.
std::optional<session::Question> right_model_prediction(const lessons::Question& ask, const Numbers& numbers,
                                                        Complaints& wrong) {
    session::Question right;
    if (ask.kind == lessons::Question::Kind::Number) {
        if (const auto number = numbers.find(ask.answer); number != numbers.end())
            right.typed = as_said(number->second);
        std::erase(right.typed, ',');
    } else {
        right.choice = choice_again(ask, numbers, wrong);
    }
    return right.predicted() ? std::optional(right) : std::nullopt;
}

// What is wrong with a stop on a figure or on a case of the Limits screen.
Complaints walked_model(State& state, const LessonStop& stop) {
    if (!state.session.walking) return {"is not shown: " + state.session.message};
    Complaints wrong;
    if (!stop.figure.empty()) {
        const auto& shown = state.lessons.shown;
        if (!shown || shown->figure->name != stop.figure || shown->set != stop.set)
            wrong.push_back("another figure is shown");
        if (state.session.screen != lessons::kScreen.option) wrong.push_back("another screen is shown");
    } else {
        const analysis::LimitPreset& preset = *analysis::find_limit_preset(stop.limits);
        if (state.limits.preset != stop.limits || state.limits.use != preset.blocks[stop.which].use)
            wrong.push_back("another case is shown");
        if (state.session.screen != limits::kScreen.option) wrong.push_back("another screen is shown");
    }
    const Numbers numbers = numbers_of_model(stop);
    const Standing& here = state.lessons.standing;
    std::vector<std::pair<std::string, std::string>> texts{{stop.say, here.words}};
    if (stop.ask) {
        texts.insert(texts.end(), {{stop.ask->text, here.asks}, {stop.ask->why, here.why}});
        if (here.choices.size() != stop.ask->choices.size()) wrong.push_back("does not show all choices");
        for (size_t at = 0; at < here.choices.size(); ++at)
            texts.emplace_back(stop.ask->choices[at].say, here.choices[at]);
    }
    for (const auto& [written, said] : texts) {
        check_by_hand(by_hand(written), wrong);
        const std::string expected = filled_again(
            written,
            [&](const std::string& name) {
                const std::string word = word_again(stop, name);
                const auto number = numbers.find(name);
                return !word.empty() || number == numbers.end() ? word : as_said(number->second);
            },
            wrong);
        if (said != expected) wrong.push_back("says '" + said + "', but it is '" + expected + "'");
        if (finds(said, "(^|[^,.0-9])1 (lanes|warps|threads|blocks|SMs|registers|bursts|trips|waves)\\b"))
            wrong.push_back("a plural of 1: " + said);
    }
    if (!stop.ask) return wrong;
    if (const auto right = right_model_prediction(*stop.ask, numbers, wrong))
        check_question(state, *stop.ask, *right, wrong);
    else
        wrong.push_back("asks for what it stands on has not");
    return wrong;
}

Complaints walked_to_model(const std::vector<Lesson>& lessons, size_t lesson, size_t number,
                           const std::function<void(State&)>& then = {}) {
    State state;
    state.lessons.lessons = &lessons;
    go_to_stop(state.lessons, state.session, lesson, number);
    update(state, true);
    if (then) then(state);
    return walked_model(state, lessons[lesson].stops[number]);
}

TEST(LessonModels, SayWhatTheyStandOn) {
    size_t asked = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson)
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!is_modelled(of)) continue;
            asked += of.ask ? 1 : 0;
            const Complaints wrong = walked_to_model(lesson_list(), lesson, stop);
            EXPECT_TRUE(wrong.empty())
                << lesson_list()[lesson].name << ", stop " << stop + 1 << text_of(wrong);
        }
    EXPECT_GE(asked, 30u);
}

void expect_model_found(const char* lesson, size_t stop, const std::function<void(LessonStop&)>& plant,
                        const char* complaint, const std::function<void(State&)>& then = {}) {
    expect_found_by(walked_to_model, lesson, stop, plant, complaint, then);
}

TEST(LessonModels, AreFoundWrong) {
    expect_model_found(
        "latency", 2, [](LessonStop& stop) { stop.say += " That is 13."; }, "typed in");
    expect_model_found(
        "roofs", 2, [](LessonStop& stop) { stop.ask->why += " Twice."; }, "as a word");
    expect_model_found(
        "blocks", 3,
        [](LessonStop& stop) {
            stop.ask->choices[0].when = *read_condition(
                "least_blocks = 0", std::make_unique<lessons::Modelled>(modelled(stop)).get());
        },
        "not exactly one choice holds");
    expect_model_found(
        "limits", 3, [](LessonStop&) {}, "another case is shown",
        [](State& state) { limits::take_preset(state.limits, "slots"); });
    expect_model_found(
        "latency", 2, [](LessonStop&) {}, "another figure is shown",
        [](State& state) { ++state.lessons.shown->set[0]; });
}

Result<Lesson> with_stop(const std::string& stop) {
    return lessons::lesson_from_json(
        R"({"name": "n", "title": "t", "teaches": "s", "stops": [)" + stop + "]}", "n");
}

TEST(LessonModels, AreReadOrRefusedInASentence) {
    const std::string latency = R"({"figure": "latency", "say": "s", "ask": )";
    const std::string cliff = R"({"case": "cliff", "which": 2, "say": "{sm_blocks}", )";
    EXPECT_TRUE(with_stop(latency + R"({"kind": "number", "question": "q", "answer": "needed_warps"}})"));
    EXPECT_TRUE(with_stop(cliff + R"("ask": {"kind": "choice", "question": "q", "choices": [
        {"say": "a", "when": "sm_blocks < 6"}, {"say": "b", "when": "sm_blocks >= 6"}]}})"));
    const auto refused = [](const std::string& stop, const std::string& says) {
        const auto lesson = with_stop(stop);
        ASSERT_FALSE(lesson) << stop;
        EXPECT_NE(lesson.error().message.find(says), std::string::npos) << lesson.error().message;
    };
    refused(latency + R"({"kind": "number", "question": "q", "answer": "sectors"}})", "needed_warps");
    refused(latency + R"({"kind": "bank", "question": "q"}})", "is for stops on a recording");
    refused(latency + R"({"kind": "number", "question": "{sectors}", "answer": "warps"}})", "'sectors'");
    refused(latency + R"({"kind": "number", "question": ")" + std::string(2001, 'q') +
                R"(", "answer": "warps"}})",
            "longer than 2000 bytes");
    refused(R"({"case": "cats", "say": "s"})", "none of the Limits screen");
    refused(R"({"case": "cliff", "which": 3, "say": "s"})", "which");
    refused(R"({"case": "cliff", "which": 0, "say": "s"})", "which");
    refused(cliff + R"("do": ["phase_table"]})", "on a recording");
    const std::string step = R"({"kernel": "tiled", "m": 4, "k": 4, "n": 4, "tile": 2, "say": "s", "do": )";
    EXPECT_TRUE(with_stop(step + R"(["phase_table", "phase_table", "element:2,0", "thread:3"]})"));
    for (const char* const act :
         {"quit", "open", "record", "element:", "element:x", "block:1", "screen_lessons"})
        refused(step + R"([")" + act + R"("]})", "a stop cannot do");
    // Behind a figure a stop goes on where the recording before it was left.
    const auto mixed =
        with_stop(step + R"([]}, {"figure": "gate", "say": "s"}, {"kind": "barrier", "say": "s"})");
    ASSERT_TRUE(mixed) << mixed.error().message;
    EXPECT_EQ(mixed->stops[2].kernel, "tiled");
}

// By keys alone: a number with a point is typed, Enter checks it; meanwhile the figure stands still.
TEST(LessonModels, AreAskedAndAnsweredByKeys) {
    const auto roofs = std::ranges::find(lesson_list(), "roofs", &Lesson::name);
    State state;
    go_to_stop(state.lessons, state.session, static_cast<size_t>(roofs - lesson_list().begin()), 2);
    update(state, true);
    const std::vector<int> set = state.lessons.shown->set;
    handle_input(state, press(Key::Right), true);
    EXPECT_EQ(state.lessons.shown->set, set);
    handle_input(state, typed_text(U"345.6"), true);
    EXPECT_EQ(state.session.question.typed, "345.6");
    handle_input(state, press(Key::Enter), true);
    ASSERT_TRUE(state.lessons.asked && state.lessons.asked->revealed);
    EXPECT_TRUE(state.lessons.asked->right);
    EXPECT_EQ(state.lessons.asked->verdict, "Right: 345.6 GFLOP/s.");
    handle_input(state, press(Key::Right), true);
    EXPECT_NE(state.lessons.shown->set, set) << "once it is answered it can be played with";
}

// What a stop does beside its recording is there, and gone at the next one.
TEST(LessonModels, WhatAStopDoesIsTakenBack) {
    const auto lesson = with_stop(
        R"({"kernel": "tiled", "m": 4, "k": 4, "n": 4, "tile": 2, "do": ["phase_table", "element:2,0"], "say": "s"},
           {"figure": "gate", "say": "s"}, {"kind": "barrier", "say": "s"})");
    ASSERT_TRUE(lesson) << lesson.error().message;
    const std::vector<Lesson> one{*lesson};
    State state;
    state.lessons.lessons = &one;
    const auto stands_at = [&](size_t stop) {
        go_to_stop(state.lessons, state.session, 0, stop);
        update(state, true);
        update(state, true);
    };
    stands_at(0);
    EXPECT_NE(state.step.middle, step::Middle::Matrices);
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::Element);
    stands_at(2);
    EXPECT_EQ(state.step.middle, step::Middle::Matrices);
    EXPECT_EQ(state.session.screen, session::kStepScreen);
    stands_at(0);
    state.session.walking = false;
    update(state, true);
    EXPECT_EQ(state.step.middle, step::Middle::Matrices);
}

}  // namespace
}  // namespace tilescope::app
