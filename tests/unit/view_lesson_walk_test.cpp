// Every stop of every lesson, walked to as the window does, says what its recording holds at the step that is
// shown. What is held against it is counted anew (tests/twin/lesson_facts.h).
//
//   figures   what braces hold is the figure of this step; outside braces there is none, in digits or words
//   where     each condition holds of this step
//   names     arrays that are named are the launch's, and the request's is one of them
//   marks     are named in braces alone, where such cells are drawn
//   words     that describe a step ("down a column", "next bank", "clocks") are of such a step: each of
//             tests/data/lesson_words.txt
//   questions are held as sentences are; what is right is what this step holds, exactly one choice holds, and
//             the right prediction is judged so, a wrong one not
//
// Stops on a figure or a case are walked by view_lesson_models_test.cpp.
#include <functional>
#include <regex>
#include <sstream>

#include "app/lessons/asking.h"
#include "tests/app_names.h"
#include "tests/file_text.h"
#include "tests/twin/lesson_facts.h"
#include "tests/unit/view_lesson_said.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using twin::LessonFacts;

// What is said of a recording's check: of the block shown, it is true of what the block stored.
std::string result_of(const twin::Recording& f, const playback::BlockReplay& replay, Complaints& wrong) {
    const trace::Verification& result = f.trace.meta.result;
    const std::set<uint64_t> here = twin::wrong_elements(f, replay);
    if (result.verified) {
        if (!here.empty()) wrong.push_back("elements of this block are wrong");
        return "result verified";
    }
    const Array& P = f.trace.launch.arrays[result.array];
    const auto first = static_cast<uint64_t>(result.first_wrong);
    if (here.empty() || (here.contains(first) ? *here.begin() : first) > *here.begin())
        wrong.push_back("the first wrong element is another one");
    return "result wrong in " + with_commas(result.wrong) + " elements, the first P[" +
           std::to_string(first / P.cols) + "," + std::to_string(first % P.cols) + "]";
}

// A line of tests/data/lesson_words.txt: words that describe a step, and what holds where they are true of it:
// conditions, all of one of these lists.
struct Phrase {
    std::string words;
    std::vector<std::vector<std::string>> holds;
};
std::vector<std::string> parts_between(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    for (size_t from = 0, to = 0; to != std::string::npos; from = to + by.size()) {
        to = text.find(by, from);
        parts.push_back(text.substr(from, to - from));
    }
    return parts;
}
const std::vector<Phrase>& phrases() {
    static const std::vector<Phrase> all = [] {
        std::vector<Phrase> read;
        std::istringstream file(file_text(TILESCOPE_SOURCE_DIR "/tests/data/lesson_words.txt"));
        for (std::string line; std::getline(file, line);) {
            if (line.empty() || line.starts_with("# ")) continue;
            const size_t arrow = line.rfind(" => ");
            if (arrow == std::string::npos) throw std::runtime_error("no => in: " + line);
            Phrase phrase{line.substr(0, line.find_last_not_of(' ', arrow) + 1), {}};
            for (const std::string& one : parts_between(line.substr(arrow + 4), " or "))
                phrase.holds.push_back(parts_between(one, " and "));
            read.push_back(std::move(phrase));
        }
        return read;
    }();
    return all;
}

// A fact that the step does not have is 0; a name alone is to be more than that.
bool is_so(const Phrase& phrase, const LessonFacts& facts) {
    std::map<std::string, uint64_t> numbers = facts.number;
    for (const FactGroup& group : fact_groups())
        for (const Fact& fact : group.facts) numbers.try_emplace(std::string(fact.name), 0);
    return std::ranges::any_of(phrase.holds, [&](const std::vector<std::string>& all) {
        return std::ranges::all_of(all, [&](const std::string& one) {
            return holds_again(one.find(' ') == std::string::npos ? one + " > 0" : one, numbers);
        });
    });
}

