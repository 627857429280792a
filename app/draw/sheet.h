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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "app/draw/theme.h"
#include "core/base/launch.h"

namespace tilescope::draw {

enum class CellPattern : uint8_t {
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
constexpr Cell cell(Ink ink, uint8_t strength = 255, CellPattern pattern = CellPattern::None) {
    return {static_cast<uint16_t>(static_cast<unsigned>(ink) << 11 | static_cast<unsigned>(strength) << 3 |
                                  static_cast<unsigned>(pattern))};
}

// What a shared cell holds where that is no element of this phase: what the legend calls the mark on it, and
// what that looks like (zero_sign() and stale_notch() in ui.h draw them).
struct CellMark {
    const char *means, *looks;
};
inline constexpr CellMark kZeroMark{"zero fill", "a diagonal stroke"},
    kStaleMark{"stale value", "a notch in the corner"};

struct CellLevel {
    uint32_t rows = 0, cols = 0;
    std::vector<Cell> cells;  // [rows * cols], row-major
};

// The level above: half the size, rounded up, each cell the loudest of up to four.
CellLevel reduced(const CellLevel& level);

// The level to draw at `pitch` pixels a cell: the first whose cells are at least a pixel wide.
inline uint32_t level_for(float pitch) {
    return static_cast<uint32_t>(std::clamp(std::ceil(-std::log2(pitch)), 0.f, 31.f));
}

// Colours cells by how often their element was loaded, on a scale up to `most`; elements never loaded stay
// plain. most 0: the most often loaded one is hottest, and where all are loaded alike, of which the colour
// would say nothing, the cells stay plain.
void heat_cells(std::vector<Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most = 0);

// A rectangle of cells of a matrix, half open: rows [row0, row1), columns [col0, col1).
struct CellRect {
    uint32_t row0 = 0, row1 = 0, col0 = 0, col1 = 0;
    bool empty() const { return row0 >= row1 || col0 >= col1; }
    uint32_t rows() const { return empty() ? 0 : row1 - row0; }
    uint32_t cols() const { return empty() ? 0 : col1 - col0; }
    bool contains(uint32_t row, uint32_t col) const {
        return row >= row0 && row < row1 && col >= col0 && col < col1;
    }
    void include(uint32_t row, uint32_t col) { include(CellRect{row, row + 1, col, col + 1}); }
    void include(const CellRect& b) {
        if (b.empty()) return;
        *this = empty() ? b
                        : CellRect{std::min(row0, b.row0), std::max(row1, b.row1), std::min(col0, b.col0),
                                   std::max(col1, b.col1)};
    }
    bool operator==(const CellRect&) const = default;
};

// How the elements of an array lie on the screen: rows and columns of cells.
//
//   two dimensions      as they are
//   one                 wrapped at 32 elements, a warp's width; so is an array of structs, whole structs to a row
//   three               a slice beside the other, a cell's gap between them:
//
//     +-----+ +-----+
//     |  0  | |  1  |
//     +-----+ +-----+
//     +-----+
//     |  2  |
//     +-----+
class Sheet {
public:
    explicit Sheet(const Array& array)
        : elements_(array.elements()), width_(std::max<uint64_t>(array.cols, 1)) {
        if (array.rank == 3) {
            height_ = std::max<uint64_t>(array.rows, 1);
            gap_ = 1;
            // As many beside each other as make the whole about as wide as high.
            const double slices = std::max(array.slices, 1u);
            const double aspect = static_cast<double>(height_ + gap_) / static_cast<double>(width_ + gap_);
            across_ = static_cast<uint64_t>(std::clamp(std::round(std::sqrt(slices * aspect)), 1.0, slices));
        } else {
            wrapped = array.rank == 1 || (array.rank == 2 && array.members.of && width_ <= kWrap / 2);
            if (array.rank == 2 && wrapped) width_ = std::min<uint64_t>(array.rows, kWrap / width_) * width_;
            if (array.rank == 1) width_ = std::min(width_, kWrap);
            height_ = std::max<uint64_t>((elements_ + width_ - 1) / width_, 1);
        }
        const uint64_t slices = std::max<uint64_t>(elements_ / (height_ * width_), 1);
        rows = static_cast<uint32_t>((slices + across_ - 1) / across_ * (height_ + gap_) - gap_);
        cols = static_cast<uint32_t>(across_ * (width_ + gap_) - gap_);
    }

    uint32_t rows = 0, cols = 0;
    bool wrapped = false;  // its rows are no rows of the array

    uint64_t slice(uint64_t element) const { return gap_ == 0 ? 0 : element / (height_ * width_); }

    CellRect cell(uint64_t element) const {
        const uint64_t slice = this->slice(element);
        const uint64_t at = element - slice * height_ * width_;
        const auto row = static_cast<uint32_t>(slice / across_ * (height_ + gap_) + at / width_);
        const auto col = static_cast<uint32_t>(slice % across_ * (width_ + gap_) + at % width_);
        return {row, row + 1, col, col + 1};
    }

    // nothing between slices and behind the last element.
    std::optional<uint64_t> element(uint32_t row, uint32_t col) const {
        const uint64_t slice = row / (height_ + gap_) * across_ + col / (width_ + gap_);
        const uint64_t in_row = row % (height_ + gap_), in_col = col % (width_ + gap_);
        if (row >= rows || col >= cols || in_row == height_ || in_col == width_) return {};
        const uint64_t at = (slice * height_ + in_row) * width_ + in_col;
        return at < elements_ ? std::optional(at) : std::nullopt;
    }

private:
    static constexpr uint64_t kWrap = 32;
    uint64_t elements_ = 0;
    uint64_t width_ = 1, height_ = 1;  // cells of a slice
    uint64_t across_ = 1, gap_ = 0;    // slices beside each other, cells between them
};

inline CellRect cell_on_sheet(const Array& array, uint64_t element) { return Sheet(array).cell(element); }

// One cell an element, coloured by how often it was loaded (heat_cells); loads: by element, or empty.
std::vector<Cell> sheet_cells(const Array& array, const std::vector<uint32_t>& loads, uint32_t most = 0);

}  // namespace tilescope::draw
