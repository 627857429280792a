// The Compare screen as pictures and in words: pairs and the list of them.
#include <fmt/format.h>

#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"

namespace tilescope::app {
namespace {

TEST(CompareScreen, UntiledAndTiled) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("untiled", kShape, "tiled", kShape);
    state.session.cursor = {5, 512};
    golden(std::move(state), 1280, 720, "compare_light");
}

TEST(CompareScreen, AFaultBesideItsCureInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("tiled_stale_edge", {20, 20, 20, 8}, "tiled", {20, 20, 20, 8});
    state.session.theme = Theme::Dark;
    update(state, true);
    ASSERT_FALSE(state.session.faults->steps.empty());
    state.session.cursor.step = state.session.faults->steps[2];
    golden(std::move(state), 1600, 1000, "compare_fault_dark");
}

TEST(CompareScreen, LectureMode) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("tiled_transposed", {64, 64, 64, 32}, "tiled_padded", {64, 64, 64, 32});
    state.session.lecture = true;
    state.session.cursor = {1, 400};
    golden(std::move(state), 1600, 1000, "compare_lecture");
}

TEST(CompareScreen, TheListOfPairs) {
    SKIP_WITHOUT_OPENGL();
    State state = alone(kernels::recorded("tiled", {4, 4, 4, 2}));
    state.compare.chosen = 3;
    golden(std::move(state), 1280, 720, "compare_choice");
}

// 4 blocks of 4096 x 512 by 512 x 4096: the part of the matrices that they are at.
TEST(CompareScreen, WindowsOfALargeLaunch) {
    SKIP_WITHOUT_OPENGL();
    const auto window = [](const char* kernel) {
        const auto plan = kernels::plan(kernel, {4096, 512, 4096, 16});
        EXPECT_TRUE(plan);
        kernels::RecordOptions options;
        options.timestamp = false;
        options.window = {100, 102, 200, 202};
        auto trace = kernels::record_cpu(*plan, options);
        EXPECT_TRUE(trace);
        return std::move(*trace);
    };
    State state = pair(window("untiled"), window("tiled"));
    state.session.cursor = {1, 4000};
    Drawn drawn(1600, 1000);
    const test::Picture picture = drawn.picture(state);
    test::expect_golden(picture, "compare_window");
    // Matrices too large to count whole: the counts of the loaded part make the same picture.
    const auto of_part = [](const Recording& recording, Totals totals) {
        const trace::Trace& trace = *recording.trace;
        analysis::LoadCounter counter(trace);
        for (uint64_t step = 0; step < trace.steps(); ++step) counter.add(step);
        counter.finish();
        for (size_t array = 0; array < totals.loads.size(); ++array) {
            if (totals.loads[array].empty()) continue;
            totals.windows[array] =
                loads_window(trace.launch.arrays[array], counter.of(static_cast<uint8_t>(array)), 1 << 20);
            totals.loads[array].clear();
        }
        return std::make_shared<const Totals>(std::move(totals));
    };
    State large;
    large.session.assets.recordings = Assets::of(kNothingShips);
    large.session.assets.timings = Assets::of(kNoTimes);
    large.session.screen = "compare";
    show(large.session, state.session.recording, of_part(*state.session.recording, *state.session.totals));
    set_beside(large.session, state.session.pair.other.recording);
    large.session.pair.other.totals =
        of_part(*state.session.pair.other.recording, *state.session.pair.other.totals);
    large.session.cursor = state.session.cursor;
    Drawn again(1600, 1000);
    EXPECT_EQ(again.picture(large).rgba, picture.rgba);
}

TEST(CompareScreen, NIsDividedByTInWordsAndNumbers) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("untiled", kShape, "tiled", kShape);
    state.session.cursor = {0, 1000};
    for (const char* words :
         {"16 loads each", "1 load each", "Loads of an element so far, step 1,001 of 1,032",
          "load sectors than A so far."})
        EXPECT_TRUE(says(drawn.words(state), words));
    state.compare.whole_run = true;
    const std::string text = drawn.words(state);
    for (const char* words : {"Loads of an element in the whole run", "64 loads each = n",
                              "64 loads each = m", "4 loads each = n/T", "4 loads each = m/T", "16 × fewer",
                              "B, tiled T=16: 16 times fewer load requests"})
        EXPECT_TRUE(says(text, words));
}

