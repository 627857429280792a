// Two recordings of one launch, whose warps took turns in different orders: the same requests of every warp,
// in its order, lane for lane.
#pragma once

#include <tuple>

#include <gtest/gtest.h>

#include "core/simt/memory.h"
#include "core/trace/trace.h"
#include "tests/same_accesses.h"

namespace tilescope {

inline void expect_same_requests(const trace::Trace& expected, const trace::Trace& got) {
    ASSERT_EQ(expected.blocks.size(), got.blocks.size());
    for (size_t b = 0; b < expected.blocks.size(); ++b) {
        const trace::Block &want = expected.blocks[b], &have = got.blocks[b];
        ASSERT_EQ(std::tie(want.x, want.y, want.z, want.count), std::tie(have.x, have.y, have.z, have.count));
    }
    ASSERT_EQ(trace::first_difference(expected, got), "");
}

inline bool same_bits(const simt::GlobalMemory& a, const simt::GlobalMemory& b) {
    for (size_t i = 0; i < a.buffers.size(); ++i)
        if (a.buffers[i].bytes != b.buffers[i].bytes) return false;
    return a.buffers.size() == b.buffers.size();
}

}  // namespace tilescope
