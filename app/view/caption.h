// What just happened, in one sentence, as a lecturer would say it while pointing.
//
//   Warp 0 loads rows 0 and 1 of the M tile: 32 lanes, 4 sectors.
//   Warp 3 arrives at the barrier: 4 of 8 warps have arrived; the block waits for the others.
#pragma once

#include <string>

#include "app/view/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::view {

// replay: null while the block's values are not there yet.
std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step);

// "phase 2 (of 0 to 3)", "after the last phase": phases count from 0, as in the literature.
std::string phase_text(const BlockIndex& index, uint32_t step);

// What a newcomer presses next, by where playback stands.
std::string hint(const BlockIndex& index, uint32_t step, bool playing);

}  // namespace tilescope::view
