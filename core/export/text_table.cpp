#include "core/export/text_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace tilescope::report {

namespace {

size_t columns(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void TextTable::add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = one_line(cell);
    rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
    std::vector<size_t> width(rows_[0].size(), 0);
    for (const auto& row : rows_)
        for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], columns(row[c]));
    std::string out;
    for (const auto& row : rows_) {
        std::string line = " ";
        for (size_t c = 0; c < row.size(); ++c) {
            const std::string pad(width[c] - columns(row[c]), ' ');
            line += c < left_ ? fmt::format(" {}{} ", row[c], pad) : fmt::format(" {}{} ", pad, row[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

}  // namespace tilescope::report
