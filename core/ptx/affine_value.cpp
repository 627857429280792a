#include "core/ptx/affine_value.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "core/ptx/ops.h"

namespace tilescope::ptx {

namespace {

constexpr int64_t kReach = int64_t{1} << 30;  // lanes must lie nearer to each other than this to be widened

int64_t wrap(int64_t value, int bytes) {
    return bytes == 4 ? static_cast<int64_t>(static_cast<int32_t>(value)) : value;
}

uint64_t mask_of(int bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1; }

AffineValue number(uint64_t n) {
    AffineValue value;
    value.affine = value.constant = true;
    value.number = n;
    return value;
}

struct AffineStep {
    const Kernel& kernel;
    const LaunchFacts& facts;
    const Instruction& instruction;
    uint32_t at;
    int32_t block;
    std::vector<AffineValue>& values;
    ThreadTables& tables;
    int widened = -1;

    // Something that all threads share and nobody knows.
    AffineValue uniform() const {
        AffineValue value;
        value.affine = true;
        value.definition = at + 1;
        value.block = block;
        return value;
    }

    const Operand& source(size_t i) const { return instruction.operands[instruction.destinations + i]; }
    size_t sources() const { return instruction.operands.size() - instruction.destinations; }

    AffineValue special(SpecialRegister which) const {
        using S = SpecialRegister;
        const auto of = [&](const auto& extent, S first) {  // x, y and z stand in this order
            const int axis = static_cast<int>(which) - static_cast<int>(first);
            return number(axis == 0 ? extent.x : axis == 1 ? extent.y : extent.z);
        };
        if (which <= S::TidZ) {
            AffineValue value = number(0);
            (which == S::TidX ? value.x : which == S::TidY ? value.y : value.z) = 1;
            return value;
        }
        if (which == S::LaneId)
            return by_thread([](uint32_t thread) { return uint64_t{thread % kWarpSize}; });
        if (which <= S::NtidZ) return of(facts.block, S::NtidX);
        if (which <= S::CtaidZ || which == S::DynamicSmemSize || which == S::TotalSmemSize ||
            which >= S::ClusteridX)
            return uniform();
        return which <= S::NctaidZ ? of(facts.grid, S::NctaidX) : AffineValue{};
    }

    // All threads see a variable at one address. That of an extern is a multiple of its alignment as far as nothing
    // stands before it, so that 16 bytes are believed.
    AffineValue address_of(const Operand& operand) const {
        AffineValue value = uniform();
        if (operand.symbol < 0) return value;
        const Symbol& symbol = kernel.symbols[static_cast<size_t>(operand.symbol)];
        const uint32_t most = symbol.is_extern ? 16 : 128;
        const uint64_t bytes =
            std::min(std::max(symbol.alignment, 1u), most) | static_cast<uint64_t>(operand.offset);
        value.zeros = static_cast<uint32_t>(std::countr_zero(bytes));
        return value;
    }

    AffineValue read(const Operand& operand) const {
        switch (operand.kind) {
            case Operand::Kind::Register: return values[operand.reg];
            case Operand::Kind::Immediate: return number(operand.bits);
            case Operand::Kind::Special: return special(operand.special);
            case Operand::Kind::Symbol: return address_of(operand);
            default: return {};
        }
    }

    // Numbers that each thread knows, as a value.
    template <class Fn>
    AffineValue by_thread(Fn fn) const {
        std::vector<uint64_t> numbers(tables.threads());
        for (uint32_t thread = 0; thread < numbers.size(); ++thread) numbers[thread] = fn(thread);
        if (numbers.empty()) return {};
        if (std::ranges::all_of(numbers, [&](uint64_t n) { return n == numbers.front(); }))
            return number(numbers.front());
        AffineValue value = number(0);
        value.table = tables.add(std::move(numbers));
        return value.table == ThreadTables::kNone ? AffineValue{} : value;
    }
    uint64_t of_thread(const AffineValue& value, uint32_t thread, int bytes) const {
        return number_of_thread(value, tables, facts.block, thread) & mask_of(bytes);
    }

