// What the parser makes of PTX, and what it refuses and how it says so.
#include <gtest/gtest.h>

#include "core/ptx/names.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

using test::body, test::kernel_text, test::parsed, test::refusal;
using Kind = Operand::Kind;

TEST(PtxParse, NamesGoBothWays) {
    for (int i = 0; i < static_cast<int>(Type::None); ++i) {
        const auto type = static_cast<Type>(i);
        const bool pairs_alone = type == Type::E4M3 || type == Type::E5M2;
        EXPECT_EQ(find_type(name_of(type)), pairs_alone ? std::nullopt : std::optional(type));
    }
    for (int i = 0; i <= static_cast<int>(SpecialRegister::IsExplicitCluster); ++i) {
        const auto special = static_cast<SpecialRegister>(i);
        EXPECT_EQ(find_special(name_of(special)), special);
    }
    EXPECT_FALSE(find_type(""));
    EXPECT_FALSE(find_type("u128"));
    EXPECT_FALSE(find_type("float"));
    EXPECT_EQ(name_of(Op::BarWarp), "bar");
    EXPECT_EQ(name_of(Op::Setp), "setp");
}

TEST(PtxParse, ReadsTheModule) {
    const Module module = parsed(kernel_text("ret;") + ".file 1 \"a.cu\"\n.section .debug_loc { }\n");
    EXPECT_EQ(module.version_major, 7u);
    EXPECT_EQ(module.version_minor, 0u);
    EXPECT_EQ(module.target, "sm_70");
    ASSERT_EQ(module.variables.size(), 1u);
    EXPECT_EQ(module.variables[0].bytes(), 16u);
    EXPECT_EQ(module.variables[0].initial, (std::vector<uint8_t>{0, 0, 0x80, 0x3F, 0, 0, 0, 0x40}));
    ASSERT_EQ(module.files.size(), 1u);
    EXPECT_EQ(module.files[0].name, "a.cu");
    EXPECT_EQ(module.sections.size(), 1u);
    const Kernel* kernel = find_kernel(module, "k");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(find_kernel(module, "K"), nullptr);
    EXPECT_EQ(kernel->parameters.size(), 2u);
    EXPECT_EQ(kernel->registers.size(), 4u + 4 + 8 + 8 + 8 + 4);
    EXPECT_EQ(kernel->symbols[2].name, "tile");
    EXPECT_EQ(kernel->symbols[2].space, StateSpace::Shared);
    EXPECT_EQ(kernel->symbols[2].alignment, 4u);
    EXPECT_EQ(kernel->symbols[2].bytes(), 64u);
}

// A vector of registers is its elements, which are printed as registers of their own.
TEST(PtxParse, VectorsOfRegistersAreTheirElements) {
    const auto written = [](const std::string& vectors) {
        return kernel_text("{ .reg " + vectors + " ret; }");
    };
    const std::string text = written(R"(.v2 .f32 pair, next; .reg .v4 .b32 four;
        mov.f32 pair.x, 0f3F800000;
        add.f32 pair.y, pair.r, pair.x;
        ld.global.v4.b32 four, [%rd1];
        st.global.v2.f32 [%rd1], pair;
        mov.b32 %r1, four.a;)");
    const Module module = parsed(text);
    const std::string printed = print(module);
    for (const char* line :
         {".reg .f32 \tpair_x;", "mov.f32 \tpair_x, 0f3F800000;", "add.f32 \tpair_y, pair_x, pair_x;",
          "{four_x, four_y, four_z, four_w}", "{pair_x, pair_y}", "mov.b32 \t%r1, four_w;"})
        EXPECT_NE(printed.find(line), std::string::npos) << line << "\n" << printed;
    EXPECT_EQ(print(parsed(printed)), printed);
    for (const char* bad :
         {".v3 .f32 v;", ".v2 v;", ".v2 .f32 v; mov.f32 v.z, v.x;", ".v2 .f32 v; mov.f32 %f1, v;",
          ".v2 .f32 v; ld.global.v4.f32 v, [%rd1];", ".v4 .f32 v; ld.global.v2.f32 v, [%rd1];",
          ".v2 .f64 v; ld.global.v2.f32 v, [%rd1];", ".v2 .f32 v, v;"})
        EXPECT_NE(refusal(written(bad)), "accepted") << bad;
}

