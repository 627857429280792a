// Keys do what the table says, to a state without a window.
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

#include "app/actions.h"
#include "app/view/block_clock.h"
#include "app/view/commands.h"
#include "app/view/lessons.h"
#include "app/view/path_box.h"
#include "app/view/text_field.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using platform::Key;

platform::Input press(Key key, bool shift = false, bool control = false) {
    platform::Input input;
    input.presses.push_back({key, shift, control, false, false});
    return input;
}

platform::Input type(char32_t character) {
    platform::Input input;
    input.characters.push_back(character);
    return input;
}

class Keys : public testing::Test {
protected:
    view::Recording made = view::record("tiled", {64, 64, 64, 16});
    State state = view::state_of(made);
};

TEST_F(Keys, StepForwardsAndBack) {
    handle_input(state, press(Key::Right));
    handle_input(state, press(Key::PageDown));
    EXPECT_EQ(state.cursor.step, 2u);
    handle_input(state, press(Key::Left));
    handle_input(state, press(Key::PageUp));
    handle_input(state, press(Key::Left));
    EXPECT_EQ(state.cursor.step, 0u) << "stops at the first step";
}

TEST_F(Keys, JumpByPhaseBarrierAndBlock) {
    handle_input(state, press(Key::Right, true));
    EXPECT_EQ(state.cursor.step, made.index->spans[1].first);
    handle_input(state, press(Key::Left, true));
    EXPECT_EQ(state.cursor.step, 0u);
    handle_input(state, type(U']'));
    EXPECT_EQ(view::kind_of(*made.trace, state.cursor.step), view::StepKind::Barrier);
    const uint32_t first = state.cursor.step;
    handle_input(state, press(Key::Right, false, true));
    EXPECT_GT(state.cursor.step, first);
    handle_input(state, type(U'['));
    EXPECT_EQ(state.cursor.step, first);
    handle_input(state, press(Key::End));
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    handle_input(state, press(Key::Home));
    EXPECT_EQ(state.cursor.step, 0u);
    handle_input(state, type(U'.'));
    EXPECT_EQ(state.cursor.block, 1u);
    handle_input(state, type(U','));
    EXPECT_EQ(state.cursor.block, 0u);
}

TEST_F(Keys, PlayAndPause) {
    handle_input(state, press(Key::Space));
    ASSERT_TRUE(state.playback.playing);
    for (int frame = 0; frame < 60; ++frame) advance(state, 1.0 / 60);
    EXPECT_NEAR(state.cursor.step, 8, 1) << "eight steps a second";
    handle_input(state, press(Key::Right));
    EXPECT_FALSE(state.playback.playing) << "a step by hand stays";
    handle_input(state, press(Key::End));
    handle_input(state, press(Key::Space));
    EXPECT_EQ(state.cursor.step, 0u) << "playing at the end begins again";
    state.playback.steps_per_second = kFastest;
    for (int frame = 0; frame < 60; ++frame) advance(state, 0.1);
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    EXPECT_FALSE(state.playback.playing);
}

// The same block as if a GPU had recorded it.
class ClockKeys : public Keys {
protected:
    ClockKeys() {
        made.trace = std::make_shared<const trace::Trace>(trace::with_clocks(*made.trace));
        made.index = view::index_block(*made.trace, made.rule, 0);
        made.replay = nullptr;
        state = view::state_of(made);
    }
    uint32_t clock() const { return made.trace->time[state.cursor.step]; }
};

TEST_F(ClockKeys, PlayGoesByClocks) {
    ASSERT_TRUE(by_clock(state));
    state.playback.clocks_per_second = 1000;
    handle_input(state, press(Key::Space));
    for (int frame = 1; frame <= 120; ++frame) {
        advance(state, 1.0 / 60);
        const double now = frame * 1000.0 / 60;
        EXPECT_NEAR(clock_now(state), now, 1e-6);
        // The latest step that has been made by now: all steps until then have, the next has not.
        EXPECT_LE(clock(), now + 1e-6);
        EXPECT_GT(made.trace->time[state.cursor.step + 1], now - 1e-6);
    }
    handle_input(state, press(Key::Space));
    EXPECT_FALSE(state.playback.playing);
    EXPECT_EQ(clock_now(state), clock()) << "pausing, the playhead stands at a step";
    const uint32_t step = state.cursor.step;
    handle_input(state, press(Key::Right));
    EXPECT_EQ(state.cursor.step, step + 1) << "a step is a step";
    handle_input(state, press(Key::Space));
    state.playback.clocks_per_second = kFastestClock;
    for (int frame = 0; frame < 60; ++frame) advance(state, 0.1);
    EXPECT_EQ(state.cursor.step, made.index->steps - 1);
    EXPECT_FALSE(state.playback.playing);
}

