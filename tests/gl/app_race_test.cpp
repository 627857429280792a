// The Race screen as pictures and in words, and every figure on it counted anew from the trace.
#include <future>
#include <random>
#include <set>

#include <fmt/format.h>

#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"
#include "tests/launch_examples.h"
#include "tests/twin/race.h"

namespace tilescope::app {
namespace {

State race_of(trace::Trace a, trace::Trace b, double at) {
    State state = pair(std::move(a), std::move(b));
    state.session.screen = "race";
    update(state, true);
    race::ready(state.race, state.session, true);
    EXPECT_TRUE(state.race.race) << state.race.why_not << state.session.pair.message;
    state.race.at = at;
    return state;
}
State race_of(const char* a, const char* b, kernels::Shape shape, double at) {
    return race_of(kernels::recorded(a, shape), kernels::recorded(b, shape), at);
}

TEST(RacePictures, Light) {
    SKIP_WITHOUT_OPENGL();
    golden(race_of("untiled", "tiled", kShape, 0.62), 1280, 720, "race_light");
}

TEST(RacePictures, Dark) {
    SKIP_WITHOUT_OPENGL();
    State state = race_of("untiled", "tiled", {16, 16, 16, 4}, 0.4);
    state.session.theme = Theme::Dark;
    golden(std::move(state), 1600, 1000, "race_dark");
}

TEST(RacePictures, Lecture) {
    SKIP_WITHOUT_OPENGL();
    State state = race_of("untiled", "tiled", kShape, 0.5);
    state.session.lecture = true;
    golden(std::move(state), 1280, 720, "race_lecture");
}

// Half of a screen; and a product beside what computes something else.
TEST(RacePictures, Tall) {
    SKIP_WITHOUT_OPENGL();
    golden(
        race_of(kernels::recorded("tiled", {20, 50, 33, 8}), kernels::recorded(kernels::vector_add()), 0.3),
        800, 1200, "race_tall");
}

// At the end, with times, and without the bar, as a film shows it.
TEST(RacePictures, TheEndOnPaper) {
    SKIP_WITHOUT_OPENGL();
    State state = race_of("untiled", "tiled", kShape, 1);
    kernels::Timings times;
    times.device = "GPU X";
    const auto row = [](const char* kernel, double ms) {
        kernels::Timing made;
        made.kernel = kernel, made.m = made.k = made.n = 64, made.tile = 16;
        made.verified = true, made.median_ms = made.low_ms = made.high_ms = ms;
        return made;
    };
    times.rows = {row("untiled", 3), row("tiled", 2)};
    const std::vector<kernels::Timings> all{times};
    state.session.assets.timings = Assets::of(all);
    state.paper = true;
    Drawn drawn(1280, 720);
    EXPECT_TRUE(says(drawn.words(state), "Tiled loads 16 × fewer bytes, but is only 1.5 × as fast (GPU X)"));
    golden(std::move(state), 1280, 720, "race_end");
}

TEST(RaceScreenDrawn, NothingIsCutOrLiesOnAnother) {
    SKIP_WITHOUT_OPENGL();
    const auto window = [](const char* kernel) {
        const auto plan = kernels::plan(kernel, {4096, 64, 4096, 16});
        kernels::RecordOptions options;
        options.timestamp = false;
        options.window = {100, 102, 200, 202};
        return std::move(*kernels::record_cpu(*plan, options));
    };
    std::vector<State> states;
    states.push_back(race_of("untiled", "tiled", kShape, 0));
    states.push_back(race_of("untiled_swapped", "tiled_no_barrier", {20, 50, 33, 8}, 0));
    states.push_back(race_of(window("untiled"), window("tiled"), 0));
    states.push_back(race_of("tiled", "untiled", {4, 4, 4, 2}, 0));
    states.push_back(
        race_of(kernels::recorded("tiled", kShape), kernels::recorded(kernels::vector_add()), 0));
    for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {1920, 1080}, {800, 1200}}) {
        Drawn drawn(width, height);
        for (State& state : states)
            for (const bool lecture : {false, true})
                for (const Theme theme : {Theme::Light, Theme::Dark}) {
                    state.session.lecture = lecture, state.session.theme = theme;
                    for (const double at : {0.0, 0.3, 1.0}) {
                        state.race.at = at;
                        drawn.frames(state);
                        draw::Inspection below;  // the bar, which is not the screen's
                        for (const draw::Written& one : drawn.seen().texts)
                            if (one.min.y > (lecture ? 56 : 42)) below.texts.push_back(one);
                        EXPECT_EQ(spoilt(below, width, height), "")
                            << width << " x " << height << (lecture ? " lecture, " : ", ") << at << ", "
                            << state.race.race->a.kernel << " " << state.session.trace().steps();
                    }
                }
    }
}

