#include "core/hazards/register_values.h"

#include <algorithm>
#include <cstring>

namespace tilescope::analysis {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

constexpr int kMostFollowed = 1000;  // instructions: a value that is used twice is followed twice

uint64_t mix(uint64_t a, uint64_t b) {
    return (a ^ (b + 0x9E37'79B9'7F4A'7C15u + (a << 6) + (a >> 2))) * 0xBF58'476D'1CE4'E5B9u;
}

// Whether the result of an instruction depends on its operands alone.
bool is_pure(Op op) {
    constexpr Op kPure[] = {Op::Abs,  Op::Add,  Op::And,  Op::Bfe,  Op::Bfi, Op::Cvt,  Op::Cvta, Op::Div,
                            Op::Fma,  Op::Lop3, Op::Mad,  Op::Max,  Op::Min, Op::Mov,  Op::Mul,  Op::Neg,
                            Op::Not,  Op::Or,   Op::Popc, Op::Prmt, Op::Rcp, Op::Rem,  Op::Selp, Op::Set,
                            Op::Setp, Op::Shf,  Op::Shl,  Op::Shr,  Op::Sub, Op::Sqrt, Op::Xor};
    return std::ranges::find(kPure, op) != std::end(kPure);
}

// The one instruction that makes a register, where it makes nothing else and is always executed.
const Instruction* maker_of(const ptx::Kernel& kernel, const Definitions& definitions,
                            const Operand& operand) {
    if (operand.kind != Operand::Kind::Register || definitions[operand.reg].size() != 1) return nullptr;
    const Instruction& made = kernel.instructions[definitions[operand.reg].front()];
    const bool plain = made.guard < 0 && made.destinations == 1 && made.operands.size() > 1 &&
                       made.operands[0].kind == Operand::Kind::Register;
    return plain && !made.carry_out ? &made : nullptr;
}

// Parameters of the kernel; not of a call.
int64_t parameter_number(const ptx::Kernel& kernel, const Instruction& load) {
    if (load.op != Op::Ld || load.space != ptx::StateSpace::Param || load.vector != 1) return -1;
    const Operand& address = load.operands[1];
    const auto at = std::ranges::find(kernel.parameters, address.symbol);
    if (address.reg >= 0 || address.symbol < 0 || at == kernel.parameters.end()) return -1;
    return at - kernel.parameters.begin();
}

std::optional<UniformValue> uniform_special(ptx::SpecialRegister special) {
    using S = ptx::SpecialRegister;
    const auto number = mix(0x5EC1'A100u, static_cast<uint64_t>(special));
    switch (special) {
        case S::NtidX:
        case S::NtidY:
        case S::NtidZ:
        case S::NctaidX:
        case S::NctaidY:
        case S::NctaidZ:
        case S::DynamicSmemSize:
        case S::TotalSmemSize: return UniformValue{number, false};
        case S::CtaidX:
        case S::CtaidY:
        case S::CtaidZ: return UniformValue{number, true};
        default: return std::nullopt;
    }
}

class Uniform {
public:
    Uniform(const ptx::Kernel& kernel, const Definitions& definitions, const SteadyLoad& steady)
        : kernel_(kernel), definitions_(definitions), steady_(steady) {}

    std::optional<UniformValue> of(const Operand& operand) {
        if (operand.negated) return std::nullopt;
        if (operand.kind == Operand::Kind::Immediate) return UniformValue{operand.bits};
        if (operand.kind == Operand::Kind::Special) return uniform_special(operand.special);
        if (operand.kind == Operand::Kind::Symbol) return address(operand);
        const Instruction* const made = maker_of(kernel_, definitions_, operand);
        if (!made || --left_ < 0) return std::nullopt;
        if (made->op == Op::Mov) return of(made->operands[1]);
        uint64_t key = mix(static_cast<uint64_t>(made->op), static_cast<uint64_t>(made->type));
        if (const int64_t parameter = parameter_number(kernel_, *made); parameter >= 0)
            return UniformValue{mix(mix(key, static_cast<uint64_t>(parameter)),
                                    static_cast<uint64_t>(made->operands[1].offset))};
        if (made->op == Op::Ld) return loaded(*made, key);
        if (!is_pure(made->op)) return std::nullopt;
        for (const std::string& suffix : made->suffixes)  // how it rounds, compares, widens
            for (const char c : suffix + '.') key = mix(key, static_cast<uint64_t>(c));
        UniformValue value{key};
        for (size_t i = 1; i < made->operands.size(); ++i) {
            const auto one = of(made->operands[i]);
            if (!one) return std::nullopt;
            value = {mix(value.key, one->key), value.of_block || one->of_block, value.loaded | one->loaded};
        }
        return value;
    }

private:
    // Of a variable, an offset, and a register, as far as there are such.
    std::optional<UniformValue> address(const Operand& operand) {
        UniformValue value{mix(0xADD2'E550u, static_cast<uint64_t>(operand.offset))};
        if (operand.symbol >= 0) {
            const ptx::StateSpace space = kernel_.symbols[static_cast<size_t>(operand.symbol)].space;
            if (space != ptx::StateSpace::Shared && space != ptx::StateSpace::Global &&
                space != ptx::StateSpace::Const)
                return std::nullopt;
            value.of_block = space == ptx::StateSpace::Shared;
            value.key = mix(value.key, static_cast<uint64_t>(operand.symbol));
        }
        if (operand.reg < 0) return value;
        Operand reg;
        reg.kind = Operand::Kind::Register, reg.reg = operand.reg;
        const auto base = of(reg);
        if (!base) return std::nullopt;
        return UniformValue{mix(value.key, base->key), value.of_block || base->of_block, base->loaded};
    }
    std::optional<UniformValue> loaded(const Instruction& load, uint64_t key) {
        if (!steady_ || load.vector != 1) return std::nullopt;
        const auto at = address(load.operands[1]);
        const auto from =
            at ? steady_(static_cast<uint32_t>(&load - kernel_.instructions.data())) : std::nullopt;
        if (!from) return std::nullopt;
        return UniformValue{mix(key, at->key), at->of_block || *from != 0, at->loaded | *from};
    }

    const ptx::Kernel& kernel_;
    const Definitions& definitions_;
    const SteadyLoad& steady_;
    int left_ = kMostFollowed;
};

uint64_t cut_to(ElementType type, uint64_t value) {
    if (type == ElementType::Pred) return value & 1;
    const uint32_t bits = 8 * size_of(type);
    if (bits == 0 || bits >= 64) return value;
    const uint64_t low = value & ((uint64_t{1} << bits) - 1);
    return is_signed(type) && low >> (bits - 1) ? low | ~uint64_t{0} << bits : low;
}

uint64_t special_of(const ThreadOfLaunch& of, ptx::SpecialRegister special, bool& known) {
    using S = ptx::SpecialRegister;
    const Dim3 &b = of.launch.block, &g = of.launch.grid;
    const uint32_t lane = of.thread % kWarpSize, x = std::max(b.x, 1u), y = std::max(b.y, 1u);
    const uint32_t own = 1u << lane;
    switch (special) {
        case S::TidX: return of.thread % x;
        case S::TidY: return of.thread / x % y;
        case S::TidZ: return of.thread / x / y;
        case S::NtidX: return b.x;
        case S::NtidY: return b.y;
        case S::NtidZ: return b.z;
        case S::CtaidX: return of.block.x;
        case S::CtaidY: return of.block.y;
        case S::CtaidZ: return of.block.z;
        case S::NctaidX: return g.x;
        case S::NctaidY: return g.y;
        case S::NctaidZ: return g.z;
        case S::LaneId: return lane;
        case S::LanemaskEq: return own;
        case S::LanemaskLt: return own - 1;
        case S::LanemaskLe: return own | (own - 1);
        case S::LanemaskGt: return ~(own | (own - 1));
        case S::LanemaskGe: return ~(own - 1);
        default: known = false; return 0;
    }
}

class InThread {
public:
    InThread(const ptx::Kernel& kernel, const Definitions& definitions, const ThreadOfLaunch& of)
        : kernel_(kernel), definitions_(definitions), of_(of) {}

    // Zero where it is not known; known() says so.
    uint64_t value(const Operand& operand) {
        if (operand.kind == Operand::Kind::Immediate && operand.immediate_type != ElementType::F32 &&
            operand.immediate_type != ElementType::F64)
            return operand.bits;
        if (operand.kind == Operand::Kind::Special) return special_of(of_, operand.special, known_);
        const Instruction* const made = maker_of(kernel_, definitions_, operand);
        if (!made || --left_ < 0 || is_float(made->type)) return unknown();
        return cut_to(kernel_.registers[operand.reg].type, result(*made) ^ (operand.negated ? 1 : 0));
    }
    bool known() const { return known_; }

private:
    uint64_t unknown() {
        known_ = false;
        return 0;
    }
    uint64_t parameter(const Instruction& load) {
        const int64_t number = parameter_number(kernel_, load);
        if (number < 0 || static_cast<size_t>(number) >= of_.launch.arguments.size()) return unknown();
        const Argument& argument = of_.launch.arguments[static_cast<size_t>(number)];
        const auto offset = static_cast<uint64_t>(load.operands[1].offset);
        const uint64_t bytes = size_of(load.type);
        if (!argument.object.empty()) {
            if (offset > argument.object.size() || bytes > argument.object.size() - offset) return unknown();
            uint64_t bits = 0;
            std::memcpy(&bits, argument.object.data() + offset, bytes);
            return cut_to(load.type, bits);
        }
        if (offset >= 8) return unknown();
        return cut_to(load.type, of_.launch.bits_of(argument) >> 8 * offset);
    }
    uint64_t result(const Instruction& made) {
        if (made.op == Op::Ld) return parameter(made);
        const ElementType type = made.type;
        const uint64_t width = 8 * size_of(type == ElementType::Pred ? ElementType::B8 : type);
        const auto source = [&](size_t i, ElementType as) {
            return i < made.operands.size() ? cut_to(as, value(made.operands[i])) : unknown();
        };
        const auto last = [&] { return source(made.operands.size() - 1, ElementType::Pred); };
        if (made.op == Op::Cvt) return is_float(made.type2) ? unknown() : source(1, made.type2);
        if (made.op == Op::Selp) return last() != 0 ? source(1, type) : source(2, type);
        if (made.sat || made.type2 != ElementType::None) return unknown();
        const uint64_t a = source(1, type);
        switch (made.op) {
            case Op::Mov: return a;
            case Op::Not: return ~a;
            case Op::Neg: return 0 - a;
            default: break;
        }
        const uint64_t b = source(2, made.op == Op::Shl || made.op == Op::Shr ? ElementType::U32 : type);
        const bool sign = is_signed(type);
        const auto signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
        switch (made.op) {
            case Op::Add: return a + b;
            case Op::Sub: return a - b;
            case Op::And: return a & b;
            case Op::Or: return a | b;
            case Op::Xor: return a ^ b;
            case Op::Min: return (sign ? signed_a < signed_b : a < b) ? a : b;
            case Op::Max: return (sign ? signed_a > signed_b : a > b) ? a : b;
            case Op::Shl: return b >= width ? 0 : a << b;
            case Op::Shr:
                return sign ? static_cast<uint64_t>(signed_a >> std::min(b, width - 1))
                            : (b >= width ? 0 : a >> b);
            case Op::Mul: return made.half == ptx::Half::Hi ? unknown() : a * b;
            case Op::Mad:
                if (made.half == ptx::Half::Lo) return a * b + source(3, type);
                return unknown();
            case Op::Div: return sign || b == 0 ? unknown() : a / b;
            case Op::Rem: return sign || b == 0 ? unknown() : a % b;
            case Op::Setp: return compared(made, a, b);
            default: return unknown();
        }
    }
    uint64_t compared(const Instruction& made, uint64_t a, uint64_t b) {
        if (made.combine != ptx::Bool::None) return unknown();
        const bool sign = is_signed(made.type);
        const auto signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
        const bool less = sign ? signed_a < signed_b : a < b;
        using C = ptx::Compare;
        switch (made.compare) {
            case C::Eq: return a == b;
            case C::Ne: return a != b;
            case C::Lt:
            case C::Lo: return less;
            case C::Le:
            case C::Ls: return less || a == b;
            case C::Gt:
            case C::Hi: return !less && a != b;
            case C::Ge:
            case C::Hs: return !less;
            default: return unknown();
        }
    }

    const ptx::Kernel& kernel_;
    const Definitions& definitions_;
    const ThreadOfLaunch& of_;
    bool known_ = true;
    int left_ = kMostFollowed;
};

}  // namespace

Definitions definitions_of(const ptx::Kernel& kernel) {
    Definitions of(kernel.registers.size());
    const auto add = [&](const Operand& operand, uint32_t at) {
        if (operand.kind == Operand::Kind::Register) of[operand.reg].push_back(at);
    };
    for (uint32_t i = 0; i < kernel.instructions.size(); ++i) {
        const Instruction& instruction = kernel.instructions[i];
        for (uint32_t d = 0; d < instruction.destinations; ++d) {
            add(instruction.operands[d], i);
            for (const Operand& element : instruction.operands[d].elements) add(element, i);
        }
    }
    return of;
}

std::optional<UniformValue> uniform_value(const ptx::Kernel& kernel, const Definitions& definitions,
                                          const Operand& operand, const SteadyLoad& steady) {
    return Uniform(kernel, definitions, steady).of(operand);
}

std::optional<uint64_t> value_in_thread(const ptx::Kernel& kernel, const Definitions& definitions,
                                        const Operand& operand, const ThreadOfLaunch& thread) {
    InThread in(kernel, definitions, thread);
    const uint64_t value = in.value(operand);
    return in.known() ? std::optional(value) : std::nullopt;
}

}  // namespace tilescope::analysis
