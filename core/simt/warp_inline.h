// Small things that warp.cpp, access.cpp and fault.cpp share.
#pragma once

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/simt/machine.h"

namespace tilescope::simt {

// What flow_before keeps for flow_after: the result's origins, and the operands that the operation
// may overwrite.
struct Machine::OriginPlan {
    std::array<Origin, kWarpSize> result, a, b;
    std::array<uint64_t, kWarpSize> a_value, b_value;
    uint32_t products = 0;              // lanes whose product is to be reported or kept
    uint32_t taken_a = 0, taken_b = 0;  // lanes whose loose product in a or b goes into this sum
    Origin chain_of_product = 0;
};

inline uint64_t read_address(const std::byte* column, const MemoryAccess& access, int lane) {
    if (access.wide_address)
        return reinterpret_cast<const uint64_t*>(column)[lane] + static_cast<uint64_t>(access.offset);
    return reinterpret_cast<const uint32_t*>(column)[lane] + static_cast<uint32_t>(access.offset);
}

}  // namespace tilescope::simt
