// Instrumented kernels whose warps are really divided: parts at different sites, at the same site in
// different trips, gone early; guarded requests; generic addresses. None of the shipped kernels is as bad.
#include <fmt/format.h>

#include "tests/host/hand_kernel.h"

namespace tilescope {
namespace {

void expect_same(const std::string& body) {
    for (const Dim3 block : {Dim3{32, 1, 1}, Dim3{45, 1, 1}, Dim3{9, 5, 2}, Dim3{3, 1, 1}})
        expect_same_by_hand(hand_kernel(kThreadOfHand + body + "\n    ret;"), {2, 1, 1}, block);
}

TEST(InstrumentedDivergence, BothSidesOfABranch) {
    expect_same(R"(
    and.b32 %r5, %t, 3;
    setp.eq.u32 %p1, %r5, 2;
    @%p1 bra A;
    ld.global.u32 %r4, [%i];
    ld.global.u32 %r6, [%i+8];
    add.u32 %r4, %r4, %r6;
    bra J;
A:
    ld.global.u32 %r4, [%i+4];
    st.global.u32 [%o], %r4;
    ld.global.u32 %r4, [%i];
J:
    st.global.u32 [%o], %r4;)");
}

TEST(InstrumentedDivergence, NestedBranches) {
    expect_same(R"(
    setp.lt.u32 %p1, %t, 20;
    @%p1 bra A;
    setp.gt.u32 %p2, %t, 40;
    @%p2 bra B;
    ld.global.u32 %r4, [%i];
    bra J;
B:
    ld.global.u32 %r4, [%i+12];
    bra J;
A:
    and.b32 %r5, %t, 1;
    setp.eq.u32 %p3, %r5, 0;
    st.global.u32 [%o], %t;
    @%p3 bra C;
    ld.global.u32 %r4, [%i+16];
C:
    st.global.u32 [%o], %r4;
J:
    st.global.u32 [%o], %r4;)");
}

TEST(InstrumentedDivergence, TripsThatDependOnTheThread) {
    expect_same(R"(
    and.b32 %r5, %t, 7;
L:
    ld.global.u32 %r6, [%i];
    add.u32 %r4, %r4, %r6;
    st.global.u32 [%o], %r4;
    add.s64 %i, %i, 4;
    sub.s32 %r5, %r5, 1;
    setp.ge.s32 %p1, %r5, 0;
    @%p1 bra L;
    st.global.u32 [%o], %r4;)");
}

TEST(InstrumentedDivergence, ThreadsThatLeaveEarly) {
    expect_same(R"(
    setp.gt.u32 %p1, %t, 10;
    st.global.u32 [%o], %t;
    @%p1 ret;
    ld.global.u32 %r4, [%i];
    and.b32 %r5, %t, 1;
    setp.eq.u32 %p2, %r5, 0;
    @%p2 exit;
    st.global.u32 [%o], %r4;)");
    // The lowest lane, which writes the warp's stream, leaves first.
    expect_same(R"(
    ld.global.u32 %r4, [%i];
    setp.lt.u32 %p1, %t, 5;
    @%p1 ret;
    st.global.u32 [%o], %r4;
    bar.sync 0;
    st.global.u32 [%o], %t;)");
}

TEST(InstrumentedDivergence, GuardedRequests) {
    expect_same(R"(
    setp.gt.u32 %p1, %t, 3;
    setp.lt.u32 %p2, %t, 30;
    @%p1 ld.global.u32 %r4, [%i];
    @!%p2 ld.global.u32 %r4, [%i+4];
    @%p2 st.global.u32 [%o], %r4;
    setp.gt.u32 %p3, %t, 1000;
    @%p3 st.global.u32 [%o], %r4;
    @!%p3 bar.sync 0;
    st.global.u32 [%o], %r4;)");
}

TEST(InstrumentedDivergence, SharedMemoryByEveryRoad) {
    expect_same(R"(
    shl.b32 %r5, %t, 2;
    mov.u32 %r6, tile;
    add.u32 %r6, %r6, %r5;
    st.shared.u32 [%r6], %t;
    bar.sync 0;
    mov.u64 %d1, tile;
    cvta.shared.u64 %d2, %d1;
    add.s64 %d3, %d2, %d0;
    ld.u32 %r7, [%d3];
    ld.u32 %r8, [%i];
    add.u32 %r7, %r7, %r8;
    xor.b32 %r5, %t, 1;
    and.b32 %r5, %r5, 63;
    shl.b32 %r5, %r5, 2;
    mov.u32 %r6, tile;
    add.u32 %r6, %r6, %r5;
    ld.shared.u32 %r8, [%r6+4];
    ld.shared.u32 %r9, [tile+8];
    st.u32 [%o], %r7;)");
}

// What is loaded says where to load next: no lane's address follows from another's.
TEST(InstrumentedDivergence, GathersInAndOutOfStep) {
    expect_same(R"(
    ld.global.u32 %r4, [%i];
    ld.param.u64 %d1, [k_0];
    mul.wide.u32 %d2, %r4, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r5, [%d3];
    setp.gt.u32 %p1, %r5, 6;
    @%p1 bra J;
    mul.wide.u32 %d2, %r5, 8;
    add.s64 %d3, %d1, %d2;
    ld.global.v2.u32 {%r6, %r7}, [%d3];
    st.global.u32 [%o], %r7;
J:
    st.global.u32 [%o], %r5;)");
}

// Room for the sites of a run that parts of a warp record one by one is made for several at a time.
TEST(InstrumentedDivergence, ManyRequestsOneBehindTheOther) {
    std::string loads;
    for (int i = 0; i < 50; ++i) loads += fmt::format("    ld.global.u32 %r4, [%i+{}];\n", i % 40 * 4);
    expect_same(R"(
    and.b32 %r5, %t, 1;
    setp.eq.u32 %p1, %r5, 1;
    @%p1 bra J;
)" + loads + R"(
J:
    st.global.u32 [%o], %r4;)");
}

}  // namespace
}  // namespace tilescope
