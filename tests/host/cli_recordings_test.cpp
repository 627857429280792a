// The recordings that ship, through the program: listed, opened by name, saved.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/trace/file.h"
#include "kernels/textbook/shipped.h"
#include "tests/host/cli_program.h"
#include "tests/same_accesses.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

TEST(CliRecordings, PrintsALineForEach) {
    const Ran ran = tilescope({"recordings"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    const auto& shipped = kernels::shipped_recordings();
    EXPECT_EQ(static_cast<size_t>(std::count(ran.out.begin(), ran.out.end(), '\n')),
              std::max<size_t>(1, shipped.size()));
    for (const auto& recording : shipped)
        for (const std::string& word : {recording.name, recording.label, recording.device, recording.date})
            EXPECT_NE(ran.out.find(word), std::string::npos) << word;
}

TEST(CliRecordings, PrintsJson) {
    const json all = json::parse(tilescope({"recordings", "--json"}).out);
    EXPECT_EQ(all["schema"], "tilescope.recordings/1");
    ASSERT_EQ(all["recordings"].size(), kernels::shipped_recordings().size());
    for (size_t i = 0; i < all["recordings"].size(); ++i) {
        EXPECT_EQ(all["recordings"][i]["name"], kernels::shipped_recordings()[i].name);
        EXPECT_EQ(all["recordings"][i]["bytes"], kernels::shipped_recordings()[i].bytes.size());
    }
}

TEST(CliRecordings, OneThatShipsIsOpenedByName) {
    for (const auto& recording : kernels::shipped_recordings()) {
        SCOPED_TRACE(recording.name);
        const json report = json::parse(tilescope({"report", recording.name, "--json"}).out);
        EXPECT_EQ(report["kernel"], recording.kernel);
        EXPECT_EQ(report["device"], recording.device);
        const Ran table = tilescope({"table", recording.name});
        EXPECT_EQ(table.status, 0) << table.err;
    }
    for (const char* command : {"report", "table"})
        expect_refused(1, {command, "no-such-recording"}, "tilescope recordings");
}

TEST(CliRecordings, SaveWritesTheRecordingOut) {
    for (const auto& recording : kernels::shipped_recordings()) {
        const std::string path = in_folder("saved.tsc");
        const Ran ran = tilescope({"recordings", "--save", recording.name, "-o", path});
        EXPECT_EQ(ran.status, 0) << ran.err;
        // Accesses and report, not bytes: another zstd may pack them otherwise.
        const auto saved = trace::read_file(path);
        ASSERT_TRUE(saved) << saved.error().message;
        EXPECT_EQ(trace::first_difference(*saved, *kernels::open_shipped(recording)), "") << recording.name;
        EXPECT_EQ(tilescope({"report", path, "--json"}).out,
                  tilescope({"report", recording.name, "--json"}).out);
    }
    const std::string path = in_folder("none.tsc");
    expect_refused(2, {"recordings", "--save", "no-such-recording", "-o", path}, "no-such-recording");
    EXPECT_FALSE(std::filesystem::exists(path));
    expect_refused(2, {"recordings", "-o", path}, "--save");
}

}  // namespace
}  // namespace tilescope::cli_test
