// Blocks of a cluster: what they do to each other's shared memory, their barrier, and what is wrong.
#include <random>

#include <gtest/gtest.h>

#include "core/base/cluster.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

constexpr uint32_t kClusterWords = 4096, kClusterTile = 256;

struct ClusterRun : KernelRun {
    Outcome outcome;
    Outcome& run() { return outcome = KernelRun::run(); }
};

// %t: the thread, %b: the block, %k: its rank; %i, %o: in and out; tile holds 1 KiB, bar an mbarrier that expects one
// arrival.
ClusterRun cluster_kernel(const std::string& body, uint32_t blocks, uint32_t of_cluster,
                          uint32_t threads = 32) {
    ClusterRun run;
    run.program = test::program_of(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .b32 %t; .reg .b32 %b; .reg .b32 %k; .reg .b32 %r<32>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<16>; .reg .b16 %h<4>;
.reg .pred %p<9>;
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b8 bar[8];
.loc 1 5 0
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mov.u32 %k, %cluster_ctarank;
setp.eq.u32 %p0, %t, 0;
@%p0 mbarrier.init.shared::cta.b64 [bar], 1;
bar.sync 0;
.loc 1 20 0
)" + body + "\nret;\n}\n.file 1 \"k.cu\"\n",
                                   "k");
    run.launch.grid = {blocks, 1, 1}, run.launch.cluster = {of_cluster, 1, 1};
    run.launch.block = {threads, 1, 1};
    test::give_tile_and_barrier(run, kClusterWords, kClusterTile);
    return run;
}

const std::string kSync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

uint32_t word_of(const ClusterRun& run, uint32_t buffer, uint32_t i) {
    uint32_t word = 0;
    std::memcpy(&word, run.memory.buffers[buffer].bytes.data() + size_t{4} * i, 4);
    return word;
}
void set_word(ClusterRun& run, uint32_t i, uint32_t word) {
    std::memcpy(run.memory.buffers[0].bytes.data() + size_t{4} * i, &word, 4);
}

// Each thread puts its word where the reversal of its cluster's words has it, by an address of 32 bits or a generic one.
TEST(Clusters, ReversalThroughSharedMemoryOfOthers) {
    const std::string place = R"(mad.lo.u32 %r1, %b, 32, %t;
mul.wide.u32 %d1, %r1, 4;
add.u64 %d2, %i, %d1;
ld.global.u32 %r2, [%d2];
mov.u32 %r3, %cluster_nctarank;
sub.u32 %r4, %r3, 1;
sub.u32 %r4, %r4, %k;
sub.u32 %r5, 31, %t;
shl.b32 %r5, %r5, 2;
)";
    const std::string
        narrow = "mov.u32 %r6, tile;\nadd.u32 %r6, %r6, %r5;\nmapa.shared::cluster.u32 %r7, %r6, %r4;\n" +
                 kSync + "st.shared::cluster.u32 [%r7], %r2;\n",
        wide =
            "mov.u64 %d3, tile;\ncvta.shared.u64 %d3, %d3;\ncvt.u64.u32 %d4, %r5;\nadd.u64 %d3, %d3, "
            "%d4;\nmapa.u64 %d5, %d3, %r4;\n" +
            kSync + "st.u32 [%d5], %r2;\n";
    const std::string out = kSync + R"(shl.b32 %r8, %t, 2;
mov.u32 %r9, tile;
add.u32 %r9, %r9, %r8;
ld.shared.u32 %r10, [%r9];
add.u64 %d6, %o, %d1;
st.global.u32 [%d6], %r10;
)";
    for (const std::string& store : {narrow, wide})
        for (const uint32_t of_cluster : {1u, 2u, 4u, 8u, 16u})
            for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
                ClusterRun run = cluster_kernel(place + store + out, 16, of_cluster);
                run.options.schedule = {kind, 7};
                for (uint32_t i = 0; i < 512; ++i) set_word(run, i, 1000 + i);
                ASSERT_TRUE(run.run().complete) << run.outcome.fault->message;
                const uint32_t of_all = 32 * of_cluster;
                for (uint32_t i = 0; i < 512; ++i)
                    ASSERT_EQ(word_of(run, 1, i), 1000 + i / of_all * of_all + of_all - 1 - i % of_all) << i;
            }
}

