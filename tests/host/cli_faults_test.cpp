// Faults as `tilescope report` prints them, in words and as JSON: of the faulty kernels that ship, and of the
// sound tiled kernel whose PTX is spoilt in one place.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

struct Report {
    std::string text;
    json faults, result;
};

Report reported(std::vector<std::string> record) {
    const std::string path = in_folder("recording.tsc");
    record.insert(record.begin(), "record");
    for (const char* word : {"--backend", "cpu", "-o"}) record.emplace_back(word);
    record.push_back(path);
    const Ran recorded = tilescope(record);
    EXPECT_LE(recorded.status, 1) << recorded.err;  // 1: the kernel's own fault ended it
    const Ran text = tilescope({"report", path}), printed = tilescope({"report", path, "--json"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_EQ(printed.status, 0) << printed.err;
    const json all = json::parse(printed.out, nullptr, false);
    EXPECT_EQ(all.at("schema"), "tilescope.report/1");
    return {text.out, all.at("faults"), all.at("result")};
}

// The line of the kernel's source that holds `text`, counted from 1.
int line_with(const std::string& kernel, const std::string& text) {
    const std::string source =
        read(std::string(TILESCOPE_SOURCE_DIR) + "/kernels/textbook/" + kernel + ".cu");
    const size_t at = source.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    return static_cast<int>(std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(at), '\n')) +
           1;
}

std::vector<std::string> square(const std::string& kernel, int n, int tile) {
    const std::string side = std::to_string(n);
    return {kernel, "--m", side, "--k", side, "--n", side, "--tile", std::to_string(tile)};
}

// Every sentence of the JSON stands in the text, below its kind and its count.
void expect_text_tells(const Report& report) {
    EXPECT_NE(report.text.find("\nfaults\n"), std::string::npos) << report.text;
    for (const json& fault : report.faults)
        EXPECT_NE(report.text.find(fault.at("sentence").get<std::string>()), std::string::npos);
}

TEST(CliFaults, AMissingBarrierIsARaceOnBothTiles) {
    const int T = 16;
    const Report report = reported(square("tiled_no_barrier", 32, T));
    ASSERT_EQ(report.faults.size(), 2u) << report.text;
    const int reads = line_with("tiled_no_barrier", "sum += Mds[ty][i]");
    for (const int tile : {0, 1}) {
        const json& fault = report.faults[static_cast<size_t>(tile)];
        EXPECT_EQ(fault["kind"], "race");
        EXPECT_EQ(fault["array"], tile == 0 ? "Mds" : "Nds");
        EXPECT_EQ(fault["line"],
                  line_with("tiled_no_barrier", tile == 0 ? "Mds[ty][tx] = M[" : "Nds[ty][tx] = N["));
        EXPECT_EQ(fault["other_line"], reads);
        EXPECT_EQ(fault["count"], 4 * T * T) << "every cell, in the second of two phases, of four blocks";
        EXPECT_EQ(fault["same_warp"], tile == 0) << "a row of 16 is half a warp, a column is eight";
        for (const json& example : fault["examples"]) {
            const int row = example["cell"][0], col = example["cell"][1];
            EXPECT_EQ(example["a"]["thread"], json({col, row, 0})) << "who stores the next tile's element";
            EXPECT_EQ(example["a"]["op"], "store");
            EXPECT_EQ(example["b"]["op"], "load");
            EXPECT_EQ(example["b"]["thread"][tile == 0 ? 1 : 0], tile == 0 ? row : col)
                << "who still reads it";
            EXPECT_EQ(example["a"]["phase"], 1);
            EXPECT_EQ(example["b"]["phase"], 0);
        }
    }
    EXPECT_FALSE(report.result["verified"].get<bool>());
    expect_text_tells(report);
    // Rows of N's tile are of other warps: a load came too late, and both values are said.
    const std::string said = report.faults[1]["sentence"];
    EXPECT_NE(said.find(" overwrote Nds["), std::string::npos) << said;
    EXPECT_NE(said.find(" now reads phase 1's "), std::string::npos) << said;
    EXPECT_NE(said.find(" instead of phase 0's "), std::string::npos) << said;
    EXPECT_NE(report.faults[0]["sentence"].get<std::string>().find(": right by luck"), std::string::npos);
    EXPECT_NE(report.text.find("wrong elements of P: " + std::to_string(report.result["wrong"].get<int>())),
              std::string::npos);
}

TEST(CliFaults, AMissingZeroFillIsAStaleOrUninitialisedLoad) {
    const Report report =
        reported({"tiled_stale_edge", "--m", "20", "--k", "30", "--n", "20", "--tile", "8"});
    ASSERT_EQ(report.faults.size(), 4u) << report.text;
    // 20 is two tiles and a half: below it 4 rows (right of it 4 columns) of 3 blocks were never stored to,
    // in 4 phases. 30 is three tiles and 6: in the last phase 2 columns (rows) inside are left.
    const int reads = line_with("tiled_stale_edge", "sum +=");
    for (size_t i = 0; i < 4; ++i) {
        const json& fault = report.faults[i];
        const bool stale = i >= 2, m = i % 2 == 0;
        EXPECT_EQ(fault["kind"], stale ? "stale" : "uninitialised");
        EXPECT_EQ(fault["array"], m ? "Mds" : "Nds");
        EXPECT_EQ(fault["line"], reads);
        EXPECT_EQ(fault["count"], stale ? 3 * (8 + 8 + 4) * 2 : 3 * 4 * (4 * 8));
        for (const json& example : fault["examples"]) {
            const int row = example["cell"][0], col = example["cell"][1];
            if (stale) {
                EXPECT_GE(m ? col : row, 6);
                EXPECT_EQ(example["b"]["thread"], json({col, row, 0})) << "who stored what is left over";
                EXPECT_EQ(example["b"]["line"],
                          line_with("tiled_stale_edge", m ? "Mds[ty][tx] = M[" : "Nds[ty][tx] = N["));
                EXPECT_EQ(example["a"]["phase"], 3);
                EXPECT_EQ(example["b"]["phase"], 2);
            } else {
                EXPECT_GE(m ? row : col, 4);
            }
        }
    }
    EXPECT_GT(report.result["wrong"], 0);
    expect_text_tells(report);
}

TEST(CliFaults, SoundKernelsHaveNone) {
    for (const char* kernel :
         {"untiled", "untiled_swapped", "tiled", "tiled_swapped", "tiled_transposed", "tiled_padded"}) {
        const Report report = reported({kernel, "--m", "9", "--k", "11", "--n", "6", "--tile", "4"});
        EXPECT_EQ(report.faults, json::array()) << kernel;
        EXPECT_NE(report.text.find("faults: none found"), std::string::npos) << kernel << report.text;
    }
}

// The tiled kernel of T = 8 with one of its two barriers replaced: the first stands before the products.
std::string spoilt(int which, const std::string& by) {
    std::string ptx = read(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/tiled.t8.ptx");
    const std::string barrier = "bar.sync \t0;";
    size_t at = ptx.find(barrier);
    if (which == 1) at = ptx.find(barrier, at + 1);
    EXPECT_NE(at, std::string::npos);
    ptx.replace(at, barrier.size(), by);
    const std::string path = in_folder("spoilt.ptx");
    write(path, ptx);
    return path;
}

Report of_spoilt(int which, const std::string& by) {
    std::vector<std::string> words = square("tiled", 16, 8);
    words.insert(words.end(), {"--ptx", spoilt(which, by)});
    return reported(words);
}

TEST(CliFaults, WithoutTheFirstBarrierValuesAreReadBeforeTheyAreThere) {
    const Report report = of_spoilt(0, "");
    ASSERT_FALSE(report.faults.empty());
    for (const json& fault : report.faults) EXPECT_EQ(fault["kind"], "race") << fault;
    EXPECT_EQ(report.faults[0]["line"], line_with("tiled", "Mds[ty][tx] ="));
    expect_text_tells(report);
}

TEST(CliFaults, ASecondBarrierBehindAnotherIsRedundant) {
    const Report report = of_spoilt(0, "bar.sync 0;\n\t.loc 1 77 0\n\tbar.sync 0;");
    ASSERT_EQ(report.faults.size(), 2u) << "either of them, were it alone left out\n" << report.text;
    for (const json& fault : report.faults) EXPECT_EQ(fault["kind"], "redundant_barrier");
    EXPECT_EQ(report.faults[0]["line"], line_with("tiled", "__syncthreads"));
    EXPECT_EQ(report.faults[1]["line"], 77);
    // Four blocks pass each line in two phases; the last passage of each is not judged.
    EXPECT_EQ(report.faults[0]["of"], 4);
    EXPECT_NE(
        report.text.find(": 4 of the 4 passages judged in 4 blocks; the last passage of each block, 4 in "
                         "all, guards a next trip that did not come and is not judged"),
        std::string::npos)
        << report.text;
    EXPECT_TRUE(report.result["verified"].get<bool>());
    expect_text_tells(report);
}

TEST(CliFaults, ABarrierThatSomeThreadsJumpOverIsToldWithAThreadThatDoes) {
    const Report report = of_spoilt(1, R"ptx(mov.u32 %r0, %tid.y;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra OVER;
    bar.sync 0;
OVER:)ptx");
    ASSERT_FALSE(report.faults.empty()) << report.text;
    const auto it = std::find_if(report.faults.begin(), report.faults.end(),
                                 [](const json& fault) { return fault["kind"] == "barrier_divergence"; });
    ASSERT_NE(it, report.faults.end()) << report.text;
    EXPECT_NE(report.text.find("barrier that not all threads come to"), std::string::npos) << report.text;
    expect_text_tells(report);
}

// Lane 31 of each warp leaves at the end of the first phase: no warp hangs, yet CUDA forbids it.
TEST(CliFaults, AThreadThatLeavesBeforeABarrierIsTold) {
    const Report report = of_spoilt(1, R"ptx(mov.u32 %r0, %tid.y;
    and.b32 %r0, %r0, 3;
    setp.eq.u32 %p0, %r0, 3;
    mov.u32 %r0, %tid.x;
    @%p0 setp.eq.u32 %p0, %r0, 7;
    @%p0 ret;
    bar.sync 0;)ptx");
    const auto it = std::find_if(report.faults.begin(), report.faults.end(),
                                 [](const json& fault) { return fault["kind"] == "barrier_divergence"; });
    ASSERT_NE(it, report.faults.end()) << report.text;
    EXPECT_EQ((*it)["count"], 8) << "two of each block";
    EXPECT_EQ((*it)["blocks"], 4);
    const json& example = (*it)["examples"][0];
    EXPECT_EQ(example["b"]["thread"], json({7, 3, 0}));
    EXPECT_EQ(example["b"]["line"], line_with("tiled", "sum +=")) << "its last access";
    expect_text_tells(report);
}

}  // namespace
}  // namespace tilescope::cli_test
