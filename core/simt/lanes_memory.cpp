#include "core/simt/lanes_memory.h"

#include <algorithm>
#include <cstring>

#include "core/simt/lanes_includes.h"

namespace tilescope::simt {
namespace {

// The loops proper, inlined into a function for each version, whose instructions they then use.
[[gnu::always_inline]] inline void displace(uint64_t* address, const uint64_t* column, uint64_t offset) {
    TILESCOPE_EACH_LANE
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = column[lane] + offset;
}

[[gnu::always_inline]] inline uint64_t bits(const uint64_t* address, uint32_t mask) {
    uint64_t all = 0;
    if (mask == ~0u) {
        for (int lane = 0; lane < kWarpSize; ++lane) all |= address[lane];
        return all;
    }
    for (int lane = 0; lane < kWarpSize; ++lane)
        all |= address[lane] & (uint64_t{0} - (uint64_t{mask} >> lane & 1));
    return all;
}

[[gnu::always_inline]] inline uint32_t locate(std::byte** host, const uint64_t* address, uint64_t base,
                                              uint64_t most, std::byte* data, uint64_t stride,
                                              uint32_t mask) {
    // As numbers: the pointers of lanes outside lead nowhere.
    auto* to = reinterpret_cast<uintptr_t*>(host);
    const uintptr_t first = reinterpret_cast<uintptr_t>(data);
    uint64_t beyond = 0;
    TILESCOPE_EACH_LANE
    for (int lane = 0; lane < kWarpSize; ++lane) {
        const uint64_t at = address[lane] - base;
        to[lane] = static_cast<uintptr_t>(first + at + stride * static_cast<uint64_t>(lane));
        beyond |= at > most ? ~uint64_t{0} : uint64_t{0};
    }
    if (beyond == 0) return 0;
    uint32_t outside = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) outside |= address[lane] - base > most ? 1u << lane : 0u;
    return outside & mask;
}

// A: an address as it lies in its column.
template <class A>
[[gnu::always_inline]] inline bool follows(const A* column, const LanePattern& pattern) {
    const A first = column[pattern.first];
    A other = 0;
    const auto* const difference = [&] {
        if constexpr (sizeof(A) == 8)
            return pattern.difference.data();
        else
            return pattern.narrow.data();
    }();
    if (pattern.mask == ~0u) {
        for (int lane = 0; lane < kWarpSize; ++lane) other |= (column[lane] - first) ^ difference[lane];
        return other == 0;
    }
    for (size_t lane = 0; lane < kWarpSize; ++lane)
        other |= ((column[lane] - first) ^ difference[lane]) & static_cast<A>(pattern.active[lane]);
    return other == 0;
}

// A vector of 8 or 4 lanes, wherever it lies.
template <class T>
struct Vector {
    using Type [[gnu::vector_size(32), gnu::aligned(sizeof(T)), gnu::may_alias]] = T;
    static constexpr size_t kLanes = 32 / sizeof(T);
    [[gnu::always_inline]] static void copy(void* to, const void* from) {
        *static_cast<Type*>(to) = *static_cast<const Type*>(from);
    }
    [[gnu::always_inline]] static void fill(void* to, T v) {
        if constexpr (kLanes == 8)
            *static_cast<Type*>(to) = Type{v, v, v, v, v, v, v, v};
        else
            *static_cast<Type*>(to) = Type{v, v, v, v};
    }
};

// T: how an element lies in memory. R: its register's slot, which it is extended to by way of E.
template <class T, class R, class E>
struct LoadElement {
    static R extended(T value) { return static_cast<R>(static_cast<E>(value)); }
    template <size_t kLanes>
    [[gnu::always_inline]] static void side(R* out, const std::byte* at) {
        if constexpr (sizeof(T) == sizeof(R) && kLanes > 1) {
            for (size_t lane = 0; lane < kLanes; lane += Vector<R>::kLanes)
                Vector<R>::copy(out + lane, at + lane * sizeof(T));
        } else {
            for (size_t lane = 0; lane < kLanes; ++lane) same<1>(out + lane, at + lane * sizeof(T));
        }
    }
    template <size_t kLanes>
    [[gnu::always_inline]] static void same(R* out, const std::byte* at) {
        T value;
        std::memcpy(&value, at, sizeof value);
        if constexpr (kLanes == 1)
            *out = extended(value);
        else
            for (size_t lane = 0; lane < kLanes; lane += Vector<R>::kLanes)
                Vector<R>::fill(out + lane, extended(value));
    }
    template <size_t kLanes>
    [[gnu::always_inline]] static void alone(R* out, const std::byte* at, const uint64_t* difference) {
        for (size_t lane = 0; lane < kLanes; ++lane) same<1>(out + lane, at + difference[lane]);
    }
};

// Where lanes store to one place, the highest one's value stays.
template <class T>
struct StoreElement {
    using R = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    template <size_t kLanes>
    [[gnu::always_inline]] static void side(const R* in, std::byte* at) {
        if constexpr (sizeof(T) == sizeof(R) && kLanes > 1) {
            for (size_t lane = 0; lane < kLanes; lane += Vector<R>::kLanes)
                Vector<R>::copy(at + lane * sizeof(T), in + lane);
        } else {
            for (size_t lane = 0; lane < kLanes; ++lane) {
                const T value = static_cast<T>(in[lane]);
                std::memcpy(at + lane * sizeof(T), &value, sizeof value);
            }
        }
    }
    template <size_t kLanes>
    [[gnu::always_inline]] static void same(const R* in, std::byte* at) {
        side<1>(in + kLanes - 1, at);
    }
    template <size_t kLanes>
    [[gnu::always_inline]] static void alone(const R* in, std::byte* at, const uint64_t* difference) {
        for (size_t lane = 0; lane < kLanes; ++lane) side<1>(in + lane, at + difference[lane]);
    }
};

// Moves one element of each lane of the pattern, in the order of the lanes. at: where that of its first lane lies.
// The processor moves each aligned element of a vector as a whole.
template <class Element, int32_t kBytes, class R, class Byte>
[[gnu::always_inline]] inline void move_element(R* column, Byte* at, const LanePattern& pattern) {
    constexpr size_t kHalf = kWarpSize / 2, kGroup = LanePattern::kGroup;
    const uint64_t* const difference = pattern.difference.data();
    if (pattern.stride == kBytes) return Element::template side<kWarpSize>(column, at);
    if (pattern.stride == 0) return Element::template same<kWarpSize>(column, at);
    if (pattern.half_stride == kBytes) {
        Element::template side<kHalf>(column, at);
        Element::template side<kHalf>(column + kHalf, at + difference[kHalf]);
        return;
    }
    if (pattern.half_stride == 0) {
        Element::template same<kHalf>(column, at);
        Element::template same<kHalf>(column + kHalf, at + difference[kHalf]);
        return;
    }
    for (size_t group = 0; group < pattern.strides.size(); ++group) {
        const size_t first = group * kGroup;
        const uint32_t mask = pattern.mask >> first & 0xFF;
        if (pattern.strides[group] == kBytes)
            Element::template side<kGroup>(column + first, at + difference[first]);
        else if (pattern.strides[group] == 0)
            Element::template same<kGroup>(column + first, at + difference[first]);
        else if (mask == 0xFF)
            Element::template alone<kGroup>(column + first, at, difference + first);
        else
            for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
                const size_t lane = first + static_cast<size_t>(std::countr_zero(rest));
                Element::template alone<1>(column + lane, at, difference + lane);
            }
    }
}

