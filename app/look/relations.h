// What a selection lights up elsewhere: one selection, seen by every panel.
//
//   element of P    its thread, its row of M, its column of N
//   element of M, N the threads that loaded it in this block, the shared cell it went to
//   shared cell     its source element, the thread that stored it
//   thread          the element of P that it computes, and so on
//   warp            its 32 threads and their elements
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/look/block_index.h"
#include "app/look/pick.h"
#include "core/playback/replay.h"

namespace tilescope::look {

struct Relations {
    std::vector<std::pair<uint8_t, CellRect>> cells;  // array, cells
    std::vector<uint32_t> threads;                    // of the block
    std::vector<std::string> lines;                   // what to say about it: a headline, then details
    bool empty() const { return lines.empty(); }
    bool has_thread(uint32_t thread) const;
};

Relations relations(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    const Pick& pick, uint32_t step);

}  // namespace tilescope::look
