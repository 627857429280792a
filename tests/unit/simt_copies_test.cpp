// cp.async: its bytes are in shared memory from the wait on and not before, group by group, thread by thread.
#include <numeric>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::KernelRun, test::kIn, test::kOut;

constexpr uint32_t kWordsOfArray = 256, kWordsOfTile = 256;

// A kernel of in and out (256 words each; in[i] is 1000 + i) with `tile` of as many: %t is the thread, %i and
// %o its words of in and out, %s its word of tile, which holds 7.
KernelRun copying_kernel(const std::string& body, uint32_t threads = 32) {
    KernelRun run;
    run.program = test::program_of(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .b32 %t; .reg .b32 %s; .reg .b32 %r<9>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<9>; .reg .pred %p<9>;
    .shared .align 16 .b8 tile[1024];
    .loc 1 10 0
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d0, %t, 4;
    add.s64 %i, %i, %d0;
    add.s64 %o, %o, %d0;
    shl.b32 %s, %t, 2;
    mov.u32 %r0, tile;
    add.u32 %s, %s, %r0;
    mov.u32 %r1, 7;
    st.shared.u32 [%s], %r1;
)" + body + "\n    ret;\n}\n.file 1 \"k.cu\"\n",
                                   "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kIn, kOut});
    run.memory.buffers = {{"in", kIn, Bytes(kWordsOfArray * 4)}, {"out", kOut, Bytes(kWordsOfArray * 4)}};
    std::vector<uint32_t> in(kWordsOfArray);
    std::iota(in.begin(), in.end(), 1000);
    std::memcpy(run.memory.buffers[0].bytes.data(), in.data(), kWordsOfArray * 4);
    run.launch.arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, kWordsOfArray, kIn),
                         test_array("out", Space::Global, ArrayRole::Output, 1, kWordsOfArray, kOut),
                         test_array("tile", Space::Shared, ArrayRole::Shared, 1, kWordsOfTile, 0, "tile")};
    return run;
}

std::vector<uint32_t> out_of(KernelRun run) {
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    std::vector<uint32_t> out(kWordsOfArray);
    std::memcpy(out.data(), run.memory.buffers[1].bytes.data(), kWordsOfArray * 4);
    return out;
}

std::string fault_of(KernelRun run) {
    const Outcome outcome = run.run();
    return outcome.fault ? outcome.fault->message : "";
}

TEST(Copies, AreThereFromTheWaitOnAndNotBefore) {
    const auto out = out_of(copying_kernel(R"(
    cp.async.ca.shared.global [%s], [%i], 4;
    cp.async.commit_group;
    ld.shared.u32 %r2, [%s];
    cp.async.wait_group 0;
    ld.shared.u32 %r3, [%s];
    st.global.u32 [%o], %r2;
    st.global.u32 [%o+128], %r3;)"));
    for (uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(out[t], 7u);
        EXPECT_EQ(out[t + 32], 1000 + t);
    }
}

TEST(Copies, WhatWasReadIsWhatStoodThereWhenTheyWereAskedFor) {
    const auto out = out_of(copying_kernel(R"(
    cp.async.ca.shared.global [%s], [%i], 4;
    st.global.u32 [%i], %r1;
    cp.async.wait_all;
    ld.shared.u32 %r2, [%s];
    st.global.u32 [%o], %r2;)"));
    EXPECT_EQ(out[5], 1005u);
}

TEST(Copies, WaitingLeavesTheYoungestGroups) {
    const std::string ask = R"(
    cp.async.ca.shared.global [%s], [%i], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%s+128], [%i+128], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%s+256], [%i+256], 4;
)",
                      look = R"(
    ld.shared.u32 %r2, [%s];
    ld.shared.u32 %r3, [%s+128];
    ld.shared.u32 %r4, [%s+256];
    st.global.u32 [%o], %r2;
    st.global.u32 [%o+128], %r3;
    st.global.u32 [%o+256], %r4;)";
    constexpr uint32_t kNothing = 0xFFFF'FFFF;  // uninitialised shared memory
    struct Case {
        const char* wait;
        bool first, second, third;
    };
    for (const Case& c :
         {Case{"cp.async.wait_group 2;", false, false, false},
          Case{"cp.async.wait_group 1;", true, false, false},
          Case{"cp.async.wait_group 0;", true, true, false},  // the third is in no closed group
          Case{"cp.async.commit_group;\ncp.async.wait_group 1;", true, true, false},
          Case{"cp.async.commit_group;\ncp.async.wait_group 0;", true, true, true},
          Case{"cp.async.wait_all;", true, true, true},
          Case{"cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 3;", true, false,
               false}}) {
        const auto out = out_of(copying_kernel(ask + c.wait + look));
        EXPECT_EQ(out[9], c.first ? 1009u : 7u) << c.wait;
        EXPECT_EQ(out[9 + 32], c.second ? 1041u : kNothing) << c.wait;
        EXPECT_EQ(out[9 + 64], c.third ? 1073u : kNothing) << c.wait;
    }
}

