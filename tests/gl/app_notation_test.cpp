// A reader's notation on the screens: x first, the matrices called A, B and C, phases counted from 1.
#include "tests/gl/compare_drawn.h"

namespace tilescope::app {
namespace {

constexpr analysis::Wording kOther{true, true, analysis::MatrixNames::ABC};

// Tiled 64 x 64 x 64, as it ships from a GPU.
trace::Trace shipped() {
    auto trace = kernels::open_shipped(*kernels::find_shipped_recording("tiled-64x64x64-t16"));
    EXPECT_TRUE(trace);
    return std::move(*trace);
}

State compared(const analysis::Wording& wording) {
    State state = pair("untiled", kShape, "tiled", kShape);
    state.session.wording = wording;
    show_trace(state, shipped());
    state.session.screen = "compare";
    return state;
}

TEST(Notation, OfBothRecordingsThatAreCompared) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = compared({});
    std::string text = drawn.words(state);
    for (const char* name : {"M64", "N64"}) EXPECT_EQ(count_of(text, name), 2u) << text;
    // Changed while both are shown: B follows.
    state.session.wording = kOther;
    text = drawn.words(state);
    for (const char* name : {"A64\u00d764", "B64\u00d764"}) EXPECT_EQ(count_of(text, name), 2u) << text;
    EXPECT_EQ(count_of(text, "loadsfromA"), 2u) << text;
    // A pick is spoken of in both, x first.
    state.session.pin = look::picked_element(0, 64 * 2 + 1);
    text = drawn.words(state);
    EXPECT_GE(count_of(text, "A[1,2]"), 2u) << text;
    EXPECT_GE(count_of(text, "thread["), 1u) << text;
    for (const char* name : {"M64", "N64", "M[", "N[", "P["}) EXPECT_EQ(count_of(text, name), 0u) << text;
    EXPECT_EQ(state.session.pair.other.recording->notation, state.session.recording->notation);
    EXPECT_EQ(state.session.pair.other.block->notation, state.session.block->notation);
}

// Of a window of a large launch, the part's first element: [x,y] where x comes first.
TEST(Notation, OfThePartOfAMatrix) {
    SKIP_WITHOUT_OPENGL();
    kernels::RecordOptions options;
    options.timestamp = false;
    options.window = {100, 102, 200, 202};
    auto trace = kernels::record_cpu(*kernels::plan("tiled", {4096, 512, 4096, 16}), options);
    ASSERT_TRUE(trace);
    State state = pair(*trace, *trace);
    Drawn drawn(1600, 1000);
    EXPECT_EQ(count_of(drawn.words(state), "at[3200,0]"), 2u);
    state.session.wording = kOther;
    EXPECT_EQ(count_of(drawn.words(state), "at[0,3200]"), 2u);
}

TEST(Notation, OfALessonThatIsListedAndWalked) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = alone(kernels::recorded("tiled", {4, 4, 4, 2}));
    state.session.screen = "lessons";
    const auto all = lessons::lesson_list();
    for (size_t at = 0; at < all.size(); ++at)
        if (all[at].name == "barriers") state.lessons.listed = at;
    EXPECT_TRUE(says(drawn.words(state), "the warps fill Mds and Nds"));
    EXPECT_TRUE(says(drawn.words(state), "shared load of Mds, phase 0"));
    state.session.wording = kOther;
    const std::string text = drawn.words(state);
    EXPECT_TRUE(says(text, "Phase 1: the warps fill As and Bs"));
    EXPECT_TRUE(says(text, "shared load of As, phase 1"));
    EXPECT_FALSE(says(text, "Mds"));
    go_to_stop(state.lessons, state.session, state.lessons.listed, 0);
    update(state, true);
    EXPECT_TRUE(says(drawn.words(state), "Phase 1: the warps fill As and Bs"));
    EXPECT_EQ(state.lessons.note, "") << "its step is found by the array's own name";
}

TEST(Notation, OfEveryStepOfABlock) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state = compared(kOther);
    state.session.screen = "step";
    update(state, true);
    const look::Pick picks[] = {
        {},
        {.kind = look::Pick::Kind::Thread, .thread = 19},
        {.kind = look::Pick::Kind::Warp, .warp = 1},
        look::picked_element(0, 64 * 2 + 1),                                // of A
        look::picked_element(2, 64 * 2 + 1),                                // of C
        look::picked_element(3, 16 * 2 + 1, look::Pick::Kind::SharedCell),  // of As
    };
    // The source stays what it is: at the left, in a lecture in the lower right corner. In pixels.
    const auto of_source = [&](const draw::Written& one) {
        return state.session.lecture ? one.min.x > 1130 && one.min.y > 600 : one.min.x <= 400;
    };
    for (const bool lecture : {false, true})
        for (const uint32_t step : {0u, 40u, 700u, state.session.block->steps - 1})
            for (const look::Pick& pick : picks) {
                state.session.lecture = lecture;
                state.session.cursor.step = step;
                state.session.pin = pick;
                drawn.frames(state);
                std::string text;
                for (const draw::Written& one : drawn.seen().texts)
                    if (!of_source(one)) text += one.text;
                std::erase(text, ' ');
                for (const char* name : {"M[", "N[", "P[", "Mds", "Nds", "phase0"})
                    EXPECT_EQ(count_of(text, name), 0u) << name << " at step " << step << ": " << text;
                if (pick.kind == look::Pick::Kind::Thread)
                    EXPECT_GE(count_of(text, "thread[3,1]"), 1u) << text;
            }
    state.session.cursor.step = 0;
    state.session.lecture = false;
    EXPECT_GE(count_of(drawn.words(state), "phase1of4"), 1u);
}

}  // namespace
}  // namespace tilescope::app
