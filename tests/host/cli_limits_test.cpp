// The lectures' figures from the command line: what limits an SM, the roofs, the phase tables.
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/trace/file.h"
#include "tests/host/cli_program.h"
#include "tests/launch_examples.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

json printed(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Ran ran = tilescope(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false);
}

double figure(const json& all, const std::string& key) {
    for (const json& f : all["figures"])
        if (f["key"] == key) return f["value"].get<double>();
    ADD_FAILURE() << "no figure " << key;
    return std::nan("");
}

// blocks and threads on an SM, by the lecture's sum
std::pair<int, int> lecture(const json& all, size_t block) {
    const json& o = all["blocks"][block]["lecture"];
    return {o["blocks"].get<int>(), o["threads"].get<int>()};
}

using Pair = std::pair<int, int>;

TEST(CliLimits, TheLecturesCases) {
    const json slots = printed({"limits", "slots"});
    EXPECT_EQ(slots["schema"], "tilescope.limits/1");
    EXPECT_EQ(lecture(slots, 0), (Pair{8, 1024}));
    EXPECT_EQ(figure(slots, "blocks_that_fill_the_threads"), 12);
    const json four = printed({"limits", "four-slots"});
    EXPECT_EQ(lecture(four, 0), (Pair{4, 512}));
    EXPECT_EQ(lecture(four, 1), (Pair{4, 1024}));
    EXPECT_EQ(lecture(four, 2), (Pair{3, 1536}));
    EXPECT_EQ(lecture(four, 3), (Pair{1, 1024}));
    EXPECT_EQ(figure(four, "best_threads_a_block"), 512);
    const json cliff = printed({"limits", "cliff"});
    EXPECT_EQ(lecture(cliff, 0), (Pair{6, 1536}));
    EXPECT_EQ(lecture(cliff, 1), (Pair{5, 1280}));
    EXPECT_EQ(cliff["blocks"][0]["lecture"]["registers_per_block"], 2560);
    EXPECT_EQ(cliff["blocks"][1]["lecture"]["registers_per_block"], 3072);
    EXPECT_DOUBLE_EQ(figure(cliff, "threads_lost"), 1.0 / 6);
    const json g80 = printed({"limits", "g80-registers"});
    EXPECT_EQ(figure(g80, "registers_a_thread_at_most"), 10);
    EXPECT_EQ(lecture(g80, 0), (Pair{3, 768}));
    EXPECT_EQ(lecture(g80, 1), (Pair{2, 512}));
    EXPECT_DOUBLE_EQ(figure(g80, "threads_lost"), 1.0 / 3);
    const json shared = printed({"limits", "g80-shared"});
    EXPECT_EQ(figure(shared, "shared_a_block_at_most"), 2048);
    EXPECT_EQ(lecture(shared, 1).first, 3);
    const json gt200 = printed({"limits", "gt200-blocks"});
    EXPECT_EQ(lecture(gt200, 0).second, 512);
    EXPECT_EQ(lecture(gt200, 1).second, 1024);
    EXPECT_NE(gt200["blocks"][2]["lecture"]["refused"].get<std::string>().find("does not launch"),
              std::string::npos);
}

TEST(CliLimits, TheLecturesOtherSums) {
    const json grid = printed({"limits", "gtx580-grid"});
    EXPECT_EQ(figure(grid, "registers_a_block"), 4800);
    EXPECT_EQ(figure(grid, "blocks"), 60);
    EXPECT_EQ(figure(grid, "sms_with_most"), 12);
    EXPECT_EQ(figure(grid, "most_blocks"), 4);
    EXPECT_EQ(figure(grid, "sms_with_least"), 4);
    EXPECT_EQ(figure(grid, "least_blocks"), 3);
    EXPECT_EQ(figure(grid, "warps_a_block"), 4);
    EXPECT_EQ(figure(grid, "threads_of_last_warp"), 4);
    EXPECT_EQ(grid["blocks"][0]["hardware"]["registers_per_block"], 6144);
    const json vector = printed({"limits", "vector"});
    EXPECT_EQ(figure(vector, "threads"), 2048);
    EXPECT_EQ(figure(vector, "diverging_warps"), 1);
    EXPECT_EQ(figure(printed({"limits", "latency"}), "warps_that_hide"), 13);
    const json two = printed({"limits", "gk107-gm107"});
    EXPECT_EQ(figure(two, "gk107_shared_per_sm"), 48);
    EXPECT_EQ(figure(two, "gm107_shared_per_sm"), 64);
    EXPECT_EQ(figure(two, "gk107_blocks_per_sm"), 16);
    EXPECT_EQ(figure(two, "gm107_blocks_per_sm"), 32);
    EXPECT_EQ(figure(two, "gk107_memory_gbs"), 80);
    EXPECT_EQ(figure(two, "gm107_memory_gbs"), 86.4);
    EXPECT_EQ(figure(two, "gk107_peak_gflops"), 812.5);
    EXPECT_EQ(figure(two, "gm107_peak_gflops"), 1305.6);
}

