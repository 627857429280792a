// Every way to go wrong: the right exit status, one plain sentence on standard error, and no half a file.
#include <csignal>

#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

TEST(CliHelp, IsDone) {
    std::vector<std::vector<std::string>> calls{{"--help"}, {"--version"}};
    for (const char* command : {"record", "report", "table", "kernels"}) calls.push_back({command, "--help"});
    for (const auto& words : calls) {
        const Ran ran = tilescope(words);
        EXPECT_EQ(ran.status, 0);
        EXPECT_EQ(ran.err, "");
        EXPECT_NE(ran.out.find("tilescope"), std::string::npos) << ran.out;
    }
    const std::string help = tilescope({"--help"}).out;
    for (const char* command : {"kernels", "record", "report", "table"}) {
        EXPECT_NE(help.find(std::string("\n  ") + command + " "), std::string::npos) << command << "\n"
                                                                                     << help;
    }
}

TEST(CliWrongCall, NamesWhatWasWrong) {
    expect_refused(2, {"paint"}, "paint");
    expect_refused(2, {"--colour"}, "--colour");
    expect_refused(2, {"record"}, "KERNEL");
    expect_refused(2, {"record", "tield"}, "there is no kernel 'tield'");
    expect_refused(2, {"record", "tiled", "--tile", "12"}, "tile width 12");
    expect_refused(2, {"record", "tiled", "--tile", "-2"}, "--tile");
    expect_refused(2, {"record", "tiled", "--m", "many"}, "--m");
    expect_refused(2, {"record", "tiled", "--k", "0"}, "at least 1");
    expect_refused(2, {"record", "tiled", "--n", "4294967296"}, "--n");
    expect_refused(2, {"record", "tiled", "--m", "100000", "--k", "100000"}, "too large");
    expect_refused(2, {"record", "tiled", "--m", "4", "--m", "8"}, "--m");
    expect_refused(2, {"record", "tiled", "extra"}, "extra");
    expect_refused(2, {"record", "untiled", "--block", "2x4"}, "not square");
    expect_refused(2, {"record", "untiled", "--block", "3x3"}, "tile width 3");
    expect_refused(2, {"record", "untiled", "--block", "2"}, "XxY");
    expect_refused(2, {"record", "untiled", "--block", "4x4", "--tile", "8"}, "contradict");
    expect_refused(2, {"record", "tiled", "--blocks", "0:0,0:1"}, "x0:x1,y0:y1");
    expect_refused(2, {"record", "tiled", "--blocks", "4:5,0:1"}, "outside the grid");
    expect_refused(2, {"record", "tiled", "--schedule", "random"}, "choose fair, greedy");
    expect_refused(2, {"record", "tiled", "--backend", "tpu"}, "choose cpu, gpu or auto");
    expect_refused(2, {"record", "tiled", "--backend", "gpu", "--schedule", "fair"}, "order of warps");
    expect_refused(2, {"record", "tiled", "--buffer", "65536", "--schedule", "fair"}, "--buffer");
    expect_refused(2, {"record", "tiled", "--backend", "cpu", "--one-launch"}, "--one-launch");
    expect_refused(2, {"record", "tiled", "--backend", "cpu", "--exact"}, "--exact");
    expect_refused(2, {"record", "tiled", "--buffer", "0"}, "--buffer");
    expect_refused(2, {"record", "tiled", "--compiler", "gcc"}, "choose clang");
    expect_refused(2, {"record", "tiled", "--compiler", "nvrtc", "--ptx", "a.ptx"}, "contradict");
    expect_refused(2, {"report"}, "FILE");
    EXPECT_TRUE(std::filesystem::is_empty(folder())) << "a refused call leaves nothing behind";
}

TEST(CliWrongCall, OfTable) {
    const std::string path = lecture_recording();
    expect_refused(2, {"table", path, "--block", "zero"}, "x,y");
    expect_refused(2, {"table", path, "--block", "9,9"}, "blocks 0,0 to 1,1");
    expect_refused(2, {"table", path, "--format", "pdf"}, "text, csv or md");
}

