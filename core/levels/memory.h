// What all SMs share in a replay of the memory levels (replay.h): misses under way to L2, L2, DRAM.
//
//   L1 of SM 0 --\                            a table of misses under way for each GPC, as of miss-status
//   L1 of SM 1 ---+- GPC 0: misses under way --\  holding registers (MSHRs): a read of a sector that another SM
//   L1 of SM 2 --/                              +- L2 -- DRAM  of the GPC has just asked for, or that DRAM has
//   ...          --- GPC 1: misses under way --/          not given yet, is coalesced with that one
//
//   L2     sectored lines, LRU, filled by fetches of LevelSpec::fetch_bytes; a store fills its sectors
//   DRAM   and L2 give as many bytes a clock as the device states, in the order in which they are asked
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/analysis/coalescing.h"
#include "core/base/prefetch.h"
#include "core/levels/ready_queue.h"
#include "core/levels/replay.h"
#include "core/levels/sector_cache.h"

namespace tilescope::analysis {

// Misses under way of groups of SMs, by line (MSHRs). A place of the table holds one line and forgets what it
// held before, which matters only while that is under way too.
class MissTable {
public:
    static constexpr uint32_t kPlaces = 4096;
    struct alignas(64) Entry {
        uint64_t line = UINT64_MAX;
        // Time at which L2 gives each sector.
        std::array<double, 4> given{-kNever, -kNever, -kNever, -kNever};
        std::array<float, 4> waited{};  // cycles from when each sector was asked for until then
    };
    explicit MissTable(size_t groups) : entries_(groups * kPlaces) {}
    Entry& of(size_t group, uint64_t line) {
        Entry& at = entries_[place_of(group, line)];
        if (at.line != line) at = Entry{line};
        return at;
    }
    void prefetch(size_t group, uint64_t line) const {
        tilescope::prefetch(&entries_[place_of(group, line)], sizeof(Entry));
    }

private:
    static size_t place_of(size_t group, uint64_t line) {
        const uint64_t mixed = (line * 0x9E37'79B9'7F4A'7C15u) >> 52;  // 12 bits
        return group * kPlaces + mixed;
    }
    std::vector<Entry> entries_;
};

class LevelMemory {
public:
    LevelMemory(const LevelSpec& spec, const LevelLaunch& launch)
        : spec_(spec),
          gpcs_(std::max(1u, static_cast<uint32_t>(spec.gpcs.value))),
          awaited_(launch.awaited),
          l2_(static_cast<uint64_t>(spec.l2_useful_bytes()) / kLineBytes),
          misses_(gpcs_ + 1),
          dram_cycles_((launch.drift == Drift::Free ? spec.l2_cycles : spec.dram_cycles).value),
          dram_cycles_a_byte_(spec.clock_mhz.value * 1e6 / (launch.dram_gbs * 1e9)) {}

    uint32_t gpcs() const { return gpcs_; }

    void store(uint64_t line, uint32_t sectors) { l2_.touch(line, sectors); }

    // Reads sectors of a line that missed at time `now` in the L1 of an SM of the GPC. Returns when the last
    // of them is there. found: gets where they were, as in LevelLog::found.
    double read(uint32_t gpc, uint64_t line, uint32_t missing, double now, LevelMisses& sums,
                uint8_t& found) {
        MissTable::Entry& under_way = misses_.of(gpc, line);
        const double merge = spec_.merge_cycles.value, from_l2 = spec_.l2_cycles.value;
        const auto find = [&](uint32_t sector, FoundIn in) {
            found |= static_cast<uint8_t>(static_cast<uint32_t>(in) << 2 * sector);
        };
        double until = now;
        uint32_t asked = 0;
        for (uint32_t left = missing; left != 0; left &= left - 1) {
            const auto sector = static_cast<uint32_t>(std::countr_zero(left));
            sums.l1_misses += 1;
            const double given = under_way.given[sector];
            if (given + merge > now && given - static_cast<double>(under_way.waited[sector]) <= now + merge)
                until = std::max(until, given + from_l2), find(sector, FoundIn::InFlight);
            else
                asked |= 1u << sector;
        }
        if (asked == 0) return until;
        const uint32_t held = l2_.touch(line, asked);
        // When sectors come from DRAM, for those who ask for them before.
        MissTable::Entry* const from_dram = awaited_ ? &misses_.of(gpcs_, line) : nullptr;
        double dram_gives = 0;
        if (const uint32_t absent = asked & ~held) {
            const uint32_t fetched = fetched_with(absent);
            l2_.fill_too(line, fetched);
            const double bytes = kSectorBytes * std::popcount(fetched);
            sums.dram_read_bytes += bytes;
            dram_free_ = std::max(dram_free_, now) + bytes * dram_cycles_a_byte_;
            dram_gives = dram_free_ + dram_cycles_ - from_l2;
            for (uint32_t sector = 0; from_dram && sector < 4; ++sector)
                if ((fetched & ~held) >> sector & 1) from_dram->given[sector] = dram_gives;
        }
        for (uint32_t left = asked; left != 0; left &= left - 1) {
            const auto sector = static_cast<uint32_t>(std::countr_zero(left));
            sums.l2_read_sectors += 1;
            const bool in_l2 = held >> sector & 1;
            find(sector, in_l2 ? FoundIn::L2 : FoundIn::Dram);
            l2_free_ = std::max(l2_free_, now) + kSectorBytes / spec_.l2_per_clock.value;
            double given = l2_free_;
            if (!in_l2) given = dram_gives;
            if (in_l2 && from_dram) given = std::max(given, from_dram->given[sector]);
            under_way.given[sector] = given;
            under_way.waited[sector] = static_cast<float>(given - now);
            until = std::max(until, given + from_l2);
        }
        return until;
    }

    // The tables of L2 and of misses are larger than the caches of the machine that simulates.
    void prefetch_store(uint64_t line) const { l2_.prefetch(line); }
    void prefetch_read(uint32_t gpc, uint64_t line) const {
        l2_.prefetch(line);
        misses_.prefetch(gpc, line);
    }

private:
    // The sectors that come along: all of the aligned pieces that a fetch from DRAM has.
    uint32_t fetched_with(uint32_t sectors) const {
        const auto many = static_cast<uint32_t>(spec_.fetch_bytes.value) / kSectorBytes;
        if (many >= 4) return 15;
        if (many < 2) return sectors;
        return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1;
    }

    const LevelSpec& spec_;
    uint32_t gpcs_;
    bool awaited_;  // LevelLaunch::awaited
    SectorCache l2_;
    MissTable misses_;  // of each GPC on its way to L2; behind them, of L2 on its way to DRAM
    double dram_cycles_, dram_cycles_a_byte_;
    double l2_free_ = 0, dram_free_ = 0;  // time from when they can serve the next read
};

}  // namespace tilescope::analysis
