// How long a launch takes at least, by each resource, from what its blocks ask of the memory levels and what
// the replay of them found (replay.h). What each bound is made of: docs/model.md.
#pragma once

#include <cstdint>
#include <vector>

#include "core/levels/levels.h"

namespace tilescope::analysis {

// Whether the blocks of an SM, which begin together, stay so from barrier to barrier: where it has few warps
// at once, none of them holds up the other, and all of them wait for their data at the same times. Where it
// has many, blocks drift apart. Source: tests/data/hardware/steps.txt, on an H200 and an H100; between 16 and
// 32 warps nothing was measured.
bool blocks_in_step(uint64_t warps_at_once);

// Blocks that ask as much as each other of something.
struct AmountOfBlocks {
    double amount = 0;
    uint64_t blocks = 0;
};
// What some SM is asked for at least, whichever SMs the blocks are put on: of the i * sms + 1 blocks that ask
// for most, some SM runs at least i + 1, and these ask for no less than the last i + 1 of them.
double least_of_busiest(std::vector<AmountOfBlocks> blocks, uint32_t sms);

// Works out Levels::bounds from the rest. first: the first block, which stands for all in how they wait.
void add_bounds(const LevelDevice& on, const BlockWork& first, Levels& levels);

}  // namespace tilescope::analysis
