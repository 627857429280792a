#include "kernels/run/parameters.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "core/base/demangle.h"
#include "core/ptx/sites.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {
namespace {

// Where the last pair of parentheses of a function's text opens: "void f<int>(float const*, int)".
size_t opening(std::string_view text) {
    int depth = 0;
    for (size_t at = text.size(); at-- > 0;) {
        depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
        if (depth == 0) return at;
    }
    return std::string_view::npos;
}

// A type as the mangled name or the source has it.
struct WrittenType {
    std::string held;           // "float const"
    uint32_t indirections = 0;  // of * and []; a reference counts as one
};

std::optional<std::vector<WrittenType>> types_in_name(std::string_view entry, size_t count) {
    const std::string text = demangled(entry);
    if (text.empty() || text.back() != ')') return std::nullopt;
    const size_t open = opening(text);
    if (open == std::string_view::npos) return std::nullopt;
    std::vector<WrittenType> types;
    for (const std::string_view part :
         parts_between_commas(std::string_view(text).substr(open + 1, text.size() - open - 2))) {
        WrittenType& type = types.emplace_back();
        for (const char c : part) {
            type.indirections += c == '*' || c == '&';
            type.held += c == '*' || c == '&' ? ' ' : c;
        }
    }
    return types.size() == count ? std::optional(types) : std::nullopt;
}

// What the loads and stores through a pointer tell.
struct Uses {
    bool pointer = false, reads = false, writes = false;
    uint32_t smallest = 0;            // bytes
    std::optional<ElementType> type;  // that of all accesses so far
    bool mixed = false;

    void add(ElementType accessed) {
        mixed = mixed || (type && *type != accessed);
        type = accessed;
        smallest = smallest == 0 ? size_of(accessed) : std::min(smallest, size_of(accessed));
    }
    ElementType element() const { return type && !mixed ? *type : bits_of_size(smallest); }
};

// Which parameters flow into each register as an address: by moving, and by adding what is no address.
// Where several do (of a pointer that is chosen at run time), all of them are told. A number of 64 bits flows
// the same way; whether it is an address shows where memory is accessed.
class AddressFlow {
public:
    explicit AddressFlow(const ptx::Kernel& kernel)
        : kernel_(kernel), into_(kernel.registers.size()), use_(into_.size(), ptx::Type::None) {
        for (bool more = true; more;) {
            more = false;
            for (const ptx::Instruction& instruction : kernel.instructions) more |= pass(instruction);
        }
        for (const ptx::Instruction& instruction : kernel.instructions) learn_type(instruction);
        learn_through_shared();
    }

    // Parameters that are turned into addresses of global memory.
    std::vector<bool> converted() const {
        std::vector<bool> converted(kernel_.parameters.size());
        for (const ptx::Instruction& instruction : kernel_.instructions)
            if (instruction.op == ptx::Op::Cvta && instruction.to_space)
                for_parameters(instruction.operands.back(), converted,
                               [&](size_t p) { converted[p] = true; });
        return converted;
    }

    std::vector<Uses> uses(const std::vector<bool>& known_pointers) const {
        std::vector<Uses> uses(kernel_.parameters.size());
        for (const ptx::Instruction& instruction : kernel_.instructions) {
            const bool reads = instruction.op == ptx::Op::Ld || instruction.op == ptx::Op::WmmaLoad;
            const bool writes = instruction.op == ptx::Op::St || instruction.op == ptx::Op::WmmaStore;
            const bool both = instruction.op == ptx::Op::Atom || instruction.op == ptx::Op::Red;
            if (!reads && !writes && !both) continue;
            if (instruction.space != ptx::StateSpace::Global && instruction.space != ptx::StateSpace::Generic)
                continue;
            const ElementType accessed = type_accessed(instruction);
            for_parameters(ptx::address_of(instruction), known_pointers, [&](size_t p) {
                uses[p].pointer = true;
                uses[p].reads |= reads || both;
                uses[p].writes |= writes || both;
                uses[p].add(accessed);
            });
        }
        return uses;
    }

private:
    using Set = std::vector<bool>;  // by parameter; empty for none