void check_words(const std::string& say, const LessonFacts& facts, const trace::Trace& trace,
                 Complaints& wrong) {
    const std::string hand = by_hand(say);
    check_by_hand(hand, wrong);
    if (finds(hand,
              "\\b([Dd]otted|[Hh]atched|[Ss]truck|[Ss]troke|[Nn]otch|[Tt]riangle|[Cc]rossed|[Ss]triped|"
              "[Bb]lue|[Gg]reen|[Oo]range|[Rr]ed)"))
        wrong.push_back("a mark is named by hand");
    for (const Phrase& phrase : phrases())
        if (finds(say, phrase.words) && !is_so(phrase, facts))
            wrong.push_back("not so at this step: " + phrase.words);

    // Names: capitals that do not begin a sentence.
    bool named = false, this_one = say.find("{array}") != std::string::npos;
    static const std::regex capital("(^|\\. |: |, |^.|\\W)([A-Z]\\w*)");
    for (std::sregex_iterator at(hand.begin(), hand.end(), capital), end; at != end; ++at) {
        const std::string before = (*at)[1], name = (*at)[2];
        const bool array =
            std::ranges::find(trace.launch.arrays, name, &Array::name) != trace.launch.arrays.end();
        named = named || array;
        this_one = this_one || name == facts.array;
        const bool begins = at->position() == 0 || before == ". " || before == ": ";
        if (!array && !begins && name != "T" && name != "CPU" && name != "GPU" && name != "TMA" &&
            name != "Each")
            wrong.push_back("the launch has no array " + name);
    }
    if (named && !facts.barrier && !this_one)
        wrong.push_back("names arrays, but not " + facts.array + ", which this request touches");
}

bool is_kind(const LessonFacts& facts, StepKind kind) {
    if (analysis::is_of_mbarrier(kind))  // a wait asks for no bytes
        return facts.number.contains("arrivals_asked") &&
               facts.number.contains("bytes_asked") == (kind == StepKind::Signal);
    if (facts.barrier || kind == StepKind::Barrier) return facts.barrier && kind == StepKind::Barrier;
    const bool load = kind == StepKind::GlobalLoad || kind == StepKind::SharedLoad;
    const bool shared = kind == StepKind::SharedLoad || kind == StepKind::SharedStore;
    return facts.load == load && facts.shared == shared;
}

// The prediction that is right, counted anew; none where the step has no such thing.
std::optional<session::Question> right_prediction(const lessons::Question& question, const LessonFacts& facts,
                                                  uint32_t active, Complaints& wrong) {
    session::Question predicted;
    switch (question.kind) {
        case lessons::Question::Kind::Number:
            if (!facts.number.contains(question.answer)) return std::nullopt;
            predicted.typed = std::to_string(facts.number.at(question.answer));
            break;
        case lessons::Question::Kind::Value:
            if (!facts.value.contains(question.answer)) return std::nullopt;
            predicted.typed = facts.value.at(question.answer);
            break;
        case lessons::Question::Kind::Bank:
            if (!facts.shared) return std::nullopt;
            predicted.bank = static_cast<uint32_t>(facts.number.at("bank"));
            break;
        case lessons::Question::Kind::Elements:
            predicted.cells = {facts.element.begin(), facts.element.end()};
            break;
        case lessons::Question::Kind::Lanes:
            predicted.lanes = question.answer == "active" ? active : ~active;
            break;
        case lessons::Question::Kind::Choice:
            predicted.choice = choice_again(question, facts.number, wrong);
            break;
    }
    return predicted.predicted() ? std::optional(predicted) : std::nullopt;
}

// A walk from stop to stop, whose recording stays where it is the same.
struct Walk {
    State state;
    std::optional<twin::Recording> twin;
};

