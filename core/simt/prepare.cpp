// From PTX to micro-operations: one instruction after the other, then branches and reconvergence.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/ptx/bases.h"
#include "core/ptx/cfg.h"
#include "core/ptx/forms.h"
#include "core/ptx/parse.h"
#include "core/simt/lowering.h"

namespace tilescope::simt {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;

// mov, with vectors that take a register apart or put one together.
bool Lowering::move() {
    const Operand& to = current->operands[0];
    const Operand& from = current->operands[1];
    const Type type = current->type;
    const uint32_t bytes = size_of(type);
    if (bytes == 16) return move_wide();
    if (to.kind == Operand::Kind::Vector) {
        const auto part = bytes / static_cast<uint32_t>(to.elements.size());
        const Ref whole = source(from, integer_of_size(bytes));
        for (size_t i = 0; i < to.elements.size(); ++i) {
            if (to.elements[i].kind != Operand::Kind::Register) continue;
            if (bytes == 4) {
                take_half(column_of(to.elements[i]), whole, static_cast<uint32_t>(i));
                continue;
            }
            const Ref shifted = column(bytes);
            lane(Op::Shr, integer_of_size(bytes), shifted, whole, immediate(i * part * 8, 4));
            lane(Op::Cvt, integer_of_size(part), column_of(to.elements[i]), shifted, 0,
                 integer_of_size(bytes));
        }
        return problem.empty();
    }
    if (to.kind != Operand::Kind::Register) return true;
    const Ref d = column_of(to);
    if (from.kind != Operand::Kind::Vector) return lane(Op::Mov, type, d, source(from, type));
    const auto part = bytes / static_cast<uint32_t>(from.elements.size());
    const Type whole = integer_of_size(bytes);
    Ref sum = immediate(0, slot_bytes(whole));
    for (size_t i = 0; i < from.elements.size(); ++i) {
        const Ref element = source(from.elements[i], integer_of_size(part));
        const Ref wide = column(bytes), shifted = column(bytes);
        const Ref joined = i + 1 == from.elements.size() ? d : column(bytes);
        const Type bits = bits_of_size(bytes);
        lane(Op::Cvt, whole, wide, element, 0, integer_of_size(part));
        lane(Op::Shl, bits, shifted, wide, immediate(i * part * 8, 4));
        lane(Op::Or, bits, joined, sum, shifted);
        sum = joined;
    }
    return problem.empty();
}

// Both halves are read before one is written.
bool Lowering::move_wide() {
    const Operand &to = current->operands[0], &from = current->operands[1];
    Ref halves[2];
    for (uint32_t i = 0; i < 2; ++i) {
        halves[i] = column(8);
        const Ref half =
            from.kind == Operand::Kind::Vector ? source(from.elements[i], Type::U64) : half_of(from, i);
        lane(Op::Mov, Type::B64, halves[i], half);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        if (to.kind == Operand::Kind::Register)
            lane(Op::Mov, Type::B64, half_of(to, i), halves[i]);
        else if (to.kind == Operand::Kind::Vector && to.elements[i].kind == Operand::Kind::Register)
            lane(Op::Mov, Type::B64, column_of(to.elements[i]), halves[i]);
    }
    return problem.empty();
}

bool Lowering::convert() {
    const Operand& to = current->operands[0];
    const Ref a = source(current->operands[1], current->type2);
    const Ref b = joins(*current) ? source(current->operands[2], current->type2) : 0;
    if (!problem.empty()) return false;
    const bool fits = size_of(current->type) == register_bytes(to) || is_float(current->type);
    if (fits) return lane(*current, column_of(to), a, b);
    const Ref value = column(slot_bytes(current->type));
    return lane(*current, value, a) && widen(to, current->type, value);
}

// The lower (i = 0) or upper half of pairs of 16 bits.
void Lowering::take_half(Ref d, Ref pair, uint32_t i) {
    if (i == 0)
        lane(Op::Cvt, Type::U16, d, pair, 0, Type::U32);
    else
        lane(Op::Shr, Type::U32, d, pair, immediate(16, 4));
    program.lanes.back().takes = i == 0 ? ptx::Half::Lo : ptx::Half::Hi;
}

namespace {

// set: what stands for true.
uint32_t answer_of_set(const ptx::Operation& does) {
    switch (does.type) {
        case Type::F32: return 0x3F80'0000;
        case Type::F16: return 0x3C00;
        case Type::BF16: return 0x3F80;
        case Type::F16X2: return 0x3C00'3C00;
        case Type::BF16X2: return 0x3F80'3F80;
        default: return size_of(does.type) == 2 ? 0xFFFFu : 0xFFFF'FFFFu;
    }
}

}  // namespace

// setp and set, with their boolean combination: p = (a cmp b) op c; q = !(a cmp b) op c.
bool Lowering::compare() {
    const std::vector<Operand>& o = current->operands;
    const size_t first = current->destinations;
    const Type type = ptx::source_type(*current, 0);
    const Ref a = source(o[first], type), b = source(o[first + 1], type);
    const bool combined = current->combine != ptx::Bool::None;
    const Ref c = combined ? source(o[first + 2], Type::Pred) : 0;
    if (!problem.empty()) return false;
    const Op join = current->combine == ptx::Bool::And  ? Op::And
                    : current->combine == ptx::Bool::Or ? Op::Or
                                                        : Op::Xor;
    ptx::Operation test = *current;
    test.combine = ptx::Bool::None;
    if (current->op == Op::Set) {
        const Ref d = column_of(o[0]);
        if (!combined) return lane(test, d, a, b);
        // What d is where c holds and where it does not: of a pair, of both alike.
        const Ref given = column(4), flipped = column(4);
        const Ref yes = immediate(answer_of_set(*current), 4), no = immediate(0, 4);
        lane(test, given, a, b);
        lane(Op::Xor, Type::B32, flipped, given, yes);
        const ptx::Operation choose{.op = Op::Selp, .type = Type::B32};
        if (join == Op::And) return lane(choose, d, given, no, c);
        return lane(choose, d, join == Op::Or ? yes : flipped, given, c);
    }
    const bool pair = elements_of(type) == 2;
    if (first == 1 && !combined && !pair && o[0].kind == Operand::Kind::Register)
        return lane(test, column_of(o[0]), a, b);
    const Ref result = predicate(), flipped = predicate(), third = predicate();
    if (pair) {  // p is of the lower halves, q of the upper ones
        test.type = element_of_pair(type);
        for (uint32_t i = 0; i < 2; ++i) {
            const Ref one = column(4), other = column(4);
            take_half(one, a, i), take_half(other, b, i);
            lane(test, i == 0 ? result : flipped, one, other);
        }
    } else {
        lane(test, result, a, b);
        lane(Op::Not, Type::Pred, flipped, result);
    }
    if (combined) lane(Op::Mov, Type::Pred, third, c);  // c may be p itself
    for (size_t k = 0; k < first; ++k) {
        if (o[k].kind != Operand::Kind::Register) continue;
        const Ref p = column_of(o[k]);
        const Ref value = k == 0 ? result : flipped;
        if (combined)
            lane(join, Type::Pred, p, value, third);
        else
            lane(Op::Mov, Type::Pred, p, value);
    }
    return true;
}

// All others: destination and sources as their letters say; a second predicate, or the carry, comes last.
bool Lowering::arithmetic() {
    const std::vector<Operand>& o = current->operands;
    const ptx::OpRule& rule = ptx::rule_of(current->op);
    const bool pair = rule.operands[0] == 'e' || rule.operands[0] == 'E';
    const auto is_register = [&](size_t k) { return o[k].kind == Operand::Kind::Register; };
    if (!pair && !is_register(0)) return true;
    Ref refs[4] = {};
    // The member mask of shfl, its fourth source, tells its lanes nothing.
    const size_t sources = std::min<size_t>(o.size() - current->destinations, pair ? 3 : 4);
    for (size_t i = 0; i < sources; ++i)
        refs[i] = source(o[current->destinations + i], ptx::source_type(*current, i));
    if (!problem.empty()) return false;
    const Ref d = is_register(0) ? column_of(o[0]) : column(4);
    if (pair) refs[3] = current->destinations == 2 && is_register(1) ? column_of(o[1]) : predicate();
    if (current->carry_out || (rule.suffixes & ptx::kCarryIn) != 0) {
        if (carry == UINT32_MAX) carry = predicate();
        refs[3] = carry;
    }
    if (ptx::rule_of(current->op).suffixes & ptx::kSync) {
        if (!converge()) return false;
        program.code.back().c = 1;
        program.code.back().target = static_cast<uint32_t>(site_of[current_index]);
    }
    return lane(*current, d, refs[0], refs[1], refs[2], refs[3]);
}

template <MicroOp::Kind kind>
bool Lowering::alone() {
    emit(kind);
    return true;
}

bool Lowering::branch() {
    emit(MicroOp::Kind::Branch).target = static_cast<uint32_t>(current->operands[0].label);  // resolved later
    return true;
}

bool Lowering::barrier() {
    const std::vector<Operand>& o = current->operands;
    const Ref id = source(o[0], Type::U32);
    const Ref count = o.size() > 1 ? source(o[1], Type::U32) : 0;
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Barrier);
    op.a = id, op.b = count;
    op.c = (o.size() > 1 ? kBarrierThreads : 0) | (current->mode == ptx::Mode::Arrive ? kBarrierArrives : 0);
    op.target = static_cast<uint32_t>(site_of[current_index]);
    return true;
}

