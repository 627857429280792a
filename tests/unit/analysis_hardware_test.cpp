// The bank model against a real GPU's counters: tests/data/hardware/banks.txt holds, for 930 patterns of
// 4-, 8- and 16-byte accesses under full and partial masks, the wavefronts and bank conflicts that Nsight
// Compute counted on an H100 (tests/gpu/probes). Nothing is fitted here: every count must be equal.
//
// The rule that gives all of them, and that bank_cost states:
//   groups of lanes   4 bytes: the whole warp; 8 bytes: halves; 16 bytes: quarters. A load (never a
//                     store) is taken in groups twice as large when every lane n asks for the same address as
//                     lane n ^ 1, or every lane n as lane n ^ 2, wherever both are active.
//   wavefronts        the sum over groups of the worst bank's count of different words
//   bank conflicts    wavefronts - the number of groups that have an active lane
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "core/analysis/banks.h"
#include "core/levels/tags.h"

namespace tilescope::analysis {
namespace {

TEST(BankHardware, EveryCountIsTheCountersCount) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/banks.txt");
    ASSERT_TRUE(file) << "tests/data/hardware/banks.txt is missing";
    int patterns = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream in(line);
        uint32_t bytes = 0, mask = 0, load = 0, load_conflicts = 0, store = 0, store_conflicts = 0;
        std::array<uint64_t, 32> address{};
        in >> bytes >> mask >> load >> load_conflicts >> store >> store_conflicts;
        for (uint64_t& a : address) {
            in >> a;
            a *= bytes;
        }
        ASSERT_TRUE(in) << line;
        const BankCost as_load = bank_cost(address.data(), mask, bytes, false);
        const BankCost as_store = bank_cost(address.data(), mask, bytes, true);
        EXPECT_EQ(as_load.wavefronts, load) << "load: " << line;
        EXPECT_EQ(as_load.conflicts(), load_conflicts) << "load: " << line;
        EXPECT_EQ(as_store.wavefronts, store) << "store: " << line;
        EXPECT_EQ(as_store.conflicts(), store_conflicts) << "store: " << line;
        ++patterns;
    }
    EXPECT_EQ(patterns, 930);
}

// Requests to global memory: 501 patterns of pairs of lines, rows and random addresses (requests.txt). The
// bank of a line was found by the pairs alone; everything else must follow.
TEST(RequestHardware, EveryCountIsTheCountersCount) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/requests.txt");
    ASSERT_TRUE(file) << "tests/data/hardware/requests.txt is missing";
    int patterns = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream in(line);
        uint32_t bytes = 0, mask = 0, lookups = 0, first_lookups = 0, passes = 0, first_passes = 0;
        std::array<uint64_t, 32> address{};
        in >> bytes >> mask;
        for (uint64_t& a : address) {
            in >> a;
            a *= bytes;
        }
        in >> lookups >> first_lookups >> passes >> first_passes;
        ASSERT_TRUE(in) << line;
        EXPECT_EQ(8 * tag_lookups(address.data(), mask, bytes), lookups) << line;
        EXPECT_EQ(8 * bank_cost(address.data(), mask, bytes).wavefronts, passes) << line;
        // The launch loads 32 indexes in one pass and stores in another.
        EXPECT_EQ(missed_passes(address.data(), mask, bytes) + 2, first_passes) << line;
        ++patterns;
    }
    EXPECT_EQ(patterns, 501);
}

}  // namespace
}  // namespace tilescope::analysis
