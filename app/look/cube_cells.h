// Cells of the matrices of a product, as lists of rectangles: what cube.cpp and cube_view.cpp are made with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/look/cube.h"

namespace tilescope::look {

// 0: M, 1: N, 2: P; below 0 for another array.
inline int matrix_of(const CubeShape& shape, uint8_t array) {
    const auto at = std::ranges::find(shape.arrays, array);
    return at == shape.arrays.end() ? -1 : static_cast<int>(at - shape.arrays.begin());
}

// The range of k that cells of M (0) or N (1) lie in; and the same cells in another one.
inline std::pair<uint32_t, uint32_t> k_of(int matrix, const CellRect& cells) {
    return matrix == 0 ? std::pair(cells.col0, cells.col1) : std::pair(cells.row0, cells.row1);
}
inline CellRect with_k(int matrix, CellRect cells, uint32_t k0, uint32_t k1) {
    (matrix == 0 ? cells.col0 : cells.row0) = k0;
    (matrix == 0 ? cells.col1 : cells.row1) = k1;
    return cells;
}

// Adds a rectangle that continues the last one, or stands for itself.
void append_cells(std::vector<CellRect>& to, const CellRect& rect);
// Rectangles that together cover the same cells, fewer of them where neighbours join.
std::vector<CellRect> joined(std::vector<CellRect> rects);
uint64_t area_of(const std::vector<CellRect>& rects);

}  // namespace tilescope::look
