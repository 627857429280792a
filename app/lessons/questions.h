// Questions: what a viewer predicts before it is shown. A stop of a lesson asks one, or "ask me" finds one in
// the recording that is open (ask_me.cpp). Asked, answered and judged here without a window.
//
//   "ask": {"kind": "number", "question": "How many sectors does this load need?", "answer": "sectors",
//           "why": "The lanes read {touched} elements, a row apart."}
//
//   kind      predicted                    answer
//   number    a number, typed              a fact: "sectors"
//   value     a number, typed              "first" or "last": what that active lane loads or stores;
//                                          "sum": the sum of the first active lane's thread after the step
//   bank      a bank, typed or clicked     (of a shared request: the bank with most words)
//   elements  cells of its array, clicked  (those that the request touches)
//   lanes     lanes of the warp, clicked   "active" or "idle"
//   choice    a letter                     "choices": [{"say": "right", "when": "wrong = 0"}, ...],
//                                          of which exactly one holds
//
// "counts" is the question's own word for what the answer of a number, elements or lanes counts: asked for
// trips, it is answered in trips and not in phases.
//
// A stop on a figure or on a case of the Limits screen asks for a number or a choice, over their numbers.
// What a question keeps from view follows from its kind and its facts (hidden_by).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "app/lessons/model.h"
#include "app/session/question.h"
#include "core/base/json_fields.h"

namespace tilescope::lessons {

// What most facts and questions keep from view while they are asked for.
inline constexpr auto kNumbers = static_cast<uint16_t>(session::Hide::Numbers);
inline constexpr uint16_t kCost = session::Hide::Lines | session::Hide::Numbers;

inline constexpr size_t kMostChoices = 8;

// All names that may stand over a model: "warps, issue, needed_warps".
std::string names_of(const Modelled& of);
const NamedNumber* find_number(const Modelled& of, std::string_view name);  // null for none of that name

// The elements that the step touches.
std::set<uint64_t> elements_of(const Scene& scene);

// What stands for a name in braces; "" where the step has no such thing.
std::string filled(Scene& scene, std::string_view name);

// A sentence with value(name) in place of what stands in braces, or as it was written where that is "". What
// stands between has the names that arrays have in the notation.
std::string filled_in(std::string_view say, const Notation& notation,
                      const std::function<std::string(std::string_view)>& value);
// What a stop says and asks, by said(sentence).
void say(Standing& here, const LessonStop& stop, const std::function<std::string(const std::string&)>& said);

// Text that is shown: of bounded length, on one line, without what a screen or a terminal would obey.
void read_text(JsonFields& fields, const char* key, std::string& out, std::string& problem);

// over: the model that it is about (numbers and choices alone); null: a recording. problem: as in JsonFields.
Question read_question(const JsonFields::Json& json, const Modelled* over, std::string& problem);

// A usual wrong answer, and what is said to it (mistakes.cpp).
struct Mistake {
    uint64_t number = 0;       // number, in the decimals of the answer; choice: which, from 0
    std::set<uint64_t> all{};  // elements; lanes; a bank
    std::optional<Value> value{};
    std::string instead{};  // what the number is, over the facts: "sectors * 32"
    std::string says{};     // a sentence, true of the step
};

// What is right at a step.
struct RightAnswer {
    bool known = false;      // the step has such a thing, and of choices exactly one holds
    uint64_t number = 0;     // number; choice: which, from 0
    int decimals = 0;        // of the number: 216 with 1 is 21.6
    std::set<uint64_t> all;  // elements; lanes; banks, each of them right
    Value value;
    std::string words;           // "32 sectors", "bank 0", "2.5", "B, wrong"
    std::string others;          // behind the words, where there is more to say: ", M[0,0] to M[0,3]"
    std::vector<Mistake> usual;  // the likelier ones first
};
RightAnswer answer_of(const Question& question, Scene& scene);
RightAnswer answer_of(const Question& question, const Modelled& of);

// A row of the table of usual wrong numbers. instead: a fact, a number, or two of them with "*", "/", "+" or "-"
// between. when: holds where the sentence is true; "" for always. says: what comes behind the number.
struct MistakeRow {
    const char *asked, *instead, *when, *says;
};
std::span<const MistakeRow> mistake_rows();
// What rows name beside the facts: "warp_size", "sector_bytes", "shared_cells" (of all shared arrays),
// "array_elements" (of the request's), "inner_blocks" (that lie inside the output as a whole).
std::optional<uint64_t> beside_facts(const Scene& scene, std::string_view name);

// Fills in the usual mistakes of an answer (mistakes.cpp).
void usual_mistakes(const Question& question, Scene& scene, RightAnswer& answer);
void usual_mistakes(const Question& question, const Modelled& of, RightAnswer& answer);
// What a Mistake's `instead` comes to at a step; none where a fact of it has no value there.
std::optional<uint64_t> number_of(Scene& scene, std::string_view expression);

// What is right at a stop that asks. recording: where it stands, at `at`; null of one that is modelled.
RightAnswer right_answer(const LessonStop& stop, const session::Recording* recording, playback::Cursor at);

// What screens keep from view while it is open, and what they take.
uint16_t hidden_by(const Question& question);
session::Question opened(const Question& question, const Scene* scene);  // null: of a model

struct Verdict {
    bool predicted = false, right = false;
    // "Right: 32 sectors.", "It is 32 sectors.", "You said 128; it is 4 sectors. 128 is the bytes of ..."
    std::string words;
};
Verdict judged(const Question& question, const RightAnswer& answer, const session::Question& predicted);

// A prediction written out, for pictures made without a window: "32", "B", "3,0 3,1" (elements), "0 5 7"
// (lanes). scene: as opened() has it. A sentence about what is wrong with it, or "".
std::string predict(session::Question& asked, const Question& question, const Scene* scene,
                    std::string_view text);

}  // namespace tilescope::lessons
