// How often elements were loaded, of the part of a matrix that the recorded blocks touched: of 8192 x 8192
// elements, 16 blocks touch 64 rows, and only those are kept.
//
//     +------------------+
//     |                  |
//     |##################|  <- box: counts [rows x cols] of it, row-major; all else was never loaded
//     |                  |
//     +------------------+
#pragma once

#include <cstdint>
#include <vector>

#include "app/draw/shown.h"
#include "core/trace/trace.h"

namespace tilescope::look {

struct LoadsWindow {
    draw::CellRect box;
    std::vector<uint32_t> loads;  // empty where nothing was loaded, or the box has more than asked for
    uint32_t most = 0;
};

// array: a global one. most: elements that the box may have.
LoadsWindow loads_window(const trace::Trace& trace, uint8_t array, uint64_t most);

}  // namespace tilescope::look
