// Clusters: blocks of a launch that run at the same time and can access each other's shared memory ("distributed
// shared memory").
//
//   grid 4 × 2, cluster 2 × 1        cluster 0: blocks (0,0) (1,0), ranks 0 and 1;   cluster 1: (2,0) (3,0);   ...
//
// An address of shared memory as a recording has it, for the block that accesses it:
//
//   own block        offset                               below 2^24
//   other block      (rank + 1) << 32 | offset            rank: of that block in the cluster
//
// In a register of a GPU it is rank << 24 | offset for every block, the own one too: `mapa` replaces the upper byte and
// leaves the lower three (asked of an H200: addresses of .shared variables, mapa with .u32, generic addresses without the
// window's base). In a register of the interpreter it is the offset for the own block, and (rank + 1) << 24 | offset for
// others, so that a kernel's own addresses are the same in all blocks.
//
// Source: CUDA C++ Programming Guide, "Thread Block Clusters", "Distributed Shared Memory"; PTX ISA, "mapa", "getctarank",
// "Special Registers: %cluster_ctarank".
#pragma once

#include <cstdint>
#include <string>

#include "core/base/launch.h"

namespace tilescope {

// Blocks of a cluster: on every GPU that has clusters; on some, for kernels that ask for it
// (cudaFuncAttributeNonPortableClusterSizeAllowed).
inline constexpr uint32_t kPortableCluster = 8, kMostOfCluster = 16;

inline bool has_clusters(const Launch& launch) { return launch.cluster.count() > 1; }

// The rank of a block in its cluster. block: its indices in the grid.
constexpr uint32_t rank_in_cluster(const Dim3& cluster, const Dim3& block) {
    return block.x % cluster.x + cluster.x * (block.y % cluster.y + cluster.y * (block.z % cluster.z));
}
// The indices of the block of that rank in the cluster of a block.
constexpr Dim3 block_of_rank(const Dim3& cluster, const Dim3& block, uint32_t rank) {
    return {block.x / cluster.x * cluster.x + rank % cluster.x,
            block.y / cluster.y * cluster.y + rank / cluster.x % cluster.y,
            block.z / cluster.z * cluster.z + rank / cluster.x / cluster.y};
}

// "" where the grid can be launched in such clusters; else why not, and what to do. most: blocks that a cluster may have.
std::string why_not_in_clusters(const Dim3& grid, const Dim3& cluster, uint32_t most = kMostOfCluster);

// --- addresses of shared memory

inline constexpr uint32_t kRankShift = 24, kKeptRankShift = 32;
inline constexpr uint64_t kOffsetMask = (uint64_t{1} << kRankShift) - 1;

constexpr bool is_of_other_block(uint64_t address) { return address >> kKeptRankShift != 0; }
// Of an address of another block: its rank in the cluster, which may lie outside of it.
constexpr uint64_t rank_of_address(uint64_t address) { return (address >> kKeptRankShift) - 1; }
constexpr uint64_t offset_of_address(uint64_t address) { return address & kOffsetMask; }
constexpr uint64_t address_in_block(uint64_t rank, uint64_t offset) {
    return (rank + 1) << kKeptRankShift | offset;
}
// An address in a register of a GPU, 32 bits, as a recording has it. own: the rank of the block that has it.
constexpr uint64_t kept_shared(uint64_t in_register, uint64_t own) {
    const uint64_t rank = in_register >> kRankShift & 0xFF, offset = offset_of_address(in_register);
    return rank == own ? offset : address_in_block(rank, offset);
}
// The same of a register of the interpreter; whether that is of another block.
constexpr bool names_other_block(uint64_t in_register) { return in_register >> kRankShift != 0; }
constexpr uint64_t kept_of_interpreter(uint64_t in_register, uint64_t own) {
    return names_other_block(in_register) ? kept_shared(in_register - (uint64_t{1} << kRankShift), own)
                                          : in_register;
}

}  // namespace tilescope
