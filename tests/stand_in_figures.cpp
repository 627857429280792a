// The figures of the program draw, and need a window's libraries; one of the same kind stands in for them in
// tests and fuzzers of what needs no window.
#include "app/lessons/figures/figure.h"

namespace tilescope::lessons {

std::span<const Figure> figures() {
    static const std::vector<Figure> all = [] {
        Figure latency;
        latency.name = "latency";
        latency.title = "Latency hiding";
        latency.parameters = {{"warps", "Warps", 1, 64, 8},
                              {"latency", "Latency", 20, 800, 200, 20},
                              {"branch", "Branch", 0, 1, 0, 1, {"thread", "warp"}}};
        latency.numbers = [](std::span<const int> set) {
            const auto warps = static_cast<uint32_t>(set[0]), cycles = static_cast<uint32_t>(set[1]);
            return std::vector<NamedNumber>{
                {"idle", issue_trace(warps, 4, cycles, 4, 0).idle},
                {"busy_percent", static_cast<uint64_t>(1000 * used_share(warps, 4, cycles, 4)), "%", 1}};
        };
        return std::vector<Figure>{latency};
    }();
    return all;
}

}  // namespace tilescope::lessons
