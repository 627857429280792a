// What a block asks of the memory levels, in a form that is replayed quickly and relocated to other blocks.
//
// A block's steps are put together into load batches (memory epochs; screens call them units). A batch is
// what the block's warps load from global memory before any of them comes to the same load again: a phase of
// a tiled kernel, or as many trips of a loop without barriers as the compiler unrolled, since their loads are
// under way together. Where loads of a batch wait for earlier ones (load_waits.h), it has several turns.
//
//     batch 0                 batch 1                             a warp's steps, clang's untiled kernel
//     load M  load N   fma    load M  load N   fma    ...
//     batch 0                                             batch 1           the same, unrolled four times
//     load M N M N M N M N   fma fma fma fma              load M ...
//
// Copies by cp.async go on while the warp does other work, which waits for them some batches later
// (LoadBatch::ahead). From one barrier to the next they are of one batch.
//
//     batch 0   batch 1   batch 2   batch 3
//     copy a    copy b    copy c    copy d        ahead = 2: what follows batch 1 needs what batch 0 copied
//
// What stays of a batch are the lines of global memory that it touches, each once with the sectors asked for
// (touches.h), and the cycles that the SM's data pipe and schedulers need for it (batch_cost.h).
//
// Blocks of one class touch the same elements, relocated by a constant offset an array. Where that is a whole
// number of lines they share one BlockWork; the bytes modulo a line are worked in when it is made.
#pragma once

#include <cstdint>
#include <vector>

#include "core/levels/code.h"
#include "core/levels/spec.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// Exact sums over steps; loads and stores are of global memory where nothing else is said.
struct LevelSums {
    uint64_t requested_bytes = 0;  // bytes that the lanes of loads ask for
    uint64_t loads = 0;            // requests to load
    uint64_t load_turns = 0;   // turns of load batches; the loads of a warp in a turn are under way together
    uint64_t loads_ahead = 0;  // loads times the batches that they are under way for (LoadBatch::ahead)
    uint64_t l1_sectors = 0;   // sectors that requests to load need
    uint64_t stored_sectors = 0;  // sectors that requests to store need
    uint64_t sent_sectors = 0;    // sectors that SMs send to L2 for these stores (sent_for)
    // Wavefronts of the data stage for requests to global memory that hit: as many as the worst of 32 banks
    // of 4 bytes has different words, as in shared memory.
    uint64_t passes = 0;
    // Wavefronts on top (tags.h) if requests that load a sector for the first time in their block miss.
    uint64_t more_passes = 0;
    uint64_t lookups = 0;       // lookups of the tag stage for the same requests (tags.h)
    uint64_t lines = 0;         // lines that these lookups are for
    uint64_t wavefronts = 0;    // wavefronts of shared memory, with loads joined as ptxas joins them
    uint64_t accesses = 0;      // load and store instructions of warps, to any memory
    uint64_t instructions = 0;  // instructions of warps, counted from the PTX
    uint64_t fp32 = 0;          // fp32 arithmetic among these instructions
    uint64_t tensor = 0;        // multiply-adds of tensor cores (Executed::tensor)
    LevelSums& add(const LevelSums& other, uint64_t times);
    // Wavefronts of the data stage if the share `missed` of first-time requests misses.
    double global_passes(double missed) const {
        return static_cast<double>(passes) + static_cast<double>(more_passes) * missed;
    }
    bool operator==(const LevelSums&) const = default;
};

// Arrays of a launch, and one more for what lies in none.
inline size_t level_slots(const Launch& launch) { return launch.arrays.size() + 1; }
inline size_t level_slot(const Launch& launch, uint8_t array) {
    return array == trace::kNoArray ? launch.arrays.size() : array;
}

// A line of global memory that a batch touches.
struct LineTouch {
    uint32_t line = 0;  // counted from the first line of its slot that the block touches
    uint16_t slot = 0;
    uint8_t sectors = 0;  // the sectors asked for, bit by bit
    bool store = false;
};

struct LoadBatch {
    uint32_t first = 0, count = 0;  // range of BlockWork::touches
    float load_cycles = 0;          // cycles of the SM for its requests to global memory
    float work_cycles = 0;          // cycles of the SM for all else
    float chain_cycles = 0;  // cycles from the arrival of its data to its end, by its chain of shared loads
    bool loads = false;      // it loads from global memory
    uint8_t turns = 1;       // number of times that it waits for loads, one after the other
    // Batches after which its data must be there; 0: before its own work. UINT8_MAX where nothing waits.
    uint8_t ahead = 0;
};

struct BlockWork {
    std::vector<LineTouch> touches;
    // The warps that ask for each touch, bit by bit, where each waits on its own (no barriers); else empty.
    std::vector<uint32_t> warps_of;
    std::vector<LoadBatch> batches;
    std::vector<uint64_t> first_line;  // number of the first line that is touched, by slot; 0 where none is
    LevelSums sums;
    // Different sectors that it loads: its misses if no line is evicted and no other block has loaded them.
    uint64_t distinct_sectors = 0;
    uint32_t warps = 0;
    bool barriers = false;  // its warps meet at barriers
    // From a barrier until each scheduler has a warp whose first loads of shared memory have come: the
    // latency of one load, and the wavefronts before it; summed over batches.
    double first_read_cycles = 0, first_read_wavefronts = 0;
    // Cycles that a warp takes for loops over shared memory beyond the latency of its loads and the work of
    // all warps, summed over batches.
    double trip_cycles = 0;
    // Cycles that a warp needs at least for such loops behind their first trip, and what its SM works for all
    // warps of the block meanwhile; summed over batches.
    double loop_cycles = 0, loop_work_cycles = 0;
    // Cycles that an SM needs to send the stores of the last batch to L2 beyond those of the requests.
    double sending_cycles = 0;
    uint64_t left_out = 0;  // touched sectors that are not replayed, since they hit (touches.h)
};

struct WorkRules {
    const LevelSpec* spec = nullptr;
    uint32_t resident = 1;  // blocks that an SM holds
    uint64_t l1_lines = 0;
};

// The work of one recorded block. relocation: bytes by slot that are added to all of its addresses in global
// memory. batch_of: gets the batch of every step.
BlockWork work_of_block(const trace::Trace& trace, LevelCode& code, uint32_t block, const WorkRules& rules,
                        const std::vector<int64_t>& relocation, std::vector<uint32_t>* batch_of = nullptr);

}  // namespace tilescope::analysis