// The programming guide's histogram: bins are shared out among the blocks of a cluster, which all count in all of them.
TEST(Clusters, HistogramOverDistributedSharedMemory) {
    const std::string body = R"(shl.b32 %r1, %t, 2;
mov.u32 %r2, tile;
add.u32 %r3, %r2, %r1;
mov.u32 %r4, 0;
st.shared.u32 [%r3], %r4;
)" + kSync + R"(mov.u32 %r5, %ntid.x;
mad.lo.u32 %r6, %b, %r5, %t;
mul.wide.u32 %d1, %r6, 4;
add.u64 %d2, %i, %d1;
ld.global.u32 %r7, [%d2];
div.u32 %r8, %r7, 64;
rem.u32 %r9, %r7, 64;
shl.b32 %r9, %r9, 2;
add.u32 %r9, %r9, %r2;
mapa.shared::cluster.u32 %r10, %r9, %r8;
atom.shared::cluster.add.u32 %r11, [%r10], 1;
)" + kSync + R"(ld.shared.u32 %r12, [%r3];
mad.lo.u32 %r13, %k, 64, %t;
mul.wide.u32 %d3, %r13, 4;
add.u64 %d4, %o, %d3;
red.global.add.u32 [%d4], %r12;
)";
    for (const uint32_t of_cluster : {1u, 2u, 4u, 8u}) {
        ClusterRun run = cluster_kernel(body, 16, of_cluster, 64);
        std::mt19937 random(of_cluster);
        std::vector<uint32_t> plain(64 * of_cluster);
        for (uint32_t i = 0; i < 1024; ++i) {
            const uint32_t bin = static_cast<uint32_t>(random()) % (64 * of_cluster);
            set_word(run, i, bin), ++plain[bin];
        }
        ASSERT_TRUE(run.run().complete) << run.outcome.fault->message;
        for (uint32_t bin = 0; bin < 64 * of_cluster; ++bin)
            EXPECT_EQ(word_of(run, 1, bin), plain[bin]) << bin;
    }
}

TEST(Clusters, RegistersSayWhereABlockIs) {
    ClusterRun run = cluster_kernel(R"(mov.u32 %r1, %clusterid.x;
mov.u32 %r2, %clusterid.y;
mov.u32 %r3, %nclusterid.x;
mov.u32 %r4, %nclusterid.y;
mov.u32 %r5, %cluster_ctaid.x;
mov.u32 %r6, %cluster_ctaid.y;
mov.u32 %r7, %cluster_nctaid.x;
mov.u32 %r8, %cluster_nctaid.y;
mov.u32 %r9, %cluster_nctarank;
mov.pred %p1, %is_explicit_cluster;
@!%p1 trap;
mov.u32 %r10, tile;
mapa.shared::cluster.u32 %r11, %r10, 3;
getctarank.shared::cluster.u32 %r12, %r11;
getctarank.shared::cluster.u32 %r13, %r10;
mapa.shared::cluster.u32 %r14, %r11, %k;
setp.ne.u32 %p2, %r14, %r10;
@%p2 trap;
mov.u32 %r20, %ctaid.y;
mov.u32 %r21, %nctaid.x;
mad.lo.u32 %r22, %r20, %r21, %b;
mul.wide.u32 %d1, %r22, 48;
add.u64 %d2, %o, %d1;
st.global.v4.u32 [%d2], {%r1, %r2, %r3, %r4};
st.global.v4.u32 [%d2+16], {%r5, %r6, %r7, %r8};
st.global.v4.u32 [%d2+32], {%r9, %k, %r12, %r13};
)",
                                    4, 2, 1);
    run.launch.grid = {4, 6, 1}, run.launch.cluster = {2, 3, 1};
    ASSERT_TRUE(run.run().complete) << run.outcome.fault->message;
    for (uint32_t y = 0; y < 6; ++y)
        for (uint32_t x = 0; x < 4; ++x) {
            const uint32_t rank = x % 2 + 2 * (y % 3);
            const uint32_t wanted[] = {x / 2, y / 3, 2, 2, x % 2, y % 3, 2, 3, 6, rank, 3, rank};
            for (uint32_t i = 0; i < 12; ++i)
                EXPECT_EQ(word_of(run, 1, (y * 4 + x) * 12 + i), wanted[i]) << x << y << i;
        }
}

