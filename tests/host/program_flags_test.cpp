// Flags as a shell takes them apart, nvcc's among them; what a compiler says, as a sentence; a source's main.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/program/complaint.h"
#include "kernels/program/flags.h"
#include "kernels/program/run.h"
#include "kernels/program/source.h"

namespace tilescope::program {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text) {
    auto words = split_words(text);
    EXPECT_TRUE(words) << text;
    return words ? *words : Words{};
}

TEST(SplitWords, AsAShellDoes) {
    EXPECT_EQ(split(""), Words{});
    EXPECT_EQ(split(" \t\n "), Words{});
    EXPECT_EQ(split("-I a  -DN=3\n-O1"), (Words{"-I", "a", "-DN=3", "-O1"}));
    EXPECT_EQ(split("'a b' \"c d\" e\\ f"), (Words{"a b", "c d", "e f"}));
    EXPECT_EQ(split("-DTEXT='\"x\"'"), (Words{"-DTEXT=\"x\""}));
    EXPECT_EQ(split("a'b'\"c\"d"), (Words{"abcd"}));
    EXPECT_EQ(split("'' \"\""), (Words{"", ""}));
    EXPECT_EQ(split("'new\nline' \"a\\\"b\\\\c\\d\""), (Words{"new\nline", "a\"b\\c\\d"}));
    EXPECT_EQ(split("a\\\nb"), (Words{"ab"})) << "a line that goes on";
}

TEST(SplitWords, ExpandNothing) {
    EXPECT_EQ(split("$HOME `id` $(id) *.cu ; rm & | > x"),
              (Words{"$HOME", "`id`", "$(id)", "*.cu", ";", "rm", "&", "|", ">", "x"}));
}

TEST(SplitWords, RefuseWhatIsNotClosed) {
    for (const std::string text : {"'a", "\"a", "a\\", "\"a\\\""}) EXPECT_FALSE(split_words(text)) << text;
    using namespace std::string_view_literals;
    for (const std::string_view text : {"a\0b"sv, "'a\0'"sv, "a\\\0b"sv, "\"\\\0\""sv})
        EXPECT_FALSE(split_words(text)) << text;
}

// Every word, quoted as POSIX says, comes back.
TEST(SplitWords, BringBackWhatWasQuoted) {
    std::mt19937 random(7);
    const std::string letters = "ab '\"\\$`\n\t;*#-=";
    for (int round = 0; round < 2000; ++round) {
        Words words(random() % 4);
        std::string text;
        for (std::string& word : words) {
            for (size_t left = random() % 6; left > 0; --left) word += letters[random() % letters.size()];
            text += " '";
            for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
            text += "'";
        }
        EXPECT_EQ(split(text), words) << text;
    }
}

Flags flags(std::string_view text) {
    auto made = flags_of(split(text));
    EXPECT_TRUE(made) << text;
    return made ? *made : Flags{};
}

TEST(CompilerFlags, GoWhereTheyBelong) {
    const Flags made = flags("-I inc -DN=4 helper.cu 'my file.cpp' -lfoo -L lib -Wall");
    EXPECT_EQ(made.compile, (Words{"-I", "inc", "-DN=4", "-Wall"}));
    EXPECT_EQ(made.link, (Words{"-lfoo", "-L", "lib"}));
    EXPECT_EQ(made.files, (Words{"helper.cu", "my file.cpp"}));
    EXPECT_TRUE(made.warnings);
    EXPECT_EQ(made.arch, "sm_70");
    EXPECT_EQ(made.standard, "c++17");
}

TEST(CompilerFlags, OfNvccMeanTheSame) {
    const Flags made = flags(
        "-arch=sm_80 -std=c++20 -lineinfo -G --expt-relaxed-constexpr -Xcompiler -fopenmp,-O1 -Xptxas -v "
        "--use_fast_math -o out -lcudart");
    EXPECT_EQ(made.arch, "sm_80");
    EXPECT_EQ(made.standard, "c++20");
    EXPECT_EQ(made.compile, (Words{"-fopenmp", "-O1", "-fcuda-approx-transcendentals"}));
    EXPECT_EQ(made.link, Words{});
    EXPECT_EQ(made.files, Words{});
    EXPECT_EQ(flags("-gencode arch=compute_75,code=sm_75").arch, "sm_75");
    EXPECT_EQ(flags("-arch=native").arch, "sm_70");
}

