// What walking through lessons holds sentences to, whatever they stand on.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

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
inline bool holds_again(const lessons::Condition& condition, const std::map<std::string, T>& numbers) {
    const auto value = [&](const std::string& name) -> std::optional<T> {
        if (name.find_first_not_of("0123456789") == std::string::npos)
            return static_cast<T>(std::stoull(name));
        const auto found = numbers.find(name);
        return found == numbers.end() ? std::nullopt : std::optional(found->second);
    };
    std::istringstream words(condition.text);
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
// The same, and one off.
inline session::Question wrong_prediction(const lessons::Question& question, session::Question predicted) {
    if (!predicted.typed.empty()) predicted.typed += "1";
    if (!predicted.cells.empty()) predicted.cells.insert(*predicted.cells.rbegin() + 1);
    predicted.lanes ^= predicted.lanes != 0 ? 1u << 31 : 0;
    if (predicted.bank) predicted.bank = (*predicted.bank + 1) % 32;
    if (predicted.choice) predicted.choice = (*predicted.choice + 1) % question.choices.size();
    return predicted;
}

inline std::string text_of(const Complaints& wrong) {
    std::string all;
    for (const std::string& one : wrong) all += "\n  " + one;
    return all;
}

}  // namespace tilescope::app
