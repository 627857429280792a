// Control flow of a kernel: basic blocks, immediate post-dominators, natural loops.
//
// The interpreter reconverges a diverged warp at the immediate post-dominator of the branch, found as if
// threads that leave early, by a return in the middle or a failed assertion, went nowhere:
//
//     if (a) { if (b) return; x(); }
//     y();                                  the threads that are left meet here, not at the kernel's end
//
// Analysis finds the loop that walks the tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ptx/ast.h"

namespace tilescope::ptx {

inline constexpr int32_t kExitBlock = -1;

struct BasicBlock {
    uint32_t first = 0, last = 0;     // instructions [first, last)
    std::vector<int32_t> successors;  // fall-through first, then the branch target; kExitBlock for ret/exit
    std::vector<int32_t> predecessors;
    int32_t post_dominator = kExitBlock;  // immediate; kExitBlock where paths only meet at the end
    int32_t reconvergence = kExitBlock;   // post-dominator among the threads that do not leave early
    int32_t dominator = -1;               // immediate; -1 for the entry and for unreachable blocks
    int32_t loop = -1;                    // innermost loop that holds it, -1 for none
    uint32_t place = 0;                   // index in ControlFlow::looped, where a loop holds it
    bool reachable = false;
};

struct Loop {
    int32_t header = -1;
    int32_t parent = -1;  // enclosing loop, -1 for an outermost one
    uint32_t depth = 1;
    uint32_t first = 0, last = 0;  // its blocks, those of inner loops too: [first, last) of looped
};

struct ControlFlow {
    std::vector<BasicBlock> blocks;  // in the order of the text
    std::vector<int32_t> block_of;   // instruction -> block
    std::vector<Loop> loops;         // parents before children
    std::vector<int32_t> looped;     // the blocks of all loops, each once

    std::span<const int32_t> blocks_of(int32_t loop) const {  // in no order
        return {looped.begin() + loops[loop].first, looped.begin() + loops[loop].last};
    }
    bool holds(int32_t loop, int32_t block) const {
        return block != kExitBlock && blocks[block].loop >= 0 && loops[loop].first <= blocks[block].place &&
               blocks[block].place < loops[loop].last;
    }
};

// The kernel must have been parsed (labels resolved). A guarded `ret` or `exit` has two successors.
ControlFlow control_flow(const Kernel& kernel);

}  // namespace tilescope::ptx
