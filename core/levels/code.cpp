#include "core/levels/code.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include <fmt/core.h>

#include "core/levels/load_waits.h"
#include "core/ptx/cfg.h"
#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/warpgroup.h"

namespace tilescope::analysis {

namespace {

using ptx::Instruction;
using ptx::Operand;

uint64_t tensor_work(const Instruction& i) {
    if (ptx::rule_of(i.op).unit != ptx::SmUnit::Tensor) return 0;
    const bool warpgroup = ptx::is_wgmma(i.op);  // each of its four warps has a quarter
    const auto form = warpgroup ? ptx::warpgroup_form(i) : ptx::matrix_form(i);
    if (!form || form->type(ptx::MatrixRole::A) == ptx::MatrixType::F64) return 0;
    return form->flop() / 2 * ptx::bits_of(form->type(ptx::MatrixRole::A)) / 16 / (form->sparse ? 2 : 1) /
           (warpgroup ? ptx::kWarpsOfGroup : 1);
}

Executed executed(const Instruction& i) {
    const bool fp32 = ptx::rule_of(i.op).unit == ptx::SmUnit::Fma && i.type == ElementType::F32;
    return {ptx::is_free(i) ? 0u : 1u, fp32 ? 1u : 0u, tensor_work(i)};
}

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

}  // namespace

struct LevelCode::State {
    std::shared_ptr<const ptx::Module> module;
    const ptx::Kernel* kernel = nullptr;
    ptx::ControlFlow flow;
    std::vector<ptx::Site> sites;
    std::vector<int32_t> site_at;  // by instruction: its first site, -1 for none and for an exchange
    std::vector<JoinedLoad> joined;
    std::map<std::pair<int32_t, int32_t>, Executed> known;
    std::optional<LoadWaits> waits;

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
    auto module = trace::module_of(trace);
    if (!module) return module.error();
    auto state = std::make_unique<State>();
    state->module = std::move(*module);
    state->kernel = ptx::find_kernel(*state->module, trace.launch.entry);
    if (!state->kernel || state->kernel->instructions.empty())
        return Error{
            fmt::format("the PTX of the recording has no kernel '{}'; record it again", trace.launch.entry)};
    state->sites = ptx::sites_like(*state->kernel, trace.sites);
    if (state->sites.size() != trace.sites.size())
        return Error{"the PTX of the recording has other accesses than its steps; record it again"};
    state->flow = ptx::control_flow(*state->kernel);
    state->site_at.assign(state->kernel->instructions.size(), -1);
    for (const ptx::Site& site : state->sites)
        if (int32_t& first = state->site_at[site.instruction];
            first < 0 && site.kind != ptx::SiteKind::Exchange)
            first = static_cast<int32_t>(site.id);
    state->join();
    state->waits.emplace(*state->kernel, state->flow, state->sites);
    return LevelCode(std::move(state));
}

const Executed& LevelCode::between(int32_t from, int32_t to) {
    const std::vector<ptx::Site>& sites = state_->sites;
    static constexpr Executed kNothing;
    if (from >= 0 && to >= 0 && goes_on(sites[from], sites[to])) return kNothing;
    const auto [at, is_new] = state_->known.try_emplace({from, to});
    if (is_new && !state_->find(from, to, false, at->second)) state_->find(from, to, true, at->second);
    return at->second;
}

const std::vector<uint32_t>& LevelCode::waited_for(uint32_t load) const {
    return state_->waits->waited_for(load);
}

const std::vector<JoinedLoad>& LevelCode::joined() const { return state_->joined; }

}  // namespace tilescope::analysis
