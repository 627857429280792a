// Forward dataflow over the control flow graph; affine.h says what is looked for.
//
// A value carries the name of the definition it came from: an instruction, or the block where paths
// with different definitions meet. Where they meet after a branch that threads may take differently, threads
// hold different definitions, and nothing is known; where all threads come by the same path, it is still
// one number for the whole block. A loop that threads may leave at different trips makes everything
// that it defines unknown outside.
#include "core/ptx/affine.h"

#include <algorithm>
#include <optional>

#include "core/ptx/affine_value.h"
#include "core/ptx/cfg.h"

namespace tilescope::ptx {

namespace {

// Beyond these nothing is claimed: blocks times registers; blocks times branches, for each of which the
// blocks that it reaches are looked for; values that are met, with the loops that each of them may leave.
constexpr uint64_t kMostValues = 4u << 20, kMostReached = 1u << 21, kMostMet = 1u << 28;

struct Analysis {
    const Kernel& kernel;
    const LaunchFacts& facts;
    ControlFlow flow;
    std::vector<std::vector<AffineValue>> in, out;  // by block, then register
    std::vector<bool> visited;
    std::vector<bool> divergent;       // by block: it ends in a branch that threads may take differently
    std::vector<bool> divergent_join;  // by block
    std::vector<bool> ragged;          // by loop: threads may leave it at different trips
    uint64_t reached = 0, met = 0;     // so far
    ThreadTables tables{facts.block};
};

const Instruction* branch_of(const Analysis& a, size_t block) {
    const BasicBlock& b = a.flow.blocks[block];
    if (b.last == b.first || b.successors.size() < 2) return nullptr;
    return &a.kernel.instructions[b.last - 1];
}

// Blocks that a path from `from` reaches, up to and with `stop`.
std::vector<bool> reach(const Analysis& a, int32_t from, int32_t stop) {
    std::vector<bool> seen(a.flow.blocks.size());
    std::vector<int32_t> open{from};
    while (!open.empty()) {
        const int32_t at = open.back();
        open.pop_back();
        if (at == kExitBlock || seen[at]) continue;
        seen[at] = true;
        if (at != stop) {
            const auto& next = a.flow.blocks[at].successors;
            open.insert(open.end(), next.begin(), next.end());
        }
    }
    return seen;
}

void mark_divergent(Analysis& a, size_t block) {
    a.divergent[block] = true;
    const BasicBlock& b = a.flow.blocks[block];
    a.reached += a.flow.blocks.size() + a.flow.loops.size();
    std::vector<int> times(a.flow.blocks.size());
    for (const int32_t successor : b.successors) {
        const std::vector<bool> reached = reach(a, successor, b.post_dominator);
        for (size_t i = 0; i < times.size(); ++i) times[i] += reached[i];
    }
    for (size_t i = 0; i < times.size(); ++i)
        if (times[i] > 1 && a.flow.blocks[i].predecessors.size() > 1) a.divergent_join[i] = true;
    for (size_t loop = 0; loop < a.flow.loops.size(); ++loop) {
        const auto l = static_cast<int32_t>(loop);
        if (a.flow.holds(l, static_cast<int32_t>(block)) &&
            std::any_of(b.successors.begin(), b.successors.end(),
                        [&](int32_t s) { return !a.flow.holds(l, s); }))
            a.ragged[loop] = true;
    }
}

// What a value is beyond an edge: unknown if it leaves the loop that made it, since threads leave at
// different trips.
AffineValue along(const Analysis& a, const AffineValue& value, int32_t from, int32_t to) {
    if (!value.affine || value.constant || value.block < 0) return value;
    for (int32_t loop = a.flow.blocks[from].loop; loop >= 0; loop = a.flow.loops[loop].parent)
        if (a.ragged[loop] && !a.flow.holds(loop, to) && a.flow.holds(loop, value.block)) return {};
    return value;
}

std::vector<AffineValue> meet(Analysis& a, size_t block) {
    const size_t registers = a.kernel.registers.size();
    std::vector<AffineValue> result(registers);
    const auto& from = a.flow.blocks[block].predecessors;
    bool first = true;
    for (const int32_t p : from) {
        if (!a.visited[p]) continue;
        const int32_t loop = a.flow.blocks[p].loop;
        a.met += registers * (1 + (loop < 0 ? 0 : a.flow.loops[loop].depth));
        for (size_t r = 0; r < registers; ++r) {
            const AffineValue value = along(a, a.out[p][r], p, static_cast<int32_t>(block));
            if (first) {
                result[r] = value;
            } else if (!same(result[r], value)) {
                const AffineValue met = a.divergent_join[block] ? AffineValue{} : join(result[r], value);
                result[r] = met;
                if (met.affine && !met.constant) {
                    result[r].definition = kMeeting | (block * registers + r);
                    result[r].block = static_cast<int32_t>(block);
                }
            } else {
                result[r].zeros = std::min(result[r].zeros, value.zeros);
            }
        }
        first = false;
    }
    // A meeting stays one: what met once is not taken for a single definition later.
    if (a.visited[block]) {
        for (size_t r = 0; r < registers; ++r) {
            const uint64_t own = kMeeting | (block * registers + r);
            if (!a.in[block][r].affine) {
                result[r] = {};
            } else if (result[r].affine && a.in[block][r].definition == own && !a.in[block][r].constant) {
                result[r] = join(result[r], a.in[block][r]);
                result[r].constant = false;
                result[r].definition = own;
                result[r].block = static_cast<int32_t>(block);
            }
        }
    }
    return result;
}

void run_to_fixpoint(Analysis& a) {
    const size_t blocks = a.flow.blocks.size();
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t block = 0; block < blocks; ++block) {
            if (a.reached > kMostReached || a.met > kMostMet) {
                for (auto& values : a.in) std::fill(values.begin(), values.end(), AffineValue{});
                return;
            }
            a.met += a.kernel.registers.size();
            const BasicBlock& b = a.flow.blocks[block];
            const bool entry = block == 0;
            const bool ready = entry || std::any_of(b.predecessors.begin(), b.predecessors.end(),
                                                    [&](int32_t p) { return a.visited[p]; });
            if (!ready) continue;
            std::vector<AffineValue> values = entry && b.predecessors.empty()
                                                  ? std::vector<AffineValue>(a.kernel.registers.size())
                                                  : meet(a, block);
            if (entry && !b.predecessors.empty())
                std::fill(values.begin(), values.end(), AffineValue{});  // a loop back to the entry
            a.in[block] = values;
            for (uint32_t i = b.first; i < b.last; ++i)
                apply(a.kernel, a.facts, i, static_cast<int32_t>(block), values, a.tables);
            const Instruction* branch = branch_of(a, block);
            const bool splits = branch && branch->guard >= 0 && !values[branch->guard].uniform();
            if (splits && !a.divergent[block]) {
                mark_divergent(a, block);
                changed = true;
            }
            const auto unchanged = [](const AffineValue& now, const AffineValue& before) {
                return same(now, before) && now.zeros == before.zeros;
            };
            if (!a.visited[block] ||
                !std::equal(values.begin(), values.end(), a.out[block].begin(), unchanged)) {
                changed = true;
                a.visited[block] = true;
                a.out[block] = std::move(values);
            }
        }
    }
}

