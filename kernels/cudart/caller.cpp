#include "kernels/cudart/caller.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <map>

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include "core/base/process.h"

namespace tilescope::cudart {
namespace {

// Puts the line of an address of a loaded file into `to`.
void ask_for_line(void* address, Caller& to) {
    Dl_info file{};
    link_map* loaded = nullptr;
    if (dladdr1(address, &file, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0 || !loaded) return;
    // The program's own name in the list is empty. The address is that behind the call.
    const std::string path = loaded->l_name && *loaded->l_name ? loaded->l_name : "/proc/self/exe";
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (error) return;
    const uint64_t at = reinterpret_cast<uintptr_t>(address) - loaded->l_addr - 1;
    const auto ran =
        run_process({"addr2line", "-e", real.string(), fmt::format("{:#x}", at)}, std::chrono::seconds(5));
    if (!ran || ran->status != 0) return;
    const size_t colon = ran->out.rfind(':');
    if (colon == std::string::npos) return;
    std::from_chars(ran->out.data() + colon + 1, ran->out.data() + ran->out.size(), to.line);
    to.file = std::filesystem::path(ran->out.substr(0, colon)).filename().string();
}

}  // namespace

Caller place_of(void* address) {
    static auto& known = *new std::map<void*, Caller>;  // never destroyed, as the Runtime
    const auto [at, fresh] = known.try_emplace(address);
    if (fresh) ask_for_line(address, at->second);
    return at->second;
}

Caller caller() {
    Dl_info ours{};
    Caller found;
    if (dladdr(reinterpret_cast<void*>(&ask_for_line), &ours) == 0) return found;
    std::array<void*, 64> frames{};
    const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
    bool inside = false;  // a sanitizer's backtrace() begins in the sanitizer
    for (int i = 0; i < count; ++i) {
        Dl_info file{};
        if (dladdr(frames[static_cast<size_t>(i)], &file) == 0) break;
        if (file.dli_fbase == ours.dli_fbase) {
            inside = true;
            found.function = file.dli_sname && *file.dli_sname == 'c' ? file.dli_sname : "";
            continue;
        }
        if (!inside) continue;
        const Caller place = place_of(frames[static_cast<size_t>(i)]);
        found.line = place.line, found.file = place.file;
        break;
    }
    return found;
}

std::string name_of(const Caller& caller, const std::string& source) {
    const std::string name = caller.function.empty() ? "a call of the runtime" : caller.function;
    if (caller.line == 0) return name;
    const bool own = caller.file == std::filesystem::path(source).filename().string();
    return fmt::format("{} at line {}{}", name, caller.line, own ? "" : " of " + caller.file);
}

}  // namespace tilescope::cudart
