// The first minute in the real window: an empty home opens on three matrices, and Page Down alone leads over a race
// to the first question (first_minute.py saves what it looks like on the way).
#include <filesystem>
#include <fstream>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {
namespace {

class FirstMinute : public OnDesktop {
protected:
    void SetUp() override {
        OnDesktop::SetUp();
        if (desktop_) std::filesystem::remove_all(desktop_->home());
    }
    std::string state() const { return file_text(desktop_->home() + "/tilescope/state.json"); }
    static void page_down(Program& program) {
        program.press("Next");
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
    }
};

// The title says which recording and step is shown; a digit is typed where a question takes it, else it is the key
// of a screen, and leaves the walk.
TEST_F(FirstMinute, LeadsByPageDownFromMatricesToAQuestion) {
    {
        Program program(*desktop_, {});
        ASSERT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 5 of 21")) << program.errors();
        for (const uint64_t step : {21, 1, 4}) {
            page_down(program);
            EXPECT_TRUE(program.wait_for_step(step)) << program.title();
        }
        page_down(program);
        EXPECT_TRUE(program.wait_for_title("tiled 64×64×64 T=16")) << "the barrier: " << program.title();
        page_down(program);  // the race
        EXPECT_TRUE(program.running());
        page_down(program);
        EXPECT_TRUE(program.wait_for_title("tiled 64×64×64 T=32")) << "the question: " << program.title();
        program.press("2 Return");
        page_down(program);
        EXPECT_TRUE(program.wait_until([&] { return state().find("\"walked\": true") != std::string::npos; }))
            << state();
    }
    Program again(*desktop_, {});
    EXPECT_TRUE(again.wait_for_title("tiled 64×64×64 T=16 - step 1 of ")) << again.title();
}

TEST_F(FirstMinute, EscapeLeadsToTheStartAndItIsOfferedFromThenOn) {
    {
        Program program(*desktop_, {});
        ASSERT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 5 of 21")) << program.errors();
        program.press("Escape");
        EXPECT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
        program.press("Right");
        EXPECT_TRUE(program.wait_for_step(2)) << program.title();
        EXPECT_TRUE(program.wait_until([&] { return !state().empty(); }));
    }
    Program again(*desktop_, {});  // no longer empty: it begins as before, and a key leads in
    EXPECT_TRUE(again.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << again.title();
    again.press("Next");
    EXPECT_TRUE(again.wait_for_step(5)) << again.title();
}

TEST_F(FirstMinute, DoesNotBeginWhereAFileIsOpened) {
    Program program(*desktop_, {"open", TILESCOPE_SOURCE_DIR "/assets/recordings/tiled-16x16x16-t4.tsc"});
    ASSERT_TRUE(program.wait_for_title("tiled 16×16×16 T=4 - step 1 of ")) << program.errors();
    program.press("Next");
    EXPECT_TRUE(program.wait_for_step(2)) << program.title();
}

}  // namespace
}  // namespace tilescope::test
