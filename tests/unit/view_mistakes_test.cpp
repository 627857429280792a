// The usual wrong answers get a sentence of their own, and none of these is false.
#include <regex>

#include "app/lessons/asking.h"
#include "tests/app_names.h"
#include "tests/twin/lesson_facts.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using lessons::Mistake;
using lessons::RightAnswer;
using Asks = lessons::Question;

void go_to(State& state, size_t lesson, size_t stop) {
    go_to_stop(state.lessons, state.session, lesson, stop);
    update(state, true);
    update(state, true);
}

State at_stop(size_t lesson, size_t stop) {
    State state;
    go_to(state, lesson, stop);
    return state;
}

std::string verdict_on(const Asks& ask, const RightAnswer& answer, const std::string& typed) {
    session::Question said;
    said.typed = typed;
    return judged(ask, answer, said).words;
}

bool is_number(const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; }

// Operands of "a * b".
std::vector<std::string> operands_of(const std::string& instead) {
    const size_t gap = instead.find(' ');
    if (gap == std::string::npos) return {instead};
    return {instead.substr(0, gap), instead.substr(gap + 3)};
}

TEST(Mistakes, RowsNameWhatThereIs) {
    const State state = at_stop(0, 0);
    const lessons::Scene scene{*state.session.recording, *state.session.block, 0};
    const auto known = [&](const std::string& name) {
        return is_number(name) || lessons::find_fact(name) != nullptr || name == "array_elements" ||
               name == "inner_blocks" || lessons::beside_facts(scene, name).has_value();
    };
    for (const lessons::MistakeRow& row : lessons::mistake_rows()) {
        EXPECT_NE(lessons::find_fact(row.asked), nullptr) << row.asked;
        for (const std::string& one : operands_of(row.instead)) EXPECT_TRUE(known(one)) << row.instead;
        if (*row.when != 0) EXPECT_TRUE(lessons::read_condition(row.when)) << row.when;
        const std::string says = row.says;
        static const std::regex brace("\\{(\\w+)\\}");
        for (std::sregex_iterator at(says.begin(), says.end(), brace), end; at != end; ++at)
            EXPECT_TRUE(known((*at)[1]) || lessons::can_say((*at)[1].str())) << says;
        EXPECT_EQ(says.back(), '.') << says;
    }
}

// Of every number question that ships: each mistake is the number that its sentence begins with, worked out
// again, and is answered with that sentence; every other number in it is one of the step's.
TEST(Mistakes, OfShippedQuestionsAreAnswered) {
    size_t asked = 0, answered = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson) {
        State state;  // whose recording stays from stop to stop, where that is the same
        std::optional<twin::Recording> twin;
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!of.ask || of.ask->kind != Asks::Kind::Number) continue;
            const std::string where = lesson_list()[lesson].name + " " + std::to_string(stop + 1);
            go_to(state, lesson, stop);
            const RightAnswer answer = right_answer(state.lessons, state.session);
            ASSERT_TRUE(answer.known) << where;
            EXPECT_GE(answer.usual.size(), 1u) << where;
            ++asked;
            std::map<std::string, uint64_t> facts;
            if (!is_modelled(of)) {
                if (!twin || twin->shared() != state.session.recording->trace)
                    twin.emplace(state.session.recording->trace);
                const auto replay = twin::run_again(state.session.trace(), state.session.cursor.block);
                facts = twin::facts_at(*twin, state.session.cursor.block, state.session.cursor.step, *replay)
                            .number;
                const lessons::Scene scene{*state.session.recording, *state.session.block,
                                           state.session.cursor.step};
                for (const char* name :
                     {"warp_size", "sector_bytes", "shared_cells", "array_elements", "inner_blocks"})
                    if (const auto number = lessons::beside_facts(scene, name)) facts[name] = *number;
            }
            for (const Mistake& one : answer.usual) {
                const std::string typed = lessons::number_text(one.number, answer.decimals);
                EXPECT_TRUE(one.says.starts_with(typed + " ")) << where << ": " << one.says;
                EXPECT_EQ(one.says.find('{'), std::string::npos) << where << ": " << one.says;
                std::string plain = typed;
                std::erase(plain, ',');
                const std::string words = verdict_on(*of.ask, answer, plain);
                EXPECT_TRUE(words.ends_with(one.says)) << where << ": " << words;
                EXPECT_NE(words.find(answer.words), std::string::npos) << words;
                ++answered;
                if (is_modelled(of)) continue;
                const std::vector<std::string> parts = operands_of(one.instead);
                std::vector<uint64_t> values;
                for (const std::string& part : parts) {
                    ASSERT_TRUE(is_number(part) || facts.contains(part)) << where << ": " << one.instead;
                    values.push_back(is_number(part) ? std::stoull(part) : facts.at(part));
                }
                const char op = parts.size() == 1 ? ' ' : one.instead[parts[0].size() + 1];
                const uint64_t is = op == '*'   ? values[0] * values[1]
                                    : op == '/' ? values[0] / values[1]
                                    : op == '+' ? values[0] + values[1]
                                    : op == '-' ? values[0] - values[1]
                                                : values[0];
                EXPECT_EQ(is, one.number) << where << ": " << one.says;
                std::string rest = one.says.substr(typed.size());
                std::erase(rest, ',');
                static const std::regex digits("\\b\\d+\\b");
                for (std::sregex_iterator at(rest.begin(), rest.end(), digits), end; at != end; ++at) {
                    const uint64_t number = std::stoull(at->str());
                    const bool fact =
                        std::ranges::any_of(facts, [&](const auto& f) { return f.second == number; });
                    EXPECT_TRUE(fact || number == 4 || number == 0) << where << ": " << one.says;
                }
            }
        }
    }
    EXPECT_GE(asked, 60u);
    EXPECT_GE(answered, 400u);
}

