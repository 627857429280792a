// Instructions that are not known and touch no memory: kept as text, recorded on a GPU, and never trusted.
#include <gtest/gtest.h>

#include "core/ptx/affine.h"
#include "core/ptx/instrument.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

std::string refusal_of_opaque(const std::string& body) { return test::refusal(test::kernel_text(body)); }

TEST(PtxOpaque, TextIsKeptAndRegistersAreBothReadAndWritten) {
    const Module module = test::parsed(test::kernel_text(
        R"ptx(@!%p1 frobnicate.sync.aligned.f32x9 {%f1, _}|%p2, %r2, -1, !%p3, 0f3F800000, %tid.x, WARP_SZ;
quiesce.now;
add.rn.e9m9 %r1, %r2, %r3;
ret;)ptx"));
    ASSERT_EQ(module.kernels.size(), 1u);
    const Kernel& kernel = module.kernels[0];
    ASSERT_EQ(kernel.instructions.size(), 4u);
    const Instruction& opaque = kernel.instructions[0];
    EXPECT_EQ(opaque.op, Op::Opaque);
    EXPECT_GE(opaque.guard, 0);
    EXPECT_EQ(opaque.destinations, 4u);
    ASSERT_EQ(opaque.operands.size(), 8u);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(opaque.operands[i].reg, opaque.operands[i + 4].reg);
    EXPECT_EQ(
        print(kernel, opaque),
        "@!%p1 frobnicate.sync.aligned.f32x9 \t{%f1, _}|%p2, %r2, -1, !%p3, 0f3F800000, %tid.x, WARP_SZ;");
    EXPECT_EQ(print(kernel, kernel.instructions[1]), "quiesce.now;");
    EXPECT_EQ(kernel.instructions[2].op, Op::Opaque);
    EXPECT_TRUE(sites_of(kernel).empty());
    const std::string printed = print(module);
    const auto again = parse(printed, "again.ptx");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(print(*again), printed);
}

// Tensor memory is read with its addresses in brackets, and is no step.
TEST(PtxOpaque, TensorMemoryIsKept) {
    const Module module = test::parsed(test::kernel_text(
        R"ptx(tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 512;
tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r4, %r5, %r6}, %p1;
tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3+16];
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r1};
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];
tcgen05.cp.cta_group::2.128x256b [%r1], %rd1;
tcgen05.wait::ld.sync.aligned;
tcgen05.fence::after_thread_sync;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;
ret;)ptx"));
    ASSERT_EQ(module.kernels.size(), 1u);
    const Kernel& kernel = module.kernels[0];
    ASSERT_EQ(kernel.instructions.size(), 10u);
    for (size_t i = 0; i < 9; ++i) EXPECT_EQ(kernel.instructions[i].op, Op::Opaque) << i;
    EXPECT_EQ(print(kernel, kernel.instructions[2]),
              "tcgen05.ld.sync.aligned.32x32b.x2.b32 \t{%r1, %r2}, [%r3+16];");
    EXPECT_EQ(kernel.instructions[2].destinations, 3u);
    EXPECT_TRUE(sites_of(kernel).empty());
    const std::string printed = print(module);
    EXPECT_EQ(print(test::parsed(printed)), printed);
}

// However oddly it is written, what is printed reads as the same.
TEST(PtxOpaque, OddTextIsPrintedAsItIsReadAgain) {
    for (const char* odd : {"frob _ _ 1 2 %r1 %r2;", "frob ,,{}|!-+;", "frob %tid .x, %laneid 3;",
                            "frob.a.b;", "frob - 1, --2;"}) {
        const Module module = test::parsed(test::kernel_text(odd));
        const std::string printed = print(module);
        const auto again = parse(printed, "again.ptx");
        ASSERT_TRUE(again) << again.error().message << odd;
        EXPECT_EQ(print(*again), printed) << odd;
    }
}

