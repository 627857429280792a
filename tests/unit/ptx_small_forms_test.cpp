// Forms that compilers and inline assembly write beside the plain ones: read, printed again, refused.
#include <gtest/gtest.h>

#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

// The kernel of a body, of which a second reading of its print prints the same.
Kernel read_twice(const std::string& body) {
    const Module module = test::parsed(test::kernel_text(body + "\nret;"));
    const std::string printed = print(module);
    const auto again = parse(printed, "again.ptx");
    EXPECT_TRUE(again) << again.error().message << "\n" << printed;
    if (again) {
        EXPECT_EQ(print(*again), printed);
    }
    return module.kernels.empty() ? Kernel{} : module.kernels[0];
}

std::string refusal_of_form(const std::string& body) { return test::refusal(test::kernel_text(body)); }

TEST(PtxSmallForms, OneElementInBraces) {
    const Kernel kernel = read_twice(R"ptx(ld.global.b32 { %r2 }, [ %rd1 + 0 ];
@%p1 st.global.b32 [ %rd2 + 4 ], { %r2 };
st.shared.f32 [tile], {0f3F800000};)ptx");
    ASSERT_EQ(kernel.instructions.size(), 4u);
    EXPECT_EQ(kernel.instructions[0].operands[0].kind, Operand::Kind::Register);
    EXPECT_EQ(kernel.instructions[1].operands[1].kind, Operand::Kind::Register);
    EXPECT_EQ(kernel.instructions[2].operands[1].bits, 0x3F80'0000u);
    for (const Site& site : sites_of(kernel)) EXPECT_EQ(site.bytes, 4u);
    for (const char* wrong :
         {"ld.global.b32 {%r1, %r2}, [%rd1];", "ld.global.b32 {%r1, [%rd1];", "st.global.b32 [%rd1], {};",
          "add.s32 %r1, {%r2}, 1;", "atom.global.add.u32 {%r1}, [%rd1], 1;"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, TheOrderOfAnAtomicMayStandBehindTheOperation) {
    const Kernel kernel = read_twice(R"ptx(atom.add.release.gpu.u32 %r2, [%rd1], %r1;
atom.add.relaxed.cta.u32 %r2, [%rd1], 1;
red.add.release.gpu.global.u32 [%rd1], 1;
atom.acquire.cluster.global.cas.b32 %r1, [%rd1], %r2, %r3;)ptx");
    ASSERT_EQ(kernel.instructions.size(), 5u);
    EXPECT_EQ(kernel.instructions[0].atomic, Atomic::Add);
    EXPECT_EQ(kernel.instructions[0].space, StateSpace::Generic);
    EXPECT_EQ(kernel.instructions[2].space, StateSpace::Global);
    EXPECT_NE(refusal_of_form("atom.global.add.u32.relaxed %r1, [%rd1], 3;"), "accepted");
}

TEST(PtxSmallForms, RegistersOfOneByte) {
    const Kernel kernel = read_twice(R"ptx(.reg .u8 datum;
.reg .s8 %small<2>;
.reg .b8 byte;
ld.global.nc.u8 datum, [%rd1];
ld.global.s8 %small1, [%rd1];
cvt.u16.u8 %rs1, datum;
cvt.s8.s32 %small0, %r1;
st.global.b8 [%rd1+8], byte;)ptx");
    ASSERT_EQ(kernel.instructions.size(), 6u);
    EXPECT_EQ(sites_of(kernel).front().bytes, 1u);
    // They move and are converted, and nothing else.
    for (const char* wrong : {".reg .u8 a; ld.global.u16 a, [%rd1];", ".reg .u8 a; add.u16 %rs1, a, 1;",
                              ".reg .u8 a; cvt.u8.u16 %rs1, a; cvt.u16.u16 %rs1, a;", ".reg .e4m3 a;"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, ScopesAndWordsThatMeanNothingHere) {
    read_twice(R"ptx(ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];
st.mmio.relaxed.sys.global.u32 [%rd1], %r1;
ld.acquire.cluster.global.u32 %r1, [%rd1];
st.release.cluster.global.u32 [%rd1], %r1;
ld.global.u32 %r1, [%rd1+4].unified;
fence.acq_rel.cluster;
fence.sc.cluster;
barrier.cta.arrive.aligned 3, 64;
bar.arrive %r1, %r2;)ptx");
    for (const char* wrong :
         {"bar.arrive 1;", "st.acquire.gpu.u32 [%rd1], %r1;", "ld.cluster.gm.u32 %r1, [%rd1];"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, CachePolicies) {
    const Kernel kernel = read_twice(R"ptx(createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;
createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd2, 0f3F000000;
createpolicy.fractional.L2::evict_first.b64 %rd2;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd3, [%rd1+8], 1024, %r1;
createpolicy.cvt.L2.b64 %rd4, %rd3;
ld.global.L1::evict_last.L2::cache_hint.b32 { %r2 }, [ %rd1 + 0 ], %rd2;
ld.global.nc.L1::no_allocate.L2::evict_first.L2::256B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
st.global.L1::no_allocate.L2::cache_hint.v2.b32 [%rd1], {%r1, %r2}, %rd2;
atom.global.add.L2::cache_hint.u32 %r1, [%rd1], 7, %rd2;
red.relaxed.gpu.global.add.L2::cache_hint.u32 [%rd1], 7, %rd2;
prefetch.global.L2::evict_last [%rd1];
discard.global.L2 [%rd1], 128;
applypriority.global.L2::evict_normal [%rd1], 128;)ptx");
    ASSERT_EQ(kernel.instructions.size(), 14u);
    EXPECT_EQ(kernel.registers[static_cast<size_t>(kernel.instructions[5].policy)].name, "%rd2");
    EXPECT_EQ(kernel.instructions[5].operands.size(), 2u);
    EXPECT_EQ(kernel.instructions[8].operands.size(), 3u);
    EXPECT_EQ(kernel.instructions[6].policy, -1);
    EXPECT_EQ(sites_of(kernel).size(), 5u);
    for (const char* wrong :
         {"ld.global.L2::cache_hint.b32 %r2, [%rd1];", "ld.global.b32 %r2, [%rd1], %rd2;",
          "ld.global.L2::cache_hint.b32 %r2, [%rd1], %r1;", "st.global.L2::256B.b32 [%rd1], %r1;",
          "createpolicy.L2::evict_last.b64 %rd2;", "createpolicy.cvt.L2.b64 %rd2;",
          "createpolicy.range.L2::evict_last.b64 %rd3, [%rd1], 8;",
          "createpolicy.fractional.L2::evict_last.b32 %r2;", "discard.global.L2 [%rd1];"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

// The operand that may be left out and the policy are told apart by how many there are.
TEST(PtxSmallForms, CopiesWithAPolicy) {
    const std::string head =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n";
    const Module module =
        test::parsed(head + R"ptx(cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;
cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r1], [%rd1], 16, %r2, %rd2;
cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 4, 0, %rd3;
ret; })ptx");
    ASSERT_EQ(module.kernels.size(), 1u);
    const Kernel& kernel = module.kernels[0];
    EXPECT_EQ(kernel.instructions[0].operands.size(), 3u);
    EXPECT_EQ(kernel.instructions[1].operands.size(), 4u);
    EXPECT_EQ(kernel.registers[static_cast<size_t>(kernel.instructions[2].policy)].name, "%rd3");
    const auto again = parse(print(module), "again.ptx");
    ASSERT_TRUE(again);
    EXPECT_EQ(print(*again), print(module));
    for (const char* wrong : {"cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16;",
                              "cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %r2;",
                              "cp.async.cg.shared.global.L2::256B.L2::cache_hint [%r1], [%rd1], 16, %rd2;",
                              "cp.async.cg.shared.global [%r1], [%rd1], 16, %r2, %rd2;"})
        EXPECT_NE(test::refusal(head + wrong + "\nret; }"), "accepted") << wrong;
}

TEST(PtxSmallForms, WhatHopperSaysOfWarpsAndProxies) {
    const Kernel kernel = read_twice(R"ptx(elect.sync %r1|%p1, -1;
elect.sync _|%p1, %r2;
setmaxnreg.inc.sync.aligned.u32 232;
setmaxnreg.dec.sync.aligned.u32 40;
fence.proxy.async;
fence.proxy.async.shared::cta;
fence.proxy.async.global;
fence.proxy.alias;
fence.mbarrier_init.release.cluster;
fence.proxy.tensormap::generic.release.gpu;
fence.acq_rel.cluster;)ptx");
    ASSERT_EQ(kernel.instructions.size(), 12u);
    for (size_t i = 4; i < 10; ++i) EXPECT_FALSE(orders_threads(kernel.instructions[i])) << i;
    EXPECT_TRUE(orders_threads(kernel.instructions[10]));
    for (const char* wrong : {"setmaxnreg.inc.u32 40;", "setmaxnreg.sync.aligned.u32 40;", "elect.sync %r1;x",
                              "fence.async;", "fence.shared::cta;", "membar.proxy;", "elect %r1|%p1, -1;"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, AccessesOf32BytesAndRegistersOf16) {
    const Kernel kernel = read_twice(R"ptx(.reg .b128 %rq<3>;
ld.global.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd1];
ld.global.nc.L2::evict_first.v4.u64 {%rd2, %rd3, _, %rd5}, [%rd1+32];
st.global.v8.b32 [%rd1], {%r0, %r1, %r2, %r3, %r4, 5, %r6, %r7};
st.v4.f64 [%rd1], {%fd0, %fd1, %fd2, %fd3};
ld.global.b128 %rq1, [%rd1];
mov.b128 {%rd2, %rd3}, %rq1;
mov.b128 %rq2, {%rd3, %rd2};
mov.b128 %rq0, %rq2;
st.shared.b128 [tile+16], %rq2;)ptx");
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 6u);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(sites[i].bytes, 32u);
    EXPECT_EQ(sites[4].bytes, 16u);
    EXPECT_EQ(sites[5].bytes, 16u);
    for (const char* wrong :
         {"ld.shared.v8.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [tile];",
          "ld.global.v8.f64 {%fd0, %fd1, %fd2, %fd3}, [%rd1];", "ld.global.v8.u16 {%rs0, %rs1}, [%rd1];",
          ".reg .b128 q; ld.global.v4.b128 {q, q, q, q}, [%rd1];", ".reg .b128 q; mov.b128 q, 1;",
          ".reg .b128 q; mov.b128 q, {%r0, %r1, %r2, %r3};", ".reg .b128 q; add.b128 q, q, q;",
          ".reg .b128 q; ld.param.b128 q, [k_param_0];", ".reg .b128 q; ld.global.b64 q, [%rd1];"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, AtomicsOfHalvesAndVectors) {
    const Kernel kernel = read_twice(R"ptx(.reg .f16 %h<4>;
atom.global.add.noftz.f16 %h1, [%rd1], %h2;
atom.add.noftz.bf16 %rs1, [%rd1], %rs2;
red.relaxed.gpu.shared.add.noftz.f16x2 [tile], %r1;
red.global.add.noftz.bf16x2 [%rd1], %r1;
red.global.v2.f32.add [%rd1], {%f1, %f2};
atom.global.v4.f16.max.noftz {%h0, %h1, %h2, %h3}, [%rd1], {%h3, %h2, %h1, %h0};
red.relaxed.gpu.global.add.noftz.v2.bf16x2 [%rd1], {%r1, %r2};)ptx");
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 7u);
    const uint32_t bytes[] = {2, 2, 4, 4, 8, 8, 8};
    for (size_t i = 0; i < sites.size(); ++i) EXPECT_EQ(sites[i].bytes, bytes[i]) << i;
    for (const char* wrong :
         {"red.global.add.f16x2 [%rd1], %r1;", "red.global.min.noftz.f16x2 [%rd1], %r1;",
          "red.global.add.noftz.f32 [%rd1], %f1;", "red.global.v4.f32.add [%rd1], {%f1, %f2, %f3, %f4};",
          "red.shared.v2.f32.add [tile], {%f1, %f2};", "red.global.v2.u32.add [%rd1], {%r1, %r2};",
          "red.global.v2.f32.max [%rd1], {%f1, %f2};", "red.global.v2.f32.add [%rd1], %f1;"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

TEST(PtxSmallForms, ClustersOfALaunchWithoutThem) {
    read_twice(R"ptx(mov.u32 %r1, %clusterid.x;
mov.u32 %r2, %nclusterid.z;
mov.u32 %r3, %cluster_ctaid.y;
mov.u32 %r4, %cluster_nctaid.x;
mov.u32 %r5, %cluster_ctarank;
mov.u32 %r6, %cluster_nctarank;
mov.pred %p1, %is_explicit_cluster;)ptx");
    for (const char* wrong : {"mov.u32 %r1, %is_explicit_cluster;", "mov.u32 %r1, %cluster_size;",
                              "mov.u32 %r1, %envreg2;", "mov.pred %p1, %cluster_ctarank;"})
        EXPECT_NE(refusal_of_form(wrong), "accepted") << wrong;
}

}  // namespace
}  // namespace tilescope::ptx