struct Planted {
    const char* lesson;
    size_t stop;
    const char *typed, *says;
};

// By hand: what a class says, and what it hears.
TEST(Mistakes, OfAClassHearWhatTheyAre) {
    const Planted all[] = {
        {"build", 1, "256", "256 is the threads of a block; each of them makes all trips."},
        {"build", 1, "15", "15 is one too few: phases are numbered from 0."},
        {"build", 3, "4", "4 is all threads of the block; warp 0 has 1 at work here."},
        {"build", 4, "4", "4 is the barriers that a warp passes, not the phases."},
        {"reuse", 2, "32", "32 is the different elements"},
        {"coalescing", 1, "32",
         "32 is a sector for each lane; lanes whose elements lie in one sector share it."},
        {"coalescing", 1, "64", "64 is the bytes of these sectors; a sector has 32."},
        {"coalescing", 3, "1", "1 is the request itself"},
        {"banks", 1, "32", "32 is a wavefront for each lane"},
        {"barriers", 2, "1", "1 is those that have come; asked is for those still to come."},
        {"barriers", 2, "8", "8 is all warps of the block; come already: 1."},
        {"barriers", 4, "4", "4 is one for each phase; there are more."},
        {"barriers", 4, "64", "64 is the arrivals of all 8 warps; they meet at the same barriers."},
        {"race", 1, "8", "8 is two for each phase, which is not so here."},
        {"edges", 1, "1", "1 leaves out the blocks that reach beyond the edge; they compute elements too."},
        {"divergence", 4, "2000",
         "2,000 is the elements of a; blocks are launched whole, also where it ends."},
        {"divergence", 4, "1536", "1,536 is one block too few."},
        {"warps", 1, "256", "256 is the threads; 32 of them are a warp."},
        {"warps", 1, "16", "16 is T, the width of a tile; a warp is 32 threads."},
        {"rungs", 1, "262144", "262,144 is one for each product; a product takes an element of each input."},
        {"helps", 4, "64", "64 would be a load for each column of the output."},
        {"roofs", 1, "200", "200 is \u201cmemory gbs\u201d here."},
        {"limits", 1, "8", "\u201c"},
    };
    for (const Planted& one : all) {
        const auto lesson = static_cast<size_t>(std::ranges::find(lesson_list(), one.lesson, &Lesson::name) -
                                                lesson_list().begin());
        const State state = at_stop(lesson, one.stop - 1);
        const RightAnswer answer = right_answer(state.lessons, state.session);
        const std::string words =
            verdict_on(*lesson_list()[lesson].stops[one.stop - 1].ask, answer, one.typed);
        EXPECT_NE(words.find(one.says), std::string::npos) << one.lesson << " " << one.stop << ": " << words;
    }
}

