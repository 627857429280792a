#include "kernels/program/tools.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/process.h"
#include "core/base/words.h"
#include "kernels/program/cache.h"
#include "kernels/program/complaint.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kDeadline = 5min;                     // of one file; a compiler that takes longer hangs
constexpr uint64_t kMostMemory = uint64_t{4} << 30;  // bytes that a compiler may take for it

// The newest architecture up to `wanted` that the compiler makes PTX for; `wanted` where there is none. PTX is
// read here and not run on a device, so a program for a newer one is no worse off.
std::string known_arch(const Compiler& compiler, const std::string& wanted) {
    std::vector<std::string> candidates = {wanted};
    for (const int capability : {120, 100, 90, 89, 86, 80, 75, 70})
        if (capability <= capability_of(wanted)) candidates.push_back(fmt::format("sm_{}", capability));
    if (capability_of(wanted) < 70) candidates.push_back(Flags().arch);
    for (const std::string& arch : candidates) {
        const auto ran =
            run_process({compiler.path, "-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
                         "--cuda-device-only", "--cuda-gpu-arch=" + arch, "-fsyntax-only", "/dev/null"},
                        30s);
        if (ran && ran->status == 0) return arch;
    }
    return wanted;
}

// Whether a program of the host's with -fopenmp compiles and links: clang's runtime for it is a package of its own.
bool has_openmp(const Compiler& compiler, const Flags& flags) {
    std::vector<std::string> words = {compiler.path};
    for (const auto* more : {&flags.compile, &flags.link})
        words.insert(words.end(), more->begin(), more->end());
    words.insert(words.end(),
                 {"-include", "omp.h", "-fPIC", "-shared", "-x", "c++", "/dev/null", "-o", "/dev/null"});
    const auto ran = run_process(std::move(words), 30s);
    return ran && ran->status == 0;
}

}  // namespace

int capability_of(const std::string& arch) { return std::atoi(arch.c_str() + 3); }

Result<Tools> tools_of(const CompileOptions& options) {
    auto words = split_words(options.flags);
    if (!words) return words.error();
    auto flags = flags_of(*words);
    if (!flags) return flags.error();
    auto compiler = find_clang();
    if (!compiler) return compiler.error();
    auto headers = headers_folder();
    if (!headers) return headers.error();
    if (!options.own_main.empty()) {
        flags->files.push_back(options.own_main);
        flags->compile.emplace_back("-Dmain=tilescope_other_main");
    }
    // Without the runtime the pragmas are left out and there is one thread, as OpenMP allows: what clang makes of
    // libgomp. Our header then has the functions.
    if (std::ranges::find(flags->compile, "-fopenmp") != flags->compile.end() &&
        !has_openmp(*compiler, *flags))
        std::ranges::replace(flags->compile, "-fopenmp", "-fopenmp=libgomp");
    Tools tools{std::move(*compiler), {}, std::move(*headers), std::move(*flags), Flags().arch};
    if (tools.flags.arch != tools.arch) tools.arch = known_arch(tools.compiler, tools.flags.arch);
    if (options.nvcc) {
        auto nvcc = find_nvcc();
        if (!nvcc) return nvcc.error();
        tools.nvcc = std::move(*nvcc);
    }
    return tools;
}

std::string file_word(const fs::path& path) {
    const std::string text = path.string();
    return text.rfind('-', 0) == 0 ? "./" + text : text;
}

// What nvcc takes without a word is no error here either.
std::vector<std::string> common_words(const Tools& tools) {
    std::vector<std::string> words = {
        tools.compiler.path,     "-std=" + tools.flags.standard,       "-Wno-c++11-narrowing",
        "-Wno-narrowing",        "-Wno-reserved-user-defined-literal", "-Wno-register",
        "-Wno-error=register",   "-Wno-unknown-cuda-version",          "-Wno-unused-command-line-argument",
        "-fno-color-diagnostics"};
    if (!tools.flags.warnings) words.push_back("-w");
    words.insert(words.end(), tools.flags.compile.begin(), tools.flags.compile.end());
    // Behind the folders that -I names, so that a sample's own helper_cuda.h comes first; before the
    // system's, where a toolkit may have its headers.
    words.insert(words.end(), {"-isystem", tools.headers.string()});
    return words;
}

std::vector<std::string> cuda_words(const Tools& tools) {
    std::vector<std::string> words = common_words(tools);
    words.insert(words.end(), {"-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
                               "--cuda-gpu-arch=" + tools.arch, "-Xclang", "-target-sdk-version=11.5",
                               fmt::format("-D__CUDA_ARCH_LIST__={}0", capability_of(tools.flags.arch)),
                               "-include", (tools.headers / "tilescope_cuda.h").string()});
    return words;
}

namespace {

// Whether LLVM or the C++ library wrote that they got no memory.
bool ran_out_of_memory(const std::string& said) {
    return std::ranges::any_of(std::array{"out of memory", "std::bad_alloc", "Cannot allocate memory"},
                               [&](const char* words) { return said.find(words) != std::string::npos; });
}

}  // namespace

Result<void> call(std::vector<std::string> words, const CompileOptions& options, const std::string& what,
                  std::string& said, std::string* printed) {
    const auto ran = run_process(std::move(words), kDeadline, options.stop, kMostMemory);
    if (!ran) return ran.error();
    if (ran->stopped) return Error{"stopped; nothing was run"};
    // A compiler without memory says so and dumps its own stack, which helps nobody.
    if (ran->status != 0 && ran_out_of_memory(ran->err))
        return Error{fmt::format(
            "the compiler needs more than the {} of memory that it may take for '{}'; give it less",
            bytes_text(kMostMemory), what)};
    if (printed) *printed = ran->out;
    said += printed ? ran->err : ran->out + ran->err;
    if (ran->too_late)
        return Error{fmt::format("the compiler took more than five minutes for '{}'; give it less", what)};
    if (ran->status == 0) return {};
    const std::string missing = missing_call(ran->err);
    return Error{missing.empty() ? fmt::format("'{}' does not compile; the compiler's words say why", what)
                                 : missing};
}

Result<Compiler> find_nvcc() {
    const char* given = std::getenv("TILESCOPE_NVCC");
    const bool named = given != nullptr && given[0] != '\0';
    for (const std::string& name : named ? std::vector<std::string>{given}
                                         : std::vector<std::string>{"nvcc", "/usr/local/cuda/bin/nvcc"}) {
        const std::string path = find_program(name);
        if (path.empty()) continue;
        const auto ran = run_process({path, "--version"}, 30s);
        constexpr std::string_view kRelease = "release ";
        const size_t at = ran && ran->status == 0 ? ran->out.find(kRelease) : std::string::npos;
        if (at == std::string::npos) continue;
        const size_t first = at + kRelease.size();
        return Compiler{path,
                        "nvcc " + ran->out.substr(first, ran->out.find_first_of(" ,\n", first) - first)};
    }
    return Error{named ? fmt::format("TILESCOPE_NVCC names '{}', which is no nvcc; name another one", given)
                       : std::string("nvcc of the CUDA Toolkit is not on this machine; leave out --compiler "
                                     "nvcc, and clang makes the PTX")};
}

}  // namespace tilescope::program