TEST(CliLimits, AnOwnBlockOnAnyDevice) {
    const json own = printed({"limits", "--device", "8.6", "--threads", "100", "--registers", "33",
                              "--shared", "5000", "--curves"});
    EXPECT_EQ(own["device"]["id"], "rtx-3090");
    EXPECT_EQ(own["blocks"][0]["lecture"]["blocks"], 15);
    EXPECT_EQ(own["blocks"][0]["hardware"]["blocks"], 12);
    EXPECT_EQ(own["blocks"][0]["curves"]["threads"].size(), 32u);
    const Ran text = tilescope({"limits", "cliff"});
    EXPECT_NE(text.out.find("changed by the case to 1,536 thread slots in place of 1,024"), std::string::npos)
        << text.out;
    EXPECT_EQ(printed({"limits", "cliff"})["device"]["changed"], "1,536 thread slots in place of 1,024");
    EXPECT_EQ(printed({"limits", "four-slots"})["device"]["changed"], "4 block slots in place of 8");
    EXPECT_EQ(tilescope({"limits", "slots"}).out.find("changed"), std::string::npos);
    EXPECT_NE(text.out.find("the lecture's sum"), std::string::npos);
    EXPECT_NE(text.out.find("the hardware's"), std::string::npos);
    const json list = printed({"limits", "--list"});
    EXPECT_EQ(list["cases"].size(), 10u);
    EXPECT_GT(list["devices"].size(), 25u);
}

// The sentence that the window shows.
TEST(CliLimits, AnAnswerAndItsReason) {
    const std::string answer =
        "6 blocks × 256 threads × 12 registers = 18,432, more than the SM's 16,384: 5 blocks fit, 1,280 "
        "threads";
    EXPECT_NE(tilescope({"limits", "cliff"}).out.find(answer), std::string::npos);
    const json cliff = printed({"limits", "cliff"});
    EXPECT_TRUE(cliff["blocks"][1]["answer"].get<std::string>().starts_with(answer)) << cliff["blocks"][1];
    // Blocks that are compared have one answer, which is printed once.
    const std::string text = tilescope({"limits", "gt200-blocks"}).out;
    const size_t at = text.find("Best: 16 × 16.");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.find("Best: 16 × 16.", at + 1), std::string::npos) << text;
    const Ran own = tilescope({"limits", "--device", "g80", "--threads", "256", "--registers", "11"});
    EXPECT_NE(
        own.out.find("3 blocks × 256 threads × 11 registers = 8,448, more than the SM's 8,192: 2 blocks fit"),
        std::string::npos)
        << own.out;
}

TEST(CliLimits, RefusesInOneSentence) {
    expect_refused(2, {"limits", "cliffs"}, "--list");
    expect_refused(2, {"limits", "--device", "voodoo"}, "'voodoo'");
    expect_refused(2, {"limits", "cliff", "--threads", "64"}, "own device and blocks");
    expect_refused(2, {"limits", "--threads", "many"}, "many");
}

