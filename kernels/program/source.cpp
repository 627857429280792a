#include "kernels/program/source.h"

#include "kernels/run/source_text.h"

namespace tilescope::program {

namespace {

using kernels::is_blank;

// Where three brackets end that begin at `at`, with blanks between two of them; `at` if there are no such
// ones.
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

// Where the closing brackets of a launch begin whose configuration begins at `at`; npos where none do. code:
// the text without comments and literals.
size_t closing(std::string_view text, std::string_view code, size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        const char c = code[at];
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
    }
    return std::string_view::npos;
}

}  // namespace

bool has_main(std::string_view source) {
    const std::string code = kernels::code_of(source);
    for (size_t at = kernels::find_word(code, "main"); at != std::string::npos;
         at = kernels::find_word(code, "main", at + 1)) {
        const std::string_view rest = kernels::trimmed(std::string_view(code).substr(at + 4));
        if (rest.starts_with('(')) return true;
    }
    return false;
}

std::optional<std::string> with_whole_brackets(std::string_view source) {
    std::string text(source);
    const std::string code = kernels::code_of(source);
    bool mended = false;
    for (size_t at = 0; at < text.size();) {
        const bool whole = code.compare(at, 3, "<<<") == 0;
        const size_t open = code[at] != '<' ? at : whole ? at + 3 : behind_split(text, at, '<');
        if (open == at) {
            ++at;
            continue;
        }
        // "operator<< <int>" is C++, and has no closing brackets.
        if (const size_t close = closing(text, code, open); close != std::string::npos) {
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
