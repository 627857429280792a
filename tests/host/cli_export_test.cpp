// export, through the program: files, refusals, and that nothing is left behind.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/chrome_trace.h"
#include "tests/host/cli_exported.h"

namespace tilescope::cli_test {
namespace {

TEST(CliExport, CsvHasALineARequest) {
    const std::string recording = lecture_recording();
    const std::string csv = exported(recording, "csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 84);
    EXPECT_EQ(csv.rfind("block_x,block_y,block_z,step,warp,", 0), 0u);
    const std::string part = exported(recording, "csv", {"--block", "1,0", "--steps", "20:30"});
    EXPECT_EQ(std::count(part.begin(), part.end(), '\n'), 1 + 9) << "block 1,0 has steps 22 to 42";
    const std::string lanes = exported(recording, "csv", {"--lanes", "--steps", "1:1"});
    EXPECT_EQ(std::count(lanes.begin(), lanes.end(), '\n'), 1 + 4) << "four threads a block";
    EXPECT_EQ(files_here(), 2u);
}

TEST(CliExport, JsonAndPerfettoParse) {
    const std::string recording = lecture_recording();
    const auto told = nlohmann::json::parse(exported(recording, "json"));
    EXPECT_EQ(told.at("schema"), "tilescope.trace/1");
    EXPECT_EQ(told.at("steps").size(), 84u);
    const auto events = nlohmann::json::parse(exported(recording, "perfetto")).at("traceEvents");
    EXPECT_EQ(std::count_if(events.begin(), events.end(), [](const auto& e) { return e.at("ph") == "X"; }),
              84);
}

// A recording of the CPU, and those of real GPUs that ship, whose times are clocks.
TEST(CliExport, ChromeTracesFollowTheFormatsRules) {
    for (const std::string& recording : {lecture_recording(), std::string("tiled-64x64x64-t16"),
                                         std::string("untiled_swapped-64x64x64-t16")}) {
        const auto trace = nlohmann::json::parse(exported(recording, "perfetto"));
        EXPECT_EQ(test::ChromeTraceRules::broken(trace), "") << recording;
        EXPECT_FALSE(trace.at("traceEvents").empty());
        EXPECT_NE(trace.at("otherData")
                      .at("time")
                      .get<std::string>()
                      .find(recording.find('/') == std::string::npos ? "MHz" : "not a time"),
                  std::string::npos)
            << "what a microsecond is";
    }
}

TEST(CliExport, WrongCalls) {
    const std::string path = lecture_recording(), out = in_folder("out");
    const auto refused = [&](std::vector<std::string> more, const std::string& says) {
        std::vector<std::string> words = {"export", path, "-o", out};
        words.insert(words.end(), more.begin(), more.end());
        expect_refused(2, words, says);
    };
    refused({}, "--format");
    refused({"--format", "xml"},
            "choose csv, json, perfetto, png, svg, gif, mp4, storyboard, poster or html");
    refused({"--format", "csv", "--block", "9,9"}, "block 9,9 is not in");
    refused({"--format", "csv", "--block", "one"}, "--block 'one'");
    refused({"--format", "csv", "--steps", "0:3"}, "from 1 to 84");
    refused({"--format", "csv", "--steps", "9:3"}, "from 1 to 84");
    refused({"--format", "csv", "--steps", "1:85"}, "from 1 to 84");
    refused({"--format", "json", "--steps", "1:2", "--block", "1,1"}, "none of steps 1:2");
    refused({"--format", "perfetto", "--lanes"}, "--lanes");
    refused({"--format", "csv", "--lecture"}, "--lecture");
    expect_refused(2, {"export", path, "--format", "csv"}, "--output");
    EXPECT_EQ(files_here(), 1u) << "nothing was written";
}

TEST(CliExport, Failures) {
    const std::string path = lecture_recording();
    write(folder() / "file", "kept");
    expect_refused(1, {"export", "missing.tsc", "--format", "csv", "-o", "a.csv"}, "missing.tsc");
    expect_refused(1, {"export", path, "--format", "csv", "-o", "file/a.csv"}, "no folder 'file'");
    expect_refused(1, {"export", path, "--format", "csv", "-o", "/dev/full"}, "not a regular file");
    EXPECT_EQ(read(folder() / "file"), "kept");
}

// A limit on the size of files stands in for a full disk: no half file, one sentence.
TEST(CliExport, AFullDiskLeavesNothing) {
    const std::string path = lecture_recording();
    write(folder() / "out.csv", "what was there");
    const Ran ran = shell("trap '' XFSZ; ulimit -f 1; \"$TILESCOPE\" export '" + path +
                          "' --format csv -o out.csv --lanes");
    EXPECT_EQ(ran.status, 1) << ran.err;
    expect_one_sentence(ran.err);
    EXPECT_EQ(read(folder() / "out.csv"), "what was there");
    EXPECT_EQ(files_here(), 2u);
}

// Ctrl+C in the middle: status 1, one sentence, and what was there stays.
TEST(CliExport, StoppedItLeavesNothing) {
    const std::string path = in_folder("long.tsc");
    ASSERT_EQ(tilescope({"record", "tiled", "--m", "256", "--k", "256", "--n", "256", "-o", path}).status, 0);
    write(folder() / "out.csv", "what was there");
    // As soon as its temporary file has something in it, so that it is neither too early nor too late.
    const Ran ran = shell("\"$TILESCOPE\" export '" + path +
                          "' --format csv --lanes --steps first:last -o out.csv & work=$!; "
                          "while kill -0 $work && ! [ -s .tilescope-* ]; do sleep 0.01; done 2>/dev/null; "
                          "kill -INT $work; wait $work");
    EXPECT_EQ(ran.status, 1) << ran.err;
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("stopped; 'out.csv' was not written"), std::string::npos) << ran.err;
    EXPECT_EQ(read(folder() / "out.csv"), "what was there");
    EXPECT_EQ(files_here(), 2u);
}

// The table's exports stay as they are, byte for byte.
TEST(CliExport, TheTableAsCsvAndMarkdown) {
    const std::string path = lecture_recording();
    const std::string csv = tilescope({"table", path, "--format", "csv"}).out;
    EXPECT_EQ(csv.substr(0, csv.find("\r\n", csv.find("\r\n") + 2)),
              "block_x,block_y,thread_y,thread_x,phase,loads,multiplies\r\n"
              "0,0,0,0,0,\"M[0,0] -> Mds[0,0]; N[0,0] -> Nds[0,0]\","
              "\"P[0,0] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]\"");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 2) << "a line a thread and phase";
    const std::string md = tilescope({"table", path, "--format", "md", "--block", "1,1"}).out;
    EXPECT_EQ(md.rfind("|", 0), 0u) << md;
    EXPECT_NE(md.find("M[2,0] -> Mds[0,0]"), std::string::npos) << md;
    EXPECT_NE(md.find("P[3,3] += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]"), std::string::npos) << md;
}

}  // namespace
}  // namespace tilescope::cli_test
