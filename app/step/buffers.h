// Several buffers in one array of shared memory, as double buffering has them, found in what a block does and not
// in what the kernel is called: stretches of rows of one height, each of which is filled in phases of its own.
//
//   Mds, 24 x 260       stored in phases     state
//   rows  0 ..  7       0, 2, 5              read now
//   rows  8 .. 15       0, 3, 6              next: filled, and not read yet
//   rows 16 .. 23       1, 4, 7              arriving: not all of it is there
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::step {

enum class BufferState : uint8_t { Free, Arriving, Next, ReadNow };
std::string_view words_of(BufferState state);  // "arriving"

struct Buffer {
    look::CellRect part;                  // of the array's sheet
    std::vector<uint32_t> stores, reads;  // steps of the block, ascending
    std::vector<uint32_t> lands;          // a store each: the step from which on it can be read
};

// Of an array of shared memory, from above; empty where it is one buffer. O(steps of the block): once a block.
std::vector<Buffer> buffers_of(const trace::Trace& trace, const look::BlockIndex& index, uint8_t array);
BufferState state_at(const Buffer& buffer, uint32_t step);

// Kept while the block stays.
struct BufferCache {
    std::shared_ptr<const look::BlockIndex> of;
    std::vector<std::vector<Buffer>> by_array;  // those of shared memory, else empty
};

}  // namespace tilescope::step
