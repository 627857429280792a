// Instrumented kernels at the edges of what instrumenting believes: grids with depth, bodies that run off
// their end or begin in a loop, and addresses that are not what was proven of them.
#include "tests/host/hand_kernel.h"

namespace tilescope {
namespace {

const std::string kThread = kThreadOfHand;

// Block (x, y, z) reads from element x + 2 y + 4 z on.
const std::string kByBlock = kThread + R"(
    mov.u32 %r5, %ctaid.x;
    mov.u32 %r6, %ctaid.y;
    mov.u32 %r7, %ctaid.z;
    mad.lo.u32 %r5, %r6, 2, %r5;
    mad.lo.u32 %r5, %r7, 4, %r5;
    mul.wide.u32 %d1, %r5, 4;
    add.s64 %d2, %i, %d1;
    ld.global.u32 %r4, [%d2];
    bar.sync 0;
    st.global.u32 [%o], %t;
    ret;)";

TEST(InstrumentedEdges, AGridWithDepth) { expect_same_by_hand(hand_kernel(kByBlock), {2, 2, 3}, {9, 5, 1}); }

TEST(InstrumentedEdges, AWindowOfAGridWithDepth) {
    expect_same_by_hand(hand_kernel(kByBlock), {3, 3, 2}, {40, 1, 1}, {1, 3, 2, 3});
}

TEST(InstrumentedEdges, ABodyThatRunsOffItsEnd) {
    expect_same_by_hand(hand_kernel(kThread + R"(
    ld.global.u32 %r4, [%i];
    st.global.u32 [%o], %r4;)"),
                        {2, 1, 1}, {45, 1, 1});
    // Its end has a label, and a part of the warp jumps to it.
    expect_same_by_hand(hand_kernel(kThread + R"(
    setp.gt.u32 %p1, %t, 7;
    ld.global.u32 %r4, [%i];
    @%p1 bra END;
    st.global.u32 [%o], %r4;
END:)"),
                        {2, 1, 1}, {45, 1, 1});
    // Its last instruction is a guarded exit.
    expect_same_by_hand(hand_kernel(kThread + R"(
    setp.gt.u32 %p1, %t, 7;
    st.global.u32 [%o], %t;
    @%p1 exit;)"),
                        {2, 1, 1}, {45, 1, 1});
}

// Nothing that recording keeps may begin again with the second trip.
TEST(InstrumentedEdges, ALoopBackToTheFirstInstruction) {
    const std::string loop = "FIRST:" + kThread + R"(
    ld.global.u32 %r5, [%o];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%o], %r5;
    setp.lt.u32 %p1, %r5, 40;
    @%p1 bra FIRST;)";
    expect_same_by_hand(hand_kernel(loop), {1, 1, 1}, {45, 1, 1});
    expect_same_by_hand(hand_kernel(loop + "\n    st.global.u32 [%o+4], %t;\n    ret;"), {1, 1, 1},
                        {32, 1, 1});
}

// Threads 0 to 2 have an index below 0, which as an unsigned one is 16 GiB further on.
const char* const kWraps = R"(
    ld.param.u64 %d1, [k_0];
    sub.u32 %r5, %t, 3;
    mul.wide.u32 %d2, %r5, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r4, [%d3];
    st.global.u32 [%o], %r4;
    ret;)";

TEST(InstrumentedEdges, AnIndexThatWrapsIsFoundOutAndThenRecordedExactly) {
    const std::string text = hand_kernel(kThread + kWraps);
    for (const Dim3 block : {Dim3{32, 1, 1}, Dim3{45, 1, 1}, Dim3{2, 1, 1}}) {
        HandRun believing;
        believing.block = block, believing.far = true;
        believing.record(text);
        ASSERT_TRUE(believing.run.code.shapes[0].affine) << "or there is nothing to find out";
        EXPECT_EQ(believing.run.flags, ptx::kFlagNotAsProven);
        HandRun exact;
        exact.block = block, exact.far = true;
        exact.run.options.exact = true;
        exact.record(text);
        EXPECT_EQ(exact.run.flags, 0u);
        expect_same_requests(exact.expected, exact.got);
    }
}

TEST(InstrumentedEdges, AnIndexThatDoesNotWrapIsBelieved) {
    HandRun hand;
    hand.record(hand_kernel(kThread + R"(
    ld.param.u64 %d1, [k_0];
    add.u32 %r5, %t, 3;
    mul.wide.u32 %d2, %r5, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r4, [%d3];
    st.global.u32 [%o], %r4;
    ret;)"));
    EXPECT_EQ(hand.run.flags, 0u);
    expect_same_requests(hand.expected, hand.got);
}

// Pairs keep low halves of addresses alone.
TEST(InstrumentedEdges, APairInOther4GiBIsFoundOutAndThenRecordedExactly) {
    const std::string text = hand_kernel(kThread + R"(
    add.s64 %d1, %i, 17179869120;
    ld.global.u32 %r4, [%d1];
    st.global.u32 [%o], %r4;
    ret;)");
    HandRun believing;
    believing.run.options.same_high = true, believing.run.options.high = kIn >> 32;
    believing.far = believing.may_fail = true;
    believing.record(text);
    EXPECT_EQ(believing.run.flags, ptx::kFlagNotAsProven);
    EXPECT_NE(believing.run.problem.find("same_high"), std::string::npos) << believing.run.problem;
    for (const bool exact : {false, true}) {
        HandRun hand;
        hand.far = true;
        hand.run.options.exact = exact;
        hand.record(text);
        EXPECT_EQ(hand.run.flags, 0u);
        expect_same_requests(hand.expected, hand.got);
    }
}

}  // namespace
}  // namespace tilescope