// A wait ends behind the arrivals of all; threads that have exited count; phases follow each other.
TEST(Clusters, TheBarrierHoldsAllBlocks) {
    const std::string body = R"(setp.eq.u32 %p1, %k, 1;
setp.gt.u32 %p2, %t, 40;
and.pred %p1, %p1, %p2;
@%p1 ret;
mov.u32 %r1, 0;
mov.u32 %r9, 0;
ROUND:
mov.u32 %r2, tile;
mapa.shared::cluster.u32 %r3, %r2, 0;
@%p0 st.shared.u32 [tile+4], %r1;
@%p0 atom.shared::cluster.add.u32 %r4, [%r3], 1;
barrier.cluster.arrive.release;
add.u32 %r1, %r1, 1;
barrier.cluster.wait.acquire;
@%p0 ld.shared::cluster.u32 %r5, [%r3];
@%p0 sub.u32 %r5, %r5, %r6;
barrier.cluster.arrive.relaxed;
barrier.cluster.wait;
add.u32 %r9, %r9, %r5;
setp.lt.u32 %p3, %r1, 3;
@%p3 bra ROUND;
mul.wide.u32 %d1, %b, 4;
add.u64 %d1, %o, %d1;
@%p0 st.global.u32 [%d1], %r9;
)";
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        ClusterRun run = cluster_kernel("ld.shared.u32 %r6, [tile];\n" + kSync + body, 4, 4, 64);
        run.options.unfilled = 0;
        run.options.schedule = {kind, 3};
        ASSERT_TRUE(run.run().complete) << run.outcome.fault->message;
        for (uint32_t block = 0; block < 4; ++block) EXPECT_EQ(word_of(run, 1, block), 4u + 8 + 12);
    }
}

// A copy goes to all blocks of a mask, and signals the barrier of each; one from shared memory to another block; stores that
// tell a barrier.
TEST(Clusters, CopiesLandInEachBlockOfTheMask) {
    const std::string wait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";
    const std::string out = R"(shl.b32 %r8, %t, 2;
mov.u32 %r9, tile;
add.u32 %r9, %r9, %r8;
ld.shared.u32 %r10, [%r9];
mad.lo.u32 %r11, %b, 32, %t;
mul.wide.u32 %d6, %r11, 4;
add.u64 %d6, %o, %d6;
st.global.u32 [%d6], %r10;
)" + kSync;
    // Block r asks for bytes [32 r, 32 r + 32) of the tile, for all four.
    ClusterRun multicast =
        cluster_kernel(kSync + R"(@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
mov.u16 %h1, 15;
shl.b32 %r1, %k, 5;
mov.u32 %r2, tile;
add.u32 %r2, %r2, %r1;
cvt.u64.u32 %d1, %r1;
add.u64 %d1, %i, %d1;
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d1], 32, [bar], %h1;
)" + wait + out,
                       4, 4);
    ClusterRun between = cluster_kernel(R"(add.u32 %r1, %k, 1;
rem.u32 %r1, %r1, 4;
shl.b32 %r2, %t, 2;
mov.u32 %r3, tile;
mov.u32 %r4, bar;
add.u32 %r5, %r3, %r2;
mad.lo.u32 %r6, %k, 100, %t;
st.shared.u32 [%r5+512], %r6;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
bar.sync 0;
)" + kSync + R"(mapa.shared::cluster.u32 %r12, %r3, %r1;
mapa.shared::cluster.u32 %r13, %r4, %r1;
@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r12], [tile+512], 128, [%r13];
)" + wait + out,
                                        4, 4);
    ClusterRun stores = cluster_kernel(R"(xor.b32 %r1, %k, 1;
shl.b32 %r2, %t, 2;
mov.u32 %r3, tile;
mov.u32 %r4, bar;
add.u32 %r5, %r3, %r2;
mad.lo.u32 %r6, %k, 100, %t;
@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
mov.u32 %r7, 5;
st.shared.u32 [%r5], %r7;
bar.sync 0;
)" + kSync + R"(mapa.shared::cluster.u32 %r12, %r5, %r1;
mapa.shared::cluster.u32 %r13, %r4, %r1;
st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r12], %r6, [%r13];
red.async.relaxed.cluster.mbarrier::complete_tx::bytes.shared::cluster.add.u32 [%r12], %r7, [%r13];
)" + wait + out,
                                       4, 2);
    for (uint32_t i = 0; i < 32; ++i) set_word(multicast, i, 7000 + i);
    for (ClusterRun* run : {&multicast, &between, &stores})
        ASSERT_TRUE(run->run().complete) << run->outcome.fault->message;
    for (uint32_t i = 0; i < 128; ++i) {
        EXPECT_EQ(word_of(multicast, 1, i), 7000 + i % 32);
        EXPECT_EQ(word_of(between, 1, i), (i / 32 + 3) % 4 * 100 + i % 32);
        EXPECT_EQ(word_of(stores, 1, i), (i / 32 ^ 1) % 2 * 100 + i % 32 + 5);
    }
}

