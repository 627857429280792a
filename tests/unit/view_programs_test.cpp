// Programs in the window: the call that runs one, the list of launches that comes back, and what keys do with
// it. The child is a script in place of this program.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/programs/model.h"
#include "app/session/programs.h"
#include "tests/file_text.h"
#include "tests/program_child.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST(Programs, AreCalledWithTheirWordsAsTheyAre) {
    const session::ProgramOrder order{"/a b/x';$(y).cu", R"(-n 5 "two words" it''s '')", "", "", ""};
    const auto words = session::program_arguments(order, "/tmp/f");
    ASSERT_TRUE(words);
    EXPECT_EQ(*words, (Words{"record", "/a b/x';$(y).cu", "--json", "-o", "/tmp/f", "--", "-n", "5",
                             "two words", "its", ""}));
    const auto more = session::program_arguments({"x.cu", "", "transpose", "2, 5 7", "0:1,2:4"}, "f");
    ASSERT_TRUE(more);
    EXPECT_EQ(*more, (Words{"record", "x.cu", "--json", "-o", "f", "--kernel", "transpose", "--launch", "2",
                            "--launch", "5", "--launch", "7", "--blocks", "0:1,2:4"}));
    const auto all = session::program_arguments({"x.cu", "", "", "all", ""}, "f");
    EXPECT_EQ(*all, (Words{"record", "x.cu", "--json", "-o", "f", "--every"}));
    session::ProgramOrder built{"x.cu", "5", "", "", ""};
    built.device = "A100";
    built.flags = "-O2 'other file.cu'";
    const auto how = session::program_arguments(built, "f");
    EXPECT_EQ(*how, (Words{"record", "x.cu", "--json", "-o", "f", "--device", "A100", "--flags",
                           "-O2 'other file.cu'", "--", "5"}));
    for (const char* wrong : {"0", "-1", "two", "2x", "99999999999999999999"})
        EXPECT_FALSE(session::program_arguments({"x.cu", "", "", wrong, ""}, "f")) << wrong;
    EXPECT_FALSE(session::program_arguments({"x.cu", "'open", "", "", ""}, "f"));
}

TEST(Programs, ReadTheListOfLaunches) {
    const auto list = session::launches_from_json(
        list_json(launch_json(1, "copy", "f/copy.1.tsc") + "," +
                      launch_json(2, "t", "", R"("thread[0,5] reads in[64], 4 bytes past its end")"),
                  3));
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ(list->exit, 3);
    EXPECT_EQ(list->compiler, "clang 14.0.6");
    ASSERT_EQ(list->launches.size(), 2u);
    EXPECT_EQ(list->launches[0].recorded, "f/copy.1.tsc");
    EXPECT_EQ(list->launches[0].error, "");
    EXPECT_EQ(list->launches[0].grid, (Dim3{64, 64, 1}));
    EXPECT_EQ(list->launches[1].recorded, "");
    EXPECT_NE(list->launches[1].error.find("4 bytes past"), std::string::npos);
}

// The interpreter's time is none of a kernel on a GPU.
TEST(Programs, SayWhoseTimeALaunchTook) {
    session::LaunchList list;
    list.backend = "cpu";
    EXPECT_STREQ(programs::time_head(list), "CPU ms");
    list.backend = "gpu";
    EXPECT_STREQ(programs::time_head(list), "GPU ms");
}

// One that repeats another has no recording of its own, says which one it repeats, and leads to that.
TEST(Programs, ALaunchThatRepeatsAnotherSaysWhichOne) {
    std::string repeats = launch_json(3, "copy", "");
    ASSERT_EQ(repeats.back(), '}');
    repeats.insert(repeats.size() - 1, R"(,"same_as":1)");
    std::string first = launch_json(1, "copy", "f/copy.1.tsc");
    first.insert(first.size() - 1, R"(,"same_as":null)");
    const auto list = session::launches_from_json(list_json(first + "," + repeats));
    ASSERT_TRUE(list) << list.error().message;
    EXPECT_EQ(list->launches[0].same_as, 0u);
    EXPECT_EQ(list->launches[1].same_as, 1u);
    const programs::ProgramRow row = programs::row_of(list->launches[1]);
    EXPECT_EQ(row.state, "same as 1");
    EXPECT_FALSE(row.recorded || row.fault) << "it has neither sign";
    EXPECT_TRUE(programs::row_of(list->launches[0]).recorded);
    EXPECT_NE(programs::about(list->launches[1]).find("repeats launch 1"), std::string::npos);
    EXPECT_FALSE(session::launches_from_json(list_json(
        launch_json(1, "copy", "").insert(launch_json(1, "copy", "").size() - 1, R"(,"same_as":"one")"))));
}

