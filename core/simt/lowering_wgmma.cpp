// wgmma as micro-operations: the tiles that it reads, then the product.
#include "core/ptx/forms.h"
#include "core/ptx/warpgroup.h"
#include "core/simt/lowering.h"

namespace tilescope::simt {

using ptx::Operand;
using ptx::Type;

bool Lowering::multiply_warpgroup() {
    const auto is_minus = [](const Operand* scale) {
        return scale != nullptr && static_cast<int32_t>(scale->bits) < 0;
    };
    const auto is_set = [](const Operand* flag) { return flag != nullptr && flag->bits != 0; };
    WgmmaCode code;
    code.form = *ptx::warpgroup_form(*current);
    code.negates = is_minus(ptx::scale_of_a(*current)) != is_minus(ptx::scale_of_b(*current));
    for (const ptx::Site& site : program.sites) {
        if (site.instruction != current_index) continue;
        if (site.kind == ptx::SiteKind::Exchange) code.site = site.id;
        if (site.box != ptx::Box::Tile) continue;
        const bool of_a = &ptx::address_of(*current, site) == ptx::descriptor_of_a(*current);
        (of_a ? code.a_tile : code.b_tile).site = site.id;
    }
    const Operand* const in_shared = ptx::descriptor_of_a(*current);
    if (in_shared)
        code.a_tile.descriptor = source(*in_shared, Type::U64);
    else
        for (const Operand& one : current->operands[1].elements) code.a.push_back(source(one, Type::B32));
    code.b_tile.descriptor = source(*ptx::descriptor_of_b(*current), Type::U64);
    code.a_tile.transposed = is_set(ptx::transposes_a(*current));
    code.b_tile.transposed = is_set(ptx::transposes_b(*current));
    for (const Operand& one : current->operands[0].elements)
        code.d.push_back(one.kind == Operand::Kind::Register ? column_of(one) : column(4));
    if (const Operand* const scale = ptx::scale_of_d(*current)) code.scale = source(*scale, Type::Pred);
    if (code.form.sparse) {
        code.metadata = source(*ptx::operand_of(*current, 'u'), Type::U32);
        code.selector = static_cast<uint8_t>(ptx::operand_of(*current, 'i')->bits);
    }
    if (!problem.empty()) return false;
    const auto target = static_cast<uint32_t>(program.wgmmas.size());
    const auto emit_one = [&](MicroOp::Kind kind, Ref which) {
        MicroOp& op = emit(kind);
        op.target = target, op.c = which, op.aligned = true;
    };
    if (in_shared) emit_one(MicroOp::Kind::Tile, 0);
    emit_one(MicroOp::Kind::Tile, 1);
    emit_one(MicroOp::Kind::Wgmma, 0);
    program.wgmmas.push_back(std::move(code));
    return true;
}

}  // namespace tilescope::simt
