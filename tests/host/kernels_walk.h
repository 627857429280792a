// The slow, obvious reference: every thread of every block of a kernel, by its source, one access after the
// other.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "kernels/textbook/catalogue.h"
#include "tests/recorded.h"

namespace tilescope::kernels {

inline uint32_t up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// One warp's access: lane l touches element[l] where mask has bit l. array: M N P Mds Nds are 0 to 4.
struct WarpAccess {
    uint32_t warp = 0;
    int array = 0;
    bool store = false;
    uint32_t phase = 0;  // ~0 behind the loop
    uint32_t mask = 0;
    std::array<uint64_t, 32> element{};
};

// visit(WarpAccess) for all that a kernel does in block (bx, by), read off its source, unordered.
template <class Visit>
void walk_block(const std::string& kernel, const Shape& s, uint32_t bx, uint32_t by, Visit visit) {
    const uint32_t T = s.tile;
    const bool tiled = kernel.starts_with("tiled");
    const bool turned = kernel == "untiled_swapped";
    const uint32_t nds_cols = kernel == "tiled_padded" ? T + 1 : T;
    const bool nds_transposed = kernel == "tiled_padded" || kernel == "tiled_transposed";
    const bool swapped_loads = kernel == "tiled_swapped";
    const bool zero_fill = kernel != "tiled_stale_edge";

    for (uint32_t warp = 0; warp < up(T * T, 32); ++warp) {
        // element(tx, ty) -> the element, or -1 for a lane that takes no part
        const auto access = [&](int array, bool store, uint32_t phase, auto element) {
            WarpAccess a;
            a.warp = warp, a.array = array, a.store = store, a.phase = phase;
            for (uint32_t lane = 0; lane < 32 && warp * 32 + lane < T * T; ++lane) {
                const uint32_t thread = warp * 32 + lane;
                const int64_t e = element(thread % T, thread / T);
                if (e < 0) continue;
                a.mask |= 1u << lane;
                a.element[lane] = static_cast<uint64_t>(e);
            }
            if (a.mask != 0) visit(a);
        };
        const auto at = [](bool inside, uint64_t row, uint64_t cols, uint64_t col) {
            return inside ? static_cast<int64_t>(row * cols + col) : int64_t{-1};
        };
        const auto row = [&](uint32_t tx, uint32_t ty) { return turned ? bx * T + tx : by * T + ty; };
        const auto col = [&](uint32_t tx, uint32_t ty) { return turned ? by * T + ty : bx * T + tx; };
        const auto has_element = [&](uint32_t x, uint32_t y) { return row(x, y) < s.m && col(x, y) < s.n; };

        for (uint32_t i = 0; !tiled && i < s.k; ++i) {
            access(0, false, i,
                   [&](uint32_t x, uint32_t y) { return at(has_element(x, y), row(x, y), s.k, i); });
            access(1, false, i,
                   [&](uint32_t x, uint32_t y) { return at(has_element(x, y), i, s.n, col(x, y)); });
        }
        for (uint32_t p = 0; tiled && p < up(s.k, T); ++p) {
            // (tile row, tile column) of the element that a thread brings
            const auto r = [&](uint32_t x, uint32_t y) { return swapped_loads ? x : y; };
            const auto c = [&](uint32_t x, uint32_t y) { return swapped_loads ? y : x; };
            const auto m_inside = [&](uint32_t x, uint32_t y) {
                return by * T + r(x, y) < s.m && p * T + c(x, y) < s.k;
            };
            const auto n_inside = [&](uint32_t x, uint32_t y) {
                return p * T + r(x, y) < s.k && bx * T + c(x, y) < s.n;
            };
            access(0, false, p, [&](uint32_t x, uint32_t y) {
                return at(m_inside(x, y), by * T + r(x, y), s.k, p * T + c(x, y));
            });
            access(3, true, p, [&](uint32_t x, uint32_t y) {
                return at(zero_fill || m_inside(x, y), r(x, y), T, c(x, y));
            });
            access(1, false, p, [&](uint32_t x, uint32_t y) {
                return at(n_inside(x, y), p * T + r(x, y), s.n, bx * T + c(x, y));
            });
            access(4, true, p, [&](uint32_t x, uint32_t y) {
                const bool part = zero_fill || n_inside(x, y);
                return nds_transposed ? at(part, x, nds_cols, y) : at(part, r(x, y), nds_cols, c(x, y));
            });
            for (uint32_t i = 0; i < T; ++i) {
                access(3, false, p, [&](uint32_t, uint32_t y) { return at(true, y, T, i); });
                access(4, false, p, [&](uint32_t x, uint32_t) {
                    return nds_transposed ? at(true, x, nds_cols, i) : at(true, i, nds_cols, x);
                });
            }
        }
        access(2, true, ~0u,
               [&](uint32_t x, uint32_t y) { return at(has_element(x, y), row(x, y), s.n, col(x, y)); });
    }
}

}  // namespace tilescope::kernels