TEST(CliRoofline, TheLecturesCases) {
    const json all = printed({"roofline"});
    EXPECT_EQ(all["schema"], "tilescope.roofline/1");
    const auto row = [&](const std::string& id) {
        for (const json& r : all["rows"])
            if (r["id"] == id) return r;
        ADD_FAILURE() << "no row " << id;
        return json();
    };
    const auto near = [](const json& value, double wanted) {
        EXPECT_NEAR(value.get<double>(), wanted, wanted * 1e-12);
    };
    for (const json& r : all["rows"]) EXPECT_EQ(r["kind"], "bound");
    near(row("gbs-200")["goperands_per_second"], 50);
    near(row("gbs-200")["gflops"], 50);
    near(row("gbs-200")["cgma"], 1);
    near(row("gbs-200")["flop_per_byte"], 0.25);
    near(row("g80")["goperands_per_second"], 21.6);
    near(row("g80-tiled-16")["gflops"], 345.6);
    near(row("gbs-150-tiled-16")["gflops"], 600);
    EXPECT_TRUE(row("gbs-150-tiled-16")["peak_gflops"].is_null()) << "the lecture gives it no peak";
    EXPECT_TRUE(row("gbs-150-tiled-16")["share_of_peak"].is_null());
    near(row("gbs-200")["peak_gflops"], 1500);
    near(row("g80")["gflops"], 21.6);
    near(row("g80")["peak_gflops"], 367);
    near(row("gbs-1000")["gflops"], 250);
    EXPECT_NEAR(row("gbs-1000")["share_of_peak"].get<double>(), 0.0208, 5e-5);
    near(row("rtx-3090")["gflops"], 234.05);
    EXPECT_NEAR(row("rtx-3090")["share_of_peak"].get<double>(), 0.00658, 5e-6);
    near(row("rtx-3090-tiled-32")["flop_per_byte"], 8);
    near(row("rtx-3090-tiled-32")["gflops"], 7489.6);
    EXPECT_NEAR(row("rtx-3090-tiled-32")["share_of_peak"].get<double>(), 0.2105, 5e-5);
    EXPECT_EQ(row("rtx-3090-tiled-32")["tile_shared_bytes"], 8192);
}

TEST(CliRoofline, ARecordingStandsAtItsRequestedBytes) {
    const json all = printed({"roofline", "untiled-64x64x64-t16", "tiled-64x64x64-t16", "--device", "g80"});
    ASSERT_EQ(all["rows"].size(), 2u);
    EXPECT_EQ(all["rows"][0]["flop_per_byte"], 0.25);
    EXPECT_EQ(all["rows"][1]["flop_per_byte"], 4.0);
    EXPECT_EQ(all["rows"][1]["kind"], "bound");
}

TEST(CliRoofline, AMeasuredTimeSaysSoAndWhoseKernelItWas) {
    const json all = printed({"roofline", "untiled", "--device", "h200"});
    size_t measured = 0;
    std::set<std::string> ids;
    for (const json& r : all["rows"]) {
        EXPECT_TRUE(ids.insert(r["id"]).second) << r["id"];
        if (r["kind"] != "measured") continue;
        ++measured;
        EXPECT_NE(r["name"].get<std::string>().find("PTX by " + r["compiler"].get<std::string>()),
                  std::string::npos);
    }
    EXPECT_GT(measured, 0u);
    const json bounds = printed({"roofline", "untiled", "--device", "g80"});
    for (const json& r : bounds["rows"]) EXPECT_EQ(r["kind"], "bound");
    expect_refused(1, {"roofline", "--device", "voodoo"}, "'voodoo'");
}

// A warp of the swapped kernel asks for a column of M: the bytes are as many as ever, the sectors are not.
TEST(CliRoofline, SectorsTellAScatteredKernelApart) {
    const auto row = [](const json& all, const std::string& id) {
        for (const json& r : all["rows"])
            if (r["id"] == id) return r;
        ADD_FAILURE() << "no row " << id;
        return json();
    };
    const json all =
        printed({"roofline", "untiled", "untiled_swapped", "tiled", "tiled_swapped", "--device", "rtx-3090"});
    for (const char* id : {"untiled-t32", "untiled_swapped-t32"})
        EXPECT_EQ(row(all, id)["flop_per_byte"], 0.25) << "by bytes both are the same";
    // 32 lanes, 2 operations each: a row of N is 4 sectors and an element of M one; the other way a sector a
    // lane and one.
    EXPECT_DOUBLE_EQ(row(all, "untiled-t32")["flop_per_byte_of_sectors"], 64.0 / (5 * 32));
    EXPECT_DOUBLE_EQ(row(all, "untiled_swapped-t32")["flop_per_byte_of_sectors"], 64.0 / (33 * 32));
    EXPECT_DOUBLE_EQ(row(all, "untiled_swapped-t32")["gflops_of_sectors"], 936.2 * 64 / (33 * 32));
    EXPECT_DOUBLE_EQ(row(all, "tiled-t32")["flop_per_byte_of_sectors"], 8);
    EXPECT_DOUBLE_EQ(row(all, "tiled_swapped-t32")["flop_per_byte_of_sectors"], 1);
    EXPECT_NE(tilescope({"roofline", "untiled_swapped"}).out.find("By sectors"), std::string::npos);
    EXPECT_EQ(tilescope({"roofline"}).out.find("By sectors"), std::string::npos) << "nothing was recorded";
}

