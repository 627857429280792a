// The index of recordings and the files of counters: read, refused, and built in as they lie in assets/.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/trace/file.h"
#include "kernels/textbook/shipped.h"
#include "tests/file_text.h"
#include "tests/recorded.h"
#include "tests/same_accesses.h"

namespace tilescope::kernels {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json index_entry() {
    return {{"name", "tiled-4x4x4-t2"},
            {"label", "Tiled 4 × 4 × 4, T = 2, recorded on an NVIDIA H200"},
            {"kernel", "tiled"},
            {"m", 4},
            {"k", 4},
            {"n", 4},
            {"tile", 2},
            {"device", "NVIDIA H200"},
            {"driver", "580.159.04"},
            {"date", "2026-11-21"},
            {"command", "tilescope record tiled"}};
}
json index_of(const json& entry) { return {{"schema", "tilescope.recordings/1"}, {"recordings", {entry}}}; }
json counters_of(const json& row) {
    return {{"schema", "tilescope.counters/1"},
            {"device", "NVIDIA H200"},
            {"driver", "580.159.04"},
            {"tool", "ncu 2025.3"},
            {"date", "2026-11-21"},
            {"command", "counters.py"},
            {"rows", {row}}};
}
json counters_row() {
    return {{"kernel", "tiled"},
            {"m", 8},
            {"k", 9},
            {"n", 10},
            {"tile", 2},
            {"ptx", "nvcc"},
            {"counters", {{"loads.sum", 32768}, {"stores.sum", 1.5e12}}}};
}

// The names without their ending of the files in a folder of assets/; none where there is no such folder.
std::set<std::string> stems(const char* folder, const char* extension) {
    std::set<std::string> names;
    std::error_code error;
    for (const auto& entry :
         fs::directory_iterator(fs::path(TILESCOPE_SOURCE_DIR) / "assets" / folder, error))
        if (entry.path().extension() == extension) names.insert(entry.path().stem().string());
    return names;
}

TEST(ShippedIndex, IsReadFieldByField) {
    const auto read = recordings_from_json(index_of(index_entry()).dump(), "index.json");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), 1u);
    const ShippedRecording& recording = read->front();
    EXPECT_EQ(recording.name, "tiled-4x4x4-t2");
    EXPECT_EQ(recording.label, "Tiled 4 × 4 × 4, T = 2, recorded on an NVIDIA H200");
    EXPECT_EQ(recording.kernel, "tiled");
    EXPECT_EQ((std::vector{recording.m, recording.k, recording.n, recording.tile}),
              (std::vector{4u, 4u, 4u, 2u}));
    EXPECT_EQ(recording.device, "NVIDIA H200");
    EXPECT_EQ(recording.driver, "580.159.04");
    EXPECT_EQ(recording.date, "2026-11-21");
    EXPECT_EQ(recording.command, "tilescope record tiled");
    EXPECT_TRUE(recording.bytes.empty());
    const json none{{"schema", "tilescope.recordings/1"}, {"recordings", json::array()}};
    EXPECT_TRUE(recordings_from_json(none.dump(), "index.json")->empty());
}

TEST(ShippedIndex, DamageIsNamed) {
    const auto refused = [](const std::string& text, const std::string& says) {
        const auto read = recordings_from_json(text, "index.json");
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find("index.json"), std::string::npos) << read.error().message;
        EXPECT_NE(read.error().message.find(says), std::string::npos) << read.error().message;
    };
    refused("", "not JSON");
    refused("[]", "not JSON");
    refused("{}", "schema");
    refused(R"({"schema": "tilescope.counters/1", "recordings": []})", "schema");
    refused(R"({"schema": "tilescope.recordings/1"})", "recordings");
    const json whole = index_entry();
    for (const auto& item : whole.items()) {
        json entry = whole;
        entry.erase(item.key());
        refused(index_of(entry).dump(), item.key());
        entry[item.key()] = nullptr;
        refused(index_of(entry).dump(), item.key());
    }
    json entry = index_entry();
    entry["tile"] = 33;
    refused(index_of(entry).dump(), "tile");
    refused(index_of("tiled").dump(), "name");
}

