#include "core/analysis/level_code.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/core.h>

#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"

namespace tilescope::analysis {

namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

bool is_integer(ptx::Type type) { return type >= ptx::Type::B8 && type <= ptx::Type::S64; }

bool is_free(const Instruction& i) {
    if (i.op == Op::Ld) return i.space == ptx::StateSpace::Param;
    if (i.op == Op::Cvt) return is_integer(i.type) && is_integer(i.type2);
    if (i.op == Op::Bra) return i.guard < 0;
    return i.op == Op::Mov || i.op == Op::Cvta;
}

bool is_fp32(const Instruction& i) {
    const bool arithmetic =
        i.op == Op::Add || i.op == Op::Sub || i.op == Op::Mul || i.op == Op::Fma || i.op == Op::Mad;
    return arithmetic && i.type == ptx::Type::F32;
}

Executed executed(const Instruction& i) { return {is_free(i) ? 0u : 1u, is_fp32(i) ? 1u : 0u}; }

// Groups of 4, then of 2 neighbours of 4 bytes among the loads of shared memory of a basic block by one
// register, between which nothing is stored and nothing waits.
class Joiner {
public:
    Joiner(const ptx::Kernel& kernel, std::vector<JoinedLoad>& joined) : kernel_(kernel), joined_(joined) {}

    void add(const ptx::Site& site) {
        const Operand& at = ptx::address_of(kernel_.instructions[site.instruction], site);
        if (at.kind != Operand::Kind::Address || at.offset % 4 != 0) return;
        loads_.push_back({at.reg, at.symbol, at.offset, site.id});
    }
    void settle() {
        std::sort(loads_.begin(), loads_.end());
        for (const size_t many : {size_t{4}, size_t{2}})
            for (size_t first = 0; first + many <= loads_.size();) first += join(first, many) ? many : 1;
        loads_.clear();
    }

private:
    struct Load {
        int32_t reg, symbol;
        int64_t offset;
        uint32_t site;
        auto operator<=>(const Load&) const = default;
    };
    bool join(size_t first, size_t many) {
        const Load& lowest = loads_[first];
        for (size_t i = 0; i < many; ++i) {
            const Load& load = loads_[first + i];
            if (joined_[load.site].group >= 0 || load.reg != lowest.reg || load.symbol != lowest.symbol ||
                load.offset != lowest.offset + static_cast<int64_t>(4 * i))
                return false;
        }
        for (size_t i = 0; i < many; ++i)
            joined_[loads_[first + i].site] = {static_cast<int32_t>(lowest.site), static_cast<uint32_t>(i),
                                               static_cast<uint32_t>(many)};
        return true;
    }

    const ptx::Kernel& kernel_;
    std::vector<JoinedLoad>& joined_;
    std::vector<Load> loads_;
};

// Straight code as ptxas sees it: basic blocks, and those that it makes one of. It makes one of a branch that
// skips a few instructions, what it skips, and where both ways meet, if nothing else comes there.
class StraightCode {
public:
    explicit StraightCode(const ptx::Kernel& kernel, const ptx::ControlFlow& flow)
        : kernel_(kernel), flow_(flow), part_(flow.blocks.size()), order_(flow.blocks.size(), 0) {
        for (size_t block = 0; block < part_.size(); ++block) part_[block] = static_cast<int32_t>(block);
        for (size_t block = 0; block < part_.size(); ++block) join(static_cast<int32_t>(block));
        number();
    }
    int32_t part(int32_t block) const {
        while (part_[block] != block) block = part_[block];
        return block;
    }
    // Whether a block comes before another one, loops left out.
    bool before(int32_t a, int32_t b) const { return order_[a] < order_[b]; }
    bool dominates(int32_t a, int32_t b) const {
        while (b >= 0 && b != a) b = flow_.blocks[b].dominator;
        return b == a;
    }

private:
    static constexpr uint32_t kFew = 16;  // instructions that ptxas skips by predicates, about

