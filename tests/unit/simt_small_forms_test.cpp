// What the interpreter does with the small forms of PTX: registers of one byte, elements in braces, and warps that
// arrive at a barrier without waiting there.
#include <cmath>
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

// Equal forms of a policy are one number, others another.
TEST(SmallForms, PoliciesAndHintsChangeNothing) {
    KernelRun run = small_kernel(R"ptx(createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;
createpolicy.fractional.L2::evict_last.b64 %d2, 0f3F800000;
createpolicy.fractional.L2::evict_first.b64 %d3, 1.0;
setp.ne.u64 %p1, %d1, %d2;
@%p1 trap;
setp.eq.u64 %p1, %d1, %d3;
@%p1 trap;
ld.global.L1::evict_last.L2::cache_hint.u64 %d4, [%i], %d1;
st.global.L2::cache_hint.u64 [%o], %d4, %d3;
mov.u32 %r1, tile;
mad.lo.u32 %r1, %t, 8, %r1;
cp.async.ca.shared.global.L2::cache_hint [%r1], [%i], 8, 4, %d3;
cp.async.wait_all;
ld.shared.u64 %d5, [%r1];
atom.global.add.L2::cache_hint.u64 %d6, [%o], %d5, %d1;
discard.global.L2 [%i], 128;)ptx",
                                 64);
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    const std::vector<uint64_t> out = outputs(run);
    for (uint64_t t = 0; t < 64; ++t) {
        uint64_t in = 0;
        std::memcpy(&in, run.memory.buffers[0].bytes.data() + 8 * t, 8);
        EXPECT_EQ(out[t], in + (in & UINT32_MAX)) << t;
    }
}

// The lowest of the lanes that a mask names and that come.
TEST(SmallForms, OneLaneIsElected) {
    KernelRun run = small_kernel(R"ptx(setmaxnreg.inc.sync.aligned.u32 232;
fence.proxy.async;
mov.u32 %r2, -16;
elect.sync %r1|%p1, %r2;
selp.u32 %r3, 1, 0, %p1;
elect.sync _|%p2, -1;
selp.u32 %r4, 2, 0, %p2;
or.b32 %r3, %r3, %r4;
st.global.v2.u32 [%o], {%r1, %r3};)ptx",
                                 64);
    EXPECT_TRUE(run.run().complete);
    const std::vector<uint64_t> out = outputs(run);
    for (uint32_t t = 0; t < 64; ++t) {
        EXPECT_EQ(static_cast<uint32_t>(out[t]), 4u);
        EXPECT_EQ(out[t] >> 32, (t % 32 == 4 ? 1u : 0u) | (t % 32 == 0 ? 2u : 0u)) << t;
    }
}

// A lane's 32 bytes, and 16 in one register, keep their order; values are those of all eight elements.
TEST(SmallForms, WideAccessesMoveAllOfALane) {
    KernelRun run = small_kernel(R"ptx(.reg .b128 %q<3>;
.reg .f32 %f<8>;
and.b32 %r1, %t, 3;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra END;
ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%i];
st.global.v8.f32 [%o], {%f7, %f6, %f5, %f4, %f3, %f2, %f1, %f0};
ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%o];
mov.b128 %q0, {%d2, %d1};
mov.b128 %q1, %q0;
mad.lo.u32 %r2, %t, 4, 0;
st.shared.b128 [%r2], %q1;
ld.shared.b128 %q2, [%r2];
mov.b128 {%d1, %d2}, %q2;
st.global.v4.u64 [%o], {%d1, %d2, %d3, %d4};
END:)ptx",
                                 64);
    run.options.values = true;
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    const auto word = [&](size_t buffer, size_t i) {
        uint32_t bits = 0;
        std::memcpy(&bits, run.memory.buffers[buffer].bytes.data() + 4 * i, 4);
        return bits;
    };
    constexpr size_t kFrom[] = {5, 4, 7, 6,
                                3, 2, 1, 0};  // of the reversed words, the first two pairs exchanged
    for (size_t i = 0; i < 128; ++i) EXPECT_EQ(word(1, i), word(0, i / 8 * 8 + kFrom[i % 8])) << i;
    EXPECT_EQ(sites_of(*run.program)[0].bytes, 32u);
    for (size_t l = 0; l < 32; l += 4) EXPECT_EQ(run.events[0][0].value[l], word(0, 2 * l));
    KernelRun odd = small_kernel("ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%i];", 4);
    const Outcome fault = odd.run();
    ASSERT_TRUE(fault.fault);
    EXPECT_EQ(fault.fault->kind, Fault::Kind::Misaligned);
}