template <class A, class Element, int32_t kBytes, class R, class Byte>
[[gnu::always_inline]] inline uint32_t move(WarpRequests& all) {
    const uint64_t last_byte = all.elements * uint64_t{kBytes} - 1;
    for (uint32_t warp = 0; warp < all.warps; ++warp) {
        const auto* const column =
            reinterpret_cast<const A*>(all.address + static_cast<ptrdiff_t>(warp) * all.next_address);
        const LanePattern& pattern = *all.pattern[warp];
        if (pattern.mask != all.mask || !follows(column, pattern)) return warp;
        const uint64_t start = static_cast<A>(column[pattern.first] + static_cast<A>(all.offset));
        const uint64_t low = start + pattern.lowest - all.base;
        if (low > all.most || pattern.span > all.most - low || ((start | pattern.bits) & last_byte) != 0)
            return warp;
        all.start[warp] = start;
        Byte* at = all.memory + (start - all.base);
        for (size_t i = 0; i < all.elements; ++i, at += kBytes)
            move_element<Element, kBytes>(
                reinterpret_cast<R*>(all.data[i] + static_cast<ptrdiff_t>(warp) * all.next_data[i]), at,
                pattern);
    }
    return all.warps;
}

template <class T, class R, class E>
struct Types {};

// What the version makes of the types of a load.
template <class Make>
MoveLanes find_load(uint32_t bytes, bool is_signed, uint32_t register_bytes, Make make) {
    const auto of = [&]<class S, class U>(S, U) {
        if (register_bytes == 8)
            return is_signed ? make(Types<S, uint64_t, int64_t>()) : make(Types<U, uint64_t, uint64_t>());
        if (!is_signed) return make(Types<U, uint32_t, uint32_t>());
        return register_bytes == 2 ? make(Types<S, uint32_t, uint16_t>())
                                   : make(Types<S, uint32_t, int32_t>());
    };
    if (bytes == 1) return of(int8_t{}, uint8_t{});
    if (bytes == 2) return of(int16_t{}, uint16_t{});
    if (bytes == 4) return of(int32_t{}, uint32_t{});
    return of(int64_t{}, uint64_t{});
}

