#include "core/analysis/addresses.h"

#include <algorithm>
#include <array>

#include "core/base/launch.h"

namespace tilescope::analysis {

AddressCost address_cost(const uint64_t* address, uint32_t mask) {
    std::array<uint64_t, kWarpSize> sorted{};
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) { sorted[count++] = address[lane]; });
    std::sort(sorted.begin(), sorted.begin() + count);
    AddressCost cost;
    uint32_t alike = 0;
    for (size_t i = 0; i < count; ++i) {
        alike = i > 0 && sorted[i] == sorted[i - 1] ? alike + 1 : 1;
        cost.addresses += alike == 1 ? 1 : 0;
        cost.most_lanes = std::max(cost.most_lanes, alike);
    }
    return cost;
}

}  // namespace tilescope::analysis