// What is wrong with a stop as it is shown. then: what a person does beside it.
Complaints walked_on_to_step(Walk& walk, const std::vector<Lesson>& lessons, size_t lesson, size_t number,
                             const std::function<void(State&)>& then = {}) {
    const LessonStop& stop = lessons[lesson].stops[number];
    State& state = walk.state;
    state.lessons.lessons = &lessons;
    go_to_stop(state.lessons, state.session, lesson, number);
    update(state, true);
    update(state, true);
    if (then) then(state);
    const session::Session& session = state.session;
    if (!session.walking || !session.recording) return {"is not shown: " + session.message};
    if (!state.lessons.note.empty()) return {state.lessons.note};
    const trace::Trace& trace = session.trace();
    Complaints wrong;
    if (stop.recording.empty()) {
        if (trace.meta.kernel != stop.kernel || kernels::shape_of(*analysis::product_of(trace)) != stop.shape)
            wrong.push_back("another recording is shown");
    } else if (const auto of = kernels::find_shipped_recording(stop.recording); !of) {
        wrong.push_back("another recording is shown");
    } else if (trace.meta.kernel != of->kernel || trace.meta.device != of->device) {
        wrong.push_back("another recording is shown");
    }
    const trace::Block& block = trace.blocks[session.cursor.block];
    if (block.x != stop.block_x || block.y != stop.block_y) wrong.push_back("another block is shown");
    if (session.cursor != state.lessons.standing.at) wrong.push_back("another step is shown");
    if (session.screen != stop.screen) wrong.push_back("another screen is shown");

    if (!walk.twin || walk.twin->shared() != session.recording->trace)
        walk.twin.emplace(session.recording->trace);
    const twin::Recording& f = *walk.twin;
    const auto replay = twin::run_again(trace, session.cursor.block);
    const LessonFacts facts = twin::facts_at(f, session.cursor.block, session.cursor.step, *replay);
    if (!stop.kind && stop.array.empty() && stop.where.empty())
        wrong.push_back("it does not say what kind of step it means");
    if (stop.kind && !is_kind(facts, *stop.kind)) wrong.push_back("the step is of another kind");
    if (!stop.array.empty() && facts.array != stop.array) wrong.push_back("the step is of another array");
    for (const Condition& condition : stop.where)
        if (!holds_again(condition.text, facts.number)) wrong.push_back("does not hold: " + condition.text);

    const auto check = [&](const std::string& written, const std::string& said) {
        check_words(written, facts, trace, wrong);
        const std::string expected = filled_again(
            written,
            [&](const std::string& name) {
                if (name == "result") return result_of(f, *replay, wrong);
                if (const auto word = facts.word.find(name); word != facts.word.end()) return word->second;
                const auto figure = facts.number.find(name);
                return figure == facts.number.end() ? "" : with_commas(figure->second);
            },
            wrong);
        if (said != expected) wrong.push_back("says '" + said + "', but it is '" + expected + "'");
        if (finds(said, "\\b1 (lanes|wavefronts|sectors|warps|threads|cells|words|banks|elements|clocks)\\b"))
            wrong.push_back("a plural of 1: " + said);
    };
    const Standing here = state.lessons.standing;
    check(stop.say, here.words);
    if (!stop.ask) return wrong;
    check(stop.ask->text, here.asks);
    check(stop.ask->why, here.why);
    const uint32_t active = f.at(session.cursor.block, session.cursor.step).mask;
    if (const auto right = right_prediction(*stop.ask, facts, active, wrong))
        check_question(state, *stop.ask, *right, wrong);
    else
        wrong.push_back("asks for what the step has not");
    return wrong;
}

Complaints walked_to_step(const std::vector<Lesson>& lessons, size_t lesson, size_t number,
                          const std::function<void(State&)>& then = {}) {
    Walk walk;
    return walked_on_to_step(walk, lessons, lesson, number, then);
}

class EveryLesson : public testing::TestWithParam<size_t> {};

TEST_P(EveryLesson, SaysWhatIsShown) {
    const Lesson& lesson = lesson_list()[GetParam()];
    Walk walk;
    for (size_t stop = 0; stop < lesson.stops.size(); ++stop) {
        if (lessons::is_modelled(lesson.stops[stop])) continue;  // view_lesson_models_test.cpp
        const Complaints wrong = walked_on_to_step(walk, lesson_list(), GetParam(), stop);
        EXPECT_TRUE(wrong.empty()) << lesson.name << ", stop " << stop + 1 << text_of(wrong);
    }
}

INSTANTIATE_TEST_SUITE_P(OfAll, EveryLesson, testing::Range(size_t{0}, lesson_list().size()),
                         [](const auto& of) { return lesson_list()[of.param].name; });

