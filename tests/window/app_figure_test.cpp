// The figures by keyboard, and by a clicker's two keys in a lesson: by pictures that the window keeps of
// itself (Ctrl + E), and by its title.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

namespace fs = std::filesystem;

class FigureKeys : public OnDesktop {
protected:
    // What a window shows after these keys on the figure; its first picture, so that no message of an earlier
    // one is in it. The mouse rests where no word is.
    std::string latency_after(const std::string& keys) {
        Program program(*desktop_, {});
        EXPECT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
        program.click(1, 1);
        program.press("ctrl+p");
        program.type("figure latency");
        program.press("Return");
        if (!keys.empty()) program.press(keys);
        for (const auto& entry : fs::directory_iterator(desktop_->home()))
            if (entry.path().extension() == ".png") fs::remove(entry.path());
        program.press("ctrl+e");
        std::string picture;
        program.wait_until([&] {
            for (const auto& entry : fs::directory_iterator(desktop_->home()))
                if (entry.path().extension() == ".png") picture = file_text(entry.path());
            return !picture.empty();
        });
        return picture;
    }
};

TEST_F(FigureKeys, ArrowsChooseAParameterAndChangeIt) {
    fs::create_directories(desktop_->home());
    const std::string first = latency_after(""), more = latency_after("Right Right Right");
    ASSERT_FALSE(first.empty() || more.empty());
    EXPECT_TRUE(first != more) << "the right arrow changes nothing";
    EXPECT_TRUE(first == latency_after("Right Left")) << "the left arrow does not undo the right one";
    EXPECT_TRUE(first == latency_after("Down Right Left Up"));
    EXPECT_TRUE(more != latency_after("Down Right Right Right Up")) << "that is another parameter";
}

TEST_F(FigureKeys, EscapeLeavesAFigureAndTheKeysAreTheScreensAgain) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("ctrl+p");
    program.type("figure gate");
    program.press("Return");
    program.press("Right Escape 1 Right");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

TEST_F(FigureKeys, AClickerWalksOnFromOneThatWasPlayedWith) {
    fs::create_directories(desktop_->home());
    const std::string file = desktop_->home() + "/figures.json";
    std::ofstream(file) << R"({"title": "Figures", "teaches": "They are walked through.", "stops": [
        {"figure": "latency", "set": {"warps": 13}, "say": "{warps} of {needed_warps} warps are there."},
        {"figure": "gate", "say": "{warps_arrived} have arrived."},
        {"recording": "tiled-4x4x4-t2", "kind": "global load", "say": "{lanes} lanes load."}]})";
    Program program(*desktop_, {"open", file});
    ASSERT_TRUE(program.wait_for_title("Tilescope")) << program.errors();
    EXPECT_EQ(program.title().find("4×4×4"), std::string::npos) << program.title();
    program.press("Return");
    program.press("Left Next");
    program.press("Down Right Next");
    EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
    program.press("Prior Prior Next Next");
    program.press("Right");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

}  // namespace
}  // namespace tilescope::test
