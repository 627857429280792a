// Blocks, dominators and loops, each in time n log n of the text at most, whatever the flow graph.
//
// Both dominator trees come from the same routine over a plain graph: once from the entry along the
// successors, once from a node that stands for the exit along the predecessors.
//
// Loops are found from the inside out. A loop that is found becomes one node, its header, so that no block is
// visited once for every loop around it:
//
//     h1 -> h2 -> b -> h2      h2's loop is {h2, b}: b is merged into h2
//     h2 -> h1                 h1's loop is {h1} and the node h2
//
// Source: Lengauer, Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph", TOPLAS 1 (1979), with
// path compression; natural loops as in Aho, Lam, Sethi, Ullman, "Compilers", section 9.6, with the merging
// of Tarjan, "Testing Flow Graph Reducibility", JCSS 9 (1974).
#include "core/ptx/cfg.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tilescope::ptx {
namespace {

using Graph = std::vector<std::vector<int32_t>>;

// Nodes in the order in which a depth-first search from `root` comes to them, and their numbers in it.
struct Preorder {
    std::vector<int32_t> node, parent;  // by number; parent: a number
    std::vector<int32_t> number;        // by node; -1 where root does not reach it
};

Preorder preorder(const Graph& successors, int32_t root) {
    Preorder order;
    order.number.assign(successors.size(), -1);
    std::vector<std::pair<int32_t, size_t>> path;  // node, its next successor
    const auto enter = [&](int32_t node) {
        order.number[node] = static_cast<int32_t>(order.node.size());
        order.node.push_back(node);
        order.parent.push_back(path.empty() ? 0 : order.number[path.back().first]);
        path.emplace_back(node, 0);
    };
    enter(root);
    while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next == successors[node].size())
            path.pop_back();
        else if (const int32_t successor = successors[node][next++]; order.number[successor] < 0)
            enter(successor);
    }
    return order;
}

// The forest of Lengauer and Tarjan. All numbers are those of a Preorder.
struct Forest {
    std::vector<int32_t> semi, label, ancestor;  // ancestor: -1 for a root
    std::vector<int32_t> path{};

    // The number with the least semidominator on the way up from v, without the root.
    int32_t evaluate(int32_t v) {
        if (ancestor[v] < 0) return v;
        for (int32_t at = v; ancestor[ancestor[at]] >= 0; at = ancestor[at]) path.push_back(at);
        for (; !path.empty(); path.pop_back()) {
            const int32_t at = path.back(), above = ancestor[at];
            if (semi[label[above]] < semi[label[at]]) label[at] = label[above];
            ancestor[at] = ancestor[above];
        }
        return label[v];
    }
};

