// atom and red: read, printed, refused; and what instrumented kernels are written in prints back.
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

Kernel returning_body(const std::string& text) { return test::body(text + "\nret;"); }

std::string refusal_of_body(const std::string& text) { return test::refusal(test::kernel_text(text)); }

TEST(PtxAtomics, AreRead) {
    const Kernel kernel = returning_body(
        R"ptx(atom.global.add.u32 %r1, [%rd1+4], 3;
atom.relaxed.gpu.shared.cas.b32 %r1, [tile+8], %r2, %r3;
red.global.or.b32 [%rd1], %r2;
atom.acquire.sys.exch.b64 %rd1, [%rd2], %rd3;
)ptx");
    ASSERT_EQ(kernel.instructions.size(), 5u);
    const Instruction& add = kernel.instructions[0];
    EXPECT_EQ(add.op, Op::Atom);
    EXPECT_EQ(add.atomic, Atomic::Add);
    EXPECT_EQ(add.type, Type::U32);
    EXPECT_EQ(add.space, StateSpace::Global);
    EXPECT_EQ(add.destinations, 1);
    ASSERT_EQ(add.operands.size(), 3u);
    EXPECT_EQ(add.operands[1].kind, Operand::Kind::Address);
    EXPECT_EQ(add.operands[1].offset, 4);
    EXPECT_EQ(add.operands[2].bits, 3u);
    const Instruction& cas = kernel.instructions[1];
    EXPECT_EQ(cas.atomic, Atomic::Cas);
    EXPECT_EQ(cas.space, StateSpace::Shared);
    EXPECT_EQ(cas.operands.size(), 4u);
    const Instruction& red = kernel.instructions[2];
    EXPECT_EQ(red.op, Op::Red);
    EXPECT_EQ(red.destinations, 0);
    EXPECT_EQ(red.operands.size(), 2u);
    EXPECT_EQ(kernel.instructions[3].space, StateSpace::Generic);
    const std::vector<Site> sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 4u);
    for (const Site& site : sites) EXPECT_EQ(site.kind, SiteKind::Atomic);
    EXPECT_EQ(sites[0].atomic, Atomic::Add);
    EXPECT_EQ(sites[0].space, Space::Global);
    EXPECT_EQ(sites[1].space, Space::Shared);
    EXPECT_EQ(sites[3].bytes, 8u);
    EXPECT_EQ(address_of(kernel.instructions[1]).offset, 8);
    EXPECT_EQ(address_of(kernel.instructions[2]).offset, 0);
}

TEST(PtxAtomics, PrintBackAsTheyWere) {
    const std::string text = test::kernel_text(
        R"ptx(atom.global.add.u32 	%r1, [%rd1+4], 3;
@%p1 atom.relaxed.gpu.shared.cas.b32 %r1, [tile+8], %r2, %r3;
red.release.cta.global.max.s32 [%rd1], %r2;
mov.u64 %rd3, %clock64;
mov.u32 %r4, %clock;
mov.u32 %r5, %smid;
mov.u64 %rd4, %globaltimer;
mov.u32 %r5, %lanemask_lt;
activemask.b32 %r6;
mov.b64 {%r1, %r2}, %rd3;
mov.b64 %rd3, {%r2, %r1};
shfl.sync.idx.b32 %r1|%p2, %r2, 0, 31, -1;
vote.sync.all.pred %p3, %p2, -1;
@!%p3 st.global.v4.b32 [%rd3+16], {%r1, 77, %r3, -1};
st.global.v2.b64 [%rd3], {%rd1, %rd2};
@%p1 bra.uni $L;
$L: ret;)ptx");
    const auto module = parse(text, "test.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const std::string printed = print(*module);
    for (const char* line : {"atom.global.add.u32 \t%r1, [%rd1+4], 3;",
                             "@%p1 atom.relaxed.gpu.shared.cas.b32 \t%r1, [tile+8], %r2, %r3;",
                             "red.release.cta.global.max.s32 \t[%rd1], %r2;", "mov.b64 \t{%r1, %r2}, %rd3;",
                             "@!%p3 st.global.v4.b32 \t[%rd3+16], {%r1, 77, %r3, -1};", "@%p1 bra.uni \t$L;"})
        EXPECT_NE(printed.find(line), std::string::npos) << line << "\n" << printed;
    const auto again = parse(printed, "again.ptx");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(print(*again), printed);
}

TEST(PtxAtomics, ThatCannotBeAreRefused) {
    for (const char* wrong : {
             "atom.global.u32 %r1, [%rd1], 3;",             // does nothing
             "atom.global.add.b32 %r1, [%rd1], 3;",         // bits do not add
             "atom.global.and.u32 %r1, [%rd1], 3;",         // and needs bits
             "atom.global.inc.s32 %r1, [%rd1], 3;",         // inc is .u32
             "red.global.min.f32 [%rd1], %f1;",             // floats only add
             "atom.local.add.u32 %r1, [%rd1], 3;",          // nobody shares it
             "atom.global.add.add.u32 %r1, [%rd1], 3;",     // twice
             "atom.global.cas.b32 %r1, [%rd1], 3;",         // cas needs two
             "atom.global.add.u32 %r1, [%rd1], 3, 4;",      // add one
             "atom.global.add.u64 %r1, [%rd1], 3;",         // the register is narrower
             "red.global.exch.b32 [%rd1], 3;",              // gives nothing back
             "red.global.add.u32 %r1, [%rd1], 3;",          // red has no destination
             "atom.global.add.u32.relaxed %r1, [%rd1], 3;"  // out of order
         }) {
        const std::string message = refusal_of_body(wrong);
        EXPECT_NE(message, "accepted") << wrong;
        EXPECT_NE(message.find("15"), std::string::npos) << message;  // the line
    }
}

}  // namespace
}  // namespace tilescope::ptx
