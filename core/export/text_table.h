// Rows of cells under headings, for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/words.h"

namespace tilescope::report {

// In a table of numbers the groups of digits stand apart by a thin space.
inline std::string spaced(uint64_t number) { return grouped(number, kThinSpace); }
inline std::string spaced(uint64_t number, std::string_view noun) {
    return counted(number, noun, kThinSpace);
}

// The first `left` columns to the left, numbers to the right. Cells are UTF-8: a thin space between groups
// of digits is three bytes and one column. Text from files may stand in them: each is made one line.
class TextTable {
public:
    TextTable(size_t left, std::vector<std::string> headings) : left_(left), rows_{std::move(headings)} {}
    void add(std::vector<std::string> row);  // no more cells than headings
    std::string text() const;

private:
    size_t left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace tilescope::report
