// Addresses of a warp's 32 lanes, for tests of what requests cost.
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::analysis {

using Addresses = std::array<uint64_t, 32>;

// Lane i at base + i * stride, in bytes.
inline Addresses strided(uint64_t base, uint64_t stride) {
    Addresses a{};
    for (uint64_t lane = 0; lane < 32; ++lane) a[lane] = base + lane * stride;
    return a;
}

}  // namespace tilescope::analysis