    // Where an address that may be one of several parameters has known pointers among them, it is those.
    template <class Visit>
    void for_parameters(const ptx::Operand& operand, const std::vector<bool>& known, Visit visit) const {
        if (operand.reg < 0) return;
        const Set& set = into_[static_cast<size_t>(operand.reg)];
        bool any_known = false;
        for (size_t p = 0; p < set.size(); ++p) any_known |= set[p] && known[p];
        for (size_t p = 0; p < set.size(); ++p)
            if (set[p] && (known[p] || !any_known)) visit(p);
    }

    bool put(const ptx::Operand& to, const Set& from) {
        if (to.reg < 0 || from.empty()) return false;
        if (size_of(kernel_.registers[static_cast<size_t>(to.reg)].type) != 8) return false;
        return add(into_[static_cast<size_t>(to.reg)], from);
    }
    bool store_shared(const ptx::Operand& from) {
        if (from.kind != ptx::Operand::Kind::Register || from.reg < 0) return false;
        return add(shared_, into_[static_cast<size_t>(from.reg)]);
    }
    bool add(Set& set, const Set& from) const {
        if (from.empty()) return false;
        set.resize(kernel_.parameters.size());
        bool more = false;
        for (size_t p = 0; p < from.size(); ++p)
            if (from[p] && !set[p]) set[p] = more = true;
        return more;
    }

    bool pass(const ptx::Instruction& instruction) {
        using ptx::Op;
        if (instruction.operands.empty()) return false;
        const ptx::Operand& to = instruction.operands.front();
        if (instruction.op == Op::Ld && instruction.space == ptx::StateSpace::Param) {
            const ptx::Operand& from = ptx::address_of(instruction);
            const auto found = std::find(kernel_.parameters.begin(), kernel_.parameters.end(), from.symbol);
            if (from.symbol < 0 || found == kernel_.parameters.end()) return false;
            Set set(kernel_.parameters.size());
            set[static_cast<size_t>(found - kernel_.parameters.begin())] = true;
            return put(to, set);
        }
        // Triton exchanges addresses among lanes through shared memory, without a trace of where.
        if (instruction.space == ptx::StateSpace::Shared && instruction.op == Op::Ld) {
            bool more = put(to, shared_);
            for (const ptx::Operand& element : to.elements) more |= put(element, shared_);
            return more;
        }
        if (instruction.space == ptx::StateSpace::Shared && instruction.op == Op::St) {
            bool more = store_shared(instruction.operands[1]);
            for (const ptx::Operand& element : instruction.operands[1].elements)
                more |= store_shared(element);
            return more;
        }
        const bool moves = instruction.op == Op::Mov || instruction.op == Op::Cvta ||
                           instruction.op == Op::Add || instruction.op == Op::Sub ||
                           instruction.op == Op::Mad || instruction.op == Op::Selp ||
                           instruction.op == Op::And || instruction.op == Op::Or;
        if (!moves) return false;
        bool more = false;
        // Of a * b + c, only c can be an address.
        for (size_t i = instruction.op == Op::Mad ? 3 : 1; i < instruction.operands.size(); ++i) {
            const ptx::Operand& from = instruction.operands[i];
            if (from.reg < 0 || from.kind != ptx::Operand::Kind::Register) continue;
            const Set set = into_[static_cast<size_t>(from.reg)];
            more |= put(to, set);
        }
        return more;
    }

    // Loads and stores of bits are of the type that other instructions take the register for.
    void learn_type(const ptx::Instruction& instruction) {
        using ptx::Op;
        if (instruction.op == Op::Ld || instruction.op == Op::St || instruction.op == Op::Mov) return;
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
            const ptx::Operand& operand = instruction.operands[i];
            if (operand.kind != ptx::Operand::Kind::Register || operand.reg < 0) continue;
            const bool source = i >= instruction.destinations;
            const ptx::Type type =
                source && instruction.type2 != ptx::Type::None ? instruction.type2 : instruction.type;
            ptx::Type& known = use_[static_cast<size_t>(operand.reg)];
            if (known == ptx::Type::None && lies_in_memory(type) && !is_bits(type)) known = type;
        }
    }

