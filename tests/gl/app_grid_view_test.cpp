// The grid at work on the Step screen: drawn of recordings with and without clocks, entered by a click, and played.
#include <random>

#include "app/step/zoom.h"
#include "kernels/textbook/shipped.h"
#include "tests/app_names.h"
#include "tests/clocked.h"
#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State at_work(trace::Trace trace, double now = 0.5) {
    State state;
    show_trace(state, std::move(trace), "test.tsc");
    state.session.assets.recordings = Assets::of(kNothingShips);
    EXPECT_TRUE(act(state, "grid"));
    state.step.grid.now = now;
    return state;
}
trace::Trace shipped(const char* name) {
    const auto* const found = kernels::find_shipped_recording(name);
    EXPECT_NE(found, nullptr) << name;
    auto trace = kernels::open_shipped(*found);
    EXPECT_TRUE(trace);
    return std::move(*trace);
}

// What is cut, leaves the window, or lies on another text.
std::string spoilt(const draw::Inspection& seen, int width, int height) {
    std::string all;
    for (size_t at = 0; at < seen.texts.size(); ++at) {
        const draw::Written& one = seen.texts[at];
        if (one.cut) all += "cut: " + one.text + "\n";
        if (one.min.x < 0 || one.min.y < 0 || one.max.x > static_cast<float>(width) ||
            one.max.y > static_cast<float>(height))
            all += "outside: " + one.text + "\n";
        for (size_t other = 0; other < at; ++other) {
            const draw::Written& before = seen.texts[other];
            const float over = std::min(one.max.y, before.max.y) - std::max(one.min.y, before.min.y);
            const float beside = std::min(one.max.x, before.max.x) - std::max(one.min.x, before.min.x);
            if (one.list == before.list && over > 3 && beside > 1)
                all += "'" + one.text + "' lies on '" + before.text + "'\n";
        }
    }
    return all;
}

TEST(GridView, NothingIsCutOrLiesOnAnother) {
    SKIP_WITHOUT_OPENGL();
    std::vector<trace::Trace> traces;
    for (const char* name : {"untiled-1024x4x1024-t32", "untiled-512x8x512-t16", "tiled-64x64x64-t16",
                             "tiled-1024x1024x1024-t16-window", "vector_2000"})
        traces.push_back(shipped(name));
    for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1920, 1080}, {960, 1200}}) {
        Drawn drawn(width, height);
        for (const trace::Trace& trace : traces)
            for (const bool lecture : {false, true}) {
                if (lecture && width < 1024) continue;
                State state = at_work(trace);
                state.session.lecture = lecture;
                for (const double now : {0.0, 0.9}) {
                    state.step.grid.now = now;
                    drawn.frames(state);
                    EXPECT_EQ(spoilt(drawn.seen(), width, height), "")
                        << trace.meta.kernel << ' ' << width << (lecture ? " lecture" : "");
                }
            }
    }
}

TEST(GridView, Pictures) {
    SKIP_WITHOUT_OPENGL();
    golden(at_work(shipped("untiled-1024x4x1024-t32")), 1280, 720, "grid_waves");
    State dark = at_work(shipped("untiled-512x8x512-t16"), 0.7);
    dark.session.theme = draw::Theme::Dark;
    golden(std::move(dark), 1600, 1000, "grid_one_wave_dark");
    State lecture = at_work(shipped("tiled-1024x1024x1024-t16-window"), 0.4);
    lecture.session.lecture = true;
    golden(std::move(lecture), 1280, 720, "grid_modelled_lecture");
    golden(at_work(shipped("tiled-64x64x64-t16"), 0.95), 960, 1200, "grid_small");
}

// The numbers below are those of the moment, counted block by block.
TEST(GridView, SaysWhatStandsAtTheMoment) {
    SKIP_WITHOUT_OPENGL();
    State state = at_work(shipped("untiled-1024x4x1024-t32"));
    Drawn drawn(1280, 720);
    drawn.frames(state);
    const look::GridAtWork grid = *state.step.grid.made;
    for (const double now : {0.0, 0.13, 0.5, 0.77, 0.93, 1.0}) {
        state.step.grid.now = now;
        const auto at = static_cast<uint64_t>(now * static_cast<double>(grid.end));
        uint64_t running = 0, done = 0;
        std::set<uint32_t> busy;
        for (const analysis::BlockRun& run : grid.runs) {
            done += run.end <= at;
            if (run.begin <= at && at < run.end) ++running, busy.insert(run.sm);
        }
        const std::string words = drawn.words(state);
        EXPECT_TRUE(says(words, fmt::format("blocks running{}of 1,024", grouped(running))));
        EXPECT_TRUE(says(words, fmt::format("blocks done{}of 1,024", grouped(done))));
        EXPECT_TRUE(says(words, fmt::format("SMs idle{}of 132", 132 - busy.size())));
    }
}

