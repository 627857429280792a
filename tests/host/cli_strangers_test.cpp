// Files from strangers: what they name on this machine, what they make it do, and how long that takes.
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;

std::string ptx_of(const std::string& source) {
    return ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"" + source +
           "\"\n.visible .entry k(.param .u64 p)\n{\n    .reg .b64 %rd<3>;\n    .reg .b32 %r<2>;\n    .loc 1 "
           "1 0\n"
           "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n    mov.u32 %r1, 7;\n"
           "    st.global.u32 [%rd2], %r1;\n    ret;\n}\n";
}

// PTX may name any file. A recording, which is made to be handed on, holds sources alone, and not in silence.
TEST(CliStrangers, PtxPutsNoFileOfThisMachineIntoARecording) {
    constexpr const char* kSecret = "-----BEGIN PRIVATE KEY-----\nsecret\n";
    fs::create_directories(in_folder("from/below"));
    fs::create_directories(in_folder("home"));
    write(in_folder("home/id_rsa"), kSecret);
    write(in_folder("home/own.cu"), "// my own\n");
    write(in_folder("from/id_rsa"), kSecret);
    write(in_folder("from/beside.cu"), "// beside\n");
    write(in_folder("from/below/header.cuh"), "// below\n");
    fs::create_symlink(in_folder("home/id_rsa"), in_folder("from/link.cu"));
    fs::create_symlink(in_folder("home/own.cu"), in_folder("from/mine.cu"));
    const auto source_with = [&](const std::string& name, std::string& err) {
        write(in_folder("from/a.ptx"), ptx_of(name));
        const Ran ran = tilescope({"record", "from/a.ptx", "--kernel", "k", "--grid", "1", "--block", "1",
                                   "--arg", "arg1=int[4]", "-o", "a.tsc"});
        EXPECT_EQ(ran.status, 0) << name << ran.err;
        err = ran.err;
        return recording(in_folder("a.tsc")).meta.source;
    };
    std::string err;
    for (const std::string& name : {in_folder("home/id_rsa"), std::string("../home/id_rsa"),
                                    std::string("id_rsa"), std::string("link.cu"), in_folder("from/link.cu"),
                                    std::string("/etc/passwd"), std::string("/proc/self/environ")}) {
        EXPECT_EQ(source_with(name, err), "") << name;
        EXPECT_EQ(err, "") << name;
    }
    EXPECT_EQ(source_with("beside.cu", err), "// beside\n");
    EXPECT_EQ(err, "");
    EXPECT_EQ(source_with(in_folder("from/below/header.cuh"), err), "// below\n");
    EXPECT_EQ(err, "");
    for (const std::string& name : {in_folder("home/own.cu"), std::string("mine.cu")}) {
        EXPECT_EQ(source_with(name, err), "// my own\n") << name;
        EXPECT_NE(err.find("names '" + fs::canonical(in_folder("home/own.cu")).string() + "' as its source"),
                  std::string::npos)
            << err;
    }
}

