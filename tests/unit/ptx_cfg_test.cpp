// Control flow of shapes that are known, and dominators against the slow, obvious definition on
// random graphs: X dominates B if B cannot be reached once X is taken away.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

ControlFlow control_flow_of(const std::string& body) {
    const auto module = parse(test::kernel_text(body), "cfg.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    return module ? control_flow(module->kernels[0]) : ControlFlow{};
}

using Blocks = std::vector<int32_t>;

Blocks blocks_of(const ControlFlow& flow, int32_t loop) {
    const auto blocks = flow.blocks_of(loop);
    Blocks sorted(blocks.begin(), blocks.end());
    std::ranges::sort(sorted);
    return sorted;
}

TEST(PtxCfg, StraightLine) {
    const auto flow = control_flow_of("mov.u32 %r1, 0; unused: mov.u32 %r2, 0; ret;");
    ASSERT_EQ(flow.blocks.size(), 1u);  // a label that nobody goes to splits nothing
    EXPECT_EQ(flow.blocks[0].last, 3u);
    EXPECT_EQ(flow.blocks[0].successors, Blocks{kExitBlock});
    EXPECT_EQ(flow.blocks[0].post_dominator, kExitBlock);
    EXPECT_EQ(flow.blocks[0].dominator, -1);
    EXPECT_TRUE(flow.loops.empty());
}

TEST(PtxCfg, EmptyBody) {
    EXPECT_TRUE(control_flow_of("").blocks.empty());
    EXPECT_TRUE(control_flow_of("L:").blocks.empty());
}

TEST(PtxCfg, Diamond) {
    const auto flow = control_flow_of(R"(
        @%p1 bra ELSE;
        mov.u32 %r1, 1; bra END;
        ELSE: mov.u32 %r1, 2;
        END: ret;)");
    ASSERT_EQ(flow.blocks.size(), 4u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{1, 2}));  // fall-through first
    EXPECT_EQ(flow.blocks[3].predecessors, (Blocks{1, 2}));
    for (const int b : {0, 1, 2}) EXPECT_EQ(flow.blocks[b].post_dominator, 3);
    for (const int b : {1, 2, 3}) EXPECT_EQ(flow.blocks[b].dominator, 0);
    EXPECT_EQ(flow.block_of, (Blocks{0, 1, 1, 2, 3}));
}

// if (a) { if (b) return; 1; } 2;  and an assertion in the middle: threads that stay meet behind both.
TEST(PtxCfg, ThreadsThatLeaveEarlyHoldNobodyUp) {
    const auto flow = control_flow_of(R"(
        @%p1 bra AFTER;
        @%p2 bra END;
        mov.u32 %r1, 1;
        AFTER: mov.u32 %r2, 2;
        @%p3 bra FAILS;
        mov.u32 %r3, 3;
        END: ret;
        FAILS: mov.u32 %r1, 4;
        exit;)");
    ASSERT_EQ(flow.blocks.size(), 7u);
    EXPECT_EQ(flow.blocks[0].post_dominator, kExitBlock);
    EXPECT_EQ(flow.blocks[0].reconvergence, 3) << "AFTER";
    EXPECT_EQ(flow.blocks[1].reconvergence, 2) << "the next block";
    EXPECT_EQ(flow.blocks[3].reconvergence, 4);
    const auto other = control_flow_of("@%p1 bra A; @%p2 ret; mov.u32 %r1, 1; A: mov.u32 %r2, 2; ret;");
    EXPECT_EQ(other.blocks[0].post_dominator, kExitBlock);
    EXPECT_EQ(other.blocks[0].reconvergence, 3) << "a guarded ret leaves early too";
    const auto far = control_flow_of(R"(
        @%p1 bra AFTER;
        @%p2 bra AFTER;
        bra NEVER;
        AFTER: mov.u32 %r2, 2;
        ret;
        NEVER: mov.u32 %r1, 4;
        trap;
        exit;)");
    EXPECT_EQ(far.blocks[0].reconvergence, 3) << "a block that leads only to the trap";
    const auto endless = control_flow_of("A: @%p1 bra B; mov.u32 %r1, 1; bra A; B: @%p2 ret; bra A;");
    EXPECT_EQ(endless.blocks[0].reconvergence, endless.blocks[0].post_dominator)
        << "there is no other way out";
}

TEST(PtxCfg, GuardedRetMayFallThrough) {
    const auto flow = control_flow_of("@%p1 ret; mov.u32 %r1, 1; ret;");
    ASSERT_EQ(flow.blocks.size(), 2u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{1, kExitBlock}));
    EXPECT_EQ(flow.blocks[0].post_dominator, kExitBlock);
}

TEST(PtxCfg, FallsOffTheEnd) {
    const auto flow = control_flow_of("@%p1 bra END; mov.u32 %r1, 1; END:");
    ASSERT_EQ(flow.blocks.size(), 2u);
    EXPECT_EQ(flow.blocks[0].successors, (Blocks{1, kExitBlock}));
    EXPECT_EQ(flow.blocks[1].successors, Blocks{kExitBlock});
}

