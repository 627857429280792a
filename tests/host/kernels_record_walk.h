// The kernels once more, a thread at a time: which elements each thread touches, in order. Slow and
// obvious, and independent of PTX and warps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {

// What one thread does to one array between two barriers: elements in order.
// Which of two arrays comes first is the compiler's choice, so arrays and operations stand apart.
struct Stream {
    uint32_t interval = 0;  // barriers that the thread has passed
    std::string array;
    bool store = false;
    auto operator<=>(const Stream&) const = default;
};

struct ThreadWalk {
    std::map<Stream, std::vector<uint64_t>> elements;
    uint32_t barriers = 0;

    void load(const std::string& array, uint64_t element) {
        elements[{barriers, array, false}].push_back(element);
    }
    void store(const std::string& array, uint64_t element) {
        elements[{barriers, array, true}].push_back(element);
    }
    bool operator==(const ThreadWalk&) const = default;
};

inline ThreadWalk walk_untiled(const TextbookPlan& plan, uint64_t row, uint64_t col) {
    const auto [m, k, n, tile] = plan.shape;
    ThreadWalk walk;
    if (row < m && col < n) {
        for (uint64_t i = 0; i < k; ++i) {
            walk.load("M", row * k + i);
            walk.load("N", i * n + col);
        }
        walk.store("P", row * n + col);
    }
    return walk;
}

// Everything in which the tiled kernels differ.
struct TiledVariant {
    bool swapped_loads = false, transposed = false, closing_barrier = true, zero_fill = true;
    uint64_t pad = 0;
};

inline ThreadWalk walk_tiled(const TextbookPlan& plan, const TiledVariant& v, uint64_t bx, uint64_t by,
                             uint64_t tx, uint64_t ty) {
    const auto [m, k, n, tile] = plan.shape;
    const uint64_t T = tile, pitch = T + v.pad;
    ThreadWalk walk;
    for (uint64_t phase = 0; phase * T < k; ++phase) {
        const uint64_t y = v.swapped_loads ? tx : ty,
                       x = v.swapped_loads ? ty : tx;  // the tile's cell that is brought
        const uint64_t m_row = by * T + y, m_col = phase * T + x, n_row = phase * T + y, n_col = bx * T + x;
        const bool in_m = m_row < m && m_col < k, in_n = n_row < k && n_col < n;
        if (in_m) walk.load("M", m_row * k + m_col);
        if (in_m || v.zero_fill) walk.store("Mds", y * T + x);
        if (in_n) walk.load("N", n_row * n + n_col);
        if (in_n || v.zero_fill) walk.store("Nds", v.transposed ? x * pitch + y : y * pitch + x);
        ++walk.barriers;
        for (uint64_t i = 0; i < T; ++i) {
            walk.load("Mds", ty * T + i);
            walk.load("Nds", v.transposed ? tx * pitch + i : i * pitch + tx);
        }
        walk.barriers += v.closing_barrier ? 1 : 0;
    }
    if (by * T + ty < m && bx * T + tx < n) walk.store("P", (by * T + ty) * n + bx * T + tx);
    return walk;
}

inline ThreadWalk walk_thread(const TextbookPlan& plan, uint64_t bx, uint64_t by, uint64_t tx, uint64_t ty) {
    const std::string& name = plan.kernel;
    const uint64_t x = bx * plan.launch.block.x + tx, y = by * plan.launch.block.y + ty;
    if (name == "untiled") return walk_untiled(plan, y, x);
    if (name == "untiled_swapped") return walk_untiled(plan, x, y);
    TiledVariant variant;
    variant.swapped_loads = name == "tiled_swapped";
    variant.transposed = name == "tiled_transposed" || name == "tiled_padded";
    variant.pad = name == "tiled_padded" ? 1 : 0;
    variant.closing_barrier = name != "tiled_no_barrier";
    variant.zero_fill = name != "tiled_stale_edge";
    return walk_tiled(plan, variant, bx, by, tx, ty);
}

}  // namespace tilescope::kernels
