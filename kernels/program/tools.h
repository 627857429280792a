// The compilers, and the words that they are called with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/program/compile.h"
#include "kernels/program/flags.h"

namespace tilescope::program {

// What everything is compiled with.
struct Tools {
    Compiler compiler, nvcc;  // nvcc: without a path where clang makes the PTX
    std::filesystem::path headers;
    Flags flags;
    std::string arch;  // flags.arch, or the newest before it that this clang knows
};

Result<Tools> tools_of(const CompileOptions& options);

// The number in "sm_70".
int capability_of(const std::string& arch);

// A name that begins with a dash would be a flag.
std::string file_word(const std::filesystem::path& path);

// Flags of every pass of clang, and of those of .cu files.
std::vector<std::string> common_words(const Tools& tools);
std::vector<std::string> cuda_words(const Tools& tools);

// One call of the compiler for `what`; what it said goes to `said`, but for what it prints as its work where that is
// asked for.
Result<void> call(std::vector<std::string> words, const CompileOptions& options, const std::string& what,
                  std::string& said, std::string* printed = nullptr);

}  // namespace tilescope::program
