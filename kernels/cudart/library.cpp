#include "kernels/cudart/library.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::cudart {

LibraryCall::LibraryCall(Runtime& r, const char* name) : runtime_(r), name_(name) {
    static std::set<std::string> said;  // under the runtime's lock, as every call
    if (r.recording && said.insert(name).second)
        say(fmt::format("{} is computed on the CPU and not recorded", name));
}

const std::byte* LibraryCall::in(const void* pointer, uint64_t bytes, const char* what) {
    return find(pointer, bytes, what);
}

std::byte* LibraryCall::out(void* pointer, uint64_t bytes, const char* what) {
    std::byte* const found = find(pointer, bytes, what);
    if (found) note_written(runtime_, pointer);
    return found;
}

std::byte* LibraryCall::find(const void* pointer, uint64_t bytes, const char* what) {
    if (bytes == 0 || failed_) return nullptr;
    failed_ = true;
    Allocation* const one = runtime_.memory.find(pointer);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (!one) {
        say(fmt::format("{} of {} is no device memory{}", what, name_,
                        runtime_.memory.freed(address) ? ": it was freed" : ""));
        return nullptr;
    }
    if (!runtime_.memory.holds(pointer, bytes)) {
        say(fmt::format("{} of {} reaches {} behind the end of its allocation of {}", what, name_,
                        counted(address + bytes - one->end(), "byte"), counted(one->bytes, "byte")));
        return nullptr;
    }
    std::byte* const data = runtime_.memory.bytes(*one);
    if (!data) return nullptr;
    failed_ = false;
    return data + (address - one->base);
}

}  // namespace tilescope::cudart
