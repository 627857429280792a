// Lessons say what their recordings hold: every stop is there, and no figure is typed in.
#include <cctype>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "app/lessons/model.h"
#include "core/analysis/summary.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

uint32_t block_at(const trace::Trace& trace, uint32_t x, uint32_t y) {
    for (uint32_t block = 0; block < trace.blocks.size(); ++block)
        if (trace.blocks[block].x == x && trace.blocks[block].y == y) return block;
    ADD_FAILURE() << "no block " << x << "," << y;
    return 0;
}

const Lesson& lesson(const char* name) {
    for (const Lesson& one : lesson_list())
        if (one.name == name) return one;
    ADD_FAILURE() << "no lesson " << name;
    return lesson_list().front();
}

// What a stop says, on a recording made for it.
std::string heard(const LessonStop& stop) {
    Recorded made = record(stop.kernel.c_str(), stop.shape);
    const uint32_t block = block_at(*made.trace, stop.block_x, stop.block_y);
    made.index = index_block(*made.trace, made.rule, block);
    const auto step = find_step(*made.trace, *made.index, stop);
    EXPECT_TRUE(step) << stop.say;
    return said(*made.trace, *analysis::summarize(*made.trace), *made.index, step.value_or(0), stop.say);
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
    for (const Lesson& one : lesson_list()) {
        std::string all = one.title + one.teaches;
        for (const LessonStop& stop : one.stops) all += stop.say;
        for (const char c : all)
            EXPECT_FALSE(std::isdigit(static_cast<unsigned char>(c))) << one.name << ": " << all;
    }
}

// Every stop stands on a step that its recording has, and every figure in braces is known.
TEST(Lessons, StandWhereTheySay) {
    for (const Lesson& one : lesson_list()) {
        for (const LessonStop& stop : one.stops) {
            ASSERT_TRUE(stop.recording.empty()) << "made here, so that it runs anywhere";
            const std::string text = heard(stop);
            EXPECT_EQ(text.find('{'), std::string::npos) << one.name << ": " << text;
        }
    }
}

// What the course works out by hand comes out of the recordings.
TEST(Lessons, SayTheCoursesFigures) {
    const auto contains = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    contains(heard(lesson("reuse").stops[1]), "32 elements cost 128 loads: each one 4 times");
    contains(heard(lesson("reuse").stops[2]), "32 elements now cost 64 loads");
    contains(heard(lesson("reuse").stops[4]),
             "T = 16 each element of the 64 x 64 and 64 x 64 matrices is loaded 4 times");
    contains(heard(lesson("banks").stops[0]), "1 wavefront.");
    contains(heard(lesson("banks").stops[1]), "32 wavefronts where 1 would do");
    contains(heard(lesson("barriers").stops[3]), "passes 8 barriers in 4 phases");
    contains(heard(lesson("edges").stops[1]), "already in phase 0");
    contains(heard(lesson("edges").stops[3]), "of this block only 1 lane");
    contains(heard(lesson("warps").stops[1]),
             "16 threads fills half a warp: 16 lanes work and 16 never will");
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
        R"({"name":"a","title":"b","teaches":"c","stops":[{"recording":"r","block":[1],"say":"x"}]})"};
    for (const char* text : bad) {
        const auto read = lesson_from_json(text, "it");
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find("'it'"), std::string::npos);
        EXPECT_EQ(read.error().message.back(), '.');
    }
}

}  // namespace
}  // namespace tilescope::app
