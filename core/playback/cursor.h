// Where playback stands, and how it moves. A step is one request or barrier of the block.
#pragma once

#include <cstdint>

#include "core/recording/phases.h"
#include "core/trace/trace.h"

namespace tilescope::playback {

struct Cursor {
    uint32_t block = 0;  // index into trace.blocks
    uint32_t step = 0;   // of the block
    bool operator==(const Cursor&) const = default;
};

// The step among those of the whole recording, from 1 on, as people count; the cursor's block is one of the trace's.
inline uint64_t step_number(const trace::Trace& trace, const Cursor& cursor) {
    return trace.blocks[cursor.block].first + cursor.step + 1;
}

enum class Move : uint8_t {
    NextStep,
    PreviousStep,
    NextBarrier,
    PreviousBarrier,  // the next step at which the last warp arrives at a barrier, so that the block goes on
    NextPhase,
    PreviousPhase,  // the first step of the next phase; of this phase, or of the one before if already there
    NextBlock,
    PreviousBlock,
    First,
    Last,  // step of the block
};

// Clamped at both ends: a move that leads nowhere returns the cursor as it is. phases: of cursor.block.
Cursor moved(const trace::Trace& trace, const analysis::PhaseMap& phases, Cursor cursor, Move move);

}  // namespace tilescope::playback