// T x T tiles: T / 4 FLOP/B, 2 T T 4 bytes of shared memory, and no more threads than a block may have.
TEST(CliRoofline, TilesOfADevice) {
    const json h200 = printed({"roofline", "--device", "h200"}),
               g80 = printed({"roofline", "--device", "g80"});
    ASSERT_EQ(h200["rows"].size(), 6u) << "1 to 32: 1,024 threads a block";
    EXPECT_EQ(g80["rows"].size(), 5u) << "1 to 16: 512 threads a block";
    for (const json& row : h200["rows"]) {
        const int t = row["tile"];
        EXPECT_EQ(row["flop_per_byte"], t / 4.0);
        EXPECT_EQ(row["tile_shared_bytes"], t == 1 ? 0 : 2 * t * t * 4);
    }
    EXPECT_EQ(h200["rows"][5]["tile_shared_bytes"], 8192);
}

// What a measured kernel loads for an operation is what its bound says that it loads, and a device has one
// bandwidth in every command.
TEST(CliRoofline, OneThingHasOneNumber) {
    std::map<int, std::set<std::string>> tiled;  // FLOP/B by tile width
    const json points = printed({"roofline", "tiled", "--device", "h200"});
    for (const json& row : points["rows"])
        tiled[row["tile"]].insert(std::to_string(std::lround(row["flop_per_byte"].get<double>() * 1000)));
    for (const auto& [tile, numbers] : tiled) EXPECT_EQ(numbers.size(), 1u) << "T = " << tile;
    const json stated = printed({"roofline", "--device", "h200"})["rows"][0]["memory_gbs"];
    EXPECT_EQ(printed({"limits", "--device", "h200"})["device"]["memory_gbs"], stated);
    EXPECT_EQ(printed({"time", "tiled"})["roofs"]["stated_gbs"], stated);
}

TEST(CliRoofline, ALaunchThatIsNoProductHasNoTiles) {
    const std::string file = in_folder("stencil.tsc");
    ASSERT_TRUE(trace::write_file(kernels::recorded(kernels::stencil()), file));
    const std::string text = tilescope({"roofline", file}).out;
    EXPECT_NE(text.find("stencil"), std::string::npos) << text;
    for (const char* word : {"tile", "T =", "T="}) EXPECT_EQ(text.find(word), std::string::npos) << text;
    const json row = printed({"roofline", file})["rows"][0];
    for (const char* key : {"tile", "m", "k", "n"}) EXPECT_FALSE(row.contains(key)) << row;
    EXPECT_GT(row["flop_per_byte"], 0);
}

TEST(CliTable, InTheNotationOfOtherTexts) {
    const std::string file = lecture_recording();
    const std::string text = tilescope({"table", file, "--notation", "ABC", "--column-first"}).out;
    // Thread x = 1, y = 0 loads the element of column 1, row 0.
    EXPECT_NE(text.find("[1,0]   A[1,0] -> As[1,0], B[1,0] -> Bs[1,0]"), std::string::npos) << text;
    EXPECT_NE(text.find("C[1,0] += As[0,0]*Bs[1,0] + As[1,0]*Bs[1,1]"), std::string::npos) << text;
    const std::string md = tilescope({"table", file, "--notation", "MdNdPd"}).out;
    EXPECT_NE(md.find("Md[0,1] -> Mds[0,1]"), std::string::npos) << md;
    expect_refused(2, {"table", file, "--notation", "XYZ"}, "MNP, ABC or MdNdPd");
}

}  // namespace
}  // namespace tilescope::cli_test
