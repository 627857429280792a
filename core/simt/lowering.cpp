// Operands: registers, constants, special registers and variables become columns and offsets.
#include "core/simt/lowering.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/ptx/parse.h"

namespace tilescope::simt {

using ptx::Op;
using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;

uint32_t slot_bytes(Type type) {
    if (type == Type::Pred) return 0;
    return size_of(type) == 8 ? 8 : 4;
}

bool Lowering::fail(const std::string& why) {
    if (problem.empty() && current)
        problem = fmt::format("instruction '{}' (line {} of the PTX) cannot be run on the CPU: {}",
                              ptx::print(kernel, *current), current->text_line, why);
    return false;
}

namespace {

uint64_t aligned(uint64_t at, uint64_t alignment) {
    alignment = std::max<uint64_t>(alignment, 1);
    return (at + alignment - 1) / alignment * alignment;
}

bool is_dynamic(const ptx::Symbol& symbol) {
    return symbol.space == StateSpace::Shared && symbol.is_extern && symbol.count == 0;
}

// The array that is a variable of the module; null where there is none.
const Array* variable_among(const std::vector<Array>& arrays, const std::string& symbol) {
    for (const Array& array : arrays)
        if (array.space != Space::Shared && array.symbol == symbol) return &array;
    return nullptr;
}

// What a warp's registers may take, the temporary ones of all instructions included.
constexpr uint32_t kMostRegisterBytes = 1u << 28;

}  // namespace

void set_constants(Program& program, const std::vector<Array>& arrays) {
    for (const auto& [symbol, offset] : program.constant_offsets) {
        const Array* const array = variable_among(arrays, symbol);
        if (!array || array->contents.kind != Contents::Kind::Stored || !array->contents.bytes) continue;
        const std::vector<std::byte>& bytes = *array->contents.bytes;
        std::memcpy(program.constants.data() + offset, bytes.data(),
                    std::min<size_t>(bytes.size(), program.constants.size() - offset));
    }
}

Result<void> Lowering::lay_out() {
    const auto too_much = [&](uint64_t bytes, const char* space, uint64_t most) {
        return Error{
            fmt::format("kernel '{}' declares {} bytes of {}, more than the {} that a GPU has; "
                        "declare less",
                        kernel.name, grouped(bytes), space, grouped(most))};
    };
    for (const ptx::Register& r : kernel.registers)
        if (r.type == Type::Pred)
            register_offset.push_back(next_predicate), next_predicate += 4;
        else
            register_offset.push_back(0);
    next_column = static_cast<uint32_t>(aligned(next_predicate, kColumnBytes));
    columns.push_back({0, next_column, true});
    next_predicate = next_column;  // temporaries take a column each 32 of them
    for (size_t i = 0; i < kernel.registers.size(); ++i)
        if (const Type type = kernel.registers[i].type; size_of(type) == 16)
            register_offset[i] = column(8), column(8);
        else if (type != Type::Pred)
            register_offset[i] = column(slot_bytes(type));

    parameter_of.assign(kernel.symbols.size(), -1);
    for (size_t p = 0; p < kernel.parameters.size(); ++p)
        parameter_of[static_cast<size_t>(kernel.parameters[p])] = static_cast<int32_t>(p);
    uint64_t parameter_bytes = 0, constant_bytes = 0;
    for (const int32_t parameter : kernel.parameters) {
        const ptx::Symbol& symbol = kernel.symbols[static_cast<size_t>(parameter)];
        const uint64_t at =
            aligned(parameter_bytes, std::max<uint64_t>(symbol.alignment, size_of(symbol.type)));
        parameter_bytes = at + symbol.bytes();
        program.parameters.push_back(
            {static_cast<uint32_t>(at), static_cast<uint32_t>(symbol.bytes()), symbol.is_array});
        if (parameter_bytes > kMostParameterBytes) break;
    }
    program.parameter_bytes = static_cast<uint32_t>(parameter_bytes);
    if (parameter_bytes > kMostParameterBytes)
        return too_much(parameter_bytes, "parameters", kMostParameterBytes);
    std::vector<InitialBytes> constants;
    // Places a variable behind `bytes`, and notes what it begins with.
    const auto place = [&](const ptx::Symbol& symbol, uint64_t& bytes, std::vector<InitialBytes>* initial) {
        const uint64_t at = aligned(bytes, std::max<uint64_t>(symbol.alignment, size_of(symbol.type)));
        bytes = at + symbol.bytes();
        const std::vector<uint8_t>& given =
            (symbol.module_variable < 0 ? symbol
                                        : module.variables[static_cast<size_t>(symbol.module_variable)])
                .initial;
        if (initial && !given.empty()) initial->push_back({at, given});
        return at;
    };
    // Dynamic shared memory lies behind what is declared, and all of its names are one place.
    uint64_t dynamic_alignment = 16;
    for (const ptx::Symbol& symbol : kernel.symbols)
        if (is_dynamic(symbol)) dynamic_alignment = std::max<uint64_t>(dynamic_alignment, symbol.alignment);
    for (const ptx::Symbol& symbol : kernel.symbols) {
        uint64_t at = 0;
        switch (symbol.space) {
            case StateSpace::Shared:
                if (is_dynamic(symbol)) break;
                at = place(symbol, program.shared_bytes, nullptr);
                program.shared.emplace(symbol.name, at);
                break;
            case StateSpace::Local:
                at = place(symbol, program.local_bytes, nullptr);
                program.local.emplace(symbol.name, at);
                break;
            case StateSpace::Const:
                at = place(symbol, constant_bytes, &constants);
                program.constant_offsets.emplace(symbol.name, at);
                break;
            case StateSpace::Global:
                if (const Array* array = variable_among(arrays, symbol.name))
                    at = array->base;
                else
                    at = kModuleWindow + place(symbol, program.module_bytes, &program.module_initial);
                break;
            default: break;
        }
        symbol_address.push_back(at);
    }
    bool dynamic = false;
    for (size_t i = 0; i < kernel.symbols.size(); ++i) {
        if (!is_dynamic(kernel.symbols[i])) continue;
        symbol_address[i] = aligned(program.shared_bytes, dynamic_alignment);
        program.shared.emplace(kernel.symbols[i].name, symbol_address[i]);
        dynamic = true;
    }
    if (dynamic) program.shared_bytes = aligned(program.shared_bytes, dynamic_alignment);
    program.local_bytes = aligned(program.local_bytes, 16);
    if (constant_bytes > kMostConstantBytes)
        return too_much(constant_bytes, "constant memory", kMostConstantBytes);
    if (program.local_bytes > kMostLocalBytes)
        return too_much(program.local_bytes, "local memory", kMostLocalBytes);
    if (program.shared_bytes > kMostSharedBytes)
        return too_much(program.shared_bytes, "shared memory", kMostSharedBytes);
    program.constants.resize(constant_bytes);
    for (const InitialBytes& initial : constants)
        std::memcpy(program.constants.data() + initial.offset, initial.bytes.data(), initial.bytes.size());
    set_constants(program, arrays);
    constexpr uint64_t kGap = 4096;  // so that an index past the constants does not reach parameters
    program.parameter_base = aligned(constant_bytes, 256) + kGap;
    relocate();
    return {};
}

// Initial values that are addresses: of variables that the kernel names, by their initial values too. What an
// array holds, it holds with its addresses.
void Lowering::relocate() {
    std::map<int32_t, size_t> symbol_of;  // by module variable
    for (size_t s = 0; s < kernel.symbols.size(); ++s)
        if (kernel.symbols[s].module_variable >= 0) symbol_of[kernel.symbols[s].module_variable] = s;
    for (const auto& [variable, s] : symbol_of) {
        const ptx::Symbol& symbol = module.variables[static_cast<size_t>(variable)];
        if (symbol.relocations.empty() || variable_among(arrays, symbol.name)) continue;
        const std::vector<uint8_t> bytes = ptx::initial_bytes(symbol, [&](const ptx::Relocation& to) {
            const size_t target = symbol_of.at(to.variable);
            const bool window = to.generic && kernel.symbols[target].space == StateSpace::Const;
            return symbol_address[target] + (window ? kConstWindow : 0);
        });
        if (symbol.space == StateSpace::Const)
            std::memcpy(program.constants.data() + symbol_address[s], bytes.data(), bytes.size());
        else
            program.module_initial.push_back({symbol_address[s] - kModuleWindow, bytes});
    }
}

uint32_t Lowering::column(uint32_t bytes) {
    const uint32_t at = next_column;
    if (at > kMostRegisterBytes) {
        fail("the kernel has too many registers and constants; split it");
        return 0;
    }
    next_column += bytes == 8 ? 2 * kColumnBytes : kColumnBytes;
    columns.push_back({at, next_column - at, false});
    return at;
}

uint32_t Lowering::predicate() {
    if (next_predicate % kColumnBytes == 0) {
        next_predicate = column(4);
        columns.back().predicates = true;
    }
    const uint32_t at = next_predicate;
    next_predicate += 4;
    return at;
}

Ref Lowering::pool(PoolColumn wanted) {
    const auto [known, is_new] = pooled.try_emplace(
        {wanted.kind, wanted.bytes, wanted.index, wanted.type, wanted.bits}, program.pool_bytes | 1);
    if (!is_new) return known->second;
    wanted.offset = program.pool_bytes;
    program.pool_bytes += wanted.bytes == 8 ? 2 * kColumnBytes : kColumnBytes;
    program.pool.push_back(wanted);
    return known->second;
}

Ref Lowering::immediate(uint64_t bits, int bytes) {
    return pool({.bytes = static_cast<uint8_t>(bytes), .bits = bits});
}

Ref Lowering::special(ptx::SpecialRegister which, int bytes) {
    using S = ptx::SpecialRegister;
    using K = PoolColumn::Kind;
    const auto pooled_column = [&](K kind, S first) {
        const int index = static_cast<int>(which) - static_cast<int>(first);
        return pool(
            {.kind = kind, .bytes = static_cast<uint8_t>(bytes), .index = static_cast<uint16_t>(index)});
    };
    const auto thread_column = [&](uint32_t& at) {
        if (at == UINT32_MAX) at = column(4);
        if (bytes != 8) return at;
        const Ref wide = column(8);
        lane(Op::Cvt, Type::U64, wide, at, 0, Type::U32);
        return wide;
    };
    if (which <= S::TidZ) return thread_column(program.tid[static_cast<size_t>(which)]);
    if (which <= S::NtidZ) return pooled_column(K::Ntid, S::NtidX);
    if (which <= S::CtaidZ) return pooled_column(K::Ctaid, S::CtaidX);
    if (which <= S::NctaidZ) return pooled_column(K::Nctaid, S::NctaidX);
    if (which >= S::ClusteridX) {
        program.clusters = true;
        if (which <= S::ClusteridZ) return pooled_column(K::Clusterid, S::ClusteridX);
        if (which <= S::NclusteridZ) return pooled_column(K::Nclusterid, S::NclusteridX);
        if (which <= S::ClusterCtaidZ) return pooled_column(K::ClusterCtaid, S::ClusterCtaidX);
        if (which <= S::ClusterNctaidZ) return pooled_column(K::ClusterNctaid, S::ClusterNctaidX);
        return pooled_column(which == S::ClusterCtarank    ? K::ClusterRank
                             : which == S::ClusterNctarank ? K::ClusterBlocks
                                                           : K::ExplicitCluster,
                             which);
    }
    if (which == S::WarpId) return thread_column(program.warp_id);
    if (which == S::SmId || which == S::GridId) return immediate(0, bytes);
    if (which == S::NsmId) return immediate(1, bytes);
    constexpr std::pair<S, K> kPooled[] = {{S::LaneId, K::LaneId},
                                           {S::NwarpId, K::WarpCount},
                                           {S::LanemaskEq, K::LanemaskEq},
                                           {S::LanemaskLe, K::LanemaskLe},
                                           {S::LanemaskLt, K::LanemaskLt},
                                           {S::LanemaskGe, K::LanemaskGe},
                                           {S::LanemaskGt, K::LanemaskGt},
                                           {S::DynamicSmemSize, K::DynamicShared},
                                           {S::TotalSmemSize, K::TotalShared}};
    for (const auto& [special, kind] : kPooled)
        if (special == which) return pooled_column(kind, which);
    // Clocks count the instructions of the block's warps: one clock for all of them, as an SM has.
    const Ref wide = column(8);
    emit(MicroOp::Kind::Clock).d = wide;
    if (bytes == 8) return wide;
    if (which == S::ClockHi || which == S::GlobalTimerHi)
        lane(Op::Shr, Type::U64, wide, wide, immediate(32, 4));
    const Ref narrow = column(4);
    lane(Op::Cvt, Type::U32, narrow, wide, 0, Type::U64);
    return narrow;
}

uint32_t Lowering::register_bytes(const Operand& operand) const {
    return operand.kind == Operand::Kind::Register
               ? size_of(kernel.registers[static_cast<size_t>(operand.reg)].type)
               : 8u;
}

Ref Lowering::source(const Operand& operand, Type type) {
    const int bytes = slot_bytes(type);
    switch (operand.kind) {
        case Operand::Kind::Register: {
            const Ref at = column_of(operand);
            if (type == Type::Pred) {
                if (!operand.negated) return at;
                const Ref flipped = predicate();
                lane(Op::Not, Type::Pred, flipped, at);
                return flipped;
            }
            const uint32_t have = register_bytes(operand);
            if (have <= size_of(type) || (have <= 4 && bytes == 4)) return at;
            const Ref narrow = column(4);
            lane(Op::Cvt, Type::U32, narrow, at, 0, Type::U64);
            return narrow;
        }
        case Operand::Kind::Immediate: {
            uint64_t bits = operand.bits;
            if (type == Type::Pred) return immediate((bits != 0) != operand.negated ? ~0u : 0u, 0);
            if (operand.immediate_type == Type::F64 && type == Type::F32)
                bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
            else if (operand.immediate_type == Type::F32 && size_of(type) == 8)
                bits = std::bit_cast<uint64_t>(
                    static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
            const int size = size_of(type);
            if (size < 8) bits &= (uint64_t{1} << (size * 8)) - 1;
            return immediate(bits, bytes);
        }
        case Operand::Kind::Special: return special(operand.special, bytes);
        case Operand::Kind::Symbol: {
            const size_t s = static_cast<size_t>(operand.symbol);
            uint64_t start = symbol_address[s];
            if (kernel.symbols[s].space == StateSpace::Param) {
                if (parameter_of[s] < 0) {
                    fail("it takes the address of what a call is given");
                    return 0;
                }
                program.parameters_addressed = true;
                start =
                    program.parameter_base + program.parameters[static_cast<size_t>(parameter_of[s])].offset;
            }
            const uint64_t address = start + static_cast<uint64_t>(operand.offset);
            return immediate(bytes == 8 ? address : address & 0xFFFF'FFFF, bytes);
        }
        default: fail("an operand has a form that is not known here"); return 0;
    }
}

MicroOp& Lowering::emit(MicroOp::Kind kind) {
    MicroOp op;
    op.kind = kind;
    op.instruction = current_index;
    op.counted = false;  // the last one of the instruction is counted
    if (current->guard >= 0) {
        op.guard = register_offset[static_cast<size_t>(current->guard)];
        op.guard_negated = current->guard_negated;
    }
    program.code.push_back(op);
    program.lanes.emplace_back();
    return program.code.back();
}

bool Lowering::lane(const ptx::Operation& does, Ref d, Ref a, Ref b, Ref c, Ref e) {
    MicroOp& op = emit(MicroOp::Kind::Lane);
    op.d = d, op.e = e, op.a = a, op.b = b, op.c = c;
    program.lanes.back().does = does;
    return problem.empty();
}

namespace {

// Origins of the upper halves of registers.
void upper_origins(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*,
                   uint32_t mask) {
    auto* to = reinterpret_cast<Origin*>(d);
    const auto* from = reinterpret_cast<const Origin*>(a);
    for_lanes(mask, [&](uint32_t l) { to[l] = from[l] == 0 ? 0 : from[l] | kUpperHalf; });
}

}  // namespace

bool Lowering::choose_lanes() {
    for (size_t i = 0; i < program.code.size(); ++i) {
        MicroOp& op = program.code[i];
        if (op.kind != MicroOp::Kind::Lane) continue;
        LaneCode& code = program.lanes[i];
        const LaneOp found = find_lane_op(code.does, version);
        if (!found) {
            current = &kernel.instructions[op.instruction];
            problem.clear();
            return fail(
                "the interpreter does not know this form of it; compile the kernel another way or leave it "
                "out");
        }
        op.full = found.full, op.partial = found.partial, op.warps = found.warps;
        code.flow = code.takes == ptx::Half::None ? flow_of(code.does) : ptx::Dataflow::Copy;
        code.flop = flops_of(code.does);
        code.writes_column = ptx::type_of(ptx::rule_of(code.does.op).operands[0], code.does) != Type::Pred;
        if (code.flow != ptx::Dataflow::Copy && code.flow != ptx::Dataflow::Choice) continue;
        ptx::Operation of_origins = code.does;
        of_origins.type = Type::B32;
        if (code.does.op == Op::Cvt) of_origins = {.op = Op::Mov, .type = Type::B32};
        if (code.takes != ptx::Half::None) of_origins = {.op = Op::Mov, .type = Type::B32};
        code.origin = code.takes == ptx::Half::Hi ? upper_origins : find_lane_op(of_origins, version).partial;
    }
    return true;
}

bool Lowering::lane(Op op, Type type, Ref d, Ref a, Ref b, Type from) {
    return lane({.op = op, .type = type, .type2 = from}, d, a, b);
}

bool Lowering::widen(const Operand& destination, Type type, Ref value) {
    const Ref d = column_of(destination);
    const Type to = integer_of_size(register_bytes(destination), is_signed(type));
    return lane(Op::Cvt, to, d, value, 0, type);
}

}  // namespace tilescope::simt