TEST_F(ClockKeys, CChangesBetweenClocksAndSteps) {
    handle_input(state, press(Key::C));
    EXPECT_FALSE(by_clock(state));
    handle_input(state, press(Key::Space));
    for (int frame = 0; frame < 60; ++frame) advance(state, 1.0 / 60);
    EXPECT_NEAR(state.cursor.step, 8, 1) << "eight steps a second";
    EXPECT_EQ(steps_per_second(state), 8);
    handle_input(state, press(Key::C));
    EXPECT_TRUE(by_clock(state));
    const double clocks = view::last_clock(*made.trace, *made.index) + 1.0;
    state.playback.clocks_per_second = 512;
    EXPECT_NEAR(steps_per_second(state), made.index->steps * 512 / clocks, 1e-9);
}

TEST_F(ClockKeys, SpeedIsOfClocks) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.playback.clocks_per_second, kFastestClock);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.playback.clocks_per_second, kSlowestClock);
    EXPECT_EQ(state.playback.steps_per_second, 8) << "that of steps is another";
    EXPECT_EQ(fitting_clocks_per_second(20 * 512), 512);
    EXPECT_EQ(fitting_clocks_per_second(0), 1);
    EXPECT_EQ(fitting_clocks_per_second(UINT32_MAX), kFastestClock);
}

TEST_F(Keys, ThereAreNoClocksOfACpu) {
    handle_input(state, press(Key::C));
    EXPECT_TRUE(state.by_clock) << "what a person wants of other recordings stays";
    EXPECT_FALSE(by_clock(state));
    EXPECT_NE(state.message.find("on the CPU"), std::string::npos) << state.message;
}

TEST_F(Keys, SpeedHasEnds) {
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Plus, true));
    EXPECT_EQ(state.playback.steps_per_second, kFastest);
    for (int i = 0; i < 40; ++i) handle_input(state, press(Key::Minus));
    EXPECT_EQ(state.playback.steps_per_second, kSlowest);
}

TEST_F(Keys, PinAWarpAndClearIt) {
    handle_input(state, press(Key::Down));
    EXPECT_EQ(state.pin.kind, Pick::Kind::Warp);
    EXPECT_EQ(state.pin.warp, 0u) << "first the one at the cursor";
    for (int i = 0; i < 20; ++i) handle_input(state, press(Key::Down));
    EXPECT_EQ(state.pin.warp, 7u);
    handle_input(state, press(Key::Up));
    EXPECT_EQ(state.pin.warp, 6u);
    handle_input(state, press(Key::Escape));
    EXPECT_EQ(state.pin.kind, Pick::Kind::None);
}

TEST_F(Keys, LookAround) {
    handle_input(state, press(Key::W));
    EXPECT_FALSE(state.view.fit);
    EXPECT_GT(state.view.pitch, 16);
    const double before = state.view.col;
    handle_input(state, press(Key::D));
    EXPECT_GT(state.view.col, before);
    handle_input(state, press(Key::F));
    EXPECT_TRUE(state.view.fit);
    handle_input(state, press(Key::T));
    EXPECT_EQ(state.theme, Theme::Dark);
    handle_input(state, press(Key::Question, true));
    EXPECT_TRUE(state.show_keys);
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(state.show_keys);
}

TEST(Actions, HaveDifferentNamesAndKeys) {
    std::set<std::string> names;
    std::set<std::tuple<int, bool, bool, uint32_t>> chords;
    for (const Action& action : actions()) {
        EXPECT_TRUE(names.insert(action.name).second) << action.name;
        for (const Chord& chord : {action.chord, action.other}) {
            if (chord.key == Key::None && chord.character == 0) continue;
            EXPECT_TRUE(
                chords.insert({static_cast<int>(chord.key), chord.shift, chord.control, chord.character})
                    .second)
                << action.name;
        }
        EXPECT_NE(std::string(action.help), "");
    }
    State state;
    EXPECT_FALSE(perform(state, "no such action"));
}

platform::Input text_of(const char* text) {
    platform::Input input;
    for (const char* c = text; *c != 0; ++c) input.characters.push_back(static_cast<uint32_t>(*c));
    return input;
}

