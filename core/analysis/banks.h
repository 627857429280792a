// What a request to shared memory costs: wavefronts.
//
// 32 banks, each 4 bytes wide: word w (4 aligned bytes) lives in bank w mod 32. One wavefront serves
// one word of each bank to any number of lanes (a broadcast is free). A request of 64-bit accesses is
// served half a warp at a time and of 128-bit accesses a quarter at a time, unless fewer wavefronts do.
//
// Source: CUDA C++ Programming Guide, "Shared Memory" (compute capability 5.x and later: 32 banks of
// 32 bits; 64- and 128-bit accesses). Nsight Compute: l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum.
#pragma once

#include <array>
#include <cstdint>

namespace tilescope::analysis {

inline constexpr uint32_t kBanks = 32;
inline constexpr uint32_t kBankBytes = 4;

struct BankCost {
    uint32_t wavefronts = 0;
    uint32_t ideal_wavefronts = 0;   // for as many lanes and bytes, had no two words met in a bank
    uint32_t conflicts() const { return wavefronts - ideal_wavefronts; }
    bool operator==(const BankCost&) const = default;
};

// address: [32] byte offsets in shared memory; bytes per lane, 1..16.
BankCost bank_cost(const uint64_t* address, uint32_t mask, uint32_t bytes);

// How many different words each bank is asked for (the worst one makes the wavefronts).
std::array<uint8_t, kBanks> words_per_bank(const uint64_t* address, uint32_t mask, uint32_t bytes);

}  // namespace tilescope::analysis
