// What each block of a recording asks of the memory levels, made once for all blocks that do the same.
//
// Most blocks of a launch do the steps of another one, with all addresses of an array relocated by a constant
// offset. Requests that differ in nothing but where they begin and in which warp they are share an access
// pattern (a form of core/trace/trace.h), so such blocks have the same column of keys and, array by array,
// one difference between their columns of bases:
//
//   block 0    key  7 7 9 9 3 ...    base   0  64   0  4096 ...
//   block 1    key  7 7 9 9 3 ...    base  64 128   0  4096 ...     M the same, N 64 bytes further
//
// which is a comparison of numbers side by side. Two share a BlockWork if the offset is a whole number of
// lines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/stop.h"
#include "core/levels/replay.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// The offset of a block from another one, by slot: whole lines, and the bytes that are left.
struct BlockOffset {
    std::vector<int64_t> lines, rest;
    explicit BlockOffset(const std::vector<int64_t>& bytes);
};

class RecordedBlocks {
public:
    // Blocks that share their work.
    struct BlockKind {
        uint32_t recorded = 0;      // index into Trace::blocks of the block that stands for it
        std::vector<int64_t> rest;  // bytes by slot by which that block is relocated first
        std::shared_ptr<const BlockWork> work;
        std::vector<uint32_t> batch_of;  // by step
        uint64_t blocks = 0;
    };

    // Keeps a reference to the trace.
    RecordedBlocks(const trace::Trace& trace, LevelCode& code, const WorkRules& rules, Stop stop = {});

    // Blocks are numbered as they lie in the grid, those that were not recorded left out.
    uint32_t blocks() const { return static_cast<uint32_t>(recorded_.size()); }
    uint32_t recorded(uint32_t number) const { return recorded_[number]; }
    const std::vector<BlockKind>& kinds() const { return kinds_; }
    uint32_t kind_of(uint32_t number) const { return placed_[number].kind; }
    PlacedBlock block(uint32_t number) const {
        return {kinds_[placed_[number].kind].work, placed_[number].lines};
    }

private:
    struct PlacedKind {
        uint32_t kind = 0;
        std::vector<int64_t> lines;
    };
    bool relocated_from(uint32_t other, uint32_t block, std::vector<int64_t>& bytes) const;

    const trace::Trace& trace_;
    std::vector<uint32_t> recorded_;  // by number: index into Trace::blocks
    std::vector<int32_t> slot_of_;    // by access pattern: its slot, kNoAddress or kOwn
    std::vector<BlockKind> kinds_;    // in the order of their first blocks
    std::vector<PlacedKind> placed_;  // by number
};

}  // namespace tilescope::analysis
