// A kernel without a main, through the program: described, guessed, and repeated by the command it prints.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

std::string launches(const std::string& file) { return TILESCOPE_SOURCE_DIR "/tests/data/launches/" + file; }

TEST(CliAlone, ARecordingIsMadeOfThePtxAlone) {
    const Ran ran = tilescope({"record", launches("vector_add.ptx")});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_NE(ran.out.find("--kernel vector_add --grid 4 --block 256 "), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("vector_add.tsc: 96 requests and 0 barriers in 4 blocks"), std::string::npos);
    const trace::Trace trace = recording(in_folder("vector_add.tsc"));
    EXPECT_EQ(trace.launch.arrays.size(), 3u);
    EXPECT_EQ(trace.meta.source_name, "vector_add.cu");
    EXPECT_NE(trace.meta.source, "");  // it lies beside the PTX
    EXPECT_EQ(tilescope({"report", in_folder("vector_add.tsc")}).status, 0);
}

TEST(CliAlone, TheCommandThatIsPrintedRepeatsTheRecording) {
    const Ran ran = tilescope({"record", launches("stencil.ptx"), "-o", in_folder("a.tsc")});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string command = ran.out.substr(0, ran.out.find('\n'));
    ASSERT_EQ(command.substr(0, 10), "tilescope ");
    const Ran again = shell("\"$TILESCOPE\" " + command.substr(10) + " -o '" + in_folder("b.tsc") + "'");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(again.out.substr(0, again.out.find('\n')), command);
    const trace::Trace a = recording(in_folder("a.tsc")), b = recording(in_folder("b.tsc"));
    EXPECT_EQ(a.launch.arrays, b.launch.arrays);
    EXPECT_EQ(a.launch.arguments, b.launch.arguments);
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.base, b.base);
}

TEST(CliAlone, JsonTellsOfOneLaunch) {
    const Ran ran =
        tilescope({"record", launches("histogram.ptx"), "--arg", "n=500", "--json", "-o", in_folder("")});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json told = json::parse(ran.out);
    EXPECT_EQ(told["schema"], "tilescope.launches/1");
    ASSERT_EQ(told["launches"].size(), 1u);
    const json& launch = told["launches"][0];
    EXPECT_EQ(launch["number"], 1);
    EXPECT_EQ(launch["kernel"], "histogram");
    EXPECT_EQ(launch["block"], json({32, 1, 1}));  // THREADS of the source
    EXPECT_TRUE(launch["error"].is_null());
    EXPECT_TRUE(told["failure"].is_null());
    EXPECT_TRUE(recording(launch["recorded"]).meta.complete);
}

TEST(CliAlone, ACommentDescribesAndOptionsComeBeforeIt) {
    const std::string path = in_folder("k.ptx");
    write(path, "// tilescope: --grid 2 --block 32 --arg arg4=40\n" + read(launches("vector_add.ptx")));
    const Ran ran = tilescope({"record", path, "--block", "16"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("--grid 2 --block 16"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("arg4=40"), std::string::npos) << ran.out;
}

TEST(CliAlone, AFaultIsSaidAndWhatCameBeforeItIsKept) {
    const std::vector<std::string> words = {"record", launches("vector_add.ptx"), "--call",
                                            "vector_add(a=double[10], n=11)"};
    const Ran ran = tilescope(words);
    EXPECT_EQ(ran.status, 1);
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("outside a's 10 elements"), std::string::npos) << ran.err;
    EXPECT_FALSE(recording(in_folder("vector_add.tsc")).meta.complete);
    std::vector<std::string> in_json = words;
    in_json.emplace_back("--json");
    const Ran told = tilescope(in_json);
    EXPECT_EQ(told.status, 1);
    const json document = json::parse(told.out);
    EXPECT_EQ(document["failure"], document["launches"][0]["error"]);
    EXPECT_NE(document["failure"].get<std::string>().find("outside a's 10 elements"), std::string::npos);
}

TEST(CliAlone, WhatDoesNotFitIsRefused) {
    const std::string file = launches("vector_add.ptx");
    expect_refused(2, {"record", file, "--arg", "n"}, "'n' is no value");
    expect_refused(2, {"record", file, "--grid", "0"}, "--grid '0' is not a grid");
    expect_refused(2, {"record", file, "--call", "vector_add"}, "is not a call");
    expect_refused(1, {"record", file, "--kernel", "add"}, "holds no kernel 'add'; choose one of vector_add");
    expect_refused(1, {"record", file, "--arg", "m=1"}, "has no parameter 'm'");
    expect_refused(1, {"record", in_folder("none.ptx")}, "cannot read");
    expect_refused(2, {"record", "tiled", "--arg", "n=1"}, "name a .ptx or .cu file");
}

}  // namespace
}  // namespace tilescope::cli_test
