#include "core/ptx/bases.h"

#include <algorithm>

namespace tilescope::ptx {

namespace {

using Bases = std::vector<AddressBase>;

constexpr size_t kMost = 8;  // of one register; more tell nothing

// Adds what is not there yet.
bool add(Bases& to, const Bases& from) {
    bool more = false;
    for (const AddressBase& one : from) {
        if (to.size() >= kMost || std::ranges::find(to, one) != to.end()) continue;
        to.push_back(one);
        more = true;
    }
    return more;
}

// What an operand brings into a value that is made by moving and adding.
Bases bases_of(const Operand& operand, const std::vector<Bases>& of_registers) {
    if (operand.symbol >= 0) return {{operand.symbol, 0}};
    return operand.reg >= 0 ? of_registers[static_cast<size_t>(operand.reg)] : Bases();
}

bool pass(const Kernel& kernel, const Instruction& instruction, std::vector<Bases>& of_registers) {
    if (instruction.operands.empty() || instruction.operands[0].reg < 0) return false;
    Bases& to = of_registers[static_cast<size_t>(instruction.operands[0].reg)];
    switch (instruction.op) {
        case Op::Ld: {
            const Operand& from = address_of(instruction);
            const bool parameter =
                std::ranges::find(kernel.parameters, from.symbol) != kernel.parameters.end();
            if (instruction.space != StateSpace::Param || from.symbol < 0 || !parameter ||
                instruction.vector != 1)
                return false;
            return add(to, {{from.symbol, from.offset}});
        }
        case Op::Mov:
        case Op::Cvta:
        case Op::Add:
        case Op::Sub:
        case Op::Mad:
        case Op::Selp:
        case Op::And:
        case Op::Or: {
            bool more = false;
            // Of a * b + c, only c can be an address.
            for (size_t i = instruction.op == Op::Mad ? 3 : 1; i < instruction.operands.size(); ++i)
                more |= add(to, bases_of(instruction.operands[i], of_registers));
            return more;
        }
        default: return false;
    }
}

}  // namespace

std::vector<std::vector<AddressBase>> address_bases(const Kernel& kernel, const std::vector<Site>& sites) {
    std::vector<Bases> of_registers(kernel.registers.size());
    for (bool more = true; more;) {
        more = false;
        for (const Instruction& instruction : kernel.instructions)
            more |= pass(kernel, instruction, of_registers);
    }
    std::vector<Bases> bases(sites.size());
    for (const Site& site : sites)
        if (asks_memory(site.kind))
            bases[site.id] = bases_of(address_of(kernel.instructions[site.instruction], site), of_registers);
    return bases;
}

}  // namespace tilescope::ptx
