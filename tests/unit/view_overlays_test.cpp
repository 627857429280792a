// The command palette, the path box and lessons by keyboard, to a state without a window.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "app/view/commands.h"
#include "app/view/lessons.h"
#include "app/view/path_box.h"
#include "app/view/text_field.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

TEST_F(Keys, ThePaletteHasTheKeyboardWhileItIsOpen) {
    handle_input(state, press(Key::P, false, true));
    ASSERT_TRUE(state.teach.commands.open);
    platform::Input typed = typed_text(U"step 12");
    typed.presses.insert(typed.presses.begin() + 1, {Key::T});  // with a character comes its key
    typed.presses.push_back({Key::Enter});
    handle_input(state, typed);
    EXPECT_FALSE(state.teach.commands.open);
    EXPECT_EQ(state.cursor.step, 11u);
    EXPECT_EQ(state.theme, Theme::Light) << "what is typed is text";
    EXPECT_FALSE(state.playback.playing);
    // Opened, typed and taken within one frame.
    typed = typed_text(U"block 1,1");
    typed.presses.insert(typed.presses.begin(), {Key::P, false, true});
    typed.presses.push_back({Key::Enter});
    handle_input(state, typed);
    EXPECT_EQ(state.session->trace->blocks[state.cursor.block].x, 1u);
    EXPECT_EQ(state.session->trace->blocks[state.cursor.block].y, 1u);
    handle_input(state, press(Key::P, false, true));
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(overlay_open(state));
}

TEST_F(Keys, ThePaletteFindsEverything) {
    const auto first = [&](const char* query) {
        const auto found = view::find_commands(state, query);
        return found.empty() ? std::string() : found.front().id;
    };
    for (const Action& action : actions()) {
        if (std::string(action.name) == "commands") continue;
        const auto found = view::find_commands(state, action.help);
        ASSERT_FALSE(found.empty()) << action.help;
        EXPECT_EQ(found.front().id, std::string("action:") + action.name);
    }
    EXPECT_EQ(first("lecture mode"), "action:lecture");
    EXPECT_EQ(first("record edges"), "preset:3");
    EXPECT_EQ(first("phase 2"), "phase:2");
    EXPECT_EQ(first("go to step 7"), "step:7");
    EXPECT_EQ(first("go to block 3,3"), "block:3,3");
    EXPECT_EQ(first("xyzzy qqq"), "");
    for (const char* beyond : {"phase 4", "step 0", "step 99999999999", "block 4,0", "block 1,"}) {
        const std::string id = first(beyond);
        EXPECT_TRUE(id.rfind("step:", 0) != 0 && id.rfind("phase:", 0) != 0 && id.rfind("block:", 0) != 0)
            << beyond;
    }
    EXPECT_LT(view::match("np", "next phase"), view::match("next", "next phase"));
    EXPECT_GT(view::match("np", "next phase"), view::match("np", "open phase"));
    EXPECT_EQ(view::match("zz", "next phase"), -1);
}

TEST_F(Keys, WhatWasUsedComesFirst) {
    run_command(state, "action:theme");
    run_command(state, "action:motion");
    const auto found = view::find_commands(state, "");
    ASSERT_GE(found.size(), actions().size());
    EXPECT_EQ(found[0].id, "action:motion");
    EXPECT_EQ(found[1].id, "action:theme");
    run_command(state, "action:no such");
    run_command(state, "nonsense");
    run_command(state, "phase:77");
    EXPECT_EQ(state.teach.recent_commands.size(), 2u);
}

TEST_F(Keys, ThePathBoxAsksForWhatIsTyped) {
    handle_input(state, press(Key::O, false, true));
    ASSERT_EQ(state.teach.path.mode, PathBox::Mode::Open);
    handle_input(state, press(Key::Enter));
    EXPECT_NE(state.teach.path.problem, "") << "nothing typed";
    handle_input(state, typed_text(U"/no/such.tsc"));
    EXPECT_EQ(state.teach.path.problem, "");
    handle_input(state, press(Key::Enter));
    ASSERT_EQ(state.teach.requests.size(), 1u);
    EXPECT_EQ(state.teach.requests[0].text, "/no/such.tsc");
    handle_input(state, press(Key::Escape));
    handle_input(state, press(Key::S, false, true));
    EXPECT_EQ(state.teach.path.path.text, "tiled-64x64x64-t16.tsc");
    handle_input(state, press(Key::Enter));
    EXPECT_EQ(state.teach.requests.back().kind, Request::Kind::Save);
}

TEST(PathBox, CompletesFoldersAndRecordings) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("tilescope-paths-" + std::to_string(getpid()));
    fs::create_directories(folder / "tiles");
    for (const char* name : {"tiled-a.tsc", "tiled-b.tsc", "tile.txt", ".hidden.tsc"})
        std::ofstream(folder / name) << "x";
    const std::string base = folder.string() + "/";
    EXPECT_EQ(view::completed(base + "tiled"), base + "tiled-");
    EXPECT_EQ(view::completed(base + "tiles"), base + "tiles/");
    EXPECT_EQ(view::completed(base + "tiled-b"), base + "tiled-b.tsc");
    EXPECT_EQ(view::completed(base + "zzz"), base + "zzz");
    EXPECT_EQ(view::completed("/no/such/folder/x"), "/no/such/folder/x");
    State state;
    state.teach.path.mode = PathBox::Mode::Open;
    view::set_text(state.teach.path.path, base);
    const auto all = view::suggestions(state);
    ASSERT_EQ(all.size(), 3u) << "two recordings and a folder; no other file, nothing hidden";
    EXPECT_EQ(all[0].value, base + "tiled-a.tsc");
    EXPECT_EQ(all[2].value, base + "tiles/");
    fs::remove_all(folder);
}

TEST(TextField, EditsWholeCharacters) {
    TextField field;
    for (const char32_t c : U"gr\u00FC\u00DFe") {
        if (c != 0) view::type(field, c);
    }
    EXPECT_EQ(field.text,
              "gr\xC3\xBC\xC3\x9F"
              "e");
    view::edit(field, {Key::Left});
    view::edit(field, {Key::Backspace});
    EXPECT_EQ(field.text,
              "gr\xC3\xBC"
              "e");
    view::edit(field, {Key::Home});
    view::edit(field, {Key::Delete});
    EXPECT_EQ(field.text,
              "r\xC3\xBC"
              "e");
    view::set_text(field, "/home/a/b.tsc");
    view::edit(field, {Key::Backspace, false, true});
    EXPECT_EQ(field.text, "/home/a/");
    view::type(field, 7);
    view::type(field, 0xD800);
    EXPECT_EQ(field.text, "/home/a/");
    EXPECT_FALSE(view::edit(field, {Key::F}));
}

TEST(LessonKeys, PageDownWalksToItsEnd) {
    State state;
    go_to_stop(state, 0, 0);
    ASSERT_TRUE(state.teach.lesson.running);
    const size_t stops = view::lessons()[0].stops.size();
    for (size_t stop = 1; stop < stops; ++stop) {
        handle_input(state, press(Key::PageDown));
        EXPECT_EQ(state.teach.lesson.stop, stop);
    }
    handle_input(state, press(Key::PageUp));
    EXPECT_EQ(state.teach.lesson.stop, stops - 2);
    handle_input(state, press(Key::PageDown));
    handle_input(state, press(Key::PageDown));
    EXPECT_FALSE(state.teach.lesson.running);
    EXPECT_EQ(state.teach.wanted_screen, 5) << "back to the list";
}

// Without a recording, and with an empty one, every action leaves a state that can be drawn.
}  // namespace
}  // namespace tilescope::app
