// What the requests of a load batch (work.h) cost its SM: wavefronts of the data stage, lookups of the tag
// stage, instructions, and sectors sent to L2; and the cycles that these add up to.
//
//   load_cycles   requests to global memory: the most of   wavefronts / pipe_per_clock
//   work_cycles   all else of the batch: the most of       lookups or accesses / lsu_per_clock
//                                                          instructions / issue_per_clock
//                                                          multiply-adds of tensor cores / half_per_clock
//   chain_cycles  loads of shared memory by one warp that wait for each other: shared_cycles each
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/coalescing.h"
#include "core/levels/touches.h"
#include "core/levels/work.h"
#include "core/trace/access.h"

namespace tilescope::analysis {

// What the requests of one batch of a block store, for how many sectors an SM sends to L2.
struct BatchStores {
    uint64_t bytes = 0;           // bytes that all lanes store
    uint64_t bytes_together = 0;  // the part of them by requests that are not among the next
    // Requests of 32 lanes that store a word each, each to a sector of its own: their sectors and lines,
    // twice where the request before it, of the same warp, was to the same sectors.
    uint64_t apart = 0;
    uint32_t fewest_lines = UINT32_MAX;  // lines of the one of them that has fewest
    uint32_t warps = 0;                  // number of warps that store
    bool own_lines = true;               // no line is stored to by two of them
};
// The sectors that an SM sends to L2 for them, at least. Where lanes are far apart, and warps store to many
// lines, as many as were measured, which is more than the bytes; everywhere else as many as the bytes fill.
// Source: tests/data/hardware/stores.txt; found there, and documented nowhere.
uint64_t sent_for(const BatchStores& stores);

// A request to global memory, with addresses where the block that asks lies.
struct GlobalCost {
    SectorCost sectors;
    uint32_t wavefronts = 0;         // wavefronts of the data stage if it hits (LevelSums::passes)
    uint32_t missed_wavefronts = 0;  // wavefronts if it misses
    uint32_t lookups = 0;            // lookups of the tag stage
};
// first_line: of the block in that array; counted from it, a block and its relocated twin have the same
// lookups.
GlobalCost global_cost(const trace::AccessView& access, uint64_t first_line);

// Sums over the requests of a batch.
struct BatchCost {
    uint64_t passes = 0, lookups = 0;  // sums over requests to global memory
    uint64_t load_accesses = 0;        // requests to global memory
    uint64_t wavefronts = 0;           // wavefronts of shared memory
    uint64_t work_accesses = 0;        // requests to all other memory
    Executed load, work;               // instructions behind requests to global memory, and all others
    uint64_t joined = 0;               // loads that are no instructions of their own
    // Loads of shared memory: their wavefronts, their number, and the instructions from one to the next.
    uint64_t reads = 0, read_accesses = 0, loop_instructions = 0;
    uint32_t chain = 0;              // the most loads of shared memory of one warp that wait for each other
    std::optional<uint32_t> reader;  // the first warp that loads from shared memory
    uint64_t first_reads = 0;        // wavefronts of the reader's loads before it works with any of them
    bool reads_used = false;         // whether it works with them already
    uint32_t turns = 1;              // turns of the warp that has most (LoadBatch::turns)
    bool loads = false;
    uint64_t requests = 0;        // requests to load from global memory
    uint32_t ahead = UINT32_MAX;  // the least of its loads (LoadBatch::ahead)
    BatchStores stores;

    // Adds the store of a warp. last_sectors: the sectors of the warp's store before it, by active lane; gets
    // this one's.
    void add_store(const trace::AccessView& access, const SectorCost& cost,
                   std::vector<uint64_t>& last_sectors);
};

// Fills in the cycles of work.batches, and what else of work consists of their costs.
void add_costs(std::vector<BatchCost>& costs, const std::vector<TouchList::Stores>& stores,
               const LevelSpec& spec, BlockWork& work);

}  // namespace tilescope::analysis
