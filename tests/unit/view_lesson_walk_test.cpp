// Every stop of every lesson, walked to as the window does, says what its recording holds at the step that is
// shown. What is held against it is counted anew (view_lesson_facts.h).
//
//   figures   what braces hold is the figure of this step; outside braces there is none, in digits or words
//   where     each condition holds of this step
//   names     arrays that are named are the launch's, and the request's is one of them
//   marks     are named in braces alone, where such cells are drawn
//   words     that describe a step ("down a column", "next bank", "clocks") are of such a step
//   questions are held as sentences are; what is right is what this step holds, exactly one choice holds, and
//             the right prediction is judged so, a wrong one not
//
// Stops on a figure or a case are walked by view_lesson_models_test.cpp.
#include <functional>
#include <regex>
#include <sstream>

#include "app/lessons/asking.h"
#include "tests/unit/view_lesson_facts.h"
#include "tests/unit/view_lesson_said.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

// What is said of a recording's check: of the block shown, it is true of what the block stored.
std::string result_of(const trace::Trace& trace, const playback::BlockReplay& replay, Complaints& wrong) {
    const trace::Verification& result = trace.meta.result;
    const std::set<uint64_t> here = wrong_elements(trace, replay);
    if (result.verified) {
        if (!here.empty()) wrong.push_back("elements of this block are wrong");
        return "result verified";
    }
    const Array& P = trace.launch.arrays[result.array];
    const auto first = static_cast<uint64_t>(result.first_wrong);
    if (here.empty() || (here.contains(first) ? *here.begin() : first) > *here.begin())
        wrong.push_back("the first wrong element is another one");
    return "result wrong in " + with_commas(result.wrong) + " elements, the first P[" +
           std::to_string(first / P.cols) + "," + std::to_string(first % P.cols) + "]";
}

