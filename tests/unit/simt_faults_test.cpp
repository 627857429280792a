// Barriers by the real rules, and every kind of fault with its sentence.
#include <atomic>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::Event, test::kBase, test::KernelRun;

// A kernel k(u64 out, u32 n) with tid.x in %t, out in %o and &out[tid] in %a.
KernelRun faulty_kernel(const std::string& body, uint32_t threads, uint32_t rows = 3, uint32_t cols = 4) {
    KernelRun run;
    run.program =
        test::program_of(
            R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u32 k_1)
{
.reg .b32 %t;
.reg .b32 %n;
.reg .b32 %r<9>;
.reg .b64 %o;
.reg .b64 %a;
.reg .b64 %d<9>;
.reg .pred %p<9>;
.reg .f32 %f<9>;
.shared .align 4 .b8 tile[64];
.loc 1 10 0
ld.param.u64 %o, [k_0];
ld.param.u32 %n, [k_1];
mov.u32 %t, %tid.x;
mul.wide.u32 %a, %t, 4;
add.s64 %a, %a, %o;
)ptx" + body + "\nret;\n}\n.file 1 \"k.cu\"\n",
            "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kBase, 12});
    run.memory.buffers = {{"M", kBase, Bytes(size_t{rows} * cols * 4)}};
    run.launch.arrays = {test_array("M", Space::Global, ArrayRole::Input, rows, cols, kBase),
                         test_array("Mds", Space::Shared, ArrayRole::Shared, 4, 4, 0, "tile")};
    return run;
}

void expect_fault(KernelRun run, Fault::Kind kind, const std::string& message, size_t steps) {
    const Outcome outcome = run.run();
    EXPECT_FALSE(outcome.complete);
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, kind);
    EXPECT_EQ(outcome.fault->message, message);
    EXPECT_EQ(run.events[0].size(), steps);  // what came before is kept
}

TEST(Faults, ReadsPastTheEndNameElementAndLine) {
    KernelRun run = faulty_kernel(".loc 1 23 0\nld.global.u32 %r1, [%a];", 14);
    run.launch.grid = {2, 1, 1};
    expect_fault(run, Fault::Kind::OutOfBounds,
                 "thread[12] of block(0) reads M[3,0] at line 23, outside M's 3 × 4 elements", 0);
}

TEST(Faults, NegativeIndexesAreNamedAsSuch) {
    expect_fault(faulty_kernel("ld.global.u32 %r2, [%a];\n.loc 1 24 0\nst.global.u32 [%a+-8], %t;", 3),
                 Fault::Kind::OutOfBounds,
                 "thread[0] of block(0) writes M[-1,2] at line 24, outside M's 3 × 4 elements", 1);
}

TEST(Faults, OnlyActiveLanesAreJudged) {
    KernelRun run = faulty_kernel(
        R"ptx(setp.lt.u32 %p1, %t, %n;
@%p1 ld.global.u32 %r1, [%a];
setp.gt.u32 %p2, %t, 99;
@%p2 st.global.u32 [%a], %r1;)ptx",
        32);
    EXPECT_TRUE(run.run().complete);
    ASSERT_EQ(run.events[0].size(), 1u);  // the store had no active lane
    EXPECT_EQ(run.events[0][0].mask, 0xFFFu);
}

TEST(Faults, SharedMemoryHasAnEnd) {
    const std::string to = R"ptx(mov.u32 %r1, tile;
shl.b32 %r2, %t, 2;
add.s32 %r1, %r1, %r2;
.loc 1 31 0
)ptx";
    expect_fault(faulty_kernel(to + "st.shared.u32 [%r1+4], %t;", 16), Fault::Kind::OutOfBounds,
                 "thread[15] of block(0) writes Mds[4,0] at line 31, outside Mds's 4 × 4 elements", 0);
    expect_fault(faulty_kernel(to + "ld.shared.u32 %r3, [%r1+-4];", 16), Fault::Kind::OutOfBounds,
                 "thread[0] of block(0) reads Mds[-1,3] at line 31, outside Mds's 4 × 4 elements", 0);
    KernelRun nameless = faulty_kernel(to + "ld.shared.u32 %r3, [%r1+64];", 1);
    nameless.launch.arrays.clear();
    expect_fault(
        nameless, Fault::Kind::OutOfBounds,
        "thread[0] of block(0) reads byte 64 of shared memory at line 31, outside the block's 64 bytes", 0);
}

