// How long a launch takes at least, by each resource, from what its blocks ask of the memory levels and what
// the replay of them found (core/levels/replay.h). What each bound is made of: docs/model.md.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/run/levels.h"

namespace tilescope::kernels {

// Blocks that ask as much as each other of something.
struct AmountOfBlocks {
    double amount = 0;
    uint64_t blocks = 0;
};
// What some SM is asked for at least, whichever SMs the blocks are put on: of the i * sms + 1 blocks that ask
// for most, some SM runs at least i + 1, and these ask for no less than the last i + 1 of them.
double least_of_busiest(std::vector<AmountOfBlocks> blocks, uint32_t sms);

// Works out Levels::bounds and what they consist of, from all else.
// first: the first block, which stands for all in how they wait for each other.
void add_bounds(const LevelDevice& on, const analysis::BlockWork& first, Levels& levels);

}  // namespace tilescope::kernels
