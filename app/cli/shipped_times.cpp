#include "app/cli/shipped_times.h"

namespace tilescope::cli {

namespace {

std::optional<kernels::Timings> select(const kernels::Timings& shipped, const TimeJob& job) {
    kernels::Timings chosen = shipped;
    chosen.rows.clear();
    for (const TimeGroup& group : job.groups) {
        for (const kernels::TextbookPlan& plan : group.plans) {
            const kernels::Shape& s = plan.shape;
            const auto* row = find_timing(shipped, plan.kernel, s.m, s.k, s.n, s.tile);
            if (!row) return std::nullopt;
            chosen.rows.push_back(*row);
        }
        const kernels::Shape& s = group.shape;
        const auto* row = group.cublas ? find_timing(shipped, "cublas", s.m, s.k, s.n, 0) : nullptr;
        if (row) chosen.rows.push_back(*row);
        if (!row && group.plans.empty()) return std::nullopt;
    }
    return chosen;
}

}  // namespace

std::optional<kernels::Timings> shipped_times(const TimeJob& job, const std::string& compiler,
                                              const std::vector<kernels::Timings>& shipped) {
    for (const kernels::Timings& timings : shipped) {
        if (timings.compiler != compiler) continue;
        if (auto chosen = select(timings, job)) return chosen;
    }
    return std::nullopt;
}

}  // namespace tilescope::cli
