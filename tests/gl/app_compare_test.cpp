// The Compare screen as pictures and in words: pairs, the list of them, and every state that two recordings
// can be in.
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "app/actions.h"
#include "app/compare_session.h"
#include "app/frame.h"
#include "app/session.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

const std::vector<kernels::ShippedRecording> kNothingShips;
const std::vector<kernels::Timings> kNoTimes;  // the pictures do not change with what ships

constexpr kernels::Shape kShape{64, 64, 64, 16};

Session session_of(trace::Trace trace) {
    auto session = make_session(std::make_shared<const trace::Trace>(std::move(trace)), "test.tsc");
    EXPECT_TRUE(session);
    return std::move(*session);
}

State alone(trace::Trace trace) {
    State state;
    show_session(state, session_of(std::move(trace)));
    state.recordings = &kNothingShips;
    state.timings = &kNoTimes;
    state.screen = Screen::Compare;
    return state;
}

State pair(trace::Trace a, trace::Trace b) {
    State state = alone(std::move(a));
    compare_with(state, session_of(std::move(b)));
    return state;
}

State pair(const char* a, kernels::Shape of_a, const char* b, kernels::Shape of_b) {
    return pair(kernels::recorded(a, of_a), kernels::recorded(b, of_b));
}

// Every quad of glyphs has its character's place in the font atlas.
std::string written(const ImDrawData& data) {
    std::map<std::pair<float, float>, ImWchar> characters;
    for (const ImFont* font : ImGui::GetIO().Fonts->Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) characters[{glyph.U0, glyph.V0}] = static_cast<ImWchar>(glyph.Codepoint);
    std::string text;
    for (int list = 0; list < data.CmdListsCount; ++list) {
        const ImVector<ImDrawVert>& vertices = data.CmdLists[list]->VtxBuffer;
        for (int i = 0; i + 2 < vertices.Size; ++i) {
            const auto found = characters.find({vertices[i].uv.x, vertices[i].uv.y});
            if (found == characters.end() || vertices[i].pos.y != vertices[i + 1].pos.y) continue;
            if (found->second < 0x80)
                text += static_cast<char>(found->second);
            else if (found->second == 0x2026)
                text += "\u2026";
            else
                text += '?';
        }
    }
    return text;
}

class Drawn {
public:
    Drawn(int width, int height) : canvas_{width, height, 1} {
        headless_ = std::move(*platform::Headless::create(width, height));
        frame_ = std::move(*Frame::create());
    }
    void frames(State& state, const platform::Input& input = {}, int count = 3) {
        for (int i = 0; i < count; ++i) frame_->build(state, input, canvas_, true);
    }
    platform::Image picture(State& state) {
        frames(state);
        frame_->render();
        return headless_->read();
    }
    // All that is written in a frame, in the order in which it is drawn. Spaces leave no trace in it.
    std::string words(State& state) {
        frames(state);
        return written(*ImGui::GetDrawData());
    }

private:
    Canvas canvas_;
    std::unique_ptr<platform::Headless> headless_;
    std::unique_ptr<Frame> frame_;
};

void golden(State state, int width, int height, const std::string& name) {
    Drawn drawn(width, height);
    test::expect_golden(drawn.picture(state), name);
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

testing::AssertionResult says(const std::string& drawn, const std::string& words) {
    if (drawn.find(without_spaces(words)) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << words << "' is not in " << drawn;
}

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

TEST(CompareScreen, NoRecordingAtAll) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State nothing;
    nothing.screen = Screen::Compare;
    nothing.recordings = &kNothingShips;
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
        hollow.cursor = {last, 0};
        for (const view::Lock lock : {view::Lock::Step, view::Lock::Phase, view::Lock::Share}) {
            hollow.compare.lock = lock;
            const std::string text = drawn.words(hollow);
            if (lock != view::Lock::Share) {
                EXPECT_TRUE(says(text, "This block recorded no step."));
            }
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
        EXPECT_TRUE(choosing(state));
        take_choice(state, 0);
        EXPECT_FALSE(says(drawn.words(state), "holds no step")) << "another pair takes its place";
        EXPECT_FALSE(choosing(state));
    }
}

TEST(CompareScreen, TinyOnesShowTheirCounts) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", {4, 4, 4, 2}, "tiled", {4, 4, 4, 2});
    const std::string text = drawn.words(state);
    EXPECT_TRUE(says(text, "4 loads each = n"));
    EXPECT_TRUE(says(text, "2 loads each = n/T"));
    EXPECT_EQ(count_of(text, "\u2026"), 2u);
    State one = pair("untiled", {1, 1, 1, 2}, "tiled", {1, 1, 1, 2});
    EXPECT_TRUE(says(drawn.words(one), "1 load each"));
}

