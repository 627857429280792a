// Exports from the window: which there are, what their files are called, and the command that makes each.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/session/exported.h"
#include "app/session/playing.h"
#include "core/base/file.h"
#include "tests/file_text.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

using Words = std::vector<std::string>;

void press(State& state, platform::KeyPress key) {
    platform::Input input;
    input.presses.push_back(key);
    app::handle_input(state, input);
}

class Exports : public testing::Test {
protected:
    Recorded made = record("tiled", {64, 64, 64, 16});
    app::State state = state_of(made);
    Words words(std::string_view id, const std::string& path = "out") {
        return export_arguments(state.session, *find_export(id), "kept.tsc", path);
    }
};

TEST_F(Exports, FilmsAreMadeByTheCommandLine) {
    std::set<std::string> formats;
    for (const ExportChoice& choice : export_choices()) {
        EXPECT_EQ(find_export(choice.id), &choice);
        if (!choice.id.starts_with("film")) continue;  // written and drawn by the window itself
        const Words all = words(choice.id);
        const auto format = std::find(all.begin(), all.end(), "--format");
        ASSERT_NE(format, all.end());
        formats.insert(all[0] + " " + *(format + 1));
    }
    EXPECT_EQ(formats, (std::set<std::string>{"export gif", "export mp4"}));
    EXPECT_EQ(find_export("no such"), nullptr);
}

// Text is written by the window itself: no program stands behind it.
TEST_F(Exports, TextNeedsNoOtherProgram) {
    state.session.cursor.block = 6;
    state.session.own_program = "/nowhere/tilescope";
    const std::string path = testing::TempDir() + "tilescope-export-" + std::to_string(getpid());
    const auto exported = [&](std::string_view id) {
        start_export(state.session, *find_export(id), path);
        session::update(state.session, true);
        EXPECT_EQ(state.session.message, "Exported as '" + path + "'.");
        return file_text(path);
    };
    std::string requests;
    const auto take = [&](std::string_view text) { return requests.append(text), true; };
    report::write_csv(*state.session.recording, {}, false, take);
    EXPECT_EQ(exported("trace_csv"), requests);
    EXPECT_TRUE(nlohmann::json::accept(exported("trace_json")));
    EXPECT_TRUE(nlohmann::json::accept(exported("trace_perfetto")));
    EXPECT_EQ(exported("table_md"),
              *phase_table_of(*state.session.recording, 6, playback::TableFormat::Markdown));
    start_export(state.session, *find_export("trace_csv"), path + "/no/folder.csv");
    session::update(state.session, true);
    EXPECT_NE(state.session.message.find("could not be written"), std::string::npos) << state.session.message;
    std::filesystem::remove(path);
}

TEST_F(Exports, ATableIsOfTheBlock) {
    state.session.cursor.block = 6;  // 4 x 4 blocks
    EXPECT_EQ(export_name(state.session, *find_export("table_md")), "tiled-64x64x64-t16-table-2-1.md");
}

TEST_F(Exports, APageIsOfTheBlock) {
    state.session.cursor.block = 6;
    EXPECT_EQ(export_name(state.session, *find_export("page_poster")), "tiled-64x64x64-t16-2-1-poster.svg");
    EXPECT_EQ(export_name(state.session, *find_export("page_storyboard")),
              "tiled-64x64x64-t16-2-1-storyboard.svg");
}

