// Device code as nvcc makes it: vectors and structs by as many accesses of as many bytes, and lines of the source.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/process.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "kernels/program/compile.h"
#include "kernels/program/whole_copies.h"
#include "tests/temp_folder.h"

namespace tilescope::program {
namespace {

const std::string kPrograms = TILESCOPE_SOURCE_DIR "/tests/data/programs/";

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// "1 global load 16, 2 shared store 4", sorted.
std::string accesses_of(const ptx::Kernel& kernel) {
    std::map<std::string, int> number;
    for (const ptx::Site& site : ptx::sites_of(kernel))
        if (ptx::asks_memory(site.kind))
            ++number[fmt::format("{} {} {}", name_of(site.space), name_of(site.kind), site.bytes)];
    std::string text;
    for (const auto& [what, times] : number)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", times, what);
    return text;
}

// "float4_copy" for "_Z11float4_copyPK6float4PS_".
std::string plain(const std::string& name) {
    size_t at = name.starts_with("_Z") ? 2 : std::string::npos;
    if (at == std::string::npos) return name;
    const auto length = static_cast<size_t>(std::atoi(name.c_str() + at));
    return name.substr(name.find_first_not_of("0123456789", at), length);
}

std::map<std::string, std::string> table() {
    std::map<std::string, std::string> rows;
    std::istringstream lines(text_of(kPrograms + "vectors.txt"));
    for (std::string line; std::getline(lines, line);)
        if (const size_t colon = line.find(": "); !line.starts_with('#') && colon != std::string::npos)
            rows[line.substr(0, colon)] = line.substr(colon + 2);
    return rows;
}

// Of the versions that Debian has, those that are here; else the one that is found.
std::vector<std::string> compilers() {
    std::vector<std::string> all = {"clang++-14", "clang++-19", "clang++-22"};
    std::erase_if(all, [](const std::string& name) { return find_program(name).empty(); });
    return all.empty() ? std::vector<std::string>{""} : all;
}

class DeviceCode : public OwnCache {
protected:
    ptx::Module module_of(const std::string& path, bool nvcc = false) {
        Complaint complaint;
        const auto ptx = compile_device(path, {"", "", nvcc}, &complaint);
        EXPECT_TRUE(ptx) << ptx.error().message << complaint.said;
        if (!ptx) return {};
        auto module = ptx::parse(*ptx, "test.ptx");
        EXPECT_TRUE(module) << module.error().message;
        return module ? std::move(*module) : ptx::Module();
    }
    void expect_table(const ptx::Module& module, const std::string& compiler) {
        const auto rows = table();
        ASSERT_GE(rows.size(), 100u);
        EXPECT_EQ(module.kernels.size(), rows.size());
        for (const ptx::Refusal& refused : module.refused)
            ADD_FAILURE() << refused.kernel << ": " << refused.why;
        for (const ptx::Kernel& kernel : module.kernels) {
            const auto row = rows.find(plain(kernel.name));
            ASSERT_NE(row, rows.end()) << kernel.name;
            EXPECT_EQ(accesses_of(kernel), row->second) << row->first << " by " << compiler;
        }
    }
};

TEST_F(DeviceCode, MovesVectorsAndStructsAsNvccDoes) {
    for (const std::string& compiler : compilers()) {
        setenv("TILESCOPE_CLANG", compiler.c_str(), 1);
        expect_table(module_of(kPrograms + "vectors.cu"), compiler);
    }
}

TEST_F(DeviceCode, TableOfVectorsIsNvccs) {
    if (!find_nvcc()) GTEST_SKIP() << "nvcc is not on this machine";
    expect_table(module_of(kPrograms + "vectors.cu", true), "nvcc");
}

// Every access and barrier stands at a line of the file that has its kernel, one with code.
TEST_F(DeviceCode, StandsAtLinesOfTheSource) {
    std::vector<std::string> paths = {kPrograms + "vectors.cu", kPrograms + "lines.cu"};
    for (const char* example : {"barrier_condition", "blur", "histogram_shared", "matrix_multiply",
                                "reduction_shuffle", "stencil_halo", "transpose_padded"})
        paths.push_back(fmt::format(TILESCOPE_SOURCE_DIR "/kernels/examples/{}.cu", example));
    for (const std::string& path : paths) {
        std::vector<std::string> lines(1);
        for (const char c : text_of(path))
            if (c == '\n')
                lines.emplace_back();
            else
                lines.back() += c;
        const ptx::Module module = module_of(path);
        for (const ptx::Kernel& kernel : module.kernels) {
            const uint32_t file = ptx::source_file_of(kernel);
            for (const ptx::SourceFile& one : module.files)
                if (one.index == file) EXPECT_EQ(one.name, path) << kernel.name;
            for (const ptx::Site& site : ptx::sites_of(kernel)) {
                ASSERT_TRUE(site.line > 0 && site.line <= lines.size())
                    << path << " " << kernel.name << " " << site.line;
                EXPECT_NE(lines[site.line - 1].find_first_of("[(*="), std::string::npos)
                    << path << ":" << site.line << ": " << lines[site.line - 1];
            }
        }
    }
}

// Lines that the comments of lines.cu name: "// load, store".
TEST_F(DeviceCode, StandsAtTheLineThatSaysSo) {
    std::map<uint32_t, std::string> said, found;
    std::istringstream lines(text_of(kPrograms + "lines.cu"));
    uint32_t number = 0;
    for (std::string line; std::getline(lines, line);)
        if (const size_t at = line.find("//: "); ++number && at != std::string::npos)
            said[number] = line.substr(at + 4);
    for (const std::string& compiler : compilers()) {
        setenv("TILESCOPE_CLANG", compiler.c_str(), 1);
        found.clear();
        for (const ptx::Kernel& kernel : module_of(kPrograms + "lines.cu").kernels)
            for (const ptx::Site& site : ptx::sites_of(kernel)) {
                std::string& text = found[site.line];
                const std::string what = name_of(site.kind);
                if (site.space != Space::Local && text.find(what) == std::string::npos)
                    text += (text.empty() ? "" : " ") + what;
            }
        std::erase_if(found, [](const auto& line) { return line.second.empty(); });
        EXPECT_EQ(found, said) << compiler;
    }
}

// min and max of the program's own, of either side and of both, are those that it calls; assert needs no header.
TEST_F(DeviceCode, TakesTheProgramsOwnMinAndMax) {
    const std::string path = at("own.cu");
    std::ofstream(path)
        << "__host__ __device__ int min(int a, int b) { return a * 7 + b; }\n"
           "__device__ float max(float a, float b) { return a > b ? a : b; }\n"
           "unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }\n"
           "template <class T> __device__ T smallest(T a, T b) { return min(a, b); }\n"
           "__global__ void k(int *o, float *f) {\n"
           "    o[threadIdx.x] = min(o[threadIdx.x], 3) + max(o[threadIdx.x + 32], 4) + smallest(1u, 2u);\n"
           "    assert(o[threadIdx.x] >= 0);\n"
           "    f[threadIdx.x] = max(f[threadIdx.x], 0.f) + min(f[threadIdx.x + 32], 1.f);\n"
           "}\n"
           "int main() { return min(3, 4) + int(max(1u, 2u)); }\n";
    const ptx::Module module = module_of(path);
    ASSERT_EQ(module.kernels.size(), 1u);
    bool times_7 = false;
    for (const ptx::Instruction& one : module.kernels[0].instructions)
        for (const ptx::Operand& operand : one.operands) times_7 |= operand.text == "7";
    EXPECT_TRUE(times_7);
}

TEST(WholeCopies, LeaveWhatTheyCannotRead) {
    const std::string ir =
        "%struct.float4 = type { float, float, float, float }\n"
        "define void @k(ptr %0, ptr %1) {\n"
        "  %3 = alloca %struct.float4, align 16\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %3, ptr align 16 %1, i64 16, i1 false), "
        "!tbaa.struct !5\n"
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %0, ptr align 16 %3, i64 16, i1 false), "
        "!tbaa.struct !5\n"
        "  ret void\n}\n"
        "!5 = !{i64 0, i64 4, !7, i64 4, i64 4, !7, i64 8, i64 4, !7, i64 12, i64 4, !7}\n"
        "!7 = !{!8, !8, i64 0}\n!8 = !{!\"float\", !9, i64 0}\n";
    const std::string made = with_whole_copies(ir);
    EXPECT_EQ(made.find("memcpy"), std::string::npos) << made;
    EXPECT_NE(made.find("load <4 x float>, ptr %1, align 16"), std::string::npos) << made;
    EXPECT_NE(made.find("store <4 x float> %tilescope.2, ptr %0, align 16"), std::string::npos) << made;
    EXPECT_EQ(with_whole_copies(""), "");
    EXPECT_EQ(with_whole_copies("define\n  call void @llvm.memcpy.("), "define\n  call void @llvm.memcpy.(");
    std::mt19937 random(3);
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = ir.substr(0, 1 + random() % ir.size());
        for (size_t times = random() % 4; times > 0; --times)
            damaged[random() % damaged.size()] = "%@!(){}[],=x 0i\n"[random() % 16];
        with_whole_copies(damaged);
    }
}

}  // namespace
}  // namespace tilescope::program