// What somebody put in the place of a built program is not run.
TEST(CliStrangers, ProgramsOfOthersAreNotRun) {
    write(in_folder("a.cu"),
          "#include <cstdio>\n__global__ void k(int* p) { *p = 1; }\nint main() {\n    int* p;\n"
          "    cudaMalloc(&p, 4);\n    k<<<1, 1>>>(p);\n    puts(\"mine\");\n}\n");
    ASSERT_NE(record("a.cu").out.find("mine"), std::string::npos);
    const std::string programs = in_folder("cache/tilescope/programs");
    std::string program;
    for (const auto& entry : fs::directory_iterator(programs))
        if (!entry.path().has_extension()) program = entry.path().string();
    struct stat status {};
    ASSERT_EQ(stat(program.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    const auto plant = [&] {
        fs::remove(program);
        write(program, "#!/bin/sh\necho planted\n");
    };
    plant();
    ASSERT_EQ(chmod(program.c_str(), 0777), 0);
    Ran ran = record("a.cu");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("mine"), std::string::npos) << "it is built again: " << ran.out;
    plant();
    fs::rename(program, in_folder("planted"));
    ASSERT_EQ(chmod(in_folder("planted").c_str(), 0755), 0);
    fs::create_symlink(in_folder("planted"), program);
    EXPECT_NE(record("a.cu").out.find("mine"), std::string::npos);
    if (geteuid() == 0) {
        plant();
        ASSERT_EQ(chmod(program.c_str(), 0755), 0);
        ASSERT_EQ(chown(program.c_str(), 65534, 65534), 0);
        EXPECT_NE(record("a.cu").out.find("mine"), std::string::npos);
    }
    for (const char* part :
         {"cache/tilescope/programs", "cache/tilescope/headers", "cache/tilescope", "cache"}) {
        ASSERT_EQ(chmod(in_folder(part).c_str(), 0777), 0);
        ran = record("a.cu");
        EXPECT_EQ(ran.status, 1) << part << ran.out;
        expect_one_sentence(ran.err);
        EXPECT_NE(ran.err.find("can write to it"), std::string::npos) << ran.err;
        EXPECT_EQ(ran.out, "");
        ASSERT_EQ(chmod(in_folder(part).c_str(), 0700), 0);
    }
}

// A process that a program leaves running ends with the command.
TEST(CliStrangers, NoProcessOutlivesTheCommand) {
    write(in_folder("d.cu"),
          "#include <cstdio>\n#include <unistd.h>\n__global__ void k(int* p) { *p = 1; }\nint main() {\n"
          "    int* p;\n    cudaMalloc(&p, 4);\n    k<<<1, 1>>>(p);\n    fflush(stdout);\n"
          "    if (fork() == 0) {\n        setsid();\n        if (fork() != 0) _exit(0);\n"
          "        printf(\"left %d\\n\", getpid());\n        fflush(stdout);\n        sleep(300);\n"
          "        _exit(0);\n    }\n    sleep(1);\n}\n");
    const Ran ran = record("d.cu -o d.tsc");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const size_t at = ran.out.find("left ");
    ASSERT_NE(at, std::string::npos) << ran.out;
    EXPECT_NE(kill(std::stoi(ran.out.substr(at + 5)), 0), 0) << "it runs on";
    EXPECT_TRUE(fs::exists(in_folder("d.tsc")));
}

TEST(CliStrangers, LevelsOfVeryManyRequestsAreRefusedAtOnce) {
    for (const char* kernel : {"tiled", "untiled"})
        expect_refused(1, {"levels", kernel, "--m", "1", "--k", "100000000", "--n", "1"},
                       "choose a smaller k");
    EXPECT_EQ(tilescope({"levels", "tiled", "--m", "32", "--k", "4096", "--n", "32"}).status, 0);
}

// A lesson is a file of a few hundred bytes that names places, kernels and acts.
TEST(CliStrangers, LessonsThatAskForTooMuchAreRefused) {
    if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "this build has no window";
    const auto refused_for = [](const std::string& stop, const std::string& says) {
        write(in_folder("l.json"),
              R"({"name": "l", "title": "T", "teaches": "t", "summary": ["s"], "stops": [)" + stop + "]}");
        expect_refused(1, {"render", "--lesson", "l.json", "--stop", "1", "-o", "l.png"}, says);
    };
    const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    refused_for(R"({"recording": "tiled-4x4x4-t2", "at": 1, "say": "x", "do": )" + nested(250'000) + "}",
                "in stop 1 its field 'do'");
    refused_for(R"({"recording": "tiled-4x4x4-t2", "at": 1, "say": )" + nested(250'000) + "}", "'say'");
    refused_for(R"({"kernel": "tiled", "m": 1, "k": 16777216, "n": 1, "tile": 2, "at": 1, "say": "x"})",
                "its product takes more than 4,000,000 requests");
    refused_for(
        R"({"recording": "tiled-4x4x4-t2", "kind": "barrier", "where": ["arrived = 77"], "say": "x"})",
        "stop 1 of the lesson has no such step");
    EXPECT_FALSE(fs::exists(in_folder("l.png")));
}

// A kernel of very many loads that wait for none: each is compared with those that it waits for, not with all.
TEST(CliStrangers, LevelsOfVeryManyLoadsTakeSeconds) {
    std::string ptx =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n    .reg .b64 "
        "%rd<3>;\n"
        "    .reg .f32 %f<3>;\n    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd2, %rd1;\n";
    for (int at = 0; at < 36'000; ++at)
        ptx += fmt::format("    ld.global.f32 %f2, [%rd2+{}];\n    add.f32 %f1, %f1, %f2;\n", 4 * (at % 64));
    write(in_folder("many.ptx"), ptx + "    st.global.f32 [%rd2], %f1;\n    ret;\n}\n");
    const Ran made = tilescope({"record", "many.ptx", "--kernel", "k", "--grid", "1", "--block", "1", "--arg",
                                "arg1=float[64]", "-o", "many.tsc"});
    ASSERT_EQ(made.status, 0) << made.err;
    const Ran ran = shell("ulimit -t 30; \"$TILESCOPE\" levels many.tsc --json");
    EXPECT_EQ(ran.status, 0) << "thirty seconds are over: " << ran.err;
    EXPECT_NE(ran.out.find("tilescope.levels/1"), std::string::npos);
}

// A small file with long blocks: every lane of it would be gigabytes.
TEST(CliStrangers, AnExportOfEveryLaneIsBoundedAsOneOfEveryRequestIs) {
    const Ran made =
        tilescope({"record", "untiled", "--m", "128", "--k", "512", "--n", "128", "-o", "u.tsc"});
    ASSERT_EQ(made.status, 0) << made.err;
    expect_refused(2, {"export", "u.tsc", "--format", "csv", "--lanes", "-o", "u.csv"},
                   "whose export takes minutes and about");
    EXPECT_FALSE(fs::exists(in_folder("u.csv")));
    EXPECT_EQ(
        tilescope({"export", "u.tsc", "--format", "csv", "--lanes", "--steps", "1:20", "-o", "u.csv"}).status,
        0);
}

}  // namespace
}  // namespace tilescope::cli_test
