#include "kernels/program/source.h"

#include <algorithm>
#include <map>

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

using kernels::is_word;

// What has to be put before places of a source, by place.
using Insertions = std::map<size_t, char>;

// "%laneid" in a template, which clang reads as an operand with a modifier: the percent that it wants doubled.
void add_percents(std::string_view source, std::string_view code, size_t at, size_t end, Insertions& made) {
    for (; at < end; ++at) {
        if (source[at] != '%' || code[at] != ' ') continue;
        size_t behind = at + 1;
        while (behind < end && is_word(source[behind]) && (source[behind] < '0' || source[behind] > '9'))
            ++behind;
        const bool modifier =
            behind == at + 2 && behind < end && source[behind] >= '0' && source[behind] <= '9';
        if (behind > at + 1 && !modifier) made[at] = '%';
        if (source[at + 1] == '%') ++at;
    }
}

// Of the asm statement whose parenthesis opens at `open`. One without operands is taken as it stands.
void add_asm(std::string_view source, std::string_view code, size_t open, Insertions& made) {
    int depth = 0;
    size_t colon = std::string_view::npos;
    Insertions commas;
    for (size_t at = open; at < code.size() && code[at] != ';' && code[at] != '{'; ++at) {
        if (code[at] == '(') ++depth;
        if (code[at] == ':' && depth == 1) colon = std::min(colon, at);
        if (code[at] != ')') continue;
        if (--depth == 0) {
            if (colon == std::string_view::npos) return;
            add_percents(source, code, open, colon, made);
            made.insert(commas.begin(), commas.end());
            return;
        }
        // Between `"r"(a)` and `"l"(b)`, whose strings are blank in `code`.
        const size_t next = code.find_first_not_of(" \t\n\\", at + 1);
        if (depth == 1 && colon < at && next != std::string_view::npos && code[next] == '(')
            commas[at + 1] = ',';
    }
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

std::optional<std::string> as_nvcc_reads_it(std::string_view source) {
    const std::string code = kernels::code_of(source);
    Insertions made;
    for (const std::string_view word : {"asm", "__asm", "__asm__"})
        for (size_t at = kernels::find_word(code, word); at != std::string::npos;
             at = kernels::find_word(code, word, at + 1)) {
            size_t open = at + word.size();
            for (const std::string_view qualifier : {"__volatile__", "__volatile", "volatile"}) {
                const size_t next = code.find_first_not_of(" \t\n", open);
                if (next != std::string::npos && code.compare(next, qualifier.size(), qualifier) == 0)
                    open = next + qualifier.size();
            }
            open = code.find_first_not_of(" \t\n", open);
            if (open != std::string::npos && code[open] == '(') add_asm(source, code, open, made);
        }
    // extern "C"__global__: with no blank between, C++ reads a literal with a suffix.
    for (const std::string_view word : {"__global__", "__device__", "__host__"})
        for (size_t at = kernels::find_word(code, word); at != std::string::npos;
             at = kernels::find_word(code, word, at + 1))
            if (at > 0 && source[at - 1] == '"') made[at] = ' ';
    if (made.empty()) return std::nullopt;
    std::string text;
    size_t from = 0;
    for (const auto& [at, what] : made) {
        text.append(source.substr(from, at - from)) += what;
        from = at;
    }
    return text.append(source.substr(from));
}

}  // namespace tilescope::program