// The immediate dominator of every node; -1 for those that `root` does not reach; root's is root.
std::vector<int32_t> dominators(const Graph& successors, const Graph& predecessors, int32_t root) {
    const Preorder order = preorder(successors, root);
    const auto count = static_cast<int32_t>(order.node.size());
    Forest forest;
    forest.semi.resize(count);
    std::iota(forest.semi.begin(), forest.semi.end(), 0);
    forest.label = forest.semi;
    forest.ancestor.assign(count, -1);
    std::vector<int32_t> idom(count, 0), waiting(count, -1), next(count, -1);  // lists by semidominator
    for (int32_t w = count - 1; w > 0; --w) {
        for (const int32_t predecessor : predecessors[order.node[w]])
            if (const int32_t v = order.number[predecessor]; v >= 0)
                forest.semi[w] = std::min(forest.semi[w], forest.semi[forest.evaluate(v)]);
        next[w] = std::exchange(waiting[forest.semi[w]], w);
        const int32_t parent = order.parent[w];
        forest.ancestor[w] = parent;
        for (int32_t v = std::exchange(waiting[parent], -1); v >= 0; v = next[v]) {
            const int32_t least = forest.evaluate(v);
            idom[v] = forest.semi[least] < forest.semi[v] ? least : parent;
        }
    }
    std::vector<int32_t> result(successors.size(), -1);
    result[root] = root;
    for (int32_t w = 1; w < count; ++w) {
        if (idom[w] != forest.semi[w]) idom[w] = idom[idom[w]];
        result[order.node[w]] = order.node[idom[w]];
    }
    return result;
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

// Blocks by which threads leave the kernel before its end: a ret alone, what ends in the exit or trap that
// compilers put behind what never returns, and what leads to nothing else. The last one stands for a guarded
// ret.
std::vector<char> leaving_blocks(const Kernel& kernel, const ControlFlow& flow) {
    const size_t count = flow.blocks.size();
    std::vector<char> leaving(count + 1, 0), for_good(count, 0);
    std::vector<size_t> ways(count), found;
    const auto note = [&](size_t block, bool good) {
        leaving[block] = 1, for_good[block] = good;
        found.push_back(block);
    };
    for (size_t i = 0; i < count; ++i) {
        const BasicBlock& block = flow.blocks[i];
        const Instruction& last = kernel.instructions[block.last - 1];
        ways[i] = block.successors.size();
        const bool good = last.op == Op::Exit || last.op == Op::Trap;
        if (last.guard < 0 && (good || (last.op == Op::Ret && block.last == block.first + 1))) note(i, good);
    }
    while (!found.empty()) {
        const size_t block = found.back();
        found.pop_back();
        for (const int32_t before : flow.blocks[block].predecessors) {
            const BasicBlock& one = flow.blocks[before];
            if (leaving[before] || --ways[before] > 0) continue;
            // A ret is where most kernels end: before it, only what is a branch and nothing else leaves.
            const bool good = std::ranges::all_of(
                one.successors, [&](int32_t to) { return to != kExitBlock && for_good[to] != 0; });
            if (good || (one.last == one.first + 1 && kernel.instructions[one.first].op == Op::Bra))
                note(static_cast<size_t>(before), good);
        }
    }
    leaving[count] = 1;
    return leaving;
}

void find_dominators(const Kernel& kernel, ControlFlow& flow) {
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
    // Without the ways of those that leave early, as far as there are others.
    Graph going_on(count + 1), back(count + 1);
    const std::vector<char> leaving = leaving_blocks(kernel, flow);
    for (size_t i = 0; i < count; ++i) {
        const bool all = std::ranges::all_of(forward[i], [&](int32_t to) { return leaving[to] != 0; });
        for (const int32_t to : forward[i]) {
            if (leaving[to] && !all) continue;
            going_on[i].push_back(to);
            back[to].push_back(static_cast<int32_t>(i));
        }
    }
    const auto meeting = dominators(back, going_on, exit);
    const auto dominator = dominators(forward, backward, 0);
    const auto post_dominator = dominators(backward, forward, exit);
    for (size_t i = 0; i < count; ++i) {
        BasicBlock& block = flow.blocks[i];
        block.reachable = dominator[i] >= 0;
        block.dominator = i == 0 ? -1 : dominator[i];
        block.post_dominator =
            post_dominator[i] == exit || post_dominator[i] < 0 ? kExitBlock : post_dominator[i];
        block.reconvergence = meeting[i] < 0       ? block.post_dominator
                              : meeting[i] == exit ? kExitBlock
                                                   : meeting[i];
    }
}

// The dominator tree of the reachable blocks: a block and those that it dominates have a range of numbers.
struct DominatorTree {
    std::vector<int32_t> order;         // parents before children
    std::vector<uint32_t> number, end;  // by block

    bool dominates(int32_t a, int32_t b) const { return number[a] <= number[b] && number[b] < end[a]; }
};

DominatorTree dominator_tree(const ControlFlow& flow) {
    const size_t count = flow.blocks.size();
    DominatorTree tree{{}, std::vector<uint32_t>(count), std::vector<uint32_t>(count)};
    std::vector<std::vector<int32_t>> children(count);
    for (size_t i = 0; i < count; ++i)
        if (const int32_t parent = flow.blocks[i].dominator; parent >= 0)
            children[parent].push_back(static_cast<int32_t>(i));
    std::vector<int32_t> open{0};
    while (!open.empty()) {
        const int32_t block = open.back();
        open.pop_back();
        tree.number[block] = static_cast<uint32_t>(tree.order.size());
        tree.end[block] = tree.number[block] + 1;
        tree.order.push_back(block);
        open.insert(open.end(), children[block].begin(), children[block].end());
    }
    for (size_t i = tree.order.size(); i-- > 1;) {
        uint32_t& end = tree.end[flow.blocks[tree.order[i]].dominator];
        end = std::max(end, tree.end[tree.order[i]]);
    }
    return tree;
}

// A back edge goes to a block that dominates its start. The loop of a header is every block that reaches a
// back edge to it without passing it. Inner loops come first; BasicBlock::loop is the innermost one.
std::vector<Loop> loops_inside_out(ControlFlow& flow) {
    const DominatorTree tree = dominator_tree(flow);
    std::vector<int32_t> merged(flow.blocks.size());  // towards the header of the outermost loop found so far
    std::iota(merged.begin(), merged.end(), 0);
    const auto node_of = [&](int32_t block) {
        while (merged[block] != block) block = merged[block] = merged[merged[block]];
        return block;
    };
    std::vector<Loop> loops;
    std::vector<int32_t> work;
    for (size_t i = tree.order.size(); i-- > 0;) {
        const int32_t header = tree.order[i];
        for (const int32_t from : flow.blocks[header].predecessors)
            if (flow.blocks[from].reachable && tree.dominates(header, from)) work.push_back(from);
        if (work.empty()) continue;
        const auto number = static_cast<int32_t>(loops.size());
        Loop loop;
        loop.header = header;
        flow.blocks[header].loop = number;
        while (!work.empty()) {
            const int32_t node = node_of(work.back());
            work.pop_back();
            if (node == header) continue;
            merged[node] = header;
            if (const int32_t inner = flow.blocks[node].loop; inner >= 0)
                loops[inner].parent = number;
            else
                flow.blocks[node].loop = number;
            for (const int32_t from : flow.blocks[node].predecessors)
                if (flow.blocks[from].reachable) work.push_back(from);
        }
        loops.push_back(loop);
    }
    return loops;
}

// Two natural loops with different headers are nested or disjoint: the larger first. Their blocks lie side by
// side in flow.looped, those of an inner loop within those of the outer one.
void find_loops(ControlFlow& flow) {
    std::vector<Loop> found = loops_inside_out(flow);
    std::vector<uint32_t> size(found.size(), 0);
    for (const BasicBlock& block : flow.blocks)
        if (block.loop >= 0) ++size[block.loop];
    for (size_t i = 0; i < found.size(); ++i)
        if (found[i].parent >= 0) size[found[i].parent] += size[i];
    std::vector<int32_t> order(found.size()), place(found.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return size[a] != size[b] ? size[a] > size[b] : found[a].header < found[b].header;
    });
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int32_t>(i);

    uint32_t outermost = 0;
    std::vector<uint32_t> next(found.size());  // the next free place of each loop
    for (const int32_t number : order) {
        Loop loop = found[number];
        if (loop.parent >= 0) loop.parent = place[loop.parent];
        uint32_t& at = loop.parent < 0 ? outermost : next[loop.parent];
        loop.depth = loop.parent < 0 ? 1 : flow.loops[loop.parent].depth + 1;
        loop.first = at;
        loop.last = at += size[number];
        next[flow.loops.size()] = loop.first;
        flow.loops.push_back(loop);
    }
    flow.looped.resize(outermost);
    for (size_t i = 0; i < flow.blocks.size(); ++i) {
        BasicBlock& block = flow.blocks[i];
        if (block.loop < 0) continue;
        block.loop = place[block.loop];
        block.place = next[block.loop]++;
        flow.looped[block.place] = static_cast<int32_t>(i);
    }
}

}  // namespace

ControlFlow control_flow(const Kernel& kernel) {
    ControlFlow flow;
    if (kernel.instructions.empty()) return flow;
    find_blocks(kernel, flow);
    find_edges(kernel, flow);
    find_dominators(kernel, flow);
    find_loops(flow);
    return flow;
}

}  // namespace tilescope::ptx
