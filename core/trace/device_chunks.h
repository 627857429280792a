// The chunks of a device trace buffer, block by block, each block's in the order of its streams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/trace/device_layout.h"

namespace tilescope::trace {

struct ChunkRef {
    uint64_t clock = 0;   // when it was begun
    uint32_t stream = 0;  // warp << 8 | lane
    uint32_t number = 0;  // in the pool
    bool operator<(const ChunkRef& other) const {
        return stream != other.stream ? stream < other.stream
               : clock != other.clock ? clock < other.clock
                                      : number < other.number;
    }
};

struct Chunk {
    ptx::ChunkHeader header;
    const std::byte* slots = nullptr;  // behind the header
    uint32_t bytes = 0;                // of slots that are used, pads included
};

struct ChunkTable {
    const std::byte* pool = nullptr;  // what there is of chunk 0
    uint64_t pool_start = 0;
    uint32_t chunk_bytes = 0;
    std::vector<uint64_t> first;  // by block: its first chunk in refs; one entry more at the end
    std::vector<ChunkRef> refs;   // in no order within a block

    Chunk chunk(uint32_t number) const;  // number was checked
    std::span<ChunkRef> of_block(uint64_t block) {
        return std::span(refs).subspan(first[block], first[block + 1] - first[block]);
    }
};

// Checks every header.
Result<ChunkTable> chunk_table(const DeviceLayout& layout, const DeviceBuffer& buffer);

}  // namespace tilescope::trace
