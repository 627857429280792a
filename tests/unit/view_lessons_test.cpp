// Lessons as they are read: all are there, and damage is said. What stops say is held in
// view_lesson_walk_test.cpp.
#include <cctype>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "app/lessons/state.h"
#include "tests/app_names.h"
#include "tests/file_text.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

// What a stop says, counted from 1, on the recording that it is shown on.
std::string heard(const char* name, size_t stop) {
    const auto lesson = std::ranges::find(lesson_list(), name, &Lesson::name);
    if (lesson == lesson_list().end()) return "no lesson " + std::string(name);
    State state;
    work_out_words(state.lessons, static_cast<size_t>(lesson - lesson_list().begin()), true);
    return state.lessons.said[static_cast<size_t>(lesson - lesson_list().begin())].at(stop - 1).words;
}

TEST(Lessons, AreAllThere) {
    const std::filesystem::directory_iterator files(TILESCOPE_SOURCE_DIR "/assets/lessons");
    ASSERT_EQ(lesson_list().size(), static_cast<size_t>(std::distance(begin(files), end(files))))
        << "one of assets/lessons is damaged or missing";
    for (const Lesson& one : lesson_list()) {
        EXPECT_GE(one.stops.size(), 3u) << one.name;
        EXPECT_FALSE(one.title.empty() || one.teaches.empty()) << one.name;
    }
}

TEST(Lessons, TypeNoFigure) {
    for (const Lesson& one : lesson_list())
        for (const char c : one.title + one.teaches)
            EXPECT_FALSE(std::isdigit(static_cast<unsigned char>(c))) << one.name << ": " << one.teaches;
}

// A row of a fact is all that is known of it: the docs' table is made of the rows.
TEST(Lessons, FactsStandInTheDocs) {
    std::string table = "| of | name | what it is |\n|---|---|---|\n";
    const auto add = [&](std::string_view of, std::string_view name, std::string_view means) {
        table += fmt::format("| {} | `{}` | {} |\n", of, name, means);
    };
    for (const FactGroup& group : fact_groups())
        for (const Fact& fact : group.facts)
            add(&fact == &group.facts.front() ? group.of : "", fact.name, fact.means);
    for (const FactWord& word : fact_words())
        add(&word == &fact_words().front() ? "words" : "", word.name, word.means);
    const std::string docs = file_text(TILESCOPE_SOURCE_DIR "/docs/lessons.md");
    EXPECT_NE(docs.find("\n" + table + "\n"), std::string::npos)
        << "the table of docs/lessons.md has to be:\n"
        << table;
}

// No name means two things, none is without its twin, and what is asked for is hidden meanwhile.
TEST(Lessons, EveryFactHasANameAndATwin) {
    const std::string twin = file_text(TILESCOPE_SOURCE_DIR "/tests/twin/lesson_facts.h");
    std::set<std::string_view> names;
    for (const FactGroup& group : fact_groups())
        for (const Fact& fact : group.facts) {
            EXPECT_TRUE(names.insert(fact.name).second) << fact.name;
            EXPECT_NE(twin.find(fmt::format("\"{}\"", fact.name)), std::string::npos) << fact.name;
            EXPECT_EQ(find_fact(fact.name), &fact);
            EXPECT_TRUE(can_say(fact.name));
            EXPECT_NE(fact.hides, 0) << fact.name;
        }
    for (const FactWord& word : fact_words()) {
        EXPECT_TRUE(names.insert(word.name).second) << word.name;
        EXPECT_TRUE(can_say(word.name));
    }
    EXPECT_GT(names.size(), 60u);
}

// What the course works out by hand comes out of the recordings.
TEST(Lessons, SayTheCoursesFigures) {
    const auto contains = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    contains(heard("reuse", 2), "the 32 elements of M and N cost 128 loads, 4 for each of them");
    contains(heard("reuse", 3), "32 elements now cost 64 loads");
    contains(heard("reuse", 5),
             "with T = 16 warp 0 loads 32 elements of M here, and each element of M and N is loaded 4 times, "
             "not 64 times");
    contains(heard("banks", 1), "1 wavefront.");
    contains(heard("banks", 2), "as many as there are banks: 32 words in bank 0.");
    contains(heard("banks", 3), "rows of 33 words for 32 columns");
    contains(heard("banks", 3), "now lies in the next bank: 32 banks.");
    contains(heard("barriers", 4), "passes 8 barriers in 4 phases");
    contains(heard("edges", 2), "has no column 3, so 2 of the block's 4 threads load and 2 do not");
    contains(heard("edges", 4), "of the 4 threads of this block only 1 has an element of P");
    contains(heard("warps", 2), "16 threads does not fill 1 warp: 16 lanes work and 16 never will");
}