TEST_F(Exports, AFilmOfTheMarkedSteps) {
    const auto& choice = *find_export("film_marked_gif");
    session::Session& session = state.session;
    const auto range = [&] {  // what --steps is given
        const Words all = words("film_marked_gif");
        return *(std::ranges::find(all, "--steps") + 1);
    };
    EXPECT_FALSE(can_export(session, choice)) << "nothing is marked";
    session.cursor.step = 11;
    press(state, {.character = U'{'});
    const uint32_t steps = made.index->steps;
    EXPECT_EQ(session.marked, (session::MarkedSteps{0, 11, steps})) << "to the end of the block";
    session.cursor.step = 30;
    press(state, {.character = U'}'});
    EXPECT_EQ(session.marked, (session::MarkedSteps{0, 11, 31}));
    EXPECT_TRUE(can_export(session, choice));
    EXPECT_EQ(range(), "12:31");
    EXPECT_EQ(export_name(session, choice), "tiled-64x64x64-t16-steps12-31.gif");
    session.cursor.step = 20;
    press(state, {.character = U'{'});
    EXPECT_EQ(range(), "21:31");
    session.cursor.step = 5;
    press(state, {.character = U'}'});
    EXPECT_EQ(session.marked, (session::MarkedSteps{0, 0, 6})) << "from the beginning of the block";

    press(state, {Key::F, true, true});
    EXPECT_EQ(state.input.path.exported, "film_marked_gif");
    press(state, {Key::Escape});
    session.cursor.block = 6;  // of which nothing is marked
    EXPECT_FALSE(can_export(session, choice));
    session.cursor.block = 0;
    press(state, {Key::Escape});
    EXPECT_FALSE(session.marked);
    press(state, {Key::F, true, true});
    EXPECT_EQ(state.input.path.exported, "film_gif");
    // Marks end with the block, and what is no range marks nothing.
    session::mark(session, steps - 1, UINT32_MAX);
    EXPECT_EQ(session.marked, (session::MarkedSteps{0, steps - 1, steps}));
    session::mark(session, 7, 7);
    EXPECT_FALSE(session.marked);
    session::mark(session, 0, 3);
    show(session, session.recording);
    EXPECT_FALSE(session.marked) << "another recording";
}

// What goes on says how far it is, and can be stopped. A script stands in for this program.
TEST_F(Exports, SayHowFarTheyAreAndCanBeStopped) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("tilescope-exports-" + std::to_string(getpid()));
    fs::create_directories(folder);
    const auto stand_in = [&](const char* name, const std::string& does) {
        const fs::path script = folder / name;
        write_whole(script.string(), "#!/bin/sh\n" + does);
        fs::permissions(script, fs::perms::owner_all);
        state.session.own_program = script.string();
        start_export(state.session, *find_export("film_gif"), (folder / "a.gif").string());
    };
    const auto wait_for = [&](const std::string& part) {
        for (int i = 0; i < 400 && state.session.message.find(part) == std::string::npos; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            session::update(state.session, false);
        }
        EXPECT_NE(state.session.message.find(part), std::string::npos) << state.session.message;
    };
    stand_in(
        "slow",
        "test $TILESCOPE_PROGRESS = 1 && printf '\\r3 of 1200 steps\\r12 of 1200 steps' >&2\nsleep 60\n");
    EXPECT_EQ(state.session.message,
              "Exporting to '" + (folder / "a.gif").string() + "'; Shift + Esc stops it.");
    wait_for("a.gif': 12 of 1,200 steps; Shift + Esc stops it.");
    state.session.message = "Another message stays.";
    session::update(state.session, false);
    EXPECT_EQ(state.session.message, "Another message stays.");
    // Until it has ended its file is its own: no other export begins. Stopped twice it is stopped once.
    press(state, {Key::Escape, true});
    press(state, {Key::Escape, true});
    EXPECT_EQ(state.session.message, "Stopping the export to '" + (folder / "a.gif").string() + "'.");
    run_command(state.input, state.session, offers(), "export:trace_csv");
    input::set_text(state.input.path.path, (folder / "b.csv").string());
    take_path(state.input, state.session);
    EXPECT_NE(state.input.path.problem.find("a.gif"), std::string::npos) << state.input.path.problem;
    state.input.path = {};
    wait_for("Stopped; '" + (folder / "a.gif").string() + "' was not written.");
    EXPECT_FALSE(state.session.exporting);

    stand_in("wrong", "printf '\\r3 of 4 steps\\r\\033[Ktilescope: no room for it\\nmore\\n' >&2\nexit 1\n");
    wait_for("Not exported: no room for it.");
    EXPECT_FALSE(state.session.exporting);
    stand_in("right", "printf '\\r4 of 4 steps\\r\\033[K' >&2\n");
    wait_for("Exported as '" + (folder / "a.gif").string() + "'.");
    fs::remove_all(folder);
}

TEST_F(Exports, AFilmOfSteps) {
    state.session.cursor.step = 11;
    const Words words = this->words("film_steps_gif");
    EXPECT_NE(std::ranges::find(words, "12:31"), words.end());
    EXPECT_EQ(export_name(state.session, *find_export("film_steps_gif")),
              "tiled-64x64x64-t16-steps12-31.gif");
    state.session.cursor.step = made.index->steps - 3;
    const std::string last = std::to_string(made.index->steps);
    EXPECT_EQ(export_name(state.session, *find_export("film_steps_mp4")),
              "tiled-64x64x64-t16-steps" + std::to_string(made.index->steps - 2) + "-" + last + ".mp4");
}