// Every key that the design names, by the name of what it does.
TEST(Actions, EveryKeyOfTheDesignIsThere) {
    const std::tuple<Key, bool, const char*> keys[] = {{Key::Space, false, "play"},
                                                       {Key::Right, false, "next_step"},
                                                       {Key::Left, false, "previous_step"},
                                                       {Key::Right, true, "next_phase"},
                                                       {Key::Left, true, "previous_phase"},
                                                       {Key::Home, false, "first"},
                                                       {Key::End, false, "last"},
                                                       {Key::Up, false, "previous_warp"},
                                                       {Key::Down, false, "next_warp"},
                                                       {Key::W, false, "zoom_in"},
                                                       {Key::S, false, "zoom_out"},
                                                       {Key::A, false, "pan_left"},
                                                       {Key::D, false, "pan_right"},
                                                       {Key::F, false, "focus"},
                                                       {Key::Plus, false, "faster"},
                                                       {Key::Minus, false, "slower"},
                                                       {Key::Digit1, false, "screen_step"},
                                                       {Key::Digit2, false, "screen_compare"},
                                                       {Key::Digit3, false, "screen_timing"},
                                                       {Key::Digit4, false, "screen_limits"},
                                                       {Key::Digit5, false, "screen_lessons"},
                                                       {Key::L, false, "lecture"},
                                                       {Key::T, false, "theme"},
                                                       {Key::Question, false, "keys"},
                                                       {Key::PageDown, false, "forth"},
                                                       {Key::PageUp, false, "back"},
                                                       {Key::B, false, "blank"}};
    for (const auto& [pressed, shift, name] : keys) {
        const Action* found = nullptr;
        for (const Action& action : actions()) {
            for (const Chord& chord : {action.chord, action.other}) {
                if (chord.key == pressed && chord.shift == shift && !chord.control) found = &action;
            }
        }
        ASSERT_NE(found, nullptr) << name;
        EXPECT_STREQ(found->name, name);
    }
}

TEST_F(Keys, LectureModeBlanksAndComesBack) {
    handle_input(state, press(Key::L));
    ASSERT_TRUE(state.teach.lecture);
    handle_input(state, type(U'.'));
    EXPECT_TRUE(state.teach.blank) << "as clickers send it";
    EXPECT_EQ(state.cursor.block, 0u);
    handle_input(state, press(Key::PageDown));
    EXPECT_FALSE(state.teach.blank);
    EXPECT_EQ(state.cursor.step, 0u) << "the first key only brings the picture back";
    handle_input(state, press(Key::PageDown));
    EXPECT_EQ(state.cursor.step, 1u);
    handle_input(state, press(Key::B));
    EXPECT_TRUE(state.teach.blank);
    handle_input(state, press(Key::B));
    EXPECT_FALSE(state.teach.blank);
    handle_input(state, press(Key::L));
    handle_input(state, type(U'.'));
    EXPECT_EQ(state.cursor.block, 1u) << "outside lectures: the next block";
}

TEST_F(Keys, TypeGrowsAndShrinksWithinBounds) {
    handle_input(state, press(Key::Plus, false, true));
    EXPECT_FLOAT_EQ(state.text_scale, 1.1f);
    for (int i = 0; i < 30; ++i) handle_input(state, press(Key::Plus, true, true));
    EXPECT_FLOAT_EQ(state.text_scale, kMostText);
    for (int i = 0; i < 30; ++i) handle_input(state, press(Key::Minus, false, true));
    EXPECT_FLOAT_EQ(state.text_scale, kLeastText);
    handle_input(state, press(Key::Digit0, false, true));
    EXPECT_FLOAT_EQ(state.text_scale, 1);
    EXPECT_DOUBLE_EQ(state.playback.steps_per_second, 8) << "with Control it is not the speed";
}

TEST_F(Keys, ThePaletteHasTheKeyboardWhileItIsOpen) {
    handle_input(state, press(Key::P, false, true));
    ASSERT_TRUE(state.teach.commands.open);
    platform::Input typed = text_of("step 12");
    typed.presses = {{Key::S}, {Key::T}, {Key::Space}, {Key::Digit1}, {Key::Enter}};
    handle_input(state, typed);
    EXPECT_FALSE(state.teach.commands.open);
    EXPECT_EQ(state.cursor.step, 11u);
    EXPECT_EQ(state.theme, Theme::Light) << "what is typed is text";
    EXPECT_FALSE(state.playback.playing);
    // Opened, typed and taken within one frame.
    typed = text_of("block 1,1");
    typed.presses = {{Key::P, false, true}, {Key::Enter}};
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
    handle_input(state, text_of("/no/such.tsc"));
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
TEST(Actions, NeedNoRecording) {
    State empty, hollow;
    hollow.session.emplace();
    hollow.session->trace = std::make_shared<const trace::Trace>();
    for (State* state : {&empty, &hollow}) {
        for (const Action& action : actions()) EXPECT_TRUE(perform(*state, action.name));
        advance(*state, 1);
        go_to(*state, 12);
        EXPECT_EQ(state->cursor, playback::Cursor{});
    }
}

}  // namespace
}  // namespace tilescope::app