    // Coefficients and number brought into the range of the width, as the kernel's own arithmetic wraps.
    AffineValue settled(AffineValue value, int bytes) const {
        value.x = wrap(value.x, bytes);
        value.y = wrap(value.y, bytes);
        value.z = wrap(value.z, bytes);
        value.number &= mask_of(bytes);
        if (!value.constant) {
            value.zeros = std::min(value.zeros, static_cast<uint32_t>(8 * bytes));
            value.definition = at + 1;
            value.block = block;
        }
        return value;
    }

    static int64_t times(int64_t a, uint64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * b); }
    static int64_t plus(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }

    static void add_number(AffineValue& value, uint64_t number) {
        if (!value.constant)
            value.zeros = std::min(value.zeros, static_cast<uint32_t>(std::countr_zero(number)));
        value.number += number;
    }

    AffineValue scaled(const AffineValue& value, uint64_t factor, int bytes) const {
        if (!value.affine) return {};
        AffineValue result = value;
        result.x = times(value.x, factor);
        result.y = times(value.y, factor);
        result.z = times(value.z, factor);
        result.number = value.number * factor;
        result.zeros = zeros_of(value) + static_cast<uint32_t>(std::countr_zero(factor));
        if (value.table != 0) {
            const AffineValue made = by_thread(
                [&](uint32_t thread) { return tables.at(value.table, thread) * factor & mask_of(bytes); });
            if (!made.affine) return {};
            result.table = made.table;
            add_number(result, made.number);
        }
        return settled(result, bytes);
    }

    AffineValue sum(const AffineValue& a, const AffineValue& b, int bytes) const {
        if (!a.affine || !b.affine) return {};
        AffineValue result;
        result.affine = true;
        result.constant = a.constant && b.constant;
        result.number = a.number + b.number;
        result.zeros = std::min(zeros_of(a), zeros_of(b));
        result.x = plus(a.x, b.x);
        result.y = plus(a.y, b.y);
        result.z = plus(a.z, b.z);
        result.table = a.table == 0 ? b.table : a.table;
        if (a.table != 0 && b.table != 0) {
            const AffineValue both = by_thread([&](uint32_t thread) {
                return (tables.at(a.table, thread) + tables.at(b.table, thread)) & mask_of(bytes);
            });
            if (!both.affine) return {};
            result.table = both.table;
            add_number(result, both.number);
        }
        return settled(result, bytes);
    }

    AffineValue product(const AffineValue& a, const AffineValue& b, int bytes) const {
        if (b.number_alone()) return scaled(a, b.number, bytes);
        if (a.number_alone()) return scaled(b, a.number, bytes);
        return a.uniform() && b.uniform() ? uniform() : AffineValue{};
    }

    // A 32-bit source as 64 bits.
    AffineValue widen(size_t i, bool with_sign) {
        AffineValue value = read(source(i));
        if (!value.affine) return {};
        if (value.constant) {
            value.number = with_sign ? static_cast<uint64_t>(static_cast<int64_t>(
                                           static_cast<int32_t>(static_cast<uint32_t>(value.number))))
                                     : value.number & mask_of(4);
        }
        if (value.uniform()) return settled(value, 8);
        if (value.table != 0) return widen_by_thread(i, value, with_sign);
        const auto far = [](int64_t coefficient, uint32_t threads) {
            return std::abs(coefficient) * (int64_t{threads} - 1);
        };
        if (far(value.x, facts.block.x) + far(value.y, facts.block.y) + far(value.z, facts.block.z) >= kReach)
            return {};
        widened = instruction.destinations + static_cast<int>(i);
        return settled(value, 8);
    }

