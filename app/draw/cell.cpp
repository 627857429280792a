#include "app/draw/cell.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tilescope::draw {

void reduce_part(const CellLevel& level, CellLevel& above, uint32_t row0, uint32_t row1, uint32_t col0,
                 uint32_t col1) {
    for (uint32_t r = row0 / 2; r < (row1 + 1) / 2; ++r) {
        const Cell* upper = level.cells.data() + size_t{r} * 2 * level.cols;
        const Cell* lower = 2 * r + 1 < level.rows ? upper + level.cols : upper;
        Cell* out = above.cells.data() + size_t{r} * above.cols;
        const size_t end = (col1 + 1) / 2, whole = std::min<size_t>(end, level.cols / 2);
        for (size_t c = col0 / 2; c < whole; ++c)
            out[c].bits = std::max(std::max(upper[2 * c].bits, upper[2 * c + 1].bits),
                                   std::max(lower[2 * c].bits, lower[2 * c + 1].bits));
        if (whole < end)  // an odd last column
            out[whole].bits = std::max(upper[2 * whole].bits, lower[2 * whole].bits);
    }
}

CellLevel reduced(const CellLevel& level) {
    CellLevel above{(level.rows + 1) / 2, (level.cols + 1) / 2, {}};
    above.cells.resize(size_t{above.rows} * above.cols);
    reduce_part(level, above, 0, level.rows, 0, level.cols);
    return above;
}

uint32_t level_for(float pitch) {
    uint32_t level = 0;
    for (; pitch < 1.f && level < 31; ++level) pitch *= 2.f;
    return level;
}

void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads) {
    if (loads.size() != cells.size() ||
        std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) == loads.end())
        return;
    heat_cells(cells, loads, *std::max_element(loads.begin(), loads.end()));
}

void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most) {
    if (loads.size() != cells.size()) return;
    for (size_t i = 0; i < cells.size(); ++i) {
        if (loads[i] == 0) continue;
        const double heat = std::min(255.0 * loads[i] / std::max(most, 1u), 255.0);
        cells[i] = cell(Ink::Heat, static_cast<uint8_t>(std::lround(heat)));
    }
}

}  // namespace tilescope::draw
