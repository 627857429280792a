// What a request costs whose lanes meet at one address: atomics, and loads of constant memory.
//
//   atomics    lanes that update one word take turns; lanes of different words may share a turn. Each turn
//              asks for the sectors of its words: a sector counts as often as its word that most lanes hit.
//   constant   a request is split into as many as it has different addresses; one address is a broadcast.
//
//   32 lanes add to 3 words, one of them hit 17 times     3 addresses, 17 lanes on the worst: 17 turns
//   16 lanes add to one word, 16 to one of another sector 2 addresses, 16 turns, 2 x 16 sectors
//   32 lanes load one coefficient                         1 address: 1 pass
//   32 lanes load 32 coefficients                         32 addresses: 32 passes
//
// Source: CUDA C++ Programming Guide, "SIMT Architecture" (notes: read-modify-writes of one location by
// several threads of a warp are all done, one after the other, in an order that is not defined) and "Device
// Memory Accesses", "Constant Memory" (as many separate requests as different addresses). What else slows
// atomics down, such as other warps at the same word, is not modelled. How often sectors are asked for is
// documented nowhere: it is what Nsight Compute counts on an H100 as
// l1tex__t_sectors_pipe_lsu_mem_global_op_atom and op_red (tests/gpu/program_counters.py). Where all lanes
// reduce into one word that the compiler knows to be the same for all, it may add them up first and send one
// lane, which PTX does not show.
#pragma once

#include <cstdint>

namespace tilescope::analysis {

struct AddressCost {
    uint32_t addresses = 0;   // number of different addresses
    uint32_t most_lanes = 0;  // the most lanes that meet at one of them
    bool operator==(const AddressCost&) const = default;
};

// address: [32], of which those of the mask count.
AddressCost address_cost(const uint64_t* address, uint32_t mask);

// Sectors that an atomic of global memory asks for, as often as it does. Words are aligned.
uint32_t atomic_sectors(const uint64_t* address, uint32_t mask);

}  // namespace tilescope::analysis