TEST(CliFailure, OfReading) {
    write(folder() / "empty.tsc", "");
    write(folder() / "text.tsc", "this is no recording\n");
    for (const char* command : {"report", "table"}) {
        expect_refused(1, {command, "missing.tsc"}, "missing.tsc");
        expect_refused(1, {command, "empty.tsc"}, "empty.tsc");
        expect_refused(1, {command, "text.tsc"}, "text.tsc");
        expect_refused(1, {command, "."}, "");
        expect_refused(1, {command, "text.tsc/inside"}, "");
    }
}

TEST(CliFailure, OfAGpuThatIsNotThere) {
    expect_refused(1, {"record", "tiled", "--backend", "gpu"}, "GPU");
    expect_refused(1, {"record", "tiled", "--exact"}, "--backend cpu");
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST(CliFailure, OfDamagedRecordings) {
    const std::string good = read(lecture_recording());
    ASSERT_GT(good.size(), 100u);
    const std::string path = in_folder("damaged.tsc");
    for (size_t length : {good.size() - 1, good.size() / 2, size_t{16}, size_t{1}}) {
        write(path, good.substr(0, length));
        expect_refused(1, {"report", path, "--json"}, "damaged.tsc");
    }
    for (size_t at : {size_t{0}, size_t{8}, good.size() / 3, good.size() - 2}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x41);
        write(path, bad);
        expect_refused(1, {"table", path}, "damaged.tsc");
    }
    write(path, good + "x");
    expect_refused(1, {"report", path}, "damaged.tsc");
}

TEST(CliFailure, OfWriting) {
    write(folder() / "file", "kept");
    std::filesystem::create_directory(folder() / "folder");
    const std::vector<std::string> record{"record", "tiled", "--tile", "2", "--m", "4",
                                          "--k",    "4",     "--n",    "4", "-o"};
    auto to = [&](const std::string& path) {
        std::vector<std::string> words = record;
        words.push_back(path);
        return words;
    };
    expect_refused(1, to("file/a.tsc"), "no folder 'file'");
    expect_refused(1, to("nowhere/a.tsc"), "no folder 'nowhere'");
    expect_refused(1, to("folder"), "is a folder");
    expect_refused(1, to("/dev/full"), "not a regular file");
    expect_refused(1, to("/dev/null"), "not a regular file");
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_EQ(read(folder() / "file"), "kept");
    EXPECT_TRUE(std::filesystem::is_empty(folder() / "folder"));
}

TEST(CliFailure, OfAFullStandardOutput) {
    const std::string path = lecture_recording();
    for (const std::string command :
         {"kernels", "kernels --json", "--help", "report lecture.tsc", "table lecture.tsc"}) {
        const Ran ran = shell("\"$TILESCOPE\" " + command + " >/dev/full");
        EXPECT_EQ(ran.status, 1) << command;
        expect_one_sentence(ran.err);
    }
}

TEST(CliFailure, OfAnotherKernelsPtx) {
    const std::string ptx = std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/untiled.ptx";
    expect_refused(1, {"record", "tiled", "--ptx", ptx}, "tiled");
    expect_refused(1, {"record", "tiled", "--ptx", "missing.ptx"}, "missing.ptx");
    expect_refused(1, {"record", "tiled", "--ptx", "."}, "folder");
    write(folder() / "bad.ptx", R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry tiled() {
 frob.u32 %r1;
}
)ptx");
    expect_refused(1, {"record", "tiled", "--ptx", "bad.ptx"}, "bad.ptx:5");
}

// The grid is far more than a machine records in a second, and Ctrl-C comes first.
TEST(CliStop, LeavesNoFile) {
    const Ran ran = shell(
        "TILESCOPE_MAX_MEMORY=100 \"$TILESCOPE\" record untiled --m 2048 --k 2048 --n 2048 --blocks "
        "0:128,0:128 -o big.tsc & pid=$!; "
        "sleep 0.4; kill -INT $pid; wait $pid");
    EXPECT_EQ(ran.status, 1);
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("stopped"), std::string::npos) << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST(CliErrors, WhatNeedsTheWindowSaysSoWithoutIt) {
    if (TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "this build has the window";
    for (const char* command : {"open", "render"})
        expect_refused(1, {command, "a.tsc", "--json"}, "built without the window");
}

}  // namespace
}  // namespace tilescope::cli_test