TEST(CompilerFlags, OfAnArchitectureAreUnderstood) {
    for (const auto& [text, arch] : std::vector<std::pair<const char*, const char*>>{
             {"-arch=sm_90", "sm_90"},
             {"-arch sm_90a", "sm_90a"},
             {"--gpu-architecture=compute_89", "sm_89"},
             {"-gencode arch=compute_90,code=sm_90", "sm_90"},
             {"-gencode=arch=compute_60,code=sm_60 -gencode=arch=compute_86,code=sm_86 "
              "-gencode=arch=compute_75,code=sm_75",
              "sm_86"},
             {"-arch=all", "sm_70"},
             {"-arch=all-major", "sm_70"},
             {"-arch=native", "sm_70"},
             {"-arch=sm_35", "sm_70"}})  // the oldest for which the headers are written
        EXPECT_EQ(flags(text).arch, arch) << text;
}

// A Makefile's line, of which each word is known: nothing of it reaches clang but what clang has too.
TEST(CompilerFlags, OfAMakefileLeaveWhatClangHasToo) {
    const Flags made = flags(
        "-O3 -O2 -O 3 -g -G -lineinfo -m64 -w -ccbin g++ --compiler-bindir=/usr/bin/g++ -Xptxas -v "
        "-Xptxas=-O3,-v "
        "--ptxas-options=-v -rdc=true -dc --relocatable-device-code true -maxrregcount=32 --maxrregcount 64 "
        "-lcublas -lcurand -lcudadevrt -lcuda -cudart static --cudart=shared --threads 4 -t0 "
        "--default-stream "
        "per-thread --expt-relaxed-constexpr --extended-lambda -res-usage --keep --keep-dir tmp "
        "-diag-suppress 177 "
        "-Xcudafe --display_error_number -Werror all-warnings -Wno-deprecated-gpu-targets -o a.out -x cu "
        "--output-file=b.out --std=c++20 --include-path=a,b -DN=2 --define-macro M=3 --library-path=/l "
        "--library=m");
    EXPECT_EQ(made.compile, (Words{"-I", "a", "-I", "b", "-DN=2", "-D", "M=3"}));
    EXPECT_EQ(made.link, (Words{"-L/l", "-lm"}));
    EXPECT_EQ(made.files, Words{});
    EXPECT_EQ(made.standard, "c++20");
    EXPECT_FALSE(made.warnings);
    EXPECT_EQ(flags("--fmad=false -ftz=true").compile,
              (Words{"-ffp-contract=off", "-fcuda-flush-denormals-to-zero"}));
    for (const std::string word : {"-ptx", "--cubin", "-E", "-M", "--dryrun", "--options-file=x", "-V"}) {
        const auto refused = flags_of({word});
        ASSERT_FALSE(refused) << word;
        EXPECT_NE(refused.error().message.find(word), std::string::npos);
    }
}

TEST(Complaint, NamesTheCall) {
    EXPECT_EQ(missing_call("a.cu:3:5: error: use of undeclared identifier 'cudaGraphCreate'"),
              "the program uses cudaGraphCreate, which Tilescope's runtime does not have");
    EXPECT_EQ(missing_call("/usr/bin/ld: a.o: undefined reference to `cublasCreate_v2'\n"
                           "/usr/bin/ld: a.o: undefined reference to `cublasSgemm_v2'\n"
                           "/usr/bin/ld: a.o: undefined reference to `cublasCreate_v2'"),
              "the program uses cublasCreate_v2 and cublasSgemm_v2, which Tilescope's runtime does not have");
    EXPECT_EQ(missing_call("a.cu:1:10: fatal error: 'cufft.h' file not found"),
              "the program includes cufft.h, and cuFFT is not part of Tilescope's runtime");
    EXPECT_EQ(missing_call("a.cu:1:10: fatal error: 'mine.h' file not found"), "");
    EXPECT_EQ(missing_call("a.cu:3:5: error: use of undeclared identifier 'count'"), "");
    EXPECT_EQ(
        missing_call("a.cu:3:5: error: use of undeclared identifier 'count'\n"
                     "a.cu:4:5: error: use of undeclared identifier 'cudaDeviceSynchronise'; did you mean "
                     "'cudaDeviceSynchronize'?"),
        "")
        << "a slip";
    EXPECT_EQ(missing_call("a.cu:3:5: error: use of undeclared identifier 'cudaMallocArray'; did you mean "
                           "'cudaMallocAsync'?\n"
                           "a.cu:3:5: error: no matching function for call to 'cudaMallocAsync'\n"
                           "a.cu:4:5: error: use of undeclared identifier 'tex2D'"),
              "the program uses tex2D, which Tilescope's runtime does not have")
        << "what the compiler proposes is not what the program says";
    EXPECT_EQ(
        missing_call(
            "a.cu:5:61: error: kernel launch from __device__ or __global__ function requires relocatable "
            "device code (i.e. requires -fgpu-rdc)"),
        "device code launches a kernel at line 5, and Tilescope runs no dynamic parallelism; launch it from "
        "the "
        "host");
    for (const char* function : {"__global__", "__device__"})
        EXPECT_EQ(missing_call(std::string("a.cu:5:56: error: reference to __global__ function 'child' in ") +
                               function + " function\nchild<<<1, 32>>>(o);"),
                  "device code launches the kernel child at line 5, and Tilescope runs no dynamic "
                  "parallelism; launch "
                  "it from the host");
    EXPECT_EQ(missing_call(""), "");
}