TEST(Programs, TakeNoDamagedList) {
    const std::string good = list_json(launch_json(1, "copy", "f/copy.1.tsc"));
    ASSERT_TRUE(session::launches_from_json(good));
    for (size_t end = 0; end < good.size(); ++end)
        EXPECT_FALSE(session::launches_from_json(std::string_view(good).substr(0, end))) << end;
    for (size_t at = 0; at < good.size(); ++at)  // any byte changed: read or refused, but no crash
        for (const char c : {'\0', '"', '9', '-', '[', '\xFF'}) {
            std::string damaged = good;
            damaged[at] = c;
            const auto list = session::launches_from_json(damaged);
            if (list)
                for (const auto& launch : list->launches) programs::row_of(launch);
        }
    const auto without = [&](const std::string& part, const std::string& by) {
        std::string changed = good;
        changed.replace(changed.find(part), part.size(), by);
        return static_cast<bool>(session::launches_from_json(changed));
    };
    EXPECT_FALSE(without("[64,64,1]", "[64,64]"));
    EXPECT_FALSE(without("[64,64,1]", "[64,64,4294967296]"));
    EXPECT_FALSE(without("\"ms\":1.25", "\"ms\":-1"));
    EXPECT_FALSE(without("\"exit\":0", "\"exit\":1e300"));
    EXPECT_FALSE(without("launches/1", "launches/2"));
    EXPECT_FALSE(without("\"error\":null,", ""));
}

TEST(Programs, ALaterRunKeepsRecordingsOfTheSameLaunches) {
    const auto list = [](const std::string& launches) {
        return *session::launches_from_json(list_json(launches));
    };
    const session::LaunchList former =
        list(launch_json(1, "copy", "a.tsc") + "," + launch_json(2, "other", "b.tsc") + "," +
             launch_json(3, "last", "c.tsc"));
    const session::LaunchList later = session::with_recordings_of(
        list(launch_json(1, "copy", "") + "," + launch_json(2, "t", "") + "," +
             launch_json(3, "last", "", "null", "[1,1,1]") + "," + launch_json(4, "new", "d.tsc")),
        former);
    EXPECT_EQ(later.launches[0].recorded, "a.tsc");
    EXPECT_EQ(later.launches[1].recorded, "") << "another kernel";
    EXPECT_EQ(later.launches[2].recorded, "") << "another grid";
    EXPECT_EQ(later.launches[3].recorded, "d.tsc");
}

TEST(Programs, ShowWhatWasPrintedInLinesThatFit) {
    EXPECT_EQ(programs::lines_of("a\nbb\n\nc", 80), (Words{"a", "bb", "", "c"}));
    EXPECT_EQ(programs::lines_of("abcdefgh\n", 3), (Words{"abc", "def", "gh"}));
    EXPECT_EQ(programs::lines_of("10%\r50%\r100%\nend\r\n", 80), (Words{"100%", "end"}));
    EXPECT_EQ(programs::lines_of("a\tb", 80), (Words{"a       b"}));
    EXPECT_EQ(programs::lines_of("\xC3\xBC\xC3\xBC\xC3\xBC", 2), (Words{"\xC3\xBC\xC3\xBC", "\xC3\xBC"}))
        << "characters are not cut";
    EXPECT_EQ(programs::lines_of("", 80), Words{});
}

TEST(Programs, FindTheSentenceOfTheCommand) {
    EXPECT_EQ(session::sentence_in("x.cu:3:1: error: no\ntilescope: 'x.cu' does not compile\n"),
              "'x.cu' does not compile");
    EXPECT_EQ(session::sentence_in("all well\n"), "");
}

