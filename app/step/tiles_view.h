// The block itself: its tiles in shared memory, cell by cell, and its threads, warp by warp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

using look::BlockIndex;
using look::StepKind;

struct SharedCellView {
    bool written = false;
    bool zero_fill = false;  // a constant was stored: the element lies outside the matrix
    bool stale = false;      // stored in an earlier phase than that of the step
    uint32_t lanes = 0;      // of this step's request that touch it
    std::string value;       // "-9", "" where never stored or not known yet
    std::string source;      // "M[1,19]", "0" for a zero fill, "" where there is none
    uint32_t reads = 0;      // lane loads since it was stored
};

struct SharedView {
    uint8_t array = trace::kNoArray;
    uint32_t rows = 0, cols = 0;           // of its sheet
    StepKind kind = StepKind::SharedLoad;  // of the step
    std::vector<SharedCellView> cells;     // row-major
};

// replay null: where lanes touch is shown, values are not.
SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step);

enum class ThreadState : uint8_t {
    Other,   // of another warp
    Idle,    // of the step's warp, switched off
    Active,  // of the step's warp, and part of its request
};

struct ThreadView {
    ThreadState state = ThreadState::Other;
    uint32_t warp = 0, lane = 0;
    bool has_output = false;  // it stores to a global array
};

struct ThreadsView {
    uint32_t rows = 0, cols = 0;  // block.y (times z), block.x
    uint32_t warp = 0;            // of the step
    StepKind kind = StepKind::GlobalLoad;
    std::vector<ThreadView> threads;  // by linear number
};
ThreadsView threads_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::step
