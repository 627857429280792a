// Files are written whole or not at all, over nothing that must stay, and read within a bound.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "tests/file_text.h"
#include "tests/temp_folder.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

class Files : public TempFolder {
protected:
    std::string made(const std::string& name, const std::string& text) const {
        std::ofstream(at(name)) << text;
        return at(name);
    }
    mode_t mode(const std::string& path) const {
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        return status.st_mode & 07777;
    }
    // Looked for in a sentence.
    static bool has(const std::string& text, const std::string& words) {
        return text.find(words) != std::string::npos;
    }
};

TEST_F(Files, AreNewOrReplacedWithTheirPermissions) {
    const mode_t mask = ::umask(022);
    EXPECT_EQ(write_whole(at("new"), "1"), "");
    EXPECT_EQ(mode(at("new")), 0644u);
    for (const mode_t kept : {0600u, 0664u, 0755u}) {
        ::chmod(at("new").c_str(), kept);
        EXPECT_EQ(write_whole(at("new"), "2"), "");
        EXPECT_EQ(mode(at("new")), kept);
    }
    ::umask(mask);
    EXPECT_EQ(file_text(at("new")), "2");
    EXPECT_EQ(files(), 1u);
}

TEST_F(Files, WithTheLongestNamesCanBeWritten) {
    EXPECT_EQ(write_whole(at(std::string(255, 'n')), "1"), "");
    EXPECT_EQ(write_whole(at(std::string(256, 'n')), "1"), "File name too long");
    EXPECT_EQ(files(), 1u);
}

TEST_F(Files, LinksStayAndWhatTheyLeadToIsReplaced) {
    made("real", "before");
    fs::create_directory(at("sub"));
    fs::create_symlink("../real", at("sub/one"));
    fs::create_symlink("sub/one", at("two"));
    EXPECT_EQ(write_whole(at("two"), "after"), "");
    EXPECT_EQ(file_text(at("real")), "after");
    EXPECT_TRUE(fs::is_symlink(at("two")) && fs::is_symlink(at("sub/one")));
    // One that leads to no file yet makes it.
    fs::create_symlink("made", at("three"));
    EXPECT_EQ(write_whole(at("three"), "new"), "");
    EXPECT_TRUE(fs::is_symlink(at("three")));
    EXPECT_EQ(file_text(at("made")), "new");
    fs::create_symlink("round", at("round"));
    EXPECT_TRUE(has(write_whole(at("round"), "x"), "circle"));
}

TEST_F(Files, WhatMustNotBeReplacedIsRefused) {
    EXPECT_EQ(write_whole(folder_.string(), "x"), "it is a folder");
    EXPECT_TRUE(has(write_whole(at("none/a"), "x"), "there is no folder '" + at("none") + "'"));
    EXPECT_TRUE(has(write_whole(made("file", "x") + "/a", "x"), "there is no folder"));
    EXPECT_TRUE(has(write_whole("/dev/null", "x"), "not a regular file"));
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    EXPECT_TRUE(has(write_whole(at("pipe"), "x"), "not a regular file"));
    fs::create_symlink("/dev/full", at("device"));
    EXPECT_TRUE(has(write_whole(at("device"), "x"), "not a regular file"));
    made("marked", "before");
    ::chmod(at("marked").c_str(), 0444);
    EXPECT_EQ(write_whole(at("marked"), "after"), "it is read-only");
    EXPECT_EQ(file_text(at("marked")), "before");
    EXPECT_EQ(files(), 4u);
}

// By its own name, another path, a symbolic link and a hard link.
TEST_F(Files, AFileThatIsReadIsNotWrittenOver) {
    made("a.tsc", "recording");
    fs::create_symlink("a.tsc", at("link"));
    fs::create_hard_link(at("a.tsc"), at("hard"));
    for (const std::string& path : {at("a.tsc"), at("./a.tsc"), at("link"), at("hard")}) {
        EXPECT_TRUE(has(why_not_writable(path, {"", at("a.tsc")}), "that is read")) << path;
        OutputFile file(path, {at("link")});
        EXPECT_FALSE(file.write("x"));
        EXPECT_TRUE(has(file.keep(), "that is read")) << path;
    }
    EXPECT_EQ(file_text(at("a.tsc")), "recording");
    EXPECT_EQ(why_not_writable(at("b.tsc"), {at("a.tsc"), "none"}), "");
}

