#include "core/levels/tags.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/analysis/banks.h"
#include "core/analysis/coalescing.h"

namespace tilescope::analysis {

// Bits of a line's number that change the low and the high bit of its bank. Those above were not reached by
// the probe's 128 MB; two lines of a request hardly differ there.
uint32_t tag_bank(uint64_t line) {
    constexpr uint64_t kLow = 0b1111'0111'1010'1011'0101, kHigh = 0b1010'1101'0101'1101'1010;
    const auto odd = [](uint64_t bits) { return static_cast<uint32_t>(std::popcount(bits)) & 1; };
    return odd(line & kLow) | odd(line & kHigh) << 1;
}

uint32_t tag_lookups(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    std::array<uint64_t, 2 * kWarpSize> lines;
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t first = address[lane] / kLineBytes, last = (address[lane] + bytes - 1) / kLineBytes;
        lines[count++] = first;
        if (last != first) lines[count++] = last;
    });
    std::sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
    const auto end = std::unique(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
    std::array<uint32_t, 4> of_bank{};
    for (auto line = lines.begin(); line != end; ++line) ++of_bank[tag_bank(*line)];
    return *std::max_element(of_bank.begin(), of_bank.end());
}

uint32_t missed_passes(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    std::array<uint64_t, kWarpSize> lines;        // different ones, as they come
    std::array<uint32_t, kWarpSize> lookup_of{};  // by line
    std::array<uint32_t, kWarpSize> lanes{};      // by lookup: mask of those whose line it looks up
    std::array<uint32_t, 4> of_bank{};
    size_t count = 0;
    uint32_t lookups = 0;
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t line = address[lane] / kLineBytes;
        const auto end = lines.begin() + static_cast<std::ptrdiff_t>(count);
        const auto at = static_cast<size_t>(std::find(lines.begin(), end, line) - lines.begin());
        if (at == count) {
            lines[count++] = line;
            lookup_of[at] = of_bank[tag_bank(line)]++;
            lookups = std::max(lookups, lookup_of[at] + 1);
        }
        lanes[lookup_of[at]] |= 1u << lane;
    });
    uint32_t passes = 0;
    const uint32_t together = bytes <= 4 ? 32 : 128 / bytes;  // lanes that go through at once
    for (uint32_t lookup = 0; lookup < lookups; ++lookup)
        for (uint32_t first = 0; first < kWarpSize; first += together)
            if (const uint32_t part = lanes[lookup] & (UINT32_MAX >> (32 - together) << first))
                passes += bank_cost(address, part, bytes).wavefronts;
    return passes;
}

}  // namespace tilescope::analysis
