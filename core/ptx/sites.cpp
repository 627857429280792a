#include "core/ptx/sites.h"

#include <sstream>

namespace tilescope::ptx {

const Operand& address_of(const Instruction& instruction) {
    return instruction.operands[instruction.op == Op::Ld ? instruction.destinations : 0];
}

namespace {

// "function_name $L__info_string0, inlined_at 1 15 5": where the call stands.
SourceLocation call_of(const std::string& inlined) {
    SourceLocation call;
    const size_t at = inlined.rfind("inlined_at");
    if (at == std::string::npos) return call;
    std::istringstream numbers(inlined.substr(at + 10));
    numbers >> call.file >> call.line >> call.column;
    return call;
}

}  // namespace

uint32_t source_file_of(const Kernel& kernel) {
    uint32_t any = 0;
    for (const Instruction& instruction : kernel.instructions) {
        const SourceLocation& at = instruction.source;
        if (at.line != 0 && at.inlined == 0) return at.file;
        if (at.line != 0 && any == 0) any = at.file;
    }
    return any;
}

std::vector<Site> sites_of(const Kernel& kernel) {
    std::vector<Site> sites;
    const uint32_t file = source_file_of(kernel);
    uint32_t line = 0, column = 0;
    for (size_t i = 0; i < kernel.instructions.size(); ++i) {
        const Instruction& instruction = kernel.instructions[i];
        SourceLocation at = instruction.source;
        // Code of another file, as of a function in a header, stands at the line that calls it.
        if (at.file != file && at.inlined != 0) at = call_of(kernel.inlined[at.inlined - 1]);
        if (at.line != 0 && at.file == file) line = at.line, column = at.column;
        const bool is_barrier = instruction.op == Op::Bar || instruction.op == Op::BarRed;
        const bool is_memory = instruction.op == Op::Ld || instruction.op == Op::St;
        if (!is_barrier && !is_memory) continue;
        if (is_memory && instruction.space != StateSpace::Global && instruction.space != StateSpace::Shared &&
            instruction.space != StateSpace::Generic)
            continue;
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
