// Timings as JSON: there and back, and every way in which a file can be damaged.
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/timings.h"
#include "tests/file_text.h"

namespace tilescope::kernels {
namespace {

using nlohmann::json;

Timings example() {
    Timings timings;
    timings.device = "NVIDIA \"H200\"";
    timings.driver = "580.159.04";
    timings.cuda = "13.0";
    timings.date = "2026-11-21T04:00:00Z";
    timings.command = "tilescope time tiled --json";
    timings.tool_version = "0.1.0";
    timings.roofs = {4012.5, 61234, 4917.5, 66908};
    timings.rows.push_back(
        {"tiled", 1024, 512, 256, 16, true, 20, 0.25, 0.24, 0.375, 1073.74, 8, 2.5, 64, 38, 2048});
    timings.rows.push_back(
        {"cublas", 1024, 512, 256, 0, true, 20, 0.0625, 0.0625, 0.0625, 4294.97, 0, 0, 0, 0, 0});
    return timings;
}

TEST(TimingsJson, ThereAndBackIsTheSame) {
    const Timings timings = example();
    const std::string text = to_json(timings);
    const auto back = timings_from_json(text, "example.json");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), text);
    EXPECT_EQ(back->device, timings.device);
    EXPECT_EQ(back->driver, timings.driver);
    EXPECT_EQ(back->cuda, timings.cuda);
    EXPECT_EQ(back->date, timings.date);
    EXPECT_EQ(back->command, timings.command);
    EXPECT_EQ(back->tool_version, timings.tool_version);
    EXPECT_EQ(back->roofs.copy_gbs, 4012.5);
    EXPECT_EQ(back->roofs.fp32_gflops, 61234);
    EXPECT_EQ(back->roofs.stated_gbs, 4917.5);
    EXPECT_EQ(back->roofs.stated_gflops, 66908);
    ASSERT_EQ(back->rows.size(), 2u);
    const Timing &row = back->rows[0], &given = timings.rows[0];
    EXPECT_EQ(std::tie(row.kernel, row.m, row.k, row.n, row.tile, row.verified, row.runs),
              std::tie(given.kernel, given.m, given.k, given.n, given.tile, given.verified, given.runs));
    EXPECT_EQ(
        std::tie(row.median_ms, row.low_ms, row.high_ms, row.gflops, row.requested_gbs, row.recorded_ms),
        std::tie(given.median_ms, given.low_ms, given.high_ms, given.gflops, given.requested_gbs,
                 given.recorded_ms));
    EXPECT_EQ(std::tie(row.recorded_blocks, row.registers, row.shared_bytes),
              std::tie(given.recorded_blocks, given.registers, given.shared_bytes));
    EXPECT_EQ(back->rows[1].kernel, "cublas");
}

TEST(TimingsJson, IsJsonWithARowALine) {
    const std::string text = to_json(example());
    const json root = json::parse(text, nullptr, false);
    ASSERT_TRUE(root.is_object());
    EXPECT_EQ(root["schema"], "tilescope.timings/1");
    EXPECT_EQ(root["rows"].size(), 2u);
    std::istringstream lines(text);
    size_t rows = 0;
    for (std::string line; std::getline(lines, line);) rows += line.find("\"kernel\"") != std::string::npos;
    EXPECT_EQ(rows, 2u);
    EXPECT_TRUE(json::parse(to_json(Timings{}), nullptr, false).is_object());
}

void expect_refused(const json& root, const std::string& says) {
    const auto read = timings_from_json(root.dump(), "damaged.json");
    ASSERT_FALSE(read) << says;
    EXPECT_NE(read.error().message.find("damaged.json"), std::string::npos) << read.error().message;
    EXPECT_NE(read.error().message.find(says), std::string::npos) << read.error().message;
}

// Each field missing, of another type, negative: named in the error.
TEST(TimingsJson, EveryFieldIsChecked) {
    const json good = json::parse(to_json(example()));
    const auto damage = [&](const json::json_pointer& object) {
        for (const auto& [key, value] : good[object].items()) {
            json bad = good;
            bad[object].erase(key);
            expect_refused(bad, key);
            for (const json& wrong : {json(nullptr), json::array({1}), json(-1), json(1e300), json("\n")}) {
                if (wrong.type() == value.type() && value.is_string()) continue;
                if (wrong == json(1e300) && value.is_number() && !value.is_number_unsigned()) continue;
                bad = good;
                bad[object][key] = wrong;
                const auto read = timings_from_json(bad.dump(), "damaged.json");
                // A real field may hold 1e300; where it breaks the order of the percentiles it is refused.
                if (wrong == json(1e300) && read) continue;
                ASSERT_FALSE(read) << key << " = " << wrong;
            }
        }
    };
    damage(json::json_pointer(""));
    damage(json::json_pointer("/roofs"));
    damage(json::json_pointer("/rows/0"));
    damage(json::json_pointer("/rows/1"));
}