// Words that describe a step, and when they are true of it.
struct Vocabulary {
    const char* words;
    std::function<bool(const Facts&, const trace::Trace&)> holds;
};
uint64_t of(const Facts& facts, const char* name) {
    const auto found = facts.number.find(name);
    return found == facts.number.end() ? 0 : found->second;
}
bool one_column(const Facts& facts) {  // a row of threads reads down it
    for (size_t lane = 1; lane < std::min<size_t>(16, facts.row_and_col.size()); ++lane)
        if (facts.row_and_col[lane].second != facts.row_and_col[0].second ||
            facts.row_and_col[lane].first != facts.row_and_col[lane - 1].first + 1)
            return false;
    return facts.row_and_col.size() > 1;
}
const std::vector<Vocabulary>& vocabulary() {
    using F = const Facts&;
    using T = const trace::Trace&;
    static const std::vector<Vocabulary> all = {
        {"(down a|same) column", [](F f, T) { return one_column(f); }},
        {"row of \\{array\\}",
         [](F f, T) {
             return std::ranges::all_of(f.row_and_col,
                                        [&](const auto& at) { return at.first == f.row_and_col[0].first; });
         }},
        {"next bank",
         [](F f, T) {
             for (size_t lane = 1; lane < f.element.size(); ++lane)
                 if (f.element[lane] % 32 != (f.element[lane - 1] + 1) % 32) return false;
             return f.shared;
         }},
        {"as many as there are banks", [](F f, T) { return of(f, "row_words") == 32; }},
        {"want the same element", [](F f, T) { return of(f, "touched") < of(f, "lanes"); }},
        {"last trip", [](F f, T) { return of(f, "phase") == of(f, "last_phase"); }},
        {"for each of them", [](F f, T) { return of(f, "least_loads") == of(f, "most_loads"); }},
        {"\\bcomes? (to|first)", [](F f, T) { return f.barrier; }},
        {"comes first", [](F f, T) { return of(f, "arrived") == 1; }},
        {"have come|let warp .* through", [](F f, T) { return f.all_came && !f.barrier; }},
        {"clocks", [](F f, T t) { return f.barrier && !t.time.empty(); }},
        {"tiles are full|tiles are whole: ", [](F f, T) { return of(f, "unfilled") == 0; }},
        {"to be filled|not filled yet", [](F f, T) { return of(f, "unfilled") > 0; }},
        {"load less", [](F f, T) { return f.loads_fewer > 0; }},
        {"different orders", [](F f, T) { return of(f, "orders") > 1; }},
        {"lockstep", [](F, T t) { return t.meta.backend == trace::Backend::Cpu; }},
        {"nobody reads the old", [](F f, T) { return of(f, "still_reading") == 0; }},
        {"[^{]stale cells|old values", [](F f, T) { return of(f, "stale_read") > 0; }},
        {"later phase|is late", [](F f, T) { return of(f, "overwritten") > 0; }},
        {"older values", [](F f, T) { return of(f, "stale") > 0; }},
        {"none is stale", [](F f, T) { return of(f, "stale") == 0; }},
        {"on the column|right edge|beyond its last column",
         [](F f, T) { return of(f, "outside_by_column") > 0 && of(f, "outside_by_row") == 0; }},
        {"on the row|lie below",
         [](F f, T) { return of(f, "outside_by_row") > 0 && of(f, "outside_by_column") == 0; }},
        {"last row of",
         [](F f, T) { return !f.row_and_col.empty() && f.row_and_col[0].first + 1 == f.rows; }},
        {"nothing diverges", [](F f, T) { return of(f, "warps_here") < of(f, "warps") && f.load; }},
        {"product is wrong", [](F f, T) { return of(f, "wrong") > 0; }},
        {"\\brace\\b",
         [](F f, T) {
             return of(f, "wrong") > 0 || of(f, "still_reading") > 0 || (f.load && of(f, "unfilled") > 0);
         }},
        {"comes last|gate opens", [](F f, T) { return f.barrier && of(f, "awaited") == 0; }},
        {"wait for their turn|went before wait|is split|lies across the end",
         [](F f, T) { return f.load && of(f, "idle") > 0; }},
        {"neighbours",
         [](F f, T) {
             const std::set<uint64_t> elements(f.element.begin(), f.element.end());
             return f.load && *elements.rbegin() - *elements.begin() + 1 == elements.size();
         }},
        {"in step", [](F f, T) { return of(f, "warps") == 1; }},
        {"will ask for again", [](F f, T) { return of(f, "most_loads") == 1; }},
        {"no fault|in silence", [](F, T t) { return t.meta.complete; }},
        {"[Tt]he cure", [](F f, T t) { return of(f, "wrong") == 0 && t.meta.result.verified; }},
        {"\\bstores?\\b.*\\{array\\}", [](F f, T) { return !f.barrier && !f.load; }},
        {"\\bfills? .*\\{array\\}", [](F f, T) { return f.shared && !f.load; }},
        {"lanes (load|read)", [](F f, T) { return f.load; }},
    };
    return all;
}

void check_words(const std::string& say, const Facts& facts, const trace::Trace& trace, Complaints& wrong) {
    const std::string hand = by_hand(say);
    check_by_hand(hand, wrong);
    if (finds(hand,
              "\\b([Dd]otted|[Hh]atched|[Ss]truck|[Ss]troke|[Nn]otch|[Tt]riangle|[Cc]rossed|[Ss]triped|"
              "[Bb]lue|[Gg]reen|[Oo]range|[Rr]ed)"))
        wrong.push_back("a mark is named by hand");
    if (say.find("{mark_stale}") != std::string::npos && of(facts, "stale") == 0)
        wrong.push_back("no stale cell is marked at this step");
    if (say.find("{mark_zero}") != std::string::npos && of(facts, "zeros") == 0)
        wrong.push_back("no zero fill is marked at this step");
    for (const Vocabulary& one : vocabulary())
        if (finds(say, one.words) && !one.holds(facts, trace))
            wrong.push_back(std::string("not so at this step: ") + one.words);

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
        if (!array && !begins && name != "T" && name != "CPU" && name != "GPU" && name != "Each")
            wrong.push_back("the launch has no array " + name);
    }
    if (named && !facts.barrier && !this_one)
        wrong.push_back("names arrays, but not " + facts.array + ", which this request touches");
}

void check_where(const LessonStop& stop, const Facts& facts, Complaints& wrong) {
    for (const Condition& condition : stop.where)
        if (!holds_again(condition, facts.number)) wrong.push_back("does not hold: " + condition.text);
}