TEST(PtxParse, ReadsOperands) {
    const Kernel k = body(R"(
        ld.shared.f32 %f1, [%r1+-8];
        ld.global.v2.f32 {%f1, _}, [table+4];
        mov.u64 %rd1, table+8;
        mov.u32 %r1, %tid.x;
        mov.f32 %f2, 0f3F800000;
        setp.lt.and.s32 %p1|%p2, %r1, -3, !%p3;
        @!%p1 st.shared.u32 [tile+16], 0x10;
        mov.b64 %rd1, {%r1, %r2};
        mul.wide.s32 %rd2, %r1, 4;
        lop3.b32 %r1, %r2, %r3, %r4, 0x96;
        shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;
        barrier.sync 0;
        bar.warp.sync 0xffffffff;)");
    ASSERT_EQ(k.instructions.size(), 13u);
    const auto& in = k.instructions;
    EXPECT_EQ(in[0].operands[1].offset, -8);
    EXPECT_EQ(k.registers[static_cast<size_t>(in[0].operands[1].reg)].name, "%r1");
    EXPECT_EQ(in[1].vector, 2);
    ASSERT_EQ(in[1].operands[0].elements.size(), 2u);
    EXPECT_EQ(in[1].operands[0].elements[1].kind, Kind::Sink);
    EXPECT_EQ(k.symbols[static_cast<size_t>(in[1].operands[1].symbol)].name, "table");
    EXPECT_EQ(k.symbols[static_cast<size_t>(in[1].operands[1].symbol)].module_variable, 0);
    EXPECT_EQ(in[2].operands[1].kind, Kind::Symbol);
    EXPECT_EQ(in[2].operands[1].offset, 8);
    EXPECT_EQ(in[3].operands[1].special, SpecialRegister::TidX);
    EXPECT_EQ(in[4].operands[1].bits, 0x3F800000u);
    EXPECT_EQ(in[4].operands[1].immediate_type, Type::F32);
    EXPECT_EQ(in[5].destinations, 2);
    ASSERT_EQ(in[5].operands.size(), 5u);
    EXPECT_EQ(static_cast<int64_t>(in[5].operands[3].bits), -3);
    EXPECT_TRUE(in[5].operands[4].negated);
    EXPECT_EQ(in[5].compare, Compare::Lt);
    EXPECT_EQ(in[5].combine, Bool::And);
    EXPECT_TRUE(in[6].guard_negated);
    EXPECT_EQ(k.registers[static_cast<size_t>(in[6].guard)].name, "%p1");
    EXPECT_EQ(in[6].destinations, 0);
    EXPECT_EQ(in[7].operands[1].kind, Kind::Vector);
    EXPECT_EQ(in[8].half, Half::Wide);
    EXPECT_EQ(in[9].operands[4].bits, 0x96u);
    EXPECT_EQ(in[10].mode, Mode::Bfly);
    EXPECT_EQ(in[10].operands.size(), 6u);
    EXPECT_EQ(in[11].op, Op::Bar);
    EXPECT_EQ(in[11].mode, Mode::Sync);
    EXPECT_EQ(in[12].op, Op::BarWarp);
    EXPECT_EQ(print(k, in[5]), "setp.lt.and.s32 \t%p1|%p2, %r1, -3, !%p3;");
    EXPECT_EQ(print(k, in[0]), "ld.shared.f32 \t%f1, [%r1+-8];");
}

