// What a block asks of the memory levels, in a form that is replayed quickly and moved to other blocks.
//
// A block's steps are put together into units. A unit is what its warps load from global memory before any of
// them comes to the same load again: a phase of a tiled kernel, or as many trips of a loop without barriers
// as the compiler unrolled, since their loads are under way together. Where loads of a unit wait for earlier
// ones (code.h) it waits several times: it has as many turns.
//
//     unit 0                  unit 1                              a warp's steps, clang's untiled kernel
//     load M  load N   fma    load M  load N   fma    ...
//     unit 0                                              unit 1            the same, unrolled four times
//     load M N M N M N M N   fma fma fma fma              load M ...
//
// Copies by cp.async go on while the warp does other work, which waits for them some units later
// (Unit::ahead). They are of one unit from one barrier to the next.
//
//     unit 0    unit 1    unit 2    unit 3
//     copy a    copy b    copy c    copy d        ahead = 2: what follows unit 1 needs what unit 0 copied
//
// Of a unit stay the lines of global memory that it touches, each once with the sectors asked for (what it
// asks for again hits), and the cycles that the SM's data pipe and schedulers need for it.
//
// Blocks of one class touch the same elements moved by a constant an array. Where that is a whole number of
// lines they share one BlockWork; what is left of it (the bytes modulo a line) is worked in when it is made.
#pragma once

#include <cstdint>
#include <vector>

#include "core/levels/code.h"
#include "core/levels/spec.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// Exact sums over steps; loads and stores are of global memory where nothing else is said.
struct LevelSums {
    uint64_t requested_bytes = 0;  // by the lanes of loads
    uint64_t loads = 0;            // requests to load, and
    uint64_t load_units = 0;   // turns of units that have some: a warp's of a turn are in flight together,
    uint64_t loads_ahead = 0;  // with those of earlier units that nothing has waited for: loads x Unit::ahead
    uint64_t l1_sectors = 0;   // that requests to load need
    uint64_t stored_sectors = 0;  // the same of stores, and
    uint64_t sent_sectors = 0;    // what an SM sends to L2 for them (sent_for)
    // Of requests to load and store, through the data pipe, where they hit: as many as the worst of 32 banks
    // of 4 bytes has different words, as of shared memory. And what is added where those miss that load a
    // sector which their block has not loaded before (tags.h).
    uint64_t passes = 0, more_passes = 0;
    uint64_t lookups = 0;       // of tags, by the same requests (tags.h), for
    uint64_t lines = 0;         // so many lines
    uint64_t wavefronts = 0;    // of shared memory, loads joined as ptxas joins them
    uint64_t accesses = 0;      // load and store instructions of warps, to any memory
    uint64_t instructions = 0;  // of warps, counted from the PTX
    uint64_t fp32 = 0;          // of these, fp32 arithmetic
    LevelSums& add(const LevelSums& other, uint64_t times);
    // With the share `missed` of more_passes.
    double global_passes(double missed) const {
        return static_cast<double>(passes) + static_cast<double>(more_passes) * missed;
    }
    bool operator==(const LevelSums&) const = default;
};

// What the requests of one unit of a block store, for how many sectors an SM sends to L2.
struct UnitStores {
    uint64_t bytes = 0;           // of all lanes
    uint64_t bytes_together = 0;  // of these, of requests other than the next
    // Requests of 32 lanes that store a word each, each to a sector of its own: their sectors and lines,
    // twice where the request before it, of the same warp, was to the same sectors; and the fewest lines of
    // one.
    uint64_t apart = 0;
    uint32_t fewest_lines = UINT32_MAX;
    uint32_t warps = 0;     // that store
    bool own_lines = true;  // no line is stored to by two of them
};
// The sectors that an SM sends to L2 for them, at least. Where lanes are far apart, and warps store to many
// lines, as many as were measured, which is more than the bytes; everywhere else as many as the bytes fill.
// Source: tests/data/hardware/stores.txt; found there, and documented nowhere.
uint64_t sent_for(const UnitStores& stores);

// Arrays of a launch, and one more for what lies in none.
inline size_t level_slots(const Launch& launch) { return launch.arrays.size() + 1; }
inline size_t level_slot(const Launch& launch, uint8_t array) {
    return array == trace::kNoArray ? launch.arrays.size() : array;
}

struct Touch {
    uint32_t line = 0;  // behind the first of its array that the block touches
    uint16_t slot = 0;
    uint8_t sectors = 0;  // of the four of the line, bit by bit
    bool store = false;
};

struct Unit {
    uint32_t first = 0, count = 0;  // BlockWork::touches
    float load_cycles = 0;          // of the SM for its requests to global memory, and
    float work_cycles = 0;          // for all else
    float chain_cycles = 0;         // that pass at least between the arrival of its data and its end
    bool loads = false;             // from global memory
    uint8_t turns = 1;              // that it waits for them, one after the other
    // How many units later its data must be there; 0: before its own work. UINT8_MAX where nothing waits.
    uint8_t ahead = 0;
};

struct BlockWork {
    std::vector<Touch> touches;
    // Bit by bit the warps that ask for each touch, where they wait each on its own; else empty.
    std::vector<uint32_t> warps_of;
    std::vector<Unit> units;
    std::vector<uint64_t> first_line;  // by slot; 0 where none is touched
    LevelSums sums;
    uint64_t distinct_sectors = 0;  // different sectors that it loads: its misses where nothing is evicted
                                    // and no other block has loaded them before
    uint32_t warps = 0;
    bool barriers = false;  // its warps meet at some
    // Of all units, from a barrier until each scheduler has a warp whose first loads of shared memory have
    // come: the latency of one, and the wavefronts before it.
    double first_read_cycles = 0, first_read_wavefronts = 0;
    // Of all units, what a warp that goes round a loop takes longer than its loads of shared memory and the
    // work of all of them do.
    double trip_cycles = 0;
    // Of all units, what a warp needs at least to go round such loops behind its first trip, and what its SM
    // works for all warps of the block meanwhile.
    double loop_cycles = 0, loop_work_cycles = 0;
    // What an SM takes longer to send the stores of the last unit to L2 than it takes for the requests
    // themselves.
    double sending_cycles = 0;
    uint64_t left_out = 0;  // sectors that units before have just touched, so that they hit
};

struct WorkRules {
    const LevelSpec* spec = nullptr;
    uint32_t resident = 1;  // blocks that an SM holds
    uint64_t l1_lines = 0;
};

// Of one recorded block. moved: bytes by slot that are added to all of its addresses in global memory.
// unit_of: gets the unit of every step.
BlockWork work_of_block(const trace::Trace& trace, LevelCode& code, uint32_t block, const WorkRules& rules,
                        const std::vector<int64_t>& moved, std::vector<uint32_t>* unit_of = nullptr);

// Bytes by slot between the addresses of two blocks that do the same steps; nothing where they do not, or
// where an array's differences are not the same everywhere. The blocks may be of two recordings of a launch.
struct BlockOf {
    const trace::Trace* trace = nullptr;
    uint32_t block = 0;
};
bool moved_between(const BlockOf& from, const BlockOf& to, std::vector<int64_t>& moved);

}  // namespace tilescope::analysis