// While the recording of a stop is on its way, nothing is said of the one that is still shown.
TEST(Lessons, SayNothingBeforeTheirStopIsShown) {
    State state;
    for (const size_t stop : {size_t{0}, size_t{1}}) {
        go_to_stop(state.lessons, state.session, 0, stop);
        EXPECT_EQ(state.lessons.standing.words, "");
        update(state, true);
        EXPECT_NE(state.lessons.standing.words, "");
    }
}

TEST(Lessons, DamageIsSaidInOneSentence) {
    const char* const bad[] = {
        "",
        "[]",
        "{}",
        "{\"name\": 1}",
        R"({"name":"a","title":"b","teaches":"c","stops":[]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[1]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"say":"no kernel"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"kernel":"tiled","m":4,"k":4,"n":-1,"tile":2,"say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","kind":"loud","say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","block":[1],"say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","block":[4294967296,0],"say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","nth":1,"say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","where":"lanes < 3","say":"x"}]})",
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","where":[3],"say":"x"}]})"};
    for (const char* text : bad) {
        const auto read = lesson_from_json(text, "it");
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find("'it'"), std::string::npos);
        EXPECT_EQ(read.error().message.back(), '.');
    }
}

// Each name in braces or in a condition is known, and a condition can be read.
TEST(Lessons, ANameThatIsNotKnownIsAnError) {
    const auto error_of = [](const std::string& rest) {
        const auto read = lesson_from_json(
            R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r",)" + rest + "}]}", "it");
        return read ? "" : read.error().message;
    };
    EXPECT_EQ(error_of(R"("say":"{lanes} lanes of {array}","where":["lanes < 32","m = n"])"), "");
    EXPECT_EQ(error_of(R"("say":"{lans}")"),
              "The lesson 'it' cannot be used: in stop 1 its sentence names 'lans', which is no fact.");
    EXPECT_EQ(error_of(R"("say":"{lanes")"),
              "The lesson 'it' cannot be used: in stop 1 a brace of its sentence is not closed.");
    EXPECT_EQ(error_of(R"("say":"x","where":["lans < 32"])"),
              "The lesson 'it' cannot be used: in stop 1 its condition 'lans < 32' names 'lans', which is no "
              "fact.");
    for (const char* bad : {"lanes", "lanes <", "lanes << 32", "lanes < 32 3", "lanes < -1", "lanes < ",
                            "< 3", "lanes ~ 3", "array = 3", "lanes <  3"})
        EXPECT_NE(error_of(std::string(R"("say":"x","where":[")") + bad + "\"]").find(bad), std::string::npos)
            << bad;
    EXPECT_EQ(error_of(R"("say":"x","panels":["matrices","sums"])"), "");
    EXPECT_EQ(
        error_of(R"("say":"x","panels":["matrices","warps"])"),
        "The lesson 'it' cannot be used: in stop 1 its field 'panels' names 'warps', which is no panel of "
        "the Step screen.");
    EXPECT_EQ(
        error_of(R"("say":"x","panels":["threads"])"),
        "The lesson 'it' cannot be used: in stop 1 its field 'panels' lacks 'matrices', which are always "
        "shown.");
    EXPECT_EQ(
        error_of(R"("say":"x","screen":"levels","panels":["matrices"])"),
        "The lesson 'it' cannot be used: in stop 1 its field 'panels' is for stops on the Step screen.");
    for (const char* bad : {"1", "[]", "[1]", "\"matrices\"", "[[\"matrices\"]]", "{}"})
        EXPECT_NE(error_of(std::string(R"("say":"x","panels":)") + bad).find("'panels'"), std::string::npos)
            << bad;
    EXPECT_EQ(error_of(R"("say":"x","costly":true)"),
              "The lesson 'it' cannot be used: in stop 1 its field 'costly' means nothing.");
}

}  // namespace
}  // namespace tilescope::app
