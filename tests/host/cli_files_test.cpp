// The files that a command writes and reads: never one over the other, links and permissions kept, nothing
// left by a signal, nothing read that never ends; and what stands in for an ffmpeg that fails.
#include <sys/stat.h>

#include "tests/file_text.h"
#include "tests/host/cli_exported.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;

std::string shipped_ptx() {
    return file_text(std::string(TILESCOPE_SOURCE_DIR) + "/assets/ptx/tiled.t2.ptx");
}

// By its own name, by another path, by a symbolic link and by a hard link.
void expect_never_over(const std::string& input, const std::vector<std::string>& call) {
    const std::string before = read(folder() / input);
    fs::create_symlink(input, folder() / "link");
    fs::create_hard_link(folder() / input, folder() / "hard");
    for (const std::string& target : {input, "./" + input, std::string("link"), std::string("hard")}) {
        std::vector<std::string> words = call;
        words.insert(words.end(), {"-o", target});
        expect_refused(1, words, "that is read");
    }
    EXPECT_EQ(read(folder() / input), before);
    EXPECT_TRUE(fs::is_symlink(folder() / "link"));
    fs::remove(folder() / "link");
    fs::remove(folder() / "hard");
}

TEST(CliFiles, ARecordingIsNotExportedOntoItself) {
    lecture_recording();
    for (const std::string format : {"csv", "json", "perfetto", "svg", "png", "gif"}) {
        if (!TILESCOPE_HAS_WINDOW && format == "svg") break;
        expect_never_over("lecture.tsc", {"export", "lecture.tsc", "--format", format});
    }
    if (!TILESCOPE_HAS_WINDOW) return;
    write(folder() / "other.tsc", read(folder() / "lecture.tsc"));
    expect_never_over("other.tsc", {"render", "lecture.tsc", "--screen", "compare", "--with", "other.tsc"});
}

TEST(CliFiles, PtxAndItsSourceAreNotRecordedOver) {
    write(folder() / "a.ptx", shipped_ptx());
    const std::vector<std::string> call = {"record", "tiled", "--tile", "2", "--m",   "4",
                                           "--k",    "4",     "--n",    "4", "--ptx", "a.ptx"};
    expect_never_over("a.ptx", call);
    // The file that the PTX names is read as well.
    write(folder() / "tiled.cu", "the source\n");
    expect_never_over("tiled.cu", call);
}

TEST(CliFiles, LinksAndPermissionsStay) {
    const std::string path = lecture_recording();
    write(folder() / "real", "before");
    fs::create_symlink("real", folder() / "link");
    const std::vector<std::vector<std::string>> calls = {
        {"record", "tiled", "--tile", "2", "--m", "4", "--k", "4", "--n", "4", "-o", "link"},
        {"export", path, "--format", "csv", "-o", "link"},
        {"export", path, "--format", "svg", "-o", "link"},
        {"render", path, "-o", "link"}};
    for (const std::vector<std::string>& call : calls) {
        if (!TILESCOPE_HAS_WINDOW && &call - calls.data() > 1) break;
        write(folder() / "real", "before");
        fs::permissions(folder() / "real", fs::perms{0600});
        EXPECT_EQ(tilescope(call).status, 0) << call[0];
        EXPECT_TRUE(fs::is_symlink(folder() / "link")) << call[0];
        EXPECT_NE(read(folder() / "real"), "before") << call[0];
        EXPECT_EQ(fs::status(folder() / "real").permissions(), fs::perms{0600}) << call[0];
        fs::permissions(folder() / "real", fs::perms{0444});
        const std::string written = read(folder() / "real");
        expect_refused(1, call, "read-only");
        EXPECT_EQ(read(folder() / "real"), written);
        fs::permissions(folder() / "real", fs::perms{0600});
    }
    EXPECT_EQ(files_here(), 3u);
}

TEST(CliFiles, NoSignalLeavesAHalfFile) {
    const std::string path = in_folder("long.tsc");
    ASSERT_EQ(tilescope({"record", "tiled", "--m", "128", "--k", "128", "--n", "128", "-o", path}).status, 0);
    for (const std::string signal : {"HUP", "TERM", "QUIT", "PIPE", "USR1"}) {
        const Ran ran = shell(
            "\"$TILESCOPE\" export long.tsc --format csv --lanes -o out.csv & work=$!; "
            "while kill -0 $work && ! [ -s .tilescope-* ]; do sleep 0.01; done 2>/dev/null; "
            "kill -" +
            signal + " $work; wait $work");
        EXPECT_NE(ran.status, 0) << signal;
        EXPECT_EQ(files_here(), 1u) << signal;
    }
}

