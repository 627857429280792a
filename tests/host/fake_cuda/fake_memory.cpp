// Device memory, which is the host's, and copies.
#include <cstdlib>
#include <cstring>

#include "fake.h"

using namespace fake;

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device);

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
    if (const int code = enter(false)) return code;
    cuDeviceTotalMem_v2(total, 0);
    *free = *total;
    for (const auto& [address, bytes] : gpu.memory) *free -= bytes;
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
