// What a request to global memory costs: sectors, lines, and the least it could need.
//
//   sector   32 aligned bytes: the grain in which L1 asks L2
//   line     128 aligned bytes: four sectors
//
//   32 lanes x 4 bytes, neighbours, aligned   4 sectors of 4 needed
//   32 lanes x 4 bytes, a row of 1 KiB apart  32 sectors of 4 needed
//
// Local memory is a thread's own, but lies in the same device memory, interleaved: consecutive 32-bit words
// belong to consecutive threads. So lanes that touch the same offset are neighbours, whatever it is:
//
//   32 lanes x 4 bytes at one offset          4 sectors of 4
//   32 lanes x 4 bytes at offsets of their own, all different    32 sectors of 4
//   32 lanes x 1 byte at one offset           4 sectors of 1: a word's other bytes lie between
//
// Source: CUDA C++ Programming Guide, "Device Memory Accesses" (and compute capability 6.x to 9.0,
// "Global Memory"): accesses of a warp are served by as many 32-byte transactions as needed; "Local Memory"
// for the interleaving. Nsight Compute counts them as l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum.
#pragma once

#include <cstdint>

#include "core/trace/access.h"

namespace tilescope::analysis {

using trace::kLineBytes, trace::kSectorBytes;

struct SectorCost {
    uint32_t sectors = 0;        // distinct 32-byte sectors touched
    uint32_t ideal_sectors = 0;  // distinct bytes / 32, rounded up
    uint32_t lines = 0;          // distinct 128-byte lines touched
    // The least that the block's shape allows, where that is more than the least of all and no more than
    // `sectors`: each of the warp's rows of threads needs sectors of its own. cost_of() fills it in;
    // sector_cost(), which knows no block, leaves it 0.
    uint32_t block_sectors = 0;
    bool operator==(const SectorCost&) const = default;
};

// address: [32] virtual addresses (bytes); lanes outside mask are ignored. bytes: per lane, 1..16.
SectorCost sector_cost(const uint64_t* address, uint32_t mask, uint32_t bytes);

// What one of another shape costs: its block sectors are its ideal ones.
SectorCost sector_cost(const trace::AccessView& access);

// What a request to local memory costs. address: [32] byte offsets in the thread's local memory.
SectorCost local_sector_cost(const uint64_t* address, uint32_t mask, uint32_t bytes);

}  // namespace tilescope::analysis
