// From an instruction to its lane function, for one version of them (TILESCOPE_LANES).
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
#include "core/simt/lanes_compare.inl"
#include "core/simt/lanes_warp.inl"
// clang-format on

namespace tilescope::simt::TILESCOPE_LANES {

LaneOp find(const Instruction& i) {
    switch (i.op) {
        case Op::Bfe:
        case Op::Bfi:
        case Op::Bfind:
        case Op::Bmsk:
        case Op::Brev:
        case Op::Clz:
        case Op::Fns:
        case Op::Popc:
        case Op::Prmt:
        case Op::Lop3:
        case Op::Shf:
        case Op::Szext:
            return find_bits(i);
        case Op::Addc:
        case Op::Dp2a:
        case Op::Dp4a:
        case Op::Madc:
        case Op::Subc:
            return find_carry(i);
        case Op::Cvt:
            return is_half(i.type) || is_half(i.type2) ? find_half(i) : find_convert(i);
        case Op::Setp:
        case Op::Set:
            return find_compare(i);
        case Op::Selp:
        case Op::Slct:
            return find_select(i);
        case Op::Activemask:
        case Op::Match:
        case Op::Redux:
        case Op::Vote:
        case Op::Shfl:
            return find_warp(i);
        default:
            break;
    }
    if (i.type == Type::Pred) return find_predicate(i);
    if (is_half(i.type)) return {};  // arithmetic on them is not known here
    if (i.carry_out) return find_carry(i);
    if (i.round == Round::Approx || i.round == Round::Full) return find_approx(i);
    return ptx::is_float(i.type) ? find_float(i) : find_integer(i);
}

}  // namespace tilescope::simt::TILESCOPE_LANES