    // The same of a value with a table.
    AffineValue widen_by_thread(size_t i, const AffineValue& value, bool with_sign) {
        const auto wide = [&](uint32_t thread) {
            const uint64_t low = of_thread(value, thread, 4);
            return with_sign || !value.constant
                       ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(low)))
                       : low;
        };
        AffineValue made = by_thread(wide);
        if (!made.affine || value.constant) return made;
        made.zeros = std::min(value.zeros, zeros_of(number(made.number)));
        int64_t least = kReach, most = -kReach;
        for (uint32_t thread = 0; thread < tables.threads(); ++thread) {
            const auto one = static_cast<int64_t>(wide(thread));
            least = std::min(least, one), most = std::max(most, one);
        }
        if (most - least >= kReach) return {};
        widened = instruction.destinations + static_cast<int>(i);
        made.constant = false;
        return settled(made, 8);
    }

    AffineValue multiply() {
        const int bytes = size_of(instruction.type);
        if (instruction.half == Half::Wide) {
            if (bytes != 4) return all_uniform();
            const bool with_sign = is_signed(instruction.type);
            const AffineValue a = widen(0, with_sign), b = widen(1, with_sign);
            return product(a, b, 8);
        }
        if (instruction.half == Half::Hi || is_float(instruction.type) || bytes < 4) return all_uniform();
        return product(read(source(0)), read(source(1)), bytes);
    }

    AffineValue convert() {
        const Type to = instruction.type, from = instruction.type2;
        if (is_float(to) || is_float(from) || instruction.sat || size_of(to) < 4 || size_of(from) < 4)
            return all_uniform();
        if (size_of(to) == 8 && size_of(from) == 4) return widen(0, is_signed(from));
        const AffineValue value = read(source(0));
        return value.affine ? settled(value, size_of(to)) : AffineValue{};
    }

    AffineValue select() const {
        const AffineValue a = read(source(0)), b = read(source(1)), p = read(source(2));
        if (same(a, b)) return a;
        if (!p.uniform()) return {};
        AffineValue value = join(a, b);
        return value.affine ? settled(value, size_of(instruction.type)) : value;
    }

    // Bits and quotients of numbers that every thread knows of its own.
    AffineValue known_by_thread() const {
        const int bytes = size_of(instruction.type);
        if (bytes < 4 || is_float(instruction.type)) return all_uniform();
        std::vector<AffineValue> from;
        for (size_t i = 0; i < sources(); ++i) from.push_back(read(source(i)));
        const auto known = [](const AffineValue& value) { return value.affine && value.constant; };
        if (std::ranges::all_of(from, known)) {
            return by_thread([&](uint32_t thread) {
                Numbers numbers{};
                for (size_t i = 0; i < from.size(); ++i) numbers[i] = of_thread(from[i], thread, bytes);
                return made_of(numbers);
            });
        }
        if (from.size() != 2) return all_uniform();
        const bool either =
            instruction.op == Op::And || instruction.op == Op::Or || instruction.op == Op::Xor;
        if (either && !known(from[1])) std::swap(from[0], from[1]);
        if ((either || instruction.op == Op::Shr) && from[0].affine && known(from[1]))
            if (const AffineValue made = low_bits(from[0], from[1], bytes); made.affine) return made;
        return all_uniform();
    }

    // The same of a uniform part that nobody knows, whose low bits are zeros: those bits of the sum are known, and the
    // operation leaves the others as they are, takes them away or moves them.
    AffineValue low_bits(const AffineValue& a, const AffineValue& b, int bytes) const {
        const bool shifts = instruction.op == Op::Shr;
        const uint64_t low = a.zeros >= 64 ? ~uint64_t{0} : (uint64_t{1} << a.zeros) - 1;
        const uint64_t above = mask_of(bytes) & ~low;
        bool keeps = !shifts || (b.number_alone() && b.number <= a.zeros), takes = instruction.op == Op::And;
        for (uint32_t thread = 0; thread < tables.threads(); ++thread) {
            const uint64_t of_b = of_thread(b, thread, bytes);
            if (shifts)
                keeps &=
                    of_thread(a, thread, bytes) <= low;  // or the sum may be more than the register holds
            else
                keeps &= (of_b & above) == (instruction.op == Op::And ? above : 0);
            takes &= (of_b & above) == 0;
        }
        if (!keeps && !takes) return {};
        AffineValue made = by_thread([&](uint32_t thread) {
            const uint64_t of_a = of_thread(a, thread, bytes);
            const uint64_t changed =
                made_of({of_a & low, of_thread(b, thread, bytes) & (shifts ? ~uint64_t{0} : low)});
            return takes || shifts ? changed : (of_a & above) + changed;
        });
        if (!made.affine || takes) return made;
        made.zeros = std::min(shifts ? a.zeros - static_cast<uint32_t>(b.number) : a.zeros, zeros_of(made));
        made.constant = false;
        return settled(made, bytes);
    }

    using Numbers = std::array<uint64_t, 4>;  // an instruction's sources, none longer than its type

    uint64_t made_of(const Numbers& from) const {
        const int bytes = size_of(instruction.type);
        const uint64_t a = from[0], b = from[1], all = mask_of(bytes),
                       width = uint64_t{8} * static_cast<uint64_t>(bytes);
        const auto with_sign = [&](uint64_t n) {
            return bytes == 4 ? int64_t{static_cast<int32_t>(n)} : static_cast<int64_t>(n);
        };
        switch (instruction.op) {
            case Op::And: return a & b;
            case Op::Or: return a | b;
            case Op::Xor: return a ^ b;
            case Op::Not: return ~a & all;
            case Op::Bfe: {  // a field that ends within the register, as compilers write them
                const uint64_t first = b & 0xFF, length = from[2] & 0xFF;
                if (length == 0 || first + length > width) return 0;
                const uint64_t field = a >> first & (~uint64_t{0} >> (64 - length));
                const bool negative = is_signed(instruction.type) && field >> (length - 1) != 0;
                return (negative ? field | ~uint64_t{0} << (length - 1) : field) & all;
            }
            case Op::Div:
            case Op::Rem: {
                if (b == 0 || (is_signed(instruction.type) && with_sign(b) == -1)) return 0;
                const bool quotient = instruction.op == Op::Div;
                if (!is_signed(instruction.type)) return quotient ? a / b : a % b;
                const int64_t x = with_sign(a), y = with_sign(b);
                return static_cast<uint64_t>(quotient ? x / y : x % y) & all;
            }
            default: break;
        }
        const uint64_t by = b & mask_of(4);  // Shr
        if (!is_signed(instruction.type)) return by < width ? a >> by : 0;
        return static_cast<uint64_t>(with_sign(a) >> std::min(by, width - 1)) & all;
    }

    // Whether made_of() is what the instruction makes, whatever the numbers are.
    bool is_made() const {
        const auto plain = [&](size_t i) { return read(source(i)).number_alone(); };
        const auto number_of = [&](size_t i) { return read(source(i)).number & mask_of(4); };
        switch (instruction.op) {
            case Op::Bfe:
                return plain(1) && plain(2) && number_of(2) > 0 && number_of(1) <= 64 && number_of(2) <= 64 &&
                       number_of(1) + number_of(2) <=
                           uint64_t{8} * static_cast<uint64_t>(size_of(instruction.type));
            case Op::Div:
            case Op::Rem: return plain(1) && number_of(1) > 0 && number_of(1) < (uint64_t{1} << 31);
            default: return true;
        }
    }

    // Whether all threads find the same, though they compare numbers of their own: each knows its number, or the number's
    // part that differs lies below the bits in which it can be compared with what is shared.
    bool compare_alike() const {
        const int bytes = size_of(instruction.type);
        if (bytes < 4 || is_float(instruction.type) || instruction.combine != Bool::None) return false;
        const AffineValue a = read(source(0)), b = read(source(1));
        if (!a.affine || !b.affine || tables.threads() == 0) return false;
        if (a.constant && b.constant) {
            const bool first = compare(of_thread(a, 0, bytes), of_thread(b, 0, bytes));
            for (uint32_t thread = 1; thread < tables.threads(); ++thread)
                if (compare(of_thread(a, thread, bytes), of_thread(b, thread, bytes)) != first) return false;
            return true;
        }
        if (a.constant || !b.number_alone() || a.zeros >= 64) return false;
        const uint64_t low = (uint64_t{1} << a.zeros) - 1, number = b.number & low;
        for (uint32_t thread = 0; thread < tables.threads(); ++thread)
            if (of_thread(a, thread, bytes) > low) return false;
        using C = Compare;
        const C how = instruction.compare;
        return (number == 0 && (how == C::Lt || how == C::Ge || how == C::Lo || how == C::Hs)) ||
               (number == low && (how == C::Le || how == C::Gt || how == C::Ls || how == C::Hi));
    }

    bool compare(uint64_t a, uint64_t b) const {
        if (is_signed(instruction.type) && size_of(instruction.type) == 4)  // in the order of whole numbers
            a = static_cast<uint32_t>(a) ^ 0x8000'0000u, b = static_cast<uint32_t>(b) ^ 0x8000'0000u;
        else if (is_signed(instruction.type))
            a ^= uint64_t{1} << 63, b ^= uint64_t{1} << 63;
        switch (instruction.compare) {
            case Compare::Eq: return a == b;
            case Compare::Ne: return a != b;
            case Compare::Lt:
            case Compare::Lo: return a < b;
            case Compare::Le:
            case Compare::Ls: return a <= b;
            case Compare::Gt:
            case Compare::Hi: return a > b;
            default: return a >= b;
        }
    }

    AffineValue all_uniform() const {
        for (size_t i = 0; i < sources(); ++i)
            if (!read(source(i)).uniform()) return {};
        return uniform();
    }

    AffineValue load() const {
        if (instruction.space != StateSpace::Param) return {};
        const Operand& address = source(0);
        const auto& parameters = kernel.parameters;  // sorted
        const auto found = std::lower_bound(parameters.begin(), parameters.end(), address.symbol);
        if (address.symbol < 0 || address.reg >= 0 || instruction.vector != 1) return {};
        // What a call returns is known to nobody.
        if (kernel.symbols[static_cast<size_t>(address.symbol)].space == StateSpace::Param &&
            (found == parameters.end() || *found != address.symbol))
            return {};
        const auto index = static_cast<size_t>(found - parameters.begin());
        if (found == parameters.end() || *found != address.symbol || index >= facts.parameters.size() ||
            address.offset != 0 || is_float(instruction.type) || size_of(instruction.type) < 4 ||
            size_of(instruction.type) != size_of(kernel.symbols[address.symbol].type))
            return uniform();
        return number(facts.parameters[index] & mask_of(size_of(instruction.type)));
    }

    // Nothing but the sources decides what the result is: not memory, other lanes or the carry.
    bool is_known() const {
        const OpRule& rule = rule_of(instruction.op);
        return rule.unit != SmUnit::Memory && rule.unit != SmUnit::Lanes && rule.unit != SmUnit::Tensor &&
               (rule.suffixes & kCarryIn) == 0;
    }

    AffineValue result() {
        const int bytes = size_of(instruction.type);
        const bool whole = bytes >= 4 && !is_float(instruction.type) && !instruction.sat;
        switch (instruction.op) {
            case Op::Mov: return instruction.destinations == 1 ? read(source(0)) : AffineValue{};
            case Op::Ld: return load();
            case Op::Cvta: {
                const AffineValue value = read(source(0));
                if (!value.affine || instruction.space == StateSpace::Global)
                    return value;  // global addresses are generic ones
                AffineValue moved = value;
                moved.constant = false;
                return settled(moved, bytes);
            }
            case Op::Add: return whole ? sum(read(source(0)), read(source(1)), bytes) : all_uniform();
            case Op::Sub:
                return whole ? sum(read(source(0)), scaled(read(source(1)), ~uint64_t{0}, bytes), bytes)
                             : all_uniform();
            case Op::Neg: return whole ? scaled(read(source(0)), ~uint64_t{0}, bytes) : all_uniform();
            case Op::Shl: {
                const AffineValue by = read(source(1));
                const bool known =
                    whole && by.number_alone() && by.number < uint64_t{8} * static_cast<uint64_t>(bytes);
                return known ? scaled(read(source(0)), uint64_t{1} << by.number, bytes) : all_uniform();
            }
            case Op::And:
            case Op::Or:
            case Op::Xor:
            case Op::Not:
            case Op::Shr:
            case Op::Bfe:
            case Op::Div:
            case Op::Rem: return is_made() ? known_by_thread() : all_uniform();
            case Op::Mul: return multiply();
            case Op::Mad: {
                if (is_float(instruction.type) || instruction.sat) return all_uniform();
                const AffineValue made = multiply();
                return sum(made, read(source(2)), instruction.half == Half::Wide ? 8 : bytes);
            }
            case Op::Cvt: return convert();
            case Op::Setp: {
                const AffineValue made = all_uniform();
                return made.affine || !compare_alike() ? made : uniform();
            }
            case Op::Selp: return whole ? select() : all_uniform();
            default: return is_known() ? all_uniform() : AffineValue{};
        }
    }
};

}  // namespace

