// What a request to shared memory costs: wavefronts.
//
// 32 banks, each 4 bytes wide: word w (4 aligned bytes) lives in bank w mod 32. One wavefront serves
// one word of each bank to any number of lanes (a broadcast is free). A request is served in groups of
// lanes, one after the other, and a group takes as many wavefronts as its worst bank has different words:
//
//   4 bytes a lane    the warp is one group         neighbours: 1 wavefront
//   8 bytes           two groups, half warps        neighbours: 2
//   16 bytes          four groups, quarter warps    neighbours: 4
//
// A load of 8 or 16 bytes is taken in groups twice as large where every lane n asks for the same address as lane
// n ^ 1, or every lane n for the same as lane n ^ 2, wherever both are active; a store never is, nor are the rows of
// ldmatrix and its like: a matrix is a group. Groups without an active lane cost nothing.
//
//   32 lanes x 4 bytes, a stride of s words   gcd(s, 32) words in a bank   gcd(s, 32) wavefronts
//   32 lanes x 4 bytes, all the same word     a broadcast                  1
//   32 lanes x 8 bytes, all the same word     pairs agree                  1 to load, 2 to store
//
// Source: CUDA C++ Programming Guide, "Shared Memory" (compute capability 5.x and later: 32 banks of
// 32 bits; broadcast within a word); half and quarter warps: "64-Bit Accesses" and "128-Bit Accesses" under
// compute capability 2.x, since dropped from the guide. The doubled groups are in no document: they follow
// from counters of an H100, which this model meets in all of tests/data/hardware/banks.txt. Nsight Compute:
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,
// l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/ptx/sites.h"

namespace tilescope::analysis {

inline constexpr uint32_t kBanks = 32;
inline constexpr uint32_t kBankBytes = 4;

struct BankCost {
    uint32_t wavefronts = 0;
    uint32_t ideal_wavefronts = 0;  // one for each group of lanes: no bank conflicts
    uint32_t conflicts() const { return wavefronts - ideal_wavefronts; }
    bool operator==(const BankCost&) const = default;
};

// Whether a site's requests are never taken in groups twice as large: a store's, and those of rows of matrices.
inline bool keeps_groups(const ptx::Site& site) { return ptx::writes(site.kind) || site.matrices != 0; }

// address, of all of these: [32] byte offsets in shared memory; bytes per lane, 1..32 (nothing for others).
BankCost bank_cost(const uint64_t* address, uint32_t mask, uint32_t bytes, bool keeps_groups = false);

// The active lanes of each group that is served together, in the order of the lanes; none is empty.
class LaneGroups {
public:
    LaneGroups(const uint64_t* address, uint32_t mask, uint32_t bytes, bool keeps_groups = false);
    std::span<const uint32_t> masks() const { return {masks_.data(), count_}; }
    uint32_t lanes() const { return lanes_; }  // that a group has at most: 32, 16, 8 or 4

private:
    std::array<uint32_t, 8> masks_{};
    uint32_t count_ = 0, lanes_ = 32;
};

// How many different words each bank is asked for by these lanes. Of a group, the worst bank makes the
// wavefronts.
std::array<uint8_t, kBanks> words_per_bank(const uint64_t* address, uint32_t mask, uint32_t bytes);

}  // namespace tilescope::analysis
