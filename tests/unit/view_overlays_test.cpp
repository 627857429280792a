// The command palette, the path box and lessons by keyboard, to a state without a window.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "app/lessons/state.h"
#include "core/trace/file.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

TEST_F(Keys, ThePaletteHasTheKeyboardWhileItIsOpen) {
    handle_input(state, press(Key::P, false, true));
    ASSERT_TRUE(state.input.palette.open);
    platform::Input typed = typed_text(U"step 12");
    typed.presses.insert(typed.presses.begin() + 1, {Key::T});  // with a character comes its key
    typed.presses.push_back({Key::Enter});
    handle_input(state, typed);
    EXPECT_FALSE(state.input.palette.open);
    EXPECT_EQ(state.session.cursor.step, 11u);
    EXPECT_EQ(state.session.theme, Theme::Light) << "what is typed is text";
    EXPECT_FALSE(state.session.playback.playing);
    // Opened, typed and taken within one frame.
    typed = typed_text(U"block 1,1");
    typed.presses.insert(typed.presses.begin(), {Key::P, false, true});
    typed.presses.push_back({Key::Enter});
    handle_input(state, typed);
    EXPECT_EQ(state.session.recording->trace->blocks[state.session.cursor.block].x, 1u);
    EXPECT_EQ(state.session.recording->trace->blocks[state.session.cursor.block].y, 1u);
    handle_input(state, press(Key::P, false, true));
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(overlay_open(state.input));
}

