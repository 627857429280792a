#include "kernels/textbook/requested_bytes.h"

#include <vector>

#include "core/analysis/summary.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {

namespace {

// A size that shows every kind of tile that `size` has, and how many of each it stands for.
struct Reduced {
    uint32_t size = 0;
    std::vector<uint64_t> times;  // by tile
};

Reduced reduce(uint32_t size, uint32_t tile) {
    const uint32_t whole = size / tile, rest = size % tile;
    Reduced reduced{(whole ? tile : 0) + rest, {}};
    if (whole) reduced.times.push_back(whole);
    if (rest) reduced.times.push_back(1);
    return reduced;
}

}  // namespace

Result<RequestedBytes> requested_bytes(const TextbookPlan& plan, unsigned threads) {
    const BlockTile tile = block_tile(*plan.info, plan.shape);
    const Reduced rows = reduce(plan.shape.m, tile.rows), cols = reduce(plan.shape.n, tile.cols);
    auto small = kernels::plan(plan.kernel, {rows.size, plan.shape.k, cols.size, plan.shape.tile});
    if (!small) return small.error();
    small->ptx = plan.ptx;
    small->ptx_name = plan.ptx_name;

    const Reduced& along_x = plan.info->swapped ? rows : cols;
    const Reduced& along_y = plan.info->swapped ? cols : rows;
    RequestedBytes sum;
    for (uint32_t y = 0; y < along_y.times.size(); ++y) {
        for (uint32_t x = 0; x < along_x.times.size(); ++x) {
            RecordOptions options;
            options.window = {x, x + 1, y, y + 1};
            options.threads = threads;
            options.timestamp = false;
            auto trace = record_cpu(*small, options);
            if (!trace) return trace.error();
            if (!trace->meta.complete) return Error{trace->meta.incomplete_reason};
            const auto recording = analysis::opened(std::move(*trace));
            if (!recording) return recording.error();
            const auto summary = analysis::summarize(*recording);
            if (!summary) return summary.error();
            const uint64_t times = along_x.times[x] * along_y.times[y];
            sum.loaded += times * (*summary)[analysis::StepKind::GlobalLoad].bytes;
            sum.stored += times * (*summary)[analysis::StepKind::GlobalStore].bytes;
        }
    }
    return sum;
}

}  // namespace tilescope::kernels
