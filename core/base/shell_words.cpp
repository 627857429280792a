#include "core/base/shell_words.h"

#include <utility>

namespace tilescope {

ShellWords shell_words(std::string_view text, Backslash backslash) {
    ShellWords made;
    bool within = false;  // a word
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (made.open == 0 && std::string_view(" \t\n\r\v\f").find(c) != std::string_view::npos) {
            within = false;
            continue;
        }
        const bool last = at + 1 == text.size();
        bool quotes = c == '\\' && backslash != Backslash::Plain && made.open != '\'';
        if (backslash == Backslash::Posix && made.open == '"')
            quotes =
                quotes && !last && std::string_view("\"\\$`\n").find(text[at + 1]) != std::string_view::npos;
        if (quotes && !last && backslash == Backslash::Posix && text[at + 1] == '\n') {
            ++at;
            continue;
        }
        if (quotes && last && backslash == Backslash::Posix) {
            made.open = c;
            return made;
        }
        if (!std::exchange(within, true)) made.words.emplace_back();
        if (quotes && !last)
            made.words.back() += text[++at];
        else if (made.open == 0 && (c == '\'' || c == '"'))
            made.open = c;
        else if (c == made.open)
            made.open = 0;
        else
            made.words.back() += c;
    }
    return made;
}

}  // namespace tilescope