// barrier.cluster.arrive and .wait
bool Lowering::cluster_barrier() {
    program.clusters = true;
    const Ref number = immediate(kClusterBarrierNumber, 4);
    MicroOp& op = emit(MicroOp::Kind::Barrier);
    op.a = number;
    op.c = kBarrierCluster | (current->op == Op::ClusterArrive ? kBarrierArrives : 0);
    op.target = static_cast<uint32_t>(site_of[current_index]);
    return true;
}

// The address of what lies at one, in the block of a rank (core/base/cluster.h). An address of the own block stays one.
bool Lowering::map_address() {
    const std::vector<Operand>& o = current->operands;
    program.clusters = true;
    const Type type = current->type, bits = bits_of_size(size_of(type));
    const int bytes = static_cast<int>(size_of(type));
    const Ref a = source(o[1], type), rank = source(o[2], Type::U32);
    if (!problem.empty() || o[0].kind != Operand::Kind::Register) return problem.empty();
    const Ref own = special(ptx::SpecialRegister::ClusterCtarank, 4), is_own = predicate();
    const Ref next = column(4), moved = column(4), chosen = column(4), wide = column(8), rest = column(8);
    lane({.op = Op::Setp, .type = Type::U32, .compare = ptx::Compare::Eq}, is_own, rank, own);
    lane(Op::Add, Type::U32, next, rank, immediate(1, 4));
    lane(Op::Shl, Type::B32, moved, next, immediate(kRankShift, 4));
    lane({.op = Op::Selp, .type = Type::B32}, chosen, immediate(0, 4), moved, is_own);
    const Ref high = bytes == 8 ? wide : chosen;
    if (bytes == 8) lane(Op::Cvt, Type::U64, wide, chosen, 0, Type::U32);
    constexpr uint64_t kRank = uint64_t{0xFF} << kRankShift;
    lane(Op::And, bits, rest, a, immediate(bytes == 8 ? ~kRank : kOffsetMask, bytes));
    return lane(Op::Or, bits, column_of(o[0]), rest, high);
}