void expect_found(const char* lesson, size_t stop, const std::function<void(LessonStop&)>& plant,
                  const char* complaint, const std::function<void(State&)>& then = {}) {
    expect_found_by(walked_to_step, lesson, stop, plant, complaint, then);
}

void set_where(LessonStop& stop, std::initializer_list<const char*> conditions) {
    stop.where.clear();
    for (const char* text : conditions) stop.where.push_back(*read_condition(text));
}
void replace(LessonStop& stop, const std::string& what, const std::string& by) {
    const size_t at = stop.say.find(what);
    ASSERT_NE(at, std::string::npos) << stop.say;
    stop.say.replace(at, what.size(), by);
}

// What the words of sentences are held to is worked out, and every line of them is read.
TEST(LessonWalk, WordsAreHeldToWhatIsWorkedOut) {
    size_t said = 0;
    for (const Phrase& phrase : phrases()) {
        for (const auto& all : phrase.holds)
            for (const std::string& condition : all) {
                std::istringstream parts(condition);
                for (std::string part; parts >> part;)
                    if (finds(part, "^[a-z]"))
                        EXPECT_TRUE(find_fact(part) != nullptr ||
                                    std::ranges::find(twin::kMoreOfAStep, part) !=
                                        std::end(twin::kMoreOfAStep))
                            << condition;
            }
        for (const Lesson& lesson : lesson_list())
            for (const LessonStop& stop : lesson.stops) said += finds(stop.say, phrase.words) ? 1 : 0;
    }
    EXPECT_GE(phrases().size(), 38u);
    EXPECT_GE(said, 90u);
}

// The walk finds what is wrong: each of these was or might be in a lesson.
TEST(LessonWalk, FindsAWrongStep) {
    const auto broadcast = [](LessonStop& stop) { stop.array = "Mds", set_where(stop, {"words = 1"}); };
    expect_found("banks", 3, broadcast, "next bank");
    expect_found("banks", 3, broadcast, "column");
    expect_found(
        "warps", 4, [](LessonStop& stop) { stop.shape.m = 100, set_where(stop, {"lanes < 32"}); },
        "on the row");
    expect_found(
        "barriers", 6, [](LessonStop& stop) { set_where(stop, {"arrived = 1"}); }, "not filled yet");
    expect_found(
        "stale", 3, [](LessonStop& stop) { set_where(stop, {"phase = 2"}); }, "stale cells");
    expect_found(
        "race", 3, [](LessonStop& stop) { set_where(stop, {"overwritten = 0"}); }, "is late");
}

TEST(LessonWalk, FindsAStepThatIsNotThere) {
    const auto nowhere = "This recording has no such step";
    expect_found(
        "edges", 2, [](LessonStop& stop) { set_where(stop, {"lanes > 32"}); }, nowhere);
    expect_found(
        "edges", 2, [](LessonStop& stop) { stop.block_x = 9; }, nowhere);
    expect_found(
        "edges", 2, [](LessonStop& stop) { stop.array = "Kds"; }, nowhere);
    expect_found(
        "race", 2,
        [](LessonStop& stop) {
            set_where(stop, {"phase = 1", "arrived = 1"});
        },
        nowhere);
    expect_found(
        "barriers", 5, [](LessonStop& stop) { stop.recording = "tiled-of-nobody"; }, "is not shown");
}

TEST(LessonWalk, FindsAStepThatIsNoLongerShown) {
    const auto on = [](State& state) { ++state.session.cursor.step; };
    expect_found(
        "banks", 2, [](LessonStop&) {}, "another step is shown", on);
    expect_found(
        "barriers", 4, [](LessonStop&) {}, "but it is", on);
}

TEST(LessonWalk, FindsAWrongLine) {
    expect_found(
        "race", 5, [](LessonStop& stop) { replace(stop, "{barriers}", "8"); }, "a figure is typed in");
    expect_found(
        "race", 5,
        [](LessonStop& stop) {
            set_where(stop, {"line = 32"});
            replace(stop, "The cure", "The barrier in line {line} is the cure");
        },
        "but it is", [](State& state) { state.session.cursor.step = 296; });  // at line 37
}

