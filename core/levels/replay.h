// The replay of a launch through the memory levels: what of the sectors that threads ask for is found in L1,
// what L2 is asked for, and what it reads from DRAM.
//
//   threads -> requests -> L1 of an SM -> misses under way (MSHRs), coalesced by GPC -> L2 -> DRAM
//
// Blocks are dealt to SMs (dealer.h), and an SM's blocks take turns by load batches (work.h):
//
//     block A  [pipe: requests]......wait......[pipe: work]  [requests]...
//     block B        [requests]......wait..........[work]        [requests]...
//                                                                  time ->
//
// The requests of a batch occupy the SM's data pipe or its schedulers; the block then waits for the slowest
// of their sectors, and its work occupies them again. The oldest block that is ready goes first; of blocks
// with few warps, one that has waited long. As long as an SM finds everything in L1 it runs ahead by itself:
// only turns that need what all SMs share (memory.h) are taken in the order of their times.
//
// Of launches with many blocks the first waves are simulated, and of long blocks a part (waves.h). Sums that
// need no simulation are always exact.
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

// What became of every sector that batches asked for; the batches of an SM stand in the order in which it
// sent them. For whoever walks through a replay (walk.h).
struct LevelLog {
    static constexpr uint32_t kLinesBetween = 1u << 14;  // lines looked up between two copies of a cache
    struct Sent {
        uint32_t block = 0, batch = 0, sm = 0;
        float at = 0;        // time of sending, in cycles since the launch began
        uint64_t first = 0;  // index into `found` of the batch's first line touch
    };
    std::vector<Sent> sent;
    // A byte for each line touch: two bits a sector, a FoundIn; 0 for sectors not asked for, and for stores.
    std::vector<uint8_t> found;
    struct CacheCopy {
        uint32_t sm = 0;
        uint32_t turn = 0;  // number of batches that the SM had sent when the copy was made
        SectorCache l1;
    };
    std::vector<CacheCopy> copies;  // in ascending order of `turn` for each SM
};

struct PlacedBlock {
    std::shared_ptr<const BlockWork> work;
    std::vector<int64_t> relocation;  // lines that are added to the lines of the work, by slot
};

// How far the blocks of an SM drift apart. The first block to ask for a line waits for DRAM, and the others
// catch up with it; with enough other work meanwhile nobody waits, and they drift apart. That decides how
// often L2 is asked for a line while it holds it, and so the bytes from DRAM if the arrays do not fit.
enum class Drift : uint8_t {
    Modelled,  // as the model finds it
    None,      // in step: of the blocks of an SM the one that is furthest behind goes first
    Free,      // DRAM gives a sector as soon as L2 would, so that nobody is held up
};

// Which blocks run where, and what they ask for.
struct LevelLaunch {
    uint64_t blocks = 0;
    std::function<PlacedBlock(uint64_t block)> block;  // called for any block, more than once
    uint32_t sms = 1;
    uint32_t resident = 1;  // blocks that an SM holds at once, up to 64
    uint64_t l1_bytes = 0;
    double dram_gbs = 0;
    // The blocks of each SM in the order in which they began there, as recorded; empty: they are dealt.
    std::vector<std::vector<uint64_t>> of_sm;
    Drift drift = Drift::Modelled;
    // Whether a request waits for a sector that hits in L2 while it is still under way from DRAM. SMs do
    // wait; but if they do so in the model, they stay closer together than counters say (docs/model.md). So
    // this is used for how long blocks wait, not for what they find.
    bool awaited = false;
    LevelLog* log = nullptr;            // gets what became of every batch, where somebody asks
    uint64_t most_blocks = UINT64_MAX;  // blocks to be simulated, rounded down to whole waves
    uint64_t least_waves = 4;           // waves that are simulated even so
    double part = 1;  // fraction of each block's batches to be simulated, at least 16 of them
};

struct LevelMisses {
    double l1_misses = 0;        // sectors that are not in L1
    double l1_missed_lines = 0;  // lines of a batch of which some sector is not in L1
    double l2_read_sectors = 0;  // sectors that L2 is asked for: misses but for those coalesced on the way
    double dram_read_bytes = 0;
    // Cycles that batches wait for their sectors and work, without the time until it is their turn; summed
    // over all blocks, and of blocks without barriers the mean over their warps.
    double latency_cycles = 0;
    double wait_cycles = 0;  // the part of latency_cycles in which they only wait
    // Cycles in which an SM holds blocks none of which has its data. In a whole replay no more than if all
    // SMs idled like those that run most blocks.
    double idle_cycles = 0;
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
    uint64_t simulated = 0;  // number of blocks replayed
    double part = 1;         // fraction of the line touches of these blocks that was replayed
    double cycles = 0;       // until the last of them had ended
    uint64_t touched = 0;    // lines that L1 was asked for, as a measure of work
};

LevelReplay replay_levels(const LevelSpec& spec, const LevelLaunch& launch, Stop stop = {});

}  // namespace tilescope::analysis
