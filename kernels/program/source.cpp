#include "kernels/program/source.h"

#include <cctype>

namespace tilescope::program {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Where the comment or string that begins at `at` ends; `at` where none begins.
size_t behind_quoted(std::string_view text, size_t at) {
    const std::string_view rest = text.substr(at);
    const auto behind = [&](std::string_view end, size_t from) {
        const size_t found = text.find(end, from);
        return found == std::string_view::npos ? text.size() : found + end.size();
    };
    if (rest.substr(0, 2) == "//") return behind("\n", at);
    if (rest.substr(0, 2) == "/*") return behind("*/", at + 2);
    // A ' between digits separates thousands.
    if (rest[0] != '"' && (rest[0] != '\'' || (at > 0 && is_word(text[at - 1])))) return at;
    for (size_t c = at + 1; c < text.size(); ++c)
        if (text[c] == '\\')
            ++c;
        else if (text[c] == rest[0] || text[c] == '\n')
            return c + 1;
    return text.size();
}

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Where three brackets end that begin at `at`, with blanks between two of them; `at` where they do not, or
// stand in one piece.
size_t behind_split(std::string_view text, size_t at, char bracket) {
    size_t next = at;
    int seen = 0;
    while (next < text.size() && seen < 3) {
        if (text[next] == bracket)
            ++seen;
        else if (text[next] != ' ' && text[next] != '\t')
            return at;
        ++next;
    }
    return seen == 3 && next > at + 3 ? next : at;
}

void join(std::string& text, size_t at, size_t end, char bracket) {
    for (size_t c = at; c < end; ++c) text[c] = c < at + 3 ? bracket : ' ';
}

// Where the closing brackets of a launch begin whose configuration begins at `at`; npos where none do.
size_t closing(std::string_view text, size_t at) {
    int depth = 0;
    while (at < text.size()) {
        if (const size_t behind = behind_quoted(text, at); behind > at) {
            at = behind;
            continue;
        }
        const char c = text[at];
        if (c == ';' || c == '{') return std::string_view::npos;
        if (c == '(') ++depth;
        if (c == ')' && --depth < 0) return std::string_view::npos;
        if (c == '>' && depth == 0) {
            const bool whole = text.substr(at, 3) == ">>>";
            size_t end = whole ? at + 3 : behind_split(text, at, '>');
            if (end > at) {
                while (end < text.size() && is_blank(text[end])) ++end;
                if (end < text.size() && text[end] == '(') return at;
            }
        }
        ++at;
    }
    return std::string_view::npos;
}

}  // namespace

bool has_main(std::string_view source) {
    for (size_t at = 0; at < source.size();) {
        if (const size_t behind = behind_quoted(source, at); behind > at) {
            at = behind;
            continue;
        }
        if (source.substr(at, 4) == "main" && (at == 0 || !is_word(source[at - 1]))) {
            size_t next = at + 4;
            while (next < source.size() && std::isspace(static_cast<unsigned char>(source[next]))) ++next;
            if (next < source.size() && source[next] == '(') return true;
        }
        ++at;
    }
    return false;
}

std::optional<std::string> with_whole_brackets(std::string_view source) {
    std::string text(source);
    bool mended = false;
    for (size_t at = 0; at < text.size();) {
        if (const size_t behind = behind_quoted(text, at); behind > at) {
            at = behind;
            continue;
        }
        const bool whole = text.compare(at, 3, "<<<") == 0;
        const size_t open = text[at] != '<' ? at : whole ? at + 3 : behind_split(text, at, '<');
        if (open == at) {
            ++at;
            continue;
        }
        // "operator<< <int>" is C++, and has no closing brackets.
        if (const size_t close = closing(text, open); close != std::string::npos) {
            const size_t end = behind_split(text, close, '>');
            if (!whole) join(text, at, open, '<');
            if (end > close) join(text, close, end, '>');
            mended = mended || !whole || end > close;
        }
        at = open;
    }
    if (!mended) return std::nullopt;
    return text;
}

}  // namespace tilescope::program
