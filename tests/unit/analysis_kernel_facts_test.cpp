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
    const auto range = [&](uint32_t from, uint32_t to) {
        return std::pair(facts.passed(from, to).least, facts.passed(from, to).most);
    };
    const uint8_t many = Passed::kMany;
    using Range = std::pair<uint8_t, uint8_t>;
    EXPECT_EQ(range(KernelFacts::kEntry, 0), Range(0, 0));
    EXPECT_EQ(range(0, 1), Range(1, 1));
    EXPECT_EQ(range(0, 2), Range(2, many));  // round the load
    EXPECT_EQ(range(1, 2), Range(2, many));
    EXPECT_EQ(range(2, 3), Range(0, 1));
    EXPECT_EQ(facts.syncs_behind(0), 1);
    EXPECT_EQ(facts.syncs_behind(1), 2);
    EXPECT_EQ(facts.syncs_behind(2), 0);
    EXPECT_EQ(facts.syncs_behind(3), 0);
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
    EXPECT_EQ(facts.constant(0), std::optional<uint64_t>(5));
    EXPECT_EQ(facts.constant(1), std::nullopt);
    EXPECT_EQ(facts.constant(3), std::nullopt);
    const bool fills[] = {false, false, false, true, false, false};
    for (uint32_t site = 0; site < 6; ++site) EXPECT_EQ(facts.fills(site), fills[site]) << site;
}

// A recording without PTX, or with that of another kernel, says nothing.
TEST(KernelFacts, KnowNothingOfOtherPtx) {
    trace::Trace trace = empty_trace("    st.global.u32 [%d0], 1;\n    bar.warp.sync -1;");
    trace.sites.push_back(trace.sites[0]);
    EXPECT_FALSE(KernelFacts(trace).known());
    EXPECT_FALSE(KernelFacts(trace).warp_syncs());
    trace.meta.ptx = "";
    EXPECT_EQ(KernelFacts(trace).constant(0), std::nullopt);
    EXPECT_TRUE(KernelFacts(trace).fills(0));
}

}  // namespace
}  // namespace tilescope::analysis
