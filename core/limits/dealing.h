// Which block of a grid runs where and when, by a stated rule:
//
//   blocks are dealt in the order of their numbers, each to the SM with the most free slots, of several
//   such SMs to the first; a block stays on its SM, and its slot is free again when it has ended.
//
//   SM 0   [0   ][4      ]          6 blocks, 2 SMs of 2 slots: 0 and 1 go to SM 0 and SM 1, 2 and 3 fill
//          [2      ][5  ]           their second slots, and 4 takes the slot that is free first.
//   SM 1   [1     ]
//          [3          ]
//
// CUDA promises no order (CUDA C++ Programming Guide, "Thread Hierarchy": blocks run in any order); devices
// deal about so while they have free slots. core/levels/dealer.h has what was seen of one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tilescope::analysis {

struct BlockRun {
    uint32_t sm = 0, slot = 0;  // slot: the lowest that was free on the SM
    uint64_t begin = 0, end = 0;
    bool operator==(const BlockRun&) const = default;
};

// By block. lasts: how long a block runs, at least 1. sms and slots are at least 1.
std::vector<BlockRun> deal(uint64_t blocks, uint32_t sms, uint32_t slots,
                           const std::function<uint64_t(uint64_t block)>& lasts);

}  // namespace tilescope::analysis
