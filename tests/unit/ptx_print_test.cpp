// A printed module is the module: read again it prints the same, and ptxas makes the same machine
// code of it.
#include <cstdlib>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "tests/unit/ptx_elf.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

namespace fs = std::filesystem;

TEST(PtxPrint, EveryFilePrintsBack) {
    const auto files = test::ptx_files();
    ASSERT_GE(files.size(), 41u + 32u);
    for (const auto& file : files) {
        SCOPED_TRACE(file.filename());
        const auto first = parse(file_text(file), file.filename().string());
        ASSERT_TRUE(first) << first.error().message;
        const std::string text = print(*first);
        const auto second = parse(text, "printed");
        ASSERT_TRUE(second) << second.error().message;
        EXPECT_EQ(print(*second), text);

        // And what nothing prints: positions and tables are the same too.
        ASSERT_EQ(first->kernels.size(), 1u);
        const Kernel &a = first->kernels[0], &b = second->kernels[0];
        ASSERT_EQ(a.instructions.size(), b.instructions.size());
        ASSERT_EQ(a.registers.size(), b.registers.size());
        ASSERT_EQ(a.symbols.size(), b.symbols.size());
        ASSERT_EQ(a.labels.size(), b.labels.size());
        for (size_t i = 0; i < a.instructions.size(); ++i) {
            EXPECT_EQ(a.instructions[i].source, b.instructions[i].source) << i;
            EXPECT_EQ(a.instructions[i].guard, b.instructions[i].guard) << i;
            EXPECT_EQ(a.instructions[i].destinations, b.instructions[i].destinations) << i;
        }
        for (size_t i = 0; i < a.labels.size(); ++i)
            EXPECT_EQ(a.labels[i].instruction, b.labels[i].instruction);
        EXPECT_EQ(sites_of(a).size(), sites_of(b).size());
        EXPECT_EQ(control_flow(a).blocks.size(), control_flow(b).blocks.size());
        for (const Site& site : sites_of(a)) {
            EXPECT_GT(site.line, 0u);
            EXPECT_GT(site.ptx_line, 0u);
        }
    }
}

// A site for every such line of the text, at its line; two for a copy, and as many for wmma as machine code makes of it.
TEST(PtxPrint, SitesAreTheLinesOfTheText) {
    for (const auto& file : test::ptx_files()) {
        SCOPED_TRACE(file.filename());
        const std::string text = file_text(file);
        std::vector<uint32_t> expected;
        std::set<uint32_t> fragments;  // lines of wmma
        std::istringstream lines(text);
        uint32_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            for (const char* start :
                 {"ld.global.", "st.global.", "ld.shared.", "st.shared.",  "ld.volatile.shared.",
                  "ld.const.",  "ld.local.",  "st.local.",  "atom.",       "red.",
                  "ld.f32 ",    "st.f32 ",    "st.u32 ",    "bar.sync ",   "cp.async.c",
                  "shfl.sync.", "vote.sync.", "match.",     "redux.sync.", "ldmatrix.",
                  "mma.sync.",  "wmma.",      "mbarrier.i", "mbarrier.a",  "cp.async.bulk.tensor."}) {
                const size_t at = line.find_first_not_of(" \t");
                if (at == std::string::npos || line.compare(at, std::string(start).size(), start) != 0)
                    continue;
                if (start == std::string("cp.async.c") && line.find("cp.async.commit") != std::string::npos)
                    continue;
                if (start == std::string("wmma.")) fragments.insert(number);
                expected.insert(expected.end(), std::string_view(start).starts_with("cp.async.") ? 2 : 1,
                                number);
            }
            // Behind a declaration on the same line: a wait, and a product that reads A and B by their descriptors.
            if (line.find("; mbarrier.try_wait.") != std::string::npos) expected.push_back(number);
            if (line.find("; wgmma.mma_async.") != std::string::npos)
                expected.insert(expected.end(), 3, number);
        }
        const auto module = parse(text, "t");
        ASSERT_TRUE(module);
        std::vector<uint32_t> got;
        for (const Site& site : sites_of(module->kernels[0]))
            if (got.empty() || got.back() != site.ptx_line || !fragments.contains(site.ptx_line))
                got.push_back(site.ptx_line);
        EXPECT_EQ(got, expected);
        EXPECT_GE(got.size(), 1u);
    }
}

// No text is taken from its file where ptxas could not tell the difference.
TEST(PtxPrint, HandWrittenBodyPrintsBack) {
    const auto module = parse(test::kernel_text(R"(
        .loc 1 3 1
        .loc 1 4 1
        { .reg .b32 t; mov.u32 t, 7; @%p1 bra $end; }
        .pragma "nounroll";
        L: .pragma "nounroll";
        add.u32 %r1, %r1, -1;
        bra L;
        $end: ret;)"),
                              "hand");
    ASSERT_TRUE(module) << module.error().message;
    const std::string text = print(*module);
    EXPECT_NE(text.find(R"ptx(	.pragma "nounroll";
L:
	.pragma "nounroll";
	add.u32)ptx"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\t.loc 1 3 1\n\t.loc\t1 4 1\n\tmov.u32 \tt, 7;"), std::string::npos) << text;
    const auto again = parse(text, "printed");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(print(*again), text);
}

TEST(PtxPrint, AssemblesToTheSameMachineCode) {
    const std::string ptxas = test::find_ptxas();
    if (ptxas.empty()) GTEST_SKIP() << "ptxas of the CUDA Toolkit is not on this machine";
    const fs::path folder = fs::temp_directory_path() / ("tilescope_ptx_print_" + std::to_string(getpid()));
    fs::create_directories(folder);
    const auto assemble = [&](const std::string& text) {
        std::ofstream(folder / "a.ptx", std::ios::binary) << text;
        const bool hopper = text.find(".target sm_90a") != std::string::npos;
        const std::string command = ptxas + (hopper ? " -arch=sm_90a " : " -arch=sm_80 ") +
                                    (folder / "a.ptx").string() + " -o " + (folder / "a.cubin").string();
        EXPECT_EQ(std::system(command.c_str()), 0);
        return test::elf_sections(file_text(folder / "a.cubin"));
    };
    for (const auto& file : test::ptx_files()) {
        const std::string name = file.filename().string();
        // assets/ptx holds the same kernels at five sizes: one is enough here.
        if (file.parent_path().filename() == "ptx" && name.find(".t4.") == std::string::npos) continue;
        SCOPED_TRACE(file);
        const std::string text = file_text(file);
        const auto module = parse(text, name);
        ASSERT_TRUE(module) << module.error().message;
        auto expected = assemble(text), got = assemble(print(*module));
        // These two hold the text of the PTX and the lines of that text.
        for (auto* sections : {&expected, &got}) {
            sections->erase(".nv_debug_ptx_txt");
            sections->erase(".nv_debug_line_sass");
        }
        EXPECT_EQ(expected.count(".text." + module->kernels[0].name), 1u);
        EXPECT_GE(expected[".text." + module->kernels[0].name].size(),
                  16u * module->kernels[0].instructions.size() / 2);
        ASSERT_EQ(expected.size(), got.size());
        for (const auto& [section, bytes] : expected) EXPECT_TRUE(got.at(section) == bytes) << section;
    }
    fs::remove_all(folder);
}

}  // namespace
}  // namespace tilescope::ptx
