// Modules of many kernels, of which one is wanted.
#include <gtest/gtest.h>

#include "core/ptx/large.h"
#include "core/ptx/parse.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

constexpr int kKernels = 300;

// Kernel k7 has 7 + 1 parameters, and adds 7 in `instructions` instructions; it calls `twice`.
std::string library(int instructions, int registers = 8) {
    std::string text = R"(.version 8.0
.target sm_80
.address_size 64
// .entry none() {
/* .visible .entry none_either() { */
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %r<2>; ld.param.b32 %r0, [in]; add.u32 %r0, %r0, %r0;
    st.param.b32 [out], %r0; ret; }
)";
    for (int k = 0; k < kKernels; ++k) {
        text += fmt::format("{}.entry k{}(", k % 3 == 0 ? ".visible " : k % 3 == 1 ? ".weak " : "", k);
        for (int p = 0; p <= k % 10; ++p)
            text += fmt::format("{}.param .u64 k{}_p{}", p > 0 ? ", " : "", k, p);
        text += fmt::format(") .maxntid 64, 1, 1\n{{\n.reg .b32 %r<{}>; // a brace: }}\n", registers);
        text += ".pragma \"nounroll }\";\n{ .reg .b32 inner; mov.u32 inner, table; }\n";
        for (int i = 0; i < instructions; ++i) text += fmt::format("add.u32 %r1, %r1, {};\n", k);
        text +=
            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a); }\nret;\n}\n";
    }
    return text;
}

TEST(PtxLarge, NamesAndParametersOfAllKernelsAreRead) {
    const std::string text = library(1);
    const std::vector<std::string> names = kernel_names(text);
    ASSERT_EQ(names.size(), size_t{kKernels});
    EXPECT_EQ(names[17], "k17");
    const auto heads = parse_heads(text, "library.ptx");
    ASSERT_TRUE(heads) << heads.error().message;
    ASSERT_EQ(heads->kernels.size(), size_t{kKernels});
    EXPECT_TRUE(heads->refused.empty());
    const auto whole = parse(text, "library.ptx");
    ASSERT_TRUE(whole);
    for (size_t k = 0; k < heads->kernels.size(); ++k) {
        EXPECT_EQ(heads->kernels[k].name, whole->kernels[k].name);
        EXPECT_EQ(heads->kernels[k].parameters.size(), k % 10 + 1);
        EXPECT_EQ(heads->kernels[k].directives, whole->kernels[k].directives);
        EXPECT_EQ(heads->kernels[k].visible, whole->kernels[k].visible);
        EXPECT_EQ(heads->kernels[k].weak, whole->kernels[k].weak);
        EXPECT_TRUE(heads->kernels[k].instructions.empty());
    }
    EXPECT_EQ(heads->variables.size(), 1u);
}

// Of a small module nothing is left out, and lines are those of the file.
TEST(PtxLarge, SmallModulesAreReadWhole) {
    std::string text = library(1);
    const std::string before = text;
    EXPECT_FALSE(is_large(text));
    const auto module = parse_for(text, "library.ptx", "k5");
    ASSERT_TRUE(module);
    EXPECT_EQ(module->kernels.size(), size_t{kKernels});
    EXPECT_EQ(text, before);
}

// More registers than a module may have, in a short text; and more instructions, in a long one.
TEST(PtxLarge, LimitsCountTheKernelThatIsWanted) {
    const int registers = static_cast<int>(kMaxRegisters) / kKernels + 10;
    const int instructions = static_cast<int>(kMaxInstructions) / kKernels + 10;
    for (std::string text : {library(1, registers), library(instructions)}) {
        const auto whole = parse(text, "library.ptx");
        ASSERT_TRUE(whole);
        const std::string* const refusal = refusal_of(*whole, "k299");
        ASSERT_NE(refusal, nullptr) << "the module should be too large to be read whole";
        for (const char* name : {"k0", "k299"}) {
            std::string of_one = text;
            const auto module = parse_for(of_one, "library.ptx", name);
            ASSERT_TRUE(module) << module.error().message;
            const Kernel* const kernel = find_kernel(*module, name);
            ASSERT_NE(kernel, nullptr) << name;
            EXPECT_TRUE(refusal_of(*module, name) == nullptr);
            EXPECT_GT(kernel->instructions.size(), 4u);  // the function stands in it
            if (const Kernel* const same = find_kernel(*whole, name))
                EXPECT_EQ(print(*kernel, kernel->instructions[3]), print(*same, same->instructions[3]));
            // What was read can be read again, and holds this kernel.
            const auto again = parse(of_one, "library.ptx");
            ASSERT_TRUE(again);
            EXPECT_NE(find_kernel(*again, name), nullptr);
        }
    }
}

TEST(PtxLarge, LinesStayWhereTheyAreFew) {
    std::string text = library(1, static_cast<int>(kMaxRegisters) / kKernels + 10);
    const size_t line =
        1 + static_cast<size_t>(std::ranges::count(text.substr(0, text.find(" k299(")), '\n'));
    std::string of_one = text;
    const auto module = parse_for(of_one, "library.ptx", "k299");
    ASSERT_TRUE(module);
    EXPECT_EQ(std::ranges::count(of_one, '\n'), std::ranges::count(text, '\n'));
    const Kernel* const kernel = find_kernel(*module, "k299");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->instructions.front().text_line, line + 4);
}

// A kernel that cannot be read is refused with its own sentence, however many stand beside it.
TEST(PtxLarge, ARefusedKernelKeepsItsSentence) {
    std::string text = library(static_cast<int>(kMaxInstructions) / kKernels + 10);
    const size_t at = text.find("add.u32 %r1, %r1, 200;");
    text.replace(at, 3, "tex");
    ASSERT_TRUE(is_large(text));
    std::string of_one = text;
    const auto module = parse_for(of_one, "library.ptx", "k200");
    EXPECT_FALSE(module);
    EXPECT_NE(module.error().message.find("tex.u32"), std::string::npos) << module.error().message;
    of_one = text;
    EXPECT_TRUE(parse_for(of_one, "library.ptx", "k201"));
}

TEST(PtxLarge, DamagedTextsEnd) {
    const std::string text = library(1);
    for (size_t cut = 0; cut < 3000; cut += 7) {
        const std::string part = text.substr(0, cut);
        std::string of_one = part;
        (void)kernel_names(part), (void)parse_heads(part, "cut.ptx"),
            (void)parse_for(of_one, "cut.ptx", "k0");
    }
    for (const char* odd : {".entry", ".entry ", ".entry k", "}}{{", ".entry k {\"", ".entry k { /*", "\"\\",
                            ".visible .entry k(){}"})
        (void)kernel_names(odd), (void)parse_heads(odd, "odd.ptx");
}

}  // namespace
}  // namespace tilescope::ptx
