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

TEST(PictureName, OfAPanelSaysWhich) {
    const Recorded made = record("tiled", {64, 64, 64, 16});
    EXPECT_EQ(picture_name(made, {0, 11}, ".png", 1, "request"), "tiled-64x64x64-t16-step12-request.png");
    EXPECT_EQ(picture_name(made, {0, 11}, ".png", 3, "phase-table"),
              "tiled-64x64x64-t16-step12-phase-table-3.png");
    EXPECT_EQ(draw::panel_word("request_panel"), "request");
    EXPECT_EQ(draw::panel_word("phase_table_panel"), "phase-table");
    EXPECT_EQ(draw::panel_word("end_page"), "end");
    EXPECT_EQ(draw::panel_word("timeline"), "timeline");
}

// The menu's keys: what is asked for, of which panel.
TEST(PanelKeys, AskForAPictureOfThePanelUnderTheMouse) {
    using session::wish::SavePicture;
    app::State state;
    const auto press = [&](platform::KeyPress key) {
        platform::Input input;
        input.presses.push_back(key);
        app::handle_input(state, input);
    };
    press({platform::Key::E});
    EXPECT_FALSE(state.input.panel.open) << "the mouse is on none";
    EXPECT_NE(state.session.message.find("Point at a panel"), std::string::npos);
    press({platform::Key::C, false, true});
    EXPECT_TRUE(state.pictures.empty());
    state.input.panel.pointed = session::PanelAt{"request_panel", 0.9f, 0.25f};
    const struct {
        int down;
        const char* path;
        bool copies;
    } kRows[] = {{0, ".png", true}, {1, ".png", false}, {2, ".svg", false}, {3, ".png", true}};
    for (const auto& [down, path, copies] : kRows) {
        state.pictures.clear();
        press({platform::Key::E});
        ASSERT_TRUE(state.input.panel.open);
        for (int i = 0; i < down; ++i) press({platform::Key::Down});
        press({platform::Key::Enter});
        EXPECT_FALSE(state.input.panel.open);
        ASSERT_EQ(state.pictures.size(), 1u);
        const SavePicture& wanted = state.pictures[0];
        EXPECT_EQ(wanted.path, path);
        EXPECT_EQ(wanted.copies, copies);
        ASSERT_TRUE(wanted.panel);
        EXPECT_EQ(wanted.panel->name, "request_panel");
        EXPECT_EQ(wanted.panel->x, 0.9f);
    }
    state.pictures.clear();
    press({platform::Key::E});
    press({platform::Key::Escape});
    EXPECT_FALSE(state.input.panel.open);
    press({platform::Key::C, false, true});
    ASSERT_EQ(state.pictures.size(), 1u);
    EXPECT_TRUE(state.pictures[0].copies);
}

TEST(PictureKeys, AskForAPngAndAnSvg) {
    for (const bool shift : {false, true}) {
        app::State state;
        platform::Input input;
        input.presses.push_back({platform::Key::E, shift, true});
        app::handle_input(state, input);
        ASSERT_EQ(state.pictures.size(), 1u);
        EXPECT_EQ(state.pictures[0].path, shift ? ".svg" : ".png");
        EXPECT_FALSE(state.pictures[0].panel);
    }
}

}  // namespace
}  // namespace tilescope::app