platform::Input mouse(float x, float y, bool down = false) {
    platform::Input input;
    input.mouse_x = x, input.mouse_y = y;
    input.mouse_down[0] = down;
    return input;
}

// A click on a cell enters the block that the cell is; one that was not recorded stays where it is.
TEST(GridView, AClickEntersABlock) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = at_work(kernels::recorded("tiled", {64, 64, 64, 16}));
    drawn.frames(state);
    // 4 x 4 cells of 104 pixels: the second row, the third column.
    const float x = 24 + 104 * 2.5f, y = 152 + 104 * 1.5f;
    drawn.frames(state, mouse(x, y), 2, false);
    EXPECT_TRUE(says(drawn.words_now(state), "block(1,2)"));
    drawn.frames(state, mouse(x, y, true), 1, false);
    drawn.frames(state, mouse(x, y), 2, false);
    EXPECT_FALSE(state.step.grid.shown);
    const trace::Block& entered = state.session.trace().blocks[state.session.cursor.block];
    EXPECT_EQ(entered.x, 2u);
    EXPECT_EQ(entered.y, 1u);

    State part = at_work(shipped("tiled-1024x1024x1024-t16-window"));
    drawn.frames(part);
    drawn.frames(part, mouse(60, 190), 2, false);
    drawn.frames(part, mouse(60, 190, true), 1, false);
    drawn.frames(part, mouse(60, 190), 2, false);
    EXPECT_TRUE(part.step.grid.shown);
    EXPECT_TRUE(says(drawn.words_now(part), "It was not recorded"));
}

// The moment follows keys and the mouse on the columns, and stays within the grid's time.
TEST(GridView, TheMomentMoves) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = at_work(shipped("untiled-512x8x512-t16"));
    drawn.frames(state);
    const auto press = [&](platform::Key key, bool shift = false) {
        platform::Input input;
        input.presses.push_back({.key = key, .shift = shift});
        drawn.frames(state, input, 1, false);
    };
    using platform::Key;
    press(Key::Home);
    EXPECT_EQ(state.step.grid.now, 0);
    press(Key::Left);
    EXPECT_EQ(state.step.grid.now, 0);
    press(Key::Right, true);
    EXPECT_NEAR(state.step.grid.now, 0.1, 1e-9);
    press(Key::PageDown);
    EXPECT_NEAR(state.step.grid.now, 0.2, 1e-9);
    press(Key::End);
    EXPECT_EQ(state.step.grid.now, 1);
    press(Key::Space);
    EXPECT_TRUE(state.step.grid.plays) << "from the beginning again";
    EXPECT_LT(state.step.grid.now, 0.5);
    press(Key::Space);
    EXPECT_FALSE(state.step.grid.plays);
    EXPECT_FALSE(state.session.playback.playing) << "the block's steps stand";
    drawn.frames(state, mouse(900, 400), 1, false);
    drawn.frames(state, mouse(900, 400, true), 2, false);
    const double there = state.step.grid.now;
    EXPECT_NEAR(there, (400 - 152) / 420.0, 0.05);
    drawn.frames(state, mouse(900, 500, true), 2, false);
    EXPECT_GT(state.step.grid.now, there);
    drawn.frames(state, mouse(900, 500), 1, false);
    press(Key::Enter);
    EXPECT_FALSE(state.step.grid.shown);
}

// A question's answer may be on it.
TEST(GridView, IsNotShownWhileAQuestionIsOpen) {
    State state = at_work(kernels::recorded("tiled", {16, 16, 16, 4}));
    EXPECT_TRUE(state.step.grid.shown);
    state.session.question.open = true;
    EXPECT_FALSE(step::grid_shown(state.step, state.session));
}

}  // namespace
}  // namespace tilescope::app