TEST(ShippedCounters, AreReadFieldByField) {
    const auto read = counters_from_json(counters_of(counters_row()).dump(), "h200.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->device, "NVIDIA H200");
    EXPECT_EQ(read->driver, "580.159.04");
    EXPECT_EQ(read->tool, "ncu 2025.3");
    EXPECT_EQ(read->date, "2026-11-21");
    EXPECT_EQ(read->command, "counters.py");
    ASSERT_EQ(read->rows.size(), 1u);
    const CounterRow& row = read->rows.front();
    EXPECT_EQ(row.kernel, "tiled");
    EXPECT_EQ(row.ptx, "nvcc");
    EXPECT_EQ((std::vector{row.m, row.k, row.n, row.tile}), (std::vector{8u, 9u, 10u, 2u}));
    ASSERT_NE(find_counter(row, "loads.sum"), nullptr);
    EXPECT_EQ(*find_counter(row, "loads.sum"), 32768.0);
    EXPECT_EQ(*find_counter(row, "stores.sum"), 1.5e12);
    EXPECT_EQ(find_counter(row, "loads"), nullptr);
}

TEST(ShippedCounters, DamageIsNamed) {
    const auto refused = [](const json& whole, const std::string& says) {
        const auto read = counters_from_json(whole.dump(), "h200.json");
        ASSERT_FALSE(read) << whole.dump();
        EXPECT_NE(read.error().message.find("h200.json"), std::string::npos) << read.error().message;
        EXPECT_NE(read.error().message.find(says), std::string::npos) << read.error().message;
    };
    json whole = counters_of(counters_row());
    for (const auto& item : whole.items()) {
        json without = whole;
        without.erase(item.key());
        refused(without, item.key());
    }
    for (const json& bad : {json(-1), json("many"), json(nullptr), json::array()}) {
        json row = counters_row();
        row["counters"]["loads.sum"] = bad;
        refused(counters_of(row), "loads.sum");
    }
    json row = counters_row();
    row["counters"] = json::array();
    refused(counters_of(row), "counters");
    row.erase("k");
    refused(counters_of(row), "'k'");
}

TEST(Shipped, RecordingsAreTheFilesOfAssets) {
    const fs::path folder = fs::path(TILESCOPE_SOURCE_DIR) / "assets" / "recordings";
    const std::set<std::string> files = stems("recordings", ".tsc");
    std::set<std::string> names;
    uint64_t bytes = 0;
    for (const ShippedRecording& recording : shipped_recordings()) {
        names.insert(recording.name);
        bytes += recording.bytes.size();
        EXPECT_TRUE(recording.bytes == file_text(folder / (recording.name + ".tsc"))) << recording.name;
        EXPECT_EQ(find_shipped_recording(recording.name), &recording);
        EXPECT_NE(recording.label.find(recording.device), std::string::npos) << recording.label;
    }
    EXPECT_EQ(names, files);
    EXPECT_EQ(names.size(), shipped_recordings().size()) << "a name twice";
    EXPECT_LE(bytes, 1600u << 10) << "what ships is to stay small";
    EXPECT_EQ(find_shipped_recording("no-such-recording"), nullptr);
    if (const std::string index = file_text(folder / "index.json"); !index.empty()) {
        const auto read = recordings_from_json(index, "index.json");
        EXPECT_TRUE(read) << read.error().message;
    }
}

TEST(Shipped, CountersAreTheFilesOfAssets) {
    const std::set<std::string> files = stems("counters", ".json");
    EXPECT_EQ(shipped_counters().size(), files.size());
    for (const std::string& file : files) {
        const auto read = counters_from_json(
            file_text(fs::path(TILESCOPE_SOURCE_DIR) / "assets" / "counters" / (file + ".json")), file);
        EXPECT_TRUE(read) << read.error().message;
    }
}

TEST(Shipped, BytesOfARecordingOpen) {
    const trace::Trace trace = recorded("tiled", {4, 4, 4, 2});
    const std::string bytes = trace::serialize(trace);
    ShippedRecording recording;
    recording.name = "tiled-4x4x4-t2";
    ASSERT_FALSE(open_shipped(recording));
    EXPECT_NE(open_shipped(recording).error().message.find("tiled-4x4x4-t2"), std::string::npos);
    recording.bytes = bytes;
    const auto opened = open_shipped(recording);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(trace::first_difference(trace, *opened), "");
    recording.bytes = std::string_view(bytes).substr(1);
    EXPECT_FALSE(open_shipped(recording));
}

TEST(SameAccesses, FindsWhatDiffers) {
    const trace::Trace trace = recorded("tiled", {4, 4, 4, 2});
    EXPECT_EQ(trace::first_difference(trace, trace), "");
    trace::Trace other = trace;
    other.base[3] += 4;
    EXPECT_NE(trace::first_difference(trace, other), "");
    other = trace;
    other.forms[other.key[0] & 0xFFFFFF].mask ^= 1;
    EXPECT_NE(trace::first_difference(trace, other), "");
    other = trace;
    other.blocks.pop_back();
    EXPECT_NE(trace::first_difference(trace, other), "");
    other = trace;
    --other.blocks[1].count;
    EXPECT_NE(trace::first_difference(trace, other), "");
    // Another order of warps is no difference.
    RecordOptions greedy;
    greedy.schedule = Schedule{Schedule::Kind::Greedy, 0};
    const auto sized = plan("tiled", {32, 32, 32, 16});
    const auto ordered = record_cpu(*sized, greedy);
    ASSERT_TRUE(ordered);
    const trace::Trace fair = recorded("tiled", {32, 32, 32, 16});
    EXPECT_NE(ordered->key, fair.key);
    EXPECT_EQ(trace::first_difference(fair, *ordered), "");
}

}  // namespace
}  // namespace tilescope::kernels
