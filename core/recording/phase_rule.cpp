// Finds the loop that walks the tiles in the PTX, and numbers the places of its body.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/ptx/cfg.h"
#include "core/recording/phases.h"
#include "core/recording/pipeline.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {
namespace {

using ptx::ControlFlow;

// The kernel without its back edges, every loop as one node (its header), but for those that walk the tiles,
// whose bodies are laid open. Nodes in an order in which every path climbs: depth-first postorder reversed.
struct Unrolled {
    const ControlFlow& flow;
    std::vector<bool> open;       // by loop: laid open
    std::vector<int32_t> folded;  // by loop: the outermost one around it, or itself, that is not, -1 for none
    std::vector<int32_t> order{};

    Unrolled(const ControlFlow& of, const std::vector<int32_t>& open_loops)
        : flow(of), open(of.loops.size(), false), folded(of.loops.size(), -1) {
        for (const int32_t loop : open_loops) open[loop] = true;
        for (size_t loop = 0; loop < folded.size(); ++loop) {
            const int32_t parent = flow.loops[loop].parent;
            const int32_t around = parent < 0 ? -1 : folded[parent];
            folded[loop] = around >= 0 || open[loop] ? around : static_cast<int32_t>(loop);
        }
    }

    int32_t folded_loop(int32_t block) const {
        const int32_t loop = flow.blocks[block].loop;
        return loop < 0 ? -1 : folded[loop];
    }

    int32_t node_of(int32_t block) const {
        const int32_t loop = folded_loop(block);
        return loop < 0 ? block : flow.loops[loop].header;
    }

    bool is_back_edge(int32_t from, int32_t to) const {
        const int32_t loop = flow.blocks[to].loop;
        return loop >= 0 && open[loop] && flow.loops[loop].header == to && flow.holds(loop, from);
    }

    std::vector<int32_t> next_nodes(int32_t node) const {
        std::vector<int32_t> next;
        const auto follow = [&](int32_t from) {
            for (const int32_t to : flow.blocks[from].successors)
                if (to >= 0 && !is_back_edge(from, to) && node_of(to) != node) next.push_back(node_of(to));
        };
        if (const int32_t loop = folded_loop(node); loop >= 0) {
            const auto blocks = flow.blocks_of(loop);
            std::vector<int32_t> in_order(blocks.begin(), blocks.end());
            std::ranges::sort(in_order);
            for (const int32_t block : in_order) follow(block);
        } else {
            follow(node);
        }
        return next;
    }

