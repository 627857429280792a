// The real program in a real window, on a display of the test's own: real keys go in, and the window's
// title says where playback stands.
#include <memory>

#include <gtest/gtest.h>

#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

class Window : public OnDesktop {};

TEST_F(Window, KeysMoveTheStep) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("tiled 64×64×64 T=16 - step 1 of "))
        << program.title() << program.errors();
    const uint64_t steps = program.steps();
    ASSERT_GT(steps, 1000u);

    program.press("Right");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
    program.press("Right Right Right");
    EXPECT_TRUE(program.wait_for_step(5)) << program.title();
    program.press("Left");
    EXPECT_TRUE(program.wait_for_step(4)) << program.title();
    program.press("Page_Down");  // a clicker's forward key
    EXPECT_TRUE(program.wait_for_step(5)) << program.title();
    program.press("Page_Up");
    EXPECT_TRUE(program.wait_for_step(4)) << program.title();
    program.press("Home");
    EXPECT_TRUE(program.wait_for_step(1)) << program.title();
    program.press("shift+Right");
    EXPECT_TRUE(program.wait_until([&] { return program.step() > 20; })) << program.title();
    program.press("shift+Left");
    EXPECT_TRUE(program.wait_for_step(1)) << program.title();
    program.press("End");
    EXPECT_TRUE(program.wait_until([&] { return program.step() > 100; })) << program.title();
    EXPECT_TRUE(program.running());
}

TEST_F(Window, SpacePlaysAndStops) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.title() << program.errors();
    program.press("space");
    EXPECT_TRUE(program.wait_until([&] { return program.step() >= 3; })) << program.title();
    program.press("space");
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const uint64_t stopped = program.step();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(program.step(), stopped) << "it still plays";
}

// Quicker than a frame: no click may be lost.
TEST_F(Window, QuickClicksCount) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.title();
    program.click(233, 967, 3);  // the button of the next step
    EXPECT_TRUE(program.wait_for_step(4)) << program.title();
}

TEST_F(Window, TheFormRecordsAPresetAndCtrlQLeaves) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("tiled 64×64×64 T=16 - step 1 of ")) << program.title();
    program.press("r");
    // The first preset; the form may come a frame or two after its key.
    EXPECT_TRUE(program.wait_until([&] {
        if (program.title().find("tiled 4×4×4 T=2") != std::string::npos) return true;
        program.click(1376, 110);
        return false;
    })) << program.title();
    EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
    program.press("ctrl+q");
    EXPECT_TRUE(program.wait_until([&] { return !program.running(); }));
}

// How long it takes is a benchmark's to say (tests/bench/table.py reads the same line).
TEST_F(Window, SaysWhenItsFirstFrameCame) {
    Program program(*desktop_, {});
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.title();
    EXPECT_TRUE(program.wait_until([&] { return program.first_frame_ms() > 0; })) << program.errors();
}

}  // namespace
}  // namespace tilescope::test