// A register of an inner scope, or of a function that is inlined, is printed by its own name.
TEST(PtxOpaque, RegistersOfInnerScopesKeepTheirNames) {
    const Module module = test::parsed(test::kernel_text("{ .reg .b32 %r1; frobnicate.x %r1, %r2; }\nret;"));
    ASSERT_EQ(module.kernels.size(), 1u);
    EXPECT_EQ(print(module.kernels[0], module.kernels[0].instructions[0]), "frobnicate.x \t%r1_1, %r2;");
}

TEST(PtxOpaque, WhatMayTouchMemoryOrBranchIsRefused) {
    for (const char* wrong :
         {"frobnicate.b32 %r1, [%rd1];",
          "frobnicate.b32 %rd1, table;",
          "frobnicate.b32 %rd1, $here;",
          "frobnicate.b32 %r1, %r99;",
          "frobnicate.b32 %r1, %unknown;",
          "frobnicate.b32 (%r1), f, (%r2);",
          "tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, %r1;",
          "wgmma.fence;",
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;",
          "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 512;",
          "mapa.shared::cta.u32 %r1, %r2, %r3;",
          "brkpt;",
          "mbarrier.arrive.sideways %rd1;",
          "st.newspace.b32 %r1;",
          "bra.sideways $L;",
          "bar.nap 0;",
          "atom.mystery.b32 %r1;",
          "add.s32 %r1, %f1, %r2;",           // known, and wrong
          "add.ftz.s32 %r1, %r2, %r3;",       // a suffix of other instructions
          "frobnicate.b32 %r1, %r2, %r3"}) {  // no end
        EXPECT_NE(refusal_of_opaque(wrong), "accepted") << wrong;
    }
}

// What an opaque instruction may have written is no address that is known from the lane.
TEST(PtxOpaque, NothingIsProvenOfItsRegisters) {
    const std::string body = R"ptx(ld.param.u64 %rd1, [k_param_0];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
)ptx";
    const auto shapes_of = [&](const std::string& text) {
        const Module module = test::parsed(test::kernel_text(body + text + "\nret;"));
        const Kernel& kernel = module.kernels.at(0);
        const LaunchFacts facts{{1, 1, 1}, {32, 1, 1}, {0x10000, 0}};
        return affine_addresses(kernel, sites_of(kernel), facts).shapes;
    };
    const auto after = shapes_of("frobnicate.x %f2, %rd3;\nst.global.f32 [%rd3], %f2;");
    ASSERT_EQ(after.size(), 2u);
    EXPECT_TRUE(after[0].affine);
    EXPECT_FALSE(after[1].affine);
    EXPECT_TRUE(shapes_of("frobnicate.x %f2, %f1;\nst.global.f32 [%rd3], %f2;")[1].affine);
    EXPECT_FALSE(shapes_of("@%p1 frobnicate.x %rd3;\nst.global.f32 [%rd3], %f2;")[1].affine);
}

// On a GPU it stands among the recording sequences, a warp's lanes together before what is .aligned.
TEST(PtxOpaque, IsRecordedAroundOnAGpu) {
    const Module module = test::parsed(test::kernel_text(
        R"ptx(ld.param.u64 %rd1, [k_param_0];
ld.global.f32 %f1, [%rd1];
frobnicate.sync.aligned.x %f2, %f1;
st.global.f32 [%rd1], %f2;
frobnicate.x %f2, %f1;
ret;)ptx"));
    InstrumentOptions options;
    options.launch = {{1, 1, 1}, {32, 1, 1}, {0x10000, 0}};
    const auto made = instrument(module, "k", options);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->sites.size(), 2u);
    const std::string text = print(made->module);
    const size_t aligned = text.find("frobnicate.sync.aligned.x \t%f2, %f1;");
    ASSERT_NE(aligned, std::string::npos) << text;
    const size_t meeting = text.rfind("bar.warp.sync", aligned);
    ASSERT_NE(meeting, std::string::npos);
    EXPECT_EQ(text.substr(meeting, aligned - meeting).find("bra"), std::string::npos);
    EXPECT_NE(text.find("frobnicate.x \t%f2, %f1;"), std::string::npos);
    EXPECT_EQ(text.find("bar.warp.sync", aligned), std::string::npos);
}

}  // namespace
}  // namespace tilescope::ptx
