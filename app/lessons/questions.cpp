// Questions read, answered from the recording, and judged (questions.h).
#include "app/lessons/questions.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/look/request.h"
#include "core/base/words.h"

namespace tilescope::lessons {
namespace {

using Json = JsonFields::Json;
using Kind = Question::Kind;
using session::Hide;

using Takes = session::Question::Takes;

// A kind of question: what its answer may be called, what it takes, and what is kept from view while it is
// open. A fact says that in its row; what is asked of a model hides numbers.
constexpr std::string_view kValues[] = {"first", "last", "sum"}, kLanes[] = {"active", "idle"};
struct KindRow {
    std::string_view name;
    Takes takes;
    uint16_t hides = 0;
    std::span<const std::string_view> answers{};
};
constexpr KindRow kKindRows[] = {{"number", Takes::Typed},
                                 {"value", Takes::Typed, Hide::Values | Hide::Numbers, kValues},
                                 {"bank", Takes::Bank, kCost},
                                 {"elements", Takes::Cells, Hide::Elements | kCost},
                                 {"lanes", Takes::Lanes, Hide::Lanes | Hide::Elements | kCost, kLanes},
                                 {"choice", Takes::Choice}};  // by Kind
const KindRow& row_of(const Question& question) { return kKindRows[static_cast<size_t>(question.kind)]; }

// A noun is counted; a unit, "FLOP/B", and any noun of a number with decimals, stands behind it as it is.
std::string number_words(std::string_view noun, uint64_t number, int decimals = 0) {
    if (noun.empty()) return number_text(number, decimals);
    const bool unit = noun.find_first_of("%/") != std::string_view::npos || noun == "KiB";
    if (unit || decimals > 0) return fmt::format("{} {}", number_text(number, decimals), noun);
    return counted(number, noun);
}

std::string letter(size_t choice) { return std::string(1, static_cast<char>('A' + choice)); }

std::set<uint64_t> bits_of(uint32_t mask) {
    std::set<uint64_t> all;
    for_lanes(mask, [&](uint32_t lane) { all.insert(lane); });
    return all;
}

void answer_value(const Question& question, Scene& scene, RightAnswer& answer) {
    const playback::BlockReplay* const replay = replay_of(scene);
    const uint32_t mask = form_of(scene).mask, warp = scene.trace.warp_of(scene.index.first + scene.step);
    if (replay == nullptr || mask == 0) return;
    const bool last = question.answer == "last";
    const auto lane = static_cast<uint32_t>(last ? 31 - std::countl_zero(mask) : std::countr_zero(mask));
    if (question.answer == "sum") {
        const auto sum = replay->running_sum(warp * kWarpSize + lane, scene.step);
        if (!sum) return;
        answer.value = *sum;
    } else {
        if (kind_of(scene) == StepKind::Barrier) return;
        answer.value = replay->value(scene.step, lane);
        if (kind_of(scene) == StepKind::Exchange)
            if (const ElementType type = scene.index.exchanged[form_of(scene).site];
                size_of(type) == size_of(answer.value.type))
                answer.value.type = type;
    }
    answer.known = true;
    answer.words = short_value(answer.value);
}

void answer_lanes(const Question& question, const Scene& scene, RightAnswer& answer) {
    const uint32_t mask = form_of(scene).mask;
    answer.all = bits_of(question.answer == "active" ? mask : ~mask);
    answer.known = !answer.all.empty();
    answer.words = counted(answer.all.size(), question.counts.empty() ? "lane" : question.counts);
}

void answer_bank(const Scene& scene, RightAnswer& answer) {
    const look::RequestView request = look::request_view(scene.trace, scene.index, scene.step);
    size_t most = 0;
    for (const uint32_t group : request.groups) most = std::max(most, tallest_of_group(request, group));
    for (size_t bank = 0; most > 0 && bank < request.banks.size(); ++bank)
        if (tallest_of_bank(request, bank) == most) answer.all.insert(bank);
    answer.known = !answer.all.empty();
    if (!answer.known) return;
    answer.words = fmt::format("bank {}", *answer.all.begin());
    if (answer.all.size() > 1)
        answer.others = fmt::format(", or {} as full", counted(answer.all.size() - 1, "other"));
}

// "M[0,0], M[0,1] and M[0,2]", of many the first ones.
std::string elements_in_words(const Scene& scene, uint8_t array, const std::set<uint64_t>& elements) {
    std::vector<std::string> names;
    for (const uint64_t element : elements)
        names.push_back(element_name(scene.trace.launch.arrays[array], static_cast<int64_t>(element),
                                     scene.index.notation));
    return listed(names, names.size() > 4 ? 3 : 4);
}

// over: the scene, or the model that it is asked of.
template <class Over>
void answer_choice(const Question& question, Over& over, RightAnswer& answer) {
    size_t hold = 0;
    for (size_t at = 0; at < question.choices.size(); ++at) {
        if (!holds(question.choices[at].when, over)) continue;
        ++hold;
        answer.number = at;
    }
    answer.known = hold == 1;
    if (answer.known)
        answer.words =
            fmt::format("{}, {}", letter(answer.number), said(over, question.choices[answer.number].say));
}

void answer_number(const Question& question, Scene& scene, RightAnswer& answer) {
    const Fact* const fact = find_fact(question.answer);
    const auto number = fact == nullptr ? std::nullopt : fact->at(scene);
    if (!number) return;
    const bool phase = fact->name == "phase" || fact->name == "last_phase";
    answer.known = true;
    answer.number = *number + (phase && scene.index.notation.phases_from_1 ? 1 : 0);
    answer.words = number_words(question.counts.empty() ? fact->noun : question.counts, answer.number);
}

std::optional<uint64_t> whole_number(std::string_view text) {
    uint64_t number = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (bad != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// The digits of a number with so many decimals: 2160 of "21.6" with two; none where it has more of them.
std::optional<uint64_t> scaled_number(std::string_view text, int decimals) {
    const size_t point = std::min(text.find('.'), text.size());
    std::string digits(text.substr(0, point));
    std::string_view behind = text.substr(std::min(point + 1, text.size()));
    while (behind.ends_with('0')) behind.remove_suffix(1);
    if (behind.size() > static_cast<size_t>(decimals)) return std::nullopt;
    digits += behind;
    digits.append(static_cast<size_t>(decimals) - behind.size(), '0');
    return whole_number(digits);
}

// With a hyphen or, as screens write it, a true minus.
std::optional<double> number_typed(std::string text) {
    text = as_typed(std::move(text));
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(number)) return std::nullopt;
    return number;
}

// How the answer would be written if it were that number: what is right to the digits that screens show.
bool same_value(double typed, Value right) {
    if (typed == number_of(right)) return true;
    if (!is_float(right.type)) return false;
    return short_value(value_of(typed)) == short_value(value_of(number_of(right)));
}

// "3 of these 4 and 1 other": how far off a set is.
std::string partly(const std::set<uint64_t>& said, const std::set<uint64_t>& right) {
    const auto hits =
        static_cast<uint64_t>(std::ranges::count_if(said, [&](uint64_t one) { return right.contains(one); }));
    const uint64_t beside = said.size() - hits;
    return fmt::format("{} of {} found{}", hits, right.size(),
                       beside == 0 ? "" : ", and " + counted(beside, "other"));
}

}  // namespace

Question read_question(const Json& json, const Modelled* over, std::string& problem) {
    Question question;
    question.modelled = over != nullptr;
    JsonFields fields(json, problem);
    std::string kind;
    fields.text("kind", kind);
    const auto at = std::ranges::find(kKindRows, kind, &KindRow::name);
    if (at == std::end(kKindRows))
        fields.fail("kind");
    else
        question.kind = static_cast<Kind>(at - kKindRows);
    const KindRow& row = row_of(question);
    if (problem.empty() && over != nullptr && question.kind != Kind::Number && question.kind != Kind::Choice)
        problem = fmt::format("its question of kind '{}' is for stops on a recording", kind);
    read_text(fields, "question", question.text, problem);
    if (json.contains("why")) read_text(fields, "why", question.why, problem);
    const bool answers = question.kind == Kind::Number || !row.answers.empty();
    const bool counts =
        question.kind == Kind::Number || question.kind == Kind::Elements || question.kind == Kind::Lanes;
    if (counts && over == nullptr && json.contains("counts"))
        read_text(fields, "counts", question.counts, problem);
    if (answers) read_text(fields, "answer", question.answer, problem);
    if (question.kind == Kind::Number) {
        const bool known = over != nullptr ? number_at(*over, question.answer).has_value()
                                           : find_fact(question.answer) != nullptr;
        if (problem.empty() && !known)
            problem = fmt::format("its answer '{}' is {}", question.answer,
                                  over == nullptr ? "no fact" : "none of " + names_of(*over));
    }
    if (!row.answers.empty() && problem.empty() &&
        std::ranges::find(row.answers, question.answer) == row.answers.end())
        problem = fmt::format("its answer '{}' is none of a question of kind '{}'", question.answer, kind);
    if (question.kind == Kind::Choice) {
        for (const Json& choice : fields.list("choices")) {
            JsonFields of(choice, problem);
            Question::Choice one;
            std::string when;
            read_text(of, "say", one.say, problem);
            read_text(of, "when", when, problem);
            if (!problem.empty()) break;
            auto condition = read_condition(when, over);
            if (!condition) {
                problem = condition.error().message;
                break;
            }
            one.when = std::move(*condition);
            problem = unknown_names(one.say, over);
            question.choices.push_back(std::move(one));
        }
        if (question.choices.size() < 2 || question.choices.size() > kMostChoices) fields.fail("choices");
    }
    for (const std::string& sentence : {question.text, question.why})
        if (problem.empty()) problem = unknown_names(sentence, over);
    for (const auto& field : json.items()) {
        const std::string& key = field.key();
        const bool known = key == "kind" || key == "question" || key == "why" ||
                           (key == "answer" && answers) || (key == "counts" && counts && over == nullptr) ||
                           (key == "choices" && question.kind == Kind::Choice);
        if (problem.empty() && !known)
            problem = fmt::format("the field '{}' of its question means nothing", key);
    }
    return question;
}

RightAnswer answer_of(const Question& question, Scene& scene) {
    RightAnswer answer;
    if (scene.step >= scene.index.steps) return answer;
    const uint8_t array = form_of(scene).array;
    switch (question.kind) {
        case Kind::Number: answer_number(question, scene, answer); break;
        case Kind::Value: answer_value(question, scene, answer); break;
        case Kind::Bank: answer_bank(scene, answer); break;
        case Kind::Elements:
            if (array == trace::kNoArray) break;
            answer.all = elements_of(scene);
            answer.known = !answer.all.empty();
            answer.words = counted(answer.all.size(), question.counts.empty() ? "element" : question.counts);
            answer.others = ": " + elements_in_words(scene, array, answer.all);
            break;
        case Kind::Lanes: answer_lanes(question, scene, answer); break;
        case Kind::Choice: answer_choice(question, scene, answer); break;
    }
    usual_mistakes(question, scene, answer);
    return answer;
}

RightAnswer answer_of(const Question& question, const Modelled& of) {
    RightAnswer answer;
    if (question.kind == Kind::Choice) {
        answer_choice(question, of, answer);
    } else if (const NamedNumber* const number = find_number(of, question.answer)) {
        answer.known = true;
        answer.number = number->value;
        answer.decimals = number->decimals;
        answer.words = number_words(number->noun, number->value, number->decimals);
    }
    usual_mistakes(question, of, answer);
    return answer;
}

RightAnswer right_answer(const LessonStop& stop, const session::Recording* recording, playback::Cursor at) {
    if (is_modelled(stop)) return answer_of(*stop.ask, modelled(stop));
    if (recording == nullptr) return {};
    const auto index = look::index_block(*recording, at.block);
    Scene scene{*recording, *index, at.step};
    return answer_of(*stop.ask, scene);
}

uint16_t hidden_by(const Question& question) {
    if (question.modelled) return kNumbers;
    const auto of_fact = [](std::string_view name) {
        const Fact* const fact = find_fact(name);
        return fact == nullptr ? uint16_t{0} : fact->hides;
    };
    if (question.kind == Kind::Number) return of_fact(question.answer);
    if (question.kind != Kind::Choice) return row_of(question).hides;
    uint16_t hidden = 0;
    for (const Question::Choice& choice : question.choices)
        for (const std::string& name : {choice.when.left, choice.when.right})
            hidden = static_cast<uint16_t>(hidden | of_fact(name));
    return hidden;
}

session::Question opened(const Question& question, const Scene* scene) {
    session::Question open;
    open.open = true;
    open.hidden = hidden_by(question);
    open.takes = row_of(question).takes;
    if (scene == nullptr) return open;
    open.array = form_of(*scene).array;
    open.warp = scene->trace.warp_of(scene->index.first + scene->step);
    return open;
}

Verdict judged(const Question& question, const RightAnswer& answer, const session::Question& predicted) {
    Verdict verdict;
    verdict.predicted = predicted.predicted();
    std::string said;      // by the one who predicts, where it is not right
    std::string_view why;  // what a usual mistake is answered with
    const auto usual = [&](auto field, const auto& is) {
        const auto found = std::ranges::find(answer.usual, is, field);
        if (found != answer.usual.end()) why = found->says;
    };
    switch (question.kind) {
        case Kind::Number: {
            const auto number = scaled_number(predicted.typed, answer.decimals);
            verdict.right = number == answer.number;
            said = "You said " + (number ? number_text(*number, answer.decimals) : predicted.typed);
            if (number) usual(&Mistake::number, *number);
            break;
        }
        case Kind::Value: {
            const auto number = number_typed(predicted.typed);
            verdict.right = number && same_value(*number, answer.value);
            said = "You said " + predicted.typed;
            for (const Mistake& one : answer.usual)
                if (why.empty() && number && one.value && same_value(*number, *one.value)) why = one.says;
            break;
        }
        case Kind::Bank:
            verdict.right = predicted.bank && answer.all.contains(*predicted.bank);
            if (!predicted.bank) break;
            said = fmt::format("You said bank {}", *predicted.bank);
            usual(&Mistake::all, std::set<uint64_t>{*predicted.bank});
            break;
        case Kind::Elements:
            verdict.right = predicted.cells == answer.all;
            said = partly(predicted.cells, answer.all);
            usual(&Mistake::all, predicted.cells);
            break;
        case Kind::Lanes:
            verdict.right = bits_of(predicted.lanes) == answer.all;
            said = partly(bits_of(predicted.lanes), answer.all);
            usual(&Mistake::all, bits_of(predicted.lanes));
            break;
        case Kind::Choice:
            verdict.right = predicted.choice == answer.number;
            if (!predicted.choice) break;
            said = "You said " + letter(*predicted.choice);
            usual(&Mistake::number, uint64_t{*predicted.choice});
            break;
    }
    verdict.right = verdict.right && verdict.predicted && answer.known;
    const std::string right = answer.words + answer.others;
    verdict.words = verdict.right       ? fmt::format("Right: {}.", right)
                    : verdict.predicted ? fmt::format("{}; it is {}.", said, right)
                                        : fmt::format("It is {}.", right);
    if (verdict.predicted && !verdict.right && answer.known && !why.empty())
        verdict.words.append(" ").append(why);
    return verdict;
}

std::string predict(session::Question& asked, const Question& question, const Scene* scene,
                    std::string_view text) {
    const std::string wrong =
        fmt::format("'{}' is no answer to a question of kind '{}'", text, row_of(question).name);
    if (question.kind == Kind::Number || question.kind == Kind::Value) {
        const bool whole = question.kind == Kind::Number && !question.modelled;
        const bool fits =
            whole ? whole_number(text).has_value() : number_typed(std::string(text)).has_value();
        asked.typed = fits ? text : "";
        return fits ? "" : wrong;
    }
    if (question.kind == Kind::Choice) {
        const size_t choice = text.size() == 1 ? static_cast<size_t>(text[0] - 'A') : SIZE_MAX;
        if (choice >= question.choices.size()) return wrong;
        asked.choice = choice;
        return "";
    }
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (word.empty()) continue;
        if (question.kind == Kind::Elements) {
            if (scene == nullptr || asked.array == trace::kNoArray) return wrong;
            const Array& array = scene->trace.launch.arrays[asked.array];
            const size_t comma = word.find(',');
            const auto row = whole_number(word.substr(0, comma));
            const auto col = comma == std::string_view::npos ? row : whole_number(word.substr(comma + 1));
            if (!row || !col) return wrong;
            const uint64_t element =
                comma == std::string_view::npos ? *row : *row * std::max<uint64_t>(array.cols, 1) + *col;
            if (element >= array.elements()) return wrong;
            asked.cells.insert(element);
            continue;
        }
        const auto number = whole_number(word);
        if (!number || *number >= kWarpSize) return wrong;
        if (question.kind == Kind::Bank)
            asked.bank = static_cast<uint32_t>(*number);
        else
            asked.lanes |= 1u << *number;
    }
    return asked.predicted() ? "" : wrong;
}

}  // namespace tilescope::lessons