TEST(TimingsJson, RowsMustMakeSense) {
    const json good = json::parse(to_json(example()));
    const auto with = [&](const char* key, const json& value) {
        json bad = good;
        bad["rows"][1][key] = value;
        return bad;
    };
    expect_refused(with("kernel", ""), "row 2");
    expect_refused(with("m", 0), "'m'");
    expect_refused(with("k", 0), "'k'");
    expect_refused(with("n", 0), "'n'");
    expect_refused(with("n", 4294967296), "'n'");
    expect_refused(with("tile", 33), "'tile'");
    expect_refused(with("runs", 0), "'runs'");
    expect_refused(with("median_ms", 0), "'median_ms'");
    expect_refused(with("low_ms", 1), "'low_ms'");
    expect_refused(with("high_ms", 0.01), "'high_ms'");
}

TEST(TimingsJson, OtherFilesAreRefused) {
    for (const char* text :
         {"", "no", "[]", "{}", "{\"schema\": \"tilescope.kernels/1\"}", "{\"schema\": 1}"}) {
        const auto read = timings_from_json(text, "other.json");
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find("tilescope time --json"), std::string::npos)
            << read.error().message;
    }
    const std::string text = to_json(example());
    for (size_t length = 0; length + 2 < text.size(); length += 7)
        EXPECT_FALSE(timings_from_json(text.substr(0, length), "cut.json")) << length;
}

TEST(FindTiming, ByKernelShapeAndTile) {
    const Timings timings = example();
    EXPECT_EQ(find_timing(timings, "tiled", 1024, 512, 256, 16), &timings.rows[0]);
    EXPECT_EQ(find_timing(timings, "cublas", 1024, 512, 256, 0), &timings.rows[1]);
    EXPECT_EQ(find_timing(timings, "tiled", 1024, 512, 256, 32), nullptr);
    EXPECT_EQ(find_timing(timings, "tiled", 512, 1024, 256, 16), nullptr);
    EXPECT_EQ(find_timing(timings, "untiled", 1024, 512, 256, 16), nullptr);
}

// Whatever ships is whole and built in; its rows are what the program times.
TEST(ShippedTimings, AreAllBuiltIn) {
    const std::filesystem::path folder = std::filesystem::path(TILESCOPE_SOURCE_DIR) / "assets/timings";
    size_t files = 0;
    if (std::filesystem::is_directory(folder)) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".json") continue;
            ++files;
            const auto read = timings_from_json(file_text(entry.path()), entry.path().string());
            EXPECT_TRUE(read) << read.error().message;
        }
    }
    EXPECT_EQ(shipped_timings().size(), files);
    for (const Timings& timings : shipped_timings()) {
        EXPECT_FALSE(timings.device.empty() || timings.driver.empty() || timings.date.empty() ||
                     timings.command.empty());
        for (const Timing& row : timings.rows) {
            EXPECT_TRUE(is_library(row.kernel) || find(row.kernel)) << row.kernel;
            EXPECT_TRUE(row.verified || made_wrong(row.kernel)) << row.kernel << " " << row.n;
            EXPECT_GE(row.runs, 20u);
            const double flops = 2.0 * row.m * row.k * row.n;
            EXPECT_NEAR(row.gflops, flops / (row.median_ms * 1e6), row.gflops * 1e-4) << row.kernel << row.n;
        }
    }
}

TEST(Timings, SayTheDaysOfTheirRuns) {
    Timings timings;
    EXPECT_EQ(days_of(timings), "");
    timings.date = "2026-11-21T05:04:18Z";
    EXPECT_EQ(days_of(timings), "2026-11-21");
    timings.date += " to 2026-11-22T08:55:48Z";
    EXPECT_EQ(days_of(timings), "2026-11-21 to 2026-11-22");
}

}  // namespace
}  // namespace tilescope::kernels
