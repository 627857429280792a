// The field's words, each with what it means and with what shows it: rows of the palette, the glossary, what
// is said where a word is pointed at, and the table of docs/words.md, which a test holds to this one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tilescope::look {

struct Term {
    const char* word;
    const char* means;      // one line
    const char* shown_by;   // an action's name
    const char* more = "";  // what else is to be known
    // What stands for it in a text, parted by strokes: null for the word and its plural, "" for nothing,
    // where a text may mean something else by it ("line 12" of a source). "=cost" stands for it where the
    // text says nothing else, as the head of a column does.
    const char* forms = nullptr;
};
std::span<const Term> terms();

// Where a text says one of them: whole words, the longest where several begin there.
struct SaidTerm {
    const Term* term = nullptr;
    size_t first = 0, end = 0;  // bytes of the text
};
std::vector<SaidTerm> terms_in(std::string_view text);

}  // namespace tilescope::look
