// The phase table in place of the matrices, a barrier as a gate, and a request by an older GPU's rules.
#include "app/look/timeline.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State table(const char* kernel, kernels::Shape shape, uint32_t step, Middle text) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.cursor.step = step;
    state.step.middle = text;
    return state;
}

constexpr kernels::Shape kLectures{4, 4, 4, 2};

TEST(PhaseTable, FillsAsTheStepsGo) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(table("tiled", kLectures, 7, Middle::Elements), 1280, 720), "step_table");
}

TEST(PhaseTable, WithValuesInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = table("tiled", {64, 64, 64, 16}, 500, Middle::Values);
    state.session.theme = Theme::Dark;
    state.session.pin = {.kind = Pick::Kind::Thread, .thread = 37, .warp = 1};
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_table_values_dark");
}

TEST(PhaseTable, InALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = table("untiled", kLectures, 4, Middle::Elements);
    state.session.lecture = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_table_lecture");
}

// In a narrow window the table's cells are wider than its panel.
TEST(PhaseTable, DrawsNothingInItsNeighbours) {
    SKIP_WITHOUT_OPENGL();
    constexpr kernels::Shape kShape{64, 64, 64, 16};
    for (const auto& [width, height] : {std::pair(1280, 800), {1100, 800}, {1024, 768}, {960, 1080}})
        for (const Middle text : {Middle::Elements, Middle::Values}) {
            const test::Picture without =
                picture(table("tiled", kShape, 69, Middle::Matrices), width, height);
            const test::Picture with = picture(table("tiled", kShape, 69, text), width, height);
            size_t neighbours = 0;
            for (const ImVec4& panel : with.seen.surfaces) {
                const auto same = [&](const ImVec4& other) {
                    return other.x == panel.x && other.y == panel.y && other.z == panel.z &&
                           other.w == panel.w;
                };
                const bool is_table = std::ranges::any_of(with.seen.texts, [&](const draw::Written& one) {
                    return one.text == "Phase table" && one.min.x > panel.x && one.max.x < panel.z &&
                           one.min.y > panel.y && one.max.y < panel.w;
                });
                if (is_table || std::ranges::none_of(without.seen.surfaces, same)) continue;
                ++neighbours;
                size_t changed = 0;
                for (int y = static_cast<int>(panel.y); y < static_cast<int>(panel.w); ++y)
                    for (int x = static_cast<int>(panel.x); x < static_cast<int>(panel.z); ++x)
                        changed += test::pixel(with, x, y) != test::pixel(without, x, y);
                EXPECT_EQ(changed, 0u)
                    << "of the panel at " << panel.x << ", " << panel.y << " in " << width << " x " << height;
            }
            EXPECT_GE(neighbours, 2u);
        }
}

// Words of a thread's row: at the first step nothing but its own load, in the end all of the lectures' table.
TEST(PhaseTable, SaysWhatTheLecturesDo) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1920, 1080);
    State state = table("tiled", kLectures, 0, Middle::Elements);
    std::string words = drawn.words(state);
    EXPECT_NE(words.find("M[1,0]"), std::string::npos) << words;
    EXPECT_EQ(words.find("M[1,0]\u2192Mds[1,0]"), std::string::npos) << words;
    EXPECT_EQ(words.find("N[1,0]\u2192"), std::string::npos) << words;
    state.session.cursor.step = state.session.block->steps - 1;
    words = drawn.words(state);
    for (const char* text : {"M[1,0]\u2192Mds[1,0]", "N[1,0]\u2192Nds[1,0]", "M[1,2]\u2192Mds[1,0]",
                             "N[3,0]\u2192Nds[1,0]", "Mds[1,0]\u00b7Nds[0,0]", "+Mds[1,1]\u00b7Nds[1,0]"})
        EXPECT_NE(words.find(text), std::string::npos) << text << " in " << words;
    state.session.wording = {true, true, analysis::MatrixNames::ABC};
    words = drawn.words(state);
    for (const char* text : {"A[0,1]\u2192As[0,1]", "phase2"})
        EXPECT_NE(words.find(text), std::string::npos) << text << " in " << words;
    EXPECT_EQ(words.find("Mds[0"), std::string::npos) << words;
}

