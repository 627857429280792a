#include "core/hazards/kernel_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/ptx/forms.h"
#include "core/ptx/ops.h"

namespace tilescope::analysis {
namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

constexpr size_t kMostMasks = 200;  // told apart

bool is_fence(const Instruction& instruction) {
    return ptx::orders_threads(instruction) ||
           (instruction.op == Op::Atom && ptx::has_suffix(instruction, {"acquire", "release", "acq_rel"}));
}

const Operand* stored_by(const Instruction& store) {
    return store.op == Op::St && store.operands.size() > 1 ? &store.operands[1] : nullptr;
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
            const ptx::OpRule& rule = ptx::rule_of(made.op);
            const bool other = rule.site == ptx::SiteKind::Exchange || made.op == Op::Atom;
            const bool load = rule.site == ptx::SiteKind::Load;
            if (other || (load && (made.space == ptx::StateSpace::Shared ||
                                   made.space == ptx::StateSpace::Local || made.op == Op::Ldmatrix)))
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

// What a thread has passed on its way to a place.
struct KernelFacts::Way {
    WarpSyncs syncs;
    bool block_fence = false, grid_fence = false, proxy_fence = false;
    PassedGroups copies{}, bulk{};
    bool operator==(const Way&) const = default;
};

namespace {

void add_one(uint8_t& count, uint8_t most) { count = std::min<uint8_t>(count + 1, most); }

void join_paths(PassedGroups& groups, const PassedGroups& other) {
    groups.least = std::min(groups.least, other.least), groups.most = std::max(groups.most, other.most);
    groups.waited = std::max(groups.waited, other.waited), groups.read = std::max(groups.read, other.read);
}

void close_group(PassedGroups& groups, bool guarded) {
    add_one(groups.most, PassedGroups::kMany);
    if (!guarded) add_one(groups.least, PassedGroups::kMany);
}

void wait_for_groups(PassedGroups& groups, uint32_t left, bool read) {
    const bool all = left == ptx::kAllGroups || groups.most == PassedGroups::kMany;
    const int32_t waited =
        all ? PassedGroups::kAll : int32_t{groups.most} - static_cast<int32_t>(std::min(left, 1u << 20));
    int32_t& of = read ? groups.read : groups.waited;
    of = std::max(of, waited);
}

// A fence between what threads do and what copies in bulk and tensor cores do to shared memory.
bool is_proxy_fence(const Instruction& instruction) {
    return instruction.op == Op::Membar && ptx::has_suffix(instruction, {"proxy"}) &&
           !ptx::has_suffix(instruction, {"alias"});
}

}  // namespace

// What is known of the paths to a place.
struct KernelFacts::OnPaths {
    bool any = false;
    Way way;
    bool meet(const Way& other) {  // whether that changes anything
        if (!any) return any = true, way = other, true;
        const Way was = way;
        for (size_t i = 0; i < way.syncs.times.size(); ++i) {
            WarpSyncs::Times& times = way.syncs.times[i];
            times.least = std::min(times.least, other.syncs.times[i].least);
            times.most = std::max(times.most, other.syncs.times[i].most);
        }
        way.syncs.one_order =
            way.syncs.one_order && other.syncs.one_order && way.syncs.order == other.syncs.order;
        if (!way.syncs.one_order) way.syncs.order.clear();
        way.block_fence = way.block_fence || other.block_fence;
        way.grid_fence = way.grid_fence || other.grid_fence;
        way.proxy_fence = way.proxy_fence || other.proxy_fence;
        join_paths(way.copies, other.copies), join_paths(way.bulk, other.bulk);
        return !(way == was);
    }
};

KernelFacts::KernelFacts(const trace::Trace& trace) : trace_(trace) {
    if (trace.meta.ptx.empty()) return;
    auto module = trace::module_of(trace);
    if (!module) return;
    module_ = std::move(*module);
    const ptx::Kernel* const kernel = trace::kernel_of(trace, *module_);
    if (!kernel || !same_sites(ptx::sites_like(*kernel, trace.sites), trace.sites)) return;
    kernel_ = kernel;
    for (const Instruction& instruction : kernel->instructions) {
        fences_ = fences_ || is_fence(instruction);
        block_fences_ = block_fences_ || (is_fence(instruction) && ptx::has_suffix(instruction, {"cta"}));
        const bool bar = instruction.op == Op::Bar || instruction.op == Op::BarRed;
        const size_t first = instruction.destinations;
        part_barriers_ = part_barriers_ || instruction.op == Op::ClusterArrive;
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
    definitions_ = definitions_of(*kernel);
    look_at_masks();
    look_at_sites();
}

// Masks of one value, or in one register that is written once, are one.
void KernelFacts::look_at_masks() {
    mask_number_.assign(kernel_->instructions.size(), -1);
    const auto number = [&](std::vector<const Operand*>& among, const Operand& mask) {
        const auto at = std::ranges::find_if(among, [&](const Operand* one) {
            if (one->kind != mask.kind) return false;
            if (mask.kind == Operand::Kind::Immediate)
                return static_cast<uint32_t>(one->bits) == static_cast<uint32_t>(mask.bits);
            return one->reg == mask.reg && mask.reg >= 0 && definitions_[mask.reg].size() == 1;
        });
        const auto index = static_cast<size_t>(at - among.begin());
        if (index == among.size() && index < kMostMasks) among.push_back(&mask);
        return static_cast<int16_t>(std::min(index, kMostMasks - 1));
    };
    for (uint32_t i = 0; i < kernel_->instructions.size(); ++i) {
        const Instruction& instruction = kernel_->instructions[i];
        const bool sync = instruction.op == Op::BarWarp;
        const bool exchange = instruction.op == Op::Shfl || instruction.op == Op::Vote ||
                              instruction.op == Op::Match || instruction.op == Op::Redux;
        if (!(sync || exchange) || instruction.operands.empty()) continue;
        const Operand& mask = instruction.operands.back();
        if (sync) mask_number_[i] = number(masks_, mask);
        number(waits_, mask);
    }
    if (masks_.size() == kMostMasks) masks_.back() = nullptr;  // several: none is known
    syncs_[0].times.resize(masks_.size());
}

std::optional<uint32_t> KernelFacts::number_in(const Operand& operand, const trace::Block& block,
                                               uint32_t thread) const {
    const ThreadOfLaunch of{trace_.launch, {block.x, block.y, block.z}, thread};
    const auto value = value_in_thread(*kernel_, definitions_, operand, of);
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
}

std::optional<uint32_t> KernelFacts::mask(uint8_t number, const trace::Block& block, uint32_t thread) const {
    return masks_[number] ? number_in(*masks_[number], block, thread) : std::nullopt;
}

BarrierUse KernelFacts::barrier_use(uint32_t site, const trace::Block& block, uint32_t thread) const {
    const Instruction& instruction = kernel_->instructions[trace_.sites[site].instruction];
    BarrierUse use;
    if (instruction.op == Op::ClusterArrive || instruction.op == Op::ClusterWait) {
        use.number = kClusterNumber;
        use.arrives = instruction.op == Op::ClusterArrive, use.waits = !use.arrives;
        return use;
    }
    if (instruction.op != Op::Bar && instruction.op != Op::BarRed) {
        use.number = kGridNumber;
        return use;
    }
    use.arrives = instruction.mode == ptx::Mode::Arrive;
    const size_t first = instruction.destinations;
    use.number = number_in(instruction.operands[first], block, thread);
    // bar.red has no such number here (Lowering::reduction).
    use.counted = instruction.op == Op::Bar && instruction.operands.size() > first + 1;
    if (use.counted) use.threads = number_in(instruction.operands[first + 1], block, thread);
    return use;
}

bool KernelFacts::waits_for_parity(uint32_t site) const {
    return known() && ptx::waits_for_parity(kernel_->instructions[trace_.sites[site].instruction].op);
}

KernelFacts::Waits KernelFacts::waits_of(const trace::Block& block, uint32_t thread) const {
    const uint32_t first = thread - thread % kWarpSize;
    uint32_t sure = 1u << thread % kWarpSize;
    bool known = waits_.size() < kMostMasks;
    for (uint32_t looked_at = 0; sure != ~0u && looked_at != sure;) {
        const uint32_t next = sure & ~looked_at;
        looked_at |= next;
        for_lanes(next, [&](uint32_t lane) {
            for (const Operand* const wait : waits_) {
                const auto mask = number_in(*wait, block, first + lane);
                known = known && mask;
                if (mask && (*mask >> lane & 1)) sure |= *mask;
            }
        });
    }
    return {sure, known ? sure : ~0u};
}

Adds KernelFacts::added_by(const ptx::Site& site) const {
    if (site.atomic == ptx::Atomic::Inc) return Adds::Up;
    if (site.atomic != ptx::Atomic::Add) return Adds::Unknown;
    const Operand& added = kernel_->instructions[site.instruction].operands.back();
    const auto uniform = uniform_value(*kernel_, definitions_, added);
    const auto value = value_in_thread(*kernel_, definitions_, added, {trace_.launch, {}, 0});
    if (!uniform || uniform->of_block || !value) return Adds::Unknown;
    const bool less = *value >> (8 * std::clamp(site.bytes, 1u, 8u) - 1) & 1;
    return *value == 0 ? Adds::Nothing : less ? Adds::Unknown : Adds::Up;
}

std::vector<KernelFacts::LoadedFrom> KernelFacts::loaded_from() const {
    const bool whole = trace_.meta.complete && trace_.blocks.size() == trace_.launch.grid.count();
    std::vector<bool> written(256, false);  // by array; of global memory, or anywhere outside
    for (const trace::Form& form : trace_.forms)
        if (ptx::writes(trace_.sites[form.site].kind) &&
            (form.space == Space::Global || form.array == trace::kNoArray))
            written[form.array] = true;
    std::vector<LoadedFrom> of_sites(trace_.sites.size());
    for (const trace::Form& form : trace_.forms) {
        if (trace_.sites[form.site].kind != ptx::SiteKind::Load) continue;
        LoadedFrom& from = of_sites[form.site];
        from.any = true;
        if (form.space == Space::Shared)
            from.shared |= array_bit(form.array);
        else if (form.space != Space::Const)
            from.changes = from.changes || form.space != Space::Global || !whole ||
                           form.array == trace::kNoArray || written[form.array] || written[trace::kNoArray];
    }
    return of_sites;
}

// Whether a thread passes no barrier between two instructions, and every time executes the first before the second.
bool KernelFacts::in_one_interval(uint32_t first, uint32_t second) const {
    if (first > second || flow_.block_of[first] != flow_.block_of[second]) return false;
    for (uint32_t at = first; at < second; ++at)
        if (site_of_[at] >= 0 &&
            trace_.sites[static_cast<size_t>(site_of_[at])].kind == ptx::SiteKind::Barrier)
            return false;
    return true;
}

void KernelFacts::look_at_sites() {
    facts_.resize(trace_.sites.size());
    const Definitions& definitions = definitions_;
    const std::vector<LoadedFrom> loaded = loaded_from();
    std::vector<bool> waits(flow_.loops.size(), true);  // loops with nothing but strong loads
    for (const ptx::Site& site : trace_.sites) {
        const Instruction& instruction = kernel_->instructions[site.instruction];
        SiteFacts& facts = facts_[site.id];
        facts.whole_warp =
            (ptx::rule_of(instruction.op).suffixes & ptx::kMatrix) != 0 || ptx::is_wgmma(instruction.op);
        if (!ptx::asks_memory(site.kind)) continue;
        facts.strong = site.kind == ptx::SiteKind::Atomic || instruction.is_volatile ||
                       ptx::has_suffix(instruction, {"relaxed", "acquire", "release"});
        facts.adds = added_by(site);
        facts.releases = ptx::writes(site.kind) && ptx::has_suffix(instruction, {"release", "acq_rel"});
        if (const Operand* const stored = stored_by(instruction)) {
            facts.uniform = uniform_value(*kernel_, definitions, *stored, [&](uint32_t load) {
                const LoadedFrom from =
                    site_of_[load] < 0 ? LoadedFrom{} : loaded[static_cast<size_t>(site_of_[load])];
                const bool steady = from.any && !from.changes &&
                                    (from.shared == 0 || in_one_interval(load, site.instruction));
                return steady ? std::optional(from.shared) : std::nullopt;
            });
            facts.fills = comes_from_global(*kernel_, definitions, *stored);
        }
        facts.fills = facts.fills || site.copy;
    }
    const auto loop_of = [&](const ptx::Site& site) {
        return flow_.blocks[flow_.block_of[site.instruction]].loop;
    };
    for (const ptx::Site& site : trace_.sites)
        for (int32_t loop = site.kind == ptx::SiteKind::Exchange ? -1 : loop_of(site); loop >= 0;
             loop = flow_.loops[loop].parent)
            if (!facts_[site.id].strong || !ptx::reads(site.kind)) waits[loop] = false;
    // It looks at one word again and again: nothing of the loop changes the address.
    const auto fixed = [&](const ptx::Site& site, int32_t loop) {
        const int32_t reg = ptx::address_of(kernel_->instructions[site.instruction]).reg;
        return reg < 0 || std::ranges::none_of(definitions[reg], [&](uint32_t at) {
                   return flow_.holds(loop, flow_.block_of[at]);
               });
    };
    for (const ptx::Site& site : trace_.sites) {
        if (!ptx::asks_memory(site.kind) || !facts_[site.id].strong) continue;
        const int32_t loop = loop_of(site);
        facts_[site.id].polls = loop >= 0 && waits[loop] && fixed(site, loop);
    }
}

const std::vector<Passed>& KernelFacts::row(uint32_t from) {
    std::vector<Passed>& row = rows_[from == kEntry ? 0 : from + 1];
    if (row.empty()) row = passed_from(from);
    return row;
}

// Adds what executing an instruction passes.
void KernelFacts::pass(uint32_t at, Way& way) const {
    const Instruction& instruction = kernel_->instructions[at];
    if (is_fence(instruction)) {
        way.block_fence = true;
        way.grid_fence = way.grid_fence || !ptx::has_suffix(instruction, {"cta"});
    }
    way.proxy_fence = way.proxy_fence || is_proxy_fence(instruction);
    const bool guarded = instruction.guard >= 0;
    switch (instruction.op) {
        case Op::CpCommit: close_group(way.copies, guarded); break;
        case Op::CpWait:
        case Op::CpWaitAll: wait_for_groups(way.copies, ptx::groups_left(instruction), false); break;
        case Op::BulkCommit: close_group(way.bulk, guarded); break;
        case Op::BulkWait:
            wait_for_groups(way.bulk, ptx::groups_left(instruction), ptx::has_suffix(instruction, {"read"}));
            break;
        default: break;
    }
    const int16_t mask = mask_number_[at];
    if (mask < 0) return;
    WarpSyncs& syncs = way.syncs;
    WarpSyncs::Times& times = syncs.times[static_cast<size_t>(mask)];
    add_one(times.most, WarpSyncs::kMany);
    if (!guarded) add_one(times.least, WarpSyncs::kMany);
    syncs.one_order = syncs.one_order && !guarded && syncs.order.size() < WarpSyncs::kMany;
    if (syncs.one_order)
        syncs.order.push_back(static_cast<uint8_t>(mask));
    else
        syncs.order.clear();
}

uint32_t KernelFacts::number_of(WarpSyncs syncs) {
    const auto at = std::ranges::find(syncs_, syncs);
    const auto number = static_cast<uint32_t>(at - syncs_.begin());
    if (at == syncs_.end()) syncs_.push_back(std::move(syncs));
    return number;
}

// All paths from a site to the next ones, block by block until nothing changes.
std::vector<Passed> KernelFacts::passed_from(uint32_t from) {
    std::vector<OnPaths> to_site(trace_.sites.size() + 1), to_block(flow_.blocks.size());
    OnPaths& behind = to_site.back();
    std::vector<std::pair<uint32_t, Way>> open;  // instruction, and what was passed before it
    const uint32_t begin = from == kEntry ? 0 : trace_.sites[from].instruction + 1;
    const bool twin = from != kEntry && from + 1 < trace_.sites.size() &&
                      ptx::goes_on(trace_.sites[from], trace_.sites[from + 1]);  // comes right behind it
    const Way none{.syncs = syncs_[0]};
    if (!twin && begin < kernel_->instructions.size()) open.push_back({begin, none});
    while (!open.empty()) {
        auto [at, way] = open.back();
        open.pop_back();
        const ptx::BasicBlock& block = flow_.blocks[flow_.block_of[at]];
        bool on = true;
        for (; on && at < block.last; ++at) {
            if (site_of_[at] >= 0) {
                to_site[static_cast<uint32_t>(site_of_[at])].meet(way);
                behind.meet(way);
                on = kernel_->instructions[at].guard >= 0;
            }
            pass(at, way);
        }
        if (!on) continue;
        for (const int32_t next : block.successors) {
            if (next < 0)
                behind.meet(way);
            else if (to_block[next].meet(way))
                open.push_back({flow_.blocks[next].first, to_block[next].way});
        }
    }
    std::vector<Passed> row;
    for (const OnPaths& one : to_site)
        row.push_back(one.any ? Passed{number_of(one.way.syncs), one.way.block_fence, one.way.grid_fence,
                                       one.way.proxy_fence, one.way.copies, one.way.bulk}
                              : Passed{});
    return row;
}

}  // namespace tilescope::analysis