TEST(HasMain, LooksBeyondCommentsAndStrings) {
    EXPECT_TRUE(has_main("int main() {}"));
    EXPECT_TRUE(has_main("#include <x>\nint\nmain (int argc, char** argv) { }"));
    EXPECT_TRUE(has_main("char c = '\"'; int n = 1'000; int main() {}"));
    EXPECT_FALSE(has_main(""));
    EXPECT_FALSE(has_main("// int main() {}\n/* main( */ const char* a = \"main(\";"));
    EXPECT_FALSE(has_main("void domain(); void main_loop(); int main;"));
    EXPECT_FALSE(has_main("/* main("));
    EXPECT_FALSE(has_main("\"main("));
}

TEST(ProgramSource, BracketsOfALaunchInTwoPiecesBecomeOne) {
    EXPECT_EQ(with_whole_brackets("k << <1, 2 >> >(a);"), "k <<< 1, 2 >>> (a);");
    EXPECT_EQ(with_whole_brackets("k< <<g(1), b>>> (a);"), "k<<< g(1), b>>> (a);");
    EXPECT_EQ(with_whole_brackets("k<int> <<<(a > b ? 1 : 2), f<3>(1)>> > (a);"),
              "k<int> <<<(a > b ? 1 : 2), f<3>(1)>>>  (a);");
    for (const char* right :
         {"k<<<1, 2>>>(a);", "std::ostream& operator<< <int>(std::ostream&, T<T<T<int>> > a);",
          "std::vector<std::vector<std::vector<int>> > v(3);", "x = a << b < c;", "// k << <1>> >(a)\n",
          "s = \"k << <1>> >(a)\";", "k << <1, 2; f >> >(a)", "<< <", ""})
        EXPECT_FALSE(with_whole_brackets(right)) << right;
}

TEST(ProgramSource, WhatNvccAcceptsIsWrittenAsClangReadsIt) {
    EXPECT_EQ(as_nvcc_reads_it(R"(asm("mov.u32 %0, %laneid;" : "=r"(l));)"),
              R"(asm("mov.u32 %0, %%laneid;" : "=r"(l));)");
    EXPECT_EQ(as_nvcc_reads_it("asm volatile (\"mov.u32 %0, %tid.x; // %\"\n  \"%_a\"\n :\"=r\"(l));"),
              "asm volatile (\"mov.u32 %0, %%tid.x; // %\"\n  \"%%_a\"\n :\"=r\"(l));");
    EXPECT_EQ(as_nvcc_reads_it(R"(asm("st [%1], %0;" :: "r"(v) "l"(f(o)) : "memory"); x("%a" ? 1 : 2);)"),
              R"(asm("st [%1], %0;" :: "r"(v), "l"(f(o)) : "memory"); x("%a" ? 1 : 2);)");
    EXPECT_EQ(as_nvcc_reads_it("extern \"C\"__global__ void k(int*);"),
              "extern \"C\" __global__ void k(int*);");
    EXPECT_EQ(as_nvcc_reads_it(
                  "#define ID(x) __asm__ __volatile__(\"mov.u32 %0, %smid;\" \\\n : \"=r\"(x) \\\n : )\n"),
              "#define ID(x) __asm__ __volatile__(\"mov.u32 %0, %%smid;\" \\\n : \"=r\"(x) \\\n : )\n");
    for (const char* right :
         {R"(asm("mov.u32 %0, %%laneid;" : "=r"(l));)", R"(asm("bar.sync 0; // %laneid");)",
          R"(asm("mov.b32 %0, {%1, %h2};" : "=r"(a) : "h"(b), "h"(c));)",
          R"(asm("add %[sum], %[a], 1;" : [sum] "=r"(s) : [a] "r"(a));)", R"(// asm("%laneid" : "=r"(l)))",
          "s = \"asm(%laneid :)\";", "asm(\"%laneid\" : \"=r\"(l)", "asm(", "asm volatile", "asm",
          R"(plasma("%a" : (b)))", R"(asm("100%" : : ))", R"(asm("%laneid" { : }))", ""})
        EXPECT_FALSE(as_nvcc_reads_it(right)) << right;
}

}  // namespace
}  // namespace tilescope::program