TEST(LessonWalk, FindsAFigureThatTheStepHasNot) {
    expect_found(
        "barriers", 2, [](LessonStop& stop) { stop.say += " It waits {first_wait} of them."; },
        "no figure first_wait");
    expect_found(
        "reuse", 3, [](LessonStop& stop) { replace(stop, "{loads}", "{wavefronts}"); },
        "no figure wavefronts");
}

TEST(LessonWalk, FindsATypedFigure) {
    expect_found(
        "banks", 2, [](LessonStop& stop) { replace(stop, "{words}", "32"); }, "typed in");
    expect_found(
        "banks", 1, [](LessonStop& stop) { replace(stop, "{wavefronts}", "one"); }, "as a word");
    expect_found(
        "warps", 2, [](LessonStop& stop) { replace(stop, "{lanes} lanes", "Half of its lanes"); },
        "as a word");
}

TEST(LessonWalk, FindsAWrongMark) {
    expect_found(
        "stale", 2, [](LessonStop& stop) { replace(stop, "with {mark_stale}", "that are dotted"); },
        "by hand");
    expect_found(
        "edges", 3, [](LessonStop& stop) { replace(stop, "{mark_zero}", "{mark_stale}"); }, "mark_stale");
    expect_found(
        "edges", 3,
        [](LessonStop& stop) { stop.kind = StepKind::SharedStore, set_where(stop, {"phase = 0"}); },
        "mark_zero");
}

TEST(LessonWalk, FindsAWrongName) {
    expect_found(
        "coalescing", 1, [](LessonStop& stop) { replace(stop, "{array}", "M"); }, "but not N");
    expect_found(
        "coalescing", 1, [](LessonStop& stop) { replace(stop, "{array}", "Kds"); }, "no array Kds");
}

TEST(LessonWalk, FindsWordsThatAreNotSo) {
    expect_found(
        "coalescing", 1, [](LessonStop& stop) { replace(stop, "in a row", "down a column"); }, "column");
    expect_found(
        "barriers", 3, [](LessonStop& stop) { stop.say += " Warp {warp} comes to a barrier."; }, "come");
    expect_found(
        "barriers", 5, [](LessonStop& stop) { replace(stop, "{device}:", "{device}, in lockstep:"); },
        "lockstep");
    expect_found(
        "race", 4, [](LessonStop& stop) { stop.say += " The cure is a barrier."; }, "cure");
}

TEST(LessonWalk, FindsAWrongQuestion) {
    const auto text = [](const char* question) {
        return [=](LessonStop& stop) { stop.ask->text = question; };
    };
    expect_found("coalescing", 4, text("How many of the 32 sectors?"), "a figure is typed in");
    expect_found("coalescing", 4, text("How many sectors does N need?"), "but not P");
    expect_found("coalescing", 4, text("How many of {wavefronts}?"), "no figure wavefronts");
    expect_found(
        "coalescing", 1, [](LessonStop& stop) { stop.ask->why = "The lanes go down a column."; }, "column");
    expect_found(
        "coalescing", 1, [](LessonStop& stop) { stop.ask->answer = "wavefronts"; }, "the step has not");
    expect_found(
        "race", 4, [](LessonStop& stop) { stop.ask->choices[0].when = *read_condition("wrong > 1"); },
        "not exactly one choice holds");
    expect_found(
        "race", 4, [](LessonStop& stop) { stop.ask->choices[1].when = *read_condition("wrong = 0"); },
        "not exactly one choice holds");
    expect_found(
        "reuse", 1, [](LessonStop& stop) { stop.ask->kind = lessons::Question::Kind::Bank; },
        "the step has not");
}

TEST(LessonWalk, FindsAPluralOfOne) {
    expect_found(
        "edges", 4, [](LessonStop& stop) { replace(stop, "{lanes} has", "{lanes} lanes have"); },
        "a plural of 1");
}

}  // namespace
}  // namespace tilescope::app
