// The Compare screen as pictures and in words: pairs and the list of them.
#include "tests/gl/compare_drawn.h"

namespace tilescope::app {
namespace {

TEST(CompareScreen, UntiledAndTiled) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("untiled", kShape, "tiled", kShape);
    state.cursor = {5, 512};
    golden(std::move(state), 1280, 720, "compare_light");
}

TEST(CompareScreen, AFaultBesideItsCureInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("tiled_stale_edge", {20, 20, 20, 8}, "tiled", {20, 20, 20, 8});
    state.theme = Theme::Dark;
    ready_block(state, true);
    ASSERT_FALSE(state.faults->steps.empty());
    state.cursor.step = state.faults->steps[2];
    golden(std::move(state), 1600, 1000, "compare_fault_dark");
}

TEST(CompareScreen, LectureMode) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("tiled_transposed", {64, 64, 64, 32}, "tiled_padded", {64, 64, 64, 32});
    state.teach.lecture = true;
    state.cursor = {1, 400};
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
    state.cursor = {1, 4000};
    Drawn drawn(1600, 1000);
    const platform::Image picture = drawn.picture(state);
    test::expect_golden(picture, "compare_window");
    // Matrices too large to count whole: the counts of the loaded part make the same picture.
    const auto of_part = [](Session session) {
        for (size_t array = 0; array < session.loads.size(); ++array) {
            if (session.loads[array].empty()) continue;
            session.windows[array] = view::loads_window(*session.trace, static_cast<uint8_t>(array), 1 << 20);
            session.loads[array].clear();
        }
        return session;
    };
    State large;
    large.recordings = &kNothingShips;
    large.timings = &kNoTimes;
    large.screen = Screen::Compare;
    show_session(large, of_part(*state.session));
    compare_with(large, of_part(*state.compare.other));
    large.cursor = state.cursor;
    Drawn again(1600, 1000);
    EXPECT_EQ(again.picture(large).rgba, picture.rgba);
}

TEST(CompareScreen, NIsDividedByTInWordsAndNumbers) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("untiled", kShape, "tiled", kShape);
    const std::string text = drawn.words(state);
    for (const char* words : {"64 loads each = n", "64 loads each = m", "4 loads each = n/T",
                              "4 loads each = m/T", "1/16", "B, tiled T=16: 16 times fewer load requests"})
        EXPECT_TRUE(says(text, words));
}

// Below the top bar the dots of "Choose..." are the only ones: no other text is cut.
void expect_nothing_cut(int width, int height, bool lecture) {
    Drawn drawn(width, height);
    State state;
    state.recordings = &kNothingShips;
    state.timings = &kNoTimes;
    state.teach.lecture = lecture;
    for (size_t i = 0; i < view::compare_presets().size(); ++i) {
        const view::ComparePreset& preset = view::compare_presets()[i];
        if (preset.a.shipped) continue;  // it does not ship here
        take_choice(state, static_cast<int>(i));
        state.screen = Screen::Compare;
        drawn.frames(state);
        ASSERT_FALSE(choosing(state)) << preset.title << ": " << state.compare.message;
        for (const uint32_t part : {0u, 3u}) {
            state.cursor.step = state.block->steps * part / 4;
            const std::string text = drawn.words(state);
            const size_t choose = text.find("Choose\u2026");
            ASSERT_NE(choose, std::string::npos);
            EXPECT_EQ(count_of(text.substr(choose), "\u2026"), 1u)
                << preset.title << " at " << width << "x" << height << ": " << text;
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

TEST(CompareScreen, WhatDoesNotShipIsSaid) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    for (size_t i = 0; i < view::compare_presets().size(); ++i)
        if (view::compare_presets()[i].a.shipped) take_choice(state, static_cast<int>(i));
    EXPECT_TRUE(says(drawn.words(state), "No recording of tiled T=16"));
    EXPECT_TRUE(choosing(state));
}

}  // namespace
}  // namespace tilescope::app
