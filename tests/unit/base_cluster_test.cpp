#include <set>

#include <gtest/gtest.h>

#include "core/base/cluster.h"

namespace tilescope {
namespace {

TEST(ClusterOfBlocks, RanksGoAlongXFirst) {
    const Dim3 cluster{2, 4, 2}, grid{6, 8, 4};
    for (uint32_t z = 0; z < grid.z; ++z)
        for (uint32_t y = 0; y < grid.y; ++y)
            for (uint32_t x = 0; x < grid.x; ++x) {
                const uint32_t rank = rank_in_cluster(cluster, {x, y, z});
                EXPECT_EQ(rank, x % 2 + 2 * (y % 4) + 8 * (z % 2));
                EXPECT_EQ(block_of_rank(cluster, {x, y, z}, rank), (Dim3{x, y, z}));
            }
    EXPECT_EQ(block_of_rank(cluster, {5, 6, 1}, 0), (Dim3{4, 4, 0}));
    EXPECT_EQ(block_of_rank(cluster, {5, 6, 1}, 15), (Dim3{5, 7, 1}));
}

// Addresses of one variable as an H200 has them in registers, in a cluster of two.
TEST(ClusterOfBlocks, AddressesOfRegistersAreKeptByWhoseTheyAre) {
    const uint64_t own_of_0 = 0x400, own_of_1 = 0x1000400;
    EXPECT_EQ(kept_shared(own_of_0, 0), 0x400u);
    EXPECT_EQ(kept_shared(own_of_1, 1), 0x400u);
    EXPECT_EQ(kept_shared(own_of_0, 1), address_in_block(0, 0x400));
    EXPECT_EQ(kept_shared(own_of_1, 0), address_in_block(1, 0x400));
    std::set<uint64_t> all;
    for (uint32_t rank = 0; rank < kMostOfCluster; ++rank) {
        const uint64_t address = address_in_block(rank, kMostSharedBytes - 1);
        EXPECT_TRUE(is_of_other_block(address));
        EXPECT_EQ(rank_of_address(address), rank);
        EXPECT_EQ(offset_of_address(address), kMostSharedBytes - 1);
        EXPECT_EQ(kept_of_interpreter((rank + 1) << 24 | 0x400, 99), address_in_block(rank, 0x400));
        EXPECT_EQ(kept_of_interpreter((rank + 1) << 24 | 0x400, rank), 0x400u);
        all.insert(address);
    }
    EXPECT_EQ(all.size(), kMostOfCluster);
    EXPECT_FALSE(is_of_other_block(kMostSharedBytes));
}

TEST(ClusterOfBlocks, ThatCannotBeAreToldWithASentence) {
    EXPECT_EQ(why_not_in_clusters({4, 2, 1}, {1, 1, 1}), "");
    EXPECT_EQ(why_not_in_clusters({4, 2, 1}, {2, 2, 1}), "");
    EXPECT_EQ(why_not_in_clusters({5, 2, 1}, {2, 1, 1}),
              "a grid of 5 × 2 blocks cannot be divided into clusters of 2 × 1; make it a multiple of the "
              "cluster each way");
    EXPECT_EQ(why_not_in_clusters({16, 1, 1}, {16, 1, 1}, kPortableCluster),
              "a cluster of 16 × 1 blocks is more than the 8 that a GPU runs together; choose a smaller one");
    EXPECT_EQ(why_not_in_clusters({4, 1, 1}, {2, 0, 1}),
              "a cluster of 2 × 0 blocks holds none; give it at least one block each way");
    EXPECT_NE(why_not_in_clusters({4, 1, 1}, {0x10000, 0x10000, 1}), "");
}

}  // namespace
}  // namespace tilescope
