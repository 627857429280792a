// A lecturer's own lessons: files and folders of them, what is not read of a stranger's, stops that are added
// where one stands; and the way through a lesson's end to the next one.
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/lessons/asking.h"
#include "app/lessons/own.h"
#include "core/trace/file.h"
#include "kernels/textbook/catalogue.h"
#include "tests/app_names.h"
#include "tests/file_text.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"
#include "tests/ring_of_stages.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

namespace fs = std::filesystem;
using platform::Key;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

platform::Input keys(std::initializer_list<Key> pressed, bool control = false) {
    platform::Input input;
    for (const Key key : pressed) input.presses.push_back({key, false, control});
    return input;
}
platform::Input typed(const std::string& text) {
    platform::Input input;
    for (const char c : text) {
        platform::KeyPress press;
        press.character = static_cast<char32_t>(c);
        input.presses.push_back(press);
    }
    return input;
}

// An empty folder, removed afterwards; the current folder of the test.
class OwnLessons : public testing::Test {
protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("tilescope-own-" + std::to_string(::getpid()) + "-" +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
        fs::create_directories(folder);
        before = fs::current_path();
        fs::current_path(folder);
        ASSERT_TRUE(
            trace::write_file(kernels::recorded("tiled", {4, 4, 4, 2}), (folder / "mine.tsc").string()));
    }
    void TearDown() override {
        fs::current_path(before);
        fs::remove_all(folder);
    }
    std::string lesson(const std::string& stops, const std::string& more = "") const {
        return R"({"title":"Tiles","teaches":"What a tile is.",)" + more + R"("stops":[)" + stops + "]}";
    }
    std::string error_of(const std::string& text) const {
        write(folder / "it.json", text);
        const auto read = lessons::read_lesson((folder / "it.json").string());
        return read ? "" : read.error().message;
    }
    fs::path folder, before;
};

constexpr const char* kMine =
    R"({"file":"mine.tsc","kind":"global load","array":"M","say":"{lanes} lanes load {array}."})";

TEST_F(OwnLessons, AFileIsListedAndWalked) {
    write(folder / "tiles.json",
          lesson(std::string(kMine) + R"(,{"kind":"shared load","step":7,"say":"Step {step}."})",
                 R"("summary":["{loads} loads of {elements} elements.","Plain."],)"));
    State state;
    session::open_file(state.session, (folder / "tiles.json").string());
    update(state, true);
    EXPECT_EQ(state.session.message, "");
    EXPECT_EQ(state.session.screen, "lessons");
    const size_t number = lesson_list().size();
    ASSERT_EQ(state.lessons.lessons->size(), number + 1);
    EXPECT_EQ(state.lessons.listed, number);
    EXPECT_EQ(state.lessons.lessons->back().name, "tiles") << "as its file is called";
    handle_input(state, keys({Key::Enter}), true);
    update(state, true);
    ASSERT_TRUE(state.session.walking) << state.session.message;
    EXPECT_EQ(state.lessons.standing.words, "4 lanes load M.");
    EXPECT_EQ(state.session.screen, "step");
    const uint64_t serial = state.session.recording->serial;
    // The second stop is on the recording of the first, which is not opened again.
    handle_input(state, keys({Key::PageDown}), true);
    update(state, true);
    EXPECT_EQ(state.lessons.note, "");
    EXPECT_EQ(state.lessons.standing.words, "Step 7.");
    EXPECT_EQ(state.session.cursor.step, 6u);
    EXPECT_EQ(state.session.recording->serial, serial);
    // Its end says what the recording holds: 2 of 4 x 4 inputs, each loaded twice with T = 2.
    handle_input(state, keys({Key::PageDown}), true);
    EXPECT_EQ(state.lessons.summary, (std::vector<std::string>{"64 loads of 32 elements.", "Plain."}));
    EXPECT_EQ(next_lesson(state.lessons, state.lessons.lesson), std::nullopt);
    handle_input(state, keys({Key::PageDown}), true);
    EXPECT_FALSE(state.session.walking);
    EXPECT_EQ(state.session.screen, "lessons");
}