    bool is_jump(int32_t block) const {
        const ptx::BasicBlock& at = flow_.blocks[block];
        return at.last == at.first + 1 && kernel_.instructions[at.first].op == Op::Bra &&
               kernel_.instructions[at.first].guard < 0;
    }
    // Past blocks that only jump on.
    int32_t behind(int32_t block) const {
        while (block != ptx::kExitBlock && is_jump(block) && flow_.blocks[block].predecessors.size() == 1)
            block = flow_.blocks[block].successors.front();
        return block;
    }
    int32_t in_front(int32_t block) const {
        while (is_jump(block) && flow_.blocks[block].predecessors.size() == 1)
            block = flow_.blocks[block].predecessors.front();
        return block;
    }
    void join(int32_t block) {
        const std::vector<int32_t>& next = flow_.blocks[block].successors;
        if (next.size() != 2) return;
        for (const size_t skipped : {size_t{0}, size_t{1}}) {
            const int32_t few = behind(next[skipped]), meet = behind(next[1 - skipped]);
            if (few == ptx::kExitBlock || meet == ptx::kExitBlock || few == meet || few == block) continue;
            const ptx::BasicBlock &at = flow_.blocks[few], &there = flow_.blocks[meet];
            if (at.last - at.first > kFew || at.predecessors.size() != 1 || at.successors.size() != 1 ||
                behind(at.successors.front()) != meet)
                continue;
            const bool alone = std::ranges::all_of(there.predecessors, [&](int32_t from) {
                from = in_front(from);
                return from == block || from == few;
            });
            if (!alone) continue;
            part_[part(few)] = part(block);
            part_[part(meet)] = part(block);
        }
    }
    void number() {
        std::vector<int32_t> reverse;
        std::vector<uint8_t> seen(flow_.blocks.size(), 0);
        std::vector<std::pair<int32_t, size_t>> way{{0, 0}};
        seen[0] = 1;
        while (!way.empty()) {
            auto& [block, taken] = way.back();
            if (taken == flow_.blocks[block].successors.size()) {
                reverse.push_back(block);
                way.pop_back();
                continue;
            }
            const int32_t next = flow_.blocks[block].successors[taken++];
            if (next == ptx::kExitBlock || seen[next]) continue;
            seen[next] = 1;
            way.push_back({next, 0});
        }
        for (size_t i = 0; i < reverse.size(); ++i)
            order_[reverse[i]] = static_cast<uint32_t>(reverse.size() - i);
    }

    const ptx::Kernel& kernel_;
    const ptx::ControlFlow& flow_;
    std::vector<int32_t> part_;    // by block: one of its part
    std::vector<uint32_t> order_;  // by block: reverse postorder
};

template <class Do>
void for_registers(const Operand& operand, const Do& act) {
    if (operand.reg >= 0) act(operand.reg);
    for (const Operand& element : operand.elements) for_registers(element, act);
}
template <class Do>
void for_written(const Instruction& i, const Do& act) {
    for (size_t at = 0; at < i.destinations && at < i.operands.size(); ++at)
        for_registers(i.operands[at], act);
}
template <class Do>
void for_read(const Instruction& i, const Do& act) {
    if (i.guard >= 0) act(i.guard);
    for (size_t at = i.destinations; at < i.operands.size(); ++at) for_registers(i.operands[at], act);
}

}  // namespace

struct LevelCode::State {
    ptx::Module module;
    const ptx::Kernel* kernel = nullptr;
    ptx::ControlFlow flow;
    std::vector<ptx::Site> sites;
    std::vector<int32_t> site_at;  // instruction -> site, -1 for none; of a copy its load
    std::vector<JoinedLoad> joined;
    std::map<std::pair<int32_t, int32_t>, Executed> known;
    std::optional<StraightCode> straight;
    std::map<uint32_t, std::vector<uint8_t>> waiting;  // by a load: the sites that wait for it

    void join() {
        joined.resize(sites.size());
        Joiner joiner(*kernel, joined);
        int32_t block = -1;
        for (const ptx::Site& site : sites) {
            const int32_t here = flow.block_of[site.instruction];
            const bool load = site.kind == ptx::SiteKind::Load;
            if (here != block ||
                (!load && (site.kind == ptx::SiteKind::Barrier || site.space == Space::Shared)))
                joiner.settle();
            block = here;
            const Instruction& i = kernel->instructions[site.instruction];
            if (load && site.space == Space::Shared && site.bytes == 4 && i.guard < 0 && !i.is_volatile)
                joiner.add(site);
        }
        joiner.settle();
    }

    // Registers that hold what a load brings, as it is or with what is computed from it.
    std::vector<uint8_t> holders(uint32_t load, bool computed) const {
        std::vector<uint8_t> holds(kernel->registers.size(), 0);
        for_written(kernel->instructions[load], [&](int32_t reg) { holds[reg] = 1; });
        for (bool more = true; more;) {
            more = false;
            for (const Instruction& i : kernel->instructions) {
                if (!computed && i.op != Op::Mov) continue;
                bool from = false;
                for_read(i, [&](int32_t reg) { from |= holds[reg] != 0; });
                if (!from) continue;
                for_written(i, [&](int32_t reg) { more |= !std::exchange(holds[reg], uint8_t{1}); });
            }
        }
        return holds;
    }
    std::vector<uint8_t> waiting_for(const ptx::Site& load) const {
        std::vector<uint8_t> waits(sites.size(), 0);
        const std::vector<uint8_t> from = holders(load.instruction, true);
        const std::vector<uint8_t> same = holders(load.instruction, false);
        const int32_t here = flow.block_of[load.instruction];
        std::vector<int32_t> uses;  // blocks
        for (uint32_t at = 0; at < kernel->instructions.size(); ++at) {
            bool used = false;
            for_read(kernel->instructions[at], [&](int32_t reg) { used |= same[reg] != 0; });
            const int32_t block = flow.block_of[at];
            if (used && !is_free(kernel->instructions[at]) &&
                (here == block || straight->before(here, block)))
                uses.push_back(block);
        }
        for (const ptx::Site& site : sites) {
            if (site.id == load.id || site.kind == ptx::SiteKind::Barrier) continue;
            const Operand& address = ptx::address_of(kernel->instructions[site.instruction], site);
            const int32_t there = flow.block_of[site.instruction];
            waits[site.id] =
                (address.reg >= 0 && from[address.reg]) || std::ranges::any_of(uses, [&](int32_t use) {
                    return straight->part(use) != straight->part(there) && straight->before(use, there) &&
                           straight->dominates(use, there);
                });
        }
        return waits;
    }