TEST(Faults, MisalignedAndWildAddresses) {
    expect_fault(faulty_kernel("ld.global.u32 %r1, [%a+2];", 1), Fault::Kind::Misaligned,
                 "thread[0] of block(0) reads 4 bytes near M[0,0] at address 0x10002 at line 10, which "
                 "is not a multiple of 4",
                 0);
    expect_fault(faulty_kernel("ld.global.v2.u32 {%r1, %r2}, [%a];", 2), Fault::Kind::Misaligned,
                 "thread[1] of block(0) reads 8 bytes near M[0,1] at address 0x10004 at line 10, which "
                 "is not a multiple of 8",
                 0);
    expect_fault(faulty_kernel("mov.u64 %d1, 0x7000000000000000;\nld.global.u32 %r1, [%d1];", 1),
                 Fault::Kind::BadAddress,
                 "thread[0] of block(0) reads 4 bytes at address 0x7000000000000000 at line 10, which "
                 "is in no buffer of the launch",
                 0);
}

// As far from every array as 64 bits reach, in both directions.
TEST(Faults, TheFarthestAddressesAreInNoBuffer) {
    for (const std::string address : {"0x8000000000000000", "0x7ffffffffffffffc", "0xfffffffffffffffc"}) {
        const bool near = address[2] == 'f';  // -4 is an index gone astray
        const Outcome outcome =
            faulty_kernel("mov.u64 %d1, " + address + ";\nld.global.u32 %r1, [%d1];", 1).run();
        ASSERT_TRUE(outcome.fault) << address;
        EXPECT_EQ(outcome.fault->message.find("in no buffer") == std::string::npos, near)
            << outcome.fault->message;
    }
}

// Its bytes are 0.
TEST(Prepare, TakesAVariableWithoutAValue) {
    const auto program = test::program_of(
        R"ptx(.version 6.0
.target sm_70
.address_size 64
.const .align 4 .b8 c[8];
.visible .entry k()
{
.reg .b32 %r;
ld.const.u32 %r, [c];
ret;
}
)ptx",
        "k");
    EXPECT_EQ(program->constants, std::vector<std::byte>(8));
}

TEST(Faults, AnAccessThatStraddlesTheEndIsOutside) {
    KernelRun run = faulty_kernel("ld.global.u64 %d1, [%o+8];", 1, 1, 3);
    expect_fault(run, Fault::Kind::OutOfBounds,
                 "thread[0] of block(0) reads M[0,2] at line 10, whose 8 bytes reach outside its buffer", 0);
}

TEST(Faults, LoopsThatNeverEndAndTraps) {
    KernelRun run = faulty_kernel("L:\n.loc 1 12 0\nadd.u32 %r1, %r1, 1;\nbra L;", 4);
    run.options.max_instructions_per_warp = 1000;
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::NeverEnds);
    EXPECT_NE(outcome.fault->message.find("never ending"), std::string::npos);
    EXPECT_NE(outcome.fault->message.find("line 12"), std::string::npos);
    expect_fault(faulty_kernel("setp.eq.u32 %p1, %t, 3;\n.loc 1 14 0\n@%p1 trap;", 8), Fault::Kind::Trap,
                 "thread[3] of block(0) ran into a trap at line 14", 0);
}

TEST(Faults, TheStopFlagEndsALoop) {
    KernelRun run = faulty_kernel("L:\nadd.u32 %r1, %r1, 1;\nbra L;", 4);
    std::atomic<bool> stop{true};
    run.options.stop = &stop;
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.stopped);
    EXPECT_FALSE(outcome.complete);
    EXPECT_FALSE(outcome.fault);
}

