// open and render, as far as they can be called wrongly or find no display.
#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

class CliWindow : public testing::Test {
    void SetUp() override {
        if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "built without the window";
    }
};

TEST_F(CliWindow, HelpNamesOpenAndRender) {
    const std::string help = tilescope({"--help"}).out;
    for (const char* command : {"open", "render"}) {
        EXPECT_NE(help.find(std::string("\n  ") + command + " "), std::string::npos) << help;
        EXPECT_EQ(tilescope({command, "--help"}).status, 0);
    }
}

TEST_F(CliWindow, WrongCallsOfRender) {
    const std::string path = lecture_recording();
    const std::string out = in_folder("a.png");
    expect_refused(2, {"render", path}, "--output");
    expect_refused(2, {"render", path, "--at", "0", "-o", out}, "from 1 to 84");
    expect_refused(2, {"render", path, "--at", "85", "-o", out}, "from 1 to 84");
    expect_refused(2, {"render", path, "--screen", "attic", "-o", out},
                   "choose step, compare, race, timing, levels, limits");
    expect_refused(2, {"render", path, "--size", "10x10", "-o", out}, "at least 800x600");
    expect_refused(2, {"render", path, "--size", "1e9x1", "-o", out}, "WxH");
    expect_refused(2, {"render", path, "--theme", "pink", "-o", out}, "light or dark");
    expect_refused(2, {"render", path, "--do", "dance", "-o", out}, "--do 'dance' is no action");
    expect_refused(2, {"render", path, "--do", "phase:99", "-o", out}, "--do 'phase:99' is no action");
    expect_refused(2, {"render", path, "--do", "thread:4294967296", "-o", out}, "is no action and no place");
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(CliWindow, FailuresOfRender) {
    const std::string path = lecture_recording();
    write(folder() / "file", "kept");
    std::filesystem::create_directory(folder() / "folder");
    expect_refused(1, {"render", "missing.tsc", "-o", "a.png"}, "missing.tsc");
    expect_refused(1, {"render", path, "-o", "file/a.png"}, "no folder 'file'");
    expect_refused(1, {"render", path, "-o", "folder"}, "is a folder");
    EXPECT_EQ(read(folder() / "file"), "kept");
}

TEST_F(CliWindow, OpenFailsWithoutADisplay) {
    expect_refused(1, {}, "display");
    expect_refused(1, {"open", lecture_recording()}, "display");
    expect_refused(1, {"open", "missing.tsc"}, "missing.tsc");
    expect_refused(1, {"open"}, "display");
    expect_refused(2, {"--theme", "green"}, "--theme 'green'");
}

}  // namespace
}  // namespace tilescope::cli_test
