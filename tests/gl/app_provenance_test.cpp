// What a pin on an element or a shared cell opens, faults as they are marked, and a window of a launch too
// large to be recorded whole.
#include "app/draw/ui.h"
#include "app/input/overlays.h"
#include "app/look/faults.h"
#include "app/session/session.h"
#include "kernels/run/record.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/vector_kernel.h"

namespace tilescope::app {
namespace {

State recorded_window(const char* kernel, kernels::Shape shape, BlockWindow window = {}) {
    State state;
    const auto plan = kernels::plan(kernel, shape);
    EXPECT_TRUE(plan);
    kernels::RecordOptions options;
    options.window = window;
    options.timestamp = false;
    auto trace = kernels::record_cpu(*plan, options);
    EXPECT_TRUE(trace);
    show_trace(state, std::move(*trace));
    state.session.assets.timings = session::Assets::of(kNoTimes);
    state.session.assets.recordings = session::Assets::of(kNothingShips);
    state.session.gpu = {true, false, "there is no driver"};
    return state;
}

void pin_on(State& state, Pick::Kind kind, uint8_t array, uint64_t index) {
    state.session.pin.kind = kind;
    state.session.pin.array = array;
    state.session.pin.index = index;
}

// All that the window says, a space between lines.
std::string texts(State state) {
    std::string all;
    for (const draw::Written& text : picture(std::move(state), 1280, 720).seen.texts) all += text.text + " ";
    return all;
}

State pinned(Pick::Kind kind, uint8_t array, uint64_t index, uint32_t step) {
    State state = recorded_window("tiled", {64, 64, 64, 16});
    pin_on(state, kind, array, index);
    state.session.cursor.step = step;
    return state;
}
State element_of_p() { return pinned(Pick::Kind::Element, 2, 3 * 64 + 5, 500); }
State shared_cell() { return pinned(Pick::Kind::SharedCell, 3, 2 * 16 + 7, 250); }

TEST(ProvenancePanel, ElementOfP) {
    SKIP_WITHOUT_OPENGL();
    State state = element_of_p();
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_output");
}

// Who loaded a factor, when and how often it was used, stands there in words, and the running value above.
TEST(ProvenancePanel, SaysItInASentence) {
    SKIP_WITHOUT_OPENGL();
    State state = element_of_p();
    const std::string all = texts(std::move(state));
    EXPECT_NE(all.find("M[3,26]: loaded once by thread[3,10] in phase 1 at step "), std::string::npos) << all;
    EXPECT_NE(all.find("N[26,5]: loaded once by thread[10,5] in phase 1 at step "), std::string::npos) << all;
    EXPECT_NE(all.find("used 16 times"), std::string::npos) << all;
    EXPECT_NE(all.find("thread[3,5]: warp 1, lane 21"), std::string::npos) << all;
    EXPECT_NE(all.find("after 26 of 64 products"), std::string::npos) << all;
}

TEST(ProvenancePanel, SaysOfASharedCellWhatItHoldsAndWhoReadIt) {
    SKIP_WITHOUT_OPENGL();
    State state = shared_cell();
    const std::string all = texts(std::move(state));
    for (const char* said : {"Mds[2,7] = ", "holds M[2,7]", "loaded at step 2",
                             "stored by thread[2,7] at step ", "read 16 times since, by 1 request"})
        EXPECT_NE(all.find(said), std::string::npos) << said << " in " << all;
}

// Of a kernel that is no product: what is left out of a long list is said, and a zero is a zero.
TEST(ProvenancePanel, SaysOfACellReadOftenThatTheLatestReadersAreListed) {
    SKIP_WITHOUT_OPENGL();
    const auto said_of = [](uint64_t cell) {
        State state;
        show_trace(state, vector_recording());
        state.session.gpu = {true, false, "there is no driver"};
        pin_on(state, Pick::Kind::SharedCell, kVectorTile, cell);
        state.session.cursor.step = state.session.block->steps - 1;
        return texts(std::move(state));
    };
    const std::string first = said_of(0), zero = said_of(32);
    for (const char* said : {"read 2,400 times since ", "the latest 256 are listed"})
        EXPECT_NE(first.find(said), std::string::npos) << said << " in " << first;
    EXPECT_NE(zero.find("holds a zero "), std::string::npos) << zero;
    EXPECT_EQ(zero.find("are listed"), std::string::npos) << zero;
}

TEST(ProvenancePanel, ElementOfMInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("untiled", {64, 64, 64, 16});
    state.session.theme = Theme::Dark;
    pin_on(state, Pick::Kind::Element, 0, 3 * 64 + 19);
    state.session.cursor.step = 400;
    test::expect_golden(picture(std::move(state), 1600, 1000), "provenance_input_dark");
}

TEST(ProvenancePanel, SharedCell) {
    SKIP_WITHOUT_OPENGL();
    State state = shared_cell();
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_cell");
}

TEST(ProvenancePanel, AFaultMarkedAndSaid) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("tiled_stale_edge", {3, 3, 3, 2});
    perform(state, "next_fault");
    pin_on(state, Pick::Kind::Element, 2, 0);
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_fault");
}

// What a shared cell holds is told apart by shape: in grey, a zero fill is struck from corner to corner, a
// stale value has its one corner filled, an element of this phase has neither.
TEST(SharedCells, ZeroFillAndStaleDifferInShape) {
    SKIP_WITHOUT_OPENGL();
    constexpr int kSide = 40;
    test::Canvas canvas(3 * kSide, kSide);
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const draw::Palette& palette = draw::palette(theme);
        State state;
        const platform::Image image = canvas.frame(palette, [&](ImDrawList& list) {
            DrawContext context{1, palette, canvas.fonts(), canvas.grids()};
            draw::Ui ui{context, list};
            list.AddRectFilled({0, 0}, {3 * kSide, kSide}, palette[draw::Ink::Cell]);
            draw::zero_sign(ui, {{4, 4}, {36, 36}});
            draw::stale_notch(ui, {{44, 4}, {76, 36}});
        });
        const draw::Rgba plain = test::pixel(image, 100, 20);
        const auto marked = [&](int x, int y) {
            return draw::contrast(test::pixel(image, x, y), plain) > 1.25f;
        };
        EXPECT_TRUE(marked(20, 20) || marked(20, 19)) << "struck through its middle";
        EXPECT_FALSE(marked(12, 12)) << "beside the stroke";
        EXPECT_FALSE(marked(60, 20)) << "the value's place is free";
        EXPECT_TRUE(marked(74, 5)) << "the corner";
        EXPECT_FALSE(marked(46, 34)) << "the corner across";
    }
}

