// What a request does with the addresses of its 32 lanes, and how its data moves: one loop over lanes each, for
// any processor and for x86-64 processors with AVX2.
//
// The lanes of one instruction mostly keep their distances from each other, wherever the first of them lies:
//
//   M[row * width + k]    + 0 + 0 ... + 0 | + 4096 + 4096 ...     two rows of lanes, each at one place
//   N[k * width + col]    + 0 + 4 ... + 60 | + 0 + 4 ... + 60     two rows, each side by side
//
// Such a pattern is worked out once. A request that follows one is checked for its bounds and its alignment as a
// whole, and moves 8 lanes or all 32 at a time where they lie side by side or at one place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/simt/lanes.h"

namespace tilescope::simt {

// How the addresses of the lanes of a mask lie to that of the lowest of them.
struct LanePattern {
    static constexpr size_t kGroup = 8;  // lanes that move together
    // How the elements of some lanes lie: the bytes from each to the next; kMixed where these are not the same, or
    // many, or some of the lanes take no part.
    static constexpr int32_t kMixed = -1;
    static constexpr uint64_t kWidest = 16;
    alignas(64) std::array<uint64_t, kWarpSize> difference{};  // 0 outside the mask
    // The same in 32 bits, for columns of 32-bit addresses: values that no column matches, where a difference needs more
    // than 32 bits.
    alignas(64) std::array<uint32_t, kWarpSize> narrow{};
    uint32_t mask = 0;        // 0: no pattern
    uint32_t number = 0;      // no other pattern of its LanePatterns has, earlier ones included
    uint32_t first = 0;       // the lowest lane of the mask
    int32_t stride = kMixed;  // of all lanes; of each half of them, where it is that of both; of each group
    int32_t half_stride = kMixed;
    std::array<int32_t, kWarpSize / kGroup> strides{};
    uint64_t lowest = 0, span = 0;  // the lowest difference, as a signed number; from it to the highest one
    uint64_t bits = 0;              // that are set in any difference
    alignas(64) std::array<uint64_t, kWarpSize> active{};  // all ones for lanes of the mask
};

// The requests of several warps by one load or store.
struct WarpRequests {
    uint32_t warps = 0, elements = 1;
    uint32_t mask = ~0u;
    const std::byte* address = nullptr;  // the column of addresses of the first warp
    ptrdiff_t next_address = 0;          // from it to that of the next one
    uint64_t offset = 0;                 // that is added to each address
    std::array<std::byte*, 8> data{};  // by element: its column, only read by stores, and the way to the next
    std::array<ptrdiff_t, 8> next_data{};
    std::byte* memory = nullptr;  // where the address `base` lies
    uint64_t base = 0, most = 0;  // how far above it the first byte of a lane may lie
    static constexpr size_t kMost = 8;
    std::array<const LanePattern*, kMost> pattern{};  // by warp
    std::array<uint64_t, kMost> start{};              // is set to the address of the first lane
};
// Moves the data of warp after warp, up to the first one that does not follow its pattern, reaches outside the
// memory or is not aligned. Returns how many have moved.
using MoveLanes = uint32_t (*)(WarpRequests& requests);

struct MemoryLanes {
    // address[lane] = column[lane] + offset
    void (*displace)(uint64_t* address, const uint64_t* column, uint64_t offset) = nullptr;
    // All bits that are set in the address of a lane of the mask.
    uint64_t (*bits)(const uint64_t* address, uint32_t mask) = nullptr;
    // host[lane] = data + (address[lane] - base) + stride * lane, for every lane; nothing is read through
    // it. Returns the lanes of the mask whose address lies below base or more than `most` above it.
    uint32_t (*locate)(std::byte** host, const uint64_t* address, uint64_t base, uint64_t most,
                       std::byte* data, uint64_t stride, uint32_t mask) = nullptr;
    // For elements of so many bytes, which a load extends to the size of a register, and addresses of 64 bits or 32.
    MoveLanes (*load)(uint32_t element_bytes, bool is_signed, uint32_t register_bytes, bool wide) = nullptr;
    MoveLanes (*store)(uint32_t element_bytes, bool wide) = nullptr;
};

const MemoryLanes& memory_lanes(LaneVersion version);

// The patterns that a machine's requests followed lately, over all its blocks.
class LanePatterns {
public:
    LanePatterns() { patterns_.reserve(kMost + 1), patterns_.emplace_back(); }
    // The pattern of the lanes of a mask, not 0, in a column of addresses.
    uint32_t find(const std::byte* column, bool wide, uint32_t mask);
    const LanePattern& operator[](size_t number) const { return patterns_[number]; }
    static constexpr size_t kMost = 64;

private:
    std::vector<LanePattern> patterns_;  // the first one is none
    std::array<uint8_t, 2 * kMost> by_hash_{};
    uint32_t latest_ = 0;  // the number given last
};

}  // namespace tilescope::simt
