#include "app/draw/shown.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilescope::draw {

const char* words_of(StepKind kind) {
    switch (kind) {
        case StepKind::GlobalLoad:
            return "global load";
        case StepKind::GlobalStore:
            return "global store";
        case StepKind::SharedLoad:
            return "shared load";
        case StepKind::SharedStore:
            return "shared store";
        case StepKind::Barrier:
            return "waits at a barrier";
    }
    return "";
}

void CellRect::include(uint32_t row, uint32_t col) { include(CellRect{row, row + 1, col, col + 1}); }

void CellRect::include(const CellRect& other) {
    if (other.empty()) return;
    if (empty()) {
        *this = other;
        return;
    }
    row0 = std::min(row0, other.row0);
    row1 = std::max(row1, other.row1);
    col0 = std::min(col0, other.col0);
    col1 = std::max(col1, other.col1);
}

}  // namespace tilescope::draw
