#include "core/analysis/addresses.h"

#include <algorithm>
#include <array>

#include "core/analysis/coalescing.h"
#include "core/base/launch.h"

namespace tilescope::analysis {

namespace {

// run(address, lanes) for each different address of the mask's lanes, ascending.
template <class Run>
void for_addresses(const uint64_t* address, uint32_t mask, Run run) {
    std::array<uint64_t, kWarpSize> sorted{};
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) { sorted[count++] = address[lane]; });
    std::sort(sorted.begin(), sorted.begin() + count);
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && sorted[end] == sorted[first]) ++end;
        run(sorted[first], static_cast<uint32_t>(end - first));
    }
}

}  // namespace

AddressCost address_cost(const uint64_t* address, uint32_t mask) {
    AddressCost cost;
    for_addresses(address, mask, [&](uint64_t, uint32_t lanes) {
        ++cost.addresses;
        cost.most_lanes = std::max(cost.most_lanes, lanes);
    });
    return cost;
}

uint32_t atomic_sectors(const uint64_t* address, uint32_t mask) {
    uint32_t sectors = 0, most = 0;
    uint64_t sector = UINT64_MAX;
    for_addresses(address, mask, [&](uint64_t word, uint32_t lanes) {
        if (word / kSectorBytes != sector) sectors += most, most = 0;
        sector = word / kSectorBytes;
        most = std::max(most, lanes);
    });
    return sectors + most;
}

}  // namespace tilescope::analysis