void displace_portable(uint64_t* address, const uint64_t* column, uint64_t offset) {
    displace(address, column, offset);
}
uint64_t bits_portable(const uint64_t* address, uint32_t mask) { return bits(address, mask); }
uint32_t locate_portable(std::byte** host, const uint64_t* address, uint64_t base, uint64_t most,
                         std::byte* data, uint64_t stride, uint32_t mask) {
    return locate(host, address, base, most, data, stride, mask);
}
template <class A, class T, class R, class E>
uint32_t load_portable(WarpRequests& requests) {
    return move<A, LoadElement<T, R, E>, sizeof(T), R, const std::byte>(requests);
}
template <class A, class T>
uint32_t store_portable(WarpRequests& requests) {
    return move<A, StoreElement<T>, sizeof(T), const typename StoreElement<T>::R, std::byte>(requests);
}
MoveLanes find_load_portable(uint32_t bytes, bool is_signed, uint32_t register_bytes, bool wide) {
    return find_load(bytes, is_signed, register_bytes, [&]<class T, class R, class E>(Types<T, R, E>) {
        return wide ? load_portable<uint64_t, T, R, E> : load_portable<uint32_t, T, R, E>;
    });
}
MoveLanes find_store_portable(uint32_t bytes, bool wide) {
    const auto of = [&]<class T>(T) {
        return wide ? store_portable<uint64_t, T> : store_portable<uint32_t, T>;
    };
    return bytes == 1   ? of(uint8_t{})
           : bytes == 2 ? of(uint16_t{})
           : bytes == 4 ? of(uint32_t{})
                        : of(uint64_t{});
}
constexpr MemoryLanes kPortable{displace_portable, bits_portable, locate_portable, find_load_portable,
                                find_store_portable};

#if defined(__x86_64__) && !defined(TILESCOPE_PORTABLE_LANES)
[[gnu::target("avx2")]] void displace_avx2(uint64_t* address, const uint64_t* column, uint64_t offset) {
    displace(address, column, offset);
}
[[gnu::target("avx2")]] uint64_t bits_avx2(const uint64_t* address, uint32_t mask) {
    return bits(address, mask);
}
[[gnu::target("avx2")]] uint32_t locate_avx2(std::byte** host, const uint64_t* address, uint64_t base,
                                             uint64_t most, std::byte* data, uint64_t stride, uint32_t mask) {
    return locate(host, address, base, most, data, stride, mask);
}
template <class A, class T, class R, class E>
[[gnu::target("avx2")]] uint32_t load_avx2(WarpRequests& requests) {
    return move<A, LoadElement<T, R, E>, sizeof(T), R, const std::byte>(requests);
}
template <class A, class T>
[[gnu::target("avx2")]] uint32_t store_avx2(WarpRequests& requests) {
    return move<A, StoreElement<T>, sizeof(T), const typename StoreElement<T>::R, std::byte>(requests);
}
MoveLanes find_load_avx2(uint32_t bytes, bool is_signed, uint32_t register_bytes, bool wide) {
    return find_load(bytes, is_signed, register_bytes, [&]<class T, class R, class E>(Types<T, R, E>) {
        return wide ? load_avx2<uint64_t, T, R, E> : load_avx2<uint32_t, T, R, E>;
    });
}
MoveLanes find_store_avx2(uint32_t bytes, bool wide) {
    const auto of = [&]<class T>(T) { return wide ? store_avx2<uint64_t, T> : store_avx2<uint32_t, T>; };
    return bytes == 1   ? of(uint8_t{})
           : bytes == 2 ? of(uint16_t{})
           : bytes == 4 ? of(uint32_t{})
                        : of(uint64_t{});
}
constexpr MemoryLanes kAvx2{displace_avx2, bits_avx2, locate_avx2, find_load_avx2, find_store_avx2};
#endif

