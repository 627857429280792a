#include "core/analysis/coalescing.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/sites.h"

namespace tilescope::analysis {
namespace {

// Half-open ranges of bytes, sorted by their start.
struct Range {
    uint64_t first, last;
};

// Distinct grains (aligned pieces of `grain` bytes) that sorted ranges touch.
uint32_t grains_touched(std::span<const Range> ranges, uint64_t grain) {
    uint32_t touched = 0;
    uint64_t next = 0;  // the first grain not counted yet
    for (const Range& range : ranges) {
        const uint64_t begin = std::max(range.first / grain, next);
        const uint64_t end = (range.last - 1) / grain + 1;
        if (end > begin) {
            touched += static_cast<uint32_t>(end - begin);
            next = end;
        }
    }
    return touched;
}

SectorCost cost_of_ranges(std::span<Range> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    SectorCost cost;
    cost.sectors = grains_touched(ranges, kSectorBytes);
    cost.lines = grains_touched(ranges, kLineBytes);
    cost.ideal_sectors = (grains_touched(ranges, 1) + kSectorBytes - 1) / kSectorBytes;
    return cost;
}

}  // namespace

SectorCost sector_cost(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    if (mask == 0 || bytes == 0) return {};
    std::array<Range, 32> ranges{};
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) { ranges[count++] = {address[lane], address[lane] + bytes}; });
    return cost_of_ranges(std::span(ranges).first(count));
}

SectorCost sector_cost(const trace::AccessView& access) {
    std::vector<Range> ranges;
    access.for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
        if (bytes > 0) ranges.push_back({address, address + bytes});
    });
    SectorCost cost = cost_of_ranges(ranges);
    cost.block_sectors = cost.ideal_sectors;
    return cost;
}

SectorCost local_sector_cost(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    constexpr uint64_t kWord = 4, kSectorsOfRow = kLineBytes / kSectorBytes;
    if (mask == 0 || bytes == 0 || bytes > ptx::kMostOfLane) return {};
    // A row of 128 bytes holds the words of one number of all lanes: eight lanes a sector.
    std::array<uint64_t, size_t{kWarpSize} * (ptx::kMostOfLane / kWord + 1)> sectors;
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) {
        for (uint64_t word = address[lane] / kWord; word <= (address[lane] + bytes - 1) / kWord; ++word)
            sectors[count++] = word * kSectorsOfRow + lane / (kWarpSize / kSectorsOfRow);
    });
    std::sort(sectors.begin(), sectors.begin() + count);
    SectorCost cost;
    uint32_t lanes = 0;
    for_lanes(mask, [&](uint32_t) { ++lanes; });
    for (size_t i = 0; i < count; ++i) {
        const bool first = i == 0;
        cost.sectors += first || sectors[i] != sectors[i - 1];
        cost.lines += first || sectors[i] / kSectorsOfRow != sectors[i - 1] / kSectorsOfRow;
    }
    cost.ideal_sectors = (lanes * bytes + kSectorBytes - 1) / kSectorBytes;
    return cost;
}

}  // namespace tilescope::analysis
