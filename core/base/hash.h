// Keys spread over a table whose size is a power of two (Fibonacci hashing: D. Knuth, The Art of Computer
// Programming, volume 3, section 6.4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilescope {

// Below `size`, a power of two of at most 2^32.
inline size_t slot_of_key(uint64_t key, size_t size) {
    return static_cast<size_t>(key * 0x9E37'79B9'7F4A'7C15u >> 32) & (size - 1);
}

}  // namespace tilescope
