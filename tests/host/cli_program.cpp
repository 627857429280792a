#include "tests/host/cli_program.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/trace/file.h"
#include "tests/file_text.h"

namespace tilescope::cli_test {

namespace fs = std::filesystem;

namespace {

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

fs::path folder() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    // The process's number keeps tests apart that run at the same time.
    const fs::path path =
        fs::path(TILESCOPE_BINARY_DIR) / "tests" / "cli" /
        (std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(getpid()));
    fs::create_directories(path);
    return path;
}

Ran record(const std::string& rest, const std::string& before) {
    return shell("export XDG_CACHE_HOME=\"$PWD/cache\"; " + before + " \"$TILESCOPE\" record " + rest);
}

trace::Trace recording(const std::string& path) {
    auto trace = trace::read_file(path);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
    return trace ? std::move(*trace) : trace::Trace{};
}

std::string in_folder(const std::string& name) { return (folder() / name).string(); }

std::string read(const fs::path& path) { return file_text(path); }

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

Ran shell(const std::string& command) {
    const fs::path here = folder();
    // Outside the folder, so that a test may ask what the program left in it.
    const std::string base = here.string() + ".output";
    const std::string whole =
        "cd " + quoted(here.string()) +
        " && unset DISPLAY WAYLAND_DISPLAY && export CUDA_VISIBLE_DEVICES= && TILESCOPE=" +
        quoted(TILESCOPE_PROGRAM) + " && export TILESCOPE && { " + command + "; } >" + quoted(base + ".out") +
        " 2>" + quoted(base + ".err") + " </dev/null";
    // What runs the tests in the background may ignore Ctrl-C, and commands inherit that; a person's shell does not.
    std::signal(SIGINT, SIG_DFL);
    const int raw = std::system(whole.c_str());
    Ran ran;
    ran.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    ran.out = read(base + ".out");
    ran.err = read(base + ".err");
    fs::remove(base + ".out");
    fs::remove(base + ".err");
    return ran;
}

Ran tilescope(const std::vector<std::string>& arguments) {
    std::string command = "\"$TILESCOPE\"";
    for (const std::string& argument : arguments) command += " " + quoted(argument);
    return shell(command);
}

void expect_one_sentence(const std::string& err) {
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(err.rfind("tilescope: ", 0), 0u) << err;
    EXPECT_GT(err.size(), 25u) << err;
    EXPECT_LT(err.size(), 500u) << err;
    EXPECT_NE(err[err.size() - 2], '.') << err;
}

void expect_refused(int status, const std::vector<std::string>& arguments, const std::string& says) {
    const Ran ran = tilescope(arguments);
    EXPECT_EQ(ran.status, status) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
}

std::string lecture_recording() {
    const std::string path = in_folder("lecture.tsc");
    const Ran ran =
        tilescope({"record", "tiled", "--tile", "2", "--m", "4", "--k", "4", "--n", "4", "-o", path});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return path;
}

}  // namespace tilescope::cli_test
