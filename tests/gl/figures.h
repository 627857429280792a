// For app_figures_test.cpp: texts held against patterns, and names as a notation has them.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/trace/trace.h"

namespace tilescope::test {

// --- patterns: a whole text, in which
//
//   #      is a whole number: 12, 1,224         ~    a figure with its unit: -4, 2.5, 18.5 µs, 1.05 M
//   @      a word without spaces                *    anything, also nothing
//   {a|b}  one of these                         (s)  an s, unless what was captured last is 1
//   ^      once, twice, 16 times
//
// Captures are what stands for all but (s), in their order; for ^ the number.
using Captures = std::vector<std::string>;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool has_digit(std::string_view text) { return std::ranges::any_of(text, is_digit); }

inline constexpr std::pair<std::string_view, double> kUnits[] = {
    {" ns", 1e-9}, {" µs", 1e-6}, {" ms", 1e-3}, {" KiB", 1024}, {" MiB", 1048576}, {" GiB", 1073741824.0},
    {" kB", 1e3},  {" MB", 1e6},  {" GB", 1e9},  {" TB", 1e12},  {" B", 1},         {" bytes", 1},
    {" byte", 1},  {" k", 1e3},   {" M", 1e6},   {" G", 1e9}};

// Where a number that begins a text ends: with its groups of three, and without.
inline std::pair<size_t, size_t> ends_of_number(std::string_view t) {
    size_t plain = 0;
    while (plain < t.size() && is_digit(t[plain])) ++plain;
    size_t grouped = plain;
    const auto group_at = [&](size_t at) {
        return at + 3 < t.size() && t[at] == ',' && is_digit(t[at + 1]) && is_digit(t[at + 2]) &&
               is_digit(t[at + 3]) && (at + 4 >= t.size() || !is_digit(t[at + 4]));
    };
    while (plain >= 1 && plain <= 3 && group_at(grouped)) grouped += 4;
    return {grouped, plain};
}

inline bool match(std::string_view p, std::string_view t, Captures& found) {
    if (p.empty()) return t.empty();
    const auto stands_for = [&](size_t pattern, size_t length) {
        const size_t before = found.size();
        found.emplace_back(t.substr(0, length));
        if (match(p.substr(pattern), t.substr(length), found)) return true;
        found.resize(before);
        return false;
    };
    if (p.starts_with("(s)")) {
        const bool plural = found.empty() || found.back() != "1";
        return plural ? t.starts_with('s') && match(p.substr(3), t.substr(1), found)
                      : !t.starts_with('s') && match(p.substr(3), t, found);
    }
    if (p[0] == '^') {
        for (const auto& [word, number] : {std::pair("once", "1"), {"twice", "2"}})
            if (t.starts_with(word)) {
                found.emplace_back(number);
                if (match(p.substr(1), t.substr(std::string_view(word).size()), found)) return true;
                found.pop_back();
            }
        const size_t end = ends_of_number(t).first;
        if (end == 0 || !t.substr(end).starts_with(" times")) return false;
        found.emplace_back(t.substr(0, end));
        if (match(p.substr(1), t.substr(end + std::size(" times") - 1), found)) return true;
        found.pop_back();
        return false;
    }
    if (p[0] == '#') {
        const auto [grouped, plain] = ends_of_number(t);
        return plain > 0 && (stands_for(1, grouped) || (plain != grouped && stands_for(1, plain)));
    }
    if (p[0] == '~') {
        constexpr std::string_view kMinus = "−";
        const size_t sign = t.starts_with('-') ? 1 : t.starts_with(kMinus) ? kMinus.size() : 0;
        size_t end = ends_of_number(t.substr(sign)).first + sign;
        if (end == sign) return false;
        if (end + 1 < t.size() && t[end] == '.' && is_digit(t[end + 1]))
            for (++end; end < t.size() && is_digit(t[end]);) ++end;
        for (const auto& [unit, factor] : kUnits)
            if (t.substr(end).starts_with(unit) && stands_for(1, end + unit.size())) return true;
        return stands_for(1, end);
    }
    if (p[0] == '@') {
        for (size_t end = std::min(t.find(' '), t.size()); end > 0; --end)
            if (stands_for(1, end)) return true;
        return false;
    }
    if (p[0] == '*') {
        for (size_t end = 0; end <= t.size(); ++end)
            if (stands_for(1, end)) return true;
        return false;
    }
    if (p[0] == '{') {
        const size_t close = p.find('}');
        for (std::string_view rest = p.substr(1, close - 1);;) {
            const size_t bar = std::min(rest.find('|'), rest.size());
            if (t.starts_with(rest.substr(0, bar)) && stands_for(close + 1, bar)) return true;
            if (bar == rest.size()) return false;
            rest.remove_prefix(bar + 1);
        }
    }
    return t.starts_with(p[0]) && match(p.substr(1), t.substr(1), found);
}

// What a text must say in one place: a count, a figure as it is rounded there, or one of some words. key:
// what it is the number of; a frame that says two numbers for one thing contradicts itself.
struct Figure {
    enum class Kind { Anything, Whole, Near, Words, Condition } kind = Kind::Anything;
    uint64_t whole = 0;
    double near = 0;
    std::vector<std::string> words{};
    std::string key{};

