// PTX for the parser's tests: the files of tests/data/ptx and assets/ptx, and bodies written by hand.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "tests/file_text.h"

namespace tilescope::ptx::test {

// Sorted, so that tests over them are the same everywhere.
inline std::vector<std::filesystem::path> ptx_files() {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"tests/data/ptx", "assets/ptx"}) {
        const auto root = std::filesystem::path(TILESCOPE_SOURCE_DIR) / folder;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
            if (entry.path().extension() == ".ptx") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// The CUDA Toolkit's assembler, "" where it is not installed.
inline std::string find_ptxas() {
    for (const char* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas", "/opt/cuda/bin/ptxas"})
        if (std::filesystem::exists(path)) return path;
    return std::system("command -v ptxas >/dev/null 2>&1") == 0 ? "ptxas" : "";
}

// A module of one kernel `k` with the registers that bodies use; the body starts on line 15.
inline std::string kernel_text(const std::string& body) {
    return R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .f32 table[4] = {0f3F800000, 0f40000000};
.visible .entry k(
    .param .u64 k_param_0,
    .param .u32 k_param_1
)
{
    .reg .pred %p<4>;
    .reg .b16 %rs<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<4>;
    .shared .align 4 .b8 tile[64];
)" + body + "\n}\n";
}

inline constexpr int kFirstBodyLine = 15;

inline Module parsed(const std::string& text) {
    auto module = parse(text, "test.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    return module ? std::move(*module) : Module{};
}

// The kernel of kernel_text(text).
inline Kernel body(const std::string& text) {
    Module module = parsed(kernel_text(text));
    return module.kernels.empty() ? Kernel{} : std::move(module.kernels[0]);
}

inline std::string refusal(const std::string& text) {
    const auto module = parse(text, "test.ptx");
    return module ? "accepted" : module.error().message;
}

}  // namespace tilescope::ptx::test