    // The cheapest way; through: whether it may pass sites without a guard.
    bool find(int32_t from, int32_t to, bool through, Executed& best) const {
        const std::vector<Instruction>& code = kernel->instructions;
        struct Way {
            Executed cost;
            int32_t block;
            bool operator>(const Way& other) const { return cost.instructions > other.cost.instructions; }
        };
        std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
        std::vector<uint8_t> done(flow.blocks.size(), 0);
        bool found = false;
        // Walks a block from an instruction on; says whether its end was reached.
        const auto walk = [&](uint32_t first, int32_t block, Executed& cost) {
            for (uint32_t at = first; at < flow.blocks[block].last; ++at) {
                const int32_t site = site_at[at];
                if (site >= 0 && site == to) {
                    if (!found || cost.instructions < best.instructions) best = cost;
                    return found = true, false;
                }
                if (site >= 0 && !through && code[at].guard < 0) return false;
                cost += executed(code[at]);
            }
            return true;
        };
        const auto leave = [&](int32_t block, const Executed& cost) {
            for (const int32_t next : flow.blocks[block].successors) {
                if (next != ptx::kExitBlock) {
                    if (!done[next]) ways.push({cost, next});
                } else if (to == kEnd && (!found || cost.instructions < best.instructions)) {
                    best = cost;
                    found = true;
                }
            }
        };
        uint32_t start = 0;
        Executed cost;
        if (from >= 0) {
            start = sites[from].instruction;
            cost = executed(code[start++]);
        }
        const int32_t first = from >= 0 ? flow.block_of[start - 1] : 0;
        if (walk(start, first, cost)) leave(first, cost);
        while (!ways.empty()) {
            Way way = ways.top();
            ways.pop();
            if (done[way.block] || (found && way.cost.instructions >= best.instructions)) continue;
            done[way.block] = 1;
            if (walk(flow.blocks[way.block].first, way.block, way.cost)) leave(way.block, way.cost);
        }
        return found;
    }
};

LevelCode::LevelCode(std::unique_ptr<State> state) : state_(std::move(state)) {}
LevelCode::LevelCode(LevelCode&&) noexcept = default;
LevelCode& LevelCode::operator=(LevelCode&&) noexcept = default;
LevelCode::~LevelCode() = default;

Result<LevelCode> LevelCode::of(const trace::Trace& trace) {
    auto module = ptx::parse(trace.meta.ptx, trace.meta.ptx_name);
    if (!module) return module.error();
    auto state = std::make_unique<State>();
    state->module = std::move(*module);
    state->kernel = ptx::find_kernel(state->module, trace.launch.entry);
    if (!state->kernel || state->kernel->instructions.empty())
        return Error{
            fmt::format("the PTX of the recording has no kernel '{}'; record it again", trace.launch.entry)};
    state->sites = ptx::sites_of(*state->kernel);
    if (state->sites.size() != trace.sites.size())
        return Error{"the PTX of the recording has other accesses than its steps; record it again"};
    state->flow = ptx::control_flow(*state->kernel);
    state->site_at.assign(state->kernel->instructions.size(), -1);
    for (const ptx::Site& site : state->sites)
        if (!ptx::is_copy_store(site)) state->site_at[site.instruction] = static_cast<int32_t>(site.id);
    state->join();
    state->straight.emplace(*state->kernel, state->flow);
    return LevelCode(std::move(state));
}

const Executed& LevelCode::between(int32_t from, int32_t to) {
    const std::vector<ptx::Site>& sites = state_->sites;
    static constexpr Executed kNothing;
    if (from >= 0 && to >= 0 && ptx::is_copy(sites[from], sites[to])) return kNothing;  // one instruction
    const auto [at, is_new] = state_->known.try_emplace({from, to});
    if (is_new && !state_->find(from, to, false, at->second)) state_->find(from, to, true, at->second);
    return at->second;
}

bool LevelCode::waits(uint32_t load, uint32_t earlier) {
    const auto [at, is_new] = state_->waiting.try_emplace(earlier);
    if (is_new) at->second = state_->waiting_for(state_->sites[earlier]);
    return at->second[load] != 0;
}

const std::vector<JoinedLoad>& LevelCode::joined() const { return state_->joined; }

}  // namespace tilescope::analysis