TEST(PtxParse, CarriesSourceAndTextLines) {
    const Kernel k = body(
        ".loc 1 7 3\nmov.u32 %r1, 0;\n.loc 1 0 0 /* a\ncomment */\nld.shared.u32 %r1, [tile]; // x\n"
        "bar.sync 0; bar.warp.sync -1; ld.param.u32 %r1, [k_param_1];");
    ASSERT_EQ(k.instructions.size(), 5u);
    EXPECT_EQ(k.instructions[0].source, (SourceLocation{1, 7, 3}));
    EXPECT_EQ(k.instructions[1].source, (SourceLocation{1, 0, 0}));
    EXPECT_EQ(k.instructions[0].text_line, test::kFirstBodyLine + 1u);
    EXPECT_EQ(k.instructions[1].text_line, test::kFirstBodyLine + 4u);
    const auto sites = sites_of(k);
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_EQ(sites[0].kind, SiteKind::Load);
    EXPECT_EQ(sites[0].space, Space::Shared);
    EXPECT_EQ(sites[0].bytes, 4u);
    EXPECT_EQ(sites[0].line, 7u);  // the line before the .loc that says 0
    EXPECT_EQ(sites[0].ptx_line, test::kFirstBodyLine + 4u);
    EXPECT_EQ(sites[1].kind, SiteKind::Barrier);
    EXPECT_EQ(sites[1].bytes, 0u);
}

TEST(PtxParse, SitesCountAllElementsOfAVector) {
    const auto sites =
        sites_of(body("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1]; st.v2.b64 [%rd1], {%rd2,%rd3};"));
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_EQ(sites[0].bytes, 16u);
    EXPECT_EQ(sites[1].bytes, 16u);
    EXPECT_EQ(sites[1].kind, SiteKind::Store);
    EXPECT_EQ(sites[1].space, Space::Global);  // a generic address
}

// Names of an inner scope are its own: registers, variables and labels.
TEST(PtxParse, InnerScopesGetNamesOfTheirOwn) {
    const Kernel k = body(R"(
        mov.u32 %r1, 1;
        { .reg .b64 %r1; .shared .b32 tile; mov.u64 %r1, 2; L: bra L; }
        { .reg .b64 %r1; mov.u64 %r1, tile; L: bra M; }
        M: bra L2;
        L: mov.u32 %r1, 3;
        L2: bra L;)");
    ASSERT_EQ(k.instructions.size(), 8u);
    const auto reg = [&](size_t i) { return k.instructions[i].operands[0].reg; };
    EXPECT_EQ(reg(0), reg(6));
    EXPECT_NE(reg(0), reg(1));
    EXPECT_NE(reg(1), reg(3));
    EXPECT_EQ(k.symbols[static_cast<size_t>(k.instructions[3].operands[1].symbol)].bytes(), 64u);
    const auto target = [&](size_t i) {
        return k.labels[static_cast<size_t>(k.instructions[i].operands[0].label)].instruction;
    };
    EXPECT_EQ(target(2), 2);
    EXPECT_EQ(target(4), 5);
    EXPECT_EQ(target(7), 6);
}

