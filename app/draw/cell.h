// What one cell of a grid looks like, in 16 bits, and the pyramid that keeps loud cells in sight.
//
//   15        11 10             3 2       0
//   +-----------+----------------+---------+    the order of importance is the order of the bits, so
//   |    ink    |    strength    | pattern |    the louder of two cells is the greater number
//   +-----------+----------------+---------+
//
// A level of the pyramid has half the rows and columns of the one below it, rounded up, and each of its
// cells is the maximum of up to four:
//
//   1 0 0 0 0           1 0 0
//   0 0 0 7 0     ->    0 7 0     ->    7 0     ->    7
//   0 0 0 0 0           0 0 0           0 0
//
// so that, drawn at one pixel a cell, a single hot cell is a pixel at any zoom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app/draw/theme.h"

namespace tilescope::draw {

enum class Pattern : uint8_t {
    None,
    Hatch,  // diagonal lines: inactive, outside
    Dots,   // stale: left over from before
    Cross,  // fault
};

// strength: the position on the heat ramp for Ink::Heat; for every other ink how much of its colour
// covers Ink::Cell (255: all of it).
struct Cell {
    uint16_t bits = static_cast<uint16_t>(static_cast<unsigned>(Ink::Cell) << 11 | 255u << 3);
    bool operator==(const Cell&) const = default;
};
constexpr Cell cell(Ink ink, uint8_t strength = 255, Pattern pattern = Pattern::None) {
    return {static_cast<uint16_t>(static_cast<unsigned>(ink) << 11 | static_cast<unsigned>(strength) << 3 |
                                  static_cast<unsigned>(pattern))};
}

struct CellLevel {
    uint32_t rows = 0, cols = 0;
    std::vector<Cell> cells;  // [rows * cols], row-major
};

// The level above: half the size, rounded up, each cell the loudest of up to four.
CellLevel reduced(const CellLevel& level);
// The same for the cells above rows [row0, row1) and columns [col0, col1) of `level` only.
void reduce_part(const CellLevel& level, CellLevel& above, uint32_t row0, uint32_t row1, uint32_t col0,
                 uint32_t col1);

// The level to draw at `pitch` pixels a cell: the first whose cells are at least a pixel wide.
uint32_t level_for(float pitch);

// Colours cells by how often their element was loaded, the most often loaded one hottest. Where all
// are loaded alike the colour would say nothing: the cells stay plain.
void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads);
// On a scale up to `most`, whether all are loaded alike or not; elements never loaded stay plain.
void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most);

}  // namespace tilescope::draw