TEST(CompareScreen, OtherSizesAndKernelsAreSaidToDiffer) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("tiled_swapped", {50, 70, 33, 8}, "untiled", {96, 16, 128, 32});
    for (const uint32_t block : {0u, 11u, 34u}) {
        state.cursor = {block, 0};
        EXPECT_TRUE(says(drawn.words(state), "Different work: 50x70x33 in A, 96x16x128 in B."));
    }
}

TEST(CompareScreen, WrongElementsAreMarkedAndCounted) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = pair("tiled_no_barrier", kShape, "tiled", kShape);
    const std::string text = drawn.words(state);
    const uint64_t wrong = state.session->trace->meta.result.wrong;
    ASSERT_GT(wrong, 0u);
    EXPECT_TRUE(says(text, view::grouped(wrong) + " wrong"));
    EXPECT_TRUE(says(text, "all right"));
    EXPECT_FALSE(says(text, "fewer, for the same work"));
    // At the step where a fault comes about it is told in words; the other side has none.
    perform(state, "next_fault");
    EXPECT_EQ(count_of(drawn.words(state), "Race:"), 1u);
    ASSERT_TRUE(state.compare.faults);
    EXPECT_FALSE(state.compare.faults->any());
    // Also where a lecture leaves no room for the requests.
    Drawn low(1280, 720);
    state.teach.lecture = true;
    EXPECT_TRUE(says(low.words(state), "A: Race: "));
    state.cursor.step = 0;
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
    ASSERT_TRUE(compare_with(state, std::move(large), "large.tsc"));
    EXPECT_EQ(state.compare.opening, "large.tsc");
    EXPECT_TRUE(says(drawn.words(state), "Opening large.tsc"));
    for (int i = 0; i < 2000 && !state.compare.opening.empty(); ++i) {
        drawn.frames(state, {}, 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_EQ(state.compare.opening, "");
    EXPECT_EQ(state.compare.other->trace->meta.n, 128u);
    EXPECT_TRUE(says(drawn.words(state), "Different work: 64x64x64 in A, 128x128x128 in B."));
}

TEST(CompareScreen, SwappedSidesStandWhereTheyStood) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = pair("untiled", kShape, "tiled", kShape);
    state.cursor = {6, 400};
    drawn.frames(state);
    const playback::Cursor b = state.compare.cursor;
    ASSERT_GT(b.step, 0u);
    swap_sides(state);
    drawn.frames(state);
    EXPECT_EQ(state.session->trace->meta.kernel, "tiled");
    EXPECT_EQ(state.compare.other->trace->meta.kernel, "untiled");
    EXPECT_EQ(state.cursor, b);
    EXPECT_EQ(state.compare.cursor.block, 6u);
    EXPECT_NEAR(state.compare.cursor.step, 400, 16);
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
        state.cursor.step = 0;
        mouse.mouse_y = y;
        mouse.mouse_down[0] = false;
        drawn.frames(state, mouse, 2);
        mouse.mouse_down[0] = true;
        drawn.frames(state, mouse, 3);
        const uint32_t steps = is_b ? state.compare.block->steps : state.block->steps;
        const uint32_t at = is_b ? state.compare.cursor.step : state.cursor.step;
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
            state.teach.lecture = list.teach.lecture = lecture;
            EXPECT_EQ(drawn.picture(state).width, width);
            EXPECT_EQ(drawn.picture(list).width, width);
        }
    }
}

}  // namespace
}  // namespace tilescope::app