TEST(PtxParse, AcceptsWhatCompilersWrite) {
    for (const char* text : {
             "ld.global.nc.f32 %f1, [%rd1];",
             "ld.volatile.shared.f32 %f1, [%r1];",
             "ld.shared::cta.u8 %rs1, [tile];",
             "ld.global.ca.s8 %r1, [%rd1];",
             "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
             "ld.global.L2::128B.u32 %r1, [%rd1];",
             "st.global.cs.v4.f32 [%rd1], {%f1, %f2, 0f00000000, %f4};",
             "st.weak.shared.u16 [%r1], %r2;",
             "cvt.rn.f32.s32 %f1, %r1;",
             "cvt.rzi.s32.f32 %r1, %f1;",
             "cvt.f64.f32 %fd1, %f1;",
             "cvt.u16.u32 %rs1, %r1;",
             "cvt.s64.s32 %rd1, %r1;",
             "cvt.rn.f32.f64 %f1, %fd1;",
             "cvt.rni.f32.f32 %f1, %f2;",
             "cvt.u32.u8 %r1, %r2;",
             "div.rn.f32 %f1, %f2, %f3;",
             "rcp.rn.f64 %fd1, %fd2;",
             "sqrt.approx.ftz.f32 %f1, %f2;",
             "div.full.f32 %f1, %f2, %f3;",
             "ex2.approx.ftz.f32 %f1, %f2;",
             "rcp.approx.ftz.f64 %fd1, %fd2;",
             "rsqrt.approx.f64 %fd1, %fd2;",
             "tanh.approx.f32 %f1, %f2;",
             "min.NaN.f32 %f1, %f2, %f3;",
             "copysign.f32 %f1, %f2, %f3;",
             "testp.notanumber.f32 %p1, %f1;",
             "add.cc.u32 %r1, %r2, %r3;",
             "madc.hi.cc.u32 %r1, %r2, %r3, %r4;",
             "dp4a.s32.u32 %r1, %r2, %r3, %r4;",
             "dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;",
             "szext.clamp.s32 %r1, %r2, %r3;",
             "bmsk.wrap.b32 %r1, %r2, %r3;",
             "match.any.sync.b64 %r1, %rd1, -1;",
             "match.all.sync.b32 %r1|%p1, %r2, -1;",
             "redux.sync.add.s32 %r1, %r2, -1;",
             "cvt.rn.f16.f32 %rs1, %f1;",
             "cvt.f32.bf16 %f1, %rs1;",
             "div.s32 %r1, %r2, 3;",
             "mad.lo.s32 %r1, %r2, %r3, %r4;",
             "mad.wide.u32 %rd1, %r1, 4, %rd2;",
             "mul.hi.u32 %r1, %r2, -858993459;",
             "shf.l.wrap.b32 %r1, %r2, %r3, 5;",
             "prmt.b32 %r1, %r2, 0, 0x5410;",
             "bfe.u32 %r1, %r2, 4, 8;",
             "bfi.b32 %r1, %r2, %r3, 0, 8;",
             "selp.f32 %f1, %f2, 0f00000000, %p1;",
             "slct.f32.s32 %f1, %f2, %f3, %r1;",
             "set.lt.u32.f32 %r1, %f1, %f2;",
             "setp.nan.f32 %p1, %f1, %f2;",
             "setp.eq.b32 %p1, %r1, 0;",
             "vote.sync.ballot.b32 %r1, %p1, -1;",
             "vote.sync.any.pred %p1, !%p2, -1;",
             "activemask.b32 %r1;",
             "popc.b64 %r1, %rd1;",
             "clz.b32 %r1, %r2;",
             "brev.b32 %r1, %r2;",
             "bfind.shiftamt.u32 %r1, %r2;",
             "not.pred %p1, %p2;",
             "xor.pred %p1, %p2, %p3;",
             "xor.pred %p1, %p2, -1;",
             "mov.pred %p1, 0;",
             "neg.f32 %f1, %f2;",
             "abs.s32 %r1, %r2;",
             "isspacep.shared %p1, %rd1;",
             "cvta.to.global.u64 %rd1, %rd2;",
             "cvta.shared.u64 %rd1, tile;",
             "mov.u64 %rd1, %clock64;",
             "mov.u32 %r1, WARP_SZ;",
             "mov.b32 {%rs1, _}, %r1;",
             "membar.gl;",
             "fence.acq_rel.gpu;",
             "bar.sync 0, 64;",
             "barrier.cta.sync.aligned 0;",
             "bar.arrive 1, 64;",
             "@%p1 ret;",
             "exit;",
             "trap;",
             "bra.uni L; L:",
             "shr.u32 %r1, %r2, 28;",
             "shl.b64 %rd1, %rd2, 3;",
             "add.sat.s32 %r1, %r2, 1;",
             "mul24.lo.u32 %r1, %r2, 3;",
             "sad.u32 %r1, %r2, %r3, 0;",
             "fns.b32 %r1, -1, 0, 1;",
             "cnot.b32 %r1, %r2;",
             "fma.rn.ftz.sat.f32 %f1, %f2, 0f40000000, %f3;",
             "max.f32 %f1, %f2, %f3;",
             "rem.u64 %rd1, %rd2, 3;",
             ".pragma \"nounroll\";",
             "ld.local.u32 %r1, [16];",
         })
        EXPECT_TRUE(parse(kernel_text(text), "t")) << text << "\n" << refusal(kernel_text(text));
}

