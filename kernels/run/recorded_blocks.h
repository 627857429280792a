// What each block of a recording asks of the memory levels, made once for all blocks that do the same.
//
// Most blocks of a launch do the steps of another one, with all addresses of an array moved by a constant.
// Requests that differ in nothing but where they begin and in which warp they are share a form
// (core/trace/trace.h), so such blocks have the same column of keys and, array by array, one difference
// between their columns of bases:
//
//   block 0    key  7 7 9 9 3 ...    base   0  64   0  4096 ...
//   block 1    key  7 7 9 9 3 ...    base  64 128   0  4096 ...     M the same, N 64 bytes further
//
// which is a comparison of numbers that lie side by side. Two of them share a BlockWork where they are moved
// by whole lines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/stop.h"
#include "core/levels/replay.h"
#include "core/trace/trace.h"

namespace tilescope::kernels {

// Bytes by slot, as whole lines and what is left of them.
struct Shift {
    std::vector<int64_t> lines, rest;
};
Shift shift_of(const std::vector<int64_t>& bytes);

class RecordedBlocks {
public:
    // A kind: blocks that share their work.
    struct Kind {
        uint32_t recorded = 0;      // the block of Trace::blocks that stands for it,
        std::vector<int64_t> rest;  // and by how many bytes it is moved first
        std::shared_ptr<const analysis::BlockWork> work;
        std::vector<uint32_t> unit_of;  // by step
    };

    // Keeps references.
    RecordedBlocks(const trace::Trace& trace, analysis::LevelCode& code, const analysis::WorkRules& rules,
                   Stop stop = {});

    // Blocks are numbered as they lie in the grid, those that were not recorded left out.
    uint32_t blocks() const { return static_cast<uint32_t>(recorded_.size()); }
    uint32_t recorded(uint32_t number) const { return recorded_[number]; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    const Kind& kind_of(uint32_t number) const { return kinds_[placed_[number].kind]; }
    uint32_t kind_number(uint32_t number) const { return placed_[number].kind; }
    analysis::PlacedBlock block(uint32_t number) const;

private:
    struct Placed {
        uint32_t kind = 0;
        std::vector<int64_t> lines;
    };
    bool moved_from(uint32_t other, uint32_t block, std::vector<int64_t>& bytes) const;

    const trace::Trace& trace_;
    std::vector<uint32_t> recorded_;  // by number: into Trace::blocks
    std::vector<int32_t> slot_of_;    // by form: its slot, or one of the two below
    std::vector<Kind> kinds_;
    std::vector<Placed> placed_;  // by number
};

}  // namespace tilescope::kernels
