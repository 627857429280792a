#include "kernels/run/levels.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/base/words.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {

using analysis::LevelDevice, analysis::LevelOptions, analysis::Levels;

namespace {

constexpr uint64_t kMostWholeSteps = 20'000'000;
constexpr uint64_t kMostInstructions = 1 << 26;  // of a warp; a recording's PTX may be a stranger's

Result<trace::Trace> record_window(const Plan& plan, const BlockWindow& window, const LevelOptions& options,
                                   bool few_blocks) {
    RecordOptions how;
    how.window = window;
    how.stop = options.stop;
    how.max_instructions_per_warp = kMostInstructions;
    how.timestamp = false;
    how.little_of_arrays = few_blocks;
    // The order that a GPU's warps took is one block's own.
    if (plan.schedule.kind == Schedule::Kind::Recorded) how.schedule = Schedule{};
    auto trace = record_cpu(plan, how);
    if (!trace) return trace.error();
    if (!trace->meta.complete) return Error{trace->meta.incomplete_reason};
    return trace;
}

// Records both corners of the grid; false where blocks are not each other's, relocated.
Result<bool> record_corners(const Plan& plan, const LevelOptions& options,
                            analysis::RecordedCorners& corners) {
    const Dim3& grid = plan.launch.grid;
    if (grid.z > 1) return false;
    auto first = record_window(plan, {0, std::min(2u, grid.x), 0, std::min(2u, grid.y)}, options, true);
    if (!first) return first.error();
    corners.first = std::move(*first);
    auto last = record_window(plan, {std::max(2u, grid.x) - 2, grid.x, std::max(2u, grid.y) - 2, grid.y},
                              options, true);
    if (!last) return last.error();
    corners.last = std::move(*last);
    return find_relocations(corners);
}

}  // namespace

Result<Levels> levels_of(const Plan& plan, const LevelDevice& on, const LevelOptions& options) {
    analysis::RecordedCorners corners;
    const auto are_alike = record_corners(plan, options, corners);
    if (!are_alike) return are_alike.error();
    if (*are_alike) return levels_of_corners(corners, on, options);
    const uint64_t blocks = plan.launch.grid.count();
    const uint64_t steps = corners.first.steps() / std::max<uint64_t>(1, corners.first.blocks.size());
    if (blocks * steps > kMostWholeSteps)
        return Error{
            fmt::format("the blocks of {} are not alike, and all {} of them are too many to be recorded "
                        "for their levels; choose a smaller launch",
                        plan.kernel, grouped(blocks))};
    const auto trace = record_window(plan, {}, options, false);
    if (!trace) return trace.error();
    return levels_of_recorded(*trace, on, options);
}

Result<Levels> levels_of(const trace::Trace& trace, const LevelDevice& on, const LevelOptions& options) {
    if (auto unknown = analysis::levels_unknown(trace)) return *unknown;
    if (trace.blocks.size() == trace.launch.grid.count()) return levels_of_recorded(trace, on, options);
    return levels_of(plan_of(trace), on, options);
}

}  // namespace tilescope::kernels
