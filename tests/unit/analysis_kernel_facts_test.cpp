// What the PTX says of the way between two sites, and of what stores put into memory, in kernels written by hand.
#include <gtest/gtest.h>

#include "core/hazards/kernel_facts.h"
#include "core/ptx/parse.h"
#include "tests/launches.h"

namespace tilescope::analysis {
namespace {

trace::Trace empty_trace(const std::string& body) {
    trace::Trace trace;
    trace.meta.ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;
    .shared .align 4 .b8 s[128];
    ld.param.u64 %d0, [k_0];
    ld.param.u64 %d1, [k_1];
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p0, %r0, 7;
)" + body + "\n    ret;\n}\n";
    trace.launch.entry = "k";
    const auto module = ptx::parse(trace.meta.ptx, "hand.ptx");
    EXPECT_TRUE(module) << module.error().message;
    if (module) trace.sites = ptx::sites_of(module->kernels[0]);
    return trace;
}

TEST(KernelFacts, CountTheWarpSyncsOfAllPaths) {
    const trace::Trace trace = empty_trace(R"(
    st.shared.u32 [s], %r0;
    bar.warp.sync 0xffffffff;
    @%p0 bra $skip;
    ld.shared.u32 %r1, [s+4];
    bar.warp.sync -1;
$skip:
    mov.u32 %r2, 0;
$loop:
    bar.warp.sync %r0;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 9;
    @%p1 bra $loop;
    st.global.u32 [%d0], %r1;
    @%p0 bar.warp.sync -1;
    ld.global.u32 %r3, [%d1];)");
    ASSERT_EQ(trace.sites.size(), 4u);
    KernelFacts facts(trace);
    ASSERT_TRUE(facts.known());
    EXPECT_TRUE(facts.warp_syncs());
    EXPECT_FALSE(facts.fences());
    const uint8_t many = WarpSyncs::kMany;
    using Times = WarpSyncs::Times;  // of all lanes, and of those that %r0 names
    const auto times = [&](uint32_t from, uint32_t to) {
        const WarpSyncs& syncs = facts.syncs(facts.passed(from, to));
        return std::pair(syncs.times[0], syncs.times[1]);
    };
    EXPECT_EQ(times(KernelFacts::kEntry, 0), std::pair(Times{0, 0}, Times{0, 0}));
    EXPECT_EQ(times(0, 1), std::pair(Times{1, 1}, Times{0, 0}));
    EXPECT_EQ(times(0, 2), std::pair(Times{1, 1}, Times{1, many}));  // round the load
    EXPECT_EQ(times(1, 2), std::pair(Times{1, 1}, Times{1, many}));
    EXPECT_EQ(times(2, 3), std::pair(Times{0, 1}, Times{0, 0}));
    EXPECT_EQ(facts.syncs(facts.passed(0, 1)).order, std::vector<uint8_t>{0});
    EXPECT_FALSE(facts.syncs(facts.passed(1, 2)).one_order);
    EXPECT_EQ(facts.syncs(facts.behind(0)).times[0].least, 1);
    EXPECT_EQ(facts.syncs(facts.behind(1)).times[1].least, 1);
    EXPECT_EQ(facts.syncs(facts.behind(2)).times[0].least, 0);
}