// A constant with a decimal point is of the instruction's type, and printed by its bits.
TEST(PtxParse, DecimalConstantsAreOfTheInstructionsType) {
    for (const auto& [text, printed] :
         {std::pair{"add.f32 %f1, %f2, 0.;", "add.f32 \t%f1, %f2, 0f00000000;"},
          {"add.f32 %f1, %f2, -1.5;", "add.f32 \t%f1, %f2, 0fBFC00000;"},
          {"mov.f32 %f1, 0.1;", "mov.f32 \t%f1, 0f3DCCCCCD;"},
          {"mov.f64 %fd1, 25.0e-2;", "mov.f64 \t%fd1, 0d3FD0000000000000;"},
          {"mul.f64 %fd1, %fd2, 2.0e+1;", "mul.f64 \t%fd1, %fd2, 0d4034000000000000;"}}) {
        const Module module = test::parsed(kernel_text(text));
        ASSERT_EQ(module.kernels.size(), 1u) << text;
        EXPECT_EQ(print(module.kernels[0], module.kernels[0].instructions[0]), printed);
    }
    EXPECT_NE(refusal(kernel_text("add.s32 %r1, %r2, 1.5;")).find("must be written by its bits"),
              std::string::npos);
    EXPECT_NE(refusal(kernel_text("add.f32 %f1, %f2, 1.5.2;")).find("must be written by its bits"),
              std::string::npos);
}