// A shell's `timeout` ends a program that waits or reads for ever, with status 124.
TEST(CliFiles, WhatNeverEndsIsNotReadAsPtx) {
#ifdef __SANITIZE_ADDRESS__
    const std::string limit;  // its shadow memory takes more addresses than any limit leaves
#else
    const std::string limit = "ulimit -v 4000000; ";
#endif
    ASSERT_EQ(::mkfifo(in_folder("pipe").c_str(), 0600), 0);
    fs::resize_file((write(folder() / "large.ptx", "x"), folder() / "large.ptx"), uint64_t{1} << 36);
    for (const auto& [file, says] : {std::pair{"/dev/zero", "regular file"},
                                     {"pipe", "regular file"},
                                     {"/dev/stdin", "regular file"},
                                     {"large.ptx", "larger than the 4.19 MB"}}) {
        const Ran ran = shell(limit + "timeout 10 \"$TILESCOPE\" record tiled --ptx " + file);
        EXPECT_EQ(ran.status, 1) << file;
        expect_one_sentence(ran.err);
        EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
        EXPECT_EQ(shell(std::string("timeout 10 \"$TILESCOPE\" report ") + file).status, 1) << file;
    }
}

// What a script does in ffmpeg's place, and what the sentence says of it.
TEST(CliFiles, AnFfmpegThatMakesNoFilmIsAnError) {
    if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "this build has no window";
    const std::string path = lecture_recording();
    if (tilescope({"render", path, "-o", "probe.png"}).status != 0) GTEST_SKIP() << "no OpenGL 3.3 here";
    fs::create_directory(folder() / "bin");
    for (const auto& [does, says] :
         {std::pair{"cat >/dev/null", "wrote nothing"},
          {"exit 0", "ended early"},
          {"echo half >\"${@#file:}\"; exit 0", "ended early"},
          {"cat >/dev/null; echo first >&2; echo 'last words' >&2; exit 3", "(last words)"},
          {"cat >/dev/null; printf 'a\\033[31mb\\n' >&2; exit 3", "a\uFFFD[31mb"},
          {"cat >/dev/null; kill -9 $$", "ended by signal 9"}}) {
        write(folder() / "bin" / "ffmpeg",
              std::string("#!/bin/bash\nfor last; do :; done; set -- \"$last\"\n") + does + "\n");
        fs::permissions(folder() / "bin" / "ffmpeg", fs::perms{0755});
        const Ran ran = shell(
            "PATH=\"$PWD/bin:$PATH\" timeout 20 \"$TILESCOPE\" export lecture.tsc --format gif "
            "--steps 1:4 --size 960x600 -o a.gif");
        EXPECT_EQ(ran.status, 1) << does;
        expect_one_sentence(ran.err);
        EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
        EXPECT_EQ(files_here(), 3u) << does;
    }
    // One that takes nothing and does not end is stopped as any other, and is gone then.
    write(folder() / "bin" / "ffmpeg", "#!/bin/sh\necho $$ >pid\nexec sleep 60\n");
    const Ran stopped = shell(
        "PATH=\"$PWD/bin:$PATH\" \"$TILESCOPE\" export lecture.tsc --format gif -o a.gif & work=$!; "
        "while kill -0 $work && ! [ -s pid ]; do sleep 0.01; done 2>/dev/null; "
        "kill -INT $work; wait $work; status=$?; kill -0 $(cat pid) 2>/dev/null && exit 9; exit $status");
    EXPECT_EQ(stopped.status, 1) << stopped.err;
    EXPECT_EQ(files_here(), 4u);
}

// Killed, it cannot end its ffmpeg: the kernel does.
TEST(CliFiles, FfmpegEndsWithTheProgram) {
    if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "this build has no window";
    lecture_recording();
    fs::create_directory(folder() / "bin");
    write(folder() / "bin" / "ffmpeg", "#!/bin/sh\necho $$ >pid\nexec sleep 60\n");
    fs::permissions(folder() / "bin" / "ffmpeg", fs::perms{0755});
    const Ran ran = shell(
        "PATH=\"$PWD/bin:$PATH\" \"$TILESCOPE\" export lecture.tsc --format gif -o a.gif & work=$!; "
        "while kill -0 $work && ! [ -s pid ]; do sleep 0.01; done 2>/dev/null; kill -KILL $work; "
        "for i in $(seq 100); do kill -0 $(cat pid) 2>/dev/null || exit 7; sleep 0.05; done");
    EXPECT_EQ(ran.status, 7) << ran.err;
}

}  // namespace
}  // namespace tilescope::cli_test