    // visit(register) for those of an operand.
    template <class Visit>
    static void for_registers(const ptx::Operand& operand, Visit visit) {
        if (operand.kind == ptx::Operand::Kind::Register && operand.reg >= 0)
            visit(static_cast<size_t>(operand.reg));
        for (const ptx::Operand& element : operand.elements) for_registers(element, visit);
    }

    // Where all words that are stored to shared memory are of one type, those that are loaded from there are of it:
    // Triton exchanges values among lanes that way before it stores them.
    void learn_through_shared() {
        ptx::Type held = ptx::Type::None;
        bool mixed = false;
        const auto is_word = [&](size_t reg) { return size_of(kernel_.registers[reg].type) == 4; };
        for (const ptx::Instruction& instruction : kernel_.instructions) {
            if (instruction.op != ptx::Op::St || instruction.space != ptx::StateSpace::Shared) continue;
            for_registers(instruction.operands[1], [&](size_t reg) {
                if (!is_word(reg) || use_[reg] == ptx::Type::None) return;
                mixed = mixed || (held != ptx::Type::None && held != use_[reg]);
                held = use_[reg];
            });
        }
        if (mixed || held == ptx::Type::None) return;
        for (const ptx::Instruction& instruction : kernel_.instructions) {
            if (instruction.op != ptx::Op::Ldmatrix &&
                (instruction.op != ptx::Op::Ld || instruction.space != ptx::StateSpace::Shared))
                continue;
            for_registers(instruction.operands[0], [&](size_t reg) {
                if (is_word(reg) && use_[reg] == ptx::Type::None) use_[reg] = held;
            });
        }
    }

    ElementType type_accessed(const ptx::Instruction& instruction) const {
        const ElementType written = instruction.type;
        if (!lies_in_memory(written)) return ElementType::B8;
        if (!is_bits(written)) return written;
        const bool store = instruction.op == ptx::Op::St || instruction.op == ptx::Op::Red;
        const ptx::Operand& value = instruction.operands[store ? 1 : 0];
        std::optional<ElementType> type;
        const auto look = [&](const ptx::Operand& operand) {
            if (operand.kind != ptx::Operand::Kind::Register || operand.reg < 0 || type) return;
            const auto reg = static_cast<size_t>(operand.reg);
            for (const ptx::Type candidate : {use_[reg], kernel_.registers[reg].type})
                if (!type && lies_in_memory(candidate) && !is_bits(candidate) &&
                    size_of(candidate) == size_of(written))
                    type = candidate;
        };
        look(value);
        for (const ptx::Operand& element : value.elements) look(element);
        return type.value_or(written);
    }

    const ptx::Kernel& kernel_;
    std::vector<Set> into_;       // by register
    Set shared_;                  // into all of shared memory
    std::vector<ptx::Type> use_;  // by register
};

}  // namespace

namespace {

// "device_kernel" for a name that is too long to be taken apart whole: the last of the names that it begins with.
std::string_view name_without_arguments(std::string_view entry) {
    if (!entry.starts_with("_Z") || entry.starts_with("_ZZ")) return entry;
    std::string_view left = entry.substr(entry.starts_with("_ZN") ? 3 : 2), last = entry;
    for (;;) {
        size_t length = 0, digits = 0;
        while (digits < left.size() && std::isdigit(static_cast<unsigned char>(left[digits])) &&
               length <= left.size())
            length = length * 10 + static_cast<size_t>(left[digits++] - '0');
        if (length == 0 || length > left.size() - digits) return last;
        last = left.substr(digits, length);
        if (!entry.starts_with("_ZN")) return last;  // what follows are its arguments
        left.remove_prefix(digits + length);
    }
}

}  // namespace

std::string plain_name(std::string_view entry) {
    std::string text = demangled(entry);
    if (text.empty()) return std::string(name_without_arguments(entry));
    if (const size_t open = opening(text); text.back() == ')' && open != std::string::npos) text.resize(open);
    for (int depth = 0; !text.empty() && (depth > 0 || text.back() == '>'); text.pop_back())
        depth += text.back() == '>' ? 1 : text.back() == '<' ? -1 : 0;
    size_t begin = text.size();
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
        --begin;
    return begin < text.size() ? text.substr(begin) : std::string(entry);
}

