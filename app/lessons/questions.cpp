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

namespace tilescope::lessons {
namespace {

using Json = JsonFields::Json;
using Kind = Question::Kind;
using session::Hide;

constexpr std::string_view kValues[] = {"first", "last", "sum"}, kLanes[] = {"active", "idle"};

// What a number counts, and what a screen must not show while it is asked for. A fact that is not here is
// said as a plain number, and numbers are hidden.
constexpr uint8_t kCost = Hide::Lines | Hide::Numbers, kMask = Hide::Lanes | Hide::Elements | kCost,
                  kCells = Hide::Values | Hide::Elements | Hide::Numbers,
                  kModel = static_cast<uint8_t>(Hide::Numbers);
struct Noun {
    std::string_view fact, noun;
    uint8_t hidden;
};
constexpr Noun kNouns[] = {
    {"sectors", "sector", kCost},
    {"least_sectors", "sector", kCost},
    {"fetched", "byte", kCost},
    {"used", "byte", kCost},
    {"wavefronts", "wavefront", kCost},
    {"least_wavefronts", "wavefront", kCost},
    {"words", "word", kCost},
    {"banks", "bank", kCost},
    {"bank", "", kCost},
    {"touched", "element", Hide::Elements | kCost},
    {"row_words", "word", kCost},
    {"lanes", "lane", kMask},
    {"idle", "lane", kMask},
    {"outside_by_row", "lane", kMask},
    {"outside_by_column", "lane", kMask},
    {"warps", "warp", static_cast<uint8_t>(Hide::Waits | Hide::Numbers)},
    {"warps_here", "warp", static_cast<uint8_t>(Hide::Waits | Hide::Numbers)},
    {"still_reading", "warp", static_cast<uint8_t>(Hide::Waits | Hide::Numbers)},
    {"arrived", "warp", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"awaited", "warp", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"first_warp", "", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"last_warp", "", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"first_wait", "clock", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"orders", "order", Hide::Lines | Hide::Waits | Hide::Numbers},
    {"unfilled", "cell", kCells},
    {"stale", "cell", kCells},
    {"zeros", "cell", kCells},
    {"stale_read", "cell", kCells},
    {"overwritten", "cell", kCells},
    {"wrong", "element", Hide::Result | Hide::Numbers},
    {"elements", "element", static_cast<uint8_t>(Hide::Numbers)},
    {"loads", "load", static_cast<uint8_t>(Hide::Numbers)},
    {"least_loads", "load", static_cast<uint8_t>(Hide::Numbers)},
    {"most_loads", "load", static_cast<uint8_t>(Hide::Numbers)},
    {"load_sectors", "sector", static_cast<uint8_t>(Hide::Numbers)},
    {"least_load_sectors", "sector", static_cast<uint8_t>(Hide::Numbers)},
    {"shared_reads", "read", static_cast<uint8_t>(Hide::Numbers)},
    {"copied", "load", static_cast<uint8_t>(Hide::Numbers)},
    {"lane_bytes", "byte", kCost},
    {"read_meanwhile", "request", static_cast<uint8_t>(Hide::Numbers)},
    {"threads", "thread", static_cast<uint8_t>(Hide::Numbers)},
    {"blocks", "block", static_cast<uint8_t>(Hide::Numbers)},
    {"phases", "phase", static_cast<uint8_t>(Hide::Numbers)},
    {"barriers", "barrier", static_cast<uint8_t>(Hide::Numbers)},
    // Of figures and of the Limits screen's cases.
    {"needed_warps", "warp", kModel},
    {"cycles_between_loads", "cycle", kModel},
    {"busy_percent", "%", kModel},
    {"most_blocks", "block", kModel},
    {"least_blocks", "block", kModel},
    {"sms_with_most", "SM", kModel},
    {"sms_with_least", "SM", kModel},
    {"waves", "wave", kModel},
    {"divergent_warps", "warp", kModel},
    {"warps_of_block", "warp", kModel},
    {"idle_lanes", "turn", kModel},
    {"bursts", "burst", kModel},
    {"brought_bytes", "byte", kModel},
    {"used_bytes", "byte", kModel},
    {"used_percent", "%", kModel},
    {"trips", "trip", kModel},
    {"tile_bytes", "byte", kModel},
    {"kinds_of_memory", "kind", kModel},
    {"warps_arrived", "warp", kModel},
    {"warps_on_the_way", "warp", kModel},
    {"best_threads", "thread", kModel},
    {"giga_operands", "G operands/s", kModel},
    {"bound_gflops", "GFLOP/s", kModel},
    {"untiled_gflops", "GFLOP/s", kModel},
    {"memory_gbs", "GB/s", kModel},
    {"peak_gflops", "GFLOP/s", kModel},
    {"peak_percent", "%", kModel},
    {"untiled_percent", "%", kModel},
    {"intensity", "FLOP/B", kModel},
    {"sm_blocks", "block", kModel},
    {"sm_threads", "thread", kModel},
    {"sm_warps", "warp", kModel},
    {"hardware_blocks", "block", kModel},
    {"hardware_threads", "thread", kModel},
    {"by_threads", "block", kModel},
    {"by_block_slots", "block", kModel},
    {"by_registers", "block", kModel},
    {"by_shared", "block", kModel},
    {"block_registers", "register", kModel},
    {"device_registers", "register", kModel},
    {"registers_a_thread_at_most", "register", kModel},
    {"shared_a_block_at_most", "byte", kModel},
    {"shared_bytes", "byte", kModel},
    {"best_threads_a_block", "thread", kModel},
    {"share_percent", "%", kModel},
    {"lost_percent", "%", kModel},
    {"grid_blocks", "block", kModel},
    {"grid_threads", "thread", kModel},
    {"idle_threads", "thread", kModel},
    {"diverging_warps", "warp", kModel},
    {"idle_warps", "warp", kModel},
    {"warps_a_block", "warp", kModel},
    {"threads_of_last_warp", "thread", kModel},
    {"warps_that_hide", "warp", kModel},
};

uint8_t hidden_by_fact(std::string_view name) {
    const auto found = std::ranges::find(kNouns, name, &Noun::fact);
    return found == std::end(kNouns) ? static_cast<uint8_t>(Hide::Numbers) : found->hidden;
}

// A unit stands behind any number as it is, a noun is counted.
std::string number_words(std::string_view name, uint64_t number, int decimals = 0) {
    const auto found = std::ranges::find(kNouns, name, &Noun::fact);
    const std::string_view noun = found == std::end(kNouns) ? "" : found->noun;
    const bool unit = noun == "%" || noun == "FLOP/B" || noun.starts_with('G');
    if (noun.empty() || unit || decimals > 0)
        return number_text(number, decimals) + (noun.empty() ? "" : fmt::format(" {}", noun));
    return counted(number, noun);
}

std::string letter(size_t choice) { return std::string(1, static_cast<char>('A' + choice)); }

// "x", "x and y", "x, y and z"; of many the first few, "and 12 more".
template <class Names>
std::string listed(const std::set<uint64_t>& all, Names name_of) {
    constexpr size_t kMost = 4;
    std::string text;
    size_t at = 0;
    for (const uint64_t one : all) {
        if (all.size() > kMost && at == kMost - 1) return text + fmt::format(" and {} more", all.size() - at);
        text += at == 0 ? "" : at + 1 == all.size() ? " and " : ", ";
        text += name_of(one);
        ++at;
    }
    return text;
}

std::set<uint64_t> elements_of(const Scene& scene) {
    std::set<uint64_t> elements;
    look::for_elements(scene.trace, trace::decode(scene.trace, scene.index.first + scene.step),
                       [&](uint32_t, uint64_t element) { elements.insert(element); });
    return elements;
}

void answer_value(const Question& question, Scene& scene, Answer& answer) {
    const playback::BlockReplay* const replay = replay_of(scene);
    const uint64_t at = scene.index.first + scene.step;
    const uint32_t mask = scene.trace.form_of(at).mask;
    if (replay == nullptr || mask == 0) return;
    const bool last = question.answer == "last";
    const auto lane = static_cast<uint32_t>(last ? 31 - std::countl_zero(mask) : std::countr_zero(mask));
    if (question.answer == "sum") {
        const auto sum = replay->running_sum(scene.trace.warp_of(at) * kWarpSize + lane, scene.step);
        if (!sum) return;
        answer.value = *sum;
    } else {
        if (look::kind_of(scene.trace, at) == StepKind::Barrier) return;
        answer.value = replay->value(scene.step, lane);
    }
    answer.known = true;
    answer.words = short_value(answer.value);
}

void answer_lanes(const Question& question, const Scene& scene, Answer& answer) {
    const uint64_t at = scene.index.first + scene.step;
    const uint32_t mask = scene.trace.form_of(at).mask;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
        if ((mask >> lane & 1) == (question.answer == "active" ? 1 : 0)) answer.all.insert(lane);
    answer.known = !answer.all.empty();
    answer.words = counted(answer.all.size(), "lane");
}

void answer_bank(const Scene& scene, Answer& answer) {
    const draw::RequestView request = look::request_view(scene.trace, scene.index, scene.step);
    size_t most = 0;
    for (const auto& bank : request.banks) most = std::max(most, bank.size());
    for (size_t bank = 0; most > 0 && bank < request.banks.size(); ++bank)
        if (request.banks[bank].size() == most) answer.all.insert(bank);
    answer.known = !answer.all.empty();
    if (!answer.known) return;
    answer.words = fmt::format("bank {}", *answer.all.begin());
    if (answer.all.size() > 1)
        answer.others = fmt::format(", or {} as full", counted(answer.all.size() - 1, "other"));
}

void answer_choice(const Question& question, Scene& scene, Answer& answer) {
    size_t hold = 0;
    for (size_t at = 0; at < question.choices.size(); ++at) {
        if (!holds(question.choices[at].when, scene)) continue;
        ++hold;
        answer.number = at;
    }
    answer.known = hold == 1;
    if (answer.known)
        answer.words =
            fmt::format("{}, {}", letter(answer.number), said(scene, question.choices[answer.number].say));
}

void answer_number(const Question& question, Scene& scene, Answer& answer) {
    const Fact* const fact = find_fact(question.answer);
    const auto number = fact == nullptr ? std::nullopt : fact->at(scene);
    if (!number) return;
    const bool phase = question.answer == "phase" || question.answer == "last_phase";
    answer.known = true;
    answer.number = *number + (phase && scene.index.notation.phases_from_1 ? 1 : 0);
    answer.words = number_words(question.answer, answer.number);
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

std::optional<double> number_typed(const std::string& text) {
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

std::set<uint64_t> bits_of(uint32_t mask) {
    std::set<uint64_t> all;
    for_lanes(mask, [&](uint32_t lane) { all.insert(lane); });
    return all;
}

}  // namespace

Question read_question(const Json& json, const Modelled* over, std::string& problem) {
    Question question;
    JsonFields fields(json, problem);
    std::string kind;
    fields.text("kind", kind);
    const auto at = std::ranges::find(kQuestionKinds, kind);
    if (at == std::end(kQuestionKinds))
        fields.fail("kind");
    else
        question.kind = static_cast<Kind>(at - kQuestionKinds);
    if (problem.empty() && over != nullptr && question.kind != Kind::Number && question.kind != Kind::Choice)
        problem = fmt::format("its question of kind '{}' is for stops on a recording", kind);
    read_text(fields, "question", question.text, problem);
    if (json.contains("why")) read_text(fields, "why", question.why, problem);
    const auto one_of = [&](std::span<const std::string_view> names) {
        read_text(fields, "answer", question.answer, problem);
        if (problem.empty() && std::ranges::find(names, question.answer) == names.end())
            problem =
                fmt::format("its answer '{}' is none of a question of kind '{}'", question.answer, kind);
    };
    if (question.kind == Kind::Number) {
        read_text(fields, "answer", question.answer, problem);
        const bool known = over != nullptr ? number_at(*over, question.answer).has_value()
                                           : find_fact(question.answer) != nullptr;
        if (problem.empty() && !known)
            problem = fmt::format("its answer '{}' is {}", question.answer,
                                  over == nullptr ? "no fact" : "none of " + names_of(*over));
        question.fraction = over != nullptr;
    }
    if (question.kind == Kind::Value) one_of(kValues);
    if (question.kind == Kind::Lanes) one_of(kLanes);
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
    const bool answers =
        question.kind == Kind::Number || question.kind == Kind::Value || question.kind == Kind::Lanes;
    for (const auto& field : json.items()) {
        const std::string& key = field.key();
        const bool known = key == "kind" || key == "question" || key == "why" ||
                           (key == "answer" && answers) ||
                           (key == "choices" && question.kind == Kind::Choice);
        if (problem.empty() && !known)
            problem = fmt::format("the field '{}' of its question means nothing", key);
    }
    return question;
}

Answer answer_of(const Question& question, Scene& scene) {
    Answer answer;
    if (scene.step >= scene.index.steps) return answer;
    const uint8_t array = scene.trace.form_of(scene.index.first + scene.step).array;
    switch (question.kind) {
        case Kind::Number:
            answer_number(question, scene, answer);
            break;
        case Kind::Value:
            answer_value(question, scene, answer);
            break;
        case Kind::Bank:
            answer_bank(scene, answer);
            break;
        case Kind::Elements:
            if (array == trace::kNoArray) break;
            answer.all = elements_of(scene);
            answer.known = !answer.all.empty();
            answer.words = counted(answer.all.size(), "element");
            answer.others = ": " + listed(answer.all, [&](uint64_t element) {
                                return element_name(scene.trace.launch.arrays[array],
                                                    static_cast<int64_t>(element), scene.index.notation);
                            });
            break;
        case Kind::Lanes:
            answer_lanes(question, scene, answer);
            break;
        case Kind::Choice:
            answer_choice(question, scene, answer);
            break;
    }
    return answer;
}

Answer answer_of(const Question& question, const Modelled& of) {
    Answer answer;
    if (question.kind == Kind::Choice) {
        size_t hold = 0;
        for (size_t at = 0; at < question.choices.size(); ++at) {
            if (!holds(question.choices[at].when, of)) continue;
            ++hold;
            answer.number = at;
        }
        answer.known = hold == 1;
        if (answer.known)
            answer.words =
                fmt::format("{}, {}", letter(answer.number), said(of, question.choices[answer.number].say));
        return answer;
    }
    const auto number = std::ranges::find(of.numbers, question.answer, &Modelled::Number::name);
    if (number == of.numbers.end()) return answer;
    answer.known = true;
    answer.number = number->value;
    answer.decimals = number->decimals;
    answer.words = number_words(question.answer, number->value, number->decimals);
    return answer;
}

uint8_t hidden_by(const Question& question) {
    switch (question.kind) {
        case Kind::Number:
            return hidden_by_fact(question.answer);
        case Kind::Value:
            return Hide::Values | Hide::Numbers;
        case Kind::Bank:
            return kCost;
        case Kind::Elements:
            return Hide::Elements | kCost;
        case Kind::Lanes:
            return kMask;
        case Kind::Choice:
            break;
    }
    uint8_t hidden = 0;
    for (const Question::Choice& choice : question.choices) {
        if (!choice.when.left_name.empty()) hidden = static_cast<uint8_t>(hidden | kModel);
        for (const Fact* fact : {choice.when.left, choice.when.right})
            if (fact != nullptr) hidden = static_cast<uint8_t>(hidden | hidden_by_fact(fact->name));
    }
    return hidden;
}

session::Question opened(const Question& question, const Scene* scene) {
    using Takes = session::Question::Takes;
    constexpr Takes kTakes[] = {Takes::Typed, Takes::Typed, Takes::Bank,
                                Takes::Cells, Takes::Lanes, Takes::Choice};  // by Kind
    session::Question open;
    open.open = true;
    open.hidden = hidden_by(question);
    open.takes = kTakes[static_cast<size_t>(question.kind)];
    if (scene == nullptr) return open;
    const uint64_t at = scene->index.first + scene->step;
    open.array = scene->trace.form_of(at).array;
    open.warp = scene->trace.warp_of(at);
    return open;
}

Verdict judged(const Question& question, const Answer& answer, const session::Question& predicted) {
    Verdict verdict;
    verdict.predicted = predicted.predicted();
    std::string said;  // by the one who predicts, where it is not right
    switch (question.kind) {
        case Kind::Number: {
            const auto number = scaled_number(predicted.typed, answer.decimals);
            verdict.right = number == answer.number;
            said = "You said " + (number ? number_text(*number, answer.decimals) : predicted.typed);
            break;
        }
        case Kind::Value: {
            const auto number = number_typed(predicted.typed);
            verdict.right = number && same_value(*number, answer.value);
            said = "You said " + predicted.typed;
            break;
        }
        case Kind::Bank:
            verdict.right = predicted.bank && answer.all.contains(*predicted.bank);
            if (predicted.bank) said = fmt::format("You said bank {}", *predicted.bank);
            break;
        case Kind::Elements:
            verdict.right = predicted.cells == answer.all;
            said = partly(predicted.cells, answer.all);
            break;
        case Kind::Lanes:
            verdict.right = bits_of(predicted.lanes) == answer.all;
            said = partly(bits_of(predicted.lanes), answer.all);
            break;
        case Kind::Choice:
            verdict.right = predicted.choice == answer.number;
            if (predicted.choice) said = "You said " + letter(*predicted.choice);
            break;
    }
    verdict.right = verdict.right && verdict.predicted && answer.known;
    const std::string right = answer.words + answer.others;
    verdict.words = verdict.right       ? fmt::format("Right: {}.", right)
                    : verdict.predicted ? fmt::format("{}; it is {}.", said, right)
                                        : fmt::format("It is {}.", right);
    return verdict;
}

std::string predict(session::Question& asked, const Question& question, const Scene* scene,
                    std::string_view text) {
    const std::string wrong = fmt::format("'{}' is no answer to a question of kind '{}'", text,
                                          kQuestionKinds[static_cast<size_t>(question.kind)]);
    if (question.kind == Kind::Number || question.kind == Kind::Value) {
        const bool whole = question.kind == Kind::Number && !question.fraction;
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
