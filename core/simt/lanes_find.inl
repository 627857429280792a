// From an operation to its lane function, for one version of them (TILESCOPE_LANES).
// Each part builds on the ones before it, hence the order:
// clang-format off
#include "core/simt/lanes_column.inl"
#include "core/simt/lanes_integer.inl"
#include "core/simt/lanes_bits.inl"
#include "core/simt/lanes_carry.inl"
#include "core/simt/lanes_float.inl"
#include "core/simt/lanes_approx.inl"
#include "core/simt/lanes_convert.inl"
#include "core/simt/lanes_half.inl"
#include "core/simt/lanes_half_arithmetic.inl"
#include "core/simt/lanes_small_floats.inl"
#include "core/simt/lanes_compare.inl"
#include "core/simt/lanes_warp.inl"
// clang-format on

namespace tilescope::simt::TILESCOPE_LANES {

// Each part answers for the operations that it knows.
LaneOp find(const Operation& i) {
    for (auto* const part :
         {find_predicate, find_half, find_short, find_small, find_bits, find_carry, find_convert,
          find_compare, find_select, find_warp, find_approx, find_float, find_integer})
        if (const LaneOp op = part(i)) return op;
    return {};
}

}  // namespace tilescope::simt::TILESCOPE_LANES
