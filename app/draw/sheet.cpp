#include "app/draw/sheet.h"

#include <algorithm>
#include <cmath>

namespace tilescope::draw {

CellLevel reduced(const CellLevel& level) {
    CellLevel above{(level.rows + 1) / 2, (level.cols + 1) / 2, {}};
    above.cells.resize(size_t{above.rows} * above.cols);
    for (size_t r = 0; r < above.rows; ++r) {
        const Cell* upper = level.cells.data() + r * 2 * level.cols;
        const Cell* lower = 2 * r + 1 < level.rows ? upper + level.cols : upper;
        Cell* out = above.cells.data() + r * above.cols;
        for (size_t c = 0; c < above.cols; ++c) {
            const size_t left = 2 * c, right = std::min(left + 1, size_t{level.cols} - 1);
            out[c].bits = std::max(std::max(upper[left].bits, upper[right].bits),
                                   std::max(lower[left].bits, lower[right].bits));
        }
    }
    return above;
}

void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most) {
    if (loads.size() != cells.size() || loads.empty()) return;
    if (most == 0) {
        const auto [low, high] = std::minmax_element(loads.begin(), loads.end());
        if (*low == *high) return;
        most = *high;
    }
    for (size_t i = 0; i < cells.size(); ++i) {
        if (loads[i] == 0) continue;
        const double heat = std::min(255.0 * loads[i] / most, 255.0);
        cells[i] = cell(Ink::Heat, static_cast<uint8_t>(std::lround(heat)));
    }
}

std::vector<Cell> sheet_cells(const Array& array, const std::vector<uint32_t>& loads, uint32_t most) {
    std::vector<Cell> by_element(array.elements(), cell(Ink::Cell));
    heat_cells(by_element, loads, most);
    const Sheet sheet(array);
    std::vector<Cell> cells(size_t{sheet.rows} * sheet.cols, cell(Ink::Panel));
    if (cells.size() == by_element.size()) return by_element;  // in the same order
    for (uint64_t element = 0; element < by_element.size(); ++element) {
        const CellRect at = sheet.cell(element);
        cells[size_t{at.row0} * sheet.cols + at.col0] = by_element[element];
    }
    return cells;
}

}  // namespace tilescope::draw