TEST(Huge, AWindowOfBlocksOf8192) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("tiled", {8192, 64, 8192, 16}, {100, 104, 200, 204});
    // The window, and a little of what lies around it.
    state.step.view.fit = false;
    state.step.view.pitch = 3;
    state.step.view.row = 200 * 16 - 8, state.step.view.col = 100 * 16 - 8;
    test::expect_golden(picture(std::move(state), 1280, 720), "huge_window");
}

TEST(StepScreen, AFaultInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("tiled_stale_edge", {20, 20, 20, 8});
    state.session.lecture = true;
    perform(state, "next_fault");
    test::expect_golden(picture(std::move(state), 1280, 720), "lecture_fault");
}

// The strip that leads to the faults says them whole, in as many lines as that takes.
TEST(StepScreen, TheStripOfFaultsIsWhole) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("tiled_no_barrier", {12, 12, 12, 4});  // one warp: right by luck
    test::expect_golden(picture(state, 1280, 720), "step_fault_strip");
    for (const int width : {900, 1280, 1600})
        for (const bool lecture : {false, true}) {
            Drawn drawn(width, 720);
            state.session.lecture = lecture;
            const std::string words = drawn.words(state);
            std::string strip = look::strip_text(state.session.trace(), *state.session.said);
            std::erase(strip, ' ');
            EXPECT_NE(words.find(strip), std::string::npos) << width << (lecture ? ", lecture" : "");
        }
}

TEST(StepScreen, NothingIsOpen) {
    SKIP_WITHOUT_OPENGL();
    State state;
    state.session.assets.timings = session::Assets::of(kNoTimes);
    state.session.assets.recordings = session::Assets::of(kNothingShips);
    test::expect_golden(picture(std::move(state), 1280, 720), "step_nothing");
}

TEST(Huge, TheFormPicksBlocks) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_window("tiled", {64, 64, 64, 16});
    state.input.form.open = true;
    state.input.form.shape = {8192, 8192, 8192, 16};
    state.input.form.window = {100, 104, 200, 204};
    test::expect_golden(picture(std::move(state), 1280, 720), "huge_form");
}

}  // namespace
}  // namespace tilescope::app