    Figure() = default;
    template <std::integral T>
    Figure(T count, std::string of = "")
        : kind(Kind::Whole), whole(static_cast<uint64_t>(count)), key(std::move(of)) {}
    Figure(double value, std::string of = "") : kind(Kind::Near), near(value), key(std::move(of)) {}
    Figure(std::string text) : kind(Kind::Words), words{std::move(text)} {}
    Figure(const char* text) : kind(Kind::Words), words{text} {}
    Figure(std::vector<std::string> any) : kind(Kind::Words), words(std::move(any)) {}
    static Figure condition(bool so) {
        Figure made;
        made.kind = Kind::Condition, made.whole = so ? 1 : 0;
        return made;
    }
};

inline std::string without_groups(std::string text) {
    std::erase(text, ',');
    return text;
}

// "" or what is wrong with what was said.
inline std::string disagrees(const std::string& said, const Figure& right) {
    switch (right.kind) {
        case Figure::Kind::Anything: return "";
        case Figure::Kind::Condition: return right.whole == 1 ? "" : "what it says is not so";
        case Figure::Kind::Whole:
            if (without_groups(said) == std::to_string(right.whole)) return "";
            return fmt::format("'{}' should be {}", said, right.whole);
        case Figure::Kind::Words:
            if (std::ranges::find(right.words, said) != right.words.end()) return "";
            return fmt::format("'{}' should be '{}'", said, right.words.empty() ? "" : right.words[0]);
        case Figure::Kind::Near: {
            const std::string plain = without_groups(said);
            double factor = 1;
            for (const auto& [unit, of] : kUnits)
                if (plain.ends_with(unit)) {
                    factor = of;
                    break;
                }
            const size_t point = plain.find('.');
            size_t digits = 0;
            while (point != std::string::npos && point + 1 + digits < plain.size() &&
                   is_digit(plain[point + 1 + digits]))
                ++digits;
            const double half = 0.5 * std::pow(10, -static_cast<double>(digits)) * factor;
            const double value = std::strtod(plain.c_str(), nullptr) * factor;
            if (std::abs(value - right.near) <= half * 1.001 + 1e-9 * std::abs(right.near)) return "";
            return fmt::format("'{}' should be {:.6g}", said, right.near / factor);
        }
    }
    return "";
}

// --- names, as a notation has them

inline std::string indices_text(std::vector<std::string> outer_first, const Notation& notation) {
    if (notation.x_first) std::ranges::reverse(outer_first);
    std::string text;
    for (const std::string& one : outer_first) text += (text.empty() ? "" : ",") + one;
    return "[" + text + "]";
}
inline std::string array_text(const Array& array, const Notation& notation) {
    for (const auto& [name, other] : notation.renamed)
        if (name == array.name) return other;
    return array.name;
}
inline std::string index_of_element(const Array& array, uint64_t e, const Notation& notation) {
    const uint64_t cols = std::max(array.cols, 1u), rows = std::max(array.rows, 1u);
    std::vector<std::string> indices{std::to_string(array.rank > 1 ? e % cols : e)};
    if (array.rank > 1)
        indices.insert(indices.begin(), std::to_string(array.rank > 2 ? e / cols % rows : e / cols));
    if (array.rank > 2) indices.insert(indices.begin(), std::to_string(e / cols / rows));
    return indices_text(indices, notation);
}
inline std::string element_text(const Array& array, uint64_t e, const Notation& notation) {
    return array_text(array, notation) + index_of_element(array, e, notation);
}
inline std::string thread_index_text(const Dim3& block, uint32_t thread, const Notation& notation) {
    std::vector<std::string> indices{std::to_string(thread % block.x)};
    if (block.y > 1 || block.z > 1)
        indices.insert(indices.begin(), std::to_string(thread / block.x % block.y));
    if (block.z > 1) indices.insert(indices.begin(), std::to_string(thread / block.x / block.y));
    return indices_text(indices, notation);
}
inline std::string size_words(const Dim3& size) {
    return fmt::format("{} × {}", size.x, size.y) + (size.z > 1 ? fmt::format(" × {}", size.z) : "");
}

}  // namespace tilescope::test