TEST(PtxCfg, BranchToTheNextInstructionIsOneEdge) {
    const auto flow = control_flow_of("@%p1 bra L; L: ret;");
    ASSERT_EQ(flow.blocks.size(), 2u);
    EXPECT_EQ(flow.blocks[0].successors, Blocks{1});
    EXPECT_EQ(flow.blocks[1].predecessors, Blocks{0});
}

TEST(PtxCfg, NestedLoops) {
    const auto flow = control_flow_of(R"(
        mov.u32 %r1, 0;
        OUTER: mov.u32 %r2, 0;
        INNER: add.u32 %r2, %r2, 1; @%p1 bra INNER;
        add.u32 %r1, %r1, 1; @%p2 bra OUTER;
        SELF: @%p3 bra SELF;
        ret;)");
    ASSERT_EQ(flow.blocks.size(), 6u);
    ASSERT_EQ(flow.loops.size(), 3u);
    EXPECT_EQ(flow.loops[0].header, 1);
    EXPECT_EQ(blocks_of(flow, 0), (Blocks{1, 2, 3}));
    EXPECT_EQ(flow.loops[0].parent, -1);
    EXPECT_EQ(flow.loops[0].depth, 1u);
    EXPECT_EQ(flow.loops[1].header, 2);
    EXPECT_EQ(blocks_of(flow, 1), Blocks{2});
    EXPECT_EQ(flow.loops[1].parent, 0);
    EXPECT_EQ(flow.loops[1].depth, 2u);
    EXPECT_EQ(flow.loops[2].header, 4);
    EXPECT_EQ(flow.loops[2].parent, -1);
    EXPECT_EQ(flow.blocks[2].loop, 1);
    EXPECT_EQ(flow.blocks[3].loop, 0);
    EXPECT_EQ(flow.blocks[0].loop, -1);
    EXPECT_EQ(flow.blocks[2].post_dominator, 3);
}

TEST(PtxCfg, TwoBackEdgesMakeOneLoop) {
    const auto flow = control_flow_of("H: mov.u32 %r1, 0; @%p1 bra H; @%p2 bra H; ret;");
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(blocks_of(flow, 0), (Blocks{0, 1}));
}

TEST(PtxCfg, TwoEntriesMakeNoNaturalLoop) {
    const auto flow = control_flow_of(R"(
        @%p1 bra B;
        A: mov.u32 %r1, 0;
        B: @%p2 bra A;
        ret;)");
    EXPECT_TRUE(flow.loops.empty());
    EXPECT_EQ(flow.blocks[0].post_dominator, 2);
    EXPECT_EQ(flow.blocks[2].dominator, 0);
}

TEST(PtxCfg, UnreachableAndEndless) {
    const auto flow = control_flow_of("bra L; mov.u32 %r1, 0; bra M; L: bra L; M: ret;");
    ASSERT_EQ(flow.blocks.size(), 4u);
    EXPECT_FALSE(flow.blocks[1].reachable);
    EXPECT_EQ(flow.blocks[1].dominator, -1);
    EXPECT_FALSE(flow.blocks[3].reachable);
    EXPECT_TRUE(flow.blocks[2].reachable);
    EXPECT_EQ(flow.blocks[2].post_dominator, kExitBlock);  // no way out at all
    ASSERT_EQ(flow.loops.size(), 1u);
    EXPECT_EQ(blocks_of(flow, 0), Blocks{2});
}

// The slow twin.
constexpr int32_t kNone = -2;

// Edges between blocks; kExitBlock has an entry of its own, the last.
using Edges = std::vector<Blocks>;

size_t entry_of(const Edges& edges, int32_t block) {
    return block == kExitBlock ? edges.size() - 1 : static_cast<size_t>(block);
}

// Which blocks, the last entry being kExitBlock, are reached along `edges` from `from` without entering
// `without`.
std::vector<bool> reach(const Edges& edges, int32_t from, int32_t without) {
    std::vector<bool> seen(edges.size());
    Blocks work{from};
    while (!work.empty()) {
        const int32_t b = work.back();
        work.pop_back();
        if (b == without || seen[entry_of(edges, b)]) continue;
        seen[entry_of(edges, b)] = true;
        for (const int32_t to : edges[entry_of(edges, b)]) work.push_back(to);
    }
    return seen;
}