LaneShape shape_of(const Analysis& a, const Site& site, const std::vector<AffineValue>& values) {
    const Operand& address = address_of(a.kernel.instructions[site.instruction], site);
    LaneShape shape;
    if (address.reg < 0) {
        shape.affine = address.kind == Operand::Kind::Address;  // [symbol] or [immediate]
    } else if (values[address.reg].affine) {
        const AffineValue& value = values[address.reg];
        if (value.table == 0) shape = {true, value.x, value.y, value.z};
    }
    return shape;
}

// How far the lanes' addresses lie above lane 0's, where that is the same in every warp.
std::optional<std::array<uint64_t, kWarpSize>> distances_of(const Analysis& a, const Site& site,
                                                            const std::vector<AffineValue>& values) {
    const int32_t reg = address_of(a.kernel.instructions[site.instruction], site).reg;
    if (reg < 0 || !values[reg].affine || values[reg].table == 0) return std::nullopt;
    const uint64_t mask = size_of(a.kernel.registers[reg].type) == 4 ? UINT32_MAX : UINT64_MAX;
    const auto of = [&](uint32_t thread) {
        return number_of_thread(values[reg], a.tables, a.facts.block, thread);
    };
    std::array<uint64_t, kWarpSize> distances{};
    for (uint32_t thread = 0; thread < a.tables.threads(); ++thread) {
        const uint32_t lane = thread % kWarpSize;
        const uint64_t distance = (of(thread) - of(thread - lane)) & mask;
        if (thread < kWarpSize)
            distances[lane] = distance;
        else if (distances[lane] != distance)
            return std::nullopt;
    }
    return distances;
}

}  // namespace

AffineAddresses affine_addresses(const Kernel& kernel, const std::vector<Site>& sites,
                                 const LaunchFacts& facts) {
    AffineAddresses result;
    result.shapes.resize(sites.size());
    Analysis a{kernel, facts, control_flow(kernel), {}, {}, {}, {}, {}, {}, 0, 0};
    const size_t blocks = a.flow.blocks.size(), registers = kernel.registers.size();
    if (blocks == 0 || blocks * registers > kMostValues) return result;
    a.in.assign(blocks, std::vector<AffineValue>(registers));
    a.out = a.in;
    a.visited.resize(blocks);
    a.divergent.resize(blocks);
    a.divergent_join.resize(blocks);
    a.ragged.resize(a.flow.loops.size());
    run_to_fixpoint(a);

    for (size_t block = 0; block < blocks; ++block) {
        if (!a.visited[block]) continue;
        const BasicBlock& b = a.flow.blocks[block];
        std::vector<AffineValue> values = a.in[block];
        auto site = std::lower_bound(sites.begin(), sites.end(), b.first,
                                     [](const Site& s, uint32_t i) { return s.instruction < i; });
        for (uint32_t i = b.first; i < b.last; ++i) {
            while (site != sites.end() && site->instruction == i) {
                if (asks_memory(site->kind)) {
                    result.shapes[site->id] = shape_of(a, *site, values);
                    if (const auto known = distances_of(a, *site, values))
                        result.distances[site->id] = *known;
                }
                ++site;
            }
            const int widened = apply(kernel, facts, i, static_cast<int32_t>(block), values, a.tables);
            if (widened >= 0) {
                const Instruction& instruction = kernel.instructions[i];
                const Type type = instruction.op == Op::Cvt ? instruction.type2 : instruction.type;
                result.widened.push_back({i, static_cast<uint8_t>(widened), is_signed(type)});
            }
        }
    }
    std::sort(result.widened.begin(), result.widened.end(),
              [](const Widening& l, const Widening& r) { return l.instruction < r.instruction; });
    return result;
}

}  // namespace tilescope::ptx