// A descriptor of a file without a name is a link to a name that is not its own.
TEST_F(Files, ADescriptorOfARemovedFileIsRefused) {
    const int file = ::open(made("gone", "x").c_str(), O_RDWR);
    fs::remove(at("gone"));
    EXPECT_TRUE(has(write_whole("/proc/self/fd/" + std::to_string(file), "x"), "not a regular file"));
    ::close(file);
    EXPECT_EQ(files(), 0u);
}

// Nobody can know the temporary name before it is there.
TEST_F(Files, AreWrittenUnderANameOfTheirOwn) {
    made("out", "before");
    OutputFile one(at("out")), other(at("out"));
    EXPECT_NE(one.temporary(), other.temporary());
    EXPECT_EQ(mode(one.temporary()), 0600u) << "nobody else reads a file that is not whole";
    EXPECT_TRUE(one.write("half"));
    EXPECT_EQ(file_text(at("out")), "before");
    EXPECT_EQ(one.keep(), "");
    EXPECT_EQ(file_text(at("out")), "half");
    EXPECT_EQ(files(), 2u) << "the file and the other's";
}

// Of every signal that ends a program and can be caught, with one that is ignored staying so.
TEST_F(Files, NoneIsLeftByASignal) {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGALRM, SIGXCPU, SIGXFSZ,
                             SIGABRT, SIGRTMIN + 1}) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::signal(SIGHUP, SIG_DFL);
            ::signal(SIGUSR2, SIG_IGN);
            remove_unfinished_on_signals();
            OutputFile file(at("out"));
            file.write("half");
            ::raise(SIGUSR2);
            if (files() != 1) _exit(3);
            ::raise(signal);
            _exit(4);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status)) << signal << " " << status;
        EXPECT_EQ(WTERMSIG(status), signal);
        EXPECT_EQ(files(), 0u) << signal;
    }
}

TEST_F(Files, AreReadWithinABound) {
    made("text", "0123456789");
    EXPECT_EQ(*read_whole(at("text"), 10), "0123456789");
    EXPECT_TRUE(has(read_whole(at("text"), 9).error().message, "larger than the 9 bytes that are read"));
    made("large", std::string(200'000, 'x'));
    EXPECT_EQ(read_whole(at("large"), 1 << 20)->size(), 200'000u);
    EXPECT_FALSE(read_whole(at("large"), 199'999));
    EXPECT_EQ(read_whole(at("large"), 200'000)->size(), 200'000u);
    // A file with holes of a terabyte is not read to see that it does not begin as it should.
    fs::resize_file(made("holes", "no"), uint64_t{1} << 40);
    uint64_t said = 0;
    const auto refused =
        read_whole(at("holes"), uint64_t{1} << 50, [&](std::string_view begin, uint64_t size) {
            said = size;
            EXPECT_LE(begin.size(), size_t{1} << 16);
            return std::optional(Error{"it is full of holes"});
        });
    EXPECT_EQ(refused.error().message, "it is full of holes");
    EXPECT_EQ(said, std::filesystem::file_size(at("holes")));
    EXPECT_EQ(read_whole(at("large"), 200'000, [](auto, auto) { return std::optional<Error>(); })->size(),
              200'000u);
    EXPECT_GT(read_whole("/proc/self/status", 1 << 20)->size(), 100u) << "which says that it has no bytes";
}

TEST_F(Files, WhatNeverEndsIsNotRead) {
    ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
    for (const std::string& path :
         {std::string("/dev/zero"), at("pipe"), std::string("/dev/stdin"), folder_.string()})
        EXPECT_TRUE(has(read_whole(path, 1 << 20).error().message, "cannot read " + path)) << path;
    EXPECT_TRUE(has(read_whole(at("none"), 1).error().message, "No such file"));
}

}  // namespace
}  // namespace tilescope