void check_against_twin(const ControlFlow& flow) {
    const auto count = static_cast<int32_t>(flow.blocks.size());
    Edges forward(count + 1), backward(count + 1);
    for (int32_t b = 0; b < count; ++b) {
        forward[b] = flow.blocks[b].successors;
        for (const int32_t to : forward[b]) backward[entry_of(backward, to)].push_back(b);
    }
    const auto all = reach(forward, 0, kNone);
    std::vector<std::vector<bool>> without(count);  // from the entry
    for (int32_t x = 0; x < count; ++x) without[x] = reach(forward, 0, x);
    const auto dominates = [&](int32_t x, int32_t b) { return x == b || (all[b] && !without[x][b]); };
    const auto out = reach(backward, kExitBlock, kNone);
    std::vector<std::vector<bool>> out_without(count);  // who leaves without passing the block
    for (int32_t x = 0; x < count; ++x) out_without[x] = reach(backward, kExitBlock, x);

    for (int32_t b = 0; b < count; ++b) {
        const BasicBlock& block = flow.blocks[b];
        ASSERT_EQ(block.reachable, all[b]) << b;
        // The immediate dominator is the strict dominator that all other strict ones dominate.
        int32_t dominator = -1;
        for (int32_t x = 0; x < count && block.reachable; ++x)
            if (x != b && dominates(x, b) && (dominator < 0 || dominates(dominator, x))) dominator = x;
        ASSERT_EQ(block.dominator, dominator) << b;

        // x post-dominates b if b leaves, and not without x. The immediate one is the first on the way.
        std::vector<int32_t> after;
        for (int32_t x = 0; x < count && out[b]; ++x)
            if (x != b && !out_without[x][b]) after.push_back(x);
        int32_t post = kExitBlock;
        for (const int32_t x : after) {
            bool first = true;
            for (const int32_t y : after) first = first && (x == y || !out_without[y][x]);
            if (first) post = x;
        }
        ASSERT_EQ(block.post_dominator, post) << b;
    }

    // Loops: every edge to a dominator, and only those, makes its target a header; the loop holds
    // what reaches that edge within the header's dominion.
    std::set<int32_t> headers;
    for (int32_t b = 0; b < count; ++b) {
        for (const int32_t to : flow.blocks[b].successors)
            if (to >= 0 && all[b] && dominates(to, b)) headers.insert(to);
    }
    ASSERT_EQ(flow.loops.size(), headers.size());
    for (size_t i = 0; i < flow.loops.size(); ++i) {
        const Loop& loop = flow.loops[i];
        ASSERT_TRUE(headers.count(loop.header));
        ASSERT_LT(loop.parent, static_cast<int32_t>(i));
        std::vector<bool> inside(count + 1);
        for (const int32_t latch : flow.blocks[loop.header].predecessors) {
            if (!all[latch] || !dominates(loop.header, latch)) continue;
            const auto before = reach(backward, latch, loop.header);
            for (int32_t b = 0; b < count; ++b) inside[b] = inside[b] || before[b];
        }
        Blocks expected;
        for (int32_t b = 0; b < count; ++b)
            if (b == loop.header || (inside[b] && all[b] && dominates(loop.header, b))) expected.push_back(b);
        ASSERT_EQ(blocks_of(flow, static_cast<int32_t>(i)), expected);
        for (int32_t b = 0; b < count; ++b)
            ASSERT_EQ(flow.holds(static_cast<int32_t>(i), b), std::ranges::binary_search(expected, b));
        for (const int32_t b : expected) {
            const Loop* inner = &flow.loops[flow.blocks[b].loop];
            while (inner != &loop && inner->parent >= 0) inner = &flow.loops[inner->parent];
            ASSERT_EQ(inner, &loop);
        }
    }
}

TEST(PtxCfg, AgreesWithTheTwinOnRandomGraphs) {
    std::mt19937 random(7);
    size_t loops = 0, unreachable = 0;
    for (int graph = 0; graph < 300; ++graph) {
        const auto count = 1 + random() % 14;
        std::string body;
        for (size_t b = 0; b < count; ++b) {
            body += "L" + std::to_string(b) + ": mov.u32 %r1, 0;\n";
            const std::string to = "L" + std::to_string(random() % count) + ";\n";
            switch (random() % 8) {
                case 0: body += "bra " + to; break;
                case 1: body += "@%p1 ret;\n"; break;
                case 2: body += random() % 2 ? "ret;\n" : "exit;\n"; break;
                case 3: break;
                default: body += "@!%p1 bra " + to;
            }
        }
        const auto flow = control_flow_of(body);
        check_against_twin(flow);
        if (HasFatalFailure()) {
            ADD_FAILURE() << body;
            return;
        }
        loops += flow.loops.size();
        for (const auto& block : flow.blocks) unreachable += !block.reachable;
    }
    EXPECT_GT(loops, 100u);  // the graphs are not trivial
    EXPECT_GT(unreachable, 100u);
}

TEST(PtxCfg, AgreesWithTheTwinOnRealKernels) {
    for (const auto& file : test::ptx_files()) {
        SCOPED_TRACE(file.filename());
        const auto module = parse(file_text(file), "t");
        ASSERT_TRUE(module);
        const auto flow = control_flow(module->kernels[0]);
        check_against_twin(flow);
        EXPECT_TRUE(!flow.loops.empty() || file.filename() == "wide.ptx");
        for (const auto& block : flow.blocks) EXPECT_TRUE(block.reachable);
    }
}

}  // namespace
}  // namespace tilescope::ptx
