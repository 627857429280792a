// Forms of instructions on half precision: read where PTX has them, refused in a sentence where it has not. Both lists are
// what ptxas 13.0 accepts for sm_100a, and what it refuses.
#include <gtest/gtest.h>

#include "core/ptx/ops.h"
#include "core/ptx/parse.h"

namespace tilescope::ptx {
namespace {

Result<Module> read_line(const std::string& line) {
    return parse(R"ptx(.version 8.8
.target sm_100a
.address_size 64
.visible .entry k()
{
.reg .b16 %h<4>;
.reg .f16 %g<4>;
.reg .b32 %r<4>;
.reg .f16x2 %x<4>;
.reg .b64 %rd<4>;
.reg .f32 %f<4>;
.reg .f64 %d<4>;
.reg .pred %p<4>;
)ptx" + line + ";\nret;\n}\n",
                 "k.ptx");
}

std::string why_not(const std::string& line) {
    const auto module = read_line(line);
    return module && module->refused.empty() ? "" : module ? module->refused[0].why : module.error().message;
}

TEST(PtxHalfForms, AreReadAndPrintedAgain) {
    for (const char* line : {"add.f16 %h0, %h1, %h2",
                             "add.rn.ftz.sat.f16 %g0, %g1, %h2",
                             "sub.ftz.sat.f16x2 %r0, %r1, %x2",
                             "mul.rn.bf16 %h0, %h1, %h2",
                             "sub.bf16x2 %r0, %r1, %r2",
                             "fma.rn.ftz.sat.f16 %h0, %h1, %h2, %h3",
                             "fma.rn.ftz.relu.f16x2 %x0, %x1, %x2, %x3",
                             "fma.rn.relu.bf16 %h0, %h1, %h2, %h3",
                             "fma.rp.ftz.f32x2 %rd0, %rd1, %rd2, %rd3",
                             "mul.rz.ftz.f32x2 %rd0, %rd1, %rd2",
                             "add.f32x2 %rd0, %rd1, %rd2",
                             "neg.ftz.f16 %h0, %h1",
                             "abs.bf16x2 %r0, %r1",
                             "min.ftz.NaN.xorsign.abs.f16 %h0, %h1, %h2",
                             "max.xorsign.abs.bf16x2 %r0, %r1, %r2",
                             "min.xorsign.abs.f32 %f0, %f1, %f2",
                             "ex2.approx.f16 %h0, %h1",
                             "ex2.approx.ftz.bf16x2 %r0, %r1",
                             "tanh.approx.bf16 %h0, %h1",
                             "set.lt.ftz.f16.f32 %h0, %f1, %f2",
                             "set.lt.bf16.f16 %h0, %h1, %h2",
                             "set.eq.f16.b16 %h0, %h1, %h2",
                             "set.lt.u16.bf16 %h0, %h1, %h2",
                             "set.ltu.and.f16x2.f16x2 %r0, %r1, %r2, %p1",
                             "set.lt.s32.bf16x2 %r0, %r1, %r2",
                             "setp.lt.or.f16 %p0, %h1, %h2, !%p1",
                             "setp.lt.ftz.f16x2 %p0|%p1, %r1, %r2",
                             "setp.ltu.bf16x2 %p0, %r1, %r2",
                             "cvt.f16.bf16 %h0, %h1",
                             "cvt.rm.bf16.f16 %h0, %h1",
                             "cvt.rz.bf16.u64 %h0, %rd1",
                             "cvt.rn.ftz.bf16.f32 %h0, %f1",
                             "cvt.ftz.f32.bf16 %f0, %h1",
                             "cvt.rz.relu.satfinite.bf16.f32 %h0, %f1",
                             "cvt.rn.f16x2.f32 %x0, %f1, %f2",
                             "cvt.rn.relu.satfinite.bf16x2.f32 %r0, 0f3F800000, %f2",
                             "cvt.rna.satfinite.tf32.f32 %r0, %f1",
                             "cvt.rn.relu.tf32.f32 %r0, %f1",
                             "cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %f1, %f2",
                             "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1",
                             "cvt.rn.relu.f16x2.e4m3x2 %r0, %h1",
                             "cvt.rn.satfinite.e2m3x2.f32 %h0, %f1, %f2",
                             "cvt.rn.f16x2.e3m2x2 %r0, %h1",
                             "cvt.rp.satfinite.ue8m0x2.f32 %h0, %f1, %f2",
                             "cvt.rz.ue8m0x2.bf16x2 %h0, %r1",
                             "cvt.rn.bf16x2.ue8m0x2 %r0, %h1"}) {
        const auto module = read_line(line);
        ASSERT_TRUE(module && module->kernels.size() == 1) << line << ": " << why_not(line);
        std::string printed = print(module->kernels[0], module->kernels[0].instructions[0]);
        std::erase(printed, '\t');
        EXPECT_EQ(printed, std::string(line) + ";");
    }
}

TEST(PtxHalfForms, WhatPtxHasNotIsSaid) {
    const std::pair<const char*, const char*> refused[] = {
        {"add.rz.f16 %h0, %h1, %h2", "a rounding that its type does not"},
        {"add.ftz.bf16 %h0, %h1, %h2", ".ftz, which its type does not"},
        {"add.sat.bf16 %h0, %h1, %h2", ".sat, which its type does not"},
        {"mul.sat.f32x2 %rd0, %rd1, %rd2", ".sat, which its type does not"},
        {"mul.lo.f16 %h0, %h1, %h2", ".lo, .hi or .wide"},
        {"fma.f16 %h0, %h1, %h2, %h3", "needs a rounding"},
        {"fma.f32x2 %rd0, %rd1, %rd2, %rd3", "needs a rounding"},
        {"fma.rz.f16 %h0, %h1, %h2, %h3", "a rounding that its type does not"},
        {"fma.rn.sat.relu.f16 %h0, %h1, %h2, %h3", ".relu beside"},
        {"fma.rn.ftz.bf16 %h0, %h1, %h2, %h3", ".ftz, which its type does not"},
        {"fma.rn.sat.bf16 %h0, %h1, %h2, %h3", ".sat, which its type does not"},
        {"fma.rn.relu.f32 %f0, %f1, %f2, %f3", ".relu, which its type does not"},
        {"neg.ftz.bf16 %h0, %h1", ".ftz, which its type does not"},
        {"neg.f32x2 %rd0, %rd1", "not known to Tilescope with .f32x2"},
        {"min.f32x2 %rd0, %rd1, %rd2", "not known to Tilescope with .f32x2"},
        {"min.ftz.bf16 %h0, %h1, %h2", ".ftz, which its type does not"},
        {"min.xorsign.f32 %f0, %f1, %f2", ".xorsign without .abs"},
        {"min.NaN.f64 %d0, %d1, %d2", "which its type does not"},
        {"ex2.approx.ftz.f16 %h0, %h1", ".ftz, which its type does not"},
        {"ex2.approx.bf16 %h0, %h1", "needs .ftz"},
        {"ex2.f16 %h0, %h1", "needs .approx"},
        {"tanh.approx.ftz.f16 %h0, %h1", ".ftz, which its type does not"},
        {"set.lt.f16.bf16 %h0, %h1, %h2", "gives a type"},
        {"set.lt.f32.f16 %f0, %h1, %h2", "gives a type"},
        {"set.lt.u16.f32 %h0, %f1, %f2", "gives a type"},
        {"set.lt.f16x2.f32 %r0, %f1, %f2", "gives a type"},
        {"set.lt.bf16x2.f16x2 %r0, %r1, %r2", "gives a type"},
        {"set.lt.ftz.u16.bf16 %h0, %h1, %h2", ".ftz, which its type does not"},
        {"setp.lt.f16 %p0|%p1, %h1, %h2", "gives one predicate"},
        {"setp.lt.ftz.bf16 %p0, %h1, %h2", ".ftz, which its type does not"},
        {"mad.rn.f16 %h0, %h1, %h2, %h3", "not known to Tilescope with .f16"},
        {"div.f16 %h0, %h1, %h2", "not known to Tilescope with .f16"},
        {"selp.f16 %h0, %h1, %h2, %p0", "not known to Tilescope with .f16"},
        {"mov.f16x2 %r0, %r1", "not known to Tilescope with .f16x2"},
        {"add.f16 %h0, %h1, 0x3C00", "takes .f16"},
        {"add.f16x2 %r0, %f1, %r2", "takes .f16x2"},
        {"cvt.rn.sat.bf16.f32 %h0, %f1", ".sat, which .bf16 does not"},
        {"cvt.sat.f32.bf16 %f0, %h1", ".sat, which .bf16 does not"},
        {"cvt.rm.relu.f16.f32 %h0, %f1", "a rounding that its type does not"},
        {"cvt.rn.ftz.relu.f16.f32 %h0, %f1", ".ftz, which its type does not"},
        {"cvt.rn.sat.relu.f16.f32 %h0, %f1", ".sat, which its type does not"},
        {"cvt.rn.relu.f16.f64 %h0, %d1", ".relu or .satfinite"},
        {"cvt.rn.relu.f16.s32 %h0, %r1", ".relu or .satfinite"},
        {"cvt.rm.f16x2.f32 %r0, %f1, %f2", "a rounding that its type does not"},
        {"cvt.rn.ftz.f16x2.f32 %r0, %f1, %f2", ".ftz, which its type does not"},
        {"cvt.rn.f16x2.f32 %r0, %f1", "operands and needs more"},
        {"cvt.rn.f16.f32 %h0, %f1, %f2", "';' after its last operand"},
        {"cvt.rna.relu.tf32.f32 %r0, %f1", ".relu beside"},
        {"cvt.rm.tf32.f32 %r0, %f1", "a rounding that its type does not"},
        {"cvt.tf32.f32 %r0, %f1", "needs a rounding"},
        {"cvt.rn.tf32.f32 %f0, %f1", "takes .tf32"},
        {"cvt.rn.e4m3x2.f32 %h0, %f1, %f2", "needs .satfinite"},
        {"cvt.rn.satfinite.e5m2x2.bf16x2 %h0, %r1", "no conversion"},
        {"cvt.rn.satfinite.f16x2.e5m2x2 %r0, %h1", ".satfinite, which"},
        {"cvt.rn.bf16x2.e5m2x2 %r0, %h1", "no conversion"},
        {"cvt.rn.satfinite.e2m3x2.f16x2 %h0, %r1", "no conversion"},
        {"cvt.rn.satfinite.ue8m0x2.f32 %h0, %f1, %f2", "a rounding that its type does not"},
        {"cvt.rn.f16x2.ue8m0x2 %r0, %h1", "no conversion"},
    };
    for (const auto& [line, part] : refused) {
        const std::string error = why_not(line);
        EXPECT_NE(error.find(part), std::string::npos) << line << " -> " << error;
    }
}

// Words that the table of instructions has not: kept as text.
TEST(PtxHalfForms, UnknownWordsAreForAGpu) {
    for (const char* line : {"cvt.rs.f16x2.f32 %r0, %f1, %f2, %r1", "min.abs.f32 %f0, %f1, %f2"}) {
        const auto module = read_line(line);
        ASSERT_TRUE(module && module->kernels.size() == 1) << line;
        EXPECT_EQ(module->kernels[0].instructions[0].op, Op::Opaque) << line;
    }
}

TEST(PtxHalfForms, CountAndFlow) {
    EXPECT_EQ(flops_of({.op = Op::Fma, .type = Type::F16}), 2);
    EXPECT_EQ(flops_of({.op = Op::Fma, .type = Type::BF16X2}), 4);
    EXPECT_EQ(flops_of({.op = Op::Add, .type = Type::F32X2}), 2);
    const auto flow = [](Type to, Type from) {
        return flow_of({.op = Op::Cvt, .type = to, .type2 = from}) == Dataflow::Copy;
    };
    EXPECT_TRUE(flow(Type::F32, Type::F16) && flow(Type::F64, Type::BF16) && flow(Type::TF32, Type::F32));
    EXPECT_FALSE(flow(Type::F16, Type::F32) || flow(Type::BF16, Type::F16) || flow(Type::F16X2, Type::F32));
}

}  // namespace
}  // namespace tilescope::ptx