TEST(Faults, TheFirstFaultingBlockIsNamedOnAnyNumberOfThreads) {
    for (const unsigned threads : {1u, 2u, 4u}) {
        KernelRun run = faulty_kernel(
            R"ptx(mov.u32 %r1, %ctaid.x;
setp.ge.u32 %p1, %r1, 5;
st.global.u32 [%a], %t;
@%p1 trap;)ptx",
            4);
        run.launch.grid = {40, 1, 1};
        run.options.threads = threads;
        const Outcome outcome = run.run();
        ASSERT_TRUE(outcome.fault);
        EXPECT_EQ(outcome.fault->block.x, 5u);
        for (size_t b = 0; b <= 5; ++b) EXPECT_EQ(run.events[b].size(), 1u) << b;
        EXPECT_EQ(outcome.instructions, 6u * (5 + 3) + 5u * 2);
    }
}

TEST(Barriers, HoldEveryWarpUntilTheLastArrives) {
    KernelRun run = faulty_kernel("bar.sync 0;\nst.global.u32 [%o], %t;", 128);
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        run.options.schedule = {kind, 3};
        EXPECT_TRUE(run.run().complete);
        ASSERT_EQ(run.events[0].size(), 8u);
        for (size_t s = 0; s < 8; ++s) EXPECT_EQ(run.events[0][s].barrier, s < 4);
    }
}

TEST(Barriers, DoNotWaitForThreadsThatExited) {
    // Whole warps, parts of warps, by a branch to ret and by a guarded ret; warp 2 exits late.
    for (const char* leave :
         {"setp.ge.u32 %p1, %t, 40;\n@%p1 bra END;\n", "setp.ge.u32 %p1, %t, 40;\n@%p1 ret;\n",
          R"ptx(setp.ge.u32 %p1, %t, 40;
@!%p1 bra GO;
st.global.u32 [%o], %t;
bra END;
GO:
)ptx"}) {
        KernelRun run =
            faulty_kernel(std::string(leave) + "bar.sync 0;\nst.global.u32 [%o+4], %t;\nEND:", 96);
        const Outcome outcome = run.run();
        EXPECT_TRUE(outcome.complete) << leave << (outcome.fault ? outcome.fault->message : "");
        int arrivals = 0;
        for (const Event& e : run.events[0])
            if (e.barrier) {
                EXPECT_EQ(e.mask, e.warp == 0 ? ~0u : 0xFFu);
                ++arrivals;
            }
        EXPECT_EQ(arrivals, 2);
    }
}

TEST(Barriers, OnBothSidesOfABranchInOneWarpAreAFault) {
    KernelRun run = faulty_kernel(
        R"ptx(setp.lt.u32 %p1, %t, 8;
@%p1 bra B;
.loc 1 21 0
bar.sync 0;
bra END;
B:
.loc 1 24 0
bar.sync 0;
END:
st.global.u32 [%o], %t;)ptx",
        32);
    expect_fault(run, Fault::Kind::BarrierDivergence,
                 "thread[8] of block(0) waits at the barrier at line 21 while thread[0], of the "
                 "same warp, stands at the barrier at line "
                 "24: a barrier must be reached by all threads of a warp that have not exited",
                 0);
}

TEST(Barriers, UnderAConditionThatPartOfAWarpMeetsAreAFault) {
    KernelRun run = faulty_kernel(
        R"ptx(.loc 1 20 0
st.global.u32 [%o], %t;
setp.lt.u32 %p1, %t, 8;
@!%p1 bra NEXT;
.loc 1 21 0
bar.sync 0;
NEXT:
.loc 1 25 0
bar.sync 0;)ptx",
        32);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::BarrierDivergence);
    EXPECT_EQ(outcome.fault->line, 21u);
    EXPECT_EQ(outcome.fault->thread, 0u);
    EXPECT_NE(outcome.fault->message.find("line 25"), std::string::npos) << outcome.fault->message;
    EXPECT_EQ(run.events[0].size(), 1u);
}