TEST(Copies, GroupsAndWaitsAreAThreadsOwn) {
    // Odd threads alone commit and wait.
    const auto out = out_of(copying_kernel(R"(
    cp.async.ca.shared.global [%s], [%i], 4;
    and.b32 %r2, %t, 1;
    setp.eq.u32 %p0, %r2, 0;
    @%p0 bra $even;
    cp.async.commit_group;
    cp.async.wait_group 0;
$even:
    ld.shared.u32 %r3, [%s];
    st.global.u32 [%o], %r3;)"));
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t % 2 ? 1000 + t : 7u);
}

TEST(Copies, ABarrierShowsThemToOtherWarps) {
    const auto out = out_of(copying_kernel(R"(
    cp.async.ca.shared.global [%s], [%i], 4;
    cp.async.wait_all;
    bar.sync 0;
    xor.b32 %r2, %t, 63;
    shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r2, %r0;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%o], %r3;)",
                                           64));
    for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], 1000 + (t ^ 63));
}

TEST(Copies, BytesThatAreNotReadBecomeZero) {
    // Thread t reads t bytes of 16, of in from its 16 t-th byte on; those that read none may point anywhere.
    KernelRun run = copying_kernel(R"(
    mul.lo.u32 %r2, %t, 16;
    add.u32 %r3, %r0, %r2;
    cvt.u64.u32 %d1, %r2;
    ld.param.u64 %d2, [k_0];
    add.s64 %d1, %d1, %d2;
    setp.eq.u32 %p0, %t, 0;
    selp.b64 %d1, 16, %d1, %p0;
    cp.async.cg.shared.global [%r3], [%d1], 16, %t;
    cp.async.wait_all;
    ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];
    ld.param.u64 %d3, [k_1];
    cvt.u64.u32 %d4, %r2;
    add.s64 %d3, %d3, %d4;
    st.global.v4.u32 [%d3], {%r4, %r5, %r6, %r7};)",
                                   17);
    run.run();
    const Bytes &in = run.memory.buffers[0].bytes, &out = run.memory.buffers[1].bytes;
    for (size_t t = 0; t < 17; ++t)
        for (size_t byte = 0; byte < 16; ++byte)
            EXPECT_EQ(out[16 * t + byte], byte < t ? in[16 * t + byte] : std::byte{0}) << t << " " << byte;
    // The load is of those that read, and comes right before the store of all.
    const auto& events = run.events[0];
    ASSERT_GE(events.size(), 3u);
    EXPECT_TRUE(events[1].is_load && events[1].space == Space::Global && events[1].mask == 0x1FFFEu);
    EXPECT_TRUE(!events[2].is_load && events[2].space == Space::Shared && events[2].mask == 0x1FFFFu);
}

