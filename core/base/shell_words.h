// Words as a POSIX shell takes a text apart, but by no shell: nothing is expanded.
//
// Source: POSIX.1-2017, Shell Command Language, 2.2 (quoting).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope {

enum class Backslash : uint8_t {
    Plain,   // a character like any other
    Quotes,  // quotes the character behind it, but within '...'
    Posix,   // as Quotes; within "..." it quotes only " \ $ ` and a line end. Quoted line ends are left out
};

struct ShellWords {
    std::vector<std::string> words;
    char open = 0;  // the quote that is not closed, or a backslash with nothing behind it; 0 for neither
};

// Words between blanks and line ends, out of their quotes: '...' or "...".
ShellWords shell_words(std::string_view text, Backslash backslash);

}  // namespace tilescope
