// How the elements of an array lie on the screen: rows and columns of cells.
//
//   two dimensions      as they are
//   one                 wrapped at 32 elements, a warp's width
//   three               a slice beside the other, a cell's gap between them:
//
//     +-----+ +-----+
//     |  0  | |  1  |
//     +-----+ +-----+
//     +-----+
//     |  2  |
//     +-----+
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "app/draw/cell.h"
#include "app/draw/shown.h"
#include "core/base/launch.h"

namespace tilescope::draw {

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
            if (array.rank == 1) width_ = std::min(width_, kWrap);
            height_ = std::max<uint64_t>((elements_ + width_ - 1) / width_, 1);
        }
        const uint64_t slices = std::max<uint64_t>(elements_ / (height_ * width_), 1);
        rows = static_cast<uint32_t>((slices + across_ - 1) / across_ * (height_ + gap_) - gap_);
        cols = static_cast<uint32_t>(across_ * (width_ + gap_) - gap_);
    }

    uint32_t rows = 0, cols = 0;

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
    uint64_t width_ = 1, height_ = 1;  // of a slice
    uint64_t across_ = 1, gap_ = 0;    // slices beside each other, cells between them
};

// One cell an element, coloured by how often it was loaded; loads: by element, or empty. most: the count that
// is hottest; 0: the largest here, and cells stay plain where all are loaded alike.
std::vector<Cell> sheet_cells(const Array& array, const std::vector<uint32_t>& loads, uint32_t most = 0);

inline CellRect cell_on_sheet(const Array& array, uint64_t element) { return Sheet(array).cell(element); }

}  // namespace tilescope::draw
