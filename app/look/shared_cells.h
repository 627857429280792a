// What cells of shared memory hold at a step, and where that came from: for the Step screen and lessons.
//
//   Mds at a step of the last phase, k not a multiple of T
//
//     a a a 0      a   an element of M, stored in this phase
//     a a a 0      0   a zero fill: the element lies outside the matrix
//     a a s s      s   stale: stored in an earlier phase
#pragma once

#include <cstdint>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::look {

enum class Origin : uint8_t {
    Element,   // an element of a global array; of a product, stored in the phase that reads it
    ZeroFill,  // a constant zero stood in for an element outside the matrix
    Stale,     // of a product: stored in an earlier phase than the one that reads it
    Computed,  // neither: worked out by the kernel
    Nothing,   // read before anything was stored
};
// Where the value came from that a shared cell holds when it is read at a step.
Origin origin_of(const BlockIndex& index, const playback::CellState& held, uint32_t step);

// An array in shared memory, cell by cell.
struct SharedCellView {
    CellRect place;  // where it lies on the sheet
    playback::CellState held{};
    // Of a product: a zero was stored for an element outside the matrix; the value is stale (Origin).
    bool zero_fill = false, stale = false;
    uint32_t lanes = 0;  // lanes of this step's request that touch it
    // The mark that it is drawn with: none where nothing was stored, nor on a cell that this step touches,
    // which has the colour of its request.
    bool marked_zero() const { return held.written && lanes == 0 && zero_fill; }
    bool marked_stale() const { return held.written && lanes == 0 && stale && !zero_fill; }
};
struct SharedView {
    StepKind kind = StepKind::SharedLoad;  // of the step
    std::vector<SharedCellView> cells;     // row-major, those in sight
};
// replay is null while the block's values are not there yet.
SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step,
                       const CellRect& sight);

}  // namespace tilescope::look