TEST_F(OwnLessons, AFolderIsListedByOrderAndOpenedAgain) {
    write(folder / "b.json", lesson(kMine, R"("order":1,)"));
    write(folder / "a.json", lesson(kMine, R"("order":2,)"));
    write(folder / "deep" / "lesson.json",
          lesson(R"({"kernel":"tiled","m":4,"k":4,"n":4,"tile":2,"say":"x"})"));
    write(folder / "deep" / "other.json", "no lesson is looked for here");
    State state;
    const auto opened = lessons::open_own(state.lessons, state.session, folder.string());
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(*opened, "");
    const size_t ships = lesson_list().size();
    const auto& all = *state.lessons.lessons;
    ASSERT_EQ(all.size(), ships + 3);
    EXPECT_EQ(all[ships].name, "lesson");
    EXPECT_EQ(all[ships + 1].name, "b");
    EXPECT_EQ(all[ships + 2].name, "a");
    EXPECT_EQ(next_lesson(state.lessons, ships - 1), std::nullopt) << "the course does not lead into it";
    EXPECT_EQ(next_lesson(state.lessons, ships), ships + 1);
    ASSERT_TRUE(lessons::open_own(state.lessons, state.session, folder.string() + "/"));
    EXPECT_EQ(state.lessons.lessons->size(), ships + 3) << "in place of the same ones";
    // What cannot be read is left out, and said.
    write(folder / "c.json", "{}");
    const auto again = lessons::open_own(state.lessons, state.session, folder.string());
    ASSERT_TRUE(again);
    EXPECT_NE(again->find("1 of 4 lessons cannot be used. The lesson '"), std::string::npos) << *again;
    fs::create_directory(folder / "empty");
    EXPECT_NE(lessons::open_own(state.lessons, state.session, (folder / "empty").string())
                  .error()
                  .message.find("has no lesson"),
              std::string::npos);
}

// The palette finds them as it does those that ship, by their titles, and begins them.
TEST_F(OwnLessons, StandInThePalette) {
    write(folder / "a.json", lesson(kMine));
    write(folder / "b.json",
          R"({"title":"Homework on bank conflicts","teaches":"x","stops":[)" + std::string(kMine) + "]}");
    State state;
    const auto found = [&](std::string_view query) {
        return input::find_commands(state.session, offers(), query);
    };
    const auto all_own = [&] {
        return std::ranges::count_if(
            found(""), [](const input::Command& one) { return one.title.starts_with("Lesson: Homework"); });
    };
    EXPECT_EQ(all_own(), 0);
    for (int opened = 0; opened < 2; ++opened) {  // twice: it is listed once
        ASSERT_TRUE(lessons::open_own(state.lessons, state.session, folder.string()));
        EXPECT_EQ(all_own(), 1);
    }
    const auto homework = found("homework");
    ASSERT_FALSE(homework.empty());
    EXPECT_EQ(homework[0].title, "Lesson: Homework on bank conflicts");
    run_command(state.input, state.session, offers(), homework[0].id);
    update(state, true);
    EXPECT_TRUE(state.session.walking) << state.session.message;
    EXPECT_EQ(state.lessons.lesson, lesson_list().size() + 1);
    EXPECT_EQ(state.lessons.standing.words, "4 lanes load M.");
    // One that is added with Ctrl+N does too, at once.
    ASSERT_TRUE(lessons::add_stop(state.lessons, state.session, "Here it begins."));
    EXPECT_EQ(found("lesson my")[0].title, "Lesson: My lesson");
    // A file that is listed no longer begins nothing.
    state.session.walking = false;
    state.session.ask(wish::BeginLesson{(folder / "gone.json").string()});
    update(state, true);
    EXPECT_FALSE(state.session.walking);
}