// --- every text with a figure says what the trace says

std::string three_digits(double value) {
    return value >= 1000 ? grouped(static_cast<uint64_t>(std::llround(value))) : fmt::format("{:.3g}", value);
}

// What may stand on the screen at a moment, counted by the twin.
std::set<std::string> right_texts(const State& state, uint32_t moment, bool products) {
    std::set<std::string> all{"0", "0 %", "25 %", "75 %", "100 %"};
    uint64_t bytes[2] = {};
    std::string kernel[2];
    uint64_t most = 0;
    const bool same_kernel =
        state.session.trace().meta.kernel == state.session.pair.other.trace().meta.kernel;
    for (const bool is_a : {true, false}) {
        const session::Shown& shown =
            is_a ? static_cast<const session::Shown&>(state.session) : state.session.pair.other;
        const trace::Trace& trace = shown.trace();
        const uint64_t steps = products
                                   ? twin::steps_of_product(trace, moment, race::kMoments)
                                   : (uint64_t{moment} * trace.steps() + race::kMoments - 1) / race::kMoments;
        const twin::Walked now = twin::walk(trace, steps), whole = twin::walk(trace, trace.steps());
        bytes[is_a ? 0 : 1] = now.bytes;
        const analysis::Recording& recording = *shown.recording;
        kernel[is_a ? 0 : 1] = same_kernel ? analysis::kernel_name(recording) : trace.meta.kernel;
        all.insert({bytes_text(now.bytes), bytes_text(whole.bytes), analysis::kernel_name(recording)});
        uint64_t loads = 0, elements = 0;
        const uint8_t first = shown.recording->product ? shown.recording->product->M : 0;
        for (const auto& [element, count] : whole.loads) {
            elements += element.first == first;
            most = std::max(most, count);
        }
        for (const auto& [element, count] : now.loads) loads += element.first == first ? count : 0;
        all.insert(
            three_digits(elements == 0 ? 0 : static_cast<double>(loads) / static_cast<double>(elements)) +
            " ×");
        for (const Array& array : trace.launch.arrays) all.insert(extents_text(array, "\u00d7"));
        const uint32_t block = steps == 0 ? 0 : trace::block_of(trace, steps - 1);
        const trace::Block& at = trace.blocks[block];
        const std::string name = block_name(trace.launch.grid, {at.x, at.y, at.z});
        all.insert(
            {name, fmt::format("{}, {} of {}", name, block + 1, counted(trace.blocks.size(), "block"))});
        for (const auto& [element, count] : now.loads) all.insert(std::to_string(count));
    }
    all.insert(grouped(most));
    all.insert(products ? "50 % of the product" : "50 % of the steps of each");
    const std::string share = moment * 2 == race::kMoments ? "half"
                                                           : fmt::format("{:.{}f} %", moment / 6.0,
                                                                         moment < 6 || moment > 594 ? 1 : 0);
    const std::string when = products ? fmt::format("At {} of the product", share)
                                      : fmt::format("After {} of the steps of each", share);
    const size_t more = bytes[0] > bytes[1] ? 0 : 1;
    if (bytes[0] == bytes[1])
        all.insert(when + ", both have loaded as many bytes.");
    else if (bytes[1 - more] == 0)
        all.insert(fmt::format("{}, {} has loaded nothing yet.", when, kernel[1 - more]));
    else
        all.insert(
            fmt::format("{}, {} has loaded {} × the bytes of {}.", when, kernel[more],
                        three_digits(static_cast<double>(bytes[more]) / static_cast<double>(bytes[1 - more])),
                        kernel[1 - more]));
    return all;
}

