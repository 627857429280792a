// Forms that compilers and inline assembly write beside the plain ones: read, printed again, refused.
#include <gtest/gtest.h>

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
    if (again) EXPECT_EQ(print(*again), printed);
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

}  // namespace
}  // namespace tilescope::ptx
