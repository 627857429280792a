#include "app/look/cube_cells.h"

#include <algorithm>
#include <tuple>

namespace tilescope::look {

void append_cells(std::vector<CellRect>& to, const CellRect& rect) {
    if (!to.empty()) {
        CellRect& last = to.back();
        if (last == rect) return;
        if (last.row0 == rect.row0 && last.row1 == rect.row1 && last.col1 == rect.col0) {
            last.col1 = rect.col1;
            return;
        }
        if (last.col0 == rect.col0 && last.col1 == rect.col1 && last.row1 == rect.row0) {
            last.row1 = rect.row1;
            return;
        }
    }
    to.push_back(rect);
}

uint64_t area_of(const std::vector<CellRect>& rects) {
    uint64_t sum = 0;
    for (const CellRect& rect : rects) sum += uint64_t{rect.rows()} * rect.cols();
    return sum;
}

std::vector<CellRect> joined(std::vector<CellRect> rects) {
    constexpr uint64_t kMostCells = 1 << 16;
    if (rects.size() <= 1) return rects;
    CellRect bounds;
    for (const CellRect& rect : rects) bounds.include(rect);
    const uint64_t cells = uint64_t{bounds.rows()} * bounds.cols();
    if (cells > kMostCells) {
        std::ranges::sort(rects, {},
                          [](const CellRect& r) { return std::tuple(r.row0, r.col0, r.row1, r.col1); });
        std::vector<CellRect> made;
        for (const CellRect& rect : rects) append_cells(made, rect);
        return made;
    }
    std::vector<bool> covered(cells, false);
    for (const CellRect& rect : rects)
        for (uint32_t row = rect.row0; row < rect.row1; ++row)
            for (uint32_t col = rect.col0; col < rect.col1; ++col)
                covered[uint64_t{row - bounds.row0} * bounds.cols() + (col - bounds.col0)] = true;
    std::vector<CellRect> made, open;  // open: those that end in the row before
    for (uint32_t row = bounds.row0; row < bounds.row1; ++row) {
        std::vector<CellRect> here;
        for (uint32_t col = bounds.col0; col < bounds.col1;) {
            const auto at = [&](uint32_t c) {
                return covered[uint64_t{row - bounds.row0} * bounds.cols() + (c - bounds.col0)];
            };
            if (!at(col)) {
                ++col;
                continue;
            }
            uint32_t end = col + 1;
            while (end < bounds.col1 && at(end)) ++end;
            here.push_back({row, row + 1, col, end});
            col = end;
        }
        std::vector<CellRect> next;
        for (CellRect& run : here) {
            const auto above = std::ranges::find_if(
                open, [&](const CellRect& r) { return r.col0 == run.col0 && r.col1 == run.col1; });
            if (above != open.end()) {
                run.row0 = above->row0;
                open.erase(above);
            }
            next.push_back(run);
        }
        made.insert(made.end(), open.begin(), open.end());
        open = std::move(next);
    }
    made.insert(made.end(), open.begin(), open.end());
    return made;
}

}  // namespace tilescope::look
