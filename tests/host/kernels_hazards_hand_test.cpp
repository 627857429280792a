// Kernels written by hand, each with a fault that real course material has; expected: closed forms.
#include <algorithm>

#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "tests/host/hand_kernel.h"
#include "tests/host/hazards_of.h"
#include "tests/launches.h"
#include "tests/opened.h"

namespace tilescope::kernels {
namespace {

using analysis::Hazard;
using analysis::HazardKind;
using analysis::Hazards;

// A kernel of pointers to in and out with shared memory `tile` (128 words); %t: the thread's number in its
// block, %i, %o, %s: its element of each. Lines are those of the .loc directives.
Plan hand(const std::string& body, Dim3 grid, Dim3 block) {
    Plan plan;
    plan.launch = test_launch({test_array("in", Space::Global, ArrayRole::Input, 1, 128, 0x7F00'0000'0000),
                               test_array("out", Space::Global, ArrayRole::Output, 1, 128, 0x7F00'0001'0000),
                               test_array("tile", Space::Shared, ArrayRole::Shared, 1, 128, 0)},
                              grid, block);
    plan.ptx_name = "hand.ptx";
    plan.ptx = hand_kernel(R"(
    .reg .b32 %s; .reg .f32 %f<4>;
    .loc 1 1 0
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r0, %tid.y;
    mad.lo.u32 %t, %r0, %r1, %r2;
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mul.wide.u32 %d0, %t, 4;
    add.s64 %i, %i, %d0;
    add.s64 %o, %o, %d0;
    shl.b32 %s, %t, 2;
    mov.u32 %r3, tile;
    add.u32 %s, %s, %r3;
)" + body + "\n    ret;") +
               ".file 1 \"hand.cu\"\n";
    return plan;
}

trace::Trace recorded_by_hand(const Plan& plan) {
    RecordOptions options;
    options.timestamp = false;
    auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? std::move(*trace) : trace::Trace{};
}

TEST(HandHazards, ABarrierInsideTheInnerLoopIsRedundantAllButOncePerPhase) {
    // Three phases of: store (10), barrier (11), four times { load (13), barrier (14) }.
    const trace::Trace trace = recorded_by_hand(hand(R"(
    mov.u32 %r4, 0;
$phase:
    .loc 1 10 0
    st.shared.u32 [%s], %r4;
    .loc 1 11 0
    bar.sync 0;
    mov.u32 %r5, 0;
$inner:
    add.u32 %r6, %t, %r5;
    add.u32 %r6, %r6, 1;
    and.b32 %r6, %r6, 63;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r6, %r3;
    .loc 1 13 0
    ld.shared.u32 %r7, [%r6];
    .loc 1 14 0
    bar.sync 0;
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p0, %r5, 4;
    @%p0 bra $inner;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 3;
    @%p1 bra $phase;
    .loc 1 16 0
    st.global.u32 [%o], %r7;)",
                                                     {1, 1, 1}, {32, 2, 1}));
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, HazardKind::RedundantBarrier);
    EXPECT_EQ(found[0].line, 14u);
    EXPECT_EQ(found[0].count, 3u * (4 - 1));  // T - 1 of T a phase
    EXPECT_EQ(found[0].of, 3u * 4 - 1);       // but the last
    EXPECT_EQ(found[0].blocks, 1u);
    ASSERT_FALSE(found[0].examples.empty());
    EXPECT_EQ(found[0].examples[0].interval, 1u);
    EXPECT_EQ(found[0].examples[0].a.thread, 0u);
}

TEST(HandHazards, ABarrierLeftOutForABlockOfOneWarpIsARaceInOneWarp) {
    const trace::Trace trace = recorded_by_hand(hand(R"(
    .loc 1 10 0
    st.shared.u32 [%s], %t;
    xor.b32 %r4, %t, 1;
    shl.b32 %r4, %r4, 2;
    add.u32 %r4, %r4, %r3;
    .loc 1 11 0
    ld.shared.u32 %r5, [%r4];
    .loc 1 12 0
    st.global.u32 [%o], %r5;)",
                                                     {1, 1, 1}, {8, 4, 1}));
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    const Hazard& h = found[0];
    EXPECT_EQ(h.kind, HazardKind::Race);
    EXPECT_TRUE(h.same_warp);
    EXPECT_EQ(std::tuple(h.line, h.other_line, h.other_stores), std::tuple(10u, 11u, false));
    EXPECT_EQ(trace.launch.arrays[h.array].name, "tile");
    EXPECT_EQ(h.count, 32u);
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    const auto cells = analysis::faulty_cells(trace, *rule, 0).cells;
    ASSERT_EQ(cells.size(), 32u);
    for (uint64_t cell = 0; cell < 32; ++cell) {
        EXPECT_EQ(cells[cell].element, cell);
        EXPECT_EQ(cells[cell].example.a.thread, cell);
        EXPECT_EQ(cells[cell].example.b.thread, cell ^ 1);
        EXPECT_EQ(cells[cell].first_step, 0u);
        EXPECT_EQ(cells[cell].last_step, 1u);
    }
    EXPECT_EQ(h.sentence,
              "thread[0,0] of warp 0 stores to tile[0,0] at line 10 in phase 0 before thread[0,1] of warp 0 "
              "reads it at line 11 in phase 0, which no barrier ensures");
}

