// The grid at work on the Step screen: drawn of recordings with and without clocks, entered by a click, and played.
#include <random>

#include "app/step/zoom.h"
#include "kernels/textbook/shipped.h"
#include "tests/app_names.h"
#include "tests/clocked.h"
#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"
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

// All that was written in the last frame, without its spaces.
std::string written(const Drawn& drawn) {
    std::string all;
    for (const draw::Written& text : drawn.seen().texts) all += text.text;
    return without_spaces(all);
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
    EXPECT_TRUE(says(written(drawn), "block(1,2)"));
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
    EXPECT_TRUE(says(written(drawn), "It was not recorded"));
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

// --- one zoom

// All that decides what is seen.
struct Seen {
    bool grid = false;
    uint32_t block = 0, step = 0;
    look::Pick pin;
    double row = 0, col = 0, m_k = 0, n_k = 0, pitch = 0;
    bool operator==(const Seen&) const = default;
};
Seen seen(const State& state) {
    const step::ArrayView& view = state.step.view;
    return {state.step.grid.shown,
            state.session.cursor.block,
            state.session.cursor.step,
            state.session.pin,
            view.row,
            view.col,
            view.m_k,
            view.n_k,
            view.pitch};
}

// W to the largest cells, then to a warp and to a lane, where it ends; S the same way back, view by view.
TEST(Zoom, KeysLeadInToALaneAndBackToTheSameView) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state;
    show_trace(state, kernels::recorded("tiled", {64, 64, 64, 16}));
    state.session.cursor = {5, 40};
    drawn.frames(state);
    while (state.step.view.pitch < step::kMostPitch) {
        EXPECT_TRUE(act(state, "zoom_in"));
        drawn.frames(state);
        ASSERT_EQ(state.session.pin.kind, look::Pick::Kind::None) << "cells first";
    }
    const Seen largest = seen(state);
    EXPECT_TRUE(act(state, "zoom_in"));
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::Warp);
    const trace::Trace& trace = state.session.trace();
    EXPECT_EQ(state.session.pin.warp, trace.warp_of(trace.blocks[5].first + 40));
    const Seen warp = seen(state);
    EXPECT_TRUE(act(state, "zoom_in"));
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::Thread);
    EXPECT_EQ(state.session.pin.thread / 32, warp.pin.warp);
    const Seen lane = seen(state);
    EXPECT_TRUE(act(state, "zoom_in"));
    EXPECT_EQ(seen(state), lane) << "the innermost level";
    EXPECT_TRUE(act(state, "zoom_out"));
    EXPECT_EQ(seen(state), warp);
    EXPECT_TRUE(act(state, "zoom_out"));
    EXPECT_EQ(seen(state), largest);
    for (int more = 0; more < 40 && !state.step.grid.shown; ++more) {
        EXPECT_TRUE(act(state, "zoom_out"));
        drawn.frames(state);
    }
    ASSERT_TRUE(state.step.grid.shown) << "past the whole matrix";
    Seen whole = seen(state);
    whole.grid = false;
    EXPECT_TRUE(act(state, "zoom_out"));
    EXPECT_TRUE(state.step.grid.shown) << "the outermost level";
    EXPECT_TRUE(act(state, "zoom_in"));
    EXPECT_EQ(seen(state), whole);
    // What is all in sight as it opens leads there at once.
    State small;
    show_trace(small, kernels::recorded("tiled", {4, 4, 4, 2}));
    drawn.frames(small);
    const Seen before = seen(small);
    EXPECT_TRUE(act(small, "zoom_out"));
    EXPECT_TRUE(small.step.grid.shown);
    EXPECT_TRUE(act(small, "zoom_in"));
    drawn.frames(small);
    EXPECT_EQ(seen(small), before);
}