TEST_F(Exports, AFilmIsOfThePhaseAsItIsSeen) {
    const PhaseSpan span = made.index->spans[1];
    state.session.cursor.step = span.end - 1;
    state.session.theme = draw::Theme::Dark;
    state.session.lecture = true;
    EXPECT_EQ(words("film_gif"), (Words{"export", "kept.tsc", "--format", "gif", "-o", "out", "--steps",
                                        std::to_string(span.first + 1) + ":" + std::to_string(span.end),
                                        "--theme", "dark", "--lecture"}));
    EXPECT_EQ(export_name(state.session, *find_export("film_gif")), "tiled-64x64x64-t16-phase1.gif");
    state.session.motion = false;
    const Words still = words("film_gif");
    EXPECT_EQ(still.back(), "8") << "a picture a step";
    state.session.cursor.step = made.index->steps - 1;
    EXPECT_EQ(export_name(state.session, *find_export("film_mp4")), "tiled-64x64x64-t16-after.mp4");
}

TEST_F(Exports, ThePaletteLeadsToTheBoxWithANameInIt) {
    const auto found = find_commands(state.session, offers(), "export perfetto");
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].id, "export:trace_perfetto");
    run_command(state.input, state.session, offers(), found[0].id);
    EXPECT_EQ(state.input.path.mode, input::PathBox::Mode::Save);
    EXPECT_EQ(state.input.path.path.text, state.session.last_folder + "tiled-64x64x64-t16.perfetto.json");
    EXPECT_EQ(state.input.path.exported, "trace_perfetto");
    state.session.exporting.emplace().path = "another.csv";  // or else this would call itself
    take_path(state.input, state.session);
    EXPECT_NE(state.input.path.problem.find("another.csv"), std::string::npos) << "one at a time";
    const app::State nothing;
    for (const Command& command : find_commands(nothing.session, offers(), "export trace"))
        EXPECT_NE(command.id.substr(0, 7), "export:") << "there is nothing to export";
}

// A lesson's handout, while one is walked or chosen, with no recording too.
TEST(HandoutExport, IsOfTheLessonAtHand) {
    State state;
    const auto offered = [&] {
        update(state, true);
        const auto found = find_commands(state.session, offers(), "export handout");
        return !found.empty() && found[0].id == "export:lesson_html";
    };
    EXPECT_FALSE(offered()) << "no lesson is at hand";
    state.session.screen = "lessons";
    state.lessons.listed = 2;
    ASSERT_TRUE(offered());
    const std::string name = lessons::lesson_list()[2].name;
    run_command(state.input, state.session, offers(), "export:lesson_html");
    EXPECT_EQ(state.input.path.path.text, state.session.last_folder + name + "-handout.html");
    state.session.screen = "step";
    EXPECT_FALSE(offered());
    go_to_stop(state.lessons, state.session, 1, 0);
    ASSERT_TRUE(offered()) << "on whichever screen its stop stands";
    EXPECT_EQ(state.session.lesson, lessons::lesson_list()[1].name);
}

// Nor onto one that was open before, by whatever name.
TEST_F(Exports, NeverOntoARecordingThatWasRead) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("tilescope-onto-" + std::to_string(getpid()));
    fs::create_directories(folder);
    write_whole((folder / "a.tsc").string(), "recording");
    fs::create_hard_link(folder / "a.tsc", folder / "hard.csv");
    state.session.recent_files = {(folder / "a.tsc").string()};
    for (const char* name : {"a.tsc", "hard.csv"}) {
        run_command(state.input, state.session, offers(), "export:trace_csv");
        state.input.path.path.text = (folder / name).string();
        for (int enter = 0; enter < 2; ++enter) take_path(state.input, state.session);
        EXPECT_NE(state.input.path.problem.find("that is read"), std::string::npos)
            << state.input.path.problem;
        EXPECT_FALSE(state.session.exporting);
    }
    fs::remove_all(folder);
}

}  // namespace
}  // namespace tilescope::app
