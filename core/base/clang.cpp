#include "core/base/clang.h"

#include <chrono>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "core/base/process.h"

namespace tilescope {

using namespace std::chrono_literals;

namespace {

constexpr int kOldest = 13, kNewest = 30;  // versions

}  // namespace

Result<Compiler> find_clang() {
    std::vector<std::string> names;
    const char* given = std::getenv("TILESCOPE_CLANG");
    if (given != nullptr && given[0] != '\0') {
        names = {given};
    } else {
        for (int version = kNewest; version >= kOldest; --version)
            names.push_back(fmt::format("clang++-{}", version));
        names.push_back("clang++");
    }
    for (const std::string& name : names) {
        const std::string path = find_program(name);
        if (path.empty()) continue;
        const auto ran = run_process({path, "--version"}, 30s);
        if (!ran || ran->status != 0) continue;
        const size_t at = ran->out.find("clang version ");
        if (at == std::string::npos) continue;
        const std::string version = ran->out.substr(at, ran->out.find_first_of(" \n(", at + 14) - at);
        if (std::atoi(version.c_str() + 14) < kOldest) continue;
        return Compiler{path, version};
    }
    if (given != nullptr && given[0] != '\0')
        return Error{fmt::format(
            "TILESCOPE_CLANG names '{}', which is no clang++ of version {} or newer; name another one", given,
            kOldest)};
    return Error{
        fmt::format("CUDA programs are compiled by clang, which is not installed; install the package clang, "
                    "version {} or newer",
                    kOldest)};
}

}  // namespace tilescope
