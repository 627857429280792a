#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

namespace tilescope {
namespace {

constexpr std::string_view kReplacement = "\uFFFD", kEllipsis = "\u2026";

struct Character {
    uint32_t code;
    size_t bytes;
    bool valid;
};

// The first character of a text that is not empty; a byte that begins none is one by itself.
Character first_of(std::string_view text) {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(text[at]); };
    const uint8_t lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
    uint32_t code = lead & (0x7Fu >> bytes);
    for (size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xC0) != 0x80) return {lead, 1, false};
        code = code << 6 | (byte(at) & 0x3Fu);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {lead, 1, false};
    return {code, bytes, true};
}

bool is_control(uint32_t code) {
    constexpr std::pair<uint32_t, uint32_t> kControls[] = {
        {0, 0x1F},          // C0
        {0x7F, 0x9F},       // DEL, C1
        {0x61C, 0x61C},     // Arabic letter mark
        {0x200B, 0x200B},   // zero width space
        {0x200E, 0x200F},   // marks of direction
        {0x2028, 0x202E},   // separators of lines and paragraphs, embeddings and overrides of direction
        {0x2060, 0x2069},   // word joiner, invisible operators, isolates of direction
        {0xFEFF, 0xFEFF},   // zero width no-break space
        {0xE0000, 0xE007F}  // tags
    };
    return std::ranges::any_of(kControls,
                               [&](const auto& of) { return code >= of.first && code <= of.second; });
}

// Passes each character on to `add`, with its code; those that are no UTF-8 as U+FFFD.
template <class Add>
void each_character(std::string_view text, const Add& add) {
    while (!text.empty()) {
        const Character first = first_of(text);
        add(first.valid ? first.code : 0xFFFD, first.valid ? text.substr(0, first.bytes) : kReplacement);
        text.remove_prefix(first.bytes);
    }
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

// keep(code): a control that stays.
template <class Keep>
std::string without_controls(std::string_view text, const Keep& keep) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto plain =
            static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        if (text.starts_with("\r\n")) {
            out += "\r\n";
            text.remove_prefix(2);
            continue;
        }
        const Character first = first_of(text);
        const bool stays = first.valid && (!is_control(first.code) || keep(first.code));
        out += stays ? text.substr(0, first.bytes) : kReplacement;
        text.remove_prefix(first.bytes);
    }
    return out;
}

std::string on_one_line(std::string_view text) {
    std::string out =
        without_controls(text, [](uint32_t code) { return code == '\n' || code == '\r' || code == '\t'; });
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return out;
}

// The longest end of at most `bytes` bytes that begins with a character.
std::string_view end_of(std::string_view text, size_t bytes) {
    size_t at = text.size() - std::min(bytes, text.size());
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
    return text.substr(at);
}

bool is_number(std::string_view text) {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!text.starts_with('.') && (text.empty() || text[0] < '0' || text[0] > '9')) return false;
    return real_number(text).has_value();
}

// What a spreadsheet takes for a formula, also behind blanks and in the wide forms of the characters.
bool is_formula(std::string_view text) {
    if (is_number(text)) return false;
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return false;
    const std::string_view begin = text.substr(first);
    for (const std::string_view sign :
         {"=", "+", "-", "@", "\t", "\r", "\n", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"})
        if (begin.starts_with(sign)) return true;
    return false;
}

}  // namespace

std::optional<double> real_number(std::string_view text) {
    // What strtod takes besides: blanks and a plus in front, and hexadecimal digits.
    if (text.empty() || text[0] == '+' || std::isspace(static_cast<unsigned char>(text[0])) ||
        text.find_first_of("xX") != std::string_view::npos)
        return std::nullopt;
    const std::string whole(text);
    char* end = nullptr;
    errno = 0;
    const double value = std::strtod(whole.c_str(), &end);
    const bool fits = errno != ERANGE || (value != 0 && !std::isinf(value));  // a subnormal one does
    if (!fits || end != whole.c_str() + whole.size()) return std::nullopt;
    return value;
}

std::string_view beginning_of(std::string_view text, size_t bytes) {
    if (text.size() <= bytes) return text;
    // A character has at most four bytes; in bytes that are no UTF-8 any place will do.
    for (size_t back = 0; back < std::min<size_t>(4, bytes + 1); ++back)
        if ((static_cast<uint8_t>(text[bytes - back]) & 0xC0) != 0x80) return text.substr(0, bytes - back);
    return text.substr(0, bytes);
}

std::string printable(std::string_view text) {
    return without_controls(text, [](uint32_t code) { return code == '\n' || code == '\t'; });
}

std::string shortened(std::string_view text, size_t bytes) {
    const std::string_view begin = beginning_of(text, bytes);
    return std::string(begin).append(begin.size() < text.size() ? kEllipsis : "");
}

std::string one_line(std::string_view text, size_t most) { return on_one_line(shortened(text, most)); }

std::string one_sentence(std::string_view text, size_t most) {
    if (text.size() <= most) return on_one_line(text);
    return on_one_line(beginning_of(text, most / 2)) + " \u2026 " + on_one_line(end_of(text, most / 2));
}

std::string csv_cell(std::string_view text) {
    const std::string kept =
        without_controls(text, [](uint32_t code) { return code == '\n' || code == '\r' || code == '\t'; });
    // Where the computer's language writes numbers with a comma, spreadsheets begin a cell at a semicolon.
    std::string cell;
    for (std::string_view rest = kept;;) {
        const size_t end = std::min(rest.find(';'), rest.size());
        if (is_formula(rest)) cell += "'";
        cell += rest.substr(0, std::min(end + 1, rest.size()));
        if (end == rest.size()) break;
        rest.remove_prefix(end + 1);
    }
    if (cell.find_first_of(",;\"\t\r\n") == std::string::npos) return cell;
    std::string out = "\"";
    for (const char c : cell) out.append(c == '"' ? 2 : 1, c);
    return out + "\"";
}

std::string markdown_code(std::string_view text) {
    if (text.empty()) return "";
    const std::string line = on_one_line(text);
    // The span is fenced by one more backtick than stand together anywhere in it.
    size_t longest = 0, run = 0;
    for (const char c : line) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
    const std::string fence(longest + 1, '`'), space = longest > 0 ? " " : "";
    std::string out = fence + space;
    for (const char c : line) out.append(c == '|' ? "\\" : "").append(1, c);
    return out + space + fence;
}

std::string escaped_controls(const std::string& json) {
    std::string out;
    size_t done = 0;
    for (size_t at = 0; (at = json.find_first_of("\x7F\xC2\xE2", at)) != std::string::npos; ++at) {
        const Character first = first_of(std::string_view(json).substr(at));
        if (!is_control(first.code)) continue;
        out.append(json, done, at - done).append(fmt::format("\\u{:04x}", first.code));
        done = at + first.bytes;
    }
    return done == 0 ? json : out.append(json, done);
}

std::string xml_text(std::string_view text) {
    std::string out;
    each_character(text, [&](uint32_t code, std::string_view character) {
        if (code == '<' || code == '>' || code == '&' || code == '"')
            out += code == '<' ? "&lt;" : code == '>' ? "&gt;" : code == '&' ? "&amp;" : "&quot;";
        else
            out += is_control(code) || code == 0xFFFE || code == 0xFFFF ? kReplacement : character;
    });
    return out;
}

}  // namespace tilescope
