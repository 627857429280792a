// A window of blocks picked out of a launch, and what recording it takes: out of 8192 x 8192 elements nobody
// records all 262,144 blocks.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::input {

// Cut to a grid of x by y blocks; at least one block where the grid has one.
BlockWindow clipped(BlockWindow window, uint32_t x, uint32_t y);
uint64_t blocks_of(const BlockWindow& window, uint32_t x, uint32_t y);

// "x 3:7, y 0:4", half open as `tilescope record --blocks` takes it.
std::string window_text(const BlockWindow& window);

// The window between two points of an overview that is width x height large; in any order, whole blocks.
BlockWindow dragged(double x0, double y0, double x1, double y1, double width, double height, uint32_t grid_x,
                    uint32_t grid_y);

// Moves by whole blocks and stays inside the grid.
BlockWindow moved(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y);

// Requests and barriers of one whole block: first + each * k, taken from two small recordings of the kernel's
// block made on the spot. An estimate: blocks at a ragged edge take fewer.
struct BlockSteps {
    double first = 0, each = 0;  // each: per column of M
    uint64_t of(uint32_t k) const;
};
Result<BlockSteps> block_steps(const std::string& kernel, uint32_t tile);

}  // namespace tilescope::input
