// Barriers in memory and copies in bulk, as micro-operations.
#include <utility>

#include "core/ptx/forms.h"
#include "core/simt/lowering.h"

namespace tilescope::simt {

using ptx::Op;
using ptx::Operand;
using ptx::Signal;
using ptx::StateSpace;
using ptx::Type;

// mbarrier.init, inval, arrive, arrive_drop, expect_tx, complete_tx, test_wait, try_wait; cp.async.mbarrier.arrive.
bool Lowering::signal() {
    SignalCode code;
    code.signal = ptx::signal_of(current->op);
    code.site = static_cast<uint32_t>(site_of[current_index]);
    code.parity = ptx::waits_for_parity(current->op);
    code.increments = current->op == Op::CpArrive && !ptx::has_suffix(*current, {"noinc"});
    const Operand& barrier = *ptx::barrier_of(*current);
    MemoryAccess access;
    const Ref at = address_column(barrier, access);
    code.offset = access.offset, code.wide_address = access.wide_address;
    const bool named = barrier.reg < 0 && barrier.symbol >= 0;
    code.space = current->space == StateSpace::Generic && !named ? StateSpace::Generic : StateSpace::Shared;
    const bool tells = code.signal == Signal::Arrive || code.signal == Signal::Drop ||
                       code.signal == Signal::Expect || code.signal == Signal::Complete;
    code.cluster = tells && (ptx::names_cluster(*current) || code.space == StateSpace::Generic);
    const Operand* const count = ptx::arrivals_of(*current);
    const Operand* const bytes = ptx::bytes_operand_of(*current);
    const Operand* const phase = ptx::phase_of(*current);
    Ref d = 0;
    if (current->destinations > 0 && current->operands[0].kind == Operand::Kind::Register)
        code.returns = true, d = column_of(current->operands[0]);
    const Ref b = phase   ? source(*phase, code.parity ? Type::U32 : Type::U64)
                  : count ? source(*count, Type::U32)
                          : 0;
    const Ref c = bytes ? source(*bytes, Type::U32) : 0;
    code.has_count = count != nullptr && phase == nullptr;
    code.has_bytes = bytes != nullptr;
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Signal);
    op.a = at, op.b = b, op.c = c, op.d = d;
    op.target = static_cast<uint32_t>(program.signals.size());
    program.signals.push_back(code);
    return true;
}

// The arrivals that a phase lacked, which its state holds in its upper half.
bool Lowering::pending_count() {
    const Ref state = source(current->operands[1], Type::U64), wide = column(8);
    if (!problem.empty() || current->operands[0].kind != Operand::Kind::Register) return problem.empty();
    lane(Op::Shr, Type::U64, wide, state, immediate(32, 4));
    return lane(Op::Cvt, Type::U32, column_of(current->operands[0]), wide, 0, Type::U64);
}

BulkCode::Side Lowering::bulk_side(const Operand& address, StateSpace space, uint32_t site) {
    MemoryAccess access;
    BulkCode::Side side;
    side.address = address_column(address, access);
    side.offset = access.offset, side.wide_address = access.wide_address;
    side.space = space, side.site = site;
    return side;
}

