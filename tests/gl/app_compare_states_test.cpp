// The Compare screen in every state that two recordings can be in, and under the mouse.
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "core/trace/file.h"
#include "tests/gl/compare_drawn.h"

namespace tilescope::app {
namespace {

TEST(CompareScreen, NoRecordingAtAll) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State nothing;
    nothing.session.screen = "compare";
    nothing.session.assets.recordings = Assets::of(kNothingShips);
    const std::string text = drawn.words(nothing);
    EXPECT_EQ(count_of(text, "noneyet"), 2u);
    EXPECT_TRUE(says(text, "Untiled or tiled"));
}

TEST(CompareScreen, ARecordingThatIsNotWhole) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    trace::Trace cut = kernels::recorded("tiled", kShape);
    cut.meta.complete = false;
    cut.blocks[0].dropped = 12;
    State state = pair(kernels::recorded("untiled", kShape), cut);
    EXPECT_TRUE(
        says(drawn.words(state), "B: Not whole: 12 requests found no room in the device trace buffer."));
    // Blocks of which nothing was recorded, on either side.
    cut.blocks.back().count = 0;
    cut.key.resize(cut.blocks.back().first);
    cut.base.resize(cut.key.size());
    const auto last = static_cast<uint32_t>(cut.blocks.size() - 1);
    for (const bool is_a : {true, false}) {
        State hollow = is_a ? pair(cut, kernels::recorded("untiled", kShape))
                            : pair(kernels::recorded("untiled", kShape), cut);
        hollow.session.cursor = {last, 0};
        for (const compare::Lock lock : {compare::Lock::Step, compare::Lock::Phase, compare::Lock::Share}) {
            hollow.compare.lock = lock;
            const std::string text = drawn.words(hollow);
            if (lock != compare::Lock::Share) EXPECT_TRUE(says(text, "This block recorded no step."));
            EXPECT_TRUE(says(text, is_a ? "A: Not whole" : "B: Not whole"));
        }
    }
}

// Nothing to stand in: the list says so, on whichever side.
TEST(CompareScreen, ARecordingWithoutAStep) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    trace::Trace empty = kernels::recorded("tiled", kShape);
    for (trace::Block& block : empty.blocks) block.first = block.count = 0;
    empty.key.clear();
    empty.base.clear();
    empty.meta.complete = false;
    for (const bool is_a : {true, false}) {
        State state = is_a ? pair(empty, kernels::recorded("tiled", kShape))
                           : pair(kernels::recorded("tiled", kShape), empty);
        EXPECT_TRUE(
            says(drawn.words(state), is_a ? "A (test.tsc) holds no step" : "B (test.tsc) holds no step"));
        EXPECT_TRUE(compare::choosing(state.compare, state.session));
        take_choice(state.compare, state.session, 0);
        EXPECT_FALSE(says(drawn.words(state), "holds no step")) << "another pair takes its place";
        EXPECT_FALSE(compare::choosing(state.compare, state.session));
    }
}

// On whichever side: the list says why, and nothing is waited for. Another recording takes its place.
TEST(CompareScreen, ComparingEndsWhereTotalsCannotBeCounted) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (const bool is_a : {true, false}) {
        State state = pair("untiled", {8, 8, 8, 4}, "tiled", {8, 8, 8, 4});
        session::Shown& shown = is_a ? static_cast<session::Shown&>(state.session) : state.session.pair.other;
        shown.totals = nullptr;
        shown.counting = state.session.jobs->start(
            [](session::Control&) -> session::MadeTotals { return Error{"counting takes more memory"}; });
        const std::string words = drawn.words_now(state) + drawn.words(state);
        EXPECT_TRUE(says(words, "counting takes more memory."));
        EXPECT_TRUE(compare::choosing(state.compare, state.session));
        EXPECT_FALSE(compare::ready(state.compare, state.session, false));
        EXPECT_FALSE(says(words, "Counting the requests"));
        // Nothing more is said of the two while another pair is opened, nor when it has come.
        take_choice(state.compare, state.session, 0);
        compare::ready(state.compare, state.session, false);
        std::promise<void> may_open;
        state.session.pair.opening = state.session.jobs->start([&](session::Control& control) {
            may_open.get_future().wait();
            return session::open_preset(session::compare_presets()[0], {}, &control.stop, {});
        });
        const auto expect_quiet_frame = [&] {
            drawn.frames(state, {}, 1, false);
            EXPECT_EQ(state.session.pair.message, "");
            EXPECT_FALSE(compare::choosing(state.compare, state.session));
        };
        for (int frame = 0; frame < 3; ++frame) expect_quiet_frame();
        EXPECT_TRUE(state.session.pair.opening.begun());
        may_open.set_value();
        while (state.session.pair.opening.begun()) expect_quiet_frame();
        for (int frame = 0; frame < 3; ++frame) expect_quiet_frame();
        EXPECT_FALSE(says(drawn.words(state), "counting takes more memory"));
        EXPECT_FALSE(compare::choosing(state.compare, state.session));
    }
}

TEST(CompareScreen, TinyOnesShowTheirCounts) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", {4, 4, 4, 2}, "tiled", {4, 4, 4, 2});
    state.compare.whole_run = true;
    const std::string text = drawn.words(state);
    EXPECT_TRUE(says(text, "4 loads each = n"));
    EXPECT_TRUE(says(text, "2 loads each = n/T"));
    EXPECT_EQ(count_of(text, "\u2026"), 2u);
    State one = pair("untiled", {1, 1, 1, 2}, "tiled", {1, 1, 1, 2});
    one.compare.whole_run = true;
    EXPECT_TRUE(says(drawn.words(one), "1 load each"));
}