// What is the same in every version.

LanePattern pattern_of(const std::array<uint64_t, kWarpSize>& difference, uint32_t mask) {
    LanePattern pattern;
    pattern.difference = difference;
    pattern.mask = mask;
    pattern.first = static_cast<uint32_t>(std::countr_zero(mask));
    int64_t lowest = 0, highest = 0;
    bool fits = true;
    for_lanes(mask, [&](uint32_t lane) {
        const auto far = static_cast<int64_t>(difference[lane]);
        lowest = std::min(lowest, far), highest = std::max(highest, far);
        pattern.bits |= difference[lane];
        pattern.narrow[lane] = static_cast<uint32_t>(far);
        pattern.active[lane] = ~uint64_t{0};
        fits = fits && far == static_cast<int32_t>(far);
    });
    pattern.lowest = static_cast<uint64_t>(lowest);
    pattern.span = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest);
    if (!fits) pattern.narrow[pattern.first] = 1;  // where each column has 0
    const auto stride_of = [&](size_t from, size_t lanes) {
        const uint32_t all = lanes == kWarpSize ? ~0u : ((1u << lanes) - 1) << from;
        const uint64_t stride = difference[from + 1] - difference[from];
        if ((mask & all) != all || stride > LanePattern::kWidest) return LanePattern::kMixed;
        for (size_t lane = from + 1; lane < from + lanes; ++lane)
            if (difference[lane] - difference[lane - 1] != stride) return LanePattern::kMixed;
        return static_cast<int32_t>(stride);
    };
    pattern.stride = stride_of(0, kWarpSize);
    const int32_t half = stride_of(0, kWarpSize / 2);
    pattern.half_stride = half == stride_of(kWarpSize / 2, kWarpSize / 2) ? half : LanePattern::kMixed;
    for (size_t group = 0; group < pattern.strides.size(); ++group)
        pattern.strides[group] = stride_of(group * LanePattern::kGroup, LanePattern::kGroup);
    return pattern;
}

}  // namespace

const MemoryLanes& memory_lanes(LaneVersion version) {
#if defined(__x86_64__) && !defined(TILESCOPE_PORTABLE_LANES)
    if (version == LaneVersion::Avx2) return kAvx2;
#endif
    (void)version;
    return kPortable;
}

uint32_t LanePatterns::find(const std::byte* column, bool wide, uint32_t mask) {
    std::array<uint64_t, kWarpSize> difference{};
    const auto first = static_cast<size_t>(std::countr_zero(mask));
    const auto* const of_64 = reinterpret_cast<const uint64_t*>(column);
    const auto* const of_32 = reinterpret_cast<const uint32_t*>(column);
    uint64_t hash = mask;
    for_lanes(mask, [&](uint32_t lane) {
        difference[lane] = wide ? of_64[lane] - of_64[first]
                                : static_cast<uint64_t>(static_cast<int32_t>(of_32[lane] - of_32[first]));
        hash = (hash ^ difference[lane]) * 0x9E37'79B9'7F4A'7C15u;
    });
    uint8_t& known = by_hash_[hash >> 57];
    const LanePattern& pattern = patterns_[known];
    if (pattern.mask == mask && pattern.difference == difference) return known;
    if (known == 0 && patterns_.size() <= kMost) {
        known = static_cast<uint8_t>(patterns_.size());
        patterns_.emplace_back();
    } else if (known == 0) {
        known = static_cast<uint8_t>(1 + (hash >> 32) % kMost);
    }
    patterns_[known] = pattern_of(difference, mask);
    patterns_[known].number = ++latest_;
    return known;
}

}  // namespace tilescope::simt