std::string fault_of(const std::string& body, uint32_t blocks = 2, uint32_t of_cluster = 2,
                     uint32_t threads = 32) {
    ClusterRun run = cluster_kernel(body, blocks, of_cluster, threads);
    run.run();
    return run.outcome.fault ? run.outcome.fault->message : "";
}

TEST(Clusters, WhatIsWrongIsSaid) {
    const std::string to = "mov.u32 %r1, tile;\nmapa.shared::cluster.u32 %r2, %r1, ";
    EXPECT_EQ(
        fault_of(to + "5;\nst.shared::cluster.u32 [%r2], %t;"),
        "thread[0] of block(0) writes shared memory of rank 5 at line 20, but its cluster has 2 blocks; give "
        "mapa a rank below that");
    EXPECT_EQ(fault_of(kSync + "setp.eq.u32 %p1, %k, 1;\n@%p1 ret;\n" + to +
                       "1;\nld.shared::cluster.u32 %r3, [%r2];"),
              "thread[0] of block(0) reads shared memory of block(1) at line 20, which has exited; let the "
              "blocks of "
              "a cluster wait for each other before one ends, with cluster.sync()");
    EXPECT_EQ(fault_of(to + "1;\nst.shared::cluster.u32 [%r2+1040], %t;"),
              "thread[0] of block(0) writes byte 1040 of block(1)'s shared memory at line 20, outside its "
              "1,032 bytes");
    EXPECT_EQ(fault_of(to + "1;\nld.shared.u32 %r3, [%r2];"),
              "thread[0] of block(0) reads another block's shared memory at line 20, with an instruction of "
              "its own "
              "block's; use .shared::cluster");
    EXPECT_EQ(
        fault_of("barrier.cluster.wait;"),
        "thread[0] of block(0) waits at the cluster's barrier at line 20 and has not arrived at it before");
    EXPECT_EQ(
        fault_of("barrier.cluster.arrive;\nbarrier.cluster.arrive;"),
        "thread[0] of block(0) arrives at the cluster's barrier at line 20 again before it has waited there");
    // One of block 1 waits for a byte that nobody brings.
    const std::string waits = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n@!%p1 bra W;\n";
    EXPECT_EQ(fault_of("setp.eq.u32 %p2, %k, 0;\n@%p2 bra END;\n" + waits + "END:\n" + kSync),
              "in block(1) lanes 0 to 31 of warp 0 wait at line 20 for the end of a phase of parity 0 of "
              "bar, which "
              "is in phase 0, with 0 of 1 arrivals, and 1 other block waits too: no thread is left that "
              "could change "
              "it, so that the kernel never ends");
    EXPECT_EQ(fault_of("setp.eq.u32 %p2, %k, 0;\nsetp.lt.u32 %p3, %t, 32;\nand.pred %p2, %p2, %p3;\n@%p2 bra "
                       "ALL;\nbar.sync "
                       "1, 64;\nALL:\n" +
                           kSync,
                       2, 2, 64),
              "thread[0] of block(0) waits for ever at the cluster's barrier at line 20: thread[32] of "
              "block(0) does not "
              "arrive at it");
    ClusterRun odd = cluster_kernel(kSync, 3, 2);
    EXPECT_THROW(odd.run(), std::runtime_error);
}

}  // namespace
}  // namespace tilescope::simt