TEST(CompareScreen, OtherSizesAndKernelsAreSaidToDiffer) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("tiled_swapped", {50, 70, 33, 8}, "untiled", {96, 16, 128, 32});
    for (const uint32_t block : {0u, 11u, 34u}) {
        state.session.cursor = {block, 0};
        EXPECT_TRUE(says(drawn.words(state), "Different work: 50×70×33 in A, 96×16×128 in B."));
    }
}

TEST(CompareScreen, WrongElementsAreMarkedAndCounted) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("tiled_no_barrier", kShape, "tiled", kShape);
    const std::string text = drawn.words(state);
    const uint64_t wrong = state.session.recording->trace->meta.result.wrong;
    ASSERT_GT(wrong, 0u);
    EXPECT_TRUE(says(text, grouped(wrong) + " wrong"));
    EXPECT_TRUE(says(text, "all right"));
    EXPECT_FALSE(says(text, "fewer, for the same work"));
    // At the step where a fault comes about it is told in words; the other side has none.
    perform(state, "next_fault");
    EXPECT_EQ(count_of(drawn.words(state), "Race:"), 1u);
    ASSERT_TRUE(state.session.pair.other.faults);
    EXPECT_FALSE(state.session.pair.other.faults->any());
    // Also where a lecture leaves no room for the requests.
    Drawn low(1280, 720);
    state.session.lecture = true;
    EXPECT_TRUE(says(low.words(state), "A: Race: "));
    state.session.cursor.step = 0;
    EXPECT_TRUE(says(low.words(state), "A's result is wrong in "));
}

// As in the window: a large one is made ready beside it, and frames go on meanwhile.
TEST(CompareScreen, ALargeOneComesWhenItIsReady) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    drawn.frames(state);
    trace::Trace large = kernels::recorded("tiled", {128, 128, 128, 16});
    ASSERT_GT(large.steps(), 100'000u);
    const auto file = std::filesystem::temp_directory_path() / ("large-" + std::to_string(getpid()) + ".tsc");
    ASSERT_TRUE(trace::write_file(large, file.string()));
    std::promise<void> opened;
    session::open(state.session, "large.tsc", "", true, [&](session::Control&) {
        opened.get_future().wait();
        return session::make_recording(*trace::read_file(file.string()), "large.tsc");
    });
    EXPECT_TRUE(says(drawn.words_now(state), "Opening large.tsc"));
    opened.set_value();
    for (int i = 0; i < 2000 && state.session.opening; ++i) {
        drawn.frames(state, {}, 1, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::filesystem::remove(file);
    ASSERT_FALSE(state.session.opening);
    ASSERT_TRUE(state.session.pair.other.recording);
    EXPECT_EQ(analysis::product_of(*state.session.pair.other.recording->trace)->n, 128u);
    EXPECT_TRUE(says(drawn.words(state), "Different work: 64×64×64 in A, 128×128×128 in B."));
}

TEST(CompareScreen, SwappedSidesStandWhereTheyStood) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    state.session.cursor = {6, 400};
    drawn.frames(state);
    const playback::Cursor b = state.session.pair.other.cursor;
    ASSERT_GT(b.step, 0u);
    swap_sides(state.compare, state.session);
    drawn.frames(state);
    EXPECT_EQ(state.session.recording->trace->meta.kernel, "tiled");
    EXPECT_EQ(state.session.pair.other.recording->trace->meta.kernel, "untiled");
    EXPECT_EQ(state.session.cursor, b);
    EXPECT_EQ(state.session.pair.other.cursor.block, 6u);
    EXPECT_NEAR(state.session.pair.other.cursor.step, 400, 16);
}

// A press on a strip, held: the playhead of that strip goes there, the other one follows.
TEST(CompareScreen, EitherStripIsDragged) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    drawn.frames(state);
    platform::Input mouse;
    mouse.mouse_x = 60 + 1200 * 0.75f;  // the strips lie from 60 to 1260
    for (const auto& [y, is_b] : {std::pair{595.f, false}, std::pair{650.f, true}}) {
        state.session.cursor.step = 0;
        mouse.mouse_y = y;
        mouse.mouse_down[0] = false;
        drawn.frames(state, mouse, 2);
        mouse.mouse_down[0] = true;
        drawn.frames(state, mouse, 3);
        const uint32_t steps = is_b ? state.session.pair.other.block->steps : state.session.block->steps;
        const uint32_t at = is_b ? state.session.pair.other.cursor.step : state.session.cursor.step;
        EXPECT_NEAR(at, steps * 0.75, is_b ? 24 : 2) << (is_b ? "B" : "A");
        mouse.mouse_down[0] = false;
        drawn.frames(state, mouse, 2);
    }
}

TEST(CompareScreen, DrawsAnySize) {
    SKIP_WITHOUT_OPENGL();
    State state = pair("tiled_no_barrier", kShape, "tiled", kShape);
    State list = alone(kernels::recorded("tiled", kShape));
    for (const bool lecture : {false, true}) {
        for (const auto& [width, height] : {std::pair{200, 200}, std::pair{640, 360}, std::pair{900, 1400}}) {
            Drawn drawn(width, height);
            state.session.lecture = list.session.lecture = lecture;
            EXPECT_EQ(drawn.picture(state).width, width);
            EXPECT_EQ(drawn.picture(list).width, width);
        }
    }
}

}  // namespace
}  // namespace tilescope::app
