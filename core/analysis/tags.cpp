#include "core/analysis/tags.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/analysis/coalescing.h"
#include "core/trace/trace.h"

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

}  // namespace tilescope::analysis
