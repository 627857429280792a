// Each screen by keyboard alone: palette, path box, lessons, lecture mode; and what is remembered.
#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

class Keyboard : public OnDesktop {
protected:
    std::string settings() const { return file_text(desktop_->home() + "/tilescope/settings.json"); }
    std::string state() const { return file_text(desktop_->home() + "/tilescope/state.json"); }
};

TEST_F(Keyboard, ThePaletteFindsActionsAndPlaces) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("ctrl+p");
    program.type("go to step 12");
    program.press("Return");
    EXPECT_TRUE(program.wait_for_step(12)) << program.title();
    program.press("ctrl+p");
    program.type("record lecture");
    program.press("Return");
    EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
    program.press("ctrl+p");
    program.type("q");
    program.press("Escape Right");
    EXPECT_TRUE(program.wait_for_step(2)) << "typed into the palette, not done: " << program.title();
}

TEST_F(Keyboard, ARecordingIsSavedAndOpenedByItsPath) {
    const std::string file = desktop_->home() + "/kept.tsc";
    Program program(*desktop_, {});
    ASSERT_NO_FATAL_FAILURE(keep_and_record_the_lectures(program, file));
    program.press("ctrl+o");
    program.type(file.substr(0, file.size() - 6));
    program.press("Tab Return");
    EXPECT_TRUE(program.wait_for_title("tiled 64×64×64 T=16 - step 1 of ")) << program.title();
    EXPECT_TRUE(program.wait_until([&] { return state().find("kept.tsc") != std::string::npos; })) << state();
}

TEST_F(Keyboard, AClickerWalksThroughALesson) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("7 Down Down Return");  // Lessons, the third: why tiles
    EXPECT_TRUE(program.wait_for_title("untiled 4×4×4")) << program.title();
    // A stop that asks takes the key twice: it shows the answer first.
    const auto tiled = [&] { return program.title().rfind("tiled 4×4×4 T=2", 0) == 0; };
    for (int key = 0; key < 6 && !tiled(); ++key) {
        program.press("Next");
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    EXPECT_TRUE(tiled()) << program.title();
    program.press("b Next");  // blank, and back: that key does nothing else
    program.press("Prior");
    EXPECT_TRUE(program.wait_for_title("untiled 4×4×4")) << program.title();
    program.press("Escape Home Next");  // after the lesson the key steps again
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

TEST_F(Keyboard, TheFormIsFilledInAndSent) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("r Down Up Return");  // its first button is the lecture's recording
    EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
    program.press("r Right Right Escape");
    program.press("Right");
    EXPECT_TRUE(program.wait_for_step(2))
        << "the form had the arrows, and Escape closed it: " << program.title();
}

TEST_F(Keyboard, EveryScreenComesByItsKey) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    for (const char* key : {"2", "3", "4", "5", "1"}) {
        program.press(key);
        program.press("Up Down question Escape l t plus minus w s a d f");
        EXPECT_TRUE(program.running()) << "screen " << key;
    }
    program.press("1 Escape Escape Home Right");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

TEST_F(Keyboard, ChoicesAreRemembered) {
    {
        Program program(*desktop_, {});
        ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
        program.press("t l ctrl+plus");
        EXPECT_TRUE(program.wait_until([&] {
            return settings().find("\"lecture\": true") != std::string::npos;
        })) << settings();
        program.press("ctrl+q");
        EXPECT_TRUE(program.wait_until([&] { return !program.running(); }));
    }
    EXPECT_NE(settings().find("\"dark\""), std::string::npos) << settings();
    EXPECT_NE(settings().find("1.1"), std::string::npos) << settings();
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("ctrl+0");  // told apart from a start that remembered nothing: the rest stays
    EXPECT_TRUE(program.wait_until([&] {
        return settings().find("\"text_scale\": 1.0") != std::string::npos;
    })) << settings();
    EXPECT_NE(settings().find("\"dark\""), std::string::npos) << settings();
    EXPECT_NE(settings().find("\"lecture\": true"), std::string::npos) << settings();
}

TEST_F(Keyboard, DamagedChoicesDoNotKeepItFromStarting) {
    std::filesystem::create_directories(desktop_->home() + "/tilescope");
    std::ofstream(desktop_->home() + "/tilescope/settings.json") << "{\"theme\": ";
    std::ofstream(desktop_->home() + "/tilescope/state.json") << "\x00\xFF nonsense";
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("t");
    EXPECT_TRUE(program.wait_until([&] { return settings().find("\"dark\"") != std::string::npos; }))
        << settings();
}

}  // namespace
}  // namespace tilescope::test
