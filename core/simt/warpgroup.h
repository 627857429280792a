// The product of wgmma.mma_async: D = A B + D, of 64 rows, n columns and 32 bytes along k.
//
// A and B are given as they lie: a row of A, and a column of B, are 32 bytes of elements along k, one behind the other (of
// B 64 bytes where A is sparse). Where that is in shared memory and who holds D is core/ptx/warpgroup.h's; how sums are
// rounded, matrix_sums.h's. b1 counts the bits that a row and a column have in common.
//
// Source: PTX ISA, "wgmma.mma_async", "wgmma.mma_async.sp".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ptx/warpgroup.h"

namespace tilescope::simt {

struct WarpgroupProduct {
    ptx::MatrixForm form;   // one of warpgroup_form()
    bool negates = false;   // A B is subtracted: one of imm-scale-a and imm-scale-b is -1
    uint32_t selector = 0;  // of a sparse A's metadata
};

// a: 64 rows of 32 bytes, or 16 of one warp; b: n columns of 32 bytes, or 64; metadata: a word of each thread, of a sparse A
// alone; d: as many rows x n sums, row after row, the bits of each in a word.
void multiply(const WarpgroupProduct& product, std::span<const std::byte> a, std::span<const std::byte> b,
              std::span<const uint32_t> metadata, std::span<uint32_t> d);

}  // namespace tilescope::simt
