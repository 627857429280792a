// Threads that wait in loops for other threads: lanes of a warp, warps of a block, blocks of a grid.
#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::KernelRun;

// %rd1: array a of 64 words; %r1: thread, %r2: block, %r3: blocks of the grid.
KernelRun progress_of(const std::string& body, uint32_t threads, uint32_t blocks = 1) {
    KernelRun run;
    run.program = test::program_of(R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<4>;
ld.param.u64 %rd1, [k_0];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %nctaid.x;
)ptx" + body + "\nret;\n}\n",
                                   "k");
    const uint64_t base = place_buffers({256})[0];
    run.memory.buffers.push_back({"a", base, Bytes(256)});
    run.launch.arrays.push_back(test_array("a", Space::Global, ArrayRole::InOut, 1, 64, base));
    run.launch.arguments = test_arguments({base});
    run.launch.block = {threads, 1, 1};
    run.launch.grid = {blocks, 1, 1};
    return run;
}

uint32_t word(const KernelRun& run, size_t i) {
    uint32_t value = 0;
    std::memcpy(&value, run.memory.buffers[0].bytes.data() + 4 * i, 4);
    return value;
}

// a[0] is the lock, a[1] what it guards.
const std::string kLock = R"(
L:  atom.global.cas.b32 %r4, [%rd1], 0, 1;
    setp.ne.s32 %p1, %r4, 0;
    @%p1 bra L;
    ld.volatile.global.u32 %r5, [%rd1+4];
    add.u32 %r5, %r5, 1;
    st.volatile.global.u32 [%rd1+4], %r5;
    membar.gl;
    atom.global.exch.b32 %r4, [%rd1], 0;
)";

TEST(SimtProgress, LanesTakeALockWhoseSectionFollowsTheLoop) {
    for (const unsigned threads : {1u, 4u}) {
        KernelRun run = progress_of(kLock, 64, 3);
        run.options.threads = threads;
        const Outcome outcome = run.run();
        EXPECT_TRUE(outcome.complete);
        EXPECT_EQ(word(run, 1), 192u);
        EXPECT_EQ(word(run, 0), 0u);
    }
}

// Barriers and *.sync instructions bring lanes together again that the lock has split.
TEST(SimtProgress, LanesMeetAgain) {
    for (const char* meet : {"bar.sync 0;", "bar.warp.sync -1;", ""}) {
        KernelRun run = progress_of(kLock + meet + R"(
    shfl.sync.idx.b32 %r6, %r1, 5, 31, -1;
    setp.eq.u32 %p3, %r1, %r1;
    vote.sync.ballot.b32 %r7, %p3, -1;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    setp.lt.u32 %p2, %r1, 2;
    @%p2 bra E;
    st.global.u32 [%rd2], %r6;
    setp.ne.u32 %p2, %r1, 31;
    @%p2 bra E;
    st.global.u32 [%rd2], %r7;
E:
)",
                                    32);
        EXPECT_TRUE(run.run().complete) << meet;
        for (size_t i = 2; i < 31; ++i) EXPECT_EQ(word(run, i), 5u) << meet << i;
        EXPECT_EQ(word(run, 31), UINT32_MAX) << meet;
        EXPECT_EQ(word(run, 1), 32u);
        if (*meet != 0)  // together: one request of all lanes but two
            EXPECT_TRUE(std::ranges::any_of(run.events[0], [](const test::Event& e) {
                return e.mask == 0xFFFF'FFFCu;
            })) << meet;
    }
}

// A lane waits for a lane of its warp, a warp for a warp, under each schedule.
TEST(SimtProgress, AFlagOfAnotherThread) {
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded})
        for (const char* setter : {"31", "3", "40"}) {
            KernelRun run = progress_of(std::string("    setp.eq.u32 %p1, %r1, ") + setter + R"(;
    @%p1 bra S;
W:  ld.volatile.global.u32 %r4, [%rd1];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra W;
    bra J;
S:  st.volatile.global.u32 [%rd1], 7;
J:  red.global.add.u32 [%rd1+4], 1;
)",
                                        64);
            run.options.schedule = {kind, 3};
            EXPECT_TRUE(run.run().complete) << setter;
            EXPECT_EQ(word(run, 1), 64u) << setter;
        }
}

