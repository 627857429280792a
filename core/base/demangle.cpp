#include "core/base/demangle.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace tilescope {

std::string demangled(std::string_view name) {
    constexpr size_t kLongest = 2048;
    constexpr ptrdiff_t kMostSubstitutions = 64;
    if (!name.starts_with("_Z") || name.size() > kLongest) return "";
    if (std::count(name.begin(), name.end(), '_') > kMostSubstitutions) return "";
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text ? text.get() : "";
}

}  // namespace tilescope
