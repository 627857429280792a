// tilescope levels: its JSON, what it says of kernels and recordings, and what it refuses.
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

json printed_levels(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "levels");
    arguments.push_back("--json");
    const Ran ran = tilescope(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out, nullptr, false);
}

std::set<std::string> keys(const json& object) {
    std::set<std::string> names;
    for (const auto& [key, value] : object.items()) names.insert(key);
    return names;
}

TEST(CliLevels, Json) {
    const json all = printed_levels({"tiled", "--n", "256"});
    EXPECT_EQ(all["schema"], "tilescope.levels/1");
    EXPECT_EQ(keys(all), (std::set<std::string>{"schema", "version", "device", "launch", "modelled",
                                                "measured", "bounds", "bound_by", "measured_ms"}));
    EXPECT_EQ(keys(all["modelled"]), (std::set<std::string>{"requested_bytes", "l1_sectors", "l1_hit_rate",
                                                            "l2_read_sectors", "dram_read_bytes"}));
    EXPECT_EQ(all["launch"]["m"], 256);
    // 16 phases of a tile of M and one of N, 1 KiB each, for 256 blocks.
    EXPECT_EQ(all["modelled"]["requested_bytes"], 256 * 16 * 2048);
    EXPECT_EQ(all["modelled"]["l1_sectors"], 256 * 16 * 64);
    EXPECT_EQ(all["modelled"]["dram_read_bytes"], 2 * 256 * 256 * 4);
    std::set<std::string> resources;
    double longest = 0, bound = 0;
    for (const json& one : all["bounds"]) {
        resources.insert(one["resource"]);
        longest = std::max(longest, one["ms"].get<double>());
        if (one["resource"] == all["bound_by"]) bound = one["ms"];
    }
    EXPECT_EQ(resources,
              (std::set<std::string>{"dram", "l2", "data_pipe", "lsu", "issue", "fp32", "latency"}));
    EXPECT_DOUBLE_EQ(bound, longest);
    EXPECT_GT(all["measured_ms"], bound);
}

TEST(CliLevels, ARecordingIsReplayedAsItWasRecorded) {
    const json file = printed_levels({"tiled-64x64x64-t16"}), kernel = printed_levels({"tiled", "--n", "64"});
    EXPECT_EQ(file["launch"]["placement"], "recorded");
    EXPECT_EQ(kernel["launch"]["placement"], "dealt");
    for (const char* what : {"requested_bytes", "l1_sectors", "l1_hit_rate", "dram_read_bytes"})
        EXPECT_EQ(file["modelled"][what], kernel["modelled"][what]) << what;
}

TEST(CliLevels, AWindowStandsForItsLaunch) {
    const json file = printed_levels({"tiled-1024x1024x1024-t16-window"}), kernel = printed_levels({"tiled"});
    EXPECT_EQ(file["modelled"], kernel["modelled"]);
}

TEST(CliLevels, Text) {
    const Ran ran = tilescope({"levels", "untiled", "--n", "128"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    for (const char* said :
         {"untiled 128 × 128 × 128, T = 16, PTX by clang", "modelled", "bound by ", "H200"})
        EXPECT_NE(ran.out.find(said), std::string::npos) << ran.out;
}

TEST(CliLevels, Refuses) {
    expect_refused(2, {"levels", "tiled", "--device", "voodoo"}, "'voodoo'");
    expect_refused(2, {"levels", "tiled", "--device", "g80"}, "caches");
    expect_refused(2, {"levels", "tiled", "--tile", "7"}, "7");
    expect_refused(2, {"levels", "tiled", "--n", "0"}, "n");
    expect_refused(2, {"levels", "tiled", "--compiler", "icc"}, "'icc'");
    expect_refused(1, {"levels", "nothing.tsc"}, "nothing.tsc");
    expect_refused(2, {"levels", "tiled-64x64x64-t16", "--n", "128"}, "recording");
    expect_refused(2, {"levels", "tiled-64x64x64-t16", "--compiler", "nvrtc"}, "recording");
}

}  // namespace
}  // namespace tilescope::cli_test
