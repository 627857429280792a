// Pictures of the window: their names, and the keys that ask for them.
#include "app/app.h"
#include "app/input/overlays.h"
#include "tests/app_names.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

TEST(PictureName, SaysWhatAndWhichStep) {
    const Recorded made = record("tiled", {64, 64, 64, 16});
    EXPECT_EQ(picture_name(made, {0, 11}, ".png"), "tiled-64x64x64-t16-step12.png");
    EXPECT_EQ(picture_name(made, {0, 11}, ".svg", 2), "tiled-64x64x64-t16-step12-2.svg");
    const uint64_t first = made.trace->blocks[1].first;
    EXPECT_EQ(picture_name(made, {1, 0}, ".png"),
              "tiled-64x64x64-t16-step" + std::to_string(first + 1) + ".png");
}

// A kernel's name comes from a file, which may hold anything.
TEST(PictureName, LeavesNoFolder) {
    trace::Trace trace;
    trace.meta.kernel = "../a b\n";
    EXPECT_EQ(picture_name(analysis::with_rule(trace), {}, ".png"), "___a_b_.png");
    trace.meta.kernel.clear();
    EXPECT_EQ(picture_name(analysis::with_rule(trace), {}, ".svg"), "recording.svg");
}

TEST(PictureName, KnowsPicturesByTheirEnding) {
    EXPECT_EQ(picture_ending("a/b.png"), ".png");
    EXPECT_EQ(picture_ending(".svg"), ".svg");
    EXPECT_EQ(picture_ending("a.tsc"), "");
    EXPECT_EQ(picture_ending("png"), "");
    EXPECT_EQ(picture_ending(""), "");
}

TEST(PictureKeys, AskForAPngAndAnSvg) {
    for (const bool shift : {false, true}) {
        app::State state;
        platform::Input input;
        input.presses.push_back({platform::Key::E, shift, true});
        app::handle_input(state, input);
        ASSERT_EQ(state.pictures.size(), 1u);
        EXPECT_EQ(state.pictures[0], shift ? ".svg" : ".png");
    }
}

}  // namespace
}  // namespace tilescope::app
