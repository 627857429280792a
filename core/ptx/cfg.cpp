// Blocks, dominators and loops.
//
// Both dominator trees come from the same routine over a plain graph: once from the entry along the
// successors, once from a node that stands for the exit along the predecessors.
//
// Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001); natural loops as in
// Aho, Lam, Sethi, Ullman, "Compilers", section 9.6.
#include "core/ptx/cfg.h"

#include <algorithm>
#include <utility>

namespace tilescope::ptx {
namespace {

using Graph = std::vector<std::vector<int32_t>>;

// Nodes that `root` reaches, in postorder.
std::vector<int32_t> postorder(const Graph& successors, int32_t root) {
    std::vector<int32_t> order;
    std::vector<char> seen(successors.size(), 0);
    std::vector<std::pair<int32_t, size_t>> path{{root, 0}};
    seen[root] = 1;
    while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next == successors[node].size()) {
            order.push_back(node);
            path.pop_back();
            continue;
        }
        const int32_t successor = successors[node][next++];
        if (!seen[successor]) {
            seen[successor] = 1;
            path.emplace_back(successor, 0);
        }
    }
    return order;
}

// The immediate dominator of every node; -1 for those that `root` does not reach; root's is root.
std::vector<int32_t> dominators(const Graph& successors, const Graph& predecessors, int32_t root) {
    const std::vector<int32_t> order = postorder(successors, root);
    std::vector<int32_t> number(successors.size(), -1);
    for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<int32_t>(i);

    std::vector<int32_t> idom(successors.size(), -1);
    idom[root] = root;
    const auto meet = [&](int32_t a, int32_t b) {
        while (a != b) {
            while (number[a] < number[b]) a = idom[a];
            while (number[b] < number[a]) b = idom[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = order.size(); i-- > 0;) {
            const int32_t node = order[i];
            if (node == root) continue;
            int32_t best = -1;
            for (const int32_t predecessor : predecessors[node]) {
                if (idom[predecessor] < 0) continue;  // not reached, or not yet
                best = best < 0 ? predecessor : meet(best, predecessor);
            }
            if (idom[node] != best) idom[node] = best, changed = true;
        }
    }
    return idom;
}

bool ends_block(const Instruction& instruction) {
    return instruction.op == Op::Bra || instruction.op == Op::Ret || instruction.op == Op::Exit ||
           instruction.op == Op::Trap;
}

int32_t target_of(const Kernel& kernel, const Instruction& branch) {
    return kernel.labels[branch.operands[0].label].instruction;
}

// A block starts at the first instruction, at a label that a branch goes to, and after a branch,
// ret, exit or trap. Labels that only debug information names start none.
void find_blocks(const Kernel& kernel, ControlFlow& flow) {
    const size_t count = kernel.instructions.size();
    std::vector<char> leader(count + 1, 0);
    leader[0] = 1;
    for (size_t i = 0; i < count; ++i) {
        const Instruction& instruction = kernel.instructions[i];
        if (!ends_block(instruction)) continue;
        leader[i + 1] = 1;
        if (instruction.op == Op::Bra) leader[target_of(kernel, instruction)] = 1;
    }
    flow.block_of.resize(count);
    for (size_t i = 0; i < count; ++i) {
        if (leader[i]) {
            BasicBlock block;
            block.first = static_cast<uint32_t>(i);
            flow.blocks.push_back(std::move(block));
        }
        flow.blocks.back().last = static_cast<uint32_t>(i + 1);
        flow.block_of[i] = static_cast<int32_t>(flow.blocks.size() - 1);
    }
}

void find_edges(const Kernel& kernel, ControlFlow& flow) {
    const auto block_at = [&](size_t instruction) {
        return instruction < flow.block_of.size() ? flow.block_of[instruction] : kExitBlock;
    };
    for (size_t i = 0; i < flow.blocks.size(); ++i) {
        BasicBlock& block = flow.blocks[i];
        const Instruction& last = kernel.instructions[block.last - 1];
        const auto add = [&](int32_t to) {
            if (std::find(block.successors.begin(), block.successors.end(), to) == block.successors.end())
                block.successors.push_back(to);
        };
        if (!ends_block(last) || last.guard >= 0) add(block_at(block.last));
        if (ends_block(last)) add(last.op == Op::Bra ? block_at(target_of(kernel, last)) : kExitBlock);
        for (const int32_t to : block.successors)
            if (to != kExitBlock) flow.blocks[to].predecessors.push_back(static_cast<int32_t>(i));
    }
}

void find_dominators(ControlFlow& flow) {
    const size_t count = flow.blocks.size();
    const auto exit = static_cast<int32_t>(count);
    Graph forward(count + 1), backward(count + 1);
    for (size_t i = 0; i < count; ++i) {
        for (const int32_t to : flow.blocks[i].successors) {
            const int32_t node = to == kExitBlock ? exit : to;
            forward[i].push_back(node);
            backward[node].push_back(static_cast<int32_t>(i));
        }
    }
    const auto dominator = dominators(forward, backward, 0);
    const auto post_dominator = dominators(backward, forward, exit);
    for (size_t i = 0; i < count; ++i) {
        BasicBlock& block = flow.blocks[i];
        block.reachable = dominator[i] >= 0;
        block.dominator = i == 0 ? -1 : dominator[i];
        block.post_dominator =
            post_dominator[i] == exit || post_dominator[i] < 0 ? kExitBlock : post_dominator[i];
    }
}

bool dominates(const ControlFlow& flow, int32_t a, int32_t b) {
    while (b != a && b > -1) b = flow.blocks[b].dominator;
    return b == a;
}

// A back edge goes to a block that dominates its start. The loop of a header is every block that
// reaches a back edge to it without passing it.
void find_loops(ControlFlow& flow) {
    std::vector<Loop> loops;
    for (size_t header = 0; header < flow.blocks.size(); ++header) {
        Loop loop;
        loop.header = static_cast<int32_t>(header);
        std::vector<int32_t> work;
        for (const int32_t from : flow.blocks[header].predecessors)
            if (flow.blocks[from].reachable && dominates(flow, loop.header, from)) work.push_back(from);
        if (work.empty()) continue;
        std::vector<char> inside(flow.blocks.size(), 0);
        inside[header] = 1;
        while (!work.empty()) {
            const int32_t block = work.back();
            work.pop_back();
            if (inside[block]) continue;
            inside[block] = 1;
            for (const int32_t from : flow.blocks[block].predecessors)
                if (flow.blocks[from].reachable) work.push_back(from);
        }
        for (size_t i = 0; i < inside.size(); ++i)
            if (inside[i]) loop.blocks.push_back(static_cast<int32_t>(i));
        loops.push_back(std::move(loop));
    }
    // Two natural loops with different headers are nested or disjoint: the larger first.
    std::stable_sort(loops.begin(), loops.end(),
                     [](const Loop& a, const Loop& b) { return a.blocks.size() > b.blocks.size(); });
    for (size_t i = 0; i < loops.size(); ++i) {
        Loop& loop = loops[i];
        loop.parent = flow.blocks[loop.header].loop;
        loop.depth = loop.parent < 0 ? 1 : loops[loop.parent].depth + 1;
        for (const int32_t block : loop.blocks) flow.blocks[block].loop = static_cast<int32_t>(i);
    }
    flow.loops = std::move(loops);
}

}  // namespace

ControlFlow control_flow(const Kernel& kernel) {
    ControlFlow flow;
    if (kernel.instructions.empty()) return flow;
    find_blocks(kernel, flow);
    find_edges(kernel, flow);
    find_dominators(flow);
    find_loops(flow);
    return flow;
}

}  // namespace tilescope::ptx