// getctarank
bool Lowering::rank_of_address() {
    const std::vector<Operand>& o = current->operands;
    program.clusters = true;
    const Type type = current->type;
    const Ref a = source(o[1], type);
    if (!problem.empty() || o[0].kind != Operand::Kind::Register) return problem.empty();
    const Ref own = special(ptx::SpecialRegister::ClusterCtarank, 4), is_own = predicate();
    const Ref shifted = column(8), low = column(4), part = column(4), rank = column(4);
    lane(Op::Shr, integer_of_size(size_of(type)), shifted, a, immediate(kRankShift, 4));
    if (size_of(type) == 8) lane(Op::Cvt, Type::U32, low, shifted, 0, Type::U64);
    lane(Op::And, Type::B32, part, size_of(type) == 8 ? low : shifted, immediate(0xFF, 4));
    lane({.op = Op::Setp, .type = Type::U32, .compare = ptx::Compare::Eq}, is_own, part, immediate(0, 4));
    lane(Op::Sub, Type::U32, rank, part, immediate(1, 4));
    return lane({.op = Op::Selp, .type = Type::B32}, column_of(o[0]), own, rank, is_own);
}

// bar.red
bool Lowering::reduction() {
    const std::vector<Operand>& o = current->operands;
    const Ref id = source(o[1], Type::U32), value = source(o[2], Type::Pred);
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Barrier);
    op.a = id, op.e = value;
    op.d = column_of(o[0]);
    op.c = current->mode == ptx::Mode::Sync  ? kBarrierCount
           : current->mode == ptx::Mode::All ? kBarrierAll
                                             : kBarrierAny;
    op.target = static_cast<uint32_t>(site_of[current_index]);
    return true;
}

