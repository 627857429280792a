// From PTX to micro-operations: one instruction after the other, then branches and reconvergence.
#include <algorithm>

#include <fmt/format.h>

#include "core/ptx/cfg.h"
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
    const int bytes = ptx::size_of(type);
    if (to.kind == Operand::Kind::Vector) {
        const int part = bytes / static_cast<int>(to.elements.size());
        const Ref whole = source(from, unsigned_of(bytes));
        for (size_t i = 0; i < to.elements.size(); ++i) {
            if (to.elements[i].kind != Operand::Kind::Register) continue;
            const Ref shifted = column(bytes);
            lane(Op::Shr, unsigned_of(bytes), shifted, whole,
                 immediate(i * static_cast<size_t>(part) * 8, 4));
            lane(Op::Cvt, unsigned_of(part), register_offset[static_cast<size_t>(to.elements[i].reg)],
                 shifted, 0, unsigned_of(bytes));
        }
        return problem.empty();
    }
    if (to.kind != Operand::Kind::Register) return true;
    const Ref d = register_offset[static_cast<size_t>(to.reg)];
    if (from.kind != Operand::Kind::Vector) {
        const Ref a = source(from, type);
        return problem.empty() && lane(Op::Mov, type, d, a);
    }
    const int part = bytes / static_cast<int>(from.elements.size());
    const Type whole = unsigned_of(bytes);
    Ref sum = immediate(0, slot_bytes(whole));
    for (size_t i = 0; i < from.elements.size(); ++i) {
        const Ref element = source(from.elements[i], unsigned_of(part));
        const Ref wide = column(bytes), shifted = column(bytes);
        const Ref joined = i + 1 == from.elements.size() ? d : column(bytes);
        const Type bits = bytes == 8 ? Type::B64 : Type::B32;
        lane(Op::Cvt, whole, wide, element, 0, unsigned_of(part));
        lane(Op::Shl, bits, shifted, wide, immediate(i * static_cast<size_t>(part) * 8, 4));
        lane(Op::Or, bits, joined, sum, shifted);
        sum = joined;
    }
    return problem.empty();
}

bool Lowering::convert() {
    const Operand& to = current->operands[0];
    const Ref a = source(current->operands[1], current->type2);
    if (!problem.empty()) return false;
    const bool fits = ptx::size_of(current->type) == register_bytes(to) || ptx::is_float(current->type);
    if (fits) return lane(*current, register_offset[static_cast<size_t>(to.reg)], a);
    const Ref value = column(slot_bytes(current->type));
    return lane(*current, value, a) && widen(to, current->type, value);
}

// setp and set, with their boolean combination: p = (a cmp b) op c; q = !(a cmp b) op c.
bool Lowering::compare() {
    const size_t first = current->op == Op::Setp && current->destinations == 2 ? 2 : 1;
    const Type type = current->op == Op::Set ? current->type2 : current->type;
    const Ref a = source(current->operands[first], type), b = source(current->operands[first + 1], type);
    const bool combined = current->combine != ptx::Bool::None;
    const Ref c = combined ? source(current->operands[first + 2], Type::Pred) : 0;
    if (!problem.empty()) return false;
    const Op join = current->combine == ptx::Bool::And  ? Op::And
                    : current->combine == ptx::Bool::Or ? Op::Or
                                                        : Op::Xor;
    if (current->op == Op::Set) {
        const Ref d = register_offset[static_cast<size_t>(current->operands[0].reg)];
        if (!combined) return lane(*current, d, a, b);
        Instruction test = *current;
        test.op = Op::Setp, test.type = type;
        const Ref p = predicate();
        if (!lane(test, p, a, b) || !lane(join, Type::Pred, p, p, c)) return false;
        const uint32_t yes = current->type == Type::F32 ? 0x3F80'0000u : 0xFFFF'FFFFu;
        Instruction choose;
        choose.op = Op::Selp, choose.type = Type::B32;
        return lane(choose, d, immediate(yes, 4), immediate(0, 4), p);
    }
    if (first == 1 && !combined && current->operands[0].kind == Operand::Kind::Register)
        return lane(*current, register_offset[static_cast<size_t>(current->operands[0].reg)], a, b);
    const Ref test = predicate(), flipped = predicate(), third = predicate();
    if (!lane(*current, test, a, b) || !lane(Op::Not, Type::Pred, flipped, test)) return false;
    if (combined && !lane(Op::Mov, Type::Pred, third, c)) return false;  // c may be p itself
    for (size_t k = 0; k < first; ++k) {
        if (current->operands[k].kind != Operand::Kind::Register) continue;
        const Ref p = register_offset[static_cast<size_t>(current->operands[k].reg)];
        const Ref value = k == 0 ? test : flipped;
        if (!(combined ? lane(join, Type::Pred, p, value, third) : lane(Op::Mov, Type::Pred, p, value)))
            return false;
    }
    return true;
}

