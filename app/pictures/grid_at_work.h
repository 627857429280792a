// The grid at work as a picture (look/grid_at_work.h): left the grid, a cell a block; right the SMs, a column
// each, with a bar for each block; a line where the moment is.
//
//   grid, a cell a block        SMs, a column each; a bar a block
//   +--------------------+      +------------------------------+
//   |########@@@@@@......|      | || ## || || @@ ..            |
//   |....................|      | || ## @@ @@ @@ ..  --- now   |
//   +--------------------+      | @@ @@ ..                     |
//     # done  @ running  . waits
#pragma once

#include <optional>

#include "app/draw/ui.h"
#include "app/look/grid_at_work.h"

namespace tilescope::pictures {

// What is marked, beside the moment.
struct GridMarked {
    std::optional<uint64_t> selected, hovered;  // blocks
    double now = 0;                             // of the grid's time, 0 to 1
};
// The time of a moment.
inline uint64_t time_at(const look::GridAtWork& grid, double now) {
    return static_cast<uint64_t>(now * static_cast<double>(grid.end));
}

// Each draws into a rectangle and returns the block under the mouse.
std::optional<uint64_t> grid_cells(draw::Ui& ui, const draw::Rect& rect, const look::GridAtWork& grid,
                                   const GridMarked& marked, const Notation& notation);
struct SmPointed {
    std::optional<uint64_t> block;
    std::optional<double> now;  // the moment at the mouse, where it is over the columns
};
SmPointed sm_columns(draw::Ui& ui, const draw::Rect& rect, const look::GridAtWork& grid,
                     const GridMarked& marked);

// The states and what they look like, on one line from `at` on. Returns the width of it.
float grid_legend(draw::Ui& ui, ImVec2 at, bool drawn = true);

// Where the cells of a grid lie: columns and rows of cells, and how many blocks a cell stands for on each side.
struct CellPlan {
    uint32_t cols = 1, rows = 1;  // of blocks
    bool wraps = false;           // blocks lie in the order of their numbers, line after line
    uint32_t merged = 1;          // blocks on a side of a cell
    float pitch = 1;              // pixels a cell
};
CellPlan cell_plan(const Dim3& grid, uint64_t shown, float width, float height, float least);

}  // namespace tilescope::pictures
