// What a request costs, counted from the addresses of its lanes: the slow twin of
// core/analysis/coalescing.h and banks.h, which have the sources of its rules. Sectors are 32-byte parts of
// memory. Shared memory serves 32 lanes together, of 8 bytes each 16, of 16 bytes 8, and of loads twice as many
// where all lanes ask for the same as lane n ^ 1, or all for the same as lane n ^ 2; every such group takes as many
// wavefronts as its fullest bank has different words of 4 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace tilescope::twin {

using Addresses = std::array<uint64_t, 32>;  // by lane

// Lane i at base + i * stride, in bytes.
inline Addresses strided(uint64_t base, uint64_t stride) {
    Addresses at{};
    for (uint64_t lane = 0; lane < 32; ++lane) at[lane] = base + lane * stride;
    return at;
}

// The aligned parts of so many bytes, by their numbers, that the lanes of a mask touch. of(lane):
// in whose set those of a lane are counted.
template <class Of>
std::map<uint32_t, std::set<uint64_t>> parts_by(const Addresses& at, uint32_t mask, uint32_t bytes,
                                                uint64_t part, Of of) {
    std::map<uint32_t, std::set<uint64_t>> parts;
    for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint64_t n = at[lane] / part; (mask >> lane & 1) != 0 && n <= (at[lane] + bytes - 1) / part; ++n)
            parts[of(lane)].insert(n);
    return parts;
}
inline std::set<uint64_t> parts_of(const Addresses& at, uint32_t mask, uint32_t bytes, uint64_t part) {
    return parts_by(at, mask, bytes, part, [](uint32_t) { return 0; })[0];
}

struct GlobalCost {
    uint64_t sectors = 0, lines = 0, bytes = 0;  // bytes: different ones
    uint64_t least = 0;                          // sectors that these bytes need, packed closely
    // Rows of the block with an active lane, and the sectors that they need at least, each by itself; 0 where
    // warps begin at different places of a row.
    uint64_t rows = 0, least_of_rows = 0;
    // Sectors that the block's shape allows at least, where that is no more than what they need.
    uint64_t least_of_block() const { return std::max(least, least_of_rows <= sectors ? least_of_rows : 0); }
};
// width: threads of a row of the block; first: the warp's first thread.
inline GlobalCost global_cost(const Addresses& at, uint32_t mask, uint32_t bytes, uint32_t width = 32,
                              uint32_t first = 0) {
    GlobalCost cost;
    cost.sectors = parts_of(at, mask, bytes, 32).size();
    cost.lines = parts_of(at, mask, bytes, 128).size();
    cost.bytes = parts_of(at, mask, bytes, 1).size();
    cost.least = (cost.bytes + 31) / 32;
    for (const auto& [row, of] :
         parts_by(at, mask, bytes, 1, [&](uint32_t lane) { return (first + lane) / width; })) {
        ++cost.rows;
        cost.least_of_rows += 32 % width == 0 ? (of.size() + 31) / 32 : 0;
    }
    return cost;
}

// Different words of each bank.
inline std::array<uint8_t, 32> words_of_banks(const Addresses& at, uint32_t mask, uint32_t bytes) {
    std::array<uint8_t, 32> count{};
    for (const uint64_t word : parts_of(at, mask, bytes, 4)) ++count[word % 32];
    return count;
}

struct SharedCost {
    uint64_t wavefronts = 0, least = 0;         // least: as many as groups of lanes are served
    uint64_t words = 0, banks = 0;              // different ones, of the whole request
    uint64_t most_words = 0, fullest_bank = 0;  // of a bank in a group, and the first that has so many
    std::vector<uint64_t> stacks;               // most_words of each group
};
inline SharedCost shared_cost(const Addresses& at, uint32_t mask, uint32_t bytes, bool load) {
    uint32_t group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
    const auto alike = [&](uint32_t distance) {
        for (uint32_t a = 0; a < 32; ++a)
            for (uint32_t b = 0; b < 32; ++b)
                if ((a ^ b) == distance && mask >> a & 1 && mask >> b & 1 && at[a] != at[b]) return false;
        return true;
    };
    if (load && bytes > 4 && (alike(1) || alike(2))) group *= 2;
    SharedCost cost;
    for (uint32_t first = 0; first < 32; first += group) {
        const uint32_t lanes = group == 32 ? mask : mask & (((1u << group) - 1) << first);
        if (lanes == 0) continue;
        const auto words = words_of_banks(at, lanes, bytes);
        cost.stacks.push_back(std::ranges::max(words));
        cost.wavefronts += cost.stacks.back();
        ++cost.least;
        for (uint64_t bank = 0; bank < 32; ++bank)
            if (words[bank] > cost.most_words || (words[bank] == cost.most_words && bank < cost.fullest_bank))
                cost.most_words = words[bank], cost.fullest_bank = bank;
    }
    for (const uint64_t words : words_of_banks(at, mask, bytes)) cost.words += words, cost.banks += words > 0;
    return cost;
}

}  // namespace tilescope::twin
