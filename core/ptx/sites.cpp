#include "core/ptx/sites.h"

namespace tilescope::ptx {

const Operand& address_of(const Instruction& instruction) {
    return instruction.operands[instruction.op == Op::Ld ? instruction.destinations : 0];
}

std::vector<Site> sites_of(const Kernel& kernel) {
    std::vector<Site> sites;
    uint32_t line = 0, column = 0;
    for (size_t i = 0; i < kernel.instructions.size(); ++i) {
        const Instruction& instruction = kernel.instructions[i];
        if (instruction.source.line != 0) line = instruction.source.line, column = instruction.source.column;
        const bool is_barrier = instruction.op == Op::Bar;
        const bool is_memory = instruction.op == Op::Ld || instruction.op == Op::St;
        if (!is_barrier && !is_memory) continue;
        if (is_memory && instruction.space != StateSpace::Global && instruction.space != StateSpace::Shared &&
            instruction.space != StateSpace::Generic) {
            continue;
        }
        Site site;
        site.id = static_cast<uint32_t>(sites.size());
        site.instruction = static_cast<uint32_t>(i);
        site.kind = is_barrier                 ? SiteKind::Barrier
                    : instruction.op == Op::Ld ? SiteKind::Load
                                               : SiteKind::Store;
        if (is_memory) {
            site.space = instruction.space == StateSpace::Shared ? Space::Shared : Space::Global;
            site.bytes = static_cast<uint32_t>(size_of(instruction.type)) * instruction.vector;
        }
        site.line = line;
        site.column = column;
        site.ptx_line = instruction.text_line;
        sites.push_back(site);
    }
    return sites;
}

}  // namespace tilescope::ptx