// The wheel over P goes the same ways.
TEST(Zoom, TheWheelLeadsThroughTheLevels) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state;
    show_trace(state, kernels::recorded("tiled", {64, 64, 64, 16}));
    drawn.frames(state);
    const uint8_t output = state.session.recording->product->P;
    const auto wheel = [&](float by) {
        const auto place =
            std::ranges::find(state.step.places, output, &std::pair<uint8_t, draw::GridView>::first);
        if (place == state.step.places.end()) return;
        platform::Input input = mouse((place->second.clip_min.x + place->second.clip_max.x) / 2,
                                      (place->second.clip_min.y + place->second.clip_max.y) / 2);
        input.scroll_y = by;
        drawn.frames(state, input, 1, false);
        input.scroll_y = 0;
        drawn.frames(state, input, 1, false);
    };
    for (int i = 0; i < 40 && state.session.pin.kind != look::Pick::Kind::Thread; ++i) wheel(1);
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::Thread);
    EXPECT_EQ(state.step.view.pitch, step::kMostPitch);
    for (int i = 0; i < 60 && !state.step.grid.shown; ++i) wheel(-1);
    EXPECT_TRUE(state.step.grid.shown) << state.step.view.pitch << " pixels a cell";
    EXPECT_EQ(state.session.pin.kind, look::Pick::Kind::None);
}

// The path names what is selected, whatever that is, and each of its parts leads back there.
TEST(Zoom, ThePathNamesWhatIsSelected) {
    SKIP_WITHOUT_OPENGL();
    std::mt19937 random(11);
    const trace::Trace trace = kernels::recorded("tiled", {64, 64, 64, 16});
    using Names = std::vector<std::string>;
    for (int round = 0; round < 200; ++round) {
        const auto block = static_cast<uint32_t>(random() % trace.blocks.size());
        const uint32_t thread = random() % 256;
        const std::string named = fmt::format("block({},{})", trace.blocks[block].y, trace.blocks[block].x);
        const auto path = [&](const look::Pick& pin) { return step::path_names(trace, block, pin, {}); };
        const std::string warp = fmt::format("warp {}", thread / 32),
                          lane = fmt::format("lane {}", thread % 32);
        EXPECT_EQ(path({}), (Names{"grid", named}));
        EXPECT_EQ(path(look::picked_element(0, thread)), (Names{"grid", named}));
        EXPECT_EQ(path({.kind = look::Pick::Kind::Warp, .warp = thread / 32}), (Names{"grid", named, warp}));
        EXPECT_EQ(path({.kind = look::Pick::Kind::Thread, .thread = thread, .warp = thread / 32}),
                  (Names{"grid", named, warp, lane}));
    }
    Drawn drawn(1600, 1000);
    State state;
    show_trace(state, trace);
    state.session.pin = {.kind = look::Pick::Kind::Thread, .thread = 37, .warp = 1};
    drawn.frames(state);
    const auto click = [&](const std::string& part) {
        for (const draw::Written& text : drawn.seen().texts)
            if (text.text == part) {
                const float x = (text.min.x + text.max.x) / 2, y = (text.min.y + text.max.y) / 2;
                drawn.frames(state, mouse(x, y), 1, false);
                drawn.frames(state, mouse(x, y, true), 1, false);
                drawn.frames(state, mouse(-1, -1), 2, false);
                return;
            }
        ADD_FAILURE() << part << " is not written";
    };
    EXPECT_TRUE(says(drawn.words(state), "grid\u203ablock(0,0)\u203awarp 1\u203alane 5"));
    click("warp 1");
    EXPECT_EQ(state.session.pin, (look::Pick{.kind = look::Pick::Kind::Warp, .warp = 1}));
    click("grid");
    EXPECT_TRUE(state.step.grid.shown);
}

// The small map moves the screen: what was clicked is then in the middle.
TEST(Zoom, TheMapIsClickedAndDragged) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    State state;
    show_trace(state, kernels::recorded("tiled", {256, 256, 256, 16}));
    drawn.frames(state);
    ASSERT_GT(state.step.view.pitch * 256, 1000) << "more than the screen holds";
    // Where the maps are: the texts of their names are in their left upper corners.
    ImVec2 p{};
    for (const draw::Written& text : drawn.seen().texts)
        if (text.text == "P" && text.max.x < 700 && text.max.y < 400) p = text.min;
    ASSERT_GT(p.x, 0);
    const double row = state.step.view.row, col = state.step.view.col;
    drawn.frames(state, mouse(p.x + 40, p.y + 30), 1, false);
    drawn.frames(state, mouse(p.x + 40, p.y + 30, true), 1, false);
    EXPECT_FALSE(state.step.view.fit);
    EXPECT_GT(state.step.view.row, row);
    EXPECT_GT(state.step.view.col, col);
    const double clicked = state.step.view.col;
    drawn.frames(state, mouse(p.x + 55, p.y + 30, true), 2, false);
    EXPECT_GT(state.step.view.col, clicked) << "dragged on";
}

}  // namespace
}  // namespace tilescope::app