TEST(Copies, OfNothingAtAllLoadNothing) {
    KernelRun run = copying_kernel(R"(
    mov.u64 %d1, 0;
    cp.async.ca.shared.global [%s], [%d1], 4, 0;
    cp.async.wait_all;
    ld.shared.u32 %r3, [%s];
    st.global.u32 [%o], %r3;)");
    const auto out = out_of(run);
    EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0u), 0u);
    run.run();
    ASSERT_EQ(run.events[0].size(), 4u);  // the first store, the copy's store, the load, the last store
    EXPECT_EQ(run.events[0][1].space, Space::Shared);
}

TEST(Copies, AreSplitInManyAsTheyAreSmall) {
    // 4, 8 and 16 bytes a thread bring the same.
    for (const auto& [bytes, kind, threads] : {std::tuple(4u, "ca", 32u), {8u, "ca", 16u}, {16u, "cg", 8u}}) {
        const std::string size = std::to_string(bytes);
        const auto out = out_of(copying_kernel("mul.lo.u32 %r2, %t, " + size + ";\nadd.u32 %r3, %r0, %r2;\n" +
                                                   "cvt.u64.u32 %d1, %r2;\nld.param.u64 %d2, [k_0];\n" +
                                                   "add.s64 %d2, %d2, %d1;\ncp.async." + kind +
                                                   ".shared.global [%r3], [%d2], " + size +
                                                   ";\ncp.async.wait_all;\nbar.sync 0;\n"
                                                   R"(
    ld.shared.u32 %r4, [%s];
    ld.shared.u32 %r5, [tile+124];
    st.global.u32 [%o], %r4;
    st.global.u32 [%o+128], %r5;)",
                                               threads));
        for (uint32_t t = 0; t < threads; ++t) {
            EXPECT_EQ(out[t], 1000 + t);
            EXPECT_EQ(out[32 + t], 1031u);
        }
    }
}

TEST(Copies, FaultsNameTheSideThatIsWrong) {
    EXPECT_EQ(fault_of(copying_kernel(".loc 1 20 0\ncp.async.ca.shared.global [%s], [%i+1020], 4;")),
              "thread[1] of block(0) reads in[1,0] at line 20, outside in's 1 × 256 elements");
    EXPECT_EQ(fault_of(copying_kernel(".loc 1 20 0\ncp.async.ca.shared.global [%s+1020], [%i], 4;")),
              "thread[1] of block(0) writes tile[1,0] at line 20, outside tile's 1 × 256 elements");
    EXPECT_NE(fault_of(copying_kernel(".loc 1 20 0\ncp.async.ca.shared.global [%s+4], [%i], 8;")), "");
    EXPECT_NE(fault_of(copying_kernel(".loc 1 20 0\ncp.async.ca.shared.global [%s], [%i+2], 4;")), "");
}

TEST(Copies, MoreThanAnyKernelNeedsAreRefused) {
    EXPECT_EQ(fault_of(copying_kernel(R"(
    mov.u32 %r2, 0;
$again:
    .loc 1 20 0
    cp.async.ca.shared.global [%s], [%i], 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p0, %r2, 5000;
    @%p0 bra $again;)")),
              "thread[0] of block(0) asks for a copy at line 20 while 4,096 of its warp are under way "
              "that nobody "
              "waits for");
}

TEST(Copies, NobodyWaitsForAreThereWhenTheThreadHasEnded) {
    // Warp 0 copies and ends; warp 1 looks after it.
    const auto out = out_of(copying_kernel(R"(
    setp.ge.u32 %p0, %t, 32;
    @%p0 bra $second;
    cp.async.ca.shared.global [%s], [%i], 4;
    ret;
$second:
    bar.sync 0;
    ld.shared.u32 %r2, [%s+-128];
    st.global.u32 [%o], %r2;)",
                                           64));
    for (uint32_t t = 32; t < 64; ++t) EXPECT_EQ(out[t], 1000 + t - 32);
}

}  // namespace
}  // namespace tilescope::simt