TEST_F(OwnLessons, NothingOutsideTheFolderIsRead) {
    const auto file = [&](const std::string& name) {
        return error_of(lesson(R"({"file":")" + name + R"(","say":"x"})"));
    };
    EXPECT_EQ(file("mine.tsc"), "");
    EXPECT_EQ(file("./mine.tsc"), "");
    const fs::path outside = folder.string() + "-outside";
    fs::create_directories(outside);
    fs::copy_file(folder / "mine.tsc", outside / "mine.tsc", fs::copy_options::overwrite_existing);
    fs::create_symlink(outside / "mine.tsc", folder / "link.tsc");
    fs::create_directory_symlink(outside, folder / "away");
    for (const std::string& bad :
         {(folder / "mine.tsc").string(), "../" + folder.filename().string() + "/mine.tsc",
          "../" + outside.filename().string() + "/mine.tsc", std::string("link.tsc"),
          std::string("away/mine.tsc"), std::string("none.tsc"), std::string("."), std::string(""),
          std::string("it.json"), std::string("/etc/passwd"), std::string("a\\\\..\\\\mine.tsc"),
          std::string("mine.tsc\\u0000.tsc"), std::string(5000, 'a') + ".tsc"}) {
        const std::string error = file(bad);
        EXPECT_NE(error.find("in stop 1 its file"), std::string::npos) << bad << ": " << error;
        EXPECT_EQ(error.find('\n'), std::string::npos);
        EXPECT_LT(error.size(), 2100u);
    }
    fs::remove_all(outside);
    // A lesson that is a link is none of the folder's.
    write(folder / "good" / "x.json", lesson(R"({"kernel":"tiled","m":4,"k":4,"n":4,"tile":2,"say":"x"})"));
    fs::create_directory(folder / "links");
    fs::create_symlink(folder / "good" / "x.json", folder / "links" / "x.json");
    EXPECT_TRUE(session::lesson_files((folder / "links").string()).empty());
}