TEST(Barriers, WithDifferentNumbersDeadlock) {
    KernelRun run = faulty_kernel(
        R"ptx(setp.lt.u32 %p1, %t, 32;
@%p1 bra B;
.loc 1 30 0
bar.sync 1;
bra END;
B:
.loc 1 32 0
bar.sync 2;
END:)ptx",
        64);
    expect_fault(run, Fault::Kind::Deadlock,
                 "thread[0] of block(0) waits for ever at barrier 2 at line 32: not enough threads "
                 "come to it, while thread[32] waits at "
                 "barrier 1 at line 30",
                 2);
}

// 16 is no barrier of a block, and above all not that of the grid.
TEST(Barriers, HaveNumbersUpTo15) {
    for (const char* barrier : {"bar.sync 15;", "mov.u32 %r1, 15;\nbar.sync %r1;"}) {
        KernelRun run =
            faulty_kernel(".loc 1 20 0\n" + std::string(barrier) + "\nst.global.u32 [%o], %t;", 64);
        EXPECT_TRUE(run.run().complete) << barrier;
        EXPECT_EQ(run.events[0].size(), 4u) << barrier;
    }
    for (const std::string& number : {std::string("16"), std::string("17"), std::string("4294967295")})
        for (const std::string& barrier :
             {"bar.sync " + number + ";", "mov.u32 %r1, " + number + ";\nbar.sync %r1;"}) {
            KernelRun run =
                faulty_kernel(".loc 1 20 0\n" + std::string(barrier) + "\nst.global.u32 [%o], %t;", 64);
            expect_fault(run, Fault::Kind::Trap,
                         "thread[0] of block(0) comes to barrier " + number +
                             " at line 20, but a block has barriers 0 to 15; use one of these",
                         0);
        }
}

TEST(Barriers, CountTheThreadsTheyAreGiven) {
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
    KernelRun run = faulty_kernel(R"ptx(shr.u32 %r1, %t, 6;
add.u32 %r1, %r1, 1;
bar.sync %r1, 64;
st.global.u32 [%o], %t;)ptx",
                                  128);
    run.options.schedule.kind = Schedule::Kind::Greedy;
    EXPECT_TRUE(run.run().complete);
    ASSERT_EQ(run.events[0].size(), 8u);
    const bool barriers[] = {true, true, false, false, true, true, false, false};
    for (size_t s = 0; s < 8; ++s) EXPECT_EQ(run.events[0][s].barrier, barriers[s]) << s;
}

TEST(Launches, ThatCannotBeAreRefused) {
    KernelRun run = faulty_kernel("", 0);
    EXPECT_FALSE(run.try_run());
    run.launch.block = {1025, 1, 1};
    EXPECT_FALSE(run.try_run());
    run.launch.block = {32, 1, 1};
    run.launch.arguments.pop_back();
    const auto few = run.try_run();
    ASSERT_FALSE(few);
    EXPECT_EQ(few.error().message, "kernel 'k' takes 2 parameters and was given 1");
}

TEST(Prepare, RefusesWhatItDoesNotRunAndSaysWhere) {
    const auto refuse = [](const std::string& line) {
        try {
            faulty_kernel(line, 1);
        } catch (const std::exception& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    const std::string half = refuse("{ .reg .b16 %h<3>; cvt.sat.f64.f16 %d1, %h2; }");
    EXPECT_NE(half.find("cvt.sat.f64.f16"), std::string::npos) << half;
    EXPECT_NE(half.find("line 21"), std::string::npos) << half;
    EXPECT_NE(half.find("does not know"), std::string::npos) << half;
    EXPECT_EQ(refuse("sqrt.rn.f32 %f1, %f2;"), "");
}

}  // namespace
}  // namespace tilescope::simt