void hold(State& state, Drawn& drawn, uint32_t moment, bool products) {
    state.race.at = static_cast<double>(moment) / race::kMoments;
    drawn.frames(state);
    const std::set<std::string> right = right_texts(state, moment, products);
    size_t held = 0;
    for (const draw::Written& one : drawn.seen().texts) {
        if (one.min.y < 42) continue;  // the bar
        const bool digit = std::ranges::any_of(one.text, [](char c) { return c >= '0' && c <= '9'; });
        if (!digit) continue;
        ++held;
        EXPECT_TRUE(right.contains(one.text)) << "'" << one.text << "' at moment " << moment;
    }
    EXPECT_GE(held, 12u);
}

TEST(RaceScreenDrawn, EveryFigureIsWhatTheTraceSays) {
    SKIP_WITHOUT_OPENGL();
    std::mt19937 random(7);
    const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
    constexpr const char* kKernels[] = {"untiled", "tiled", "untiled_swapped", "tiled_swapped",
                                        "tiled_padded"};
    constexpr uint32_t kTiles[] = {2, 4, 8};
    Drawn drawn(1920, 1080);
    for (int i = 0; i < 10; ++i) {
        const uint32_t T = kTiles[below(3)];
        const kernels::Shape shape{2 + below(18), 2 + below(18), 2 + below(18), T};
        State state = race_of(kKernels[below(5)], kKernels[below(5)], shape, 0);
        SCOPED_TRACE(fmt::format("{} and {}", state.race.race->a.kernel, state.race.race->b.kernel));
        if (state.race.race->a.kernel == state.race.race->b.kernel) continue;  // which are called A and B
        for (int j = 0; j < 4; ++j) hold(state, drawn, 1 + below(race::kMoments - 1), true);
    }
    State other =
        race_of(kernels::recorded("tiled", {8, 8, 8, 4}), kernels::recorded(kernels::vector_add()), 0);
    for (int j = 0; j < 4; ++j) hold(other, drawn, 1 + below(race::kMoments - 1), false);
}

// A frame waits for nothing while the race is made: here the sums of one of the two take for ever.
TEST(RaceScreenDrawn, WaitsForNothingWhileItIsMade) {
    SKIP_WITHOUT_OPENGL();
    const trace::Trace large = kernels::recorded("tiled", {128, 128, 128, 16});
    ASSERT_GT(large.steps(), session::kCountedAtOnce);
    State state = pair(large, large);
    state.session.screen = "race";
    state.session.totals = nullptr;
    std::promise<void> end;
    state.session.counting = state.session.jobs->start(
        [wait = end.get_future().share()](session::Control&) -> session::MadeTotals {
            wait.wait();
            return Error{"it was not counted"};
        });
    Drawn drawn(1280, 720);
    const std::string words = drawn.words_now(state);
    EXPECT_FALSE(state.session.counting.ready());
    end.set_value();
    EXPECT_FALSE(state.race.race);
    EXPECT_NE(words.find("Bothrunonce"), std::string::npos) << words;
}

// A drag on the chart goes to a moment.
TEST(RaceScreenDrawn, IsPlayedAndDragged) {
    SKIP_WITHOUT_OPENGL();
    State state = race_of("untiled", "tiled", {16, 16, 16, 4}, 0);
    Drawn drawn(1280, 720);
    drawn.frames(state);
    race::toggle(state.race);
    platform::Input input;
    input.dt = 0.5;
    for (int i = 0; i < 5; ++i) drawn.frames(state, input, 1, false);
    EXPECT_NEAR(state.race.at, 4 * 0.5 / race::kSeconds, 1e-6) << "the first frame begins it";
    input.mouse_x = 560, input.mouse_y = 660;
    drawn.frames(state, input, 2, false);
    input.mouse_down[0] = true;
    drawn.frames(state, input, 2, false);
    EXPECT_FALSE(state.race.playing);
    const double here = state.race.at;
    EXPECT_GT(here, 0.2);
    EXPECT_LT(here, 0.8);
    input.mouse_x = 760;
    drawn.frames(state, input, 2, false);
    EXPECT_GT(state.race.at, here + 0.1);
    input.mouse_x = 1279;
    drawn.frames(state, input, 2, false);
    EXPECT_EQ(state.race.at, 1);
}

}  // namespace
}  // namespace tilescope::app
