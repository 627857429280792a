// What the interpreter does with the small forms of PTX: registers of one byte, elements in braces, and warps that
// arrive at a barrier without waiting there.
#include <numeric>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kIn, test::kOut, test::KernelRun;

// A kernel k(u64 in, u64 out): %t is tid.x, %i and %o point to the thread's words of 8 bytes. `in` holds bytes that
// count up from 128.
KernelRun small_kernel(const std::string& body, uint32_t threads) {
    KernelRun run;
    run.program =
        test::program_of(
            R"ptx(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .b32 %t;
.reg .b16 %rs<9>;
.reg .b32 %r<9>;
.reg .b64 %i;
.reg .b64 %o;
.reg .b64 %d<9>;
.reg .pred %p<9>;
.shared .align 16 .b8 tile[1024];
.loc 1 10 0
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
mul.wide.u32 %d0, %t, 8;
add.s64 %i, %i, %d0;
add.s64 %o, %o, %d0;
)ptx" + body + "\nret;\n}\n.file 1 \"k.cu\"\n",
            "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kIn, kOut});
    run.memory.buffers = {{"in", kIn, Bytes(size_t{threads} * 8)}, {"out", kOut, Bytes(size_t{threads} * 8)}};
    auto* const in = reinterpret_cast<uint8_t*>(run.memory.buffers[0].bytes.data());
    std::iota(in, in + size_t{threads} * 8, uint8_t{128});
    return run;
}

std::vector<uint64_t> outputs(const KernelRun& run) {
    std::vector<uint64_t> out(run.launch.block.x);
    std::memcpy(out.data(), run.memory.buffers[1].bytes.data(), out.size() * 8);
    return out;
}

TEST(SmallForms, BytesInRegistersKeepTheirSign) {
    KernelRun run = small_kernel(R"ptx({ .reg .u8 datum; .reg .s8 minus; .reg .b8 low;
ld.global.nc.u8 datum, [%i];
ld.global.s8 minus, [%i];
cvt.u32.u8 %r1, datum;
cvt.s32.s8 %r2, minus;
cvt.u8.u32 low, %t;
cvt.u32.u8 %r3, low; }
st.global.v2.b32 [%o], { %r1, %r2 };
st.shared.b32 [tile], { %r3 };)ptx",
                                 300);
    EXPECT_TRUE(run.run().complete);
    const std::vector<uint64_t> out = outputs(run);
    for (uint32_t t = 0; t < 300; ++t) {
        const auto byte = static_cast<uint8_t>(128 + 8 * t);
        EXPECT_EQ(static_cast<uint32_t>(out[t]), byte);
        EXPECT_EQ(static_cast<int32_t>(out[t] >> 32), static_cast<int8_t>(byte));
    }
}

// Warp 0 makes something, arrives and goes on; warp 1 waits for it.
constexpr const char* kProducer = R"ptx(setp.lt.u32 %p1, %t, 32;
@%p1 bra MAKE;
.loc 1 20 0
bar.sync 1, 64;
ld.shared.u32 %r1, [tile];
st.global.u32 [%o], %r1;
bra END;
MAKE:
mov.u32 %r1, 77;
st.shared.u32 [tile], %r1;
.loc 1 30 0
bar.arrive 1, 64;
st.global.u32 [%o], %t;
END:)ptx";

TEST(Arrivals, LetTheirWarpGoOnAndOthersWait) {
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        KernelRun run = small_kernel(kProducer, 64);
        run.options.schedule.kind = kind;
        const Outcome outcome = run.run();
        EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
        const std::vector<uint64_t> out = outputs(run);
        for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 32 ? t : 77);
        size_t barriers = 0;
        for (const test::Event& event : run.events[0]) barriers += event.barrier;
        EXPECT_EQ(barriers, 2u);
    }
}

// The arrivals of one pass are not those of the next: a ring of two barriers, eight times round.
TEST(Arrivals, CountAnewInEveryPass) {
    KernelRun run = small_kernel(R"ptx(setp.lt.u32 %p1, %t, 64;
mov.u32 %r1, 0;
@%p1 bra MAKE;
TAKE:
bar.sync 1, 96;
ld.shared.u32 %r2, [tile];
setp.ne.u32 %p2, %r2, %r1;
@%p2 trap;
bar.arrive 2, 96;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 8;
@%p2 bra TAKE;
bra END;
MAKE:
st.shared.u32 [tile], %r1;
bar.arrive 1, 96;
bar.sync 2, 96;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 8;
@%p2 bra MAKE;
END:)ptx",
                                 96);
    for (uint64_t seed = 0; seed < 20; ++seed) {
        run.options.schedule = {Schedule::Kind::Seeded, seed};
        const Outcome outcome = run.run();
        EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    }
}

// Without a count, the barrier is for all warps of the block; those that only arrive need not be there.
TEST(Arrivals, CountForABarrierOfTheWholeBlock) {
    KernelRun run = small_kernel(R"ptx(setp.lt.u32 %p1, %t, 32;
@%p1 bar.arrive 0, 64;
@%p1 bra LOOP;
bar.sync 0;
st.shared.u32 [tile+4], %t;
bra END;
LOOP:
ld.volatile.shared.u32 %r1, [tile+4];
setp.eq.u32 %p2, %r1, -1;
@%p2 bra LOOP;
END:)ptx",
                                 64);
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
}

TEST(Arrivals, ThatAreTooFewLeaveOthersWaiting) {
    KernelRun run = small_kernel(R"ptx(setp.lt.u32 %p1, %t, 32;
@%p1 bra MAKE;
.loc 1 20 0
bar.sync 1, 128;
bra END;
MAKE:
bar.arrive 1, 128;
END:)ptx",
                                 96);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::Deadlock);
    EXPECT_EQ(
        outcome.fault->message,
        "thread[32] of block(0) waits for ever at barrier 1 at line 20: not enough threads come to it (96 of "
        "128)");
}

// As many as the barrier wants, and nobody waits: it begins anew.
TEST(Arrivals, AloneLeaveABarrierAsItWas) {
    KernelRun run = small_kernel(R"ptx(bar.arrive 1, 64;
setp.lt.u32 %p1, %t, 32;
@%p1 bra END;
.loc 1 20 0
bar.sync 1, 64;
END:)ptx",
                                 64);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(
        outcome.fault->message,
        "thread[32] of block(0) waits for ever at barrier 1 at line 20: not enough threads come to it (32 of "
        "64)");
}

}  // namespace
}  // namespace tilescope::simt
