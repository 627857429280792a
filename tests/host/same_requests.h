// Two recordings of one launch, whose warps took turns in different orders: the same requests of every warp,
// in its order, lane for lane.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "core/simt/memory.h"
#include "core/trace/trace.h"

namespace tilescope {

// A warp's requests in order, lane for lane.
using Requests = std::vector<trace::Access>;

inline std::vector<Requests> by_warp(const trace::Trace& trace, const trace::Block& block) {
    std::vector<Requests> warps(trace::kMaxWarpsPerBlock);
    for (uint64_t step = block.first; step < block.first + block.count; ++step)
        warps[trace.warp_of(step)].push_back(trace::decode(trace, step));
    return warps;
}

inline void expect_same_requests(const trace::Trace& expected, const trace::Trace& got) {
    ASSERT_EQ(expected.blocks.size(), got.blocks.size());
    for (size_t b = 0; b < expected.blocks.size(); ++b) {
        const trace::Block &want = expected.blocks[b], &have = got.blocks[b];
        ASSERT_EQ(std::tie(want.x, want.y, want.z), std::tie(have.x, have.y, have.z));
        ASSERT_EQ(want.count, have.count) << "block " << b;
        const auto left = by_warp(expected, want), right = by_warp(got, have);
        for (size_t w = 0; w < left.size(); ++w) {
            ASSERT_EQ(left[w].size(), right[w].size()) << "block " << b << " warp " << w;
            for (size_t i = 0; i < left[w].size(); ++i) {
                const trace::Access &x = left[w][i], &y = right[w][i];
                ASSERT_TRUE(x.site == y.site && x.mask == y.mask && x.array == y.array &&
                            x.offset == y.offset)
                    << "block " << b << " warp " << w << " request " << i << ": site " << x.site << " and "
                    << y.site << ", masks " << x.mask << " and " << y.mask << ", arrays " << int{x.array}
                    << " and " << int{y.array} << ", offsets " << x.offset[0] << " and " << y.offset[0];
            }
        }
    }
}

inline bool same_bits(const simt::GlobalMemory& a, const simt::GlobalMemory& b) {
    for (size_t i = 0; i < a.buffers.size(); ++i)
        if (a.buffers[i].bytes != b.buffers[i].bytes) return false;
    return a.buffers.size() == b.buffers.size();
}

}  // namespace tilescope
