// The Compare screen by keyboard alone, in the real program. Its window's title tells where A stands; Tab
// makes B to A, and so tells where B stood.
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

class CompareKeyboard : public OnDesktop {};

bool shows(Program& program, const std::string& kernel, uint64_t step) {
    return program.wait_until(
        [&] { return program.title().rfind(kernel + " ", 0) == 0 && program.step() == step; });
}

TEST_F(CompareKeyboard, APairIsChosenLockedAndWalked) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("2 Return");  // the first of the list
    ASSERT_TRUE(shows(program, "untiled", 1)) << program.title();

    // By phase: where k is 32, the untiled kernel is at trip 32 and the tiled one begins tile 2.
    for (int i = 0; i < 4; ++i)
        program.press(
            "shift+Right shift+Right shift+Right shift+Right shift+Right shift+Right shift+Right "
            "shift+Right");
    EXPECT_TRUE(program.wait_until([&] { return program.step() > 500; })) << program.title();
    program.press("Tab");
    EXPECT_TRUE(program.wait_until([&] {
        return program.title().rfind("tiled ", 0) == 0 && program.step() > 600 && program.step() < 630;
    })) << program.title();
    program.press("Tab");
    EXPECT_TRUE(program.wait_until([&] { return program.title().rfind("untiled ", 0) == 0; }))
        << program.title();

    program.press("k k Home Right Right Right Right");  // share, then step
    ASSERT_TRUE(shows(program, "untiled", 5)) << program.title();
    program.press("Tab");
    EXPECT_TRUE(shows(program, "tiled", 5)) << program.title();

    program.press("k End");  // phase: at the end of a block both are
    ASSERT_TRUE(shows(program, "tiled", 1224)) << program.title();
    program.press("Tab");
    EXPECT_TRUE(shows(program, "untiled", 1032)) << program.title();

    program.press("k period End");  // share: 2 of 16 blocks
    ASSERT_TRUE(program.wait_for_title("step 1,032 of 1,032 of block(0,1)")) << program.title();
    program.press("Tab");
    EXPECT_TRUE(program.wait_for_title("step 1,224 of 1,224 of block(0,1)")) << program.title();
}

TEST_F(CompareKeyboard, TheNextPairAndAnotherFromTheList) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("n n");
    ASSERT_TRUE(shows(program, "untiled", 1)) << program.title();
    program.press("Tab");
    EXPECT_TRUE(shows(program, "untiled_swapped", 1)) << program.title();
    program.press("v Down Escape Right");  // back without another: the arrow steps again
    EXPECT_TRUE(shows(program, "untiled_swapped", 2)) << program.title();
    program.press("v Down Right Left Down Left Return");  // from the second pair two rows down, to the left
    EXPECT_TRUE(shows(program, "tiled_transposed", 1)) << program.title();
    program.press("Tab");
    EXPECT_TRUE(shows(program, "tiled_padded", 1)) << program.title();
    program.press("n x");  // the next one lacks its barriers: to its first race
    EXPECT_TRUE(program.wait_until([&] { return program.title().rfind("tiled_no_barrier ", 0) == 0; }))
        << program.title();
    EXPECT_TRUE(program.wait_until([&] {
        program.press("x");
        return program.step() > 1;
    })) << program.title();
}

TEST_F(CompareKeyboard, AnyRecordingStandsBeside) {
    const std::string file = desktop_->home() + "/kept.tsc";
    Program program(*desktop_, {});
    ASSERT_NO_FATAL_FAILURE(keep_and_record_the_lectures(program, file));
    program.press("ctrl+b");
    program.type(file);
    program.press("Return");
    EXPECT_TRUE(program.wait_until([&] {  // until it is open, the keys are the box's
        program.press("Tab");
        std::this_thread::sleep_for(std::chrono::seconds(1));
        return program.title().find("tiled 64×64×64 T=16 - step 1 of ") != std::string::npos;
    })) << program.title();
    // What is not there leaves both as they are.
    program.press("ctrl+b");
    program.type(desktop_->home() + "/missing.tsc");
    program.press("Return Escape Tab");
    EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2")) << program.title();
    program.press("ctrl+b");
    program.type("Tiled padded");
    program.press("Down Return");  // the one that ships
    program.press("Tab");
    EXPECT_TRUE(program.wait_for_title("tiled_padded 64×64×64 T=32")) << program.title();
}

}  // namespace
}  // namespace tilescope::test