std::vector<std::string> types_pointed_to(std::string_view entry, size_t parameters,
                                          std::string_view source) {
    std::vector<std::string> types(parameters);
    auto written = types_in_name(entry, parameters);
    if (const auto declared = written ? std::nullopt : parameters_in(source, plain_name(entry), parameters)) {
        written.emplace();
        for (const ParameterText& one : *declared) written->push_back({one.type, one.indirections});
    }
    for (size_t i = 0; written && i < parameters; ++i) {
        if ((*written)[i].indirections != 1) continue;
        std::string& type = types[i] = (*written)[i].held;
        for (const std::string_view word : {"const", "volatile", "struct", "__restrict__", "__restrict"})
            for (size_t at = find_word(type, word); at != std::string::npos; at = find_word(type, word))
                type.replace(at, word.size(), word.size(), ' ');
        type = trimmed(type);
    }
    return types;
}

std::vector<KernelParameter> parameters_of(const ptx::Module&, const ptx::Kernel& kernel,
                                           std::string_view source) {
    const size_t count = kernel.parameters.size();
    const auto mangled = types_in_name(kernel.name, count);
    const auto declared = parameters_in(source, plain_name(kernel.name), count);
    std::vector<KernelParameter> parameters(count);
    std::vector<bool> pointers(count), typed(count);
    for (size_t i = 0; i < count; ++i) {
        KernelParameter& parameter = parameters[i];
        const ptx::Symbol& symbol = kernel.symbols[static_cast<size_t>(kernel.parameters[i])];
        parameter.bytes = symbol.bytes();
        parameter.type = bits_of_size(static_cast<uint32_t>(std::min<uint64_t>(parameter.bytes, 16)));
        parameter.name =
            declared && !(*declared)[i].name.empty() ? (*declared)[i].name : fmt::format("arg{}", i + 1);
        std::vector<WrittenType> written;
        if (mangled) written.push_back((*mangled)[i]);
        if (declared) written.push_back({(*declared)[i].type, (*declared)[i].indirections});
        for (const WrittenType& type : written) {
            const bool pointer = type.indirections > 0 && parameter.bytes == 8 && !symbol.is_array;
            pointers[i] = pointers[i] || pointer;
            if (typed[i]) continue;
            const auto held =
                type.indirections > 1 ? HeldType{ElementType::U64, 1} : held_type(source, type.held);
            if (!held || (!pointer && size_of(held->type) * held->count != parameter.bytes)) continue;
            parameter.type = held->type;
            typed[i] = true;
        }
    }
    // LLVM marks each parameter that is a pointer (PTX ISA, "Kernel Function Parameter Attribute: .ptr").
    bool said = mangled || declared;
    for (size_t i = 0; i < count; ++i) {
        const ptx::Symbol& symbol = kernel.symbols[static_cast<size_t>(kernel.parameters[i])];
        if (symbol.attributes.find(".ptr") != std::string::npos && symbol.bytes() == 8)
            pointers[i] = said = true;
    }
    // What is declared decides what is a pointer; else what memory is accessed through.
    const AddressFlow flow(kernel);
    const std::vector<Uses> uses = flow.uses(said ? pointers : flow.converted());
    for (size_t i = 0; i < count; ++i) {
        KernelParameter& parameter = parameters[i];
        parameter.pointer = pointers[i] || (!said && uses[i].pointer && parameter.bytes == 8);
        if (!parameter.pointer) continue;
        parameter.reads = uses[i].reads;
        parameter.writes = uses[i].writes;
        if (!typed[i] && uses[i].smallest > 0) parameter.type = uses[i].element();
    }
    for (size_t i = 0; i < count; ++i) {
        // A scalar of which nobody says more has the type that the PTX declares, mostly bits or unsigned.
        const ptx::Symbol& symbol = kernel.symbols[static_cast<size_t>(kernel.parameters[i])];
        if (!parameters[i].pointer && !typed[i] && lies_in_memory(symbol.type) && !symbol.is_array)
            parameters[i].type = symbol.type;
    }
    return parameters;
}

}  // namespace tilescope::kernels