// What TMA copies is one line of the thread that asks for it, and products on tensor cores are counted.
TEST(PhaseTable, OfAWarpgroup) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1920, 1080);
    State state = table("wgmma_ring", {128, 192, 128, 0}, 0, Middle::Elements);
    state.session.cursor.step = state.session.block->steps - 1;
    state.session.pin = {.kind = Pick::Kind::Thread, .thread = 127, .warp = 3};
    const std::string words = drawn.words(state);
    for (const char* text : {"8productsofmatrices", "M[0,128]toM[127,191]\u2192Mds[256,0]"})
        EXPECT_NE(words.find(text), std::string::npos) << text << " in " << words;
}

// The pinned thread's row is in sight wherever the step is; the wheel scrolls, and a new pin is followed.
TEST(PhaseTable, KeepsThePinInSight) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = table("tiled", {32, 32, 32, 16}, 40, Middle::Elements);
    const auto in_sight = [&](uint32_t thread) {
        const playback::TableWindow& window = state.step.table.window;
        return thread >= window.first_thread && thread < window.end_thread;
    };
    drawn.frames(state);
    EXPECT_TRUE(in_sight(state.session.trace().warp_of(40) * kWarpSize)) << "of the step's warp";
    for (const uint32_t thread : {255u, 0u, 100u}) {
        state.session.pin = {.kind = Pick::Kind::Thread, .thread = thread, .warp = thread / 32};
        drawn.frames(state);
        EXPECT_TRUE(in_sight(thread)) << thread;
    }
    platform::Input input;
    input.mouse_x = 500, input.mouse_y = 300;
    drawn.frames(state, input);
    input.scroll_y = -4;
    drawn.frames(state, input, 1);
    EXPECT_EQ(state.step.table.window.first_thread, 112u);
    state.session.pin = {};
    drawn.frames(state);
    EXPECT_TRUE(in_sight(state.session.trace().warp_of(40) * kWarpSize));
}

// In a lecture a block of many threads shows several of them at least, in both texts.
TEST(PhaseTable, ShowsTheBackRowSeveralThreads) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (const Middle text : {Middle::Elements, Middle::Values}) {
        State state = table("tiled", {32, 32, 32, 16}, 400, text);
        state.session.lecture = true;
        drawn.frames(state);
        const playback::TableWindow& window = state.step.table.window;
        EXPECT_GE(window.end_thread - window.first_thread, text == Middle::Elements ? 6u : 4u);
    }
}

// Of every launch, at every kind of step, in both texts: nothing falls over, and each has a table or says why
// not.
TEST(PhaseTable, OfAnyLaunch) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (const kernels::Plan& plan :
         {kernels::vector_add(), kernels::stencil(), kernels::histogram(), kernels::reverse(),
          kernels::pairs(), kernels::bins(), kernels::filter()}) {
        State state;
        show_trace(state, kernels::recorded(plan));
        for (const Middle text : {Middle::Elements, Middle::Values})
            for (const bool lecture : {false, true}) {
                state.step.middle = text;
                state.session.lecture = lecture;
                for (uint32_t step = 0; step < std::min(state.session.block->steps, 40u); step += 13) {
                    state.session.cursor.step = step;
                    EXPECT_NE(drawn.words(state).find("Phasetable"), std::string::npos);
                }
            }
    }
}

TEST(StepGate, HoldsWarpsAtABarrier) {
    SKIP_WITHOUT_OPENGL();
    State state = table("tiled", {32, 32, 32, 16}, 0, Middle::Matrices);
    state.session.cursor.step = state.session.block->arrivals[1][2];
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_gate");
}

TEST(StepOlder, AG80sTransactionsInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = table("untiled_swapped", {64, 64, 64, 16}, 1, Middle::Matrices);
    state.session.theme = Theme::Dark;
    state.session.pin = {.kind = Pick::Kind::Thread, .thread = 35, .warp = 1};
    state.step.judged_by = JudgedAs::G80;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_older_dark");
}

TEST(StepOlder, AGt200sInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = table("tiled", {64, 64, 64, 16}, 1, Middle::Matrices);
    state.session.lecture = true;
    state.step.judged_by = JudgedAs::Gt200;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_older_lecture");
}

}  // namespace
}  // namespace tilescope::app