// One destination, sources in order.
bool Lowering::arithmetic() {
    const Instruction& i = *current;
    const auto& o = i.operands;
    if (o.empty() || o[0].kind != Operand::Kind::Register)
        return o.empty() ? fail("it has no operands") : true;
    const Ref d = register_offset[static_cast<size_t>(o[0].reg)];
    const size_t sources = o.size() - 1;
    Type types[4] = {i.type, i.type, i.type, Type::U32};
    switch (i.op) {
        case Op::Shl:
        case Op::Shr:
            types[1] = Type::U32;
            break;
        case Op::Bfe:
            types[1] = types[2] = Type::U32;
            break;
        case Op::Bfi:
        case Op::Shf:
            types[2] = Type::U32;
            break;
        case Op::Selp:
            types[2] = Type::Pred;
            break;
        case Op::Slct:
            types[2] = i.type2;
            break;
        case Op::Vote:
            types[0] = Type::Pred, types[1] = Type::U32;
            break;
        case Op::Mad:
            if (i.half == ptx::Half::Wide) types[2] = unsigned_of(2 * ptx::size_of(i.type));
            break;
        default:
            break;
    }
    Ref refs[4] = {};
    for (size_t k = 0; k < std::min<size_t>(sources, 4); ++k) refs[k] = source(o[k + 1], types[k]);
    if (!problem.empty()) return false;
    if (i.op == Op::Lop3) refs[3] = immediate(i.lut, 4);
    if (i.carry_out || i.op == Op::Addc || i.op == Op::Subc || i.op == Op::Madc) {
        if (carry == UINT32_MAX) carry = predicate();
        refs[3] = carry;
    }
    return lane(i, d, refs[0], refs[1], refs[2], refs[3]);
}

bool Lowering::instruction() {
    const Instruction& i = *current;
    switch (i.op) {
        case Op::Bra: {
            emit(MicroOp::Kind::Branch).target =
                static_cast<uint32_t>(i.operands[0].label);  // resolved later
            return true;
        }
        case Op::Ret:
        case Op::Exit:
            emit(MicroOp::Kind::Exit);
            return true;
        case Op::Trap:
            emit(MicroOp::Kind::Trap);
            return true;
        case Op::Membar:
        case Op::Nanosleep:
        case Op::Prefetch:
        case Op::Griddepcontrol:
        case Op::BarWarp:
            emit(MicroOp::Kind::Nothing);
            return true;
        case Op::Bar: {
            if (i.mode == ptx::Mode::Arrive) return fail("bar.arrive is not known here; use bar.sync");
            const Ref id = source(i.operands[0], Type::U32);
            const Ref count = i.operands.size() > 1 ? source(i.operands[1], Type::U32) : 0;
            if (!problem.empty()) return false;
            MicroOp& op = emit(MicroOp::Kind::Barrier);
            op.a = id, op.b = count;
            op.c = i.operands.size() > 1 ? kBarrierThreads : 0;
            op.target = static_cast<uint32_t>(site_of[current_index]);
            return true;
        }
        case Op::BarRed: {
            const Ref id = source(i.operands[1], Type::U32), value = source(i.operands[2], Type::Pred);
            if (!problem.empty()) return false;
            MicroOp& op = emit(MicroOp::Kind::Barrier);
            op.a = id, op.e = value;
            op.d = register_offset[static_cast<size_t>(i.operands[0].reg)];
            op.c = i.mode == ptx::Mode::Sync  ? kBarrierCount
                   : i.mode == ptx::Mode::All ? kBarrierAll
                                              : kBarrierAny;
            op.target = static_cast<uint32_t>(site_of[current_index]);
            return true;
        }
        case Op::Ld:
        case Op::St:
            return memory();
        case Op::Atom:
        case Op::Red:
            return atomic();
        case Op::CpAsync:
            return copy();
        case Op::CpCommit:
            emit(MicroOp::Kind::Commit);
            return true;
        case Op::CpWait:
            emit(MicroOp::Kind::Wait).target =
                i.operands.empty() ? ptx::kAllGroups : static_cast<uint32_t>(i.operands[0].bits);
            return true;
        case Op::Call:
            return call();
        case Op::Cvta:
            return address_conversion();
        case Op::Mov:
            return move();
        case Op::Cvt:
            return convert();
        case Op::Setp:
        case Op::Set:
            return compare();
        case Op::Match:
        case Op::Shfl: {
            const size_t first = i.destinations == 2 ? 2 : 1;
            const auto& o = i.operands;
            const Ref a = source(o[first], i.type), b = source(o[first + 1], Type::U32),
                      c = i.op == Op::Shfl ? source(o[first + 2], Type::U32) : 0;
            const bool kept = o[0].kind == Operand::Kind::Register;
            const bool wants = first == 2 && o[1].kind == Operand::Kind::Register;
            const Ref d = kept ? register_offset[static_cast<size_t>(o[0].reg)] : column(4);
            const Ref p = wants ? register_offset[static_cast<size_t>(o[1].reg)] : predicate();
            return problem.empty() && lane(i, d, a, b, c, p);
        }
        case Op::Isspacep:
            return space_test();
        default:
            return arithmetic();
    }
}

