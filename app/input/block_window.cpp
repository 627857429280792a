#include "app/input/block_window.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/run/record.h"

namespace tilescope::input {

BlockWindow clipped(BlockWindow window, uint32_t x, uint32_t y) {
    const auto cut = [](uint32_t& first, uint32_t& end, uint32_t size) {
        first = std::min(first, size == 0 ? 0 : size - 1);
        end = std::clamp(end, std::min(first + 1, size), size);
    };
    cut(window.x0, window.x1, x);
    cut(window.y0, window.y1, y);
    return window;
}

uint64_t blocks_of(const BlockWindow& window, uint32_t x, uint32_t y) {
    const BlockWindow inside = clipped(window, x, y);
    return uint64_t{inside.x1 - inside.x0} * (inside.y1 - inside.y0);
}

std::string window_text(const BlockWindow& window) {
    return fmt::format("x {}:{}, y {}:{}", window.x0, window.x1, window.y0, window.y1);
}

BlockWindow dragged(double x0, double y0, double x1, double y1, double width, double height, uint32_t grid_x,
                    uint32_t grid_y) {
    const auto range = [](double a, double b, double size, uint32_t blocks, uint32_t& first, uint32_t& end) {
        if (a > b) std::swap(a, b);
        const double per = std::max(size, 1.0) / std::max(blocks, 1u);
        const auto block = [&](double at) {
            return static_cast<uint32_t>(std::clamp(std::floor(at / per), 0.0, std::max(blocks, 1u) - 1.0));
        };
        first = block(a);
        end = block(b) + 1;
    };
    BlockWindow window;
    range(x0, x1, width, grid_x, window.x0, window.x1);
    range(y0, y1, height, grid_y, window.y0, window.y1);
    return window;
}

BlockWindow moved(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y) {
    window = clipped(window, grid_x, grid_y);
    const auto shift = [](uint32_t& first, uint32_t& end, int64_t by, uint32_t size) {
        by = std::clamp<int64_t>(by, -int64_t{first}, int64_t{size} - end);
        first = static_cast<uint32_t>(first + by);
        end = static_cast<uint32_t>(end + by);
    };
    shift(window.x0, window.x1, dx, grid_x);
    shift(window.y0, window.y1, dy, grid_y);
    return window;
}

uint64_t BlockSteps::of(uint32_t k) const {
    return static_cast<uint64_t>(std::llround(std::max(0.0, first + each * k)));
}

Result<BlockSteps> block_steps(const std::string& kernel, uint32_t tile) {
    uint64_t steps[2] = {0, 0};
    const uint32_t ks[2] = {tile * 2, tile * 4};
    for (int i = 0; i < 2; ++i) {
        auto plan = kernels::plan(kernel, {tile, ks[i], tile, tile});
        if (!plan) return plan.error();
        kernels::RecordOptions options;
        options.timestamp = false;
        auto trace = kernels::record_cpu(*plan, options);
        if (!trace) return trace.error();
        if (!trace->blocks.empty()) steps[i] = trace->blocks[0].count;
    }
    BlockSteps made;
    made.each = (static_cast<double>(steps[1]) - static_cast<double>(steps[0])) / (ks[1] - ks[0]);
    made.first = static_cast<double>(steps[0]) - made.each * ks[0];
    return made;
}

}  // namespace tilescope::input
