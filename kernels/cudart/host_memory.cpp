// What the program's own host code asks of malloc, calloc, realloc and new, where it gets nothing: that is said, since
// what a program then does (ends by a signal, mostly) tells nobody why. The program is linked with --wrap for each of
// them (kernels/program/compile.cpp), so that its calls come here, and those of libraries do not.
//
// Source: ld(1), --wrap; proc(5), /proc/meminfo.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include <fmt/format.h>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {
namespace {

uint64_t bytes_in_meminfo(const std::string& name) {
    std::ifstream file("/proc/meminfo");
    std::string word;
    uint64_t kib = 0;
    while (file >> word)
        if (word == name && file >> kib) return kib * 1024;
    return 0;
}

// caller: the address behind the call. Where there is no memory to say it with, nothing is said.
void tell_refused(const char* function, uint64_t bytes, void* caller) try {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex);
    Caller place = place_of(caller);
    if (place.file == "new_allocator.h") place = {};  // libstdc++'s, for whichever container
    note_at(r, "remark", place,
            fmt::format("{} {}", function,
                        gets_no_memory(bytes, "this machine", bytes_in_meminfo("MemTotal:"),
                                       bytes_in_meminfo("MemAvailable:"))));
} catch (const std::bad_alloc&) {
}

void* or_told(void* made, const char* function, uint64_t bytes, void* caller) {
    if (made || bytes == 0) return made;
    const int why = errno;  // for the program
    tell_refused(function, bytes, caller);
    errno = why;
    return nullptr;
}

// make: operator new or new[], which a sanitizer tells apart.
void* make_new(void* (*make)(size_t), uint64_t bytes, void* caller) {
    try {
        return make(bytes);
    } catch (const std::bad_alloc&) {
        tell_refused("new", bytes, caller);
        throw;
    }
}

}  // namespace
}  // namespace tilescope::cudart

// The linker's names. _Znwm and _Znam are operator new and new[].
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __wrap_malloc(size_t bytes) {
    return tilescope::cudart::or_told(std::malloc(bytes), "malloc", bytes, __builtin_return_address(0));
}
void* __wrap_calloc(size_t count, size_t size) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = UINT64_MAX;
    return tilescope::cudart::or_told(std::calloc(count, size), "calloc", bytes, __builtin_return_address(0));
}
void* __wrap_realloc(void* pointer, size_t bytes) {
    return tilescope::cudart::or_told(std::realloc(pointer, bytes), "realloc", bytes,
                                      __builtin_return_address(0));
}
void* __wrap__Znwm(size_t bytes) {
    return tilescope::cudart::make_new(&::operator new, bytes, __builtin_return_address(0));
}
void* __wrap__Znam(size_t bytes) {
    return tilescope::cudart::make_new(&::operator new[], bytes, __builtin_return_address(0));
}
}
// NOLINTEND(bugprone-reserved-identifier)
