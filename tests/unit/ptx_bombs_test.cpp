// PTX text that is small and asks for much: the work and the memory that it takes grow with the text, or one
// sentence says what is too many.
#include <string>

#include <gtest/gtest.h>

#include "core/ptx/affine.h"
#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"
#include "core/ptx/parser.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

const std::string kHead = ".version 7.0\n.target sm_70\n.address_size 64\n";

std::string entry(const std::string& body, const std::string& name = "k") {
    return ".visible .entry " + name + "()\n{\n.reg .pred %p<2>; .reg .b32 %r<4>;\n" + body + "\n}\n";
}

std::string repeated(const std::string& text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i) all += text;
    return all;
}

std::string problem_of(const std::string& text) {
    const auto module = parse(text, "bomb.ptx");
    return module ? "" : module.error().message;
}

TEST(PtxBombs, NestedLoopsTakeMemoryForTheirBlocks) {
    constexpr size_t kLoops = 20'000;
    std::string body, back;
    for (size_t i = 0; i < kLoops; ++i) {
        body += "L" + std::to_string(i) + ": mov.u32 %r1, 0;\n";
        back += "@%p1 bra L" + std::to_string(kLoops - 1 - i) + ";\n";
    }
    const auto module = parse(kHead + entry(body + back + "ret;"), "bomb.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const ControlFlow flow = control_flow(module->kernels[0]);
    ASSERT_EQ(flow.loops.size(), kLoops);
    EXPECT_EQ(flow.loops.back().depth, kLoops);
    EXPECT_EQ(flow.looped.size(), 2 * kLoops - 1);
    EXPECT_EQ(flow.blocks_of(0).size(), 2 * kLoops - 1);
    EXPECT_TRUE(flow.holds(0, flow.loops.back().header));
    EXPECT_FALSE(flow.holds(static_cast<int32_t>(kLoops - 1), 0));
}

// Branches forwards and backwards all over the kernel: no loop has one header.
TEST(PtxBombs, IrreducibleFlow) {
    constexpr size_t kLabels = 20'000;
    std::string body;
    for (size_t i = 0; i < kLabels; ++i)
        body += "L" + std::to_string(i) + ": @%p1 bra L" + std::to_string((i * 7919 + 13) % kLabels) + ";\n";
    const auto module = parse(kHead + entry(body + "ret;"), "bomb.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const ControlFlow flow = control_flow(module->kernels[0]);
    ASSERT_EQ(flow.blocks.size(), kLabels + 1);
    for (const BasicBlock& block : flow.blocks) ASSERT_TRUE(block.reachable);
}

// The analysis of addresses claims nothing where it would take too long.
TEST(PtxBombs, BranchesThatThreadsTakeDifferently) {
    constexpr size_t kBranches = 10'000;
    std::string body = "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n";
    for (size_t i = 0; i < kBranches; ++i) body += "@%p1 bra L" + std::to_string(i) + ";\n";
    for (size_t i = kBranches; i-- > 0;) body += "L" + std::to_string(i) + ": mov.u32 %r2, %r1;\n";
    body += "st.shared.u32 [%r2], %r1;\nret;";
    const auto module = parse(kHead + entry(body), "bomb.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const Kernel& kernel = module->kernels[0];
    const auto sites = sites_of(kernel);
    ASSERT_EQ(sites.size(), 1u);
    const auto found = affine_addresses(kernel, sites, {{1, 1, 1}, {32, 1, 1}, {}});
    EXPECT_FALSE(found.shapes[0].affine);
}

TEST(PtxBombs, Nesting) {
    EXPECT_EQ(problem_of(kHead + ".global .b8 x" + repeated("[1]", 30'000) + " = " + repeated("{", 30'000) +
                         "1" + repeated("}", 30'000) + ";\n"),
              "bomb.ptx:4: 'x' has more than 16 dimensions; declare it with fewer");
    EXPECT_EQ(problem_of(kHead + entry(repeated("{", 100'000) + repeated("}", 100'000))),
              "bomb.ptx:7: scopes are nested more than 64 deep; flatten them");
}

TEST(PtxBombs, InitialValuesOfAModule) {
    std::string text = kHead;
    for (int i = 0; i < 4; ++i) text += ".global .b8 x" + std::to_string(i) + "[2][8000000] = {{}, {1}};\n";
    EXPECT_EQ(problem_of(text),
              "bomb.ptx:6: the initial values up to 'x2' have more than 16777216 bytes; make it smaller");
}

// A kernel's copy of a module variable is its name and its size.
TEST(PtxBombs, InitialValuesAreInOnePlace) {
    const auto module = parse(
        kHead + ".global .b32 x[4] = {1, 2, 3};\n" + entry("mov.u32 %r1, 0; ld.global.u32 %r1, [x];"), "t");
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->variables[0].initial.size(), 12u);
    EXPECT_EQ(module->kernels[0].symbols[0].name, "x");
    EXPECT_TRUE(module->kernels[0].symbols[0].initial.empty());
}

TEST(PtxBombs, Registers) {
    EXPECT_EQ(problem_of(kHead + entry(".reg .b32 %a<1000000>;")),
              "bomb.ptx:7: the number of registers is 1000000 and must lie between 1 and 131072; change it");
    // Kernels that are refused give back what they declared, but not the time that it took.
    std::string text = kHead + entry("ret;", "first");
    for (int i = 0; i < 3; ++i) text += entry(".reg .b32 %a<130000>; tex;", "k" + std::to_string(i));
    const auto module = parse(text, "bomb.ptx");
    ASSERT_TRUE(module) << module.error().message;
    ASSERT_EQ(module->refused.size(), 3u);
    EXPECT_NE(module->refused[0].why.find("tex"), std::string::npos);
    EXPECT_NE(module->refused[2].why.find("registers; split it"), std::string::npos);
}

TEST(PtxBombs, InstructionsAndVariables) {
    EXPECT_NE(problem_of(kHead + entry(repeated("ret;", kMaxInstructions + 1)))
                  .find("the module has more than 262144 instructions; split it"),
              std::string::npos);
    std::string variables;
    for (size_t i = 0; i <= kMaxVariables; ++i) variables += ".shared .b8 v" + std::to_string(i) + ";";
    EXPECT_NE(
        problem_of(kHead + entry(variables)).find("the module declares more than 65536 variables; split it"),
        std::string::npos);
}

TEST(PtxBombs, DirectivesAreKeptAsTheyAre) {
    std::string files = kHead;
    for (int i = 1; i <= 20'000; ++i) files += ".file " + std::to_string(i) + " \"a.cu\"\n";
    const auto module = parse(files + entry(repeated(".loc 1 2 3\n", 50'000) + "ret;"), "t");
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->files.size(), 20'000u);
    EXPECT_EQ(module->kernels[0].notes.size(), 49'999u);
    const auto again = parse(print(*module), "t");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(print(*again), print(*module));
}

// Of two labels of one name a jump goes to that of the innermost scope around it.
TEST(PtxBombs, JumpsLeaveScopes) {
    const auto module = parse(kHead + entry(R"(
        bra OUT;
        { bra IN; bra OUT; { bra IN; bra OUT; } IN: mov.u32 %r1, 1; }
        { IN: mov.u32 %r1, 2; bra IN; OUT: bra OUT; }
        OUT: ret;)"),
                              "t");
    ASSERT_TRUE(module) << module.error().message;
    const Kernel& kernel = module->kernels[0];
    const auto goes_to = [&](size_t branch) {
        return kernel.labels[kernel.instructions[branch].operands[0].label].instruction;
    };
    const std::vector<int32_t> to{goes_to(0), goes_to(1), goes_to(2), goes_to(3),
                                  goes_to(4), goes_to(7), goes_to(8)};
    EXPECT_EQ(to, (std::vector<int32_t>{9, 5, 9, 5, 9, 6, 8}));
    EXPECT_NE(
        problem_of(kHead + entry("{ IN: ret; }\nbra IN;")).find("bomb.ptx:8: instruction 'bra' goes to 'IN'"),
        std::string::npos);
}

}  // namespace
}  // namespace tilescope::ptx
