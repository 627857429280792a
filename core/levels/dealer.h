// Which block runs on which SM in a replay of the memory levels (replay.h), and in which GPC an SM lies.
//
// A GPU recording says it. Otherwise blocks are dealt: GPC by GPC, one to each of its SMs, round and round
// until no SM holds another; then a slot that gets free takes the block with the next number. One GPC is
// dealt to in two halves, the second of which comes more often and is full earlier:
//
//   turn        -        0        1     2     3     4     -        5     ...
//   dealt to    half 0   rest 0   GPC 1 GPC 2 GPC 3 GPC 4 half 0   GPC 5       after five turns, then every six
//
// Source: tests/data/hardware/sms.txt, grids whose blocks say where they are, on an H200.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/levels/replay.h"

namespace tilescope::analysis {

class BlockDealer {
public:
    BlockDealer(const LevelLaunch& launch, uint32_t gpcs);  // keeps a reference

    struct DealtBlock {
        uint32_t sm = 0;
        uint64_t block = 0;
    };
    // The blocks with which the launch begins, in the order in which SMs get them. most: that an SM holds.
    std::vector<DealtBlock> first_blocks(uint32_t most);
    // The block for a slot of an SM that got free; nothing where none is left.
    std::optional<uint64_t> next(uint32_t sm);
    uint32_t gpc_of(uint32_t sm) const { return gpc_of_[sm]; }

private:
    const LevelLaunch& launch_;
    std::vector<uint32_t> gpc_of_;               // by SM
    std::vector<std::vector<uint32_t>> sms_of_;  // by GPC
    std::vector<size_t> taken_;                  // by SM: how many of LevelLaunch::of_sm it has got
    uint64_t next_ = 0;                          // the next block to be dealt
};

}  // namespace tilescope::analysis
