// Finds the loop that walks the tiles in the PTX, and numbers the places of its body.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/analysis/phases.h"
#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"

namespace tilescope::analysis {
namespace {

using ptx::ControlFlow;

bool holds(const ptx::Loop& loop, int32_t block) {
    return std::binary_search(loop.blocks.begin(), loop.blocks.end(), block);
}

// The child of `loop` that a block of it lies in, -1 for one that lies in `loop` itself.
int32_t child_of(const ControlFlow& flow, int32_t loop, int32_t block) {
    int32_t inner = flow.blocks[block].loop;
    if (inner == loop) return -1;
    while (inner >= 0 && flow.loops[inner].parent != loop) inner = flow.loops[inner].parent;
    return inner;
}

// The body of a loop with each loop inside it drawn as one node (its header), in an order in which
// every path climbs: depth-first postorder reversed, the way back to the top left out.
struct Body {
    const ControlFlow& flow;
    int32_t loop;
    std::vector<int32_t> order;  // nodes, last first
    std::vector<bool> seen;

    int32_t node_of(int32_t block) const {
        const int32_t child = child_of(flow, loop, block);
        return child < 0 ? block : flow.loops[child].header;
    }

    std::vector<int32_t> next_nodes(int32_t node) const {
        std::vector<int32_t> next;
        const auto follow = [&](int32_t from) {
            for (const int32_t to : flow.blocks[from].successors)
                if (to >= 0 && to != flow.loops[loop].header && holds(flow.loops[loop], to) &&
                    node_of(to) != node)
                    next.push_back(node_of(to));
        };
        if (const int32_t child = child_of(flow, loop, node); child >= 0)
            for (const int32_t b : flow.loops[child].blocks) follow(b);
        else
            follow(node);
        return next;
    }

    // Iterative, so that a long kernel does not exhaust the stack.
    void visit(int32_t start) {
        std::vector<std::pair<int32_t, std::vector<int32_t>>> path;
        seen.assign(flow.blocks.size(), false);
        seen[start] = true;
        path.emplace_back(start, next_nodes(start));
        while (!path.empty()) {
            auto& [node, rest] = path.back();
            if (rest.empty()) {
                order.push_back(node);
                path.pop_back();
                continue;
            }
            // The last successor first: the fall-through then comes first in the reversed order.
            const int32_t next = rest.back();
            rest.pop_back();
            if (seen[next]) continue;
            seen[next] = true;
            path.emplace_back(next, next_nodes(next));
        }
    }
};

// Blocks that can be reached from inside the given loops.
std::vector<bool> reached_from(const ControlFlow& flow, const std::vector<int32_t>& loops) {
    std::vector<bool> reached(flow.blocks.size(), false);
    std::vector<int32_t> open;
    for (const int32_t loop : loops)
        for (const int32_t block : flow.loops[loop].blocks) {
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

// Outermost loops that hold a site for which `wanted` holds.
template <class Wanted>
std::vector<int32_t> outermost_loops_with(const ControlFlow& flow, const std::vector<ptx::Site>& sites,
                                          Wanted wanted) {
    std::vector<int32_t> found;
    for (int32_t i = 0; i < static_cast<int32_t>(flow.loops.size()); ++i) {
        if (flow.loops[i].parent >= 0) continue;
        const bool here = std::any_of(sites.begin(), sites.end(), [&](const ptx::Site& site) {
            return wanted(site) && holds(flow.loops[i], flow.block_of[site.instruction]);
        });
        if (here) found.push_back(i);
    }
    return found;
}

// The array that each site's requests touched, by the recording.
std::vector<uint8_t> array_of_sites(const trace::Trace& trace) {
    std::vector<uint8_t> array(trace.sites.size(), trace::kNoArray);
    for (const trace::Form& form : trace.forms)
        if (array[form.site] == trace::kNoArray) array[form.site] = form.array;
    return array;
}

}  // namespace

Result<PhaseRule> phase_rule(const trace::Trace& trace) {
    auto module = ptx::parse(trace.meta.ptx, trace.meta.ptx_name);
    if (!module) return module.error();
    const ptx::Kernel* kernel = ptx::find_kernel(*module, trace.meta.kernel);
    if (!kernel && module->kernels.size() == 1) kernel = &module->kernels.front();
    if (!kernel)
        return Error{fmt::format("{} holds no kernel named '{}'; record it again with its own PTX",
                                 trace.meta.ptx_name, trace.meta.kernel)};
    const std::vector<ptx::Site> sites = ptx::sites_of(*kernel);
    const auto same = [](const ptx::Site& a, const ptx::Site& b) {
        return a.instruction == b.instruction && a.kind == b.kind;
    };
    if (!std::equal(sites.begin(), sites.end(), trace.sites.begin(), trace.sites.end(), same))
        return Error{fmt::format("the recording's sites are not those of its PTX {}; record it again",
                                 trace.meta.ptx_name)};

    const ControlFlow flow = ptx::control_flow(*kernel);
    const size_t count = sites.size();
    PhaseRule rule;
    rule.rank.assign(count, -1);
    rule.stays.assign(count, false);
    rule.after.assign(count, false);

    const std::vector<uint8_t> array = array_of_sites(trace);
    std::map<std::tuple<uint32_t, uint8_t, ptx::SiteKind>, uint32_t> numbers;
    for (const ptx::Site& site : sites) {
        const auto key = std::tuple(site.line, array[site.id], site.kind);
        rule.group.push_back(numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second);
    }
    rule.groups = static_cast<uint32_t>(numbers.size());

    const auto is_barrier = [](const ptx::Site& s) { return s.kind == ptx::SiteKind::Barrier; };
    std::vector<int32_t> loops = outermost_loops_with(flow, sites, is_barrier);
    rule.by_barrier = !loops.empty();
    if (!rule.by_barrier)
        loops = outermost_loops_with(flow, sites, [&](const ptx::Site& s) { return !is_barrier(s); });
    const std::vector<bool> reached = reached_from(flow, loops);

    std::vector<bool> looped(rule.groups, false);  // groups that have a site inside a loop
    for (const int32_t loop : loops)
        for (const ptx::Site& site : sites)
            if (holds(flow.loops[loop], flow.block_of[site.instruction])) looped[rule.group[site.id]] = true;

    int32_t place = 0;
    std::vector<bool> inside(count, false);
    for (const int32_t loop : loops) {
        Body body{flow, loop, {}, {}};
        body.visit(flow.loops[loop].header);
        for (auto node = body.order.rbegin(); node != body.order.rend(); ++node) {
            const bool inner = child_of(flow, loop, *node) >= 0;
            for (const ptx::Site& site : sites) {
                const int32_t block = flow.block_of[site.instruction];
                if (!holds(flow.loops[loop], block) || body.node_of(block) != *node) continue;
                inside[site.id] = true;
                rule.rank[site.id] = place;
                rule.stays[site.id] = inner;
                if (!inner) ++place;
            }
            if (inner) ++place;
        }
    }
    for (const ptx::Site& site : sites) {
        if (inside[site.id] || !reached[flow.block_of[site.instruction]]) continue;
        // A loop's rest, written out behind it by the compiler, still belongs to its trips.
        if (!rule.by_barrier && looped[rule.group[site.id]]) continue;
        rule.after[site.id] = true;
        rule.rank[site.id] = -2;
    }
    return rule;
}

}  // namespace tilescope::analysis
