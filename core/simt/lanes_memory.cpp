#include "core/simt/lanes_memory.h"

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

void displace_portable(uint64_t* address, const uint64_t* column, uint64_t offset) {
    displace(address, column, offset);
}
uint64_t bits_portable(const uint64_t* address, uint32_t mask) { return bits(address, mask); }
uint32_t locate_portable(std::byte** host, const uint64_t* address, uint64_t base, uint64_t most,
                         std::byte* data, uint64_t stride, uint32_t mask) {
    return locate(host, address, base, most, data, stride, mask);
}
constexpr MemoryLanes kPortable{displace_portable, bits_portable, locate_portable};

#if defined(__x86_64__)
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
constexpr MemoryLanes kAvx2{displace_avx2, bits_avx2, locate_avx2};
#endif

}  // namespace

const MemoryLanes& memory_lanes(LaneVersion version) {
#if defined(__x86_64__)
    if (version == LaneVersion::Avx2) return kAvx2;
#endif
    (void)version;
    return kPortable;
}

}  // namespace tilescope::simt