TEST(Programs, ExamplesAreWrittenWhereACompilerFindsThem) {
    std::string name = (fs::temp_directory_path() / "tilescope-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    const char* const was = std::getenv("XDG_CACHE_HOME");
    const std::string kept = was != nullptr ? was : "";
    setenv("XDG_CACHE_HOME", name.c_str(), 1);
    const auto all = session::examples_of(
        {{"kernels/examples/vector_add.cu", "// Vector add:\n// a pair each. Look at: loads.\nint x;\n"},
         {"kernels/examples/bare.cu", "int main() {}\n"}});
    EXPECT_EQ(all[0].name, "vector_add");
    EXPECT_EQ(all[0].about, "Vector add: a pair each.");
    EXPECT_EQ(all[1].about, "");
    const auto path = session::path_of(all[0]);
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_EQ(*path, name + "/tilescope/examples/vector_add.cu");
    EXPECT_EQ(file_text(*path), all[0].text);
    std::ofstream(*path) << "int changed;";
    EXPECT_EQ(*session::path_of(all[0]), *path);
    EXPECT_EQ(file_text(*path), all[0].text) << "it is again as it ships";
    was != nullptr ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    fs::remove_all(name);
}

class RunPrograms : public ProgramChild {
protected:
    void to_end() {
        for (int turn = 0; turn < 100 && update(state, true); ++turn) continue;
        update(state, true);  // as a frame ends: what has come is taken up
        ASSERT_TRUE(state.session.program);
        ASSERT_FALSE(state.session.program->running);
    }
    const session::ProgramRun& ended() const { return state.session.program->ended; }
    std::string asked() const { return file_text(at("asked")); }
    State state;
};

TEST_F(RunPrograms, LeadToTheStepScreenOfTheFirstRecording) {
    child(state.session, two_launches("echo checked >&2\n"));
    session::open_file(state.session, program_);
    EXPECT_EQ(state.session.screen, "program");
    to_end();
    EXPECT_EQ(ended().problem, "");
    EXPECT_EQ(ended().written, "checked\n");
    ASSERT_TRUE(ended().list);
    EXPECT_EQ(ended().list->launches.size(), 2u);
    EXPECT_EQ(state.session.screen, "step");
    ASSERT_TRUE(state.session.recording);
    EXPECT_EQ(state.session.recording->origin, "my transpose.cu, launch 1");
    EXPECT_EQ(state.session.recent_files, Words{program_}) << "the program, not its recordings";
    EXPECT_EQ(asked().substr(0, program_.size() + 15), "record\n" + program_ + "\n--json\n");
}

// Its host code runs on this machine: one that is dropped on the window waits for Enter.
TEST_F(RunPrograms, OneThatIsDroppedAsksFirst) {
    child(state.session, two_launches());
    input::ask_to_run(state.input, state.session, program_);
    EXPECT_EQ(state.input.path.mode, input::PathBox::Mode::Open);
    EXPECT_NE(state.input.path.problem.find("Enter compiles and runs it"), std::string::npos);
    handle_input(state, press(Key::Escape));
    EXPECT_EQ(state.input.path.mode, input::PathBox::Mode::Closed);
    EXPECT_FALSE(state.session.program);
    input::ask_to_run(state.input, state.session, program_);
    handle_input(state, press(Key::Enter));
    ASSERT_TRUE(state.session.program);
    to_end();
    EXPECT_EQ(ended().problem, "");
    EXPECT_EQ(state.input.path.mode, input::PathBox::Mode::Closed);
}

TEST_F(RunPrograms, ALaunchThatWasNotRecordedIsRecordedByAnotherRun) {
    child(state.session, two_launches());
    session::open_file(state.session, program_);
    to_end();
    state.session.screen = "program";
    const std::string first = ended().list->launches[0].recorded;
    child(state.session, "record transpose.2.tsc\ncat <<END\n" +
                             list_json(launch_json(1, "copy", "") + "," +
                                       launch_json(2, "transpose", "$FOLDER/transpose.2.tsc")) +
                             "\nEND");
    handle_input(state, press(Key::Down));
    handle_input(state, press(Key::Enter));
    to_end();
    EXPECT_NE(asked().find("--launch\n2\n"), std::string::npos) << asked();
    EXPECT_EQ(state.session.recording->origin, "my transpose.cu, launch 2");
    EXPECT_EQ(ended().list->launches[0].recorded, first);
    EXPECT_TRUE(fs::exists(first)) << "the former recording stays";
    // By the palette, from another screen.
    const auto found = find_commands(state.session, offers(), "launch 1");
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].id, "launch:1");
    run_command(state.input, state.session, offers(), found[0].id);
    to_end();
    EXPECT_EQ(state.session.recording->origin, "my transpose.cu, launch 1");
    // The other launch beside it.
    const auto pair = find_commands(state.session, offers(), "compare with launch 2");
    ASSERT_FALSE(pair.empty());
    EXPECT_EQ(pair[0].id, "beside:2");
    run_command(state.input, state.session, offers(), pair[0].id);
    to_end();
    EXPECT_EQ(state.session.screen, "compare");
    ASSERT_TRUE(state.session.pair.other.recording);
    EXPECT_EQ(state.session.pair.other.recording->origin, "my transpose.cu, launch 2");
    EXPECT_EQ(state.session.recording->origin, "my transpose.cu, launch 1");
    EXPECT_EQ(find_commands(state.session, offers(), "launches of my transpose")[0].id,
              "action:screen_program");
    const std::string folder = *state.session.program->folders[0];
    state.session.program.reset();
    state.session.opening.reset();
    state.session.jobs = std::make_shared<session::Jobs>();  // waits for what held the folder
    EXPECT_FALSE(fs::exists(folder)) << "recordings go with the program";
}