// Every refusal names the file, the line of the text and what it is about.
TEST(PtxParse, RefusesWithTheLine) {
    struct Case {
        const char* text;
        const char* about;
    };
    for (const Case& c : {
             Case{"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1,%r2}];",
                  "'tex.2d.v4.f32.s32' is not known to Tilescope, which does not read textures; build"},
             Case{"suld.b.1d.b32 %r1, [t, %r2];", "does not read surfaces;"},
             Case{"frobnicate.b64 [tile], 1;", "'frobnicate.b64' is not known to Tilescope; build"},
             Case{"atom.global.add.f32 %f1, [%rd1], 1;", ".f32"},
             Case{"call.uni foo, ();", "names 'foo', which this PTX does not declare"},
             Case{"mma.sync.aligned.m8n8k4 x;", "no shape, layout and types"},
             Case{"ld.global.f31 %f1, [%rd1];", ".f31"},
             Case{"ld.global.v8.f32 %f1, [%rd1];", ".v8"},
             Case{"ld.shared.v4.f64 {%fd1,%fd2,%fd3,%fd1}, [tile];", "more than 16 bytes"},
             Case{"add.s32 %r1, %r2;", "has 2 operands and needs more"},
             Case{"add.s32 %r1, %r2, %r3, %r4;", "after its last operand where ','"},
             Case{"add.s32 %r1, %r2, %f3;", "'%f3' is a .f32 register"},
             Case{"add.f32 %f1, %f2, 1;", "takes .f32"},
             Case{"add.s32 %r1, %r2, 0f3F800000;", "takes .s32"},
             Case{"add.s64 %rd1, %r2, %rd3;", "'%r2' is a .b32 register"},
             Case{"add.s32 %r9, %r2, %r3;", "'%r9', which is no register"},
             Case{"mov.u32 %r1, %envreg2;", "reads '%envreg2', which no kernel can"},
             Case{"add.s32 5, %r2, %r3;", "a register to write where '5'"},
             Case{"add.s32 %r1, %tid.x, 1;", "a register or a constant where '%tid'"},
             Case{"fma.f32 %f1, %f2, %f3, %f4;", "needs a rounding"},
             Case{"mul.s32 %r1, %r2, %r3;", "needs .lo, .hi or .wide"},
             Case{"mul.wide.s64 %rd1, %rd2, %rd3;", "no wider type"},
             Case{"div.f32 %f1, %f2, %f3;", "needs a rounding"},
             Case{"cvt.s32.f32 %r1, %f1;", "needs .rni"},
             Case{"cvt.f32.s32 %f1, %r1;", "needs .rn"},
             Case{"setp.s32 %p1, %r1, %r2;", "needs a comparison"},
             Case{"setp.ltu.s32 %p1, %r1, %r2;", "comparison"},
             Case{"setp.lt.b32 %p1, %r1, %r2;", "comparison"},
             Case{"setp.lt.s32 %r1, %r1, %r2;", "takes .pred"},
             Case{"setp.lt.and.s32 %p1, %r1, %r2;", "needs more"},
             Case{"@%r1 bra L; L:", "guard '%r1'"},
             Case{"bra L;", "'L', which is no label"},
             Case{"bra %r1;", "no label"},
             Case{"L: ret; L: ret;", "'L' is declared twice"},
             Case{".reg .b32 %r1;", "'%r1' is declared twice"},
             Case{".reg .b32 %x<4000000000>;", "the number of registers"},
             Case{".reg .b32 %x<100000>; .reg .b32 %y<100000>;", "more than"},
             Case{".reg .v3 .b32 %x;", ".reg has no type"},
             Case{".shared .b8 big[4000000000][4000000000];", "a dimension of 'big'"},
             Case{".shared .f32 s = 0f00000000;", "initial value"},
             Case{".shared .align 3 .b8 s[3];", "power of two"},
             Case{"ld.global.f32 %f1, [tile];", "another state space than 'tile'"},
             Case{"ld.shared.f32 %f1, [nowhere];", "'nowhere', which is no variable"},
             Case{"ld.shared.f32 %f1, [%f1];", "integer register for its address"},
             Case{"st.const.u32 [%rd1], %r1;", "nothing can be stored"},
             Case{"ld.shared.f32 %f1, [%r1+99999999999];", "offset of more than 32 bits"},
             Case{"mov.u32 %r1, 99999999999999999999;", "integer of at most 64 bits"},
             Case{"ld.const.u32 %r1, [16];", "constant address"},
             Case{"mov.b32 %r1, 1.5;", "by its bits, as 0f3F800000"},
             Case{"shfl.sync.up.b32 _|%p1, %r2, %r1, 0, -1;", "a register to write"},
             Case{"shf.l.b32 %r1, %r2, %r3, 5;", ".wrap or .clamp"},
             Case{"bar.red.popc.u32 %r1, 0, %r2;", "'%r2' is a .b32 register"},
             Case{"bar.red.popc.pred %p1, 0, %p1;", "must be .popc.u32"},
             Case{"shfl.bfly.b32 %r1, %r2, 1, 31;", ".sync"},
             Case{".branchtargets L;", "'.branchtargets'"},
             Case{"\x01", "byte 0x01"},
             Case{"/* ", "does not end"},
             Case{".pragma \"x", "string that starts here does not end"},
         }) {
        const std::string message = refusal(kernel_text(std::string("mov.u32 %r1, 0;\n") + c.text));
        EXPECT_NE(message.find(c.about), std::string::npos) << c.text << "\n" << message;
        const std::string at = "test.ptx:" + std::to_string(test::kFirstBodyLine + 1) + ": ";
        EXPECT_EQ(message.substr(0, at.size()), at) << c.text << "\n" << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

TEST(PtxParse, RefusesModules) {
    EXPECT_NE(refusal("").find("begins with .version"), std::string::npos);
    EXPECT_NE(refusal("hello").find("test.ptx:1: "), std::string::npos);
    EXPECT_NE(refusal(".version 7.0\n").find(".target is missing"), std::string::npos);
    const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    EXPECT_NE(
        refusal(head + ".func (.param .b32 r) foo() { ret;").find("test.ptx:4: the function that starts"),
        std::string::npos);
    EXPECT_NE(refusal(head + ".visible .entry k() { ret; ").find("does not end"), std::string::npos);
    EXPECT_NE(refusal(head + ".entry k() { ret; }\n.entry k() { ret; }")
                  .find("test.ptx:5: kernel 'k' is defined twice"),
              std::string::npos);
    EXPECT_NE(refusal(head + ".global .u32 a; .global .u32 a;").find("declared twice"), std::string::npos);
    EXPECT_NE(refusal(head + ".entry k() { .shared .u32 a; ret; } .global .u32 a;")
                  .find("a kernel above has its own 'a'"),
              std::string::npos);
    EXPECT_NE(refusal(head + ".global .u32 a[2] = {1,2,3};").find("more values than elements"),
              std::string::npos);
    EXPECT_NE(refusal(head + ".entry k() {" + std::string(100000, '{')).find("nested"), std::string::npos);
    EXPECT_NE(refusal(".version 7.0 .target sm_70 .address_size 32").find("must lie between"),
              std::string::npos);
}

// What one kernel has that is not known keeps nobody from the others, and functions are passed over.
TEST(PtxParse, RefusesAKernelAndKeepsTheOthers) {
    const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    const Module module = parsed(head +
                                 R"ptx(.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.func (.param .b32 r) helper(.param .b32 a) { { ret; } }
.visible .entry textures() {
 tex.2d.v4.f32.s32 {a}, [b];
 { } ret; }
.visible .entry good() { ret; }
.visible .entry calls() { call.uni helper; ret; }
.visible .entry also_good() { ret; }
)ptx");
    ASSERT_EQ(module.kernels.size(), 2u);
    EXPECT_NE(find_kernel(module, "good"), nullptr);
    EXPECT_NE(find_kernel(module, "also_good"), nullptr);
    EXPECT_EQ(find_kernel(module, "textures"), nullptr);
    EXPECT_EQ(refusal_of(module, "good"), nullptr);
    ASSERT_NE(refusal_of(module, "textures"), nullptr);
    EXPECT_NE(
        refusal_of(module, "textures")->find("test.ptx:7: instruction 'tex.2d.v4.f32.s32' is not known"),
        std::string::npos);
    ASSERT_NE(refusal_of(module, "calls"), nullptr);
    EXPECT_NE(refusal_of(module, "calls")->find("'helper' is called with other parameters"),
              std::string::npos);
    // It prints what it read, and that reads back.
    const Module again = parsed(print(module));
    EXPECT_EQ(again.kernels.size(), 2u);
    EXPECT_TRUE(again.refused.empty());
}

TEST(PtxParse, NestedInitialisersFillTheirRows) {
    const Module module = parsed(
        R"ptx(.version 7.0
.target sm_70
.global .u8 a[2][3] = {{1}, {2, 3}};
.global .b16 b[] = {1, 2, 0x1FF};
.extern .shared .align 16 .b8 dyn[];)ptx");
    ASSERT_EQ(module.variables.size(), 3u);
    EXPECT_EQ(module.variables[0].count, 6u);
    EXPECT_EQ(module.variables[0].initial, (std::vector<uint8_t>{1, 0, 0, 2, 3}));
    EXPECT_EQ(module.variables[1].count, 3u);
    EXPECT_EQ(module.variables[2].count, 0u);
    EXPECT_TRUE(module.variables[2].is_extern);
}

}  // namespace
}  // namespace tilescope::ptx