// The member mask is the last operand of all that have one.
bool Lowering::converge() {
    const Ref members = source(current->operands.back(), Type::U32);
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Converge);
    op.a = members;
    op.target = kNoSite;
    return true;
}

bool Lowering::wait() {
    emit(MicroOp::Kind::Wait).target = ptx::groups_left(*current);
    return true;
}

// It has its place in the program, which cannot run.
bool Lowering::not_run(const std::string& why) {
    if (program.unknown.empty()) {
        fail(why);
        program.unknown = std::exchange(problem, "");
    }
    return alone<MicroOp::Kind::Nothing>();
}

bool Lowering::opaque() {
    return not_run(
        "Tilescope does not know what it computes; record the kernel on an NVIDIA GPU, with --backend gpu");
}

// Any number serves, the same for equal forms.
bool Lowering::policy() {
    uint64_t number = 0xCBF2'9CE4'8422'2325u;  // FNV-1a
    for (const char c : ptx::full_name(*current))
        number = (number ^ static_cast<uint8_t>(c)) * 0x100'0000'01B3u;
    return lane(Op::Mov, Type::B64, column_of(current->operands[0]), immediate(number, 8));
}

// The lowest lane of the mask that comes to it.
bool Lowering::elect() {
    if (!converge()) return false;
    const std::vector<Operand>& o = current->operands;
    const Ref lanes = column(4), turned = column(4), lowest = column(4);
    lane(Op::Activemask, Type::B32, lanes, 0);
    lane(Op::And, Type::B32, lanes, lanes, source(o.back(), Type::U32));
    lane(Op::Brev, Type::B32, turned, lanes);
    lane(Op::Clz, Type::B32, lowest, turned);
    if (current->destinations == 2 && o[1].kind == Operand::Kind::Register)
        lane({.op = Op::Setp, .type = Type::U32, .compare = ptx::Compare::Eq}, column_of(o[1]), lowest,
             special(ptx::SpecialRegister::LaneId, 4));
    return o[0].kind != Operand::Kind::Register || lane(Op::Mov, Type::B32, column_of(o[0]), lowest);
}