    // Iterative, so that a long kernel does not exhaust the stack.
    void lay_out() {
        if (flow.blocks.empty()) return;
        std::vector<std::pair<int32_t, std::vector<int32_t>>> path;
        std::vector<bool> seen(flow.blocks.size(), false);
        const auto enter = [&](int32_t node) {
            seen[node] = true;
            path.emplace_back(node, next_nodes(node));
        };
        enter(node_of(0));
        while (!path.empty()) {
            std::vector<int32_t>& rest = path.back().second;
            if (rest.empty()) {
                order.push_back(path.back().first);
                path.pop_back();
                continue;
            }
            // The last successor first: the fall-through then comes first in the reversed order.
            const int32_t next = rest.back();
            rest.pop_back();
            if (!seen[next]) enter(next);
        }
        std::reverse(order.begin(), order.end());
    }
};

// Blocks that can be reached from inside the given loops.
std::vector<bool> reached_from(const ControlFlow& flow, const std::vector<int32_t>& loops) {
    std::vector<bool> reached(flow.blocks.size(), false);
    std::vector<int32_t> open;
    for (const int32_t loop : loops)
        for (const int32_t block : flow.blocks_of(loop)) {
            reached[block] = true;
            open.push_back(block);
        }
    while (!open.empty()) {
        const int32_t block = open.back();
        open.pop_back();
        for (const int32_t next : flow.blocks[block].successors)
            if (next >= 0 && !reached[next]) {
                reached[next] = true;
                open.push_back(next);
            }
    }
    return reached;
}

// The outermost loop around each block, -1 for none.
std::vector<int32_t> outermost_loops(const ControlFlow& flow) {
    std::vector<int32_t> of_loop, of_block;
    for (const ptx::Loop& loop : flow.loops)
        of_loop.push_back(loop.parent < 0 ? static_cast<int32_t>(of_loop.size()) : of_loop[loop.parent]);
    for (const ptx::BasicBlock& block : flow.blocks)
        of_block.push_back(block.loop < 0 ? -1 : of_loop[block.loop]);
    return of_block;
}

// Outermost loops that hold a site for which `wanted` holds.
template <class Wanted>
std::vector<int32_t> outermost_loops_with(const ControlFlow& flow, const std::vector<int32_t>& outermost,
                                          const std::vector<ptx::Site>& sites, Wanted wanted) {
    std::set<int32_t> found;
    for (const ptx::Site& site : sites)
        if (const int32_t loop = outermost[flow.block_of[site.instruction]]; loop >= 0 && wanted(site))
            found.insert(loop);
    return {found.begin(), found.end()};
}

// Whether all threads of the block come to a barrier: not a named one, which part of them may share.
bool is_of_block(const ptx::Instruction& barrier) {
    const size_t first = barrier.destinations;
    if (barrier.operands.size() <= first) return true;
    const ptx::Operand& number = barrier.operands[first];
    const bool counts = barrier.op == ptx::Op::Bar && barrier.operands.size() > first + 1;
    return number.kind == ptx::Operand::Kind::Immediate && number.bits == 0 && !counts;
}

// The array that each site's requests touched, by the recording.
std::vector<uint8_t> array_of_sites(const trace::Trace& trace) {
    std::vector<uint8_t> array(trace.sites.size(), trace::kNoArray);
    for (const trace::Form& form : trace.forms)
        if (array[form.site] == trace::kNoArray) array[form.site] = form.array;
    return array;
}

// What of the source a site is: its copies, made by a compiler that unrolled a loop, share it.
using Source = std::tuple<uint32_t, ptx::SiteKind, Space>;
Source source_of(const ptx::Site& site) { return {site.line, site.kind, site.space}; }

// Sources that open a trip: what fetches a tile, ahead of the trip's first barrier.
std::set<Source> opening_of(const std::vector<const ptx::Site*>& trip) {
    std::set<Source> fetches, any;
    for (const ptx::Site* site : trip) {
        if (site->kind == ptx::SiteKind::Barrier) {
            if (any.empty()) any.insert(source_of(*site));
            break;
        }
        any.insert(source_of(*site));
        if ((site->kind == ptx::SiteKind::Load && site->space == Space::Global) ||
            (site->kind == ptx::SiteKind::Store && site->space == Space::Shared))
            fetches.insert(source_of(*site));
    }
    return fetches.empty() ? any : fetches;
}

// By how much a loop's counters grow in what the PTX has as one trip: the greatest number that divides all of
// these steps, 0 where there is none. `add r, r, 4`, or `add s, r, 4` and `mov r, s`.
uint64_t step_of(const ptx::Kernel& kernel, const ControlFlow& flow, int32_t loop) {
    using Kind = ptx::Operand::Kind;
    std::vector<const ptx::Instruction*> adds;
    std::map<int32_t, std::set<int32_t>> moved;  // register -> those that it is moved to
    for (const int32_t block : flow.blocks_of(loop))
        for (uint32_t i = flow.blocks[block].first; i < flow.blocks[block].last; ++i) {
            const ptx::Instruction& made = kernel.instructions[i];
            if (made.op == ptx::Op::Add && made.operands[2].kind == Kind::Immediate) adds.push_back(&made);
            if (made.op == ptx::Op::Mov && made.operands[1].kind == Kind::Register)
                moved[made.operands[1].reg].insert(made.operands[0].reg);
        }
    uint64_t step = 0;
    for (const ptx::Instruction* add : adds) {
        const int32_t to = add->operands[0].reg, from = add->operands[1].reg;
        if (is_float(add->type) || (to != from && !moved[to].contains(from))) continue;
        const auto grows = static_cast<int64_t>(add->operands[2].bits);
        step = std::gcd(step, static_cast<uint64_t>(std::abs(grows)));
    }
    return step;
}

// How many trips of the source a compiler wrote into one trip of a loop, at most: the sources of its sites then
// come as often, and its counters grow as much faster. 0 where all of its sites lie in inner loops.
uint32_t trips_in_one(const ptx::Kernel& kernel, const ControlFlow& flow, const std::vector<ptx::Site>& sites,
                      const std::vector<uint32_t>& group, int32_t loop) {
    std::map<uint32_t, uint32_t> times;  // by group, outside of inner loops
    std::set<uint32_t> beside;           // groups outside of the loop
    for (const ptx::Site& site : sites) {
        const int32_t block = flow.block_of[site.instruction];
        if (flow.blocks[block].loop == loop) ++times[group[site.id]];
        if (!flow.holds(loop, block)) beside.insert(group[site.id]);
    }
    uint32_t trips = 0;
    bool rest = false;  // odd trips are left over beside the loop
    for (const auto& [number, count] : times) {
        trips = std::gcd(trips, count);
        rest = rest || beside.contains(number);
    }
    if (trips <= 1) return trips;
    const uint64_t step = step_of(kernel, flow, loop);
    if (step == 0) return rest ? trips : 1;
    return static_cast<uint32_t>(std::gcd(uint64_t{trips}, step));
}

// Of loops without barriers: whether the way through the body tells one trip from the next; else, by group, how
// often a trip comes there.
bool trips_are_told(const ptx::Kernel& kernel, const ControlFlow& flow, const std::vector<ptx::Site>& sites,
                    const std::vector<int32_t>& loops, PhaseRule& rule) {
    bool told = true;
    rule.a_trip.assign(rule.groups, 0);
    for (const int32_t loop : loops) {
        const uint32_t trips = trips_in_one(kernel, flow, sites, rule.group, loop);
        told = told && trips == 1;
        std::map<uint32_t, uint32_t> times;
        for (const ptx::Site& site : sites)
            if (flow.holds(loop, flow.block_of[site.instruction])) ++times[rule.group[site.id]];
        for (const auto& [group, count] : times) {
            uint32_t& least = rule.a_trip[group];
            const uint32_t here = std::max(count / std::max(trips, 1u), 1u);
            least = least == 0 ? here : std::min(least, here);
        }
    }
    for (uint32_t& times : rule.a_trip) times = std::max(times, 1u);
    return told;
}

// In the order of the laid-open kernel: a copy begins where a trip's opening comes again behind a barrier.
void number_copies(const std::vector<const ptx::Site*>& order, PhaseRule& rule) {
    const std::set<Source> opening = opening_of(order);
    uint32_t copy = 0;
    bool behind_barrier = false;
    for (const ptx::Site* site : order) {
        if (behind_barrier && opening.contains(source_of(*site))) {
            ++copy;
            behind_barrier = false;
        }
        rule.body[site->id] = copy;
        if (site->kind == ptx::SiteKind::Barrier) behind_barrier = true;
    }
}

// The same without barriers: each loop is a copy, and so is each trip that a compiler wrote beside one, which
// begins where a source that a trip comes to once comes again.
void number_copies(const std::vector<const ptx::Site*>& order, const ControlFlow& flow,
                   const std::vector<int32_t>& outermost, const std::vector<int32_t>& loops,
                   PhaseRule& rule) {
    const auto loop_of = [&](const ptx::Site& site) {
        const int32_t loop = outermost[flow.block_of[site.instruction]];
        return std::ranges::binary_search(loops, loop) ? loop : -1;
    };
    std::map<uint32_t, uint32_t> most, times;  // by group: in one loop; since the copy began
    for (const int32_t loop : loops) {
        std::map<uint32_t, uint32_t> of_loop;
        for (const ptx::Site* site : order)
            if (loop_of(*site) == loop) ++of_loop[rule.group[site->id]];
        for (const auto& [group, count] : of_loop) most[group] = std::max(most[group], count);
    }
    uint32_t copy = 0;
    int32_t last = -1;
    for (const ptx::Site* site : order) {
        const int32_t loop = loop_of(*site);
        const uint32_t group = rule.group[site->id];
        const bool again = loop < 0 && times[group] >= most[group];
        if (site != order.front() && (loop != last || again)) {
            ++copy;
            times.clear();
        }
        ++times[group];
        last = loop;
        rule.body[site->id] = copy;
    }
}

// Ranks and stays of the sites for which `belongs` holds. Returns them in the order of the laid-open kernel.
template <class Belongs>
std::vector<const ptx::Site*> number_places(const ControlFlow& flow, const std::vector<ptx::Site>& sites,
                                            const std::vector<int32_t>& loops, Belongs belongs,
                                            PhaseRule& rule) {
    Unrolled kernel(flow, loops);
    kernel.lay_out();
    std::vector<std::vector<const ptx::Site*>> sites_of_node(flow.blocks.size());
    for (const ptx::Site& site : sites)
        if (belongs(site)) sites_of_node[kernel.node_of(flow.block_of[site.instruction])].push_back(&site);
    std::vector<const ptx::Site*> order;
    int32_t place = 0;
    for (const int32_t node : kernel.order) {
        const bool folded = kernel.folded_loop(node) >= 0;
        for (const ptx::Site* site : sites_of_node[node]) {
            order.push_back(site);
            rule.rank[site->id] = place;
            rule.stays[site->id] = folded;
            if (!folded) ++place;
        }
        if (folded) ++place;
    }
    return order;
}

}  // namespace