// Other numbers are told what is right, and nothing is made up.
TEST(Mistakes, AnyOtherNumberIsToldWhatIsRight) {
    const auto lesson =
        static_cast<size_t>(std::ranges::find(lesson_list(), std::string_view("coalescing"), &Lesson::name) -
                            lesson_list().begin());
    const State state = at_stop(lesson, 0);
    const RightAnswer answer = right_answer(state.lessons, state.session);
    EXPECT_EQ(verdict_on(*lesson_list()[lesson].stops[0].ask, answer, "987654"),
              "You said 987,654; it is " + answer.words + ".");
}

// Elements of another phase, warp or block, lanes that do not work, and the condition of a choice.
TEST(Mistakes, OfSetsAndChoicesAreAnswered) {
    size_t sets = 0, choices = 0;
    for (size_t lesson = 0; lesson < lesson_list().size(); ++lesson) {
        State state;
        for (size_t stop = 0; stop < lesson_list()[lesson].stops.size(); ++stop) {
            const LessonStop& of = lesson_list()[lesson].stops[stop];
            if (!of.ask || of.ask->kind == Asks::Kind::Number) continue;
            const std::string where = lesson_list()[lesson].name + " " + std::to_string(stop + 1);
            go_to(state, lesson, stop);
            const RightAnswer answer = right_answer(state.lessons, state.session);
            for (const Mistake& one : answer.usual) {
                session::Question said;
                if (of.ask->kind == Asks::Kind::Elements) said.cells = one.all;
                if (of.ask->kind == Asks::Kind::Lanes)
                    for (const uint64_t lane : one.all) said.lanes |= 1u << lane;
                if (of.ask->kind == Asks::Kind::Bank) said.bank = static_cast<uint32_t>(*one.all.begin());
                if (of.ask->kind == Asks::Kind::Choice) said.choice = one.number;
                const lessons::Verdict verdict = judged(*of.ask, answer, said);
                EXPECT_FALSE(verdict.right) << where;
                EXPECT_TRUE(verdict.words.ends_with(one.says)) << where << ": " << verdict.words;
                ++(of.ask->kind == Asks::Kind::Choice ? choices : sets);
            }
            EXPECT_FALSE(answer.usual.empty()) << where;
        }
    }
    EXPECT_GE(sets, 30u);
    EXPECT_GE(choices, 12u);
}

TEST(Mistakes, OfElementsSayWhoseTheyAre) {
    const auto phases = static_cast<size_t>(std::ranges::find(lesson_list(), "phases", &Lesson::name) -
                                            lesson_list().begin());
    const State state = at_stop(phases, 3);  // N in phase 1: rows 2 and 3 of columns 0 and 1
    const RightAnswer answer = right_answer(state.lessons, state.session);
    const auto words = [&](std::set<uint64_t> cells) {
        session::Question said;
        said.cells = std::move(cells);
        return judged(*lesson_list()[phases].stops[3].ask, answer, said).words;
    };
    EXPECT_EQ(answer.all, (std::set<uint64_t>{8, 9, 12, 13}));
    EXPECT_NE(words({0, 1, 4, 5}).find("Those are the elements of warp 0 in phase 0."), std::string::npos);
    EXPECT_NE(words({10, 11, 14, 15}).find("Those are the elements of block(0,1)."), std::string::npos)
        << words({10, 11, 14, 15});
    EXPECT_NE(words({2, 3, 6, 7}).find("with row and column exchanged."), std::string::npos);
    EXPECT_NE(words({8}).find("of the first lane alone."), std::string::npos);
    EXPECT_TRUE(words({8, 9}).ends_with("N[3,1].")) << words({8, 9});
}

}  // namespace
}  // namespace tilescope::app