bool Lowering::instruction() {
    // Instructions that are more, or less, than an operation on columns.
    using Kind = MicroOp::Kind;
    static constexpr std::pair<Op, bool (Lowering::*)()> kOthers[] = {
        {Op::Bra, &Lowering::branch},
        {Op::Ret, &Lowering::alone<Kind::Exit>},
        {Op::Exit, &Lowering::alone<Kind::Exit>},
        {Op::Trap, &Lowering::alone<Kind::Trap>},
        {Op::Membar, &Lowering::alone<Kind::Nothing>},
        {Op::Nanosleep, &Lowering::alone<Kind::Nothing>},
        {Op::Prefetch, &Lowering::alone<Kind::Nothing>},
        {Op::BulkPrefetch, &Lowering::alone<Kind::Nothing>},
        {Op::Griddepcontrol, &Lowering::alone<Kind::Nothing>},
        {Op::Discard, &Lowering::alone<Kind::Nothing>},
        {Op::Setmaxnreg, &Lowering::alone<Kind::Nothing>},
        {Op::Opaque, &Lowering::opaque},
        {Op::Createpolicy, &Lowering::policy},
        {Op::Elect, &Lowering::elect},
        {Op::BarWarp, &Lowering::converge},
        {Op::Bar, &Lowering::barrier},
        {Op::BarRed, &Lowering::reduction},
        {Op::Ld, &Lowering::memory},
        {Op::St, &Lowering::memory},
        {Op::Atom, &Lowering::atomic},
        {Op::Red, &Lowering::atomic},
        {Op::CpAsync, &Lowering::copy},
        {Op::Ldmatrix, &Lowering::move_matrices},
        {Op::Stmatrix, &Lowering::move_matrices},
        {Op::Movmatrix, &Lowering::transpose_matrix},
        {Op::Mma, &Lowering::multiply_matrices},
        {Op::MmaSp, &Lowering::multiply_matrices},
        {Op::WmmaMma, &Lowering::multiply_matrices},
        {Op::WmmaLoad, &Lowering::load_fragment},
        {Op::WmmaStore, &Lowering::store_fragment},
        {Op::CpCommit, &Lowering::alone<Kind::Commit>},
        {Op::MbarrierPending, &Lowering::pending_count},
        {Op::BulkToShared, &Lowering::bulk_copy},
        {Op::BulkToGlobal, &Lowering::bulk_copy},
        {Op::BulkBetween, &Lowering::bulk_copy},
        {Op::BulkReduceGlobal, &Lowering::bulk_copy},
        {Op::StAsync, &Lowering::store_async},
        {Op::RedAsync, &Lowering::store_async},
        {Op::ClusterArrive, &Lowering::cluster_barrier},
        {Op::ClusterWait, &Lowering::cluster_barrier},
        {Op::Mapa, &Lowering::map_address},
        {Op::Getctarank, &Lowering::rank_of_address},
        {Op::TensorToShared, &Lowering::tensor_copy},
        {Op::TensorToGlobal, &Lowering::tensor_copy},
        {Op::TensorReduce, &Lowering::tensor_copy},
        {Op::TensorPrefetch, &Lowering::alone<Kind::Nothing>},
        {Op::PrefetchTensormap, &Lowering::alone<Kind::Nothing>},
        {Op::FenceTensormap, &Lowering::alone<Kind::Nothing>},
        {Op::Wgmma, &Lowering::multiply_warpgroup},
        {Op::WgmmaSp, &Lowering::multiply_warpgroup},
        {Op::WgmmaFence, &Lowering::alone<Kind::Nothing>},
        {Op::WgmmaCommit, &Lowering::alone<Kind::Nothing>},
        {Op::WgmmaWait, &Lowering::alone<Kind::Nothing>},
        {Op::BulkCommit, &Lowering::alone<Kind::BulkCommit>},
        {Op::BulkWait, &Lowering::bulk_wait},
        {Op::CpWait, &Lowering::wait},
        {Op::CpWaitAll, &Lowering::wait},
        {Op::Call, &Lowering::call},
        {Op::Cvta, &Lowering::address_conversion},
        {Op::Isspacep, &Lowering::space_test},
        {Op::Mov, &Lowering::move},
        {Op::Cvt, &Lowering::convert},
        {Op::Setp, &Lowering::compare},
        {Op::Set, &Lowering::compare},
    };
    for (const auto& [op, lower] : kOthers)
        if (op == current->op) return (this->*lower)();
    if (ptx::signal_of(current->op) != ptx::Signal::None) return signal();
    if (ptx::rule_of(current->op).suffixes & ptx::kForm)
        return not_run("Tilescope reads it and does not run it; build the kernel without it");
    return arithmetic();
}

