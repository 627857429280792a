#include "kernels/launched/one_address.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>

#include "core/base/demangle.h"
#include "core/base/words.h"
#include "core/ptx/parse.h"

namespace tilescope::launched {
namespace {

std::vector<size_t> dynamic_arrays(const ptx::Kernel& kernel) {
    std::vector<size_t> found;
    for (size_t s = 0; s < kernel.symbols.size(); ++s)
        if (kernel.symbols[s].space == ptx::StateSpace::Shared && kernel.symbols[s].count == 0)
            found.push_back(s);
    return found;
}

// By instruction: the dynamic arrays that its address is computed from, a bit each. What is loaded carries none.
std::vector<uint32_t> names_of_addresses(const ptx::Kernel& kernel, const std::vector<size_t>& dynamic) {
    std::vector<uint32_t> of_register(kernel.registers.size()), of_instruction(kernel.instructions.size());
    const auto names = [&](const ptx::Operand& operand) {
        uint32_t bits = operand.reg >= 0 ? of_register[static_cast<size_t>(operand.reg)] : 0;
        const auto at = std::ranges::find(dynamic, static_cast<size_t>(operand.symbol));
        if (operand.symbol >= 0 && at != dynamic.end()) bits |= 1u << (at - dynamic.begin());
        return bits;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < kernel.instructions.size(); ++i) {
            const ptx::Instruction& one = kernel.instructions[i];
            uint32_t address = 0, sources = 0;
            for (size_t k = 0; k < one.operands.size(); ++k) {
                if (one.operands[k].kind == ptx::Operand::Kind::Address) address |= names(one.operands[k]);
                if (k >= one.destinations) sources |= names(one.operands[k]);
            }
            of_instruction[i] = address;
            if (one.op == ptx::Op::Ld || one.op == ptx::Op::Atom) continue;
            for (size_t k = 0; k < one.destinations && k < one.operands.size(); ++k) {
                if (one.operands[k].reg < 0) continue;
                uint32_t& to = of_register[static_cast<size_t>(one.operands[k].reg)];
                changed = changed || (to | sources) != to;
                to |= sources;
            }
        }
    }
    return of_instruction;
}

struct LastStore {
    uint8_t name = 0;  // 1 + number of the array; 0 for none
    uint32_t line = 0;
};

std::string name_of(const ptx::Symbol& symbol) {
    const std::string text = demangled(symbol.name);
    return text.empty() ? symbol.name : text;
}

}  // namespace

std::optional<trace::Finding> read_through_other_name(const trace::Trace& trace) {
    const ptx::Kernel* const kernel =
        trace.module ? ptx::find_kernel(*trace.module, trace.launch.entry) : nullptr;
    if (!kernel) return std::nullopt;
    const std::vector<size_t> dynamic = dynamic_arrays(*kernel);
    if (dynamic.size() < 2 || dynamic.size() > 32) return std::nullopt;
    const std::vector<uint32_t> names = names_of_addresses(*kernel, dynamic);
    trace::Finding found;
    for (const trace::Block& block : trace.blocks) {
        std::vector<LastStore> last;  // by byte of shared memory
        bool of_block = false;
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const trace::Access access = trace::decode(trace, step);
            const ptx::Site& site = trace.sites[access.site];
            const uint32_t bits = !ptx::asks_memory(site.kind) ? 0 : names[site.instruction];
            if (std::popcount(bits) != 1 || trace.form_of(step).space != Space::Shared) continue;
            const auto name = static_cast<uint8_t>(std::countr_zero(bits) + 1);
            const uint64_t base =
                access.array == trace::kNoArray ? 0 : trace.launch.arrays[access.array].base;
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint64_t at = base + access.offset[lane];
                if (last.size() < at + site.bytes) last.resize(at + site.bytes);
                const LastStore before = last[at];
                if (site.kind == ptx::SiteKind::Store)
                    std::fill_n(last.begin() + static_cast<ptrdiff_t>(at), site.bytes,
                                LastStore{name, site.line});
                if (site.kind == ptx::SiteKind::Store || before.name == 0 || before.name == name) return;
                of_block = true;
                if (found.count++ > 0) return;
                found.line = site.line, found.other_line = before.line;
                found.sentence = fmt::format(
                    "{} and {} are two extern __shared__ arrays at one address: {} of {} reads through {} at "
                    "line "
                    "{} what was stored through {} at line {}; begin one behind the other",
                    name_of(kernel->symbols[dynamic[std::min(before.name, name) - 1u]]),
                    name_of(kernel->symbols[dynamic[std::max(before.name, name) - 1u]]),
                    thread_name(trace.launch.block, uint64_t{access.warp} * kWarpSize + lane),
                    block_name(trace.launch.grid, {block.x, block.y, block.z}),
                    name_of(kernel->symbols[dynamic[name - 1u]]), site.line,
                    name_of(kernel->symbols[dynamic[before.name - 1u]]), before.line);
            });
        }
        found.blocks += of_block;
    }
    found.kind = trace::Finding::Kind::OneAddress;
    return found.count > 0 ? std::optional(found) : std::nullopt;
}

}  // namespace tilescope::launched
