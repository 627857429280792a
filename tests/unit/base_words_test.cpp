// What numbers, elements, threads and launches are called.
#include <gtest/gtest.h>

#include "core/base/words.h"
#include "tests/launches.h"

namespace tilescope {
namespace {

TEST(Words, Numbers) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'048'576), "1,048,576");
    EXPECT_EQ(grouped(1'048'576, kThinSpace), "1\u2009048\u2009576");
    EXPECT_EQ(short_count(1'050'000), "1.05 M");
    EXPECT_EQ(counted(1, "sector"), "1 sector");
    EXPECT_EQ(counted(1200, "sector"), "1,200 sectors");
    EXPECT_EQ(ordinal(1) + ordinal(2) + ordinal(3) + ordinal(4), "1st2nd3rd4th");
    EXPECT_EQ(ordinal(11) + ordinal(12) + ordinal(20) + ordinal(101), "11th12th20th101st");
    EXPECT_EQ(ordinal(113), "113th");
    EXPECT_EQ(listed({}) + listed({"1"}), "1");
    EXPECT_EQ(listed({"1", "2"}), "1 and 2");
    EXPECT_EQ(listed({"1", "2", "3"}, SIZE_MAX, "or"), "1, 2 or 3");
    EXPECT_EQ(bytes_text(1), "1 byte");
    EXPECT_EQ(bytes_text(640), "640 bytes");
    EXPECT_EQ(bytes_text(131'072), "131 kB");
    EXPECT_EQ(bytes_text(999'499), "999 kB");
    EXPECT_EQ(bytes_text(999'500), "1.00 MB");
    EXPECT_EQ(bytes_text(2'097'152), "2.10 MB");
    EXPECT_EQ(bytes_text(8.59e9), "8.59 GB");
    EXPECT_EQ(bytes_text(UINT64_MAX), "18.4 EB");
    EXPECT_EQ(capacity_text(48 << 10), "48 KiB");
    EXPECT_EQ(capacity_text(1000 << 10), "1000 KiB");
    EXPECT_EQ(capacity_text(50 << 20), "50 MiB");
    EXPECT_EQ(capacity_text(17'000), "16.6 KiB");
    EXPECT_EQ(capacity_text(640), "640 bytes");
    EXPECT_EQ(share_text(0.2332), "23.3 %");
    EXPECT_EQ(share_text(0.006678), "0.668 %");
    EXPECT_EQ(share_text(1.1249), "112 %");
    EXPECT_EQ(share_text(14), "1,400 %");
    EXPECT_EQ(ratio_text(1.4749), "1.47");
    EXPECT_EQ(ratio_text(9.996), "10.0");
    EXPECT_EQ(ratio_text(1039.6), "1,040");
    EXPECT_EQ(times_fewer(16, 1), "16 × fewer");
    EXPECT_EQ(times_fewer(4, 17), "4.25 × more");
    EXPECT_EQ(times_fewer(1000, 1001), "same");
    EXPECT_EQ(times_fewer(0, 7) + times_fewer(7, 0), "");
    EXPECT_EQ(range_words("row", 3, 4), "row 3");
    EXPECT_EQ(range_words("row", 0, 2), "rows 0 and 1");
    EXPECT_EQ(range_words("row", 0, 4), "rows 0 to 3");
    EXPECT_EQ(lanes_named(1u << 31), "lane 31");
    EXPECT_EQ(lanes_named(~0u), "lanes 0 to 31");
    EXPECT_EQ(lanes_named(0b1011), "lanes 0, 1 and 3");
    EXPECT_EQ(lanes_named(0xC000'002E), "lanes 1 to 3, 5, 30 and 31");
}

TEST(Words, ElementsOfOneTwoAndThreeExtents) {
    Array vector = test_array("in", Space::Global, ArrayRole::Input, 1, 100, 0);
    vector.rank = 1;
    EXPECT_EQ(element_name(vector, 42), "in[42]");
    const Array matrix = test_array("M", Space::Global, ArrayRole::Input, 3, 20, 0);
    EXPECT_EQ(element_name(matrix, 39), "M[1,19]");
    EXPECT_EQ(element_name(matrix, 60), "M[3,0]");    // beyond the last row
    EXPECT_EQ(element_name(matrix, -1), "M[-1,19]");  // before the first
    Array volume = test_array("V", Space::Global, ArrayRole::Input, 4, 5, 0);
    volume.rank = 3;
    volume.slices = 2;
    EXPECT_EQ(element_name(volume, 20 + 5 + 2), "V[1,1,2]");
    EXPECT_EQ(extents_text(vector), "100");
    EXPECT_EQ(extents_text(matrix), "3 × 20");
    EXPECT_EQ(extents_text(volume), "2 × 4 × 5");
}

TEST(Words, ThreadsRowFirst) {
    EXPECT_EQ(thread_name({16, 16, 1}, 19), "thread[1,3]");
    EXPECT_EQ(thread_name({128, 1, 1}, 19), "thread[19]");
    EXPECT_EQ(thread_name({4, 4, 4}, 16 + 4 + 3), "thread[1,1,3]");
    EXPECT_EQ(block_name({4, 4, 1}, {1, 2, 0}), "block(2,1)");
    EXPECT_EQ(block_name({4, 4, 2}, {1, 2, 0}), "block(0,2,1)");
    EXPECT_EQ(block_name({4, 1, 1}, {3, 0, 0}), "block(3)");
    EXPECT_EQ(block_index({4, 4, 1}, {1, 2, 0}), "(2,1)");
    Notation x_first;
    x_first.x_first = true;
    EXPECT_EQ(block_name({4, 4, 1}, {1, 2, 0}, x_first), "block(1,2)");
    EXPECT_EQ(block_name({4, 4, 2}, {1, 2, 0}, x_first), "block(1,2,0)");
}

TEST(Words, InAReadersNotation) {
    Notation notation;
    notation.x_first = true;
    notation.phases_from_1 = true;
    notation.renamed = {{"M", "A"}};
    const Array matrix = test_array("M", Space::Global, ArrayRole::Input, 3, 20, 0);
    EXPECT_EQ(element_name(matrix, 39, notation), "A[19,1]");
    EXPECT_EQ(thread_name({16, 16, 1}, 19, notation), "thread[3,1]");
    EXPECT_EQ(phase_name(0, notation), "phase 1");
    EXPECT_EQ(phase_name(0), "phase 0");
}

}  // namespace
}  // namespace tilescope