Result<PhaseRule> phase_rule(const trace::Trace& trace) {
    const auto module = trace::module_of(trace);
    if (!module) return module.error();
    const ptx::Kernel* const kernel = trace::kernel_of(trace, **module);
    if (!kernel)
        return Error{fmt::format("{} holds no kernel named '{}'; record it again with its own PTX",
                                 trace.meta.ptx_name, trace.launch.entry)};
    std::vector<ptx::Site> sites = ptx::sites_like(*kernel, trace.sites);
    if (!same_sites(sites, trace.sites))
        return Error{fmt::format("the recording's sites are not those of its PTX {}; record it again",
                                 trace.meta.ptx_name)};

    // Exchanges are of the phase that their warp is in.
    const size_t count = sites.size();
    std::erase_if(sites, [](const ptx::Site& site) { return site.kind == ptx::SiteKind::Exchange; });

    const ControlFlow flow = ptx::control_flow(*kernel);
    PhaseRule rule;
    rule.rank.assign(count, -1);
    rule.stays.assign(count, false);
    rule.body.assign(count, 0);
    rule.after.assign(count, false);
    rule.group.assign(count, 0);

    const std::vector<uint8_t> array = array_of_sites(trace);
    std::map<std::tuple<uint32_t, uint8_t, ptx::SiteKind>, uint32_t> numbers;
    for (const ptx::Site& site : sites) {
        const auto key = std::tuple(site.line, array[site.id], site.kind);
        rule.group[site.id] = numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
    }
    rule.groups = static_cast<uint32_t>(numbers.size());

    const auto is_barrier = [](const ptx::Site& s) { return s.kind == ptx::SiteKind::Barrier; };
    const std::vector<int32_t> outermost = outermost_loops(flow);
    std::vector<int32_t> loops = outermost_loops_with(flow, outermost, sites, is_barrier);
    const auto waits_for_block = [&](const ptx::Site& site) {
        return is_barrier(site) && is_of_block(kernel->instructions[site.instruction]);
    };
    rule.by_ring =
        may_have_ring(sites) && outermost_loops_with(flow, outermost, sites, waits_for_block).empty();
    const bool barriers = !loops.empty();
    if (std::none_of(sites.begin(), sites.end(), is_barrier))
        loops = outermost_loops_with(flow, outermost, sites, [](const ptx::Site&) { return true; });
    rule.by_place = barriers || trips_are_told(*kernel, flow, sites, loops, rule);
    if (loops.empty()) {
        rule.by_place = true;
        rule.rank.assign(count, 0);
        rule.stays.assign(count, true);
        return rule;
    }
    const std::vector<bool> reached = reached_from(flow, loops);

    const auto in_loop = [&](const ptx::Site& site) {
        return std::ranges::binary_search(loops, outermost[flow.block_of[site.instruction]]);
    };
    std::vector<bool> looped(rule.groups, false);  // groups that have a site inside a loop
    std::set<Source> copies;                       // and where such sites stand in the source
    for (const ptx::Site& site : sites)
        if (in_loop(site)) {
            looped[rule.group[site.id]] = true;
            copies.insert(source_of(site));
        }
    // Where a loop asks for tiles that later trips use, by cp.async, the same lines ahead of it ask for those
    // of the first trips; they are no trip themselves.
    const bool ahead = std::ranges::any_of(
        sites, [&](const ptx::Site& site) { return site.lands_later() && in_loop(site); });
    const auto is_loops = [&](const ptx::Site& site) {  // lies in a loop, or is a copy of what does
        if (!barriers) return bool{looped[rule.group[site.id]]};
        return ahead ? in_loop(site) : copies.contains(source_of(site));
    };
    if (rule.by_place) {
        const std::vector<const ptx::Site*> order = number_places(flow, sites, loops, is_loops, rule);
        if (barriers)
            number_copies(order, rule);
        else
            number_copies(order, flow, outermost, loops, rule);
    }
    for (const ptx::Site& site : sites) {
        if (!reached[flow.block_of[site.instruction]] || is_loops(site)) continue;
        rule.after[site.id] = true;
        rule.rank[site.id] = -2;
    }
    // An exchange is behind the loop unless it is in it, or is a copy of one that is: of a trip written out beside.
    std::set<Source> in_loops;
    for (const ptx::Site& site : trace.sites)
        if (site.kind == ptx::SiteKind::Exchange && in_loop(site)) in_loops.insert(source_of(site));
    for (const ptx::Site& site : trace.sites)
        if (site.kind == ptx::SiteKind::Exchange)
            rule.after[site.id] = reached[flow.block_of[site.instruction]] && !in_loop(site) &&
                                  (ahead || !in_loops.contains(source_of(site)));
    return rule;
}

}  // namespace tilescope::analysis
