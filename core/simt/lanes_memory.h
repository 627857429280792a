// What a request does with the addresses of its 32 lanes before any data moves: one loop over lanes each, for
// any processor and for x86-64 processors with AVX2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simt/lanes.h"

namespace tilescope::simt {

struct MemoryLanes {
    // address[lane] = column[lane] + offset
    void (*displace)(uint64_t* address, const uint64_t* column, uint64_t offset) = nullptr;
    // All bits that are set in the address of a lane of the mask.
    uint64_t (*bits)(const uint64_t* address, uint32_t mask) = nullptr;
    // host[lane] = data + (address[lane] - base) + stride * lane, for every lane; nothing is read through
    // it. Returns the lanes of the mask whose address lies below base or more than `most` above it.
    uint32_t (*locate)(std::byte** host, const uint64_t* address, uint64_t base, uint64_t most,
                       std::byte* data, uint64_t stride, uint32_t mask) = nullptr;
};

const MemoryLanes& memory_lanes(LaneVersion version);

}  // namespace tilescope::simt
