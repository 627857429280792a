// How much an executable has allocated with operator new, and the most that it had at once. Include it in one
// file of a test's executable.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace tilescope {

inline std::atomic<int64_t> g_allocated = 0, g_most_allocated = 0;

// Bytes that a piece of work had allocated at most, beyond what was there before it.
template <class Work>
int64_t most_allocated_by(const Work& work) {
    const int64_t before = g_allocated;
    g_most_allocated = before;
    work();
    return g_most_allocated - before;
}

}  // namespace tilescope

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* const at = std::malloc(size == 0 ? 1 : size);
    if (!at) return at;
    const auto bytes = static_cast<int64_t>(malloc_usable_size(at));
    const int64_t now = tilescope::g_allocated += bytes;
    int64_t most = tilescope::g_most_allocated;
    while (now > most && !tilescope::g_most_allocated.compare_exchange_weak(most, now)) {
    }
    return at;
}
void* operator new(std::size_t size) {
    if (void* const at = operator new(size, std::nothrow)) return at;
    throw std::bad_alloc();
}
void operator delete(void* at) noexcept {
    if (at) tilescope::g_allocated -= static_cast<int64_t>(malloc_usable_size(at));
    std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { operator delete(at); }
