#include "core/hazards/kernel_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tilescope::analysis {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

bool has(const Instruction& instruction, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(instruction.suffixes, [&](const std::string& suffix) {
        return std::ranges::find(words, suffix) != words.end();
    });
}

// What executing the instruction itself passes.
Passed passes(const Instruction& instruction) {
    if (instruction.op == Op::BarWarp) return {instruction.guard < 0 ? uint8_t{1} : uint8_t{0}, 1};
    const bool fence = instruction.op == Op::Membar, atomic = instruction.op == Op::Atom;
    if (!fence && !(atomic && has(instruction, {"acquire", "release", "acq_rel"}))) return {};
    return {0, 0, true, !has(instruction, {"cta"})};
}

// One after the other.
Passed operator+(const Passed& a, const Passed& b) {
    const auto add = [](int x, int y) { return static_cast<uint8_t>(std::min<int>(x + y, Passed::kMany)); };
    return {add(a.least, b.least), add(a.most, b.most), a.block_fence || b.block_fence,
            a.grid_fence || b.grid_fence};
}

// What is known of the paths to a place.
struct OnPaths {
    bool any = false;
    Passed passed;
    bool meet(const Passed& other) {  // whether that changes anything
        if (!any) return any = true, passed = other, true;
        const Passed was = passed;
        passed = {std::min(was.least, other.least), std::max(was.most, other.most),
                  was.block_fence || other.block_fence, was.grid_fence || other.grid_fence};
        return passed.least != was.least || passed.most != was.most ||
               passed.block_fence != was.block_fence || passed.grid_fence != was.grid_fence;
    }
};

// The definitions of each register.
using Definitions = std::vector<std::vector<uint32_t>>;

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

// Registers that an operand reads.
template <class Visit>
void each_register(const Operand& operand, Visit visit) {
    if (operand.reg >= 0) visit(static_cast<uint32_t>(operand.reg));
    for (const Operand& element : operand.elements) each_register(element, visit);
}

const Operand* stored_by(const Instruction& store) {
    return store.op == Op::St && store.operands.size() > 1 ? &store.operands[1] : nullptr;
}

