// What walking through lessons holds sentences to, whatever they stand on.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/app.h"
#include "app/lessons/asking.h"

namespace tilescope::app {

using Complaints = std::vector<std::string>;

inline std::string with_commas(uint64_t number) {
    std::string text = std::to_string(number);
    for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return text;
}

// What is written by hand in a sentence, without what stands in braces.
inline std::string by_hand(const std::string& say) {
    return std::regex_replace(say, std::regex("\\{\\w+\\}"), "#");
}

inline bool finds(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern));
}

// No figure is written outside braces, in digits or as a word.
inline void check_by_hand(const std::string& hand, Complaints& wrong) {
    if (finds(hand, "[0-9]")) wrong.push_back("a figure is typed in");
    if (finds(hand,
              "\\b([Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|"
              "[Ss]ixteen|[Tt]wenty|[Tt]hirty|[Ss]ixty|[Hh]undred|[Hh]alf|[Bb]oth|[Tt]wice)\\b"))
        wrong.push_back("a figure is written as a word");
}

// A condition again, from its text.
template <class T>
inline bool holds_again(const std::string& condition, const std::map<std::string, T>& numbers) {
    const auto value = [&](const std::string& name) -> std::optional<T> {
        if (name.find_first_not_of("0123456789") == std::string::npos)
            return static_cast<T>(std::stoull(name));
        const auto found = numbers.find(name);
        return found == numbers.end() ? std::nullopt : std::optional(found->second);
    };
    std::istringstream words(condition);
    std::string left, op, right;
    words >> left >> op >> right;
    const auto a = value(left), b = value(right);
    return a && b &&
           (op == "="    ? *a == *b
            : op == "!=" ? *a != *b
            : op == "<"  ? *a < *b
            : op == ">"  ? *a > *b
            : op == "<=" ? *a <= *b
                         : *a >= *b);
}
// The choice that holds again.
template <class T>
inline std::optional<size_t> choice_again(const lessons::Question& ask,
                                          const std::map<std::string, T>& numbers, Complaints& wrong) {
    std::optional<size_t> holds;
    for (size_t at = 0; at < ask.choices.size(); ++at) {
        if (!holds_again(ask.choices[at].when.text, numbers)) continue;
        if (holds) wrong.push_back("not exactly one choice holds");
        holds = at;
    }
    if (!holds) wrong.push_back("not exactly one choice holds");
    return holds;
}

// A sentence with what its braces stand for: word(name), "" for nothing.
template <class Word>
std::string filled_again(const std::string& say, Word word, Complaints& wrong) {
    std::string expected, rest = say;
    static const std::regex brace("\\{(\\w+)\\}");
    for (std::smatch at; std::regex_search(rest, at, brace); rest = at.suffix()) {
        const std::string name = at[1], filled = word(name);
        if (filled.empty()) wrong.push_back("what it stands on has no figure " + name);
        expected += std::string(at.prefix()) + filled;
    }
    return expected + rest;
}

// The same prediction, and one off.
inline session::Question wrong_prediction(const lessons::Question& question, session::Question predicted) {
    if (!predicted.typed.empty()) predicted.typed += "1";
    if (!predicted.cells.empty()) predicted.cells.insert(*predicted.cells.rbegin() + 1);
    predicted.lanes ^= predicted.lanes != 0 ? 1u << 31 : 0;
    if (predicted.bank) predicted.bank = (*predicted.bank + 1) % 32;
    if (predicted.choice) predicted.choice = (*predicted.choice + 1) % question.choices.size();
    return predicted;
}

// The question of the stop that is shown, and what is right, worked out again: what is right is judged so, what is
// wrong is not, and what is only shown counts for nothing; then it is revealed.
inline void check_question(State& state, const lessons::Question& ask, const session::Question& right,
                           Complaints& wrong) {
    if (!state.session.question.open || !state.session.question.hides_any())
        wrong.push_back("hides nothing while it asks");
    const lessons::RightAnswer answer = lessons::right_answer(state.lessons, state.session);
    if (!answer.known) wrong.push_back("does not know its answer");
    const lessons::Verdict yes = judged(ask, answer, right), shown = judged(ask, answer, {});
    const lessons::Verdict no = judged(ask, answer, wrong_prediction(ask, right));
    if (!yes.right || !yes.predicted) wrong.push_back("calls what is right wrong: " + yes.words);
    if (no.right || !no.predicted) wrong.push_back("calls what is wrong right: " + no.words);
    if (shown.right || shown.predicted) wrong.push_back("counts what was not predicted");
    if (ask.kind == lessons::Question::Kind::Number)
        for (std::string words : {yes.words, no.words, shown.words}) {
            std::erase(words, ',');
            if (!finds(words, "(^|[^.0-9])" + right.typed + "\\b"))
                wrong.push_back("does not say what is right: " + words);
        }
    if (finds(yes.words, "(^|[^,.0-9])1 \\w+s\\b")) wrong.push_back("a plural of 1: " + yes.words);
    const session::Question before = state.session.question;
    state.session.question = right;
    state.session.question.open = true, state.session.question.hidden = before.hidden;
    lessons::reveal(state.lessons, state.session);
    if (state.session.question.hides_any()) wrong.push_back("still hides what was revealed");
    if (!state.lessons.asked || !state.lessons.asked->right) wrong.push_back("does not count what is right");
}

inline std::string text_of(const Complaints& wrong) {
    std::string all;
    for (const std::string& one : wrong) all += "\n  " + one;
    return all;
}

// Walks to a stop of a copy of the lessons in which something was planted. walked(lessons, lesson, stop, then):
// what is wrong there; then: what a person does beside it.
template <class Walked>
void expect_found_by(Walked walked, const char* lesson, size_t stop,
                     const std::function<void(lessons::LessonStop&)>& plant, const char* complaint,
                     const std::function<void(State&)>& then) {
    std::vector<lessons::Lesson> copy = lessons::lesson_list();
    const auto at = std::ranges::find(copy, lesson, &lessons::Lesson::name);
    ASSERT_NE(at, copy.end());
    plant(at->stops[stop - 1]);
    const Complaints wrong = walked(copy, static_cast<size_t>(at - copy.begin()), stop - 1, then);
    EXPECT_NE(text_of(wrong).find(complaint), std::string::npos)
        << lesson << " " << stop << ": expected '" << complaint << "', found" << text_of(wrong);
}

}  // namespace tilescope::app
