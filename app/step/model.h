// What the Step screen shows of a step, worked out without a window: the caption, the source, the cells of an
// array and where a camera looks, the cells of shared memory, the threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

using look::BlockIndex;
using look::CellRect;
using look::StepKind;

// What just happened, in one sentence, as a lecturer would say it while pointing.
//
//   Warp 0 loads rows 0 and 1 of the M tile: 32 lanes, 4 sectors.
//   Warp 3 arrives at the barrier: 4 of 8 warps have arrived; the block waits for the others.
//
// Here and below, replay is null while the block's values are not there yet.
std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step);

// What a newcomer presses next, by where playback stands.
std::string hint(const BlockIndex& index, uint32_t step, bool playing);

// The kernel's text with, beside each line, how often its requests ran.
struct SourceLine {
    uint32_t number = 0;                   // from 1
    std::string_view text;                 // of the trace's source: valid as long as the trace
    bool has_site = false;                 // holds a memory access or barrier
    bool current = false;                  // of the step at the cursor
    StepKind kind = StepKind::GlobalLoad;  // of that step
    uint64_t hits = 0;                     // requests and barrier arrivals of the block so far
};
struct SourceView {
    std::string name;  // "tiled.cu"
    std::vector<SourceLine> lines;
    int32_t current = -1;  // index into lines
    std::string footnote;  // the PTX line of the site: "tiled.t16.ptx:83  ld.global.f32 %f1, [%rd5];"
};
SourceView source_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// Which cells of an array a step touches, and which tile it is in.
struct MatrixView {
    uint8_t array = trace::kNoArray;
    uint32_t rows = 0, cols = 0;    // of its sheet (draw/sheet.h)
    CellRect tile;                  // of this phase
    std::vector<CellRect> frames;   // the same slice by slice
    std::vector<CellRect> beyond;   // where the tile reaches past the matrix: zero filled or out of range
    std::vector<CellRect> touched;  // by this step's request itself
    std::vector<CellRect> related;  // where this step's values came from or go to
    std::vector<CellRect> loaded;   // earlier in this phase
    StepKind kind = StepKind::GlobalLoad;
};
MatrixView matrix_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step);

// Cells at the viewports' upper left corners, and the size of a cell in logical pixels. M left, N above and P
// in the corner share rows, columns and the k axis, so they share one camera; the k axis starts apart in M
// and in N, whose viewports differ in size, and both are moved together:
//
//              k | N          rows of M are rows of P, columns of N are columns of P,
//         -------+-----       columns of M and rows of N are both k
//          M     | P
//
// An array of a launch that is no product has a camera of its own: row, col and pitch.
struct Camera {
    double row = 0, col = 0;
    double m_k = 0, n_k = 0;
    double pitch = 16;
    bool operator==(const Camera&) const = default;
};
// Sizes of the viewports: M is m_width x row_height, N col_width x n_height.
struct Viewports {
    float m_width = 0, n_height = 0, row_height = 0, col_width = 0;
};
// Frames the tiles of the step's phase: all of the matrices where cells stay large enough to read
// (readable, pixels), else the block's tiles with some of what lies around them.
Camera framed(const trace::Trace& trace, const BlockIndex& index, uint32_t step, const Viewports& ports,
              double readable, double largest);
// The same for an array of its own: all of its sheet where cells stay readable, else what the block touches
// of it in the step's phase, or at all where that is nothing.
Camera framed_array(const trace::Trace& trace, const BlockIndex& index, uint32_t step, uint8_t array,
                    float width, float height, double readable, double largest);

// An array in shared memory, cell by cell.
struct SharedCellView {
    uint32_t row = 0, col = 0;  // of the sheet
    playback::CellState held{};
    // Of a product: a constant was stored, as the element lies outside the matrix; stored in an earlier phase
    // than that of the step.
    bool zero_fill = false, stale = false;
    uint32_t lanes = 0;  // of this step's request that touch it
};
struct SharedView {
    StepKind kind = StepKind::SharedLoad;  // of the step
    std::vector<SharedCellView> cells;     // row-major, those in sight
};
SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step,
                       const CellRect& sight);
// The latest cells of a shared array that were touched up to a step; empty where that is long ago.
CellRect touched_last(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step);

// Where a cell's value came from: "M[1,19]", "zero", "computed".
std::string source_text(const trace::Trace& trace, const SharedCellView& cell, const Notation& notation);

// The threads of a block lie as an array's elements do (draw/sheet.h): a block of one row wraps at a warp,
// one with depth is drawn slice by slice.
enum class ThreadState : uint8_t {
    Other,   // of another warp
    Idle,    // of the step's warp, switched off
    Active,  // of the step's warp, and part of its request
};
struct ThreadView {
    ThreadState state = ThreadState::Other;
    bool has_output = false;  // it stores to a global array
    CellRect cell;            // of the sheet
};
struct ThreadsView {
    uint32_t rows = 0, cols = 0;  // of the sheet
    StepKind kind = StepKind::GlobalLoad;
    std::vector<ThreadView> threads;  // by linear number
};
ThreadsView threads_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::step