namespace {

// Which columns can ever hold a loaded value, or one computed from it. What the others hold are constants,
// indices and addresses, whose origins stay 0, so their operations need not follow any.
void find_value_flow(Program& program) {
    std::vector<bool> holds(program.register_bytes, false);
    const auto value_in = [&](Ref ref) { return !in_pool(ref) && ref < holds.size() && holds[ref]; };
    for (const MicroOp& op : program.code) {
        if (op.kind != MicroOp::Kind::Load && op.kind != MicroOp::Kind::Atomic) continue;
        const Access& access = program.accesses[op.target];
        for (uint32_t i = 0; i < access.elements; ++i) holds[access.data[i]] = true;
    }
    const auto takes_value = [&](const MicroOp& op) {
        return value_in(op.a) || value_in(op.b) || value_in(op.c);
    };
    std::vector<std::pair<Ref, Ref>> flows;  // what a column flows to, sorted
    std::vector<Ref> open;
    for (size_t i = 0; i < program.code.size(); ++i) {
        const MicroOp& op = program.code[i];
        if (program.flows[i].kind == Flow::Kind::None) continue;
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
        Flow& flow = program.flows[i];
        if (!takes_value(program.code[i])) flow.kind = Flow::Kind::None;
        if (flow.kind == Flow::Kind::None && !value_in(program.code[i].d)) flow.writes_column = false;
    }
}

}  // namespace

Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& name,
                                               LaneVersion version, const std::vector<Array>& arrays) {
    const ptx::Kernel* kernel = ptx::find_kernel(module, name);
    if (const std::string* why = kernel ? nullptr : ptx::refusal_of(module, name)) return Error{*why};
    if (!kernel)
        return Error{fmt::format("the PTX has no kernel '{}'; name one of its .entry functions", name)};
    const auto program = std::make_shared<Program>();
    program->kernel = name;
    program->sites = ptx::sites_of(*kernel);
    Lowering lowering{
        .module = module, .kernel = *kernel, .version = version, .program = *program, .arrays = arrays};
    lowering.site_of.assign(kernel->instructions.size(), -1);
    for (const ptx::Site& site : program->sites)
        lowering.site_of[site.instruction] = static_cast<int32_t>(site.id);
    if (auto placed = lowering.lay_out(); !placed) return placed.error();

    std::vector<uint32_t> pc_of;
    for (size_t i = 0; i < kernel->instructions.size(); ++i) {
        lowering.current = &kernel->instructions[i];
        lowering.current_index = static_cast<uint32_t>(i);
        pc_of.push_back(static_cast<uint32_t>(program->code.size()));
        program->ptx_lines.push_back(lowering.current->text_line);
        program->source_lines.push_back(lowering.current->source.line);
        if (!lowering.instruction() || !lowering.problem.empty()) return Error{lowering.problem};
        if (program->code.size() == pc_of.back()) lowering.emit(MicroOp::Kind::Nothing);
        program->code.back().counted = true;
    }
    // A body that ends without ret ends there.
    pc_of.push_back(static_cast<uint32_t>(program->code.size()));
    MicroOp end;
    end.kind = MicroOp::Kind::Exit;
    end.instruction =
        kernel->instructions.empty() ? 0 : static_cast<uint32_t>(kernel->instructions.size() - 1);
    program->code.push_back(end);
    program->flows.emplace_back();
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
    find_value_flow(*program);
    return std::shared_ptr<const Program>(program);
}

Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& kernel,
                                               const std::vector<Array>& arrays) {
    return prepare(module, kernel, best_version(), arrays);
}

std::shared_ptr<const Program> with_constants(const Program& program, const std::vector<Array>& arrays) {
    auto changed = std::make_shared<Program>(program);
    set_constants(*changed, arrays);
    return changed;
}

const std::vector<ptx::Site>& sites_of(const Program& program) { return program.sites; }

bool has_grid_barrier(const Program& program) { return program.grid_barrier; }

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