namespace {

// Program::has_fences and has_volatile.
void find_fences(const Instruction& one, Program& program) {
    const auto has = [&](std::initializer_list<std::string_view> words) { return has_suffix(one, words); };
    if (orders_threads(one) && !has({"cta"})) program.has_fences = true;
    const bool moves = one.op == Op::Ld || one.op == Op::St;
    const bool updates = one.op == Op::Atom || one.op == Op::Red;
    if (!(moves && (one.is_volatile || has({"relaxed", "acquire", "release"}))) &&
        !(updates && has({"acquire", "release", "acq_rel"})))
        return;
    program.has_volatile = true;
    if (one.space == StateSpace::Global || one.space == StateSpace::Generic) program.has_fences = true;
}

// Which columns can ever hold a loaded value, or one computed from it. What the others hold are constants,
// indices and addresses, whose origins stay 0, so their operations need not follow any.
void find_value_flow(Program& program) {
    std::vector<bool> holds(program.register_bytes, false);
    const auto value_in = [&](Ref ref) { return !in_pool(ref) && ref < holds.size() && holds[ref]; };
    for (const MicroOp& op : program.code) {
        if (op.kind != MicroOp::Kind::Load && op.kind != MicroOp::Kind::Atomic) continue;
        const MemoryAccess& access = program.accesses[op.target];
        for (uint32_t i = 0; i < access.elements; ++i) holds[access.data[i]] = true;
    }
    for (const MatrixCode& matrix : program.matrices)
        for (const Ref d : matrix.d) holds[d] = true;
    const auto takes_value = [&](const MicroOp& op) {
        return value_in(op.a) || value_in(op.b) || value_in(op.c);
    };
    std::vector<std::pair<Ref, Ref>> flows;  // what a column flows to, sorted
    std::vector<Ref> open;
    for (size_t i = 0; i < program.code.size(); ++i) {
        const MicroOp& op = program.code[i];
        if (program.lanes[i].flow == ptx::Dataflow::None) continue;
        for (const Ref from : {op.a, op.b, op.c})
            if (!in_pool(from)) flows.emplace_back(from, op.d);
        if (!holds[op.d] && takes_value(op)) open.push_back(op.d);
    }
    std::ranges::sort(flows);
    while (!open.empty()) {
        const Ref to = open.back();
        open.pop_back();
        if (holds[to]) continue;
        holds[to] = true;
        for (const auto& [from, next] : std::ranges::equal_range(flows, to, {}, &std::pair<Ref, Ref>::first))
            open.push_back(next);
    }
    for (size_t i = 0; i < program.code.size(); ++i) {
        LaneCode& lane = program.lanes[i];
        if (!takes_value(program.code[i])) lane.flow = ptx::Dataflow::None;
        if (lane.flow == ptx::Dataflow::None && !value_in(program.code[i].d)) lane.writes_column = false;
    }
}

}  // namespace

Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& name,
                                               LaneVersion version, const std::vector<Array>& arrays,
                                               bool exchanges) {
    const ptx::Kernel* kernel = ptx::find_kernel(module, name);
    if (const std::string* why = kernel ? nullptr : ptx::refusal_of(module, name)) return Error{*why};
    if (!kernel)
        return Error{fmt::format("the PTX has no kernel '{}'; name one of its .entry functions", name)};
    const auto program = std::make_shared<Program>();
    program->kernel = name;
    program->sites = ptx::sites_of(*kernel, exchanges);
    for (const std::vector<ptx::AddressBase>& bases : ptx::address_bases(*kernel, program->sites)) {
        auto& made = program->address_bases.emplace_back();
        for (const ptx::AddressBase& base : bases) {
            const auto parameter = std::ranges::find(kernel->parameters, base.symbol);
            if (parameter == kernel->parameters.end())
                made.push_back({-1, 0, kernel->symbols[static_cast<size_t>(base.symbol)].name});
            else
                made.push_back(
                    {static_cast<int32_t>(parameter - kernel->parameters.begin()), base.offset, ""});
        }
    }
    Lowering lowering{
        .module = module, .kernel = *kernel, .version = version, .program = *program, .arrays = arrays};
    lowering.site_of.assign(kernel->instructions.size(), -1);
    for (const ptx::Site& site : program->sites)
        lowering.site_of[site.instruction] = static_cast<int32_t>(site.id);
    program->required_cluster = ptx::size_directive(*kernel, ".reqnctapercluster");
    if (auto placed = lowering.lay_out(); !placed) return placed.error();

    std::vector<uint32_t> pc_of;
    for (size_t i = 0; i < kernel->instructions.size(); ++i) {
        lowering.current = &kernel->instructions[i];
        lowering.current_index = static_cast<uint32_t>(i);
        pc_of.push_back(static_cast<uint32_t>(program->code.size()));
        program->ptx_lines.push_back(lowering.current->text_line);
        program->source_lines.push_back(lowering.current->source.line);
        program->operations.push_back(lowering.current->op);
        find_fences(*lowering.current, *program);
        if (!lowering.instruction() || !lowering.problem.empty()) break;
        if (program->code.size() == pc_of.back()) lowering.emit(MicroOp::Kind::Nothing);
        program->code.back().counted = true;
    }
    // The first instruction that cannot be run says why.
    if (!lowering.choose_lanes() || !lowering.problem.empty()) return Error{lowering.problem};
    // A body that ends without ret ends there.
    pc_of.push_back(static_cast<uint32_t>(program->code.size()));
    MicroOp end;
    end.kind = MicroOp::Kind::Exit;
    end.instruction =
        kernel->instructions.empty() ? 0 : static_cast<uint32_t>(kernel->instructions.size() - 1);
    program->code.push_back(end);
    program->lanes.emplace_back();
    if (kernel->instructions.empty()) program->ptx_lines.push_back(0), program->source_lines.push_back(0);

    const ptx::ControlFlow flow = ptx::control_flow(*kernel);
    for (MicroOp& op : program->code) {
        if (op.kind != MicroOp::Kind::Branch) continue;
        op.target = pc_of[static_cast<size_t>(kernel->labels[op.target].instruction)];
        const int32_t join = flow.blocks[static_cast<size_t>(flow.block_of[op.instruction])].reconvergence;
        if (join == ptx::kExitBlock) continue;
        op.reconverge = pc_of[flow.blocks[static_cast<size_t>(join)].first];
        program->code[op.reconverge].join = true;
    }
    program->register_bytes = lowering.next_column;
    find_runs(program->code);
    find_calm(*program);
    find_cleared(*program, lowering.columns);
    find_value_flow(*program);
    return std::shared_ptr<const Program>(program);
}

Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& kernel,
                                               const std::vector<Array>& arrays, bool exchanges) {
    return prepare(module, kernel, best_version(), arrays, exchanges);
}

std::shared_ptr<const Program> with_constants(const Program& program, const std::vector<Array>& arrays) {
    auto changed = std::make_shared<Program>(program);
    set_constants(*changed, arrays);
    return changed;
}

const std::vector<ptx::Site>& sites_of(const Program& program) { return program.sites; }

bool has_grid_barrier(const Program& program) { return program.grid_barrier; }

const std::string& why_not_run(const Program& program) { return program.unknown; }

namespace {

int64_t offset_in(const std::map<std::string, uint64_t>& offsets, const std::string& symbol) {
    const auto found = offsets.find(symbol);
    return found == offsets.end() ? -1 : static_cast<int64_t>(found->second);
}

}  // namespace

int64_t shared_offset(const Program& program, const std::string& symbol) {
    return offset_in(program.shared, symbol);
}

int64_t local_offset(const Program& program, const std::string& symbol) {
    return offset_in(program.local, symbol);
}

int64_t constant_offset(const Program& program, const std::string& symbol) {
    return offset_in(program.constant_offsets, symbol);
}

}  // namespace tilescope::simt
