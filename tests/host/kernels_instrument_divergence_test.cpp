// Instrumented kernels whose warps are really divided: parts at different sites, at the same site in
// different trips, gone early; guarded requests; generic addresses. None of the shipped kernels is as bad.
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"

namespace tilescope {
namespace {

constexpr uint64_t kIn = 0x7F00'0000'0000, kOut = 0x7F00'0001'0000;

// %t: number of the thread in its block; %i, %o: its element of in (64 words) and of out.
std::string kernel_of(const std::string& body) {
    return R"(
.version 6.2
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .shared .align 4 .b8 tile[512];
    .reg .b32 %t; .reg .b32 %r<12>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<9>; .reg .pred %p<9>;
    mov.u32 %r0, %tid.z;
    mov.u32 %r1, %ntid.y;
    mov.u32 %r2, %tid.y;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %t, %r0, %r1, %r2;
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mul.wide.u32 %d0, %t, 4;
    add.s64 %i, %i, %d0;
    add.s64 %o, %o, %d0;
    mov.u32 %r3, 5;
    mov.u32 %r4, 0;
)" + body + "\n    ret;\n}\n";
}

void expect_same(const std::string& body, Dim3 block) {
    for (const uint32_t chunk_bytes : {512u, 4096u})
        for (const bool exact : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << body << block.x << " x " << block.y << " x " << block.z << " exact " << exact);
            const auto module = ptx::parse(kernel_of(body), "hand.ptx");
            ASSERT_TRUE(module) << module.error().message;
            const auto program = simt::prepare(*module, "k");
            ASSERT_TRUE(program) << program.error().message;
            const std::vector<ptx::Site> sites = simt::sites_of(**program);
            const std::vector<Array> arrays = {
                {"in", Space::Global, ArrayRole::Input, 1, 160, 4, kIn, 0, ""},
                {"out", Space::Global, ArrayRole::Output, 1, 160, 4, kOut, 1, ""},
                {"tile", Space::Shared, ArrayRole::Shared, 1, 128, 4, 0, -1, "tile"}};
            simt::Launch launch;
            launch.grid = {2, 1, 1}, launch.block = block;
            launch.parameters = {kIn, kOut};
            simt::GlobalMemory before;
            before.buffers = {{"in", kIn, std::vector<std::byte>(640)},
                              {"out", kOut, std::vector<std::byte>(640)}};
            for (uint32_t i = 0; i < 160; ++i) {
                const uint32_t value = i * 7 % 13;
                std::memcpy(&before.buffers[0].bytes[4 * i], &value, 4);
            }

            simt::GlobalMemory plain = before;
            std::vector<std::unique_ptr<trace::BlockRecorder>> recorders(2);
            const auto outcome =
                simt::run(**program, launch, plain, {.threads = 1}, [&](const simt::BlockId& b) {
                    recorders[b.x] = std::make_unique<trace::BlockRecorder>(arrays, sites, b);
                    return recorders[b.x].get();
                });
            ASSERT_TRUE(outcome);
            ASSERT_TRUE(outcome->complete) << (outcome->fault ? outcome->fault->message : "");
            trace::Meta meta;
            const trace::Trace expected = trace::assemble(meta, sites, arrays, std::move(recorders));
            EXPECT_GT(expected.steps(), 0u);

            InstrumentedRun run;
            run.options.chunk_bytes = chunk_bytes;
            run.options.exact = exact;
            run.options.same_high = true, run.options.high = kIn >> 32;
            run.threads = 1;
            ASSERT_TRUE(run.run(*module, "k", launch, before, arrays, sites)) << run.problem;
            EXPECT_EQ(run.flags, 0u);
            EXPECT_TRUE(same_bits(plain, run.memory));
            const trace::Trace got = trace::assemble(meta, sites, arrays, std::move(run.decoded.blocks));
            expect_same_requests(expected, got);
        }
}

void expect_same(const std::string& body) {
    for (const Dim3 block : {Dim3{32, 1, 1}, Dim3{45, 1, 1}, Dim3{9, 5, 2}, Dim3{3, 1, 1}})
        expect_same(body, block);
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

}  // namespace
}  // namespace tilescope
