// What a request to global memory costs the tag stage of L1 before any data move: lookups of its lines' tags.
//
//   lines of a request  ->  four banks of tags, one line of each a lookup
//
//   32 lanes in one line                     1 lookup
//   32 lanes in 32 lines, 4,096 bytes apart  8 lookups: the lines spread evenly
//   32 lanes in 32 lines, 5,332 bytes apart  11: the fullest bank has 11
//
// Found on an H200, tests/gpu/probes/requests.cu: the bank of a line is the exclusive or of two bits for each
// bit of its number, which pairs of lines determine uniquely; the lookups of all other patterns follow from
// it (tests/data/hardware/requests.txt). A request that hits goes through the data pipe as a whole, as one to
// shared memory does (banks.h). One that misses goes through it lookup by lookup, each with the next line of
// every bank, lines in the order of the lanes, and in halves or quarters of the warp where its lanes load 8
// or 16 bytes; that gives the passes of all the patterns of the same file.
//
//   lanes 0 to 3 ask for words 0, 33, 66, 99 of lines whose tags share a bank: 1 pass if they hit, 4 if not
//
// No document states it. Nsight Compute counts lookups as
// l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum.
#pragma once

#include <cstdint>

namespace tilescope::analysis {

// Which of the four banks of tags holds a line; line: address / 128.
uint32_t tag_bank(uint64_t line);

// address: [32] virtual addresses (bytes); lanes outside mask are ignored. bytes: per lane, 1..16.
uint32_t tag_lookups(const uint64_t* address, uint32_t mask, uint32_t bytes);

// Wavefronts of the data stage (passes) for a load that misses; for one that hits: bank_cost().
uint32_t missed_passes(const uint64_t* address, uint32_t mask, uint32_t bytes);

}  // namespace tilescope::analysis