bool same(const AffineValue& a, const AffineValue& b) {
    if (a.affine != b.affine || !a.affine) return a.affine == b.affine;
    return a.x == b.x && a.y == b.y && a.z == b.z && a.table == b.table && a.constant == b.constant &&
           (a.constant ? a.number == b.number : a.definition == b.definition);
}

uint32_t zeros_of(const AffineValue& value) {
    return value.constant ? static_cast<uint32_t>(std::countr_zero(value.number)) : value.zeros;
}

AffineValue join(const AffineValue& a, const AffineValue& b) {
    if (!a.affine || !b.affine || a.x != b.x || a.y != b.y || a.z != b.z || a.table != b.table) return {};
    AffineValue result = a;
    result.zeros = std::min(zeros_of(a), zeros_of(b));
    result.constant = a.constant && b.constant && a.number == b.number;
    return result;
}

ThreadTables::ThreadTables(const Dim3& block) {
    constexpr uint64_t kMostThreads = 1024;
    if (block.x <= kMostThreads && block.y <= kMostThreads && block.z <= kMostThreads &&
        block.count() <= kMostThreads)
        threads_ = static_cast<uint32_t>(block.count());
    add(std::vector<uint64_t>(threads_));
}

uint32_t ThreadTables::add(std::vector<uint64_t> numbers) {
    constexpr size_t kMostTables = 4096;
    if (all_.size() == kMostTables) return kNone;
    const auto [found, added] = number_.try_emplace(std::move(numbers), static_cast<uint32_t>(all_.size()));
    if (added) all_.push_back(&found->first);
    return found->second;
}