// All lanes and blocks add 1 to one word: every one of them counts, as long as a half tells the sums apart.
TEST(SmallForms, AtomicsOfHalvesAndVectorsAdd) {
    KernelRun run = small_kernel(R"ptx(ld.param.u64 %d1, [k_1];
mov.b16 %rs1, 0x3C00;
mov.b32 %r1, 0x40003C00;
mov.b16 %rs2, 0x3F80;
.reg .f32 %f<2>;
mov.f32 %f0, 0f3F800000;
mov.f32 %f1, 0f40400000;
red.global.add.noftz.f16 [%d1], %rs1;
red.global.add.noftz.bf16 [%d1+2], %rs2;
red.global.add.noftz.f16x2 [%d1+4], %r1;
red.global.v2.f32.add [%d1+8], {%f0, %f1};
atom.global.v4.f16.max.noftz {%rs3, %rs4, %rs5, %rs6}, [%d1+16], {%rs1, %rs2, %rs1, %rs2};
st.shared.u32 [tile], 0;
bar.sync 0;
red.shared.add.noftz.f16x2 [tile], %r1;
bar.sync 0;
ld.shared.u32 %r2, [tile];
st.global.u32 [%d1+24], %r2;)ptx",
                                 64);
    run.launch.grid = {4, 1, 1};
    run.options.threads = 4;
    std::memset(run.memory.buffers[1].bytes.data(), 0, 24);
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    const auto half = [&](size_t at) {
        uint16_t bits = 0;
        std::memcpy(&bits, run.memory.buffers[1].bytes.data() + at, 2);
        return number_of({ElementType::F16, bits});
    };
    EXPECT_EQ(half(0), 256);
    uint16_t brain = 0;
    std::memcpy(&brain, run.memory.buffers[1].bytes.data() + 2, 2);
    EXPECT_EQ(number_of({ElementType::BF16, brain}), 256);
    EXPECT_EQ(half(4), 256);
    EXPECT_EQ(half(6), 512);
    float sums[2];
    std::memcpy(sums, run.memory.buffers[1].bytes.data() + 8, 8);
    EXPECT_EQ(sums[0], 256.0f);
    EXPECT_EQ(sums[1], 768.0f);
    EXPECT_EQ(half(16), 1);
    EXPECT_EQ(half(18), number_of({ElementType::F16, 0x3F80}));
    EXPECT_EQ(half(24), 64);
    EXPECT_EQ(half(26), 128);
}

// Sums are rounded to the nearest even half; of a maximum a number counts more than a NaN.
TEST(SmallForms, AtomicsOfHalvesRoundAsTheirTypeDoes) {
    KernelRun run = small_kernel(R"ptx(ld.param.u64 %d1, [k_1];
mov.b16 %rs1, 0x3C00;
mov.b16 %rs2, 0x7E00;
mov.b16 %rs3, 0x8000;
atom.global.add.noftz.f16 %rs4, [%d1], %rs1;
st.global.u16 [%d1+2], %rs4;
atom.global.v4.f16.min.noftz {%rs4, %rs5, %rs6, %rs7}, [%d1+8], {%rs2, %rs3, %rs1, %rs2};)ptx",
                                 1);
    run.memory.buffers[1].bytes.resize(64);
    run.launch.arrays = {};
    const uint16_t before[] = {0x6801, 0,      0,      0,
                               0x3C00, 0x0000, 0x7E00, 0x7E00};  // 2049 is no half: 2050 is near
    std::memcpy(run.memory.buffers[1].bytes.data(), before, sizeof before);
    EXPECT_TRUE(run.run().complete);
    uint16_t after[8];
    std::memcpy(after, run.memory.buffers[1].bytes.data(), sizeof after);
    const float sum = static_cast<float>(number_of({ElementType::F16, 0x6801})) + 1;
    EXPECT_EQ(number_of({ElementType::F16, after[0]}), std::nearbyint(sum / 2) * 2);
    EXPECT_EQ(after[1], before[0]);  // what it gave back
    EXPECT_EQ(after[4], 0x3C00);
    EXPECT_EQ(after[5], 0x8000);
    EXPECT_EQ(after[6], 0x3C00);
    EXPECT_EQ(after[7], 0x7FFF);  // a NaN as the GPU writes it
}

TEST(SmallForms, EachBlockIsAClusterOfItsOwn) {
    KernelRun run = small_kernel(R"ptx(mov.u32 %r1, %clusterid.y;
mov.u32 %r2, %nclusterid.y;
mov.u32 %r3, %cluster_ctaid.x;
mov.u32 %r4, %cluster_nctaid.x;
mov.u32 %r5, %cluster_ctarank;
mov.u32 %r6, %cluster_nctarank;
mov.pred %p1, %is_explicit_cluster;
@%p1 trap;
shl.b32 %r1, %r1, 4;
or.b32 %r1, %r1, %r3;
or.b32 %r1, %r1, %r5;
shl.b32 %r2, %r2, 8;
or.b32 %r1, %r1, %r2;
shl.b32 %r4, %r4, 16;
or.b32 %r1, %r1, %r4;
shl.b32 %r6, %r6, 20;
or.b32 %r1, %r1, %r6;
mov.u32 %r7, %ctaid.y;
mul.wide.u32 %d1, %r7, 4;
add.u64 %o, %o, %d1;
st.global.u32 [%o], %r1;)ptx",
                                 1);
    run.launch.grid = {1, 2, 1};
    EXPECT_TRUE(run.run().complete);
    EXPECT_EQ(outputs(run)[0], 0x0011'0210'0011'0200u);
}

// What only a GPU knows is made ready, for its sites and memory, and not run.
TEST(SmallForms, UnknownInstructionsAreForAGpu) {
    KernelRun run = small_kernel("frobnicate.x %r1, %r2;\nst.global.u32 [%o], %r1;", 32);
    EXPECT_EQ(sites_of(*run.program).size(), 1u);
    const auto outcome = run.try_run();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message, why_not_run(*run.program));
    EXPECT_EQ(outcome.error().message,
              "instruction 'frobnicate.x \t%r1, %r2;' (line 21 of the PTX) cannot be run on the CPU: "
              "Tilescope does not "
              "know what it computes; record the kernel on an NVIDIA GPU, with --backend gpu");
    EXPECT_EQ(why_not_run(*small_kernel("st.global.u32 [%o], %t;", 32).program), "");
    EXPECT_EQ(
        why_not_run(*small_kernel("multimem.st.global.b32 [%i], %r1;", 32).program),
        "instruction 'multimem.st.global.b32 \t[%i], %r1;' (line 21 of the PTX) cannot be run on the CPU: "
        "Tilescope reads it and does not run it; build the kernel without it");
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