TEST(HandHazards, ABarrierThatHalfTheWarpsPassByIsToldWithEveryThread) {
    const trace::Trace trace = recorded_by_hand(hand(R"(
    setp.ge.u32 %p0, %t, 64;
    @%p0 bra $behind;
    .loc 1 10 0
    bar.sync 0;
$behind:
    .loc 1 12 0
    st.global.u32 [%o], %t;)",
                                                     {2, 1, 1}, {32, 4, 1}));
    EXPECT_TRUE(trace.meta.complete);
    const auto found = hazards_of(trace).found;
    const auto divergence = std::find_if(
        found.begin(), found.end(), [](const Hazard& h) { return h.kind == HazardKind::BarrierDivergence; });
    ASSERT_NE(divergence, found.end());
    EXPECT_EQ(divergence->line, 10u);
    EXPECT_EQ(divergence->count, 2u * 64);
    EXPECT_EQ(divergence->threads, 64u);
    EXPECT_EQ(divergence->blocks, 2u);
    ASSERT_FALSE(divergence->examples.empty());
    EXPECT_EQ(divergence->examples[0].a.thread, 0u);
    EXPECT_EQ(divergence->examples[0].b.thread, 64u);
    EXPECT_EQ(trace.sites[divergence->examples[0].b.site].line, 12u);
}

TEST(HandHazards, ABarrierThatHalfAWarpWaitsAtEndsTheRecordingAndIsTold) {
    const trace::Trace trace = recorded_by_hand(hand(R"(
    .loc 1 9 0
    st.shared.u32 [%s], %t;
    and.b32 %r4, %t, 1;
    setp.eq.u32 %p0, %r4, 0;
    @%p0 bra $other;
    .loc 1 10 0
    bar.sync 0;
    bra $end;
$other:
    .loc 1 12 0
    bar.sync 0;
$end:
    .loc 1 14 0
    st.global.u32 [%o], %t;)",
                                                     {1, 1, 1}, {32, 1, 1}));
    EXPECT_FALSE(trace.meta.complete);
    ASSERT_TRUE(trace.meta.barrier_fault.is) << trace.meta.incomplete_reason;
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, HazardKind::BarrierDivergence);
    EXPECT_TRUE(found[0].line == 10 || found[0].line == 12) << found[0].line;
    EXPECT_EQ(found[0].sentence, trace.meta.incomplete_reason);
    ASSERT_EQ(found[0].examples.size(), 1u);
    EXPECT_EQ(found[0].examples[0].a.thread % 2, found[0].line == 10 ? 1u : 0u);
}

TEST(HandHazards, TwoBlocksThatStoreOneElementRace) {
    const trace::Trace trace = recorded_by_hand(hand(R"(
    .loc 1 10 0
    ld.global.u32 %r4, [%i];
    .loc 1 11 0
    st.global.u32 [%o], %r4;)",
                                                     {2, 1, 1}, {16, 4, 1}));
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    const Hazard& h = found[0];
    EXPECT_EQ(h.kind, HazardKind::GridRace);
    EXPECT_EQ(std::tuple(h.line, h.other_line, h.other_stores), std::tuple(11u, 11u, true));
    EXPECT_EQ(trace.launch.arrays[h.array].name, "out");
    EXPECT_EQ(h.count, 64u);
    ASSERT_EQ(h.examples.size(), 4u);
    for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(h.examples[i].element, i);
        EXPECT_EQ(h.examples[i].a.block, 0u);
        EXPECT_EQ(h.examples[i].b.block, 1u);
        EXPECT_EQ(h.examples[i].a.thread, i);
        EXPECT_EQ(h.examples[i].b.thread, i);
    }
    EXPECT_EQ(h.sentence,
              "out[0,0]: thread[0,0] of block(0) stores at line 11 and thread[0,0] of block(1) "
              "stores at line 11, and nothing orders blocks");
}

TEST(HandHazards, OneStoreOfManyLanesToOneCellIsARaceAtOneSite) {
    const trace::Trace trace = recorded_by_hand(hand(R"(
    .loc 1 10 0
    st.shared.u32 [tile+8], %t;)",
                                                     {1, 1, 1}, {32, 2, 1}));
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, HazardKind::Race);
    EXPECT_FALSE(found[0].same_warp);
    EXPECT_EQ(found[0].count, 1u);
    EXPECT_EQ(found[0].examples[0].element, 2u);
    EXPECT_EQ(found[0].examples[0].a.thread, 0u);
    EXPECT_EQ(found[0].examples[0].b.thread, 63u);
}

}  // namespace
}  // namespace tilescope::kernels
