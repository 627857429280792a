// record, report and table, through the program.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/textbook/catalogue.h"
#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

TEST(CliKernels, PrintsALineForEachKernel) {
    const Ran ran = tilescope({"kernels"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(static_cast<size_t>(std::count(ran.out.begin(), ran.out.end(), '\n')),
              kernels::catalogue().size());
    for (const kernels::KernelInfo& info : kernels::catalogue())
        EXPECT_NE(ran.out.find(info.teaches), std::string::npos) << info.name;
}

TEST(CliKernels, PrintsJson) {
    const json all = json::parse(tilescope({"kernels", "--json"}).out);
    EXPECT_EQ(all["schema"], "tilescope.kernels/1");
    ASSERT_EQ(all["kernels"].size(), kernels::catalogue().size());
    EXPECT_EQ(all["kernels"][2]["name"], "tiled");
    EXPECT_EQ(all["kernels"][2]["tiles"], json({2, 4, 8, 16, 32}));
    EXPECT_EQ(all["presets"].size(), 4u);
    for (const json& kernel : all["kernels"])
        EXPECT_TRUE(std::filesystem::exists(std::string(TILESCOPE_SOURCE_DIR "/") +
                                            kernel["source"].get<std::string>()))
            << kernel["source"];
}

TEST(CliRecord, SaysWhatItMadeInOneLine) {
    const Ran ran = tilescope({"record", "tiled", "--tile", "2", "--m", "4", "--k", "4", "--n", "4"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    const auto bytes = std::filesystem::file_size(folder() / "tiled-4x4x4-t2.tsc");
    // A block of one warp, two phases: 2 loads, 2 stores, a barrier, 2 x 2 loads, a barrier; then P.
    EXPECT_EQ(ran.out, "tiled-4x4x4-t2.tsc: 68 requests and 16 barriers in 4 blocks, result verified; " +
                           std::to_string(bytes) + " bytes; recorded on the CPU, in lockstep\n");
}

TEST(CliRecord, ReportHasTheSumsOfTheClosedForms) {
    const std::string path = in_folder("a.tsc");
    ASSERT_EQ(tilescope({"record", "tiled", "--m", "64", "--k", "64", "--n", "64", "-o", path}).status, 0);
    const Ran ran = tilescope({"report", path, "--json"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json report = json::parse(ran.out);
    EXPECT_EQ(report["schema"], "tilescope.report/1");
    EXPECT_EQ(report["kernel"], "tiled");
    EXPECT_EQ(report["backend"], "cpu");
    EXPECT_EQ(report["complete"], true);
    EXPECT_EQ(report["dropped"], 0);
    EXPECT_EQ(report["phases"], 4);
    EXPECT_EQ(report["barriers_per_block"], 8);
    EXPECT_EQ(report["blocks"], json({{"recorded", 16}, {"total", 16}}));
    // 16 blocks x 4 phases x 8 warps x 2 arrays; a warp of 2 rows of 16 floats needs 2 x 2 sectors.
    EXPECT_EQ(report["totals"]["global_load"]["requests"], 1024);
    EXPECT_EQ(report["totals"]["global_load"]["sectors"], 4096);
    EXPECT_EQ(report["totals"]["global_load"]["ideal_sectors"], 4096);
    EXPECT_EQ(report["reuse"]["M"], json({{"elements", 4096}, {"loads", 16384}, {"min", 4}, {"max", 4}}));
    EXPECT_EQ(report["result"]["verified"], true);
    const Ran text = tilescope({"report", path});
    EXPECT_EQ(text.status, 0);
    EXPECT_NE(text.out.find("tiled"), std::string::npos);
    EXPECT_EQ(report["totals"]["global_load"]["efficiency"], 1.0);
    EXPECT_EQ(report["idle_lanes"]["lanes"], 0);
    EXPECT_NE(text.out.find("efficiency"), std::string::npos);
    EXPECT_NE(text.out.find("idle lanes: 0 of "), std::string::npos);
}

TEST(CliRecord, FaultyKernelsAreNotVerified) {
    const std::string path = in_folder("a.tsc");
    Ran ran = tilescope({"record", "tiled_no_barrier", "-o", path});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("result WRONG in "), std::string::npos) << ran.out;
    EXPECT_EQ(json::parse(tilescope({"report", path, "--json"}).out)["result"]["verified"], false);
    ran = tilescope({"record", "tiled_stale_edge", "--m", "100", "--k", "70", "--n", "130", "-o", path});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("result WRONG in "), std::string::npos) << ran.out;
}

TEST(CliRecord, RecordsAWindowOfBlocks) {
    const std::string path = in_folder("a.tsc");
    const Ran ran = tilescope({"record", "untiled", "--block", "8x8", "--blocks", "1:3,2:99", "-o", path});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json report = json::parse(tilescope({"report", path, "--json"}).out);
    EXPECT_EQ(report["blocks"], json({{"recorded", 12}, {"total", 64}}));
    EXPECT_EQ(report["launch"]["block"], json({8, 8, 1}));
    EXPECT_EQ(tilescope({"table", path, "--block", "2,7"}).status, 0);
    const Ran outside = tilescope({"table", path, "--block", "0,0"});
    EXPECT_EQ(outside.status, 2);
    expect_one_sentence(outside.err);
}

TEST(CliRecord, TakesTheSamePtxFromAFile) {
    const std::string ptx = std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/tiled.t2.ptx";
    const Ran ran =
        tilescope({"record", "tiled", "--tile", "2", "--m", "4", "--k", "4", "--n", "4", "--ptx", ptx});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("68 requests"), std::string::npos) << ran.out;
}

TEST(CliRecord, TheSameLaunchGivesTheSameReportOnAnyNumberOfThreads) {
    for (const char* schedule : {"fair", "greedy", "7"}) {
        std::string reports[2];
        for (int i : {0, 1}) {
            const std::string path = in_folder(std::to_string(i) + ".tsc");
            ASSERT_EQ(
                tilescope({"record", "tiled", "--schedule", schedule, "--threads", i ? "3" : "1", "-o", path})
                    .status,
                0);
            reports[i] = tilescope({"report", path, "--json"}).out;
        }
        EXPECT_EQ(reports[0], reports[1]) << schedule;
    }
}

TEST(CliTable, TiledHasTheLecturesEntries) {
    const Ran ran = tilescope({"table", lecture_recording(), "--block", "0,0", "--format", "csv"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (const char* entry : {"M[0,0] -> Mds[0,0]",
                              "N[0,0] -> Nds[0,0]",
                              "M[0,1] -> Mds[0,1]",
                              "N[0,1] -> Nds[0,1]",
                              "M[1,0] -> Mds[1,0]",
                              "N[1,0] -> Nds[1,0]",
                              "M[1,1] -> Mds[1,1]",
                              "N[1,1] -> Nds[1,1]",
                              "M[0,2] -> Mds[0,0]",
                              "N[2,0] -> Nds[0,0]",
                              "M[0,3] -> Mds[0,1]",
                              "N[2,1] -> Nds[0,1]",
                              "M[1,2] -> Mds[1,0]",
                              "N[3,0] -> Nds[1,0]",
                              "M[1,3] -> Mds[1,1]",
                              "N[3,1] -> Nds[1,1]",
                              "P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]",
                              "P[0,1] += Mds[0,0]*Nds[0,1] + Mds[0,1]*Nds[1,1]",
                              "P[1,0] += Mds[1,0]*Nds[0,0] + Mds[1,1]*Nds[1,0]",
                              "P[1,1] += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]"})
        EXPECT_NE(ran.out.find(entry), std::string::npos) << entry << "\n" << ran.out;
}

TEST(CliTable, UntiledHasTheLecturesEntries) {
    const std::string path = in_folder("u.tsc");
    ASSERT_EQ(
        tilescope({"record", "untiled", "--block", "2x2", "--m", "4", "--k", "4", "--n", "4", "-o", path})
            .status,
        0);
    const Ran ran = tilescope({"table", path});
    ASSERT_EQ(ran.status, 0) << ran.err;
    for (int y : {0, 1}) {
        for (int x : {0, 1}) {
            for (int p = 0; p < 4; ++p) {
                auto at = [](const char* array, int row, int col) {
                    return std::string(array) + "[" + std::to_string(row) + "," + std::to_string(col) + "]";
                };
                const std::string entry = at("P", y, x) + " += " + at("M", y, p) + "*" + at("N", p, x);
                EXPECT_NE(ran.out.find(entry), std::string::npos) << entry << "\n" << ran.out;
            }
        }
    }
}

TEST(CliTable, PrintsEveryFormat) {
    const std::string path = lecture_recording();
    EXPECT_NE(tilescope({"table", path}).out.find("P[1,1] += "), std::string::npos);
    EXPECT_NE(tilescope({"table", path, "--format", "md"}).out.find("|---"), std::string::npos);
    EXPECT_NE(tilescope({"table", path, "--format", "csv"}).out.find(','), std::string::npos);
}

}  // namespace
}  // namespace tilescope::cli_test
