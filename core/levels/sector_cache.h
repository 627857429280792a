// A cache of 128-byte lines with LRU replacement, each of four sectors that are filled one by one: L1, and
// L2.
//
//   set   ways, most recently used first        a line may lie in one set only, which a hash chooses
//   [ line|sectors  line|sectors  ...  ]        sectors: which of its four have been filled
//
// Asking for a sector that is not there fills it; asking for any sector of a line makes the line the most
// recent of its set. A cache of one set is LRU over all its lines.
//
// How a GPU chooses sets is documented nowhere; the hash spreads lines evenly, whatever their stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/prefetch.h"

namespace tilescope::analysis {

class SectorCache {
public:
    static constexpr uint32_t kWays = 16;

    // For so many lines, rounded down to whole sets, at least one. ways: of a set.
    explicit SectorCache(uint64_t lines, uint32_t ways = kWays)
        : ways_(ways),
          sets_(static_cast<uint32_t>(lines / ways > 0 ? lines / ways : 1)),
          entries_(size_t{sets_} * ways) {}

    // Which of the sectors of a line (bits 0 to 3) are there; all of `asked` are there afterwards.
    //   line   its number, below 2^60
    uint32_t touch(uint64_t line, uint32_t asked) {
        uint64_t* const set = set_of(line);
        const uint64_t tag = (line + 1) << 4;  // 0 is an empty way
        const auto is = [&](uint32_t way) -> uint32_t { return (set[way] ^ tag) < 16; };
        uint32_t way = 0;
        // Four at a time: most are compared in vain, and none waits for the one before it.
        while (way + 4 < ways_ && !(is(way) | is(way + 1) | is(way + 2) | is(way + 3))) way += 4;
        while (way + 1 < ways_ && !is(way)) ++way;
        const uint64_t entry = is(way) ? set[way] : tag;
        for (; way > 0; --way) set[way] = set[way - 1];
        set[0] = entry | asked;
        return static_cast<uint32_t>(entry) & asked;
    }
    // Fetches the set of a line into the caches of the machine that this runs on.
    void prefetch(uint64_t line) const {
        tilescope::prefetch(&entries_[size_t{set_number(line)} * ways_], ways_ * sizeof(uint64_t));
    }
    // Fills further sectors of the line that was asked for last.
    void fill_too(uint64_t line, uint32_t sectors) { *set_of(line) |= sectors; }

    uint64_t lines() const { return entries_.size(); }

    // What is there, for whoever looks at it.
    struct CachedLine {
        uint64_t number = 0;
        uint32_t sectors = 0;  // 0: no line
    };
    uint32_t sets() const { return sets_; }
    uint32_t ways() const { return ways_; }
    // way: 0 is the most recently used of its set.
    CachedLine at(uint32_t set, uint32_t way) const {
        const uint64_t entry = entries_[size_t{set} * ways_ + way];
        return entry == 0 ? CachedLine{} : CachedLine{(entry >> 4) - 1, static_cast<uint32_t>(entry & 15)};
    }
    uint32_t set_number(uint64_t line) const {
        const uint64_t mixed = (line * 0x9E37'79B9'7F4A'7C15u) >> 32;  // Fibonacci hashing
        return static_cast<uint32_t>((mixed * sets_) >> 32);
    }

private:
    uint64_t* set_of(uint64_t line) { return &entries_[size_t{set_number(line)} * ways_]; }

    uint32_t ways_, sets_;
    std::vector<uint64_t> entries_;
};

}  // namespace tilescope::analysis
