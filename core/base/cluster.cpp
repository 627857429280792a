#include "core/base/cluster.h"

#include <fmt/core.h>

#include "core/base/words.h"

namespace tilescope {

std::string why_not_in_clusters(const Dim3& grid, const Dim3& cluster, uint32_t most) {
    const uint64_t blocks = cluster.count();
    if (blocks == 0)
        return fmt::format("a cluster of {} blocks holds none; give it at least one block each way",
                           size_text(cluster));
    if (blocks > most || cluster.x > most || cluster.y > most || cluster.z > most)
        return fmt::format(
            "a cluster of {} blocks is more than the {} that a GPU runs together; choose a smaller one",
            size_text(cluster), most);
    if (grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0) return "";
    return fmt::format(
        "a grid of {} blocks cannot be divided into clusters of {}; make it a multiple of the cluster each "
        "way",
        size_text(grid), size_text(cluster));
}

}  // namespace tilescope