// As KernelFacts::constant(), of an operand.
std::optional<uint64_t> constant_of(const ptx::Kernel& kernel, const Definitions& definitions,
                                    const Operand& operand, int depth = 0) {
    if (operand.kind == Operand::Kind::Immediate) return operand.bits;
    if (operand.kind != Operand::Kind::Register || depth > 8) return std::nullopt;
    if (definitions[operand.reg].size() != 1) return std::nullopt;
    const Instruction& made = kernel.instructions[definitions[operand.reg].front()];
    if (made.guard >= 0 || made.destinations != 1) return std::nullopt;
    const auto mix = [](uint64_t a, uint64_t b) {
        return (a ^ (b + 0x9E37'79B9'7F4A'7C15u + (a << 6) + (a >> 2))) * 0xBF58'476D'1CE4'E5B9u;
    };
    const auto source = [&](size_t i) {
        return constant_of(kernel, definitions, made.operands[i], depth + 1);
    };
    if (made.op == Op::Mov && made.operands[0].kind == Operand::Kind::Register) return source(1);
    const auto how = mix(static_cast<uint64_t>(made.op), static_cast<uint64_t>(made.type));
    if (made.op == Op::Ld && made.space == ptx::StateSpace::Param && made.operands[1].symbol >= 0)
        return mix(mix(how, static_cast<uint64_t>(made.operands[1].symbol)),
                   static_cast<uint64_t>(made.operands[1].offset));
    if (made.op != Op::Add && made.op != Op::Sub && made.op != Op::Mul && made.op != Op::Cvt)
        return std::nullopt;
    uint64_t key = mix(mix(how, static_cast<uint64_t>(made.type2)), static_cast<uint64_t>(made.half));
    for (size_t i = 1; i < made.operands.size(); ++i) {
        const auto one = source(i);
        if (!one) return std::nullopt;
        key = mix(key, *one);
    }
    return key;
}

// Whether a value is made of what global memory brought, and of nothing that shared memory or another lane
// gave.
bool comes_from_global(const ptx::Kernel& kernel, const Definitions& definitions, const Operand& value) {
    std::vector<uint32_t> open;
    std::vector<bool> seen(kernel.registers.size(), false);
    const auto enter = [&](uint32_t reg) {
        if (!seen[reg]) open.push_back(reg);
        seen[reg] = true;
    };
    each_register(value, enter);
    bool global = false;
    while (!open.empty()) {
        const uint32_t reg = open.back();
        open.pop_back();
        for (const uint32_t at : definitions[reg]) {
            const Instruction& made = kernel.instructions[at];
            const bool other = made.op == Op::Shfl || made.op == Op::Vote || made.op == Op::Redux ||
                               made.op == Op::Match || made.op == Op::Atom;
            const bool load = made.op == Op::Ld;
            if (other ||
                (load && (made.space == ptx::StateSpace::Shared || made.space == ptx::StateSpace::Local)))
                return false;
            global = global || (load && made.space != ptx::StateSpace::Param);
            if (load) continue;
            for (size_t i = made.destinations; i < made.operands.size(); ++i)
                each_register(made.operands[i], enter);
        }
    }
    return global;
}

}  // namespace

KernelFacts::KernelFacts(const trace::Trace& trace) : trace_(trace) {
    if (trace.meta.ptx.empty()) return;
    auto module = trace::module_of(trace);
    if (!module) return;
    module_ = std::move(*module);
    const ptx::Kernel* const kernel = trace::kernel_of(trace, *module_);
    if (!kernel || !same_sites(ptx::sites_of(*kernel), trace.sites)) return;
    kernel_ = kernel;
    for (const Instruction& instruction : kernel->instructions) {
        warp_syncs_ = warp_syncs_ || instruction.op == Op::BarWarp;
        warp_waits_ = warp_waits_ || instruction.op == Op::BarWarp || instruction.op == Op::Shfl ||
                      instruction.op == Op::Vote || instruction.op == Op::Match;
        fences_ = fences_ || passes(instruction).block_fence;
        const bool bar = instruction.op == Op::Bar || instruction.op == Op::BarRed;
        const size_t first = instruction.destinations;
        if (!bar || instruction.operands.size() <= first) continue;
        const Operand& number = instruction.operands[first];
        part_barriers_ = part_barriers_ || number.kind != Operand::Kind::Immediate || number.bits != 0 ||
                         (instruction.op == Op::Bar && instruction.operands.size() > first + 1);
    }
    flow_ = ptx::control_flow(*kernel);
    site_of_.assign(kernel->instructions.size(), -1);
    for (const ptx::Site& site : trace.sites)
        if (site_of_[site.instruction] < 0) site_of_[site.instruction] = static_cast<int32_t>(site.id);
    rows_.resize(trace.sites.size() + 1);
    look_at_sites();
}

void KernelFacts::look_at_sites() {
    facts_.resize(trace_.sites.size());
    const Definitions definitions = definitions_of(*kernel_);
    std::vector<bool> waits(flow_.loops.size(), true);  // loops with nothing but strong loads
    for (const ptx::Site& site : trace_.sites) {
        const Instruction& instruction = kernel_->instructions[site.instruction];
        SiteFacts& facts = facts_[site.id];
        if (site.kind == ptx::SiteKind::Barrier) continue;
        facts.strong = site.kind == ptx::SiteKind::Atomic || instruction.is_volatile ||
                       has(instruction, {"relaxed", "acquire", "release"});
        facts.releases = ptx::writes(site.kind) && has(instruction, {"release", "acq_rel"});
        if (const Operand* const stored = stored_by(instruction)) {
            facts.constant = constant_of(*kernel_, definitions, *stored);
            facts.fills = comes_from_global(*kernel_, definitions, *stored);
        }
        facts.fills = facts.fills || site.copy;
    }
    const auto loop_of = [&](const ptx::Site& site) {
        return flow_.blocks[flow_.block_of[site.instruction]].loop;
    };
    for (const ptx::Site& site : trace_.sites)
        for (int32_t loop = loop_of(site); loop >= 0; loop = flow_.loops[loop].parent)
            if (!facts_[site.id].strong || !ptx::reads(site.kind)) waits[loop] = false;
    // It looks at one word again and again: nothing of the loop changes the address.
    const auto fixed = [&](const ptx::Site& site, int32_t loop) {
        const int32_t reg = ptx::address_of(kernel_->instructions[site.instruction]).reg;
        return reg < 0 || std::ranges::none_of(definitions[reg], [&](uint32_t at) {
                   return flow_.holds(loop, flow_.block_of[at]);
               });
    };
    for (const ptx::Site& site : trace_.sites) {
        if (site.kind == ptx::SiteKind::Barrier || !facts_[site.id].strong) continue;
        const int32_t loop = loop_of(site);
        facts_[site.id].polls = loop >= 0 && waits[loop] && fixed(site, loop);
    }
}

const std::vector<Passed>& KernelFacts::row(uint32_t from) {
    std::vector<Passed>& row = rows_[from == kEntry ? 0 : from + 1];
    if (row.empty()) row = passed_from(from);
    return row;
}

// All paths from a site to the next ones, block by block until nothing changes.
std::vector<Passed> KernelFacts::passed_from(uint32_t from) const {
    std::vector<OnPaths> to_site(trace_.sites.size() + 1), to_block(flow_.blocks.size());
    OnPaths& behind = to_site.back();
    std::vector<std::pair<uint32_t, Passed>> open;  // instruction, and what was passed before it
    const uint32_t begin = from == kEntry ? 0 : trace_.sites[from].instruction + 1;
    const bool twin = from != kEntry && from + 1 < trace_.sites.size() &&
                      ptx::goes_on(trace_.sites[from], trace_.sites[from + 1]);  // comes right behind it
    if (!twin && begin < kernel_->instructions.size()) open.push_back({begin, {}});
    while (!open.empty()) {
        auto [at, passed] = open.back();
        open.pop_back();
        const ptx::BasicBlock& block = flow_.blocks[flow_.block_of[at]];
        bool on = true;
        for (; on && at < block.last; ++at) {
            const Instruction& instruction = kernel_->instructions[at];
            if (site_of_[at] >= 0) {
                to_site[static_cast<uint32_t>(site_of_[at])].meet(passed);
                behind.meet(passed);
                on = instruction.guard >= 0;
            }
            passed = passed + passes(instruction);
        }
        if (!on) continue;
        for (const int32_t next : block.successors) {
            if (next < 0)
                behind.meet(passed);
            else if (to_block[next].meet(passed))
                open.push_back({flow_.blocks[next].first, to_block[next].passed});
        }
    }
    std::vector<Passed> row;
    for (const OnPaths& one : to_site) row.push_back(one.passed);
    return row;
}

}  // namespace tilescope::analysis
