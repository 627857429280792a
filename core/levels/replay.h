// The replay of a launch through the memory levels: what of the sectors that threads ask for is found in L1,
// what L2 is asked for, and what it reads from DRAM.
//
//   threads -> requests -> L1 of an SM -> reads in flight, merged -> L2 -> DRAM
//                                         by GPCs
//
// Blocks are put on SMs as a GPU recording says, or dealt: GPC by GPC, one to each of its SMs, round and
// round until no SM holds another; then a slot that gets free takes the next number. An SM's blocks take
// turns by units (work.h):
//
//     block A  [pipe: requests]......wait......[pipe: work]  [requests]...
//     block B        [requests]......wait..........[work]        [requests]...
//                                                                  time ->
//
// A unit's requests occupy the SM's data pipe or its schedulers, then wait for the slowest of their sectors;
// its work occupies them again. The oldest block that is ready goes first; of blocks with few warps one that
// has waited long. As long as an SM finds all in L1 it goes on by itself: the next turn that needs what SMs
// share is taken when no other SM has an earlier one. L2 and DRAM serve as many bytes a clock as the device
// states, in the order of arrival.
//
//   L1    sectored lines, LRU, of what shared memory leaves; a store passes it by
//   merge a read of a sector that another SM of the GPC has just asked for, or that DRAM has not given yet,
//         is not asked of L2 again
//   L2    sectored lines, LRU, DRAM fetches of Spec::fetch_bytes; a store fills its sectors
//
// Where a launch has more blocks than `most_blocks` the first waves of blocks are simulated, and the rest has
// the misses of the later half of these, block for block. Of long blocks a `part` of the units can stand for
// all:
//
//     wave 0   [units 0 1 2 3]  4 5 6 7   8 9 10 11
//     wave 1    0 1 2 3   [units 4 5 6 7]   8 9 10 11       a wave's misses count as often as it has touches
//     wave 2    0 1 2 3   4 5 6 7   [units 8 9 10 11]       for each that is simulated
//
// Sums that need no simulation are exact always.
//
// Where the model comes from, and how far it holds: docs/model.md. Every constant stands in LevelSpec.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/stop.h"
#include "core/levels/sector_cache.h"
#include "core/levels/work.h"

namespace tilescope::analysis {

// Where a sector was found: nearest first.
enum class FoundIn : uint8_t { L1, InFlight, L2, Dram };
inline constexpr size_t kFoundIn = 4;

// What became of every sector that units asked for, those of an SM in the order in which it sent them: for
// whoever walks through a replay (walk.h).
struct LevelLog {
    static constexpr uint32_t kLinesBetween = 1u << 14;  // two copies of a cache
    struct Sent {
        uint32_t block = 0, unit = 0, sm = 0;
        float at = 0;        // cycles since the launch began
        uint64_t first = 0;  // of its touches, into found
    };
    std::vector<Sent> sent;
    // A byte a touch: two bits a sector of its line, a FoundIn; 0 for sectors not asked for, and for stores.
    std::vector<uint8_t> found;
    // What an L1 held before the SM sent the unit which has so many before it; in the order of these.
    struct Copy {
        uint32_t sm = 0, turn = 0;
        SectorCache l1;
    };
    std::vector<Copy> copies;
};

struct PlacedBlock {
    std::shared_ptr<const BlockWork> work;
    std::vector<int64_t> moved;  // lines, by slot
};

// How far blocks get from each other. Who comes first to a line waits for DRAM, and the others catch up on
// it; where an SM has work for as long, nobody waits and they drift apart. Which of it happens decides how
// often L2 is asked for a line while it still has it, and so the bytes from DRAM where the arrays do not fit
// it.
enum class Pace : uint8_t {
    Own,     // as the model has it
    InStep,  // of an SM's blocks, the one that is furthest behind goes first
    Apart,   // DRAM gives a sector as soon as L2 would, so that nobody is held up
};

// Who runs where, and what it asks for.
struct LevelLaunch {
    uint64_t blocks = 0;
    std::function<PlacedBlock(uint64_t block)> block;  // any block, more than once
    uint32_t sms = 1;
    uint32_t resident = 1;  // blocks that an SM holds at once, up to 64
    uint64_t l1_bytes = 0;
    double dram_gbs = 0;
    // The blocks of each SM in the order in which they began there, as recorded; empty: they are dealt.
    std::vector<std::vector<uint64_t>> of_sm;
    Pace pace = Pace::Own;
    // Whether who finds a sector in L2 that is under way from DRAM waits until it comes. SMs do; where they
    // do in the model too, they stay closer together than counters say (docs/model.md), so that this is for
    // how long blocks wait, and not for what they find.
    bool awaited = false;
    LevelLog* log = nullptr;            // is told of all units, where somebody asks
    uint64_t most_blocks = UINT64_MAX;  // to be simulated; whole waves are made of it,
    uint64_t least_waves = 4;           // at least so many
    double part = 1;                    // of the units of each block, but at least 16 of them
};

struct LevelMisses {
    double l1_misses = 0;        // sectors that are not in L1
    double l1_missed_lines = 0;  // lines that some of them are in, of a unit of a block
    double l2_read_sectors = 0;  // that L2 is asked for: misses but for those merged on the way
    double dram_read_bytes = 0;
    // Of all blocks: what their units wait for their sectors and work, without waiting for their turn; of
    // blocks without barriers the mean of their warps.
    double latency_cycles = 0;
    double wait_cycles = 0;  // of these, what they only wait
    double idle_cycles = 0;  // of SMs that hold blocks, none of which has its data; of a whole replay no more
                             // than if all SMs idled as those that run most blocks
    LevelMisses& operator+=(const LevelMisses& other);
    LevelMisses& add(const LevelMisses& other, double times);
    // Takes how long SMs and blocks wait from another replay of the launch.
    void wait_as(const LevelMisses& other) {
        latency_cycles = other.latency_cycles, wait_cycles = other.wait_cycles,
        idle_cycles = other.idle_cycles;
    }
};

struct LevelReplay {
    LevelMisses misses;      // of the whole launch
    uint64_t simulated = 0;  // blocks that this was found by, and
    double part = 1;         // of what these ask for, what was simulated
    double cycles = 0;       // until the last of these had ended
    uint64_t touched = 0;    // lines that L1 was asked for, as a measure of work
};

LevelReplay replay_levels(const LevelSpec& spec, const LevelLaunch& launch, Stop stop = {});

}  // namespace tilescope::analysis