TEST_F(Keys, ThePaletteFindsEverything) {
    const auto first = [&](const char* query) {
        const auto found = find_commands(state.session, offers(), query);
        return found.empty() ? std::string() : found.front().id;
    };
    for (const Offer& action : offers()) {
        if (!can(state.session, action)) continue;  // of a page
        if (action.name == "commands" || action.name.find(':') != std::string::npos) continue;
        const auto found = find_commands(state.session, offers(), action.help);
        ASSERT_FALSE(found.empty()) << action.help;
        EXPECT_EQ(found.front().id, "action:" + action.name);
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
    EXPECT_LT(input::match("np", "next phase"), input::match("next", "next phase"));
    EXPECT_GT(input::match("np", "next phase"), input::match("np", "open phase"));
    EXPECT_EQ(input::match("zz", "next phase"), -1);
}

TEST_F(Keys, WhatWasUsedComesFirst) {
    run_command(state.input, state.session, offers(), "action:theme");
    run_command(state.input, state.session, offers(), "action:motion");
    const auto found = find_commands(state.session, offers(), "");
    ASSERT_GE(found.size(), offers().size());
    EXPECT_EQ(found[0].id, "action:motion");
    EXPECT_EQ(found[1].id, "action:theme");
    for (const char* id : {"action:no such", "nonsense", "phase:77"})
        run_command(state.input, state.session, offers(), id);
    EXPECT_EQ(state.session.recent_commands.size(), 2u);
}

TEST_F(Keys, ThePathBoxAsksForWhatIsTyped) {
    handle_input(state, press(Key::O, false, true));
    ASSERT_EQ(state.input.path.mode, PathBox::Mode::Open);
    handle_input(state, press(Key::Enter));
    EXPECT_NE(state.input.path.problem, "") << "nothing typed";
    handle_input(state, typed_text(U"/no/such.tsc"));
    EXPECT_EQ(state.input.path.problem, "");
    handle_input(state, press(Key::Enter));
    while (state.session.opening) update(state, true);
    update(state, true);
    EXPECT_NE(state.input.path.problem.find("/no/such.tsc"), std::string::npos) << state.input.path.problem;
    handle_input(state, press(Key::Escape));
    const auto folder =
        std::filesystem::temp_directory_path() / ("tilescope-saved-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    state.session.last_folder = folder.string() + "/";
    handle_input(state, press(Key::S, false, true));
    EXPECT_EQ(state.input.path.path.text, state.session.last_folder + "tiled-64x64x64-t16.tsc");
    handle_input(state, press(Key::Enter));
    EXPECT_EQ(state.input.path.mode, PathBox::Mode::Closed);
    EXPECT_TRUE(std::filesystem::exists(folder / "tiled-64x64x64-t16.tsc")) << state.session.message;
    std::filesystem::remove_all(folder);
}

// What was opened is shown; what is set beside the recording that is open is compared with it.
TEST_F(Keys, OpeningARecordingLeadsToStep) {
    const auto file =
        std::filesystem::temp_directory_path() / ("tilescope-opened-" + std::to_string(getpid()) + ".tsc");
    ASSERT_TRUE(trace::write_file(*made.trace, file.string()));
    for (const bool beside : {false, true}) {
        perform(state, "screen_timing");
        ASSERT_EQ(state.session.screen, "timing");
        session::open_file(state.session, file.string(), beside);
        while (state.session.opening) update(state, true);
        update(state, true);
        EXPECT_EQ(state.session.message, "");
        EXPECT_EQ(state.session.screen, beside ? "compare" : "step");
    }
    session::open_file(state.session, "/no/such.tsc");
    while (state.session.opening) update(state, true);
    EXPECT_EQ(state.session.screen, "compare") << "nothing was opened";
    std::filesystem::remove(file);
}

TEST(PathBox, CompletesFoldersAndRecordings) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("tilescope-paths-" + std::to_string(getpid()));
    fs::create_directories(folder / "tiles");
    for (const char* name : {"tiled-a.tsc", "tiled-b.tsc", "tile.txt", ".hidden.tsc"})
        std::ofstream(folder / name) << "x";
    const std::string base = folder.string() + "/";
    EXPECT_EQ(input::completed(base + "tiled"), base + "tiled-");
    EXPECT_EQ(input::completed(base + "tiles"), base + "tiles/");
    EXPECT_EQ(input::completed(base + "tiled-b"), base + "tiled-b.tsc");
    EXPECT_EQ(input::completed(base + "zzz"), base + "zzz");
    EXPECT_EQ(input::completed("/no/such/folder/x"), "/no/such/folder/x");
    State state;
    state.input.path.mode = PathBox::Mode::Open;
    input::set_text(state.input.path.path, base);
    const auto all = suggestions(state.input.path, state.session);
    ASSERT_EQ(all.size(), 3u) << "two recordings and a folder; no other file, nothing hidden";
    EXPECT_EQ(all[0].value, base + "tiled-a.tsc");
    EXPECT_EQ(all[2].value, base + "tiles/");
    fs::remove_all(folder);
}

TEST(TextField, EditsWholeCharacters) {
    TextField field;
    for (const char32_t c : U"gr\u00FC\u00DFe")
        if (c != 0) input::type(field, c);
    EXPECT_EQ(field.text,
              "gr\xC3\xBC\xC3\x9F"
              "e");
    input::edit(field, {Key::Left});
    input::edit(field, {Key::Backspace});
    EXPECT_EQ(field.text,
              "gr\xC3\xBC"
              "e");
    input::edit(field, {Key::Home});
    input::edit(field, {Key::Delete});
    EXPECT_EQ(field.text,
              "r\xC3\xBC"
              "e");
    input::set_text(field, "/home/a/b.tsc");
    input::edit(field, {Key::Backspace, false, true});
    EXPECT_EQ(field.text, "/home/a/");
    input::type(field, 7);
    input::type(field, 0xD800);
    EXPECT_EQ(field.text, "/home/a/");
    EXPECT_FALSE(input::edit(field, {Key::F}));
}

TEST(LessonKeys, PageDownWalksToItsEnd) {
    State state;
    go_to_stop(state.lessons, state.session, 0, 0);
    ASSERT_TRUE(state.session.walking);
    const size_t stops = lessons::lesson_list()[0].stops.size();
    for (size_t stop = 1; stop < stops; ++stop) {
        if (state.session.question.open) handle_input(state, press(Key::PageDown));  // what it asks first
        handle_input(state, press(Key::PageDown));
        EXPECT_EQ(state.lessons.stop, stop);
    }
    handle_input(state, press(Key::PageUp));
    EXPECT_EQ(state.lessons.stop, stops - 2);
    handle_input(state, press(Key::PageDown));
    if (state.session.question.open) handle_input(state, press(Key::PageDown));
    handle_input(state, press(Key::PageDown));
    EXPECT_TRUE(at_end(state.lessons, state.session));
    EXPECT_EQ(state.session.screen, "lessons");
    handle_input(state, press(Key::PageUp));
    EXPECT_EQ(state.lessons.stop, stops - 1) << "back to its last stop";
    handle_input(state, press(Key::PageDown));
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.screen, "lessons") << "back to the list";
}

// Without a recording, and with an empty one, every action leaves a state that can be drawn.
}  // namespace
}  // namespace tilescope::app
