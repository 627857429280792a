// A module as PTX text. Registers and variables are declared at the head of the body, whatever
// scope they came from; .loc stands where the source position changes.
#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/ptx/names.h"
#include "core/ptx/parse.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

std::string operand_text(const Kernel& kernel, const Operand& operand) {
    const auto offset = [&] {
        return operand.offset == 0 ? std::string() : fmt::format("+{}", operand.offset);
    };
    const auto base = [&] {
        if (operand.reg >= 0) return kernel.registers[static_cast<size_t>(operand.reg)].name + offset();
        if (operand.symbol >= 0) return kernel.symbols[static_cast<size_t>(operand.symbol)].name + offset();
        return fmt::format("{}", operand.offset);
    };
    const char* sign = operand.negated ? "!" : "";
    switch (operand.kind) {
        case Operand::Kind::None: return "";
        case Operand::Kind::Register: return sign + base();
        case Operand::Kind::Symbol: return base();
        case Operand::Kind::Address: return "[" + base() + "]" + operand.text;
        case Operand::Kind::Special: return name_of(operand.special);
        case Operand::Kind::Label: return kernel.labels[static_cast<size_t>(operand.label)].name;
        case Operand::Kind::Sink: return "_";
        case Operand::Kind::Immediate:
            if (!operand.text.empty()) return operand.text;
            if (operand.immediate_type == Type::F32) return fmt::format("0f{:08X}", operand.bits);
            if (operand.immediate_type == Type::F64) return fmt::format("0d{:016X}", operand.bits);
            if (operand.immediate_type == Type::U64) return fmt::format("{}", operand.bits);
            return fmt::format("{}", static_cast<int64_t>(operand.bits));
        case Operand::Kind::Vector: {
            std::string text = "{";
            for (const Operand& element : operand.elements)
                text += (text.size() > 1 ? ", " : "") + operand_text(kernel, element);
            return text + "}";
        }
    }
    return "";
}

// " (retval0), vprintf, (param0, param1)"
std::string call_text(const Kernel& kernel, const Instruction& call) {
    const auto list = [&](size_t first, size_t end) {
        std::string text = "(";
        for (size_t i = first; i < end; ++i)
            text += (i > first ? ", " : "") + operand_text(kernel, call.operands[i]);
        return text + ")";
    };
    std::string text = " \t";
    if (call.results > 0) text += list(0, call.results) + ", ";
    return text + call.callee + ", " + list(call.results, call.operands.size());
}

// The registers prefix0, prefix1, ... from `first` on that one "%r<n>" declares; 0 for a single name.
size_t run_length(const std::vector<Register>& registers, size_t first) {
    const std::string& name = registers[first].name;
    if (name.size() < 2 || name.back() != '0') return 0;
    const std::string prefix = name.substr(0, name.size() - 1);
    if (prefix.back() >= '0' && prefix.back() <= '9') return 0;
    size_t count = 1;
    while (first + count < registers.size() && registers[first + count].type == registers[first].type &&
           registers[first + count].name == fmt::format("{}{}", prefix, count))
        ++count;
    return count;
}

void print_registers(std::string& out, const std::vector<Register>& registers) {
    for (size_t i = 0; i < registers.size();) {
        const std::string& name = registers[i].name;
        const char* type = name_of(registers[i].type);
        if (const size_t count = run_length(registers, i)) {
            out += fmt::format("\t.reg .{} \t{}<{}>;\n", type, name.substr(0, name.size() - 1), count);
            i += count;
        } else {
            out += fmt::format("\t.reg .{} \t{};\n", type, name);
            ++i;
        }
    }
}

// ".shared .align 4 .b8 x[1024]", without what may follow.
std::string declaration(const Symbol& symbol) {
    std::string text = symbol.linkage.empty() ? "" : symbol.linkage + " ";
    text += fmt::format(".{} ", name_of(symbol.space));
    // An alignment stands before the type, the attributes of a pointer behind it.
    if (symbol.alignment != 0) text += fmt::format(".align {} ", symbol.alignment);
    text += fmt::format(".{} ", name_of(symbol.type));
    if (!symbol.attributes.empty()) text += symbol.attributes + " ";
    text += symbol.name;
    if (symbol.is_array) text += symbol.count == 0 ? "[]" : fmt::format("[{}]", symbol.count);
    return text;
}

// "generic(table)+8", "0xFF00(table)"
std::string relocation_text(const Module& module, const Relocation& to) {
    std::string text = module.variables[static_cast<size_t>(to.variable)].name;
    if (to.generic) text = "generic(" + text + ")";
    if (to.addend != 0) text += fmt::format("{:+}", to.addend);
    return text;
}

std::string initialiser(const Module& module, const Symbol& symbol) {
    if (symbol.initial.empty()) return "";
    const size_t size = size_of(symbol.type);
    std::string text = symbol.is_array ? " = {" : " = ";
    auto relocation = symbol.relocations.begin();
    for (size_t i = 0; i + size <= symbol.initial.size(); i += size) {
        uint64_t bits = 0;
        for (size_t b = 0; b < size; ++b) bits |= uint64_t{symbol.initial[i + b]} << (8 * b);
        if (i > 0) text += ", ";
        if (relocation != symbol.relocations.end() && relocation->offset == i) {
            const std::string address = relocation_text(module, *relocation);
            text +=
                size == 1 ? fmt::format("0x{:X}({})", uint64_t{0xFF} << relocation->shift, address) : address;
            ++relocation;
            continue;
        }
        if (symbol.type == Type::F32)
            text += fmt::format("0f{:08X}", bits);
        else if (symbol.type == Type::F64)
            text += fmt::format("0d{:016X}", bits);
        else
            text += fmt::format("{}", bits);
    }
    return text + (symbol.is_array ? "}" : "");
}

