// Swizzles: address bits of shared memory exchanged, so that a tile's columns are spread over the banks.
//
// A swizzle adds (xor) address bits from bit 7 on, the number of a 128-byte line, to the bits that number the chunks
// within its span:
//
//             chunk    span   bits                period   16-byte chunks of the lines 0 1 2 .. of a 128-byte row
//   32B       16        32    4    ^= 7             256    01234567 10325476 ..
//   64B       16        64    4-5  ^= 7-8           512    01234567 10325476 23016745 32107654 ..
//   128B      16       128    4-6  ^= 7-9         1,024    01234567 10325476 23016745 32107654 45670123 ..
//   atom 32B  32       128    5-6  ^= 7-8           512    01234567 23016745 45670123 67452301 ..
//   flip 8B   32       128    the same, and bit 3 ^= bit 7
//   atom 64B  64       128    6    ^= 7             256    01234567 45670123 ..
//
// The bits are those of the address in shared memory, not of the place within a tile: a tile that does not begin at a
// multiple of the period begins within the pattern. A swizzle undoes itself.
//
// Source: PTX ISA, "Tensors: Swizzling Modes"; CUDA Driver API, cuTensorMapEncodeTiled.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tilescope::ptx {

// In the order of CUtensorMapSwizzle.
enum class Swizzle : uint8_t { None, B32, B64, B128, B128Atom32, B128Atom32Flip8, B128Atom64 };
inline constexpr size_t kSwizzles = 7;

struct SwizzleRule {
    const char* name;
    uint16_t span;    // bytes within which chunks change places, and the longest row of a box; 0: no limit
    uint16_t chunk;   // bytes that stay side by side
    uint16_t period;  // bytes after which the pattern repeats
    uint8_t mask;     // of the bits from 7 on
    uint8_t to;       // the lowest bit that they are added to
    bool flips;       // bit 3 as well
    uint8_t first_major;  // major compute capability of the first GPUs that have it
};
inline constexpr std::array<SwizzleRule, kSwizzles> kSwizzleRules{{
    {"none", 0, 16, 16, 0, 4, false, 9},
    {"32B", 32, 16, 256, 1, 4, false, 9},
    {"64B", 64, 16, 512, 3, 4, false, 9},
    {"128B", 128, 16, 1024, 7, 4, false, 9},
    {"128B_ATOM_32B", 128, 32, 512, 3, 5, false, 10},
    {"128B_ATOM_32B_FLIP_8B", 128, 8, 512, 3, 5, true, 10},
    {"128B_ATOM_64B", 128, 64, 256, 1, 6, false, 10},
}};
constexpr const SwizzleRule& rule_of(Swizzle swizzle) { return kSwizzleRules[static_cast<size_t>(swizzle)]; }
constexpr const char* name_of(Swizzle swizzle) { return rule_of(swizzle).name; }

// The address of a byte after the swizzle; lines: what the number of its 128-byte line is counted from.
constexpr uint32_t swizzled(Swizzle swizzle, uint32_t address, uint32_t first_line = 0) {
    const SwizzleRule& rule = rule_of(swizzle);
    const uint32_t line = (address >> 7) - first_line;
    const uint32_t flip = rule.flips ? (line & 1) << 3 : 0;
    return address ^ ((line & rule.mask) << rule.to) ^ flip;
}

}  // namespace tilescope::ptx
