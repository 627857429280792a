// What just happened, in one sentence, as a lecturer would say it while pointing.
//
//   Warp 0 loads rows 0 and 1 of the M tile: 32 lanes, 4 sectors.
//   Warp 3 arrives at the barrier: 4 of 8 warps have arrived; the block waits for the others.
#pragma once

#include <string>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

using look::BlockIndex;
using look::CellRect;
using look::StepKind;

// replay: null while the block's values are not there yet.
std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step);

// What a newcomer presses next, by where playback stands.
std::string hint(const BlockIndex& index, uint32_t step, bool playing);

}  // namespace tilescope::step