bool is_kind(const Facts& facts, StepKind kind) {
    if (facts.barrier || kind == StepKind::Barrier) return facts.barrier && kind == StepKind::Barrier;
    const bool load = kind == StepKind::GlobalLoad || kind == StepKind::SharedLoad;
    const bool shared = kind == StepKind::SharedLoad || kind == StepKind::SharedStore;
    return facts.load == load && facts.shared == shared;
}

// A sentence with what its braces stand for.
std::string filled_again(const std::string& say, const Facts& facts, const trace::Trace& trace,
                         const playback::BlockReplay& replay, Complaints& wrong) {
    std::string expected;
    static const std::regex brace("\\{(\\w+)\\}");
    std::string rest = say;
    for (std::smatch at; std::regex_search(rest, at, brace); rest = at.suffix()) {
        const std::string name = at[1];
        expected += at.prefix();
        if (name == "array")
            expected += facts.array;
        else if (name == "device")
            expected += trace.meta.device;
        else if (name == "fault")
            expected += trace.meta.incomplete_reason;
        else if (name == "result")
            expected += result_of(trace, replay, wrong);
        else if (const auto place = facts.place.find(name); place != facts.place.end())
            expected += place->second;
        else if (name == "rival")
            expected += trace.meta.kernel == "untiled" ? "tiled" : "untiled";
        else if (name == "mark_stale")
            expected += "a notch in the corner (stale value)";
        else if (name == "mark_zero")
            expected += "a diagonal stroke (zero fill)";
        else if (const auto figure = facts.number.find(name); figure != facts.number.end())
            expected += with_commas(figure->second);
        else
            wrong.push_back("this step has no figure " + name);
    }
    expected += rest;
    return expected;
}

// The prediction that is right, counted anew; none where the step has no such thing.
std::optional<session::Question> right_prediction(const lessons::Question& question, const Facts& facts,
                                                  const trace::Access& access, Complaints& wrong) {
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
            predicted.lanes = question.answer == "active" ? access.mask : ~access.mask;
            break;
        case lessons::Question::Kind::Choice: {
            size_t hold = 0;
            for (size_t at = 0; at < question.choices.size(); ++at) {
                if (!holds_again(question.choices[at].when, facts.number)) continue;
                ++hold;
                predicted.choice = at;
            }
            if (hold != 1) wrong.push_back("not exactly one choice holds");
            break;
        }
    }
    return predicted.predicted() ? std::optional(predicted) : std::nullopt;
}

// What is wrong with a stop's question, as it stands on the screen.
void check_question(State& state, const LessonStop& stop, const Facts& facts, const trace::Trace& trace,
                    const playback::BlockReplay& replay, Complaints& wrong) {
    const Standing& here = state.lessons.standing;
    check_words(stop.ask->text, facts, trace, wrong);
    check_words(stop.ask->why, facts, trace, wrong);
    for (const auto& [written, said] : {std::pair{stop.ask->text, here.asks}, {stop.ask->why, here.why}})
        if (const std::string expected = filled_again(written, facts, trace, replay, wrong); said != expected)
            wrong.push_back("asks '" + said + "', but it is '" + expected + "'");
    if (!state.session.question.open || !state.session.question.hides_any())
        wrong.push_back("hides nothing while it asks");
    const trace::Access access =
        trace::decode(trace, trace.blocks[state.session.cursor.block].first + state.session.cursor.step);
    const auto right = right_prediction(*stop.ask, facts, access, wrong);
    if (!right) return wrong.push_back("asks for what the step has not");
    Scene scene{trace, *state.session.block, state.session.cursor.step};
    const lessons::Answer answer = lessons::answer_of(*stop.ask, scene);
    const lessons::Verdict yes = lessons::judged(*stop.ask, answer, *right);
    const lessons::Verdict no = lessons::judged(*stop.ask, answer, wrong_prediction(*stop.ask, *right));
    const lessons::Verdict shown = lessons::judged(*stop.ask, answer, {});
    if (!yes.right || !yes.predicted) wrong.push_back("calls what is right wrong: " + yes.words);
    if (no.right || !no.predicted) wrong.push_back("calls what is wrong right: " + no.words);
    if (shown.right || shown.predicted) wrong.push_back("counts what was not predicted");
    if (stop.ask->kind == lessons::Question::Kind::Number)
        for (const std::string& words : {yes.words, no.words, shown.words})
            if (!finds(words, "\\b" + with_commas(std::stoull(right->typed)) + "\\b"))
                wrong.push_back("does not say what is right: " + words);
    lessons::reveal(state.lessons, state.session);
    if (state.session.question.hides_any()) wrong.push_back("still hides what was revealed");
}