// Every block waits for the one behind it, then for all; more blocks than CPU threads.
TEST(SimtProgress, BlocksThatWaitForLaterBlocks) {
    for (const unsigned threads : {1u, 3u}) {
        KernelRun run = progress_of(R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra B;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd2, %rd1, %rd2;
    add.u32 %r5, %r2, 1;
    setp.eq.u32 %p2, %r5, %r3;
    @%p2 bra S;
W:  ld.volatile.global.u32 %r4, [%rd2+4];
    setp.eq.u32 %p2, %r4, 0;
    @%p2 bra W;
S:  st.volatile.global.u32 [%rd2], 1;
    red.global.add.u32 [%rd1+240], 1;
G:  atom.global.add.u32 %r6, [%rd1+240], 0;
    setp.lt.u32 %p2, %r6, %r3;
    @%p2 bra G;
B:  bar.sync 0;
    red.global.add.u32 [%rd1+244], 1;
)",
                                    64, 20);
        run.options.threads = threads;
        EXPECT_TRUE(run.run().complete);
        EXPECT_EQ(word(run, 60), 20u);
        EXPECT_EQ(word(run, 61), 20u * 64);
    }
}

// What never comes is said: who waits where, for what, and what that holds.
TEST(SimtProgress, NobodyIsLeft) {
    const std::string wait = R"(
    setp.lt.u32 %p1, %r1, 4;
    @%p1 bra E;
    st.volatile.global.u32 [%rd1+8], -5;
W:  ld.volatile.global.s32 %r4, [%rd1+8];
    setp.lt.s32 %p2, %r4, 0;
    @%p2 bra W;
E:
)";
    for (const unsigned threads : {1u, 3u}) {
        KernelRun run = progress_of(wait, 64, 3);
        run.options.threads = threads;
        const Outcome outcome = run.run();
        ASSERT_TRUE(outcome.fault);
        EXPECT_EQ(outcome.fault->kind, Fault::Kind::NeverEnds);
        EXPECT_EQ(
            outcome.fault->message,
            "in block(0) lanes 4 to 31 of warp 0 wait at PTX line 15 for a[0,2], which holds -5 (1 more "
            "warp waits likewise), and 2 other blocks wait too: no thread is left that could change it, so "
            "that the kernel never ends");
        EXPECT_EQ(outcome.fault->block.x, 0u);
        EXPECT_LT(run.events[0].size(), 2000u);  // a bounded time
    }
}

// A block behind one that fails may wait for ever; the failure is what is told.
TEST(SimtProgress, WaitingForABlockThatFailed) {
    KernelRun run = progress_of(R"(
    setp.eq.u32 %p1, %r2, 1;
    @%p1 trap;
W:  ld.volatile.global.s32 %r4, [%rd1];
    setp.eq.s32 %p2, %r4, 0;
    @%p2 bra W;
)",
                                32, 3);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::Trap);
    EXPECT_FALSE(outcome.complete);
}

// A loop that counts is no spin: its warp stays together, however often a part of it looks at one place.
TEST(SimtProgress, ALoopThatCountsKeepsItsJoin) {
    KernelRun run = progress_of(R"(
    mov.u32 %r4, 0;
    setp.gt.u32 %p1, %r1, 7;
    @%p1 bra J;
C:  ld.volatile.global.u32 %r5, [%rd1];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 2000;
    @%p2 bra C;
J:  red.global.add.u32 [%rd1+4], 1;
)",
                                32);
    ASSERT_TRUE(run.run().complete);
    ASSERT_EQ(run.events[0].size(), 2001u);
    EXPECT_EQ(run.events[0].back().mask, UINT32_MAX);
}

// The recorded order of such a block can be followed: its lanes yield at the same steps again.
TEST(SimtProgress, TheRecordedOrderIsFollowed) {
    KernelRun run = progress_of(kLock, 64);
    ASSERT_TRUE(run.run().complete);
    KernelRun again = progress_of(kLock, 64);
    again.options.schedule.kind = Schedule::Kind::Recorded;
    for (const test::Event& e : run.events[0])
        again.options.recorded_order.push_back(static_cast<uint8_t>(e.warp));
    const auto outcome = again.try_run();
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE(outcome->complete);
    EXPECT_EQ(run.events, again.events);
}

}  // namespace
}  // namespace tilescope::simt
