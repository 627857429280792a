// M left, N above, P in the corner: which cells of the three a step touches, which tile it is in, and
// where the camera looks. The three share rows, columns and the k axis, so they share one camera:
//
//              k | N          rows of M are rows of P, columns of N are columns of P,
//         -------+-----       columns of M and rows of N are both k
//          M     | P
#pragma once

#include <cstdint>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

using look::BlockIndex;
using look::CellRect;
using look::StepKind;

struct HotCell {
    uint32_t row = 0, col = 0;
    uint32_t lanes = 0;  // those of the step's warp that touch it
};

struct MatrixView {
    uint8_t array = trace::kNoArray;
    uint32_t rows = 0, cols = 0;   // of its sheet (look/sheet.h)
    CellRect tile;                 // of this phase
    std::vector<CellRect> beyond;  // where the tile reaches past the matrix: zero filled or out of range
    std::vector<HotCell> touched;  // by this step's request itself
    std::vector<HotCell> related;  // where this step's values came from or go to
    std::vector<HotCell> loaded;   // earlier in this phase
    StepKind kind = StepKind::GlobalLoad;
};

MatrixView matrix_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step);

// Sizes of the viewports, in pixels: M is m_width x row_height, N col_width x n_height.
struct Viewports {
    float m_width = 0, n_height = 0, row_height = 0, col_width = 0;
};
// Cells at the viewports' upper left corners, and the size of a cell in pixels. The k axis starts
// apart in M and in N, whose viewports differ in size; both are moved together.
struct Camera {
    double row = 0, col = 0;
    double m_k = 0, n_k = 0;
    double pitch = 16;
    bool operator==(const Camera&) const = default;
};
// Frames the tiles of the step's phase: all of the matrices where cells stay large enough to read
// (readable, pixels), else the block's tiles with some of what lies around them.
Camera framed(const trace::Trace& trace, const BlockIndex& index, uint32_t step, const Viewports& ports,
              double readable, double largest);

// The same for an array of a launch that is no product, which has a viewport of its own: all of its sheet
// where cells stay readable, else the part.
struct SheetCamera {
    double row = 0, col = 0, pitch = 16;
    bool operator==(const SheetCamera&) const = default;
};
SheetCamera framed_sheet(const MatrixView& sheet, const CellRect& part, float width, float height,
                         double readable, double largest);

}  // namespace tilescope::step
