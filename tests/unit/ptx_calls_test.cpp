// .func and calls: what is inlined is one body that prints and reads back; what cannot be is one sentence.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

const std::string kHeadOfCalls = ".version 7.1\n.target sm_70\n.address_size 64\n";

// twice(x), as clang writes it, with a static variable and a loop.
const std::string kTwice =
    R"ptx(.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.shared .align 4 .b8 buffer[64];
.loc 1 3 0
ld.param.u32 %r1, [twice_param_0];
mov.u32 %r2, buffer;
st.shared.u32 [%r2], %r1;
setp.eq.s32 %p1, %r1, 0;
@%p1 bra DONE;
add.s32 %r1, %r1, %r1;
DONE:
st.param.b32 [func_retval0+0], %r1;
ret;
}
)ptx";

std::string calls(const std::string& body) {
    return R"ptx(.visible .entry k(.param .u64 k_param_0)
{
.reg .pred %p<4>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
.reg .f32 %f<8>;
.loc 1 20 0
)ptx" + body +
           "\nret;\n}\n";
}

std::string call_twice(const std::string& guard = "") {
    return R"ptx({
.param .b32 param0;
st.param.b32 [param0+0], %r1;
.param .b32 retval0;
)ptx" + guard +
           R"ptx(call.uni (retval0), twice, (param0);
ld.param.b32 %r1, [retval0+0];
}
)ptx";
}

Module parsed_calls(const std::string& text) {
    auto module = parse(text, "calls.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    return module ? *module : Module{};
}

std::string refusal_of_calls(const std::string& text) {
    const auto module = parse(text, "calls.ptx");
    if (!module) return module.error().message;
    return module->refused.empty() ? "accepted" : module->refused[0].why;
}

size_t count_of(const Kernel& kernel, Op op) {
    return static_cast<size_t>(std::ranges::count(kernel.instructions, op, &Instruction::op));
}

void expect_prints_back(const Module& module) {
    const std::string text = print(module);
    const auto again = parse(text, "printed.ptx");
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    EXPECT_TRUE(again->refused.empty()) << again->refused[0].why << "\n" << text;
    EXPECT_EQ(print(*again), text);
    const std::string ptxas = test::find_ptxas();
    if (ptxas.empty()) return;
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("tilescope_calls_test_{}.ptx", getpid());
    const std::string command = ptxas + " -arch=sm_75 -o /dev/null " + file.string();
    std::string newer = text;
    newer.replace(newer.find("sm_70"), 5, "sm_75");
    std::ofstream(file) << newer;
    EXPECT_EQ(std::system(command.c_str()), 0) << newer;
    std::filesystem::remove(file);
}

TEST(PtxCalls, AFunctionIsInlinedAtEachCall) {
    const Module module =
        parsed_calls(kHeadOfCalls + kTwice + calls("mov.u32 %r1, 1;\n" + call_twice() + call_twice()));
    ASSERT_EQ(module.kernels.size(), 1u);
    const Kernel& kernel = module.kernels[0];
    EXPECT_EQ(count_of(kernel, Op::Call), 0u);
    EXPECT_EQ(count_of(kernel, Op::Ret), 1u);   // the kernel's own
    EXPECT_EQ(count_of(kernel, Op::Setp), 2u);  // each copy has its own
    // A static variable is one; what calls are given needs no memory.
    EXPECT_EQ(std::ranges::count(kernel.symbols, StateSpace::Shared, &Symbol::space), 1);
    EXPECT_EQ(std::ranges::count(kernel.symbols, StateSpace::Param, &Symbol::space), 1);
    EXPECT_EQ(std::ranges::count(kernel.symbols, StateSpace::Local, &Symbol::space), 0);
    for (const Label& label : kernel.labels) {
        EXPECT_GE(label.instruction, 0);
        EXPECT_LE(static_cast<size_t>(label.instruction), kernel.instructions.size());
    }
    // Sites stand at the lines of the function.
    const auto sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_EQ(sites[0].line, 3u);
    EXPECT_EQ(sites[1].line, 3u);
    EXPECT_EQ(kernel.instructions.back().source.line, 20u);
    expect_prints_back(module);
}

TEST(PtxCalls, CodeOfAnotherFileStandsAtTheCall) {
    std::string header = kTwice;
    header.replace(header.find(".loc 1 3"), 8, ".loc 2 3");
    const Module module = parsed_calls(kHeadOfCalls + header + calls("mov.u32 %r1, 1;\n" + call_twice()) +
                                       ".file 1 \"k.cu\"\n.file 2 \"k.h\"\n");
    const auto sites = sites_of(module.kernels.at(0));
    ASSERT_EQ(sites.size(), 1u);
    EXPECT_EQ(sites[0].line, 20u);
}

TEST(PtxCalls, AGuardLeadsAroundTheCall) {
    const Module module =
        parsed_calls(kHeadOfCalls + kTwice + calls("setp.eq.s32 %p1, %r1, 0;\n" + call_twice("@%p1 ")));
    const Kernel& kernel = module.kernels.at(0);
    const auto around = std::ranges::find(kernel.instructions, Op::Bra, &Instruction::op);
    ASSERT_NE(around, kernel.instructions.end());
    EXPECT_TRUE(around->guard_negated);
    const Label& end = kernel.labels[static_cast<size_t>(around->operands[0].label)];
    EXPECT_EQ(kernel.instructions[static_cast<size_t>(end.instruction)].op,
              Op::Mov);  // ld.param of the result
    expect_prints_back(module);
}

// A struct that is read in the pieces in which it was written is registers; otherwise it is local memory.
TEST(PtxCalls, StructsArePiecesOrLocalMemory) {
    const auto text = [&](const std::string& read) {
        return kHeadOfCalls +
               R"ptx(.func (.param .b32 r) f(.param .align 8 .b8 s[16])
{
.reg .b32 %r<3>;
.reg .b64 %rd<3>;
.reg .b16 %h<2>;
)ptx" + read + "\nst.param.b32 [r+0], %r1;\nret;\n}\n" +
               calls(
                   R"ptx(mov.u32 %r1, 1;
{
.param .align 8 .b8 param0[16];
st.param.v2.b32 [param0+0], {%r1, 5};
st.param.b64 [param0+8], %rd1;
.param .b32 retval0;
call.uni (retval0), f, (param0);
ld.param.b32 %r1, [retval0+0];
})ptx");
    };
    const auto locals = [&](const std::string& read) {
        const Module module = parsed_calls(text(read));
        expect_prints_back(module);
        return std::ranges::count(module.kernels.at(0).symbols, StateSpace::Local, &Symbol::space);
    };
    EXPECT_EQ(locals("ld.param.u32 %r1, [s+4];\nld.param.u64 %rd1, [s+8];"), 0);
    EXPECT_EQ(locals("ld.param.s8 %h1, [s+4];\ncvt.s32.s16 %r1, %h1;"), 0);  // the low bits of a piece
    EXPECT_EQ(locals("ld.param.u32 %r1, [s+12];"), 1);                       // the high half of one
    EXPECT_EQ(locals("mov.u64 %rd1, s;\nadd.s64 %rd2, %rd1, 4;\nld.param.u32 %r1, [%rd2];"), 1);
}