bool Lowering::bulk_copy() {
    for (const char* const suffix : {"cp_mask", "ignore_oob"})
        if (ptx::has_suffix(*current, {suffix}))
            return not_run(std::string("Tilescope reads it and does not run its .") + suffix +
                           "; build the kernel without it");
    const auto site = static_cast<uint32_t>(site_of[current_index]);
    BulkCode code;
    const bool to_shared = current->op == Op::BulkToShared;
    const bool between = current->op == Op::BulkBetween;
    const StateSpace from = to_shared ? StateSpace::Global : StateSpace::Shared,
                     to = to_shared || between ? StateSpace::Shared : StateSpace::Global;
    code.to = bulk_side(current->operands[0], to, site);
    code.from = bulk_side(current->operands[1], from, site - 1);
    code.bytes = source(*ptx::bytes_operand_of(*current), Type::U32);
    const Operand* const barrier = ptx::barrier_of(*current);
    code.of_group = barrier == nullptr;
    code.reduces = current->atomic, code.element = current->type;
    if (barrier) code.barrier = bulk_side(*barrier, StateSpace::Shared, kNoSite);
    return problem.empty() && emit_bulk(std::move(code));
}

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor
bool Lowering::tensor_copy() {
    for (const char* const suffix : {"im2col::w", "im2col::w::128", "cta_group::1", "cta_group::2"})
        if (ptx::has_suffix(*current, {suffix}))
            return not_run(std::string("Tilescope reads it and does not run its .") + suffix +
                           "; build the kernel without it");
    const auto site = static_cast<uint32_t>(site_of[current_index]);
    BulkCode code;
    code.tensor = true;
    code.of_group = current->op != Op::TensorToShared;
    code.reduces = current->atomic;
    code.gathers = ptx::has_suffix(*current, {"tile::gather4", "tile::scatter4"});
    code.map = bulk_side(*ptx::map_of(*current), StateSpace::Generic, kNoSite);
    for (const Operand& one : ptx::coordinates_of(*current)->elements)
        code.coordinates.push_back(source(one, Type::S32));
    if (const Operand* const offsets = ptx::offsets_operand_of(*current))
        for (const Operand& one : offsets->elements) code.offsets.push_back(source(one, Type::U16));
    const Operand& shared = *ptx::operand_of(*current, code.of_group ? 'H' : 'a');
    const BulkCode::Side in_shared = bulk_side(shared, StateSpace::Shared, code.of_group ? site - 1 : site);
    const BulkCode::Side in_global{.space = StateSpace::Global, .site = code.of_group ? site : site - 1};
    code.from = code.of_group ? in_shared : in_global;
    code.to = code.of_group ? in_global : in_shared;
    if (!code.of_group) code.barrier = bulk_side(*ptx::barrier_of(*current), StateSpace::Shared, kNoSite);
    return problem.empty() && emit_bulk(std::move(code));
}

bool Lowering::emit_bulk(BulkCode code) {
    code.multicast = ptx::has_suffix(*current, {"multicast::cluster"});
    if (code.multicast) code.blocks = source(*ptx::operand_of(*current, 'K'), Type::U16);
    if (code.multicast || current->op == Op::BulkBetween) program.clusters = true;
    if (!problem.empty()) return false;
    for (const Ref half : {0u, 1u}) {
        MicroOp& op = emit(MicroOp::Kind::Bulk);
        op.c = half;
        op.target = static_cast<uint32_t>(program.bulks.size());
    }
    program.bulks.push_back(std::move(code));
    return true;
}

// What an asynchronous store tells its barrier in each lane: no step of its own.
bool Lowering::completes_bytes(uint64_t bytes) {
    SignalCode code;
    code.signal = Signal::Complete;
    MemoryAccess access;
    const Ref at = address_column(*ptx::barrier_of(*current), access), c = immediate(bytes, 4);
    code.offset = access.offset, code.wide_address = access.wide_address;
    code.cluster = code.has_bytes = true;
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Signal);
    op.a = at, op.c = c;
    op.target = static_cast<uint32_t>(program.signals.size());
    program.signals.push_back(code);
    return true;
}

// st.async, red.async: they are done at once, as they may be.
bool Lowering::store_async() {
    program.clusters = true;
    if (!(current->op == Op::StAsync ? memory() : atomic())) return false;
    MemoryAccess& access = program.accesses.back();
    access.space = StateSpace::Shared, access.cluster = true;
    return completes_bytes(bytes_of(access));
}

// .read waits until the copies have been read, which they are where they are asked for.
bool Lowering::bulk_wait() {
    const bool read = ptx::has_suffix(*current, {"read"});
    if (read) return emit(MicroOp::Kind::Nothing), true;
    emit(MicroOp::Kind::BulkWait).target = ptx::groups_left(*current);
    return true;
}

}  // namespace tilescope::simt
