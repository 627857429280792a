// Loads, stores, atomics and what is asked of addresses, as micro-operations.
#include <algorithm>
#include <tuple>

#include "core/base/cluster.h"
#include "core/ptx/forms.h"
#include "core/simt/lowering.h"

namespace tilescope::simt {

using ptx::Op;
using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;

// A load of a parameter by its name. (One by an address in a register is a load of constant memory.)
bool Lowering::parameter_load() {
    const Operand& address = ptx::address_of(*current);
    const auto& place =
        program.parameters[static_cast<size_t>(parameter_of[static_cast<size_t>(address.symbol)])];
    const Operand& to = current->operands[0];
    const size_t count = to.kind == Operand::Kind::Vector ? to.elements.size() : 1;
    const int64_t element = size_of(current->type);
    for (size_t i = 0; i < count; ++i) {
        const Operand& d = to.kind == Operand::Kind::Vector ? to.elements[i] : to;
        if (d.kind != Operand::Kind::Register) continue;
        const int64_t byte = address.offset + static_cast<int64_t>(i) * element;
        if (byte < 0 || byte + element > place.bytes) return fail("it reads past the end of the parameter");
        const uint32_t bytes = register_bytes(d);
        const PoolColumn wanted{.kind = PoolColumn::Kind::Parameter,
                                .bytes = static_cast<uint8_t>(bytes == 8 ? 8 : 4),
                                .index = static_cast<uint16_t>(bytes),  // for signs
                                .type = current->type,
                                .bits = place.offset + static_cast<uint64_t>(byte)};
        lane(Op::Mov, integer_of_size(std::max(bytes, 2u)), column_of(d), pool(wanted));
    }
    return true;
}

// The column that an access's address counts from.
Ref Lowering::address_column(const Operand& address, MemoryAccess& access) {
    if (address.reg < 0 && address.symbol < 0)
        return immediate(address.bits + static_cast<uint64_t>(address.offset), 8);
    access.offset = address.offset;
    if (address.reg >= 0) {
        access.wide_address = size_of(kernel.registers[static_cast<size_t>(address.reg)].type) == 8;
        return column_of(address);
    }
    if (kernel.symbols[static_cast<size_t>(address.symbol)].space == StateSpace::Param)
        fail("parameters are read with ld.param");
    return immediate(symbol_address[static_cast<size_t>(address.symbol)], 8);
}

Ref Lowering::half_of(const Operand& wide, uint32_t half) const {
    return column_of(wide) + half * 2 * kColumnBytes;
}

bool Lowering::memory() {
    const bool load = current->op == Op::Ld;
    const Operand& address = ptx::address_of(*current);
    const Operand& data = current->operands[load ? 0 : 1];
    MemoryAccess access;
    access.space = current->space;
    if (current->space == StateSpace::Param) {
        if (address.reg < 0)
            return parameter_of[static_cast<size_t>(address.symbol)] < 0 ? move_call_value()
                                                                         : parameter_load();
        access.space = StateSpace::Const;
        program.parameters_addressed = true;
    }
    access.site = site_of[current_index];
    access.cluster = ptx::names_cluster(*current) || current->space == StateSpace::Generic;
    access.element_bytes = static_cast<uint8_t>(size_of(current->type));
    access.is_signed = is_signed(current->type);
    access.elements = current->vector;
    const Ref at = address_column(address, access);
    if (current->type == Type::B128) {  // two halves of a register
        access.element_bytes = 8, access.elements = 2;
        access.data_bytes.fill(8);
        for (uint32_t half = 0; half < 2; ++half) access.data[half] = half_of(data, half);
    }
    for (size_t i = 0; i < current->vector && current->type != Type::B128; ++i) {
        const Operand& d = data.kind == Operand::Kind::Vector ? data.elements[i] : data;
        if (load) {
            const bool kept = d.kind == Operand::Kind::Register;
            access.data_bytes[i] = static_cast<uint8_t>(kept                        ? register_bytes(d)
                                                        : access.element_bytes == 8 ? 8
                                                                                    : 4);
            access.data[i] = kept ? column_of(d) : column(8);
        } else {
            access.data[i] = source(d, access.element_bytes == 8 ? Type::U64 : Type::U32);
            access.data_bytes[i] = access.element_bytes == 8 ? 8 : 4;
        }
    }
    if (!problem.empty()) return false;
    MicroOp& op = emit(load ? MicroOp::Kind::Load : MicroOp::Kind::Store);
    op.a = at;
    op.target = static_cast<uint32_t>(program.accesses.size());
    program.accesses.push_back(access);
    return true;
}

// cp.async: a load into registers that no one else has, and a store from there.
bool Lowering::copy() {
    const auto& o = current->operands;
    MemoryAccess to;
    to.copy = true;
    to.elements = current->vector;
    to.data_bytes.fill(4);
    for (size_t i = 0; i < to.elements; ++i) to.data[i] = column(4);
    MemoryAccess from = to;
    from.space = StateSpace::Global, from.site = site_of[current_index] - 1;
    to.space = StateSpace::Shared, to.site = site_of[current_index];
    const Ref source_at = address_column(o[1], from), to_at = address_column(o[0], to);
    const bool whole =
        o.size() > 3 && o[3].kind == Operand::Kind::Immediate && o[3].bits == uint64_t{4} * to.elements;
    const bool sized = o.size() > 3 && !whole;
    const Ref size = sized ? source(o[3], Type::U32) : 0;
    for (size_t i = 0; sized && i < to.elements; ++i) lane(Op::Mov, Type::U32, to.data[i], immediate(0, 4));
    if (!problem.empty()) return false;
    for (const auto& [kind, access, at] :
         {std::tuple(MicroOp::Kind::Load, &from, source_at), {MicroOp::Kind::Store, &to, to_at}}) {
        MicroOp& op = emit(kind);
        op.a = at;
        if (kind == MicroOp::Kind::Load) op.b = size, op.c = sized;
        op.target = static_cast<uint32_t>(program.accesses.size());
        program.accesses.push_back(*access);
    }
    return true;
}

// atom and red.
bool Lowering::atomic() {
    const auto& o = current->operands;
    const size_t at = ptx::address_at(*current);  // the operands follow
    MemoryAccess access;
    access.space = current->space;
    access.element_bytes = static_cast<uint8_t>(size_of(current->type));
    access.site = site_of[current_index];
    access.cluster = ptx::names_cluster(*current) || current->space == StateSpace::Generic;
    access.is_signed = is_signed(current->type);
    access.is_float = is_float(current->type);
    access.atomic = current->atomic;
    access.elements = current->vector;
    const Type pair_of = element_of_pair(current->type),
               single = pair_of == Type::None ? current->type : pair_of;
    if (single == Type::F16 || single == Type::BF16) access.half = single;
    const Ref address = address_column(o[at], access);
    const auto element = [](const Operand& all, size_t i) -> const Operand& {
        return all.kind == Operand::Kind::Vector ? all.elements[i] : all;
    };
    for (size_t i = 0; i < access.elements; ++i) {
        const bool kept = at == 1 && element(o[0], i).kind == Operand::Kind::Register;
        access.data[i] = kept ? column_of(element(o[0], i)) : column(8);
        access.data[access.elements + i] = source(element(o[at + 1], i), current->type);
    }
    if (o.size() > at + 2 && current->op != Op::RedAsync)
        access.data[2] = source(o[at + 2], current->type);  // of a cas
    access.data_bytes.fill(access.element_bytes);
    if (!problem.empty()) return false;
    MicroOp& op = emit(MicroOp::Kind::Atomic);
    op.a = address;
    op.target = static_cast<uint32_t>(program.accesses.size());
    program.accesses.push_back(access);
    return true;
}

bool Lowering::address_conversion() {
    const Ref d = column_of(current->operands[0]);
    const Ref a = source(current->operands[1], current->type);
    if (!problem.empty()) return false;
    const uint64_t window = window_of(current->space);
    if (window == 0) return lane(Op::Mov, current->type, d, a);
    if (size_of(current->type) != 8) return fail("generic addresses have 64 bits");
    return lane(current->to_space ? Op::Sub : Op::Add, Type::U64, d, a, immediate(window, 8));
}

// isspacep: whether a generic address lies in its space's window. Global memory is all that no window
// holds: a range, too, that goes round the end of the 64 bits.
bool Lowering::space_test() {
    uint64_t first = window_of(current->space), bytes = kWindowBytes;
    if (current->space == StateSpace::Global) first = kModuleWindow, bytes = kSharedWindow - kModuleWindow;
    if (current->space == StateSpace::Const) bytes = program.parameter_base;
    // Of the own block's shared memory; that of the others is .shared::cluster.
    if (current->space == StateSpace::Shared && !ptx::names_cluster(*current)) bytes = kOffsetMask + 1;
    if (current->space == StateSpace::Param) first += program.parameter_base, bytes = program.parameter_bytes;
    const Operand& to = current->operands[0];
    const Ref d = to.kind == Operand::Kind::Register ? column_of(to) : predicate();
    const Ref a = source(current->operands[1], Type::U64), inside = column(8);
    lane(Op::Sub, Type::U64, inside, a, immediate(first, 8));
    return lane({.op = Op::Setp, .type = Type::U64, .compare = ptx::Compare::Lt}, d, inside,
                immediate(bytes, 8));
}

}  // namespace tilescope::simt