void print_head(std::string& out, const Kernel& kernel) {
    out += kernel.visible ? "\n.visible " : kernel.weak ? "\n.weak " : "\n";
    out += ".entry " + kernel.name + "(";
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
        const Symbol& symbol = kernel.symbols[static_cast<size_t>(kernel.parameters[i])];
        out += (i == 0 ? "\n\t" : ",\n\t") + declaration(symbol);
    }
    out += kernel.parameters.empty() ? ")\n" : "\n)\n";
    for (const std::string& directive : kernel.directives) out += directive + "\n";
}

void print_body(std::string& out, const Module& module, const Kernel& kernel) {
    print_registers(out, kernel.registers);
    for (const Symbol& symbol : kernel.symbols) {
        if (symbol.module_variable >= 0) continue;
        if (symbol.space == StateSpace::Param &&
            std::ranges::binary_search(kernel.parameters,
                                       static_cast<int32_t>(&symbol - kernel.symbols.data())))
            continue;
        out += "\t" + declaration(symbol) + initialiser(module, symbol) + ";\n";
    }
    std::vector<std::vector<size_t>> labels(kernel.instructions.size() + 1);
    for (size_t i = 0; i < kernel.labels.size(); ++i)
        labels[static_cast<size_t>(kernel.labels[i].instruction)].push_back(i);
    size_t note = 0;
    std::optional<SourceLocation> source = SourceLocation{};  // the latest .loc printed
    for (size_t i = 0; i <= kernel.instructions.size(); ++i) {
        const auto print_notes = [&](bool before_labels) {
            for (; note < kernel.notes.size() && kernel.notes[note].instruction == i &&
                   kernel.notes[note].before_labels == before_labels;
                 ++note) {
                out += "\t" + kernel.notes[note].text + "\n";
                if (kernel.notes[note].text.starts_with(".loc")) source.reset();
            }
        };
        print_notes(true);
        for (const size_t label : labels[i]) out += kernel.labels[label].name + ":\n";
        print_notes(false);
        if (i == kernel.instructions.size()) break;
        const Instruction& instruction = kernel.instructions[i];
        if (instruction.source != source) {
            source = instruction.source;
            out += fmt::format("\t.loc\t{} {} {}", source->file, source->line, source->column);
            if (source->inlined != 0) out += ", " + kernel.inlined[source->inlined - 1];
            out += "\n";
        }
        out += "\t" + print(kernel, instruction) + "\n";
    }
}

}  // namespace

std::string print(const Kernel& kernel, const Instruction& instruction) {
    std::string text;
    if (instruction.guard >= 0) {
        text += fmt::format("@{}{} ", instruction.guard_negated ? "!" : "",
                            kernel.registers[static_cast<size_t>(instruction.guard)].name);
    }
    text += instruction.mnemonic.empty() ? name_of(instruction.op) : instruction.mnemonic;
    for (const std::string& suffix : instruction.suffixes) text += "." + suffix;
    if (instruction.op == Op::Call) return text + call_text(kernel, instruction) + ";";
    if (instruction.op == Op::Opaque)
        return text + (instruction.opaque.empty() ? "" : " \t" + opaque_text(kernel, instruction)) + ";";
    const std::string policy =
        instruction.policy < 0 ? "" : ", " + kernel.registers[static_cast<size_t>(instruction.policy)].name;
    const bool with_mask = has_suffix(instruction, {"cp_mask"});
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
        const Operand& operand = instruction.operands[i];
        if (operand.inside) {  // [%rd1 becomes [%rd1, {%r1, %r2}]
            text.pop_back();
            text += ", " + operand_text(kernel, operand) + "]";
            continue;
        }
        // A mask of bytes stands behind the policy.
        if (with_mask && i + 1 == instruction.operands.size()) text += policy;
        const bool second_destination = i == 1 && instruction.destinations == 2;
        text += i == 0 ? " \t" : second_destination ? "|" : ", ";
        text += operand_text(kernel, operand);
    }
    return text + (with_mask ? "" : policy) + ";";
}

std::string print(const Module& module) {
    std::string out = fmt::format(".version {}.{}\n.target {}\n.address_size {}\n", module.version_major,
                                  module.version_minor, module.target, module.address_size);
    for (const std::string& function : module.functions) out += function + ";\n";
    for (const Symbol& symbol : module.variables)
        out += declaration(symbol) + initialiser(module, symbol) + ";\n";
    for (const Kernel& kernel : module.kernels) {
        print_head(out, kernel);
        out += "{\n";
        print_body(out, module, kernel);
        out += "}\n";
    }
    for (const SourceFile& file : module.files)
        out += fmt::format("\t.file\t{} \"{}\"{}\n", file.index, file.name, file.attributes);
    for (const std::string& section : module.sections) out += "\t" + section + "\n";
    return out;
}

std::string print(const Kernel& kernel, const Operand& operand) { return operand_text(kernel, operand); }

}  // namespace tilescope::ptx