uint64_t number_of_thread(const AffineValue& value, const ThreadTables& tables, const Dim3& block,
                          uint32_t thread) {
    const auto times = [](int64_t a, uint32_t b) { return static_cast<uint64_t>(a) * b; };
    return (value.constant ? value.number : 0) + times(value.x, thread % block.x) +
           times(value.y, thread / block.x % block.y) + times(value.z, thread / block.x / block.y) +
           tables.at(value.table, thread);
}

int apply(const Kernel& kernel, const LaunchFacts& facts, uint32_t at, int32_t block,
          std::vector<AffineValue>& values, ThreadTables& tables) {
    const Instruction& instruction = kernel.instructions[at];
    if (instruction.destinations == 0) return -1;
    AffineStep step{kernel, facts, instruction, at, block, values, tables};
    AffineValue made = step.result();
    // One result cannot stand for several destinations unless all threads share them.
    const bool several =
        instruction.destinations > 1 || instruction.operands[0].kind == Operand::Kind::Vector;
    if (several && !made.uniform()) made = {};
    if (several && made.affine) made.constant = false;
    int written = 0;
    const auto write = [&](const Operand& operand) {
        if (operand.kind != Operand::Kind::Register) return;
        AffineValue value = made;
        if (value.affine && !value.constant && value.definition == at + 1) {
            value.definition |= static_cast<uint64_t>(written) << 32;  // destinations differ
        } else if (several && value.affine) {
            value.definition = (at + 1) | static_cast<uint64_t>(written) << 32;
            value.block = block;
        }
        ++written;
        AffineValue& target = values[operand.reg];
        if (instruction.guard < 0 || same(target, value)) {
            target = value;
        } else if (!values[instruction.guard].uniform()) {
            target = {};
        } else {
            AffineValue either = join(target, value);
            if (either.affine && !either.constant) {
                either.definition = (at + 1) | uint64_t{1} << 62;
                either.block = block;
            }
            target = either;
        }
    };
    for (size_t i = 0; i < instruction.destinations; ++i) {
        const Operand& operand = instruction.operands[i];
        if (operand.kind == Operand::Kind::Vector)
            for (const Operand& element : operand.elements) write(element);
        else
            write(operand);
    }
    return made.affine ? step.widened : -1;
}

}  // namespace tilescope::ptx
