// A block of a product told on a page: a column a phase, a row each for what happens in it.
//
//              phase 0   phase 1   ...   phase 3
//   load       which tiles of M and N come from global memory
//   fill       how many elements are stored to shared memory
//   wait       when each warp comes to the phase's first barrier
//   multiply   what a thread multiplies
//   sum so far how far the sums have come
//
// Of many phases the first ones and the last one, and how many lie between.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/look/cube.h"

namespace tilescope::look {

// A warp on its way to a barrier, as parts of the time from the phase's first step to the last arrival.
struct StoryWait {
    uint32_t warp = 0;
    float arrives = 0;  // 0 to 1
};

struct StoryPhase {
    uint32_t phase = 0;
    CubeBox slab;
    std::array<std::vector<CellRect>, 2> before,
        tile;                            // of M and N: loaded in phases before, and in this one
    std::array<uint64_t, 2> elements{};  // that this phase loads
    uint64_t lane_loads = 0;             // of elements of M and N, in this phase
    uint64_t filled = 0;                 // elements that lanes store to shared memory in it
    std::vector<StoryWait> waits;        // by warp; none without a barrier
    uint64_t mbarrier_waits = 0;         // steps that have waited at a barrier in memory
    uint64_t products = 0;               // where none is told by itself, those of the slab
    uint32_t last_step = 0;              // of the phase: what the sums are taken at
    uint64_t bytes = 0;                  // loaded from global memory so far, by all lanes
    uint64_t bytes_each_twice = 0;       // that as many products take where each loads its two factors
};

struct Story {
    std::vector<StoryPhase> phases;  // those that are shown
    uint32_t all = 0;                // phases of the block
    uint32_t left_out = 0;           // between the last but one and the last that are shown
    bool clocked = false;            // waits are by clocks, else by steps
    bool by_thread = false;          // which thread makes which product is known
    uint64_t threads = 0;
    std::string title, source;
};
// most: columns, at least 2. An Error, one sentence, where there is no product to tell of.
Result<Story> story_of(const analysis::Recording& recording, const BlockIndex& index, const CubeBlock* block,
                       uint32_t most);

}  // namespace tilescope::look
