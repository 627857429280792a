// The Race screen without its picture: which pair it opens, its keys, and that it plays by time.
#include "tests/app_names.h"
#include "tests/recorded.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

const std::vector<kernels::ShippedRecording> kNone;

State with(const char* kernel, kernels::Shape shape) {
    State state;
    state.session.assets.recordings = Assets::of(kNone);
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.screen = "race";
    return state;
}

const std::string& kernel_of(const session::Shown& shown) { return shown.trace().meta.kernel; }

TEST(RaceScreen, OpensTheSameProductWithTilesOrWithout) {
    State state = with("tiled", {16, 16, 16, 4});
    const auto a = state.session.recording;
    EXPECT_FALSE(race::ready(state.race, state.session, true));
    EXPECT_EQ(state.session.recording, a) << "what is open stays open";
    EXPECT_EQ(kernel_of(state.session.pair.other), "untiled");
    EXPECT_EQ(analysis::size_name(*state.session.pair.other.recording), analysis::size_name(*a));
    ASSERT_TRUE(state.race.race);
    EXPECT_EQ(state.race.race->clock, race::Clock::Work);

    State plain = with("untiled", {8, 12, 4, 4});
    race::ready(plain.race, plain.session, true);
    EXPECT_EQ(kernel_of(plain.session.pair.other), "tiled");

    // Of what is no product, the first pair of the list.
    State other = with("tiled", {4, 4, 4, 2});
    auto bare = std::make_shared<session::Recording>(*other.session.recording);
    bare->product.reset();
    session::show(other.session, bare);
    race::ready(other.race, other.session, true);
    EXPECT_EQ(other.session.pair.preset, 0);
    EXPECT_EQ(kernel_of(other.session), "untiled");
    EXPECT_EQ(kernel_of(other.session.pair.other), "tiled");
}

// Compare and Race show one pair.
TEST(RaceScreen, ShowsThePairOfCompare) {
    State state = with("tiled", {8, 8, 8, 4});
    const auto b = *session::make_recording(kernels::recorded("tiled", {8, 8, 8, 2}), "b");
    session::set_beside(state.session, b);
    race::ready(state.race, state.session, true);
    EXPECT_EQ(state.session.pair.other.recording, b);
    compare::ready(state.compare, state.session, true);
    EXPECT_EQ(state.session.pair.other.recording, b);
    EXPECT_EQ(state.race.b, b->serial);
    // Another pair begins its race anew.
    state.race.at = 0.5;
    handle_input(state, press(Key::Tab));
    EXPECT_TRUE(state.session.pair.swap);
    race::ready(state.race, state.session, true);
    EXPECT_EQ(state.race.a, b->serial);
    EXPECT_EQ(state.race.at, 0);
    handle_input(state, press(Key::N));
    EXPECT_EQ(state.session.screen, "race") << "the next pair races";
    EXPECT_TRUE(state.session.pair.wanted);
}

// A lesson starts it before it is made; what is paused or of another pair does not go on by itself.
TEST(RaceScreen, BeginsOnceItIsThere) {
    State state = with("tiled", {8, 8, 8, 4});
    race::toggle(state.race);
    race::ready(state.race, state.session, true);
    ASSERT_TRUE(state.race.race);
    EXPECT_TRUE(state.race.playing);
    race::toggle(state.race);
    EXPECT_FALSE(state.race.playing);
    EXPECT_FALSE(state.race.begins);
    show_trace(state, kernels::recorded("tiled", {8, 8, 8, 2}));
    race::ready(state.race, state.session, true);
    EXPECT_FALSE(state.race.playing);
}

// Whoever leaves a stop before its race was made meets no race that plays by itself.
TEST(RaceScreen, AStopTakesBackThatItsRaceBegins) {
    State state = with("tiled", {8, 8, 8, 4});
    const auto& stops = lessons::lesson_list()[0].stops;
    const auto stop = std::ranges::find(stops, session::kRaceScreen, &lessons::LessonStop::screen);
    ASSERT_NE(stop, stops.end());
    lessons::go_to_stop(state.lessons, state.session, 0, static_cast<size_t>(stop - stops.begin()));
    update(state, true);
    ASSERT_TRUE(state.race.begins);
    handle_input(state, press(Key::Digit1), true);
    update(state, true);
    EXPECT_FALSE(state.session.walking);
    race::ready(state.race, state.session, true);
    ASSERT_TRUE(state.race.race);
    EXPECT_FALSE(state.race.begins);
    EXPECT_FALSE(state.race.playing);
    EXPECT_EQ(state.race.at, 0);
    // A stop that does something on another screen leaves a race that somebody plays as it is.
    state.race.at = 0.5;
    lessons::go_to_stop(state.lessons, state.session, 0, 0);
    update(state, true);
    ASSERT_FALSE(stops[0].acts.empty());
    lessons::go_to_stop(state.lessons, state.session, 0, 1);
    update(state, true);
    EXPECT_EQ(state.race.at, 0.5);
}

TEST(RaceScreen, Keys) {
    State state = with("tiled", {8, 8, 8, 4});
    race::ready(state.race, state.session, true);
    const auto moment = [&] { return race::moment_of(state.race); };
    const playback::Cursor cursor = state.session.cursor;
    handle_input(state, press(Key::Right));
    EXPECT_EQ(moment(), race::kMoments / 100);
    handle_input(state, press(Key::Right, true));
    EXPECT_EQ(moment(), race::kMoments * 11 / 100);
    handle_input(state, press(Key::Left));
    EXPECT_EQ(moment(), race::kMoments / 10);
    handle_input(state, press(Key::Left, true));
    handle_input(state, press(Key::Left));
    EXPECT_EQ(moment(), 0u) << "no further";
    handle_input(state, press(Key::End));
    EXPECT_EQ(moment(), race::kMoments);
    handle_input(state, press(Key::Space));
    EXPECT_TRUE(state.race.playing);
    EXPECT_EQ(moment(), 0u) << "from the start again";
    race::play_on(state.race, 3);
    EXPECT_EQ(moment(), race::kMoments / 4);
    handle_input(state, press(Key::PageDown));
    EXPECT_FALSE(state.race.playing);
    EXPECT_EQ(moment(), race::kMoments / 4);
    handle_input(state, press(Key::PageUp));
    EXPECT_EQ(moment(), 0u);
    handle_input(state, press(Key::Right));
    handle_input(state, press(Key::Home));
    EXPECT_EQ(moment(), 0u);
    EXPECT_EQ(state.session.cursor, cursor) << "the recording stands where it stood";
    EXPECT_FALSE(state.session.playback.playing);
}

// Twelve seconds, in however many frames.
TEST(RaceScreen, PlaysByTime) {
    for (const int frames : {12, 97, 720}) {
        race::State state;
        race::toggle(state);
        for (int frame = 0; frame < frames - 1; ++frame) race::play_on(state, race::kSeconds / frames);
        EXPECT_TRUE(state.playing);
        race::play_on(state, race::kSeconds / frames * 1.001);
        EXPECT_FALSE(state.playing);
        EXPECT_EQ(race::moment_of(state), race::kMoments);
    }
}

}  // namespace
}  // namespace tilescope::app
