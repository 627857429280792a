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
#include <vector>

#include <gtest/gtest.h>

#include "core/analysis/banks.h"
#include "core/levels/tags.h"
#include "core/ptx/matrix.h"

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

// ldmatrix, stmatrix, wmma.load and wmma.store (matrix_requests.txt): of each the requests that ptx::requests_of()
// says that it makes.
TEST(BankHardware, RequestsOfMatricesCostWhatTheCountersCount) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/matrix_requests.txt");
    ASSERT_TRUE(file) << "tests/data/hardware/matrix_requests.txt is missing";
    int patterns = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream in(line);
        std::string text;
        uint32_t wavefronts = 0, conflicts = 0;
        in >> text >> wavefronts >> conflicts;
        ASSERT_TRUE(in) << line;
        std::vector<uint64_t> numbers;
        for (uint64_t number = 0; in >> number;) numbers.push_back(number);
        ptx::Instruction instruction;
        instruction.op = text.starts_with("ldmatrix")    ? ptx::Op::Ldmatrix
                         : text.starts_with("stmatrix")  ? ptx::Op::Stmatrix
                         : text.starts_with("wmma.load") ? ptx::Op::WmmaLoad
                                                         : ptx::Op::WmmaStore;
        std::istringstream words(text.substr(text.find('.') + 1));
        for (std::string word; std::getline(words, word, '.');) instruction.suffixes.push_back(word);
        const bool wmma = text.starts_with("wmma");
        ASSERT_EQ(ptx::read_matrix_suffixes(instruction, wmma ? 1 : 0), "") << line;
        ASSERT_EQ(numbers.size(), wmma ? 1u : 32u) << line;
        const bool stores = instruction.op == ptx::Op::Stmatrix || instruction.op == ptx::Op::WmmaStore;
        BankCost cost;
        for (const ptx::MatrixRequest& request : ptx::requests_of(instruction)) {
            std::array<uint64_t, 32> address{};
            for (size_t lane = 0; lane < 32; ++lane) {
                const ptx::MatrixPlace& place = request.place[lane];
                const bool rows = ptx::by_rows(instruction);
                const uint64_t along = rows ? place.row : place.column,
                               beside = rows ? place.column : place.row;
                address[lane] =
                    !wmma ? 16 * numbers[lane]
                          : (along * numbers[0] + beside) *
                                ptx::bits_of(
                                    ptx::matrix_form(instruction)->type(ptx::matrix_role(instruction))) /
                                8;
            }
            const BankCost one =
                bank_cost(address.data(), request.lanes, request.bytes, stores || request.matrices != 0);
            cost.wavefronts += one.wavefronts, cost.ideal_wavefronts += one.ideal_wavefronts;
        }
        EXPECT_EQ(cost.wavefronts, wavefronts) << line;
        EXPECT_EQ(cost.conflicts(), conflicts) << line;
        ++patterns;
    }
    EXPECT_EQ(patterns, 1088);
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
