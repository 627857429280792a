// Device memory, which is the host's, and copies.
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

#include "fake.h"

using namespace fake;

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device);

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
    if (const int code = enter(false)) return code;
    cuDeviceTotalMem_v2(total, 0);
    *free = *total;
    for (const auto& [address, bytes] : gpu.memory) *free -= bytes;
    for (const auto& [address, bytes] : gpu.mapped) *free -= bytes;
    return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    if (const int code = enter(true)) return code;
    size_t free = 0, total = 0;
    cuMemGetInfo_v2(&free, &total);
    if (bytes > free) return 2;
    *address = reinterpret_cast<uint64_t>(std::malloc(bytes));
    gpu.memory[*address] = bytes;
    return 0;
}

EXPORT int cuMemFree_v2(uint64_t address) {
    if (const int code = enter(true)) return ++gpu.stale, code;
    if (gpu.memory.erase(address) == 0) return ++gpu.stale, 1;
    std::free(reinterpret_cast<void*>(address));
    return 0;
}

// Mapped memory is the host's too, at the addresses that were asked for.
EXPORT int cuMemAddressReserve(uint64_t* address, size_t bytes, size_t, uint64_t wanted, unsigned long long) {
    if (const int code = enter(true)) return code;
    void* const got = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) return 2;
    *address = reinterpret_cast<uint64_t>(got);
    return 0;
}

EXPORT int cuMemAddressFree(uint64_t address, size_t bytes) {
    return munmap(reinterpret_cast<void*>(address), bytes) == 0 ? 0 : 1;
}

EXPORT int cuMemCreate(unsigned long long* handle, size_t bytes, const void*, unsigned long long) {
    if (const int code = enter(true)) return code;
    size_t free = 0, total = 0;
    cuMemGetInfo_v2(&free, &total);
    if (bytes > free) return 2;
    return *handle = bytes, 0;
}

EXPORT int cuMemRelease(unsigned long long) { return 0; }

EXPORT int cuMemMap(uint64_t address, size_t bytes, size_t, unsigned long long handle, unsigned long long) {
    if (const int code = enter(true)) return code;
    return handle == bytes ? (gpu.mapped[address] = bytes, 0) : 1;
}

EXPORT int cuMemUnmap(uint64_t address, size_t) { return gpu.mapped.erase(address) == 1 ? 0 : 1; }

EXPORT int cuMemSetAccess(uint64_t address, size_t bytes, const void*, size_t) {
    if (const int code = enter(true)) return code;
    if (gpu.mapped.count(address) == 0) return 1;
    return mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : 1;
}

EXPORT int cuMemHostRegister_v2(void* start, size_t, unsigned) {
    if (const int code = enter(true)) return code;
    if (const int code = code_of("register")) {
        if (code == 700) gpu.fault = 700;
        return code;
    }
    gpu.locked.insert(start);
    return 0;
}

EXPORT int cuMemHostUnregister(void* start) {
    if (const int code = enter(true)) return ++gpu.stale, code;
    if (gpu.locked.erase(start) == 0) return ++gpu.stale, 713;
    return 0;
}

EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
    if (const int code = enter(true)) return code;
    if (!owns(to, bytes)) return 1;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}

EXPORT int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
    if (const int code = enter(true)) return code;
    if (!owns(from, bytes)) return 1;
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
}

EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
    if (const int code = enter(false)) return code;
    if (!owns(to, bytes) || !owns(from, bytes)) return 1;
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return 0;
}

EXPORT int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t count) {
    if (const int code = enter(false)) return code;
    if (!owns(to, count)) return 1;
    std::memset(reinterpret_cast<void*>(to), value, count);
    return 0;
}

EXPORT int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count) {
    if (const int code = enter(false)) return code;
    if (!owns(to, count * 4)) return 1;
    for (size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<void*>(to + 4 * i), &value, 4);
    return 0;
}
