// What moves on the Step screen: elements and products on their way in a film's frame, and while steps rush
// by their trails, their counts, and a P that fills.
#include <random>

#include <fmt/format.h>

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

// The four beats of a product: the factors are on their way, they stand side by side, their product stands alone,
// the sum has changed.
TEST(Motion, AProductHasFourBeats) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [name, lecture, theme] : {std::tuple("light", false, draw::Theme::Light),
                                               {"dark", false, draw::Theme::Dark},
                                               {"lecture", true, draw::Theme::Light}}) {
        State state = recorded_in_motion("tiled", {4, 4, 4, 2});
        state.session.lecture = lecture, state.session.theme = theme;
        int beat = 0;
        for (const float part : {0.2f, 0.45f, 0.62f, 0.92f}) {
            const test::Picture made = film_picture(state, true, part);
            test::expect_golden(made, fmt::format("motion_beat{}_{}", ++beat, name));
        }
    }
}

// A cell of a tile is empty, or stale, until what comes to it has arrived: while elements are seen on their way no cell
// has changed, and then all have. Nothing of this asks the model when they arrive.
TEST(Motion, ACellChangesWhenItsValueArrives) {
    SKIP_WITHOUT_OPENGL();
    std::mt19937 random(7);
    Drawn drawn(kFilmWidth, kFilmHeight);
    const Rgba untouched = draw::palette(Theme::Light)[draw::Ink::Cell];
    size_t on_the_way = 0, arrived = 0;  // frames
    for (int round = 0; round < 6; ++round) {
        const auto side = [&] { return 4 + static_cast<uint32_t>(random() % 4); };
        State state = recorded_in_motion("tiled", {side(), side(), side(), 4});
        const session::Session& session = state.session;
        for (uint32_t step = 0; step < session.block->steps; ++step) {
            const auto all = step::flights(session.trace(), *session.block, *session.replay, step);
            if (all.empty() || all[0].product) continue;
            state.session.cursor.step = step;
            size_t before = 0;
            for (const float part : {0.f, 0.2f, 0.4f, 0.6f, 0.8f, 0.95f, 1.f}) {
                state.step.film = part;
                drawn.frames(state, {}, 1);
                const auto changed =
                    static_cast<size_t>(std::ranges::count_if(all, [&](const step::Flight& to) {
                        const draw::Sheet sheet(session.trace().launch.arrays[to.to.array]);
                        const draw::CellRect cell = sheet.cell(to.to.index);
                        const auto mark = std::ranges::find_if(drawn.seen().marks, [&](const auto& noted) {
                            return noted.first == to.to.array &&
                                   noted.second.row == static_cast<float>(cell.row0) &&
                                   noted.second.col == static_cast<float>(cell.col0);
                        });
                        EXPECT_NE(mark, drawn.seen().marks.end());
                        return mark != drawn.seen().marks.end() && mark->second.fill != untouched;
                    }));
                const size_t moving = drawn.seen().moving.size();
                EXPECT_LE(changed + moving, all.size()) << "step " << step << " at " << part;
                EXPECT_GE(changed, before) << "what has arrived stays";
                if (part == 0) EXPECT_EQ(changed, 0u) << "step " << step;
                if (part == 1) EXPECT_EQ(changed, all.size()) << "step " << step;
                if (moving == 0 && part > 0)
                    EXPECT_EQ(changed, all.size()) << "step " << step << " at " << part;
                on_the_way += moving > 0, arrived += part < 1 && changed > 0;
                before = changed;
            }
        }
    }
    EXPECT_GT(on_the_way, 20u);
    EXPECT_GT(arrived, 0u) << "cells change before the motion ends";
}

// What travels goes around the names and rulers of N and P.
TEST(Motion, GoesAroundWhatIsRead) {
    SKIP_WITHOUT_OPENGL();
    size_t seen = 0;
    for (const auto& [kernel, shape] : {std::pair("tiled", kernels::Shape{4, 4, 4, 2}),
                                        {"tiled", kernels::Shape{64, 64, 64, 16}},
                                        {"untiled", kernels::Shape{16, 16, 16, 4}}}) {
        State state = recorded_in_motion(kernel, shape);
        const auto& product = *state.session.block->product;
        for (const bool lecture : {false, true}) {
            state.session.lecture = lecture;
            Drawn drawn(1280, 720);
            for (uint32_t step = 0; step < std::min(state.session.block->steps, 90u); step += 3) {
                state.session.cursor.step = step;
                for (float part = 0.02f; part < 1; part += 0.07f) {
                    state.step.film = part;
                    drawn.frames(state, {}, part < 0.05f ? 2 : 1);
                    for (const auto& [array, grid] : drawn.seen().grids) {
                        if ((array != product.N && array != product.P) || grid.clip_max.x < 300) continue;
                        // Names and numbers that end where the array's cells begin, above them.
                        for (const draw::Written& text : drawn.seen().texts) {
                            const bool above =
                                text.max.y <= grid.clip_min.y + 3 && text.min.y > grid.clip_min.y - 60 &&
                                text.min.x >= grid.clip_min.x - 2 && text.max.x <= grid.clip_max.x + 2;
                            if (!above) continue;
                            for (const ImVec4& box : drawn.seen().moving) {
                                ++seen;
                                EXPECT_FALSE(box.x < text.max.x && box.z > text.min.x &&
                                             box.y < text.max.y - 3 && box.w > text.min.y + 3)
                                    << kernel << " step " << step << " at " << part << ": " << text.text;
                            }
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(seen, 1000u);
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
