// Elements of the lanes of a warp, between memory and a column, lane by lane.
//
// Atomic: where other CPU threads may touch the same words; aligned elements are then read and written as relaxed
// atomics, which costs nothing on any processor of today.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/simt/program.h"

namespace tilescope::simt {

template <class T, bool Atomic>
inline T read(const std::byte* p) {
    if constexpr (Atomic) return __atomic_load_n(reinterpret_cast<const T*>(p), __ATOMIC_RELAXED);
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
}

template <class T, bool Atomic>
inline void write(std::byte* p, T value) {
    if constexpr (Atomic)
        __atomic_store_n(reinterpret_cast<T*>(p), value, __ATOMIC_RELAXED);
    else
        std::memcpy(p, &value, sizeof(T));
}

template <class Fn>
inline void each_lane(uint32_t mask, Fn fn) {
    if (mask == ~0u) {
        for (int lane = 0; lane < kWarpSize; lane += 4) fn(lane), fn(lane + 1), fn(lane + 2), fn(lane + 3);
        return;
    }
    for_lanes(mask, fn);
}

// One element of every lane. T: how it lies in memory; extended to the register's size.
template <class T, bool Atomic>
void load_each(std::byte* column, int register_bytes, std::byte* const* host, uint32_t offset,
               uint32_t mask) {
    if (register_bytes == 8) {
        auto* out = reinterpret_cast<uint64_t*>(column);
        each_lane(mask, [&](int l) {
            out[l] = static_cast<uint64_t>(static_cast<int64_t>(read<T, Atomic>(host[l] + offset)));
        });
        return;
    }
    auto* out = reinterpret_cast<uint32_t*>(column);
    if (std::is_signed_v<T> && register_bytes == 2) {
        each_lane(mask, [&](int l) { out[l] = static_cast<uint16_t>(read<T, Atomic>(host[l] + offset)); });
        return;
    }
    each_lane(mask, [&](int l) {
        out[l] = static_cast<uint32_t>(static_cast<int32_t>(read<T, Atomic>(host[l] + offset)));
    });
}

template <class T, bool Atomic>
void store_each(const std::byte* column, std::byte* const* host, uint32_t offset, uint32_t mask) {
    using S = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const auto* in = reinterpret_cast<const S*>(column);
    each_lane(mask, [&](int l) { write<T, Atomic>(host[l] + offset, static_cast<T>(in[l])); });
}

// One element of each lane of the mask, `offset` bytes behind host[lane]; register_bytes: the size of its register.
template <bool Atomic>
void load_elements(const MemoryAccess& access, std::byte* column, int bytes, std::byte* const* host,
                   uint32_t offset, uint32_t mask) {
    switch (access.element_bytes) {
        case 1:
            return access.is_signed ? load_each<int8_t, Atomic>(column, bytes, host, offset, mask)
                                    : load_each<uint8_t, Atomic>(column, bytes, host, offset, mask);
        case 2:
            return access.is_signed ? load_each<int16_t, Atomic>(column, bytes, host, offset, mask)
                                    : load_each<uint16_t, Atomic>(column, bytes, host, offset, mask);
        case 4:
            return access.is_signed && bytes == 8
                       ? load_each<int32_t, Atomic>(column, bytes, host, offset, mask)
                       : load_each<uint32_t, Atomic>(column, bytes, host, offset, mask);
        default: return load_each<uint64_t, Atomic>(column, bytes, host, offset, mask);
    }
}

template <bool Atomic>
void store_elements(const MemoryAccess& access, const std::byte* column, std::byte* const* host,
                    uint32_t offset, uint32_t mask) {
    switch (access.element_bytes) {
        case 1: return store_each<uint8_t, Atomic>(column, host, offset, mask);
        case 2: return store_each<uint16_t, Atomic>(column, host, offset, mask);
        case 4: return store_each<uint32_t, Atomic>(column, host, offset, mask);
        default: return store_each<uint64_t, Atomic>(column, host, offset, mask);
    }
}

}  // namespace tilescope::simt
