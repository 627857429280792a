// Blocks that run side by side on one CPU thread, in turns: those of a cluster, by their rank; or one block alone.
//
//   turn          a block makes as many steps as it has warps, or fewer, where all of its warps wait for another block, or
//                 have ended
//   round         each block that has not ended has a turn, from rank 0 on
//   no news       nobody changed memory, arrived or ended in a round: waits at barriers in memory are given up
//                 (signals.cpp); where that leads nowhere, all of them wait for other clusters, or for ever
//
// So a run is the same each time. On a GPU blocks of a cluster run at the same time, in no order that a kernel may rely on.
//
// Source: CUDA C++ Programming Guide, "Thread Block Clusters".
#pragma once

#include <memory>
#include <vector>

#include "core/simt/machine.h"

namespace tilescope::simt {

class BlocksTogether {
public:
    BlocksTogether(const Program& program, const Launch& launch, const RunOptions& options,
                   const std::vector<View>& views, uint64_t blocks);

    // The blocks by their rank, as many as there are machines; null for an observer of one that nobody watches.
    BlockEnd run(const std::vector<BlockId>& blocks, const std::vector<BlockObserver*>& observers);
    // As those of a Machine, for all of them together.
    BlockEnd go_on();
    void leave();
    void wait_for_ever(const std::string& why);
    bool waits_exactly() const;
    uint64_t changes() const;
    void wait_in_loops(uint64_t other_blocks);
    uint64_t instructions() const;

    std::vector<std::unique_ptr<Machine>> machines;
    const Machine* decisive = nullptr;  // the block that ended in a fault, or that was stopped

private:
    BlockEnd rounds();
    std::vector<Machine*> cluster_;
    std::vector<BlockEnd> ends_;
};

}  // namespace tilescope::simt
