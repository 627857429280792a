// Steps marked for a film on the timeline: by the mouse with Shift, by keys, in lecture mode; nothing that is written
// there is cut or lies on another text.
#include <cmath>
#include <map>
#include <random>

#include "app/session/playing.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/gl/flaws.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State marked_state() {
    State state;
    show_trace(state, kernels::recorded("tiled", {64, 64, 64, 16}));
    state.session.assets.timings = session::Assets::of(kNoTimes);
    update(state, true);
    return state;
}

draw::Rect timeline_of(const Drawn& drawn) {
    for (const draw::Panel& panel : drawn.panels())
        if (std::string_view(panel.name) == "timeline") return panel.rect;
    ADD_FAILURE() << "there is no timeline";
    return {};
}

// The mouse goes down at a share of the timeline, and up at another one.
void drag(Drawn& drawn, State& state, float from, float to, bool shift) {
    const draw::Rect rect = timeline_of(drawn);
    const float left = rect.min.x + 12 + 64, wide = rect.max.x - 12 - left;
    platform::Input input;
    input.shift = shift;
    input.mouse_y = rect.min.y + 60;
    input.mouse_x = left + wide * from;
    drawn.frames(state, input, 2, false);
    input.mouse_down[0] = true;
    drawn.frames(state, input, 1, false);
    input.mouse_x = left + wide * (from + to) / 2;
    drawn.frames(state, input, 1, false);
    input.mouse_x = left + wide * to;
    drawn.frames(state, input, 1, false);
    input.mouse_down[0] = false;
    drawn.frames(state, input, 2, false);
}

TEST(Marks, AreMadeByTheMouseWithShift) {
    SKIP_WITHOUT_OPENGL();
    State state = marked_state();
    Drawn drawn(1280, 720);
    drawn.frames(state);
    const uint32_t steps = state.session.block->steps, before = state.session.cursor.step;
    for (const auto& [from, to] : {std::pair(0.25f, 0.5f), {0.75f, 0.25f}}) {
        drag(drawn, state, from, to, true);
        const auto marked = session::marked_here(state.session);
        ASSERT_TRUE(marked);
        const float first = std::min(from, to), last = std::max(from, to);
        EXPECT_NEAR(marked->first, first * static_cast<float>(steps), static_cast<float>(steps) / 100);
        EXPECT_NEAR(marked->end, last * static_cast<float>(steps), static_cast<float>(steps) / 100);
        EXPECT_EQ(state.session.cursor.step, before) << "the playhead stays";
        const std::string words =
            "steps" + grouped(marked->first + 1) + "to" + grouped(marked->end) + "marked";
        EXPECT_NE(drawn.words(state).find(words), std::string::npos) << words;
    }
    drag(drawn, state, 0.4f, 0.4f, true);
    EXPECT_FALSE(state.session.marked) << "a click takes the mark away";
    drag(drawn, state, 0.2f, 0.6f, false);
    EXPECT_FALSE(state.session.marked) << "without Shift the mouse scrubs";
    EXPECT_NEAR(state.session.cursor.step, 0.6f * static_cast<float>(steps), static_cast<float>(steps) / 20);
}

TEST(Marks, SpoilNoText) {
    SKIP_WITHOUT_OPENGL();
    std::mt19937 random(3);
    State state = marked_state();
    const uint32_t steps = state.session.block->steps;
    for (const auto& [wide, high] : {std::pair(1280, 720), {1600, 1000}, {1080, 1200}, {1920, 1080}}) {
        Drawn drawn(wide, high);
        for (const bool lecture : {false, true}) {
            state.session.lecture = lecture;
            for (int times = 0; times < 4; ++times) {
                const auto first = static_cast<uint32_t>(random() % steps),
                           end = first + 1 + static_cast<uint32_t>(random() % (steps - first));
                session::mark(state.session, first, end);
                state.session.cursor.step = static_cast<uint32_t>(random() % steps);
                drawn.frames(state);
                SCOPED_TRACE(fmt::format("{} x {}{}", wide, high, lecture ? ", lecture" : ""));
                EXPECT_EQ(flaws(drawn.seen(), wide, high), std::vector<std::string>());
                for (const draw::Written& text : drawn.seen().texts)
                    if (text.text.ends_with("marked")) EXPECT_FALSE(text.cut) << text.text;
            }
        }
    }
}

// Cells of a few pixels that a block stored so far each have a mark of their own, smaller ones a square of them; and
// the squares are the tile's, whatever is in sight of it.
TEST(Marks, OfManySmallSumsAreSquaresOfTheTile) {
    SKIP_WITHOUT_OPENGL();
    State state;
    show_trace(state, kernels::recorded("register_tile", {128, 16, 128, 0}));
    state.session.assets.timings = session::Assets::of(kNoTimes);
    const uint8_t output = state.session.recording->product->P;
    uint32_t& step = state.session.cursor.step =
        state.session.block->steps - 1;  // the last that leaves P alone
    while (state.session.trace().form_of(step).array == output) --step;
    update(state, true);
    Drawn drawn(1280, 720);
    drawn.frames(state);
    const auto places = [&](double pitch, double row, double col) {
        state.step.view.fit = false;
        state.step.view.pitch = pitch, state.step.view.row = row, state.step.view.col = col;
        drawn.frames(state);
        std::map<std::pair<float, float>, float> squares;
        for (const auto& [array, mark] : drawn.seen().marks)
            if (array == output && mark.fill >> 24 == 255 && mark.rows == mark.cols && mark.rows < 8)
                squares[{mark.row, mark.col}] = mark.rows;
        return squares;
    };
    for (const double moved : {0.0, 1.0, 5.0}) {
        const auto small = places(3, moved, moved);
        ASSERT_GT(small.size(), 100u);
        for (const auto& [place, side] : small) {
            EXPECT_EQ(side, 2);
            EXPECT_EQ(std::fmod(place.first, side), 0) << place.first;
            EXPECT_EQ(std::fmod(place.second, side), 0) << place.second;
        }
        const auto large = places(4, moved, moved);
        ASSERT_GT(large.size(), 100u);
        for (const auto& [place, side] : large) EXPECT_EQ(side, 1);
    }
}

}  // namespace
}  // namespace tilescope::app
