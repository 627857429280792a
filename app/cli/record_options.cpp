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

// What was given that only a GPU takes; "" for nothing.
const char* gpu_option(const RecordRequest& request) {
    if (request.buffer > 0) return "--buffer";
    if (request.one_launch) return "--one-launch";
    return request.exact ? "--exact" : "";
}

// An option that only one of them takes decides where auto would: --schedule is the CPU's, --buffer and the
// like are the GPU's.
Result<gpu::BackendChoice> backend_of(const RecordRequest& request) {
    const auto choice = gpu::backend_of(request.backend);
    if (!choice)
        return Error{fmt::format("--backend '{}' is not known; choose cpu, gpu or auto", request.backend)};
    const std::string gpus = gpu_option(request);
    const bool scheduled = !request.schedule.empty();
    if (scheduled && (*choice == gpu::BackendChoice::Gpu || !gpus.empty())) {
        return Error{fmt::format(
            "--schedule is an order of warps for the CPU, and a GPU has its own; leave out --schedule or {}",
            gpus.empty() ? "--backend gpu" : gpus)};
    }
    if (*choice == gpu::BackendChoice::Cpu && !gpus.empty())
        return Error{fmt::format("{} is for recording on a GPU; leave it out or --backend cpu", gpus)};
    return gpus.empty() ? *choice : gpu::BackendChoice::Gpu;
}

Result<void> check_compiler(const RecordRequest& request) {
    const std::string& compiler = request.compiler;
    if (compiler != "clang" && compiler != "shipped" && compiler != "nvrtc")
        return Error{
            fmt::format("--compiler '{}' is not known; choose clang, whose PTX ships, or nvrtc", compiler)};
    if (compiler == "nvrtc" && !request.ptx_file.empty())
        return Error{"--ptx and --compiler nvrtc contradict each other; give one of them"};
    return {};
}

}  // namespace

Result<RecordJob> job_of(const RecordRequest& request) {
    const auto backend = backend_of(request);
    if (!backend) return backend.error();
    if (auto good = check_compiler(request); !good) return good.error();
    const auto tile = tile_of(request);
    if (!tile) return tile.error();
    auto plan = kernels::plan(request.kernel, {request.m, request.k, request.n, *tile}, request.seed);
    if (!plan) return plan.error();
    const auto window = window_of(request, plan->launch.grid);
    if (!window) return window.error();

    RecordJob job;
    kernels::RecordOptions& common = job.options.common;
    common.window = *window;
    common.threads = request.threads;
    job.backend = *backend;
    job.options.buffer_bytes = request.buffer;
    job.options.one_launch = request.one_launch;
    job.options.exact = request.exact;
    if (!request.schedule.empty()) {
        const auto schedule = parse_schedule(request.schedule);
        if (!schedule) {
            return Error{
                fmt::format("--schedule '{}' is not an order of warps; choose fair, greedy or a whole number "
                            "as a seed",
                            request.schedule)};
        }
        common.schedule = *schedule;
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
