#include "app/draw/cell.h"

#include <algorithm>

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

}  // namespace tilescope::draw