TEST(PtxCalls, AFunctionWithoutABodyStaysACall) {
    const std::string print_line =
        R"ptx({
.param .b64 param0;
st.param.b64 [param0+0], %rd1;
.param .b64 param1;
st.param.b64 [param1+0], %rd1;
.param .b32 retval0;
call.uni (retval0), vprintf, (param0, param1);
ld.param.b32 %r1, [retval0+0];
}
)ptx";
    const Module module = parsed_calls(kHeadOfCalls +
                                       R"ptx(.extern .func (.param .b32 r) vprintf
(
.param .b64 a,
.param .b64 b
)
;
.extern .func unused(.param .b64 a);
)ptx" + kTwice + calls("mov.u64 %rd1, 0;\n" + print_line + print_line + call_twice()));
    EXPECT_EQ(count_of(module.kernels.at(0), Op::Call), 2u);
    ASSERT_EQ(module.functions.size(), 1u);
    EXPECT_NE(module.functions[0].find("vprintf"), std::string::npos);
    expect_prints_back(module);
}

TEST(PtxCalls, AnIndexedBranchGoesToEachOfItsTargets) {
    const Module module = parsed_calls(kHeadOfCalls + calls(R"ptx(mov.u32 %r1, %tid.x;
TS: .branchtargets A, B, A;
brx.idx %r1, TS;
A:
add.s32 %r2, %r1, 1;
B:
add.s32 %r2, %r1, 2;
)ptx"));
    const Kernel& kernel = module.kernels.at(0);
    EXPECT_EQ(count_of(kernel, Op::Bra), 3u);
    EXPECT_EQ(count_of(kernel, Op::Setp), 2u);
    expect_prints_back(module);
}

TEST(PtxCalls, AddressesInInitialValuesPrintBack) {
    const Module module = parsed_calls(kHeadOfCalls +
                                       R"ptx(.global .align 1 .b8 text[3] = {104, 105, 0};
.global .align 8 .u64 names[3] = {generic(text), text+2, 7};
.global .align 8 .u8 packed[8] = {0xFF(generic(text)), 0xFF00(generic(text)), 1, 2, 3, 4, 5, 6};
)ptx" + calls("mov.u64 %rd1, names;\nld.global.u64 %rd2, [%rd1];"));
    ASSERT_EQ(module.variables.size(), 3u);
    EXPECT_EQ(module.variables[1].relocations.size(), 2u);
    // The kernel that names the table has what the table names.
    EXPECT_TRUE(std::ranges::any_of(module.kernels.at(0).symbols,
                                    [](const Symbol& symbol) { return symbol.name == "text"; }));
    const auto bytes = initial_bytes(module.variables[2], [](const Relocation&) { return 0x1234u; });
    EXPECT_EQ(bytes, (std::vector<uint8_t>{0x34, 0x12, 1, 2, 3, 4, 5, 6}));
    expect_prints_back(module);
}

TEST(PtxCalls, WhatCannotBeInlinedIsOneSentence) {
    const std::string self =
        R"ptx(.func f()
{
call.uni g, ();
ret;
}
.func g()
{
call.uni f, ();
ret;
}
)ptx";
    EXPECT_EQ(refusal_of_calls(kHeadOfCalls + self + calls("call.uni f, ();")),
              "function 'f' at line 20 calls itself, and Tilescope runs no recursion; write it as a loop");
    EXPECT_NE(
        refusal_of_calls(kHeadOfCalls + calls(R"ptx(PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
.param .b32 param0;
.param .b32 retval0;
call (retval0), %rd1, (param0), PROTO;)ptx"))
            .find("called through a pointer (register '%rd1')"),
        std::string::npos);
    EXPECT_NE(refusal_of_calls(kHeadOfCalls + kTwice + calls("call.uni twice, ();"))
                  .find("other parameters than it has"),
              std::string::npos);
    EXPECT_NE(
        refusal_of_calls(kHeadOfCalls + ".func f()\n{\nbra OUT;\nret;\n}\n" + calls("call.uni f, ();\nOUT:"))
            .find("'OUT', which is no label"),
        std::string::npos);
    EXPECT_NE(refusal_of_calls(kHeadOfCalls + ".func f(.reg .b32 %a)\n{\nret;\n}\n" +
                               calls(".param .b32 param0;\ncall.uni f, (param0);"))
                  .find("in registers"),
              std::string::npos);
    EXPECT_NE(
        refusal_of_calls(kHeadOfCalls + calls("st.param.b64 [k_param_0], %rd1;")).find("cannot be written"),
        std::string::npos);
}

// f0 calls f1 twice, that calls f2 twice: a text of a few lines, and a billion calls.
TEST(PtxCalls, CallsThatMultiplyAreRefused) {
    for (const std::string& body : {std::string(), std::string("add.s32 %r1, %r1, 1;\n")}) {
        std::string text = kHeadOfCalls;
        for (int i = 40; i >= 0; --i) {
            const std::string next = "call.uni f" + std::to_string(i + 1) + ", ();\n";
            text += ".func f" + std::to_string(i) + "()\n{\n.reg .b32 %r<2>;\n" + body +
                    (i < 40 ? next + next : "") + "ret;\n}\n";
        }
        EXPECT_NE(refusal_of_calls(text + calls("call.uni f0, ();")), "accepted");
    }
    std::string chain = kHeadOfCalls;
    for (int i = 0; i < 2000; ++i)
        chain +=
            ".func f" + std::to_string(i) + "()\n{\ncall.uni f" + std::to_string(i + 1) + ", ();\nret;\n}\n";
    chain += ".func f2000()\n{\nret;\n}\n";
    EXPECT_NE(refusal_of_calls(chain + calls("call.uni f0, ();")).find("too long to be inlined"),
              std::string::npos);
}

}  // namespace
}  // namespace tilescope::ptx
