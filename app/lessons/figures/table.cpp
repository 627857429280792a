// All figures, in the order in which the course meets them.
#include "app/lessons/figures/parts.h"

namespace tilescope::lessons {

std::span<const Figure> figures() {
    static const std::vector<Figure> all{blocks_figure(),     partition_figure(), gate_figure(),
                                         divergence_figure(), latency_figure(),   schedule_figure(),
                                         memory_figure(),     bursts_figure(),    reuse_figure(),
                                         roof_figure(),       tile_width_figure()};
    return all;
}

}  // namespace tilescope::lessons
