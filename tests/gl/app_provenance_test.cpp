// What a pin on an element or a shared cell opens, faults as they are marked, and a window of a launch too
// large to be recorded whole.
#include "app/actions.h"
#include "app/frame.h"
#include "app/session.h"
#include "kernels/record.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"

namespace tilescope::app {
namespace {

const std::vector<kernels::Timings> kNoTimes;
const std::vector<kernels::ShippedRecording> kNoRecordings;

State recorded(const char* kernel, kernels::Shape shape, BlockWindow window = {}) {
    State state;
    const auto plan = kernels::plan(kernel, shape);
    EXPECT_TRUE(plan);
    kernels::RecordOptions options;
    options.window = window;
    options.timestamp = false;
    auto trace = kernels::record_cpu(*plan, options);
    EXPECT_TRUE(trace);
    auto session = make_session(std::make_shared<const trace::Trace>(std::move(*trace)), "test");
    EXPECT_TRUE(session);
    show_session(state, std::move(*session));
    ready_block(state, true);
    state.timings = &kNoTimes;
    state.recordings = &kNoRecordings;
    state.form.gpu = {true, false, "there is no driver"};
    return state;
}

void pin(State& state, Pick::Kind kind, uint8_t array, uint64_t index) {
    state.pin.kind = kind;
    state.pin.array = array;
    state.pin.index = index;
}

platform::Image picture(State state, int width, int height) {
    auto headless = platform::Headless::create(width, height);
    EXPECT_TRUE(headless);
    auto frame = Frame::create();
    EXPECT_TRUE(frame);
    // The camera and places of the first frame are those of the second.
    for (int i = 0; i < 2; ++i) (*frame)->build(state, {}, {width, height, 1}, true);
    (*frame)->render();
    return (*headless)->read();
}

TEST(ProvenancePanel, ElementOfP) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {64, 64, 64, 16});
    pin(state, Pick::Kind::Element, 2, 3 * 64 + 5);
    state.cursor.step = 500;
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_output");
}

TEST(ProvenancePanel, ElementOfMInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("untiled", {64, 64, 64, 16});
    state.theme = Theme::Dark;
    pin(state, Pick::Kind::Element, 0, 3 * 64 + 19);
    state.cursor.step = 400;
    test::expect_golden(picture(std::move(state), 1600, 1000), "provenance_input_dark");
}

TEST(ProvenancePanel, SharedCell) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {64, 64, 64, 16});
    pin(state, Pick::Kind::SharedCell, 3, 2 * 16 + 7);
    state.cursor.step = 250;
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_cell");
}

TEST(ProvenancePanel, AFaultMarkedAndSaid) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled_stale_edge", {3, 3, 3, 2});
    perform(state, "next_fault");
    pin(state, Pick::Kind::Element, 2, 0);
    test::expect_golden(picture(std::move(state), 1280, 720), "provenance_fault");
}

TEST(Huge, AWindowOfBlocksOf8192) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {8192, 64, 8192, 16}, {100, 102, 200, 202});
    state.view.fit = false;
    state.view.pitch = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "huge_window");
}

TEST(Huge, TheFormPicksBlocks) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {64, 64, 64, 16});
    state.form.open = true;
    state.form.shape = {8192, 8192, 8192, 16};
    state.form.window = {100, 104, 200, 204};
    test::expect_golden(picture(std::move(state), 1280, 720), "huge_form");
}

}  // namespace
}  // namespace tilescope::app
