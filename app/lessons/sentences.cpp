// Sentences of lessons and their conditions: read, held to a step or to a model, and filled with its numbers.
#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "app/lessons/questions.h"

namespace tilescope::lessons {

Result<Condition> read_condition(std::string_view text, const Modelled* over) {
    Condition condition{.text = std::string(text)};
    const size_t first = text.find(' '), second = text.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos)
        return Error{fmt::format("its condition '{}' is not NAME OP NAME or NAME OP NUMBER", text)};
    const std::string_view left = text.substr(0, first), right = text.substr(second + 1);
    condition.op = text.substr(first + 1, second - first - 1);
    constexpr std::string_view kOps[] = {"=", "!=", "<", "<=", ">", ">="};
    if (std::ranges::find(kOps, condition.op) == std::end(kOps))
        return Error{fmt::format("its condition '{}' compares by none of = != < <= > >=", text)};
    const auto [end, bad] = std::from_chars(right.data(), right.data() + right.size(), condition.number);
    const bool number = bad == std::errc() && end == right.data() + right.size();
    condition.left = left;
    if (!number) condition.right = right;
    const auto known = [&](std::string_view name) {
        return over != nullptr ? number_at(*over, name).has_value() : find_fact(name) != nullptr;
    };
    if (const bool knows_left = known(left); !knows_left || (!number && !known(right)))
        return Error{fmt::format("its condition '{}' names '{}', which is {}", text,
                                 knows_left ? right : left,
                                 over == nullptr ? "no fact" : "none of " + names_of(*over))};
    return condition;
}

namespace {

// value(name): of a step or of a model; none where it has no such thing.
template <class T, class ValueOf>
bool compares(const Condition& condition, ValueOf value) {
    const std::optional<T> left = value(condition.left);
    const std::optional<T> right =
        condition.right.empty() ? static_cast<T>(condition.number) : value(condition.right);
    if (!left || !right) return false;
    if (condition.op == "=") return *left == *right;
    if (condition.op == "!=") return *left != *right;
    if (condition.op == "<") return *left < *right;
    if (condition.op == "<=") return *left <= *right;
    return condition.op == ">" ? *left > *right : *left >= *right;
}

}  // namespace

bool holds(const Condition& condition, Scene& scene) {
    return compares<uint64_t>(condition, [&](std::string_view name) { return number_at(scene, name); });
}

bool holds(const Condition& condition, const Modelled& of) {
    return compares<double>(condition, [&](std::string_view name) { return number_at(of, name); });
}

std::string renamed(std::string_view text, const Notation& notation) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string out;
    while (!text.empty()) {
        const auto end = static_cast<size_t>(std::ranges::find_if_not(text, in_word) - text.begin());
        const std::string_view word = text.substr(0, std::max<size_t>(end, 1));
        const auto other =
            std::ranges::find(notation.renamed, word, &std::pair<std::string, std::string>::first);
        out += other == notation.renamed.end() ? word : other->second;
        text.remove_prefix(word.size());
    }
    return out;
}

std::string filled_in(std::string_view say, const Notation& notation,
                      const std::function<std::string(std::string_view)>& value) {
    std::string out;
    while (true) {
        const size_t open = say.find('{'), close = say.find('}', open);
        if (open == std::string_view::npos || close == std::string_view::npos)
            return out + renamed(say, notation);
        out += renamed(say.substr(0, open), notation);
        const std::string_view name = say.substr(open + 1, close - open - 1);
        const std::string text = value(name);
        out += text.empty() ? say.substr(open, close + 1 - open) : text;
        say.remove_prefix(close + 1);
    }
}

std::string said(Scene& scene, const std::string& say) {
    return filled_in(say, scene.index.notation, [&](std::string_view name) { return filled(scene, name); });
}

}  // namespace tilescope::lessons