TEST_F(OwnLessons, SizesAreBounded) {
    const std::string stop = R"({"kernel":"tiled","m":4,"k":4,"n":4,"tile":2,"say":"x"})";
    std::string many = stop;
    for (size_t at = 1; at < lessons::kMostStops; ++at) many += "," + stop;
    EXPECT_EQ(error_of(lesson(many)), "");
    EXPECT_NE(error_of(lesson(many + "," + stop)).find("more than 100 stops"), std::string::npos);
    const std::string longest(lessons::kLongestSaid, 'x');
    const auto say = [&](const std::string& text) {
        return error_of(lesson(R"({"kernel":"tiled","m":4,"k":4,"n":4,"tile":2,"say":")" + text + "\"}"));
    };
    EXPECT_EQ(say(longest), "");
    EXPECT_NE(say(longest + "x").find("in stop 1 its field 'say' is longer"), std::string::npos);
    EXPECT_NE(error_of(std::string(lessons::kLargestLesson + 1, ' ')), "");
    EXPECT_NE(error_of(std::string(500'000, '[')), "");
    EXPECT_NE(error_of(lesson(stop, R"("summary":["{nothing}"],)")).find("'nothing', which is no fact"),
              std::string::npos);
    EXPECT_NE(error_of(lesson(stop, R"("sumary":["x"],)")).find("'sumary' means nothing"), std::string::npos);
    EXPECT_NE(error_of(lesson(R"({"kernel":"tiled","m":4,"k":4,"n":4,"tile":2,"step":0,"say":"x"})"))
                  .find("in stop 1 its field 'step'"),
              std::string::npos);
    // What a terminal or a screen would obey is taken out.
    write(folder / "bell.json", R"({"title":"a\u001b[31m\nb","teaches":"c","stops":[)" + stop + "]}");
    const auto read = lessons::read_lesson((folder / "bell.json").string());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->title, "a\xEF\xBF\xBD[31m b");
}

// What a stop makes its reader wait for is known before anything is recorded: requests, padding included.
TEST_F(OwnLessons, WhatIsRecordedForThemIsBounded) {
    const auto on = [](const char* kernel, uint32_t m, uint32_t k, uint32_t n, uint32_t tile) {
        return fmt::format(R"({{"kernel":"{}","m":{},"k":{},"n":{},"tile":{},"say":"x"}})", kernel, m, k, n,
                           tile);
    };
    for (const std::string& stop :
         {on("tiled", 1, 16'777'216, 1, 2), on("tiled", 100'000, 100'000, 100'000, 16),
          on("untiled", 1, 1 << 24, 1, 2), on("tiled_no_barrier", 65'536, 1, 256, 2),
          on("untiled", 1 << 24, 1, 1, 32)})
        EXPECT_NE(error_of(lesson(stop)).find("in stop 1 its product takes more than 4,000,000 requests"),
                  std::string::npos)
            << stop << error_of(lesson(stop));
    EXPECT_EQ(error_of(lesson(on("tiled", 256, 256, 256, 16))), "");
    // A recording is made once for the stops in a row that stand on it, and again for others.
    const std::string one = on("tiled", 256, 256, 256, 16), other = on("tiled", 256, 256, 255, 16);
    std::string same = one, changing = one;
    for (size_t at = 1; at < lessons::kMostStops; ++at) {
        same += "," + one;
        changing += "," + (at % 2 == 0 ? one : other);
    }
    EXPECT_EQ(error_of(lesson(same)), "");
    EXPECT_NE(error_of(lesson(changing)).find("its stops take more than 16,000,000 requests together"),
              std::string::npos)
        << error_of(lesson(changing));
    // The estimate is near what recordings hold.
    for (const kernels::KernelInfo& info : kernels::catalogue())
        for (const uint32_t tile : {2u, 16u}) {
            const kernels::Shape shape{64, 48, 40, info.own_tile ? 0 : tile};
            const auto plan = kernels::plan(info.name, shape);
            ASSERT_TRUE(plan) << plan.error().message;
            const auto trace = kernels::record_cpu(*plan, {});
            ASSERT_TRUE(trace) << trace.error().message;
            const auto steps = static_cast<double>(trace->steps());
            const auto about = static_cast<double>(kernels::requests_about(info, shape));
            EXPECT_GT(about, steps * 0.5) << info.name << " T=" << shape.tile;
            // Vector loads are counted as four.
            EXPECT_LT(about, steps * 4) << info.name << " T=" << shape.tile;
        }
}

// Any one byte changed, taken out or doubled: the lesson is read, or one sentence says why not.
TEST_F(OwnLessons, DamageIsOneSentence) {
    const std::string good = lesson(kMine, R"("order":3,"summary":["{loads}"],"made_by":"tilescope",)");
    const auto one = [&](const std::string& text) {
        const auto read = lessons::lesson_from_json(text, "it");
        if (read) return;
        const std::string& said = read.error().message;
        EXPECT_EQ(said.back(), '.') << said;
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    };
    for (size_t at = 0; at < good.size(); ++at) {
        one(good.substr(0, at));
        one(good.substr(0, at) + good.substr(at + 1));
        for (const char c : {'"', '{', '[', ',', '9', '\x01', '\xff', '\\'}) {
            std::string changed = good;
            changed[at] = c;
            one(changed);
        }
    }
}

// --- stops that are added

TEST_F(OwnLessons, CtrlNKeepsAStopOfAKernelThatShips) {
    State state;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    state.session.cursor = {1, 4};
    update(state, true);
    state.session.screen = "timing";
    handle_input(state, keys({Key::N}, true));
    EXPECT_TRUE(state.lessons.adding.open);
    EXPECT_EQ(state.session.screen, "step");
    handle_input(state, typed("{lans} q5. "));
    EXPECT_EQ(state.session.screen, "step") << "digits and letters are typed";
    EXPECT_FALSE(state.quits);
    handle_input(state, keys({Key::Enter}));
    EXPECT_EQ(state.lessons.adding.problem,
              "This cannot be kept: its sentence names 'lans', which is no fact.");
    EXPECT_FALSE(fs::exists(folder / "my-lesson"));
    handle_input(state, keys({Key::Home, Key::Right, Key::Right, Key::Right}));
    handle_input(state, typed("e"));
    handle_input(state, keys({Key::Right, Key::Right}));
    handle_input(state, keys({Key::Home, Key::Delete, Key::Delete, Key::Delete, Key::Delete, Key::Delete,
                              Key::Delete, Key::Delete}));
    handle_input(state, typed("{lanes} lanes of {array}, "));
    handle_input(state, keys({Key::Enter}));
    EXPECT_EQ(state.lessons.adding.problem, "");
    const fs::path file = folder / "my-lesson" / "lesson.json";
    EXPECT_EQ(state.session.message, "Stop 1 is in '" + file.string() + "'.");
    ASSERT_TRUE(fs::exists(file));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "my-lesson"), {}), 1)
        << "the recording is made again, not kept";
    // Another one goes behind it.
    state.session.cursor = {0, 0};
    update(state, true);
    const auto second = lessons::add_stop(state.lessons, state.session, "Here it begins.");
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(*second, "Stop 2 is in '" + file.string() + "'.");

    State reader;
    ASSERT_TRUE(lessons::open_own(reader.lessons, reader.session, file.string()));
    const lessons::Lesson& read = reader.lessons.lessons->back();
    ASSERT_EQ(read.stops.size(), 2u);
    go_to_stop(reader.lessons, reader.session, reader.lessons.listed, 0);
    update(reader, true);
    EXPECT_EQ(reader.lessons.note, "");
    EXPECT_EQ(reader.session.cursor, (playback::Cursor{1, 4}));
    EXPECT_EQ(reader.lessons.standing.words.substr(0, 11), "4 lanes of ") << reader.lessons.standing.words;
}

// Whatever a step does, a stop can be kept there: it is written, read again and stands on that very step.
TEST_F(OwnLessons, AStopIsKeptAtEveryKindOfStep) {
    std::set<std::string> kept;
    const auto keep_all = [&](State& state) {
        const trace::Trace& trace = state.session.trace();
        for (const analysis::StepKindRow& row : analysis::kStepKindRows) {
            for (uint32_t step = 0; step < trace.blocks[0].count; ++step) {
                if (look::kind_of(trace, trace.blocks[0].first + step) != row.kind) continue;
                state.session.cursor = {0, step};
                update(state, true);
                const auto added = lessons::add_stop(state.lessons, state.session, "At step {step}.");
                ASSERT_TRUE(added) << row.name << ": " << added.error().message;
                const std::string file = lessons::added_to(state.lessons);
                const auto read = lessons::read_lesson(file);
                ASSERT_TRUE(read) << row.name << ": " << read.error().message;
                EXPECT_EQ(read->stops.back().kind, row.kind) << row.name;
                EXPECT_NE(file_text(file).find("\"kind\": \"" + std::string(row.name) + "\""),
                          std::string::npos);
                State reader;
                ASSERT_TRUE(lessons::open_own(reader.lessons, reader.session, file));
                go_to_stop(reader.lessons, reader.session, reader.lessons.listed, read->stops.size() - 1);
                update(reader, true);
                EXPECT_EQ(reader.lessons.note, "") << row.name;
                EXPECT_EQ(reader.session.cursor, (playback::Cursor{0, step})) << row.name;
                EXPECT_EQ(reader.lessons.standing.words, "At step " + std::to_string(step + 1) + ".");
                EXPECT_EQ(lessons::stands_at(read->stops.back(), {}).find(row.name), 0u);
                kept.insert(row.name);
                break;
            }
        }
    };
    for (const trace::Trace& trace :
         {kernels::recorded("tiled", {4, 4, 4, 2}), kernels::recorded(kernels::bins()),
          kernels::recorded(kernels::filter()), kernels::recorded(kernels::ring_of_stages({}))}) {
        ASSERT_TRUE(trace::write_file(trace, (folder / (trace.meta.kernel + "-own.tsc")).string()));
        State state;
        session::open_file(state.session, (folder / (trace.meta.kernel + "-own.tsc")).string());
        update(state, true);
        keep_all(state);
    }
    {
        State state;
        session::open_shipped(state.session, "reduction_shuffle");
        update(state, true);
        ASSERT_TRUE(trace::write_file(state.session.trace(), (folder / "shuffles-own.tsc").string()));
        session::open_file(state.session, (folder / "shuffles-own.tsc").string());
        update(state, true);
        keep_all(state);
    }
    EXPECT_EQ(kept.size(), analysis::kStepKinds);
    State state;
    session::open_shipped(state.session, "memory_spaces");
    update(state, true);
    ASSERT_TRUE(state.session.recording) << state.session.message;
    keep_all(state);
}

// A recording of one's own goes into the folder with the lesson, which can then be moved elsewhere.
TEST_F(OwnLessons, AStopTakesItsRecordingAlong) {
    State state;
    session::open_file(state.session, (folder / "mine.tsc").string());
    update(state, true);
    ASSERT_TRUE(state.session.recording) << state.session.message;
    state.session.cursor.step = 6;
    update(state, true);
    ASSERT_TRUE(lessons::add_stop(state.lessons, state.session, "At step {step}."));
    ASSERT_TRUE(lessons::add_stop(state.lessons, state.session, "Once more."));
    const fs::path made = folder / "my-lesson";
    EXPECT_EQ(std::distance(fs::directory_iterator(made), {}), 2) << "the recording once, and the lesson";
    EXPECT_TRUE(fs::exists(made / "mine.tsc")) << "as its file is called";
    fs::remove(folder / "mine.tsc");
    fs::rename(made, folder / "handed-out");
    State reader;
    const auto opened = lessons::open_own(reader.lessons, reader.session, (folder / "handed-out").string());
    ASSERT_TRUE(opened) << opened.error().message;
    go_to_stop(reader.lessons, reader.session, reader.lessons.listed, 0);
    update(reader, true);
    EXPECT_EQ(reader.lessons.standing.words, "At step 7.") << reader.session.message;
}

// As a lecturer does it: stops with Ctrl+N, a question written into the file, one more stop, and the walk.
TEST_F(OwnLessons, AQuestionWrittenIntoItIsAskedAndStays) {
    State state;
    session::open_file(state.session, (folder / "mine.tsc").string());
    update(state, true);
    const auto add = [&](const std::string& text) {
        handle_input(state, keys({Key::N}, true));
        handle_input(state, typed(text));
        handle_input(state, keys({Key::Enter}));
        EXPECT_EQ(state.lessons.adding.problem, "");
    };
    add("{lanes} lanes load {touched} elements.");
    const fs::path file = folder / "my-lesson" / "lesson.json";
    std::string text = file_text(file.string());
    const std::string say = "\"say\": \"{lanes} lanes load {touched} elements.\"";
    ASSERT_NE(text.find(say), std::string::npos) << text;
    text.insert(text.find(say) + say.size(),
                R"(, "ask": {"kind": "number", "question": "How many elements?", "answer": "touched"})");
    write(file, text);
    handle_input(state, keys({Key::End}));
    update(state, true);
    add("The end.");
    handle_input(state, keys({Key::Digit7}));
    handle_input(state, keys({Key::Enter}), true);
    update(state, true);
    ASSERT_TRUE(state.session.question.open) << state.session.message;
    EXPECT_EQ(state.lessons.standing.asks, "How many elements?");
    handle_input(state, typed("4"), true);
    handle_input(state, keys({Key::Enter}), true);
    EXPECT_EQ(state.lessons.asked->verdict, "Right: 4 elements.");
    EXPECT_EQ(state.lessons.standing.words, "4 lanes load 4 elements.");
    handle_input(state, keys({Key::PageDown}), true);
    update(state, true);
    EXPECT_EQ(state.lessons.standing.words, "The end.");
}

// Of a program of one's own nothing is known of its result: it is called neither right nor wrong.
TEST_F(OwnLessons, AResultThatNobodyCheckedIsNeitherRightNorWrong) {
    trace::Trace unchecked = kernels::recorded("tiled", {4, 4, 4, 2});
    unchecked.meta.result = {};
    ASSERT_TRUE(trace::write_file(unchecked, (folder / "unchecked.tsc").string()));
    for (const auto& [name, known] : {std::pair{"mine", true}, std::pair{"unchecked", false}}) {
        write(folder / "it.json",
              lesson(R"({"file":")" + std::string(name) +
                     R"(.tsc","say":"x","ask":{"kind":"choice","question":"Is it right?","choices":[)"
                     R"({"say":"right","when":"wrong = 0"},{"say":"wrong","when":"wrong > 0"}]}})"));
        State state;
        ASSERT_TRUE(lessons::open_own(state.lessons, state.session, (folder / "it.json").string()));
        go_to_stop(state.lessons, state.session, state.lessons.listed, 0);
        update(state, true);
        update(state, true);
        EXPECT_EQ(right_answer(state.lessons, state.session).known, known) << name;
    }
}

TEST_F(OwnLessons, WhatWasNotMadeByItIsNotWrittenOver) {
    State state;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    update(state, true);
    const std::string by_hand = lesson(kMine);
    write(folder / "my-lesson" / "lesson.json", "something else");
    write(folder / "hand.json", by_hand);
    ASSERT_TRUE(lessons::open_own(state.lessons, state.session, (folder / "hand.json").string()));
    EXPECT_EQ(lessons::added_to(state.lessons), "");
    const auto kept = lessons::add_stop(state.lessons, state.session, "x");
    ASSERT_TRUE(kept) << kept.error().message;
    EXPECT_EQ(file_text((folder / "hand.json").string()), by_hand);
    EXPECT_EQ(file_text((folder / "my-lesson" / "lesson.json").string()), "something else");
    EXPECT_TRUE(fs::exists(folder / "my-lesson-2" / "lesson.json"));
    // One that was changed by hand and is no lesson now stays as it is.
    const fs::path own = folder / "my-lesson-2" / "lesson.json";
    write(own, "{");
    EXPECT_FALSE(lessons::add_stop(state.lessons, state.session, "y"));
    EXPECT_EQ(file_text(own.string()), "{");
    // Nothing is left where nothing can be written.
    if (::geteuid() == 0) return;
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    state.lessons.listed = 0;
    EXPECT_FALSE(lessons::add_stop(state.lessons, state.session, "z"));
    fs::permissions(folder, fs::perms::owner_all);
}

// --- the way through all of them

// With Page Down alone, as a clicker has it, from the first lesson through the last.
TEST(LessonKeys, AClickerWalksThroughAllLessons) {
    std::vector<lessons::Lesson> three(lesson_list().begin(), lesson_list().begin() + 3);
    for (lessons::Lesson& one : three) one.stops.resize(2);
    three[0].summary = {"{lanes} lanes."};
    State state;
    state.lessons.lessons = &three;
    state.session.screen = "lessons";
    handle_input(state, keys({Key::Enter}), true);
    std::vector<std::pair<size_t, size_t>> seen;
    for (int at = 0; at < 20 && state.session.walking; ++at) {
        const std::pair<size_t, size_t> here{state.lessons.lesson, state.lessons.stop};
        if (seen.empty() || seen.back() != here) seen.push_back(here);  // an answer takes a press of its own
        update(state, true);
        handle_input(state, keys({Key::PageDown}), true);
    }
    const std::vector<std::pair<size_t, size_t>> all{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1},
                                                     {1, 2}, {2, 0}, {2, 1}, {2, 2}};
    EXPECT_EQ(seen, all);
    EXPECT_EQ(state.session.screen, "lessons");
}

}  // namespace
}  // namespace tilescope::app
