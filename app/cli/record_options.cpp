#include "app/cli/record_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/values.h"

namespace tilescope::cli {

namespace {

// The block of every kernel that ships is T x T, so --block is another way to say --tile.
Result<uint32_t> tile_of(const RecordRequest& request) {
    if (request.block.empty()) return request.tile;
    const auto block = parse_pair(request.block, 'x');
    if (!block) {
        return Error{
            fmt::format("--block '{}' is not a block; give it as XxY, such as 16x16", request.block)};
    }
    if (block->first != block->second) {
        return Error{fmt::format(
            "--block {} is not square, and the kernels that ship run in T x T blocks; choose 2x2, "
            "4x4, 8x8, 16x16 or 32x32",
            request.block)};
    }
    if (request.tile_given && request.tile != block->first) {
        return Error{fmt::format("--block {} and --tile {} contradict each other; give one of them",
                                 request.block, request.tile)};
    }
    return block->first;
}

Result<BlockWindow> window_of(const RecordRequest& request, const Dim3& grid) {
    if (request.blocks.empty()) return BlockWindow{0, grid.x, 0, grid.y};
    auto window = parse_window(request.blocks);
    if (!window) {
        return Error{
            fmt::format("--blocks '{}' is not a window of blocks; give it as x0:x1,y0:y1 with x0 < x1 and "
                        "y0 < y1, such as 0:2,0:2",
                        request.blocks)};
    }
    if (window->x0 >= grid.x || window->y0 >= grid.y) {
        return Error{
            fmt::format("--blocks {} lies outside the grid of {} x {} blocks; x goes to {} and y to {}",
                        request.blocks, grid.x, grid.y, grid.x, grid.y)};
    }
    window->x1 = std::min(window->x1, grid.x);
    window->y1 = std::min(window->y1, grid.y);
    return *window;
}

Result<void> check_backend(const std::string& backend) {
    if (backend == "gpu") return Error{"this tilescope records on the CPU only; leave out --backend gpu"};
    if (backend == "cpu" || backend == "auto") return {};
    return Error{fmt::format("--backend '{}' is not known; choose cpu, gpu or auto", backend)};
}

}  // namespace

Result<RecordJob> job_of(const RecordRequest& request) {
    if (auto good = check_backend(request.backend); !good) return good.error();
    const auto tile = tile_of(request);
    if (!tile) return tile.error();
    auto plan = kernels::plan(request.kernel, {request.m, request.k, request.n, *tile});
    if (!plan) return plan.error();
    const auto window = window_of(request, plan->grid);
    if (!window) return window.error();

    RecordJob job;
    job.options.window = *window;
    job.options.seed = request.seed;
    job.options.threads = request.threads;
    if (!request.schedule.empty()) {
        const auto schedule = parse_schedule(request.schedule);
        if (!schedule) {
            return Error{
                fmt::format("--schedule '{}' is not an order of warps; choose fair, greedy or a whole number "
                            "as a seed",
                            request.schedule)};
        }
        job.options.schedule = *schedule;
    }
    job.output = request.output;
    if (job.output.empty()) {
        job.output =
            fmt::format("{}-{}x{}x{}-t{}.tsc", request.kernel, request.m, request.k, request.n, *tile);
    }
    job.plan = std::move(*plan);
    return job;
}

}  // namespace tilescope::cli