// What is wrong with a stop as it is shown. then: what a person does beside it.
Complaints walked(const std::vector<Lesson>& lessons, size_t lesson, size_t number,
                  const std::function<void(State&)>& then = {}) {
    const LessonStop& stop = lessons[lesson].stops[number];
    State state;
    state.lessons.lessons = &lessons;
    go_to_stop(state.lessons, state.session, lesson, number);
    update(state, true);
    update(state, true);
    if (then) then(state);
    const session::Session& session = state.session;
    if (!session.walk.running || !session.recording) return {"is not shown: " + session.message};
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

    const auto replay = run_again(trace, session.cursor.block);
    const Facts facts = facts_at(trace, session.cursor.block, session.cursor.step, *replay);
    if (!stop.kind && stop.array.empty() && stop.where.empty())
        wrong.push_back("it does not say what kind of step it means");
    if (stop.kind && !is_kind(facts, *stop.kind)) wrong.push_back("the step is of another kind");
    if (!stop.array.empty() && facts.array != stop.array) wrong.push_back("the step is of another array");
    check_where(stop, facts, wrong);
    check_words(stop.say, facts, trace, wrong);

    const std::string& said = state.lessons.standing.words;
    if (const std::string expected = filled_again(stop.say, facts, trace, *replay, wrong); said != expected)
        wrong.push_back("says '" + said + "', but it is '" + expected + "'");
    if (finds(said, "\\b1 (lanes|wavefronts|sectors|warps|threads|cells|words|banks|elements|clocks)\\b"))
        wrong.push_back("a plural of 1: " + said);
    if (stop.ask) check_question(state, stop, facts, trace, *replay, wrong);
    return wrong;
}

class EveryLesson : public testing::TestWithParam<size_t> {};

TEST_P(EveryLesson, SaysWhatIsShown) {
    const Lesson& lesson = lesson_list()[GetParam()];
    for (size_t stop = 0; stop < lesson.stops.size(); ++stop) {
        if (lessons::is_modelled(lesson.stops[stop])) continue;  // view_lesson_models_test.cpp
        const Complaints wrong = walked(lesson_list(), GetParam(), stop);
        EXPECT_TRUE(wrong.empty()) << lesson.name << ", stop " << stop + 1 << text_of(wrong);
    }
}

INSTANTIATE_TEST_SUITE_P(OfAll, EveryLesson, testing::Range(size_t{0}, lesson_list().size()),
                         [](const auto& of) { return lesson_list()[of.param].name; });

void expect_found(const char* lesson, size_t stop, const std::function<void(LessonStop&)>& plant,
                  const char* complaint, const std::function<void(State&)>& then = {}) {
    std::vector<Lesson> copy = lesson_list();
    const auto at = std::ranges::find(copy, lesson, &Lesson::name);
    ASSERT_NE(at, copy.end());
    plant(at->stops[stop - 1]);
    const Complaints wrong = walked(copy, static_cast<size_t>(at - copy.begin()), stop - 1, then);
    EXPECT_NE(text_of(wrong).find(complaint), std::string::npos)
        << lesson << " " << stop << ": expected '" << complaint << "', found" << text_of(wrong);
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
        "race", 5, [](LessonStop& stop) { replace(stop, "{line}", "32"); }, "a figure is typed in");
    expect_found(
        "race", 5, [](LessonStop& stop) { set_where(stop, {"line = 32"}); }, "but it is",
        [](State& state) { state.session.cursor.step = 296; });  // at line 37
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
        "edges", 3, [](LessonStop& stop) { replace(stop, "{mark_zero}", "{mark_stale}"); },
        "no stale cell is marked");
    expect_found(
        "edges", 3,
        [](LessonStop& stop) { stop.kind = StepKind::SharedStore, set_where(stop, {"phase = 0"}); },
        "no zero fill is marked");
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