// What a mask is in each lane: made of its number, of the launch's arguments, or read from memory.
TEST(KernelFacts, TellMasksLaneByLane) {
    trace::Trace trace = empty_trace(R"(
    mov.u32 %r1, %laneid;
    and.b32 %r2, %r1, 16;
    shl.b32 %r3, 65535, %r2;
    bar.warp.sync %r3;
    setp.lt.u32 %p1, %r0, 8;
    selp.b32 %r4, 255, -256, %p1;
    bar.warp.sync %r4;
    ld.param.u32 %r5, [k_0];
    bar.warp.sync %r5;
    ld.global.u32 %r6, [%d0];
    bar.warp.sync %r6;
    mov.u32 %r7, -1;
    @%p1 mov.u32 %r7, 255;
    bar.warp.sync %r7;)");
    trace.launch.block = {64, 1, 1};
    trace.launch.arguments = test_arguments({0xF0F0'F0F0u, 0});
    const KernelFacts facts(trace);
    const trace::Block block;
    EXPECT_EQ(facts.mask(0, block, 37), 0xFFFFu);
    EXPECT_EQ(facts.mask(0, block, 52), 0xFFFF'0000u);
    EXPECT_EQ(facts.mask(1, block, 7), 0xFFu);
    EXPECT_EQ(facts.mask(1, block, 8), 0xFFFF'FF00u);
    EXPECT_EQ(facts.mask(2, block, 8), 0xF0F0'F0F0u);
    EXPECT_EQ(facts.mask(3, block, 8), std::nullopt);
    EXPECT_EQ(facts.mask(4, block, 8), std::nullopt);
}

TEST(KernelFacts, TellFencesByTheirScopeAndWaitsFromOtherLoads) {
    const trace::Trace trace = empty_trace(R"(
    st.global.u32 [%d0], %r0;
    membar.gl;
    atom.global.add.u32 %r1, [%d1], 1;
    membar.cta;
$wait:
    ld.volatile.global.u32 %r2, [%d1];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra $wait;
$sum:
    ld.volatile.global.u32 %r3, [%d0];
    add.s64 %d0, %d0, 4;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 9;
    @%p2 bra $sum;)");
    ASSERT_EQ(trace.sites.size(), 4u);
    KernelFacts facts(trace);
    EXPECT_TRUE(facts.fences());
    EXPECT_TRUE(facts.passed(0, 1).grid_fence && facts.passed(0, 1).block_fence);
    EXPECT_TRUE(!facts.passed(1, 2).grid_fence && facts.passed(1, 2).block_fence);
    EXPECT_FALSE(facts.passed(2, 3).block_fence);
    const bool strong[] = {false, true, true, true}, polls[] = {false, false, true, false};
    for (uint32_t site = 0; site < 4; ++site) {
        EXPECT_EQ(facts.strong(site), strong[site]) << site;
        EXPECT_EQ(facts.polls(site), polls[site]) << site;
    }
}

TEST(KernelFacts, TellConstantsAndFillingsOfStores) {
    const trace::Trace trace = empty_trace(R"(
    mov.u32 %r1, 5;
    st.shared.u32 [s], %r1;
    st.shared.u32 [s], %r0;
    ld.global.u32 %r2, [%d0];
    mov.u32 %r3, 0;
    @%p0 mov.u32 %r3, %r2;
    mul.lo.u32 %r4, %r3, 2;
    st.shared.u32 [s], %r4;
    ld.shared.u32 %r5, [s+4];
    add.u32 %r6, %r5, %r2;
    st.shared.u32 [s], %r6;)");
    KernelFacts facts(trace);
    ASSERT_EQ(trace.sites.size(), 6u);
    EXPECT_EQ(facts.uniform(0), (UniformValue{5, false}));
    EXPECT_EQ(facts.uniform(1), std::nullopt);
    EXPECT_EQ(facts.uniform(3), std::nullopt);
    const bool fills[] = {false, false, false, true, false, false};
    for (uint32_t site = 0; site < 6; ++site) EXPECT_EQ(facts.fills(site), fills[site]) << site;
}

// Values are the same in all threads by how they are made: of arguments and the launch, not of a thread's number.
TEST(KernelFacts, TellValuesThatAreTheSameInAllThreads) {
    const trace::Trace trace = empty_trace(R"(
    ld.param.u32 %r1, [k_0];
    mov.u32 %r2, %ntid.x;
    mad.lo.s32 %r3, %r1, %r2, 4;
    setp.gt.s32 %p1, %r3, 7;
    selp.u32 %r4, 1, 0, %p1;
    st.shared.u32 [s], %r4;
    setp.gt.s32 %p2, %r3, 7;
    selp.u32 %r5, 1, 0, %p2;
    st.shared.u32 [s], %r5;
    setp.lt.s32 %p3, %r3, 7;
    selp.u32 %r6, 1, 0, %p3;
    st.shared.u32 [s], %r6;
    mov.u32 %r7, %ctaid.x;
    st.shared.u32 [s], %r7;
    xor.b32 %r8, %r0, %r0;
    st.shared.u32 [s], %r8;)");
    const KernelFacts facts(trace);
    ASSERT_EQ(trace.sites.size(), 5u);
    ASSERT_TRUE(facts.uniform(0) && facts.uniform(2) && facts.uniform(3));
    EXPECT_EQ(facts.uniform(0), facts.uniform(1));
    EXPECT_NE(facts.uniform(0), facts.uniform(2));
    EXPECT_FALSE(facts.uniform(0)->of_block);
    EXPECT_TRUE(facts.uniform(3)->of_block);
    EXPECT_EQ(facts.uniform(4), std::nullopt);
}

// A recording without PTX, or with that of another kernel, says nothing.
TEST(KernelFacts, KnowNothingOfOtherPtx) {
    trace::Trace trace = empty_trace("    st.global.u32 [%d0], 1;\n    bar.warp.sync -1;");
    trace.sites.push_back(trace.sites[0]);
    EXPECT_FALSE(KernelFacts(trace).known());
    EXPECT_FALSE(KernelFacts(trace).warp_syncs());
    trace.meta.ptx = "";
    EXPECT_EQ(KernelFacts(trace).uniform(0), std::nullopt);
    EXPECT_TRUE(KernelFacts(trace).fills(0));
}

}  // namespace
}  // namespace tilescope::analysis