// The launches of the program that is open stand before what ships, in both lists that offer a second recording.
TEST_F(RunPrograms, ItsLaunchesAreTheFirstPairToCompare) {
    child(state.session, "record copy.1.tsc\nrecord copy.2.tsc\nrecord transpose.3.tsc\ncat <<END\n" +
                             list_json(launch_json(1, "copy", "$FOLDER/copy.1.tsc") + "," +
                                       launch_json(2, "copy", "$FOLDER/copy.2.tsc") + "," +
                                       launch_json(3, "transpose", "$FOLDER/transpose.3.tsc")) +
                             "\nEND");
    EXPECT_FALSE(session::launch_pair(state.session));
    session::open_file(state.session, program_);
    to_end();
    const auto pair = session::launch_pair(state.session);
    ASSERT_TRUE(pair);
    EXPECT_EQ(pair->title, "Launches 1 and 3 of my transpose.cu") << "the next one of another kernel";
    handle_input(state, press(Key::B, false, true));
    auto offered = suggestions(state.input.path, state.session);
    ASSERT_GE(offered.size(), 2u);
    EXPECT_EQ(offered[0].text, "launch 2 of my transpose.cu: copy") << "the open one is not beside itself";
    EXPECT_EQ(offered[1].text, "launch 3 of my transpose.cu: transpose");
    handle_input(state, press(Key::Down));
    handle_input(state, press(Key::Enter));
    to_end();
    ASSERT_TRUE(state.session.pair.other.recording);
    EXPECT_EQ(state.session.pair.other.recording->origin, "my transpose.cu, launch 2");
    EXPECT_EQ(state.input.path.mode, PathBox::Mode::Closed);
    // The list begins with the pair, and the pairs that ship come behind one's own.
    handle_input(state, press(Key::V));
    state.compare.chosen = 0;
    handle_input(state, press(Key::Enter));
    compare::ready(state.compare, state.session, true);
    EXPECT_EQ(state.session.recording->origin, "my transpose.cu, launch 1");
    EXPECT_EQ(state.session.pair.other.recording->origin, "my transpose.cu, launch 3");
    EXPECT_EQ(state.session.pair.launches, pair);
    handle_input(state, press(Key::V));
    const size_t own = session::own_pairs(state.session).size();
    for (size_t i = 0; i < own + 1; ++i) handle_input(state, press(Key::Right));
    handle_input(state, press(Key::Enter));
    EXPECT_EQ(state.session.pair.preset, 1);
    EXPECT_FALSE(state.session.pair.launches);
}

// Words of the field that a program shows lead to that program.
TEST_F(RunPrograms, AWordLeadsToItsProgram) {
    for (const auto& [query, name] : {std::pair{"corner turning", "corner_turning.cu"}}) {
        child(state.session, two_launches());
        run_command(state.input, state.session, offers(),
                    find_commands(state.session, offers(), query)[0].id);
        to_end();
        EXPECT_EQ(state.session.program->name, name);
    }
}

TEST_F(RunPrograms, WhatDoesNotCompileSaysWhy) {
    child(state.session,
          "echo \"x.cu:3:5: error: unknown type name 'flaot'\" >&2\n"
          "echo \"tilescope: 'x.cu' does not compile; see what clang says\" >&2\nexit 1");
    session::open_file(state.session, program_);
    to_end();
    EXPECT_EQ(state.session.screen, "program");
    EXPECT_EQ(ended().problem, "'x.cu' does not compile; see what clang says.");
    EXPECT_NE(ended().written.find("flaot"), std::string::npos);
    EXPECT_FALSE(ended().list);
    child(state.session, two_launches());
    handle_input(state, press(Key::Enter));  // once more, when the file is right
    to_end();
    EXPECT_EQ(state.session.screen, "step");
}

