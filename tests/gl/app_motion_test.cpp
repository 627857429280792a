// What moves on the Step screen: elements and products on their way in a film's frame, and while steps rush
// by their trails, their counts, and a P that fills.
#include "app/session/session.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

constexpr int kFilmWidth = 960, kFilmHeight = 600;

State recorded_in_motion(const char* kernel, kernels::Shape shape) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.assets.timings = session::Assets::of(kNoTimes);
    update(state, true);
    return state;
}

// The first step of a kind of the block at which something travels; products: a factor does.
uint32_t travelling(const State& state, bool products) {
    const session::Session& session = state.session;
    for (uint32_t step = 0; step < session.block->steps; ++step)
        for (const step::Flight& flight :
             step::flights(session.trace(), *session.block, *session.replay, step))
            if (flight.product == products) return step;
    ADD_FAILURE() << "nothing travels";
    return 0;
}

test::Picture film_picture(State state, bool products, float part) {
    state.session.cursor.step = travelling(state, products);
    state.step.film = part;
    return picture(std::move(state), kFilmWidth, kFilmHeight);
}

TEST(Motion, ElementsTravelIntoTheTile) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(film_picture(recorded_in_motion("tiled", {4, 4, 4, 2}), false, 0.3f),
                        "motion_elements");
}

TEST(Motion, LoadsTravelToTheirThreads) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_in_motion("tiled", {4, 4, 4, 2});
    const session::Session& session = state.session;
    while (step::loads_to_threads(session.trace(), *session.block, *session.replay, state.session.cursor.step)
               .empty())
        ++state.session.cursor.step;
    state.step.film = 0.3f;
    test::expect_golden(picture(std::move(state), kFilmWidth, kFilmHeight), "motion_loads");
}

TEST(Motion, ProductsTravelIntoP) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_in_motion("tiled", {4, 4, 4, 2});
    state.session.theme = draw::Theme::Dark;
    test::expect_golden(film_picture(state, true, 0.3f), "motion_products_dark");
    state.session.lecture = true;
    test::expect_golden(film_picture(state, true, 0.3f), "motion_products_lecture");
}

// All have arrived: the picture is the step's own.
TEST(Motion, EndsInTheStepsPicture) {
    SKIP_WITHOUT_OPENGL();
    State state = recorded_in_motion("tiled", {4, 4, 4, 2});
    for (const bool products : {false, true}) {
        const test::Picture end = film_picture(state, products, 1);
        State still = state;
        still.session.cursor.step = travelling(state, products);
        const test::Picture alone = picture(std::move(still), kFilmWidth, kFilmHeight);
        EXPECT_EQ(test::difference(end, alone).mean, 0);
        EXPECT_GT(test::difference(film_picture(state, products, 0.2f), alone).mean, 0.05);
    }
}

// Playing at a speed, in the middle of the second phase; the window's frames.
State rushing_at(double steps_per_second) {
    State state = recorded_in_motion("tiled", {64, 64, 64, 16});
    state.session.by_clock = false;
    state.session.playback.steps_per_second = steps_per_second;
    state.session.playback.playing = true;
    const look::PhaseSpan& span = state.session.block->spans[1];
    state.session.cursor.step = (span.first + span.end) / 2;
    return state;
}

TEST(Motion, CountsWhatRushesBy) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(kFilmWidth, kFilmHeight);
    State state = rushing_at(512);
    const uint32_t first = state.session.block->spans[1].first, end = state.session.cursor.step + 1;
    uint64_t elements = 0, products = 0;
    for (uint32_t step = first; step < end; ++step)
        for (const step::Flight& flight :
             step::flights(state.session.trace(), *state.session.block, *state.session.replay, step))
            ++(flight.product ? products : elements);
    EXPECT_GT(products, 0u);
    const std::string words = drawn.words_now(state);
    EXPECT_NE(words.find(grouped(products / 2) + "products"), std::string::npos) << words;
    EXPECT_NE(words.find(grouped(elements / 2) + "elements"), std::string::npos) << "of each of the tiles";
    for (State calm : {rushing_at(128), rushing_at(16)})
        EXPECT_EQ(drawn.words_now(calm).find("products"), std::string::npos);
    state.session.motion = false;
    EXPECT_EQ(drawn.words_now(state).find("products"), std::string::npos) << "switched off";
}

TEST(Motion, LeavesTrails) {
    SKIP_WITHOUT_OPENGL();
    auto headless = platform::open_offscreen(kFilmWidth, kFilmHeight);
    auto frame = Frame::create();
    ASSERT_TRUE(headless && frame);
    draw::Inspection seen;
    (*frame)->inspect(&seen);
    State state = rushing_at(128);
    for (int i = 0; i < 3; ++i) (*frame)->build(state, {}, {kFilmWidth, kFilmHeight, 1}, false, false);
    (*frame)->render();
    test::expect_golden({(*headless)->read(), seen}, "motion_trails");
}

}  // namespace
}  // namespace tilescope::app
