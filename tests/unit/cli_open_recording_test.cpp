// A name where a file is expected: a file of that name comes first, then a recording that ships.
#include <filesystem>

#include <gtest/gtest.h>

#include "app/cli/arguments.h"
#include "core/trace/file.h"
#include "tests/recorded.h"

namespace tilescope::cli {
namespace {

TEST(OpenRecording, TakesAFileFirstAndThenWhatShips) {
    const std::string bytes = trace::serialize(kernels::recorded("tiled", {4, 4, 4, 2}));
    kernels::ShippedRecording recording;
    recording.name = "cli_open_recording_test-name";
    recording.label = "Tiled 4 × 4 × 4";
    recording.bytes = bytes;
    const std::vector shipped{recording};
    std::filesystem::remove(recording.name);

    auto opened = open_recording(recording.name, shipped);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->origin, "Tiled 4 × 4 × 4");
    EXPECT_EQ(opened->trace.launch.arrays[0].rows, 4u);

    const trace::Trace other = kernels::recorded("tiled", {8, 4, 4, 2});
    ASSERT_TRUE(trace::write_file(other, recording.name));
    opened = open_recording(recording.name, shipped);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->origin, recording.name);
    EXPECT_EQ(opened->trace.launch.arrays[0].rows, 8u) << "the file, not what ships";
    std::filesystem::remove(recording.name);

    const auto neither = open_recording("no-such-recording", shipped);
    ASSERT_FALSE(neither);
    EXPECT_NE(neither.error().message.find("no-such-recording"), std::string::npos);
    EXPECT_NE(neither.error().message.find("tilescope recordings"), std::string::npos);
    const auto folder = open_recording(".", shipped);
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().message.find("tilescope recordings"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::cli
