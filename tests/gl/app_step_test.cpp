// The Step screen as pictures: a recording made here, a step of each kind, both themes and sizes.
#include <fmt/format.h>

#include "app/frame.h"
#include "app/session.h"
#include "kernels/record.h"
#include "tests/gl/canvas.h"
#include "tests/gl/golden.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State recorded(const char* kernel, kernels::Shape shape) {
    auto session =
        make_session(std::make_shared<const trace::Trace>(kernels::recorded(kernel, shape)), "test");
    EXPECT_TRUE(session);
    State state;
    show_session(state, std::move(*session));
    ready_block(state, true);
    return state;
}

// The first step of the cursor's block of a kind, from a step on.
uint32_t first_of(const State& state, view::StepKind kind, uint32_t from = 0) {
    for (uint32_t step = from; step < state.block->steps; ++step) {
        if (view::kind_of(*state.session->trace, state.block->first + step) == kind) return step;
    }
    ADD_FAILURE() << "no such step";
    return 0;
}

platform::Image picture(State state, int width, int height) {
    auto headless = platform::Headless::create(width, height);
    EXPECT_TRUE(headless);
    auto frame = Frame::create();
    EXPECT_TRUE(frame);
    platform::Input input;
    for (int i = 0; i < 3; ++i) (*frame)->build(state, input, {width, height, 1}, true);
    (*frame)->render();
    return (*headless)->read();
}

constexpr kernels::Shape kDefault{64, 64, 64, 16};

TEST(StepScreen, FirstStepOfTheDefault) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(recorded("tiled", kDefault), 1280, 720), "step_default_first");
}

TEST(StepScreen, DefaultInTheDarkAtASharedStore) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", kDefault);
    state.theme = Theme::Dark;
    state.cursor.step = first_of(state, view::StepKind::SharedStore);
    test::expect_golden(picture(std::move(state), 1600, 1000), "step_default_store_dark");
}

TEST(StepScreen, LectureExampleWithAPinnedElement) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {4, 4, 4, 2});
    state.cursor.step = first_of(state, view::StepKind::SharedLoad) + 3;
    state.pin.kind = Pick::Kind::Element;
    state.pin.array = 2;
    state.pin.index = 1;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_lecture_pinned");
}

TEST(StepScreen, RaggedEdgesOfTheLastBlock) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", {100, 70, 130, 16});
    state.cursor.block = 62;
    ready_block(state, true);
    state.cursor.step = first_of(state, view::StepKind::GlobalLoad, state.block->spans[4].first);
    test::expect_golden(picture(std::move(state), 1280, 720), "step_edges");
}

TEST(StepScreen, BankConflictsOfTheTransposedTile) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled_transposed", {64, 64, 64, 32});
    state.cursor.step = first_of(state, view::StepKind::SharedLoad) + 33;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_bank_conflicts");
}

TEST(StepScreen, ListOfKeys) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("untiled_swapped", kDefault);
    state.show_keys = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_keys");
}

TEST(StepScreen, FormThatRecords) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded("tiled", kDefault);
    state.form.open = true;
    test::expect_golden(picture(std::move(state), 1280, 720), "step_record_form");
}

// Sizes that nobody designed for are drawn too, and a state without a recording.
TEST(StepScreen, DrawsAnySizeAndNothingAtAll) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{200, 200}, std::pair{640, 360}, std::pair{900, 1400}}) {
        EXPECT_EQ(picture(recorded("tiled", {4, 4, 4, 2}), width, height).width, width);
    }
    EXPECT_EQ(picture(State{}, 640, 360).height, 360);
}

}  // namespace
}  // namespace tilescope::app
