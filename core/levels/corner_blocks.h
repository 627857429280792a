// What each block of a launch asks of the memory levels, if only two corners of its grid are recorded.
//
// Blocks of one class do the same steps with all addresses of an array relocated by a constant offset, and a
// class is: in the last column of blocks or not, in the last row or not. So
//
//     0 1 . . . .        0, 1, 2: by how much a block's addresses move from column to column and row to row
//     2 3 . . . .
//     . . . . . .
//     . . . . a b        a: must be block 0, relocated; b, c, d: the last column, the last row, the corner
//     . . . . c d
//
// and every other block is its class's, relocated. That this holds for the recorded blocks is checked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/levels/replay.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct RecordedCorners {
    trace::Trace first, last;  // recordings of the two windows; each block of a small grid may be in both
    std::vector<int64_t> by_x, by_y;  // offsets in bytes from block to block, by slot
};
// Finds by_x and by_y; false where the blocks are not each other's, relocated.
bool find_relocations(RecordedCorners& corners);

class CornerBlocks {
public:
    // Keeps references.
    CornerBlocks(const RecordedCorners& corners, LevelCode& code, const WorkRules& rules)
        : corners_(corners), code_(code), rules_(rules) {}

    PlacedBlock block(uint64_t number);  // number: of the grid's blocks, row after row

private:
    const RecordedCorners& corners_;
    LevelCode& code_;
    const WorkRules& rules_;
    // By class of blocks and bytes modulo a line of the relocation.
    std::map<std::tuple<bool, bool, std::vector<int64_t>>, std::shared_ptr<const BlockWork>> works_;
};

}  // namespace tilescope::analysis
