// The compiler that CUDA programs, and what becomes of their long launches, are compiled with.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tilescope {

struct Compiler {
    std::string path, version;  // "clang version 19.1.7"
};

// The newest clang++ of PATH, or what TILESCOPE_CLANG names. Error: there is none; what to install.
Result<Compiler> find_clang();

}  // namespace tilescope
