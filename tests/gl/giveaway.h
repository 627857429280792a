// What of a frame tells the answer of the question that is open: texts that say it, as a number, a word or in
// another form, and marks that lie on exactly the cells that are asked for. Not counted are the question itself,
// code, values in cells, and names of places, "warp 4", "step 4", "4 x 4".
#pragma once

#include <array>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "app/app.h"
#include "app/lessons/asking.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "core/base/text.h"

namespace tilescope::app {

inline bool is_bare_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos;
}
inline uint64_t bare_number(std::string text) {
    std::erase(text, ',');
    return std::strtoull(text.c_str(), nullptr, 10);
}

// The numbers that a text says: 1,024; 4x; 16th; 2.5; once; sixteen.
inline std::set<std::string> numbers_in(const std::string& text) {
    static const std::regex digits(R"((^|[^\w.])(\d{1,3}(,\d{3})+|\d+)(\.\d+)?)");
    static const char* const kWords[] = {"zero",   "one",      "two",      "three",   "four",   "five",
                                         "six",    "seven",    "eight",    "nine",    "ten",    "eleven",
                                         "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    std::set<std::string> numbers;
    for (std::sregex_iterator at(text.begin(), text.end(), digits), end; at != end; ++at) {
        std::string number = (*at)[2].str() + (*at)[4].str();
        std::erase(number, ',');
        numbers.insert(number);
    }
    std::string lower = " " + text + " ";
    for (char& c : lower)
        c = std::isalpha(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : ' ';
    for (size_t number = 0; number < std::size(kWords); ++number)
        if (lower.find(fmt::format(" {} ", kWords[number])) != std::string::npos)
            numbers.insert(std::to_string(number));
    for (const auto& [word, number] :
         {std::pair("once", "1"), {"twice", "2"}, {"thirty two", "32"}, {"sixty four", "64"}})
        if (lower.find(fmt::format(" {} ", word)) != std::string::npos) numbers.insert(number);
    return numbers;
}

// What is left of a text without names of places, registers and extents.
inline std::string without_places(std::string text) {
    static const std::regex places(
        R"((\b(warp|block|phase|step|line|lane|bank|SM|clock)s? ?[(\[]?\d[\d,]*( (and|to) \d[\d,]*)?[)\]]?)|)"
        R"((\w*\[[\d,. ]*\])|(\d+( ?(×|x) ?\d+)+)|(^[\d,]+  \w)|(T ?= ?\d+)|([\d.]+ (steps|clocks)/s)|)"
        R"((%\w+)|(\d+ matrices of)|(sums, to ±\S+))",
        std::regex::icase);
    return std::regex_replace(text, places, " ");
}

class Giveaways {
public:
    Giveaways(const State& state, const lessons::Question& ask, const lessons::RightAnswer& answer)
        : state_(state), ask_(ask) {
        using Kind = lessons::Question::Kind;
        switch (ask.kind) {
            case Kind::Number: number_ = lessons::number_text(answer.number, answer.decimals); break;
            case Kind::Value: number_ = answer.words; break;
            case Kind::Lanes: number_ = std::to_string(answer.all.size()); break;
            case Kind::Bank: texts_ = {answer.words}; break;
            case Kind::Choice: texts_ = {ask.choices[answer.number].say}; break;
            case Kind::Elements: break;
        }
        std::erase(number_, ',');
        if (state.session.question.hides(session::Hide::Result))
            texts_.push_back(look::result_text(state.session.trace()));
        if (ask.kind != Kind::Elements) return;
        for (const uint64_t cell : answer.all) cells_.insert(cell);
        const Array& array = state.session.trace().launch.arrays[state.session.question.array];
        for (const uint64_t cell : answer.all)
            texts_.push_back(element_name(array, static_cast<int64_t>(cell)));
    }

    std::vector<std::string> in(const draw::Inspection& seen) const {
        std::vector<std::string> found;
        for (const draw::Written& text : seen.texts)
            if (const std::string what = told_by(text, seen); !what.empty()) found.push_back(what);
        if (!cells_.empty()) told_by_marks(seen, found);
        return found;
    }

private:
    // A line of the strip: of the question, its choices, or its title.
    bool of_question(const std::string& text) const {
        const lessons::Standing& here = state_.lessons.standing;
        if (here.asks.find(text) != std::string::npos) return true;
        for (const std::string& choice : here.choices)
            if (text.ends_with(choice)) return true;
        const std::string& title = (*state_.lessons.lessons)[state_.lessons.lesson].title;
        return text.starts_with(title);
    }
    std::string_view source() const { return state_.session.trace().meta.source; }
    // Code holds a letter; a count beside it does not.
    bool is_code(const std::string& text) const {
        if (state_.lessons.asked && !state_.session.recording) return false;
        const bool letters = std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c); });
        const trace::Trace& trace = state_.session.trace();
        return letters && text.size() >= 4 &&
               (source().find(trimmed(text)) != std::string::npos ||
                trace.meta.ptx.find(trimmed(text)) != std::string::npos);
    }
    static std::string_view trimmed(std::string_view text) {
        const size_t first = text.find_first_not_of(' ');
        return first == std::string_view::npos ? ""
                                               : text.substr(first, text.find_last_not_of(' ') + 1 - first);
    }
    static bool on_one_row(const draw::Written& a, const draw::Written& b) {
        return std::abs(a.min.y - b.min.y) <= 1.5f;
    }
    // Its place in a row of numbers that count from 0: an axis. A playhead may stand on its 0.
    static bool on_axis(const draw::Written& text, const draw::Inspection& seen) {
        std::set<uint64_t> row;
        for (const draw::Written& other : seen.texts)
            if (on_one_row(text, other) && is_bare_number(other.text)) row.insert(bare_number(other.text));
        if (row.size() < 2 || (!row.contains(0) && row.size() < 4)) return false;
        const uint64_t by = *std::next(row.begin(), row.contains(0)), number = bare_number(text.text);
        if (number == 31 && row.contains(24)) return true;  // of lanes and banks, whose last one is named
        for (uint64_t at = by; at < number; at += by)
            if (!row.contains(at)) return false;
        return number % by == 0 && (number == 0 || row.size() >= 3);
    }
    // The line of the source; none behind the last one.
    std::optional<std::string_view> line_of(uint64_t number) const {
        std::string_view rest = source();
        for (uint64_t line = 1; line < number; ++line) {
            const size_t end = rest.find('\n');
            if (end == std::string_view::npos) return std::nullopt;
            rest.remove_prefix(end + 1);
        }
        return trimmed(rest.substr(0, rest.find('\n')));
    }
    bool has_its_code(const draw::Written& number, const draw::Inspection& seen) const {
        const auto line = line_of(bare_number(number.text));
        return line && std::ranges::any_of(seen.texts, [&](const draw::Written& other) {
                   const std::string_view of = trimmed(other.text);
                   return on_one_row(number, other) && other.min.x > number.min.x && !of.empty() &&
                          line->find(of) != std::string_view::npos;
               });
    }
    // The number of a line: left of its code, or of an empty line in the column of such numbers.
    bool is_line_number(const draw::Written& text, const draw::Inspection& seen) const {
        if (has_its_code(text, seen)) return true;
        const auto line = line_of(bare_number(text.text));
        return line && line->empty() && std::ranges::any_of(seen.texts, [&](const draw::Written& other) {
                   return is_bare_number(other.text) && std::abs(other.max.x - text.max.x) <= 1 &&
                          has_its_code(other, seen);
               });
    }

    std::string told_by(const draw::Written& text, const draw::Inspection& seen) const {
        const std::string& said = text.text;
        if (said.empty() || text.place || of_question(said)) return "";
        const bool recorded = state_.session.recording != nullptr && !ask_.modelled;
        if (recorded && is_code(said)) return "";
        if (said.ends_with("once the question above is answered.")) return "";
        for (const std::string& one : texts_)
            if (!one.empty() && said.find(one) != std::string::npos)
                return fmt::format("'{}' says '{}'", said, one);
        if (number_.empty()) return "";
        if (is_bare_number(said) && (on_axis(text, seen) || (recorded && is_line_number(text, seen))))
            return "";
        if (recorded)
            for (const std::string& name : look::recording_names(*state_.session.recording))
                if (said == name) return "";
        return numbers_in(without_places(said)).contains(number_)
                   ? fmt::format("'{}' says {} at {:.0f}, {:.0f}", said, number_, text.min.x, text.min.y)
                   : "";
    }

    // Marks one by one, and all that look the same together.
    void told_by_marks(const draw::Inspection& seen, std::vector<std::string>& found) const {
        const uint8_t array = state_.session.question.array;
        const draw::Sheet sheet(state_.session.trace().launch.arrays[array]);
        const uint64_t elements = state_.session.trace().launch.arrays[array].elements();
        std::map<std::array<uint32_t, 3>, std::set<uint64_t>> alike;
        for (const auto& [of, mark] : seen.marks) {
            if (of != array) continue;
            std::set<uint64_t> cells;
            const auto row0 = static_cast<uint32_t>(std::lround(mark.row)),
                       col0 = static_cast<uint32_t>(std::lround(mark.col));
            const auto row1 = static_cast<uint32_t>(std::lround(mark.row + mark.rows)),
                       col1 = static_cast<uint32_t>(std::lround(mark.col + mark.cols));
            for (uint32_t row = row0; row < row1; ++row)
                for (uint32_t col = col0; col < col1; ++col)
                    if (const auto element = sheet.element(row, col)) cells.insert(*element);
            if (cells == cells_) found.push_back("a mark lies on exactly the cells that are asked for");
            auto& group = alike[{mark.fill, mark.edge, static_cast<uint32_t>(mark.pattern)}];
            group.insert(cells.begin(), cells.end());
        }
        for (const auto& [look, cells] : alike)
            if (cells == cells_ && cells.size() < elements)
                found.push_back("marks lie on exactly the cells that are asked for");
    }

    const State& state_;
    const lessons::Question& ask_;
    std::string number_;
    std::vector<std::string> texts_;
    std::set<uint64_t> cells_;
};

}  // namespace tilescope::app
