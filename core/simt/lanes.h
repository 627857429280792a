// Lane functions: one PTX arithmetic instruction over the 32 lanes of a warp.
//
//   register %f3 -->  [ lane 0 | lane 1 | ... | lane 31 ]   a column of 32 slots
//
// A slot is 4 bytes for every type up to 32 bits and 8 bytes for 64-bit types; integers narrower
// than their slot lie in it zero-extended. A predicate is one 32-bit word, a bit a lane.
//
// The same source (lanes_*.inl) is compiled twice: for any processor, and for x86-64 processors
// with AVX2 and FMA. Both give the same bits; the second is faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/launch.h"
#include "core/ptx/ast.h"

namespace tilescope::simt {

// d, e: destinations; a, b, c: sources, in the order of the instruction's operands. e is the second
// destination (shfl's predicate) or a fourth source (lop3's table). Lanes outside the mask keep their values.
using LaneFn = void (*)(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b,
                        const std::byte* c, uint32_t mask);

// The columns of an operation in the first of several warps, and how far from them those of the next warp are.
struct WarpColumns {
    std::byte *d = nullptr, *e = nullptr;
    const std::byte *a = nullptr, *b = nullptr, *c = nullptr;
    ptrdiff_t next_d = 0, next_e = 0, next_a = 0, next_b = 0, next_c = 0;
};
using WarpsFn = void (*)(const WarpColumns& columns, uint32_t warps);

struct LaneOp {
    LaneFn full = nullptr;     // may write every lane, for a mask that covers all lanes that live
    LaneFn partial = nullptr;  // writes the lanes of the mask only
    WarpsFn warps =
        nullptr;  // as full, for several warps, one after the other; null: full is called for each
    explicit operator bool() const { return full != nullptr; }
};

enum class LaneVersion : uint8_t { Portable, Avx2 };

bool processor_has_avx2();            // and what comes with it: fused multiplication, BMI, POPCNT
bool supported(LaneVersion version);  // by the processor that runs this, and compiled in
LaneVersion best_version();

// The lane function of an operation; empty where there is none.
LaneOp find_lane_op(const ptx::Operation& operation, LaneVersion version);

namespace portable {
LaneOp find(const ptx::Operation& operation);
}
namespace avx2 {
LaneOp find(const ptx::Operation& operation);
}
namespace directed {
LaneOp find(const ptx::Operation& operation);  // float arithmetic rounded toward zero or an infinity
}

}  // namespace tilescope::simt