TEST_F(RunPrograms, EveryLaunchThatWentWrongIsCounted) {
    const char* const wrong = R"("thread[0,5] reads past the end")";
    const auto said = [&](const std::string& launches) {
        child(state.session, "cat <<END\n" + list_json(launches, 0) + "\nEND\nexit 1");
        session::open_file(state.session, program_);
        to_end();
        return ended().problem;
    };
    EXPECT_EQ(said(launch_json(1, "copy", "") + "," + launch_json(2, "t", "", wrong)),
              "Launch 2 went wrong; below the list stands how.");
    EXPECT_EQ(said(launch_json(1, "copy", "", wrong) + "," + launch_json(2, "t", "", wrong)),
              "2 of 2 launches went wrong, launch 1 first; choose one to read how.");
}

TEST_F(RunPrograms, AFaultStaysOnTheListOfLaunches) {
    child(state.session, "record copy.1.tsc\ncat <<END\n" +
                             list_json(launch_json(1, "copy", "$FOLDER/copy.1.tsc") + "," +
                                           launch_json(2, "t", "", R"("thread[0,5] reads past the end")"),
                                       1) +
                             "\nEND\nexit 1");
    session::open_file(state.session, program_);
    to_end();
    EXPECT_EQ(state.session.screen, "program");
    EXPECT_EQ(ended().problem, "The program ended with status 1.");
    EXPECT_EQ(state.programs.chosen, 1u) << "it stands on the launch at fault";
    EXPECT_EQ(programs::about(ended().list->launches[1]), "thread[0,5] reads past the end");
    handle_input(state, press(Key::Up));
    handle_input(state, press(Key::Enter));
    to_end();
    EXPECT_EQ(state.session.screen, "step");
}

TEST_F(RunPrograms, EscEndsOne) {
    child(state.session, "echo begun >&2\nsleep 60");
    session::open_file(state.session, program_);
    for (int i = 0; i < 3000; ++i) {  // half a minute at most
        const std::lock_guard lock(state.session.program->hearing->mutex);
        if (state.session.program->hearing->bytes > 0) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(update(state, false)) << "it runs";
    handle_input(state, press(Key::Escape));
    to_end();
    EXPECT_EQ(ended().problem, "It was stopped.");
    EXPECT_LT(ended().seconds, 45);
    EXPECT_EQ(state.session.screen, "program");
    EXPECT_EQ(ended().written, "begun\n");
}

TEST_F(RunPrograms, OneThatPrintsWithoutEndIsEnded) {
    child(state.session, "exec yes abcdefghijklmnopqrstuvwxyz0123456789 >&2");
    session::open_file(state.session, program_);
    to_end();
    EXPECT_NE(ended().problem.find("printed more than"), std::string::npos) << ended().problem;
    EXPECT_LE(ended().written.size(), session::kMostKept);
}

TEST_F(RunPrograms, WhoeverWentElsewhereIsToldAndLeftThere) {
    child(state.session, two_launches("sleep 0.2\n"));
    session::open_file(state.session, program_);
    perform(state, "screen_limits");
    to_end();
    EXPECT_EQ(state.session.screen, "limits");
    EXPECT_NE(state.session.message.find("Program screen"), std::string::npos) << state.session.message;
}

TEST_F(RunPrograms, OneThatIsNotThereIsNotRun) {
    session::open_file(state.session, at("none.cu"));
    EXPECT_FALSE(state.session.program);
    EXPECT_NE(state.session.message.find("none.cu"), std::string::npos);
    session::open_file(state.session, program_, true);
    EXPECT_FALSE(state.session.program) << "beside a recording";
}

TEST_F(RunPrograms, ThePathBoxOffersThem) {
    state.input.path.mode = PathBox::Mode::Open;
    set_text(state.input.path.path, folder_.string() + "/");
    auto all = suggestions(state.input.path, state.session);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].kind, Suggestion::Kind::Program);
    state.input.path.beside = true;
    EXPECT_TRUE(suggestions(state.input.path, state.session).empty());
    state.input.path.beside = false;
    child(state.session, two_launches());
    state.input.path.chosen = 1;
    take_path(state.input, state.session);
    EXPECT_TRUE(state.session.program);
    update(state, false);
    EXPECT_EQ(state.input.path.mode, PathBox::Mode::Closed);
    to_end();
}

}  // namespace
}  // namespace tilescope::app