// From the button "Choose..." on, below the top bar, no text is cut.
void expect_nothing_cut(int width, int height, bool lecture) {
    Drawn drawn(width, height);
    State state;
    state.session.assets.recordings = session::Assets::of(kNothingShips);
    state.session.assets.timings = session::Assets::of(kNoTimes);
    state.session.lecture = lecture;
    for (size_t i = 0; i < session::compare_presets().size(); ++i) {
        const session::ComparePreset& preset = session::compare_presets()[i];
        if (preset.a.shipped) continue;  // it does not ship here
        take_choice(state.compare, state.session, static_cast<int>(i));
        state.session.screen = "compare";
        drawn.frames(state);
        ASSERT_FALSE(compare::choosing(state.compare, state.session))
            << preset.title << ": " << state.session.pair.message;
        for (const uint32_t part : {0u, 3u}) {
            state.session.cursor.step = state.session.block->steps * part / 4;
            drawn.frames(state);
            bool below = false;
            for (const draw::Written& text : drawn.seen().texts) {
                below |= text.text == "Choose\u2026";
                EXPECT_FALSE(below && text.cut)
                    << preset.title << " at " << width << "x" << height << ": " << text.text;
            }
            EXPECT_TRUE(below);
        }
    }
}

TEST(CompareScreen, NothingIsCutOffInAnyPair) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1600, 1000}, std::pair{1920, 1080}})
        expect_nothing_cut(width, height, false);
}

TEST(CompareScreen, NothingIsCutOffInALecture) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, std::pair{1920, 1080}})
        expect_nothing_cut(width, height, true);
}

// Walking on fills the maps; the whole run's stay as they are.
TEST(CompareScreen, TheMapsFillWhileBothRun) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    const auto loaded = [&](uint32_t step) {
        state.session.cursor.step = step;
        drawn.frames(state);
        uint64_t all = 0;
        for (const compare::Known* one : {&state.compare.a, &state.compare.b})
            for (const size_t array : {0, 1})
                for (const uint32_t count : one->so_far->of(array).counts) all += count;
        return all;
    };
    const uint64_t first = loaded(0), later = loaded(500), last = loaded(1031);
    EXPECT_LT(first, later);
    EXPECT_LT(later, last);
    EXPECT_EQ(last, uint64_t{256 * 64 * 2 + 256 * 4 * 2}) << "of a block, untiled and tiled";
    EXPECT_EQ(loaded(0), first) << "and back";
    state.compare.lock = compare::Lock::Share;
    state.session.cursor.block = 15;
    EXPECT_EQ(loaded(1031), uint64_t{16} * (256 * 64 * 2 + 256 * 4 * 2)) << "of the run";
}

TEST(CompareScreen, TheListIsWholeAtAnySize) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {800, 1200}, {960, 1080}})
        for (const bool lecture : {false, true}) {
            if (lecture && width < 1280) continue;  // the bar has no room for its buttons
            Drawn drawn(width, height);
            State state = alone(kernels::recorded("tiled", {4, 4, 4, 2}));
            state.session.lecture = lecture;
            drawn.words(state);
            SCOPED_TRACE(fmt::format("{} x {}{}", width, height, lecture ? " lecture" : ""));
            EXPECT_EQ(spoilt(drawn.seen(), width, height), "");
        }
}

TEST(CompareScreen, WhatDoesNotShipIsSaid) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    for (size_t i = 0; i < session::compare_presets().size(); ++i)
        if (session::compare_presets()[i].a.shipped)
            take_choice(state.compare, state.session, static_cast<int>(i));
    EXPECT_TRUE(says(drawn.words(state), "No recording of tiled T=16"));
    EXPECT_TRUE(compare::choosing(state.compare, state.session));
}

}  // namespace
}  // namespace tilescope::app
