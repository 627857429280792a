#include "core/trace/device_barriers.h"

#include <algorithm>
#include <array>

namespace tilescope::trace {

std::vector<uint64_t> last_arrivals(const DeviceLayout& layout, std::vector<StreamReader> readers) {
    if (!layout.one_barrier) return {};
    std::array<std::vector<uint64_t>, kMaxWarpsPerBlock> arrivals;
    std::array<uint32_t, kMaxWarpsPerBlock> masks{};
    for (StreamReader& reader : readers) {
        while (reader.next()) {
            if (!layout.sites[reader.record.site].barrier) continue;
            uint32_t& mask = masks[reader.warp];
            if (mask != 0 && mask != reader.record.mask) return {};
            mask = reader.record.mask;
            arrivals[reader.warp].push_back(reader.record.clock);
        }
    }
    std::vector<uint64_t> last;
    for (std::vector<uint64_t>& clocks : arrivals) {
        std::sort(clocks.begin(), clocks.end());  // of a warp with more than one stream
        last.resize(std::max(last.size(), clocks.size()));
        for (size_t i = 0; i < clocks.size(); ++i) last[i] = std::max(last[i], clocks[i]);
    }
    for (size_t i = 1; i < last.size(); ++i) last[i] = std::max(last[i], last[i - 1] + 1);
    return last;
}

}  // namespace tilescope::trace
